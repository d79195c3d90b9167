/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.c - see texts.h: a few threads that only open and read source files.
 *
 * They share a pool with the caller, who drops the whole pool if files hang that are no longer
 * wanted.  Its last user frees it.  That may be a thread that returns from a dead disk after hours,
 * or never.
 */
#include "symbols/client/texts.h"

#include "symbols/base/clock.h"
#include "symbols/client/code_client.h"
#include "symbols/client/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READERS_MAX 4 /* in a pool */
#define THREADS_MAX 24 /* in all pools, including those that hang */
#define KEPT_BYTES (32u * 1024 * 1024) /* texts without a reference */
#define KEPT_MAX 128

struct job {
	struct job *next;
	struct symbols_text *owner; /* NULL: no longer wanted */
	struct symbols_source_origin origin;
	char *file;
	char **prefixes; /* ends with NULL */
	/* The answer: */
	int error; /* positive errno */
	struct symbols_source_text text;
	char path[PATH_MAX];
};

struct pool {
	int answers_fd;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	bool closed; /* dropped by its owner */
	unsigned int n_threads, n_idle;
	size_t n_queued;
	struct job *queue, **queue_end, *done, **done_end;
	struct {
		struct job *job; /* NULL if none */
		uint64_t since_ns;
	} at_work[READERS_MAX];
};

struct symbols_text {
	struct symbols_text *next; /* list, most recently used first */
	struct symbols_source_origin origin;
	char *file;
	const char *const *prefixes;
	size_t refs;
	enum symbols_state state;
	struct job *job; /* PENDING: the pool's; READY, UNREADABLE: owned */
};

struct texts {
	int answers_fd; /* borrowed */
	struct pool *pool; /* NULL if none yet */
	struct symbols_text *texts;
	size_t n_pending;
};

static atomic_uint threads;

/* --- jobs --- */

static void free_job(struct job *job)
{
	if (!job)
		return;
	for (char **prefix = job->prefixes; prefix && *prefix; prefix++)
		free(*prefix);
	free(job->prefixes);
	free(job->file);
	free(job->text.bytes);
	free(job);
}

/* Copies the whole question: the thread may return after the caller is gone. */
static struct job *make_job(const struct symbols_text_question *question)
{
	struct job *job = calloc(1, sizeof(*job));
	size_t n = 0;

	if (!job)
		return NULL;
	while (question->prefixes && question->prefixes[n])
		n++;
	job->origin = question->origin;
	job->file = strdup(question->file);
	job->prefixes = calloc(n + 1, sizeof(*job->prefixes));
	bool whole = job->file && job->prefixes;
	for (size_t i = 0; whole && i < n; i++) {
		job->prefixes[i] = strdup(question->prefixes[i]);
		whole = job->prefixes[i];
	}
	if (!whole) {
		free_job(job);
		return NULL;
	}
	return job;
}

static void do_job(struct job *job)
{
	const char *const *prefixes = (const char *const *)job->prefixes;
	int ret = symbols_source_read(&job->origin, job->file, prefixes, &job->text);

	if (ret == 0 &&
		symbols_source_find(
			&job->origin, job->file, prefixes, job->path, sizeof(job->path)) < 0)
		job->path[0] = '\0';
	job->error = -ret;
}

static void free_jobs(struct job *jobs)
{
	while (jobs) {
		struct job *next = jobs->next;
		free_job(jobs);
		jobs = next;
	}
}

/* --- the pool --- */

static void free_pool(struct pool *pool)
{
	free_jobs(pool->queue);
	free_jobs(pool->done);
	close(pool->answers_fd);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

static struct pool *make_pool(int answers_fd)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->answers_fd = fcntl(answers_fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pool->queue_end = &pool->queue;
	pool->done_end = &pool->done;
	if (pool->answers_fd < 0) {
		free_pool(pool);
		return NULL;
	}
	return pool;
}

static struct job *take_job(struct pool *pool)
{
	struct job *job = pool->queue;

	if (!job)
		return NULL;
	pool->queue = job->next;
	if (!pool->queue)
		pool->queue_end = &pool->queue;
	job->next = NULL;
	pool->n_queued--;
	return job;
}

static size_t free_place(const struct pool *pool)
{
	size_t place = 0;

	while (pool->at_work[place].job)
		place++;
	return place;
}

static void signal_answer(const struct pool *pool)
{
	const uint64_t one = 1;

	/* write() fails only if the eventfd is readable already. */
	if (write(pool->answers_fd, &one, sizeof(one)) < 0)
		return;
}

static void *run(void *arg)
{
	struct pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->closed) {
		struct job *job = take_job(pool);
		if (!job) {
			pool->n_idle++;
			pthread_cond_wait(&pool->wake, &pool->lock);
			pool->n_idle--;
			continue;
		}
		const size_t place = free_place(pool);
		pool->at_work[place].job = job;
		pool->at_work[place].since_ns = clock_now_ns();
		pthread_mutex_unlock(&pool->lock);
		do_job(job);
		pthread_mutex_lock(&pool->lock);
		pool->at_work[place].job = NULL;
		*pool->done_end = job;
		pool->done_end = &job->next;
		if (!pool->closed)
			signal_answer(pool);
	}
	const bool last = --pool->n_threads == 0;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		free_pool(pool);
	atomic_fetch_sub(&threads, 1);
	return NULL;
}

