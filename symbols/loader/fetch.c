/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fetch.c - a queue in front of libdebuginfod.
 *
 * The library is loaded with the first question, since it loads libcurl and twenty more libraries.
 */
#include "symbols/loader/fetch.h"
#include "symbols/base/thread.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOIN_MS 3000

#define FETCH_FUNCTIONS(X)            \
	X(debuginfod_begin)           \
	X(debuginfod_end)             \
	X(debuginfod_find_debuginfo)  \
	X(debuginfod_find_executable) \
	X(debuginfod_set_progressfn)

struct library {
	void *handle;
#define FETCH_MEMBER(name) __typeof__(&name) name;
	FETCH_FUNCTIONS(FETCH_MEMBER)
#undef FETCH_MEMBER
};

enum item_state { ITEM_WAITING, ITEM_AT_WORK, ITEM_DONE, ITEM_TAKEN };

struct item {
	struct item *next;
	struct fetch_id id;
	enum item_state state;
	bool canceled;
	int error; /* positive errno, when done */
	int fd; /* -1: none */
};

struct fetch {
	struct library library; /* for the fetch thread only */
	int answers_fd;
	struct thread thread;
	bool ended, hangs;

	pthread_mutex_t lock; /* guards all fields below */
	pthread_cond_t wake;
	bool started, stop;
	struct item *items, **items_end; /* in the order of questions */
	uint64_t received, total; /* bytes of the item at work */
};

/* --- the library --- */

static bool find(void *handle, const char *name, void *function)
{
	void *symbol = dlsym(handle, name);

	/* ISO C has no conversion from an object pointer to a function pointer. */
	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

static int load(struct library *library)
{
	bool found = true;

	library->handle = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_LOCAL);
	if (!library->handle)
		return -ENOPKG;
#define FETCH_FIND(name) found &= find(library->handle, #name, &library->name);
	FETCH_FUNCTIONS(FETCH_FIND)
#undef FETCH_FIND
	/* It stays loaded: the initialization of its dependencies cannot be undone. */
	return found ? 0 : -ENOPKG;
}

/* --- the thread --- */

static bool is_same(const struct fetch_id *a, const struct fetch_id *b)
{
	return a->kind == b->kind && a->build_id_len == b->build_id_len &&
		memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

static struct item *find_state(const struct fetch *fetch, enum item_state state)
{
	struct item *item = fetch->items;

	while (item && item->state != state)
		item = item->next;
	return item;
}

static _Thread_local struct fetch *working; /* the library passes no context to the callback */

/* Called by the library at least once per second; a nonzero result ends the transfer. */
static int progress(debuginfod_client *client, long received, long total)
{
	struct fetch *fetch = working;

	(void)client;
	pthread_mutex_lock(&fetch->lock);
	const struct item *item = find_state(fetch, ITEM_AT_WORK);
	const bool canceled = fetch->stop || !item || item->canceled;
	fetch->received = received > 0 ? (uint64_t)received : 0;
	fetch->total = total > 0 ? (uint64_t)total : 0;
	pthread_mutex_unlock(&fetch->lock);
	return canceled;
}

/* Returns an fd or -errno. */
static int transfer(struct fetch *fetch, const struct fetch_id *id)
{
	const struct library *library = &fetch->library;
	debuginfod_client *client = library->debuginfod_begin();

	if (!client)
		return -ENOMEM;
	library->debuginfod_set_progressfn(client, progress);
	int fd = (id->kind == FETCH_PROGRAM ? library->debuginfod_find_executable
					    : library->debuginfod_find_debuginfo)(
		client, id->build_id, (int)id->build_id_len, NULL);
	library->debuginfod_end(client);
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static void tell(const struct fetch *fetch)
{
	const uint64_t one = 1;

	/* It only fails if the eventfd is readable already. */
	if (write(fetch->answers_fd, &one, sizeof(one)) < 0)
		return;
}

static void run(void *arg)
{
	struct fetch *fetch = arg;

	working = fetch;
	const int loaded = load(&fetch->library);
	pthread_mutex_lock(&fetch->lock);
	while (!fetch->stop) {
		struct item *item = find_state(fetch, ITEM_WAITING);
		if (!item) {
			pthread_cond_wait(&fetch->wake, &fetch->lock);
			continue;
		}
		item->state = ITEM_AT_WORK;
		fetch->received = fetch->total = 0;
		pthread_mutex_unlock(&fetch->lock);
		int fd = loaded < 0 ? loaded : transfer(fetch, &item->id);
		pthread_mutex_lock(&fetch->lock);
		item->fd = fd >= 0 ? fd : -1;
		item->error = fd >= 0 ? 0 : item->canceled ? ECANCELED : -fd;
		item->state = ITEM_DONE;
		if (!fetch->stop)
			tell(fetch);
	}
	pthread_mutex_unlock(&fetch->lock);
}

/* --- for others --- */

int fetch_new(struct fetch **out)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));

	*out = fetch;
	if (!fetch)
		return -ENOMEM;
	fetch->answers_fd = -1;
	fetch->items_end = &fetch->items;
	pthread_mutex_init(&fetch->lock, NULL);
	pthread_cond_init(&fetch->wake, NULL);
	return 0;
}

