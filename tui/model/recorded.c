/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded.c - see recorded.h.
 */
#include "tui/model/recorded_private.h"

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/names/names.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void destroy(struct recorded *recorded)
{
	table_free(recorded->table);
	early_fini(&recorded->early);
	session_close(&recorded->session);
	if (recorded->opened_fd >= 0)
		close(recorded->opened_fd);
	free(recorded->path);
	free(recorded);
}

static void *open_main(void *arg)
{
	struct recorded *recorded = arg;
	const uint64_t one = 1;
	int opening = OPENING;

	recorded->error = session_open(&recorded->session, &recorded->request, recorded->message,
		sizeof(recorded->message));
	/* The eventfd stays readable until the other thread reads it; write() can fail only if it
	 * already is. */
	(void)!write(recorded->opened_fd, &one, sizeof(one));
	/* From here on, the UI thread owns the object. */
	if (!atomic_compare_exchange_strong(&recorded->opening, &opening, OPENED))
		destroy(recorded);
	return NULL;
}

/* Starts the thread with all signals blocked, since another thread waits for them. */
static int start_thread(struct recorded *recorded)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, &attr, open_main, recorded);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -ret;
}

/* Makes the request for the recording: all of it, for a comparison. */
static void make_request(struct recorded *recorded, const struct request *request)
{
	struct request *own = &recorded->request;

	*own = *request;
	recorded->files[0] = recorded->path;
	own->files = recorded->files;
	own->n_files = 1;
	own->n_names = own->n_cgroups = own->n_users = 0;
	own->n_fields = 0;
	own->time_from_s = own->time_to_s = 0;
	own->engine.target = (struct engine_target){0};
	own->engine.callchain = true;
	own->beside = true;
	own->wait = NULL;
}

int recorded_open(struct recorded **out, const struct request *request, const char *path,
	char *message, size_t size)
{
	struct recorded *recorded = calloc(1, sizeof(*recorded));
	const char *slash = strrchr(path, '/');
	char raw[300];
	int ret = -ENOMEM;

	*out = NULL;
	if (recorded) {
		recorded->opened_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		recorded->path = strdup(path);
		clean_string(recorded->name, sizeof(recorded->name),
			slash && slash[1] ? slash + 1 : path);
		if (recorded->opened_fd < 0)
			ret = -errno;
		else if (recorded->path)
			ret = 0;
	}
	if (!ret && !strcmp(path, "-"))
		ret = -EINVAL; /* standard input is the keyboard */
	if (!ret) {
		make_request(recorded, request);
		ret = start_thread(recorded);
	}
	if (ret) {
		snprintf(raw, sizeof(raw), "Cannot read '%.200s': %s", path,
			ret == -EINVAL ? "name a file" : explain_errno(ret));
		clean_string(message, size, raw);
		if (recorded)
			destroy(recorded);
		return ret;
	}
	*out = recorded;
	return 0;
}

void recorded_free(struct recorded *recorded)
{
	int opening = OPENING;

	if (!recorded || atomic_compare_exchange_strong(&recorded->opening, &opening, ABANDONED))
		return;
	destroy(recorded);
}

const char *recorded_name(const struct recorded *recorded)
{
	return recorded->name;
}

static bool is_open(const struct recorded *recorded)
{
	return atomic_load(&recorded->opening) == OPENED && !recorded->error;
}

void recorded_fds(const struct recorded *recorded, int fds[RECORDED_FDS])
{
	bool open = is_open(recorded);

	fds[0] = open ? session_notify_fd(&recorded->session) : recorded->opened_fd;
	fds[1] = open ? symbols_fd(recorded->session.symbols) : -1;
}

unsigned int recorded_percent(const struct recorded *recorded)
{
	const struct engine_status *status = &recorded->status;

	if (!status->attaching_total)
		return 101;
	return (unsigned int)(100.0 * (double)status->attaching_done /
		(double)status->attaching_total);
}

enum recorded_state recorded_step(struct recorded *recorded, char *message, size_t size)
{
	struct session *session = &recorded->session;
	uint64_t count;

	if (atomic_load(&recorded->opening) != OPENED)
		return RECORDED_READING;
	if (recorded->error) {
		snprintf(message, size, "%s", recorded->message);
		return RECORDED_FAILED;
	}
	(void)!read(session_notify_fd(session), &count, sizeof(count));
	session_status(session, &recorded->status);
	session->limits.pid_namespace = recorded->status.pid_namespace;
	if (recorded->status.state == ENGINE_FAILED) {
		session_explain(session, &recorded->status.failure, message, size);
		return RECORDED_FAILED;
	}
	if (!recorded->loaded && recorded->status.state != ENGINE_STARTING &&
		recorded->status.state != ENGINE_RUNNING) {
		recorded->loaded = true;
		session_describe(session);
	}
	names_update(session->names);
	session_settle(session, 0);
	/* If memory runs out, the names are only requested later. */
	(void)early_ask(
		&recorded->early, session_store(session), session_stacks(session), session->names);
	return recorded->loaded ? RECORDED_READY : RECORDED_READING;
}

void recorded_wait(struct recorded *recorded, unsigned int timeout_ms)
{
	(void)names_wait(recorded->session.names, timeout_ms);
	session_settle(&recorded->session, timeout_ms);
}

uint64_t recorded_changes(const struct recorded *recorded)
{
	return names_changes(recorded->session.names);
}