/* Starts a thread of the pool.  Called with the lock held.  Returns 0 or -errno. */
static int start_thread(struct pool *pool)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;

	if (atomic_fetch_add(&threads, 1) >= THREADS_MAX) {
		atomic_fetch_sub(&threads, 1);
		return -EAGAIN;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int ret = pthread_create(&thread, &attributes, run, pool);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		atomic_fetch_sub(&threads, 1);
		return -ret;
	}
	pthread_setname_np(thread, "strobe-sources");
	pool->n_threads++;
	return 0;
}

/* Queues a job.  Returns 0; -errno and the caller still owns the job. */
static int post(struct texts *texts, struct job *job)
{
	int ret = 0;

	if (!texts->pool)
		texts->pool = make_pool(texts->answers_fd);
	struct pool *pool = texts->pool;
	if (!pool)
		return -ENOMEM;
	pthread_mutex_lock(&pool->lock);
	/* A woken thread counts as idle until it has taken its job. */
	if (pool->n_queued >= pool->n_idle && pool->n_threads < READERS_MAX)
		ret = start_thread(pool);
	/* If no thread can be started, those that run take the job. */
	if (pool->n_threads)
		ret = 0;
	if (ret == 0) {
		*pool->queue_end = job;
		pool->queue_end = &job->next;
		pool->n_queued++;
		pthread_cond_signal(&pool->wake);
	}
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

static void leave_pool(struct texts *texts)
{
	struct pool *pool = texts->pool;

	texts->pool = NULL;
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closed = true;
	const bool last = pool->n_threads == 0;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	if (last)
		free_pool(pool);
}

/* Frees a job that is no longer wanted, if it still waits; otherwise texts_collect() frees it. */
static void disown(struct pool *pool, struct job *job)
{
	pthread_mutex_lock(&pool->lock);
	struct job **at = &pool->queue;
	while (*at && *at != job)
		at = &(*at)->next;
	const bool waits = *at;
	if (waits) {
		*at = job->next;
		if (!*at)
			pool->queue_end = at;
		pool->n_queued--;
	}
	job->owner = NULL;
	pthread_mutex_unlock(&pool->lock);
	if (waits)
		free_job(job);
}

/* --- texts --- */

int texts_new(struct texts **out, int answers_fd)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->answers_fd = answers_fd;
	return 0;
}

static void free_text(struct texts *texts, struct symbols_text *text)
{
	if (text->state == SYMBOLS_PENDING) {
		texts->n_pending--;
		disown(texts->pool, text->job);
	} else {
		free_job(text->job);
	}
	free(text->file);
	free(text);
}

void texts_free(struct texts *texts)
{
	if (!texts)
		return;
	while (texts->texts) {
		struct symbols_text *next = texts->texts->next;
		free_text(texts, texts->texts);
		texts->texts = next;
	}
	leave_pool(texts);
	free(texts);
}

/* Frees texts without a reference: unread ones, and the least recently used beyond the limits. */
static void trim(struct texts *texts)
{
	size_t bytes = 0, n = 0;

	for (struct symbols_text **at = &texts->texts; *at;) {
		struct symbols_text *text = *at;
		const size_t len = text->state == SYMBOLS_READY ? text->job->text.len : 0;
		if (text->refs ||
			(text->state == SYMBOLS_READY && bytes + len <= KEPT_BYTES &&
				n < KEPT_MAX)) {
			bytes += text->refs ? 0 : len;
			n += !text->refs;
			at = &text->next;
			continue;
		}
		*at = text->next;
		free_text(texts, text);
	}
}