void fetch_answer_to(struct fetch *fetch, int fd)
{
	fetch->answers_fd = fd;
}

void fetch_end(struct fetch *fetch)
{
	if (!fetch || !fetch->started || fetch->ended)
		return;
	pthread_mutex_lock(&fetch->lock);
	fetch->stop = true;
	pthread_cond_signal(&fetch->wake);
	pthread_mutex_unlock(&fetch->lock);
	fetch->ended = true;
	/* The thread may hang in the resolver; then its memory is not freed. */
	fetch->hangs = !thread_wait(&fetch->thread, JOIN_MS);
}

void fetch_free(struct fetch *fetch)
{
	fetch_end(fetch);
	if (!fetch || fetch->hangs)
		return;
	while (fetch->items) {
		struct item *next = fetch->items->next;
		if (fetch->items->fd >= 0)
			close(fetch->items->fd);
		free(fetch->items);
		fetch->items = next;
	}
	pthread_mutex_destroy(&fetch->lock);
	pthread_cond_destroy(&fetch->wake);
	free(fetch);
}

static struct item *find_item(const struct fetch *fetch, const struct fetch_id *id)
{
	struct item *item = fetch->items;

	while (item && !is_same(&item->id, id))
		item = item->next;
	return item;
}

/* Call it with the lock held. */
static int queue(struct fetch *fetch, const struct fetch_id *id)
{
	struct item *item = find_item(fetch, id);

	if (item && (item->state != ITEM_TAKEN || item->fd >= 0))
		return -EALREADY;
	int ret = 0;
	if (!fetch->started)
		ret = thread_start(&fetch->thread, "strobe-fetch", run, NULL, fetch);
	fetch->started |= ret == 0;
	if (ret < 0)
		return ret;
	if (!item) {
		item = calloc(1, sizeof(*item));
		if (!item)
			return -ENOMEM;
		item->id = *id;
		*fetch->items_end = item;
		fetch->items_end = &item->next;
	}
	item->fd = -1;
	item->error = 0;
	item->canceled = false;
	item->state = ITEM_WAITING;
	pthread_cond_signal(&fetch->wake);
	return 0;
}

bool fetch_has_server(void)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);

	return urls && urls[strspn(urls, " ")];
}

int fetch_ask(struct fetch *fetch, const struct fetch_id *id)
{
	if (id->build_id_len < 2 || id->build_id_len > sizeof(id->build_id))
		return -EINVAL;
	if (!fetch_has_server())
		return -EDESTADDRREQ;
	pthread_mutex_lock(&fetch->lock);
	int ret = queue(fetch, id);
	pthread_mutex_unlock(&fetch->lock);
	return ret;
}

bool fetch_take(struct fetch *fetch, struct fetch_id *id, int *error)
{
	pthread_mutex_lock(&fetch->lock);
	struct item *item = find_state(fetch, ITEM_DONE);
	if (item) {
		item->state = ITEM_TAKEN;
		*id = item->id;
		*error = item->error;
	}
	pthread_mutex_unlock(&fetch->lock);
	return item;
}

int fetch_open(struct fetch *fetch, const struct fetch_id *id, struct opener_file *out)
{
	char path[64] = "";

	*out = (struct opener_file){.fd = -1};
	pthread_mutex_lock(&fetch->lock);
	const struct item *item = find_item(fetch, id);
	if (item && item->fd >= 0)
		snprintf(path, sizeof(path), "%d", item->fd);
	pthread_mutex_unlock(&fetch->lock);
	/* Opened again, so that each reader has its own file position. */
	return path[0] ? opener_below("/proc/self/fd", path, false, out) : -ENOENT;
}

void fetch_cancel(struct fetch *fetch)
{
	pthread_mutex_lock(&fetch->lock);
	for (struct item *item = fetch->items; item; item = item->next) {
		if (item->state == ITEM_AT_WORK)
			item->canceled = true;
		if (item->state != ITEM_WAITING)
			continue;
		item->state = ITEM_DONE;
		item->error = ECANCELED;
		tell(fetch);
	}
	pthread_mutex_unlock(&fetch->lock);
}

void fetch_status(struct fetch *fetch, struct fetch_status *out)
{
	*out = (struct fetch_status){0};
	pthread_mutex_lock(&fetch->lock);
	for (const struct item *item = fetch->items; item; item = item->next) {
		out->waiting += item->state == ITEM_WAITING || item->state == ITEM_AT_WORK;
		if (item->state != ITEM_AT_WORK)
			continue;
		out->id = item->id;
		out->received = fetch->received;
		out->total = fetch->total;
	}
	pthread_mutex_unlock(&fetch->lock);
}
