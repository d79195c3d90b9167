/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded.c - see recorded.h.
 */
#include "tui/recorded.h"

#include "tui/clean.h"
#include "tui/early.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NO_EVENT (-1)

enum opening {
	OPENING,
	OPENED, /* or not: error tells */
	ABANDONED, /* the thread cleans up */
};

struct recorded {
	struct request request; /* the path is its own, all else borrowed */
	char *path, *files[1];
	char name[128];
	struct session session;
	_Atomic int opening;
	int error; /* of opening it */
	char message[1024];
	int opened_fd;
	bool loaded;
	struct early early;
	struct engine_status status;
};

static void destroy(struct recorded *recorded)
{
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
	/* It stays readable until it is looked at, and can only fail by being so already. */
	(void)!write(recorded->opened_fd, &one, sizeof(one));
	/* From here on it is the other thread's. */
	if (!atomic_compare_exchange_strong(&recorded->opening, &opening, OPENED))
		destroy(recorded);
	return NULL;
}

/* Signals are for the thread that waits for them. */
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

/* What is asked of it: all of the recording, as it is compared. */
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
		ret = -EINVAL; /* the keyboard */
	if (!ret) {
		make_request(recorded, request);
		ret = start_thread(recorded);
	}
	if (ret) {
		snprintf(raw, sizeof(raw), "Cannot read '%.200s': %s", path,
			ret == -EINVAL ? "name a file" : strerror(-ret));
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
	/* Out of memory here only means that names are asked for later. */
	(void)early_ask(
		&recorded->early, session_store(session), session_stacks(session), session->names);
	return recorded->loaded ? RECORDED_READY : RECORDED_READING;
}

void recorded_wait(struct recorded *recorded, unsigned int timeout_ms)
{
	(void)names_wait(recorded->session.names, timeout_ms);
}

uint64_t recorded_changes(const struct recorded *recorded)
{
	return names_changes(recorded->session.names);
}

/* --- the same names --- */

static int make_filter(
	struct recorded *recorded, const struct recorded_question *question, struct filter **out)
{
	struct session *session = &recorded->session;
	struct filter *more;
	int ret = session_filter(session, out);

	for (size_t i = 0; !ret && i < question->n_exprs; i++) {
		ret = expr_filter(&question->exprs[i], session_stacks(session),
			session_tasks(session), session->names, &more);
		if (!ret)
			*out = filter_and(*out, more);
	}
	if (ret) {
		filter_free(*out);
		*out = NULL;
	} else {
		session_schemas(session, &recorded->status, &session->schemas);
		filter_set_schemas(*out, &session->schemas);
	}
	return ret;
}

static int scan(
	struct recorded *recorded, const struct recorded_question *question, struct basis *out)
{
	const struct session *session = &recorded->session;
	struct scan_question ask = {
		.to_ns = UINT64_MAX,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = session->names,
		.hide_idle = question->hide_idle,
		.event = -1,
		.leave_unresolved = true,
		.column = GROUP_KEYS,
	};
	struct filter *filter = NULL;
	struct snapshot snapshot;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = make_filter(recorded, question, &filter);
	if (ret)
		return ret;
	ret = store_snapshot(session_store(session), 0, UINT64_MAX, &snapshot);
	if (!ret) {
		ask.snapshot = &snapshot;
		ask.filter = filter;
		ret = basis_scan(out, &ask);
		snapshot_release(session_store(session), &snapshot);
	}
	filter_free(filter);
	return ret;
}

/* The number of each symbol among the other names. */
static int translate_symbols(struct recorded *recorded, struct basis *basis, struct names *names)
{
	struct names *own = recorded->session.names;
	uint32_t limit = names_limit(own);
	uint32_t *others = calloc(limit + 1u, sizeof(*others)); /* + 1 */
	struct names_index *index = NULL;
	int ret = others ? names_index_new(&index, names) : -ENOMEM;

	for (uint32_t i = 0; i < basis->n && !ret; i++) {
		uint32_t *other = &others[basis->symrefs[i]];

		if (!*other && basis->symrefs[i]) {
			const struct symref *symbol = names_get(own, basis->symrefs[i]);

			ret = names_index_add(index, symbol->symbol, symbol->image, other);
			++*other;
		}
		basis->symrefs[i] = *other ? *other - 1 : 0;
	}
	names_index_free(index);
	free(others);
	return ret;
}

static int event_among(const struct engine_status *status, const char *name)
{
	for (size_t i = 0; i < status->n_events; i++)
		if (!strcmp(status->events[i].name, name))
			return status->events[i].id;
	return NO_EVENT;
}

/* Weights of events that are only there are left out. */
static void translate_events(const struct engine_status *from, const struct engine_status *to,
	struct basis *basis, size_t *shared)
{
	int others[STORE_EVENTS_MAX];
	uint32_t kept = 0;

	*shared = 0;
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		others[i] = NO_EVENT;
	for (size_t i = 0; i < from->n_events; i++) {
		others[from->events[i].id] = event_among(to, from->events[i].name);
		*shared += others[from->events[i].id] != NO_EVENT && from->events[i].samples;
	}
	memset(basis->sums, 0, sizeof(basis->sums));
	for (uint32_t i = 0; i < basis->n_weights; i++) {
		struct basis_weight weight = basis->weights[i];

		if (others[weight.event] == NO_EVENT)
			continue;
		weight.event = (uint8_t)others[weight.event];
		basis->sums[weight.event] += weight.weight;
		basis->weights[kept++] = weight;
	}
	basis->n_weights = kept;
}

int recorded_basis(struct recorded *recorded, const struct recorded_question *question,
	struct basis *out, size_t *shared)
{
	int ret = scan(recorded, question, out);

	*shared = 0;
	if (!ret)
		ret = translate_symbols(recorded, out, question->names);
	if (ret)
		basis_fini(out);
	else
		translate_events(&recorded->status, question->status, out, shared);
	return ret;
}