static int begin(struct texts *texts, struct symbols_text *text)
{
	const struct symbols_text_question question = {
		.origin = text->origin, .file = text->file, .prefixes = text->prefixes};
	struct job *job = make_job(&question);

	if (!job)
		return -ENOMEM;
	job->owner = text;
	int ret = post(texts, job);
	if (ret < 0) {
		free_job(job);
		return ret;
	}
	text->job = job;
	text->state = SYMBOLS_PENDING;
	texts->n_pending++;
	return 0;
}

static bool is_same_origin(
	const struct symbols_source_origin *a, const struct symbols_source_origin *b)
{
	return a->pid == b->pid && a->rights.kind == b->rights.kind &&
		a->rights.user == b->rights.user && a->rights.here == b->rights.here;
}

static struct symbols_text *take_text(
	struct texts *texts, const struct symbols_text_question *question)
{
	struct symbols_text **at = &texts->texts, *text;

	while (*at &&
		(!is_same_origin(&(*at)->origin, &question->origin) ||
			(*at)->prefixes != question->prefixes ||
			strcmp((*at)->file, question->file) != 0))
		at = &(*at)->next;
	text = *at;
	if (text) {
		*at = text->next;
	} else {
		text = calloc(1, sizeof(*text));
		if (!text)
			return NULL;
		text->origin = question->origin;
		text->prefixes = question->prefixes;
		text->file = strdup(question->file);
		if (!text->file) {
			free(text);
			return NULL;
		}
	}
	text->next = texts->texts;
	texts->texts = text;
	text->refs++;
	return text;
}

int symbols_text_ask(struct symbols *symbols, const struct symbols_text_question *question,
	struct symbols_text **out)
{
	struct texts *texts = code_client_texts(symbols_code_client(symbols));
	struct symbols_text *text = take_text(texts, question);

	*out = NULL;
	if (!text)
		return -ENOMEM;
	int ret = text->state == SYMBOLS_UNASKED ? begin(texts, text) : 0;
	if (ret < 0)
		symbols_text_release(symbols, text);
	else
		*out = text;
	return ret;
}

void symbols_text_release(struct symbols *symbols, struct symbols_text *text)
{
	if (!text)
		return;
	text->refs--;
	trim(code_client_texts(symbols_code_client(symbols)));
}

enum symbols_state symbols_text_state(const struct symbols_text *text, int *error)
{
	*error = text->state == SYMBOLS_UNREADABLE ? text->job->error : 0;
	return text->state;
}

const struct symbols_source_text *symbols_text_get(const struct symbols_text *text)
{
	return &text->job->text;
}

const char *symbols_text_path(const struct symbols_text *text)
{
	return text->job->path;
}

bool texts_collect(struct texts *texts)
{
	struct pool *pool = texts->pool;
	bool any = false;

	if (!pool)
		return false;
	pthread_mutex_lock(&pool->lock);
	struct job *jobs = pool->done;
	pool->done = NULL;
	pool->done_end = &pool->done;
	pthread_mutex_unlock(&pool->lock);
	while (jobs) {
		struct job *next = jobs->next;
		struct symbols_text *text = jobs->owner;
		jobs->next = NULL;
		if (text) {
			text->state = jobs->error ? SYMBOLS_UNREADABLE : SYMBOLS_READY;
			texts->n_pending--;
			any = true;
		} else {
			free_job(jobs);
		}
		jobs = next;
	}
	return any;
}

void texts_abandon(struct texts *texts)
{
	if (!texts->n_pending)
		return;
	for (struct symbols_text *text = texts->texts; text; text = text->next) {
		if (text->state != SYMBOLS_PENDING)
			continue;
		text->state = SYMBOLS_UNASKED;
		text->job = NULL;
	}
	texts->n_pending = 0;
	leave_pool(texts);
	trim(texts);
}

size_t symbols_text_waiting(const struct symbols *symbols, uint64_t *since_ns)
{
	const struct texts *texts = code_client_texts(symbols_code_client(symbols));
	struct pool *pool = texts->pool;

	*since_ns = 0;
	if (!pool || !texts->n_pending)
		return 0;
	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < READERS_MAX; i++) {
		if (pool->at_work[i].job && (!*since_ns || pool->at_work[i].since_ns < *since_ns))
			*since_ns = pool->at_work[i].since_ns;
	}
	pthread_mutex_unlock(&pool->lock);
	return texts->n_pending;
}
