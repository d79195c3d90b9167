/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader_code.c - thread and queues of the second loader.
 *
 * Instructions go before lines, because a user waits for them.
 */
#include "symbols/base/clock.h"
#include "symbols/base/grow.h"
#include "symbols/loader/loader_code_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes the next job off the queues; NULL if none.  Called with the lock held. */
static struct loader_job *take_job(struct loader_code *code)
{
	struct loader_job **queue = code->codes ? &code->codes : &code->lines;
	struct loader_job ***end = code->codes ? &code->codes_end : &code->lines_end;
	struct loader_job *job = *queue;

	if (!job)
		return NULL;
	*queue = job->next;
	if (!*queue)
		*end = queue;
	job->next = NULL;
	return job;
}

static void do_job(struct loader_code *code, struct loader_job *job)
{
	struct loader *loader = &code->loader;
	int ret = load_code(code, job);
	if (ret == -ECHILD)
		loader_tell_no_worker(loader);
	job->error = -ret;
}

static void run(void *arg)
{
	struct loader_code *code = arg;
	struct loader *loader = &code->loader;
	uint64_t count;

	pthread_mutex_lock(&loader->lock);
	while (!loader->stop) {
		/* A stop meant for the last job must not end the next one. */
		ssize_t n = read(loader->stop_fd, &count, sizeof(count));
		(void)n;
		struct loader_job *job = take_job(code);
		if (!job) {
			pthread_cond_wait(&loader->wake, &loader->lock);
			continue;
		}
		code->at_work = job;
		code->abandoned = false;
		if (!job->since_ns)
			job->since_ns = clock_now_ns();
		code->since_ns = job->since_ns;
		pthread_mutex_unlock(&loader->lock);
		do_job(code, job);
		pthread_mutex_lock(&loader->lock);
		const bool abandoned = code->abandoned;
		code->at_work = NULL;
		if (!abandoned && job->error == EAGAIN && job->slices) {
			/* Continue after the jobs posted meanwhile. */
			job->slices--;
			job->error = 0;
			*code->codes_end = job;
			code->codes_end = &job->next;
			continue;
		}
		if (!abandoned) {
			*code->done_end = job;
			job->next = job->more;
			job->more = NULL;
			while (*code->done_end)
				code->done_end = &(*code->done_end)->next;
			code->n_waiting--;
		}
		pthread_mutex_unlock(&loader->lock);
		if (abandoned) {
			/* The worker may still be busy with the job. */
			asker_renew(&loader->asker);
			loader_job_free(job);
		} else {
			loader_signal(loader);
		}
		pthread_mutex_lock(&loader->lock);
	}
	pthread_mutex_unlock(&loader->lock);
}

int loader_code_new(struct loader_code **out, const struct symbols_config *config, int answers_fd)
{
	struct loader_code *code = calloc(1, sizeof(*code));

	*out = NULL;
	if (!code)
		return -ENOMEM;
	code->codes_end = &code->codes;
	code->lines_end = &code->lines;
	code->done_end = &code->done;
	int ret = loader_init(&code->loader, config, answers_fd);
	asker_open_late(&code->loader.asker, code->loader.stop_fd, code->loader.memory_mb, true);
	code->answer = malloc(WIRE_PACKET_BYTES);
	if (ret == 0 && !code->answer)
		ret = -ENOMEM;
	if (ret < 0) {
		loader_code_free(code);
		return ret;
	}
	*out = code;
	return 0;
}

static void free_jobs(struct loader_job *jobs)
{
	while (jobs) {
		struct loader_job *next = jobs->next;
		loader_job_free(jobs);
		jobs = next;
	}
}

void loader_job_free(struct loader_job *job)
{
	if (!job)
		return;
	free_jobs(job->more);
	codetab_close(&job->table);
	source_drop(&job->source);
	free(job->offsets);
	free(job);
}

bool loader_code_free(struct loader_code *code)
{
	if (!code)
		return true;
	if (!loader_stop(&code->loader))
		return false;
	load_code_drop_kept(code);
	loader_fini(&code->loader);
	free_jobs(code->codes);
	free_jobs(code->lines);
	free_jobs(code->done);
	strings_fini(&code->told_alts);
	free(code->answer);
	free(code);
	return true;
}

int loader_code_recorded(struct loader_code *code, const struct symbols_recorded *recorded)
{
	struct symbols_recorded facts = *recorded;

	facts.n_told = 0; /* code needs no function names */
	return loader_recorded(&code->loader, &facts);
}

int loader_code_post(struct loader_code *code, struct loader_job *job)
{
	struct loader *loader = &code->loader;
	struct loader_job ***end = job->offsets ? &code->lines_end : &code->codes_end;

	if (!loader->started) {
		int ret = loader_start(loader, "strobe-code", run, code);
		if (ret < 0)
			return ret;
	}
	job->next = NULL;
	pthread_mutex_lock(&loader->lock);
	**end = job;
	*end = &job->next;
	code->n_waiting++;
	pthread_cond_signal(&loader->wake);
	pthread_mutex_unlock(&loader->lock);
	return 0;
}

static size_t append(struct loader_job *job, const uint64_t *offsets, size_t n)
{
	const size_t room = WIRE_OFFSETS_MAX - job->n_offsets;

	if (n > room)
		n = room;
	if (array_grow(&job->offsets, &job->offsets_cap, job->n_offsets + n,
		    sizeof(*job->offsets)) < 0)
		return 0;
	memcpy(job->offsets + job->n_offsets, offsets, n * sizeof(*offsets));
	job->n_offsets += n;
	return n;
}

size_t loader_code_append(struct loader_code *code, uint32_t key, const uint64_t *offsets, size_t n)
{
	size_t taken = 0;

	pthread_mutex_lock(&code->loader.lock);
	for (struct loader_job *job = code->lines; job && taken < n; job = job->next)
		if (job->key == key)
			taken += append(job, offsets + taken, n - taken);
	pthread_mutex_unlock(&code->loader.lock);
	return taken;
}

struct loader_job *loader_code_collect(struct loader_code *code)
{
	pthread_mutex_lock(&code->loader.lock);
	struct loader_job *jobs = code->done;
	code->done = NULL;
	code->done_end = &code->done;
	pthread_mutex_unlock(&code->loader.lock);
	return jobs;
}

void loader_code_abandon(struct loader_code *code)
{
	struct loader *loader = &code->loader;
	const uint64_t one = 1;

	pthread_mutex_lock(&loader->lock);
	struct loader_job *codes = code->codes, *lines = code->lines, *done = code->done;
	code->codes = code->lines = code->done = NULL;
	code->codes_end = &code->codes;
	code->lines_end = &code->lines;
	code->done_end = &code->done;
	code->n_waiting = 0;
	if (code->at_work) {
		code->abandoned = true;
		ssize_t n = write(loader->stop_fd, &one, sizeof(one));
		(void)n;
	}
	pthread_mutex_unlock(&loader->lock);
	free_jobs(codes);
	free_jobs(lines);
	free_jobs(done);
}

size_t loader_code_waiting(struct loader_code *code, uint64_t *since_ns)
{
	pthread_mutex_lock(&code->loader.lock);
	const size_t n = code->n_waiting;
	*since_ns = n && code->at_work && !code->abandoned ? code->since_ns : 0;
	pthread_mutex_unlock(&code->loader.lock);
	return n;
}

bool loader_code_take_note(struct loader_code *code, struct symbols_note *out)
{
	return loader_take_note(&code->loader, out);
}

int loader_code_worker_pid(struct loader_code *code)
{
	return loader_worker_pid(&code->loader);
}
