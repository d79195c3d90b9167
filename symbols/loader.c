/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader.c - the loader thread's queues and what it does with each image and name.
 */
#include "symbols/loader.h"

#include "symbols/asker.h"
#include "symbols/cache.h"
#include "symbols/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NOTES_MAX 256
#define WORKER_MEMORY_MB 4096
#define JOIN_SECONDS 3

unsigned int loader_file_cpu_ms = 8000, loader_file_wall_ms = 20000;

static const struct asker_limits demangle_limits = {.cpu_ms = 500, .wall_ms = 10000};

struct loader {
	pthread_t thread;
	bool started;
	struct asker asker; /* the thread's, but for the pids */
	struct cache *cache;
	char *kallsyms_path;
	char *packet; /* WIRE_PACKET_BYTES */
	bool told_unconfined, told_no_worker;
	int no_worker_error; /* told last */
	int keep_fd; /* a table for the cache, once it has been published; -1: none */
	char keep_key[CACHE_KEY_MAX];
	int answers_fd, stop_fd;

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	bool stop;
	struct loader_image *images, **images_end, *images_done, **images_done_end;
	struct loader_name *names, **names_end, *names_done, **names_done_end;
	struct symbols_note notes[NOTES_MAX]; /* a ring: the oldest are dropped */
	size_t first_note, n_notes;
};

static void signal_answers(struct loader *loader)
{
	uint64_t one = 1;

	/* It can only fail by being readable already. */
	if (write(loader->answers_fd, &one, sizeof(one)) < 0)
		return;
}

static void add_note(
	struct loader *loader, enum symbols_note_kind kind, const char *path, int error, int value)
{
	pthread_mutex_lock(&loader->lock);
	if (loader->n_notes == NOTES_MAX) {
		loader->first_note = (loader->first_note + 1) % NOTES_MAX;
		loader->n_notes--;
	}
	struct symbols_note *note =
		&loader->notes[(loader->first_note + loader->n_notes++) % NOTES_MAX];
	*note = (struct symbols_note){.kind = kind, .error = error, .value = value};
	snprintf(note->path, sizeof(note->path), "%s", path ? path : "");
	pthread_mutex_unlock(&loader->lock);
	signal_answers(loader);
}

/* Ask about a file; one that kills the worker is tried once more.  0 or -errno: -EOWNERDEAD when it killed
 * it twice. */
static int ask_file(struct loader *loader, enum wire_type type, int fd, const char *path,
	struct wire_message *answer, int *table)
{
	const struct asker_question question = {
		.type = type,
		.fd = fd,
		.limits = {.cpu_ms = loader_file_cpu_ms, .wall_ms = loader_file_wall_ms},
	};
	int ret = -EPIPE;
	size_t len;

	for (int attempt = 0; attempt < 2 && ret == -EPIPE; attempt++) {
		ret = asker_ask(&loader->asker, &question, answer, NULL, 0, &len, table);
		if (ret == -EPIPE)
			add_note(loader, SYMBOLS_NOTE_WORKER_DIED, path, 0,
				loader->asker.died_status);
		if (loader->asker.confine_error && !loader->told_unconfined) {
			loader->told_unconfined = true;
			add_note(loader, SYMBOLS_NOTE_UNCONFINED, "", loader->asker.confine_error,
				0);
		}
	}
	if (ret == -EPIPE) {
		add_note(loader, SYMBOLS_NOTE_FILE_BANNED, path, 0, 0);
		return -EOWNERDEAD;
	}
	if (ret == 0 && answer->error) {
		if (*table >= 0)
			close(*table);
		*table = -1;
		return answer->error > 0 && answer->error < 4096 ? -answer->error : -EBADMSG;
	}
	return ret;
}

static bool use_table(struct loader_image *image, int fd)
{
	if (symtab_open(&image->table, fd) < 0)
		return false;
	image->state = image->table.n_entries ? SYMBOLS_READY : SYMBOLS_NONE;
	return true;
}

static void tell_build_id(struct loader_image *image, const uint8_t *build_id, size_t len)
{
	_Static_assert(WIRE_BUILD_ID_MAX == SYMBOLS_BUILD_ID_MAX, "build-ids differ in size");
	image->build_id_len = len <= sizeof(image->build_id) ? len : 0;
	memcpy(image->build_id, build_id, image->build_id_len);
}

static bool use_cached(struct loader *loader, struct loader_image *image, const char *key)
{
	int fd = cache_load(loader->cache, key);

	if (fd < 0)
		return false;
	bool used = use_table(image, fd);
	close(fd);
	return used;
}

/* Ask for the table of an open file, and use it.  key may be NULL: not for the cache. */
static int load_table(struct loader *loader, struct loader_image *image, enum wire_type type,
	int fd, const char *key, struct wire_message *answer)
{
	int table = -1;

	int ret = ask_file(loader, type, fd, image->source.path, answer, &table);
	if (ret < 0)
		return ret;
	if (table < 0)
		return -EBADMSG;
	if (type == WIRE_FILE)
		tell_build_id(image, answer->build_id, answer->build_id_len);
	if (!use_table(image, table)) {
		close(table);
		return -EBADMSG;
	}
	if (loader->cache && key && !(answer->flags & WIRE_FLAG_HIDDEN)) {
		snprintf(loader->keep_key, sizeof(loader->keep_key), "%s", key);
		loader->keep_fd = table;
	} else {
		close(table);
	}
	return 0;
}

/* The file's own build-id.  0 (*len may be) or -errno. */
static int read_build_id(
	struct loader *loader, struct loader_image *image, int fd, uint8_t *out, size_t *len)
{
	struct wire_message answer;
	int none = -1;

	*len = 0;
	int ret = ask_file(loader, WIRE_BUILD_ID, fd, image->source.path, &answer, &none);
	if (none >= 0)
		close(none);
	if (ret == 0) {
		*len = answer.build_id_len <= WIRE_BUILD_ID_MAX ? answer.build_id_len : 0;
		memcpy(out, answer.build_id, *len);
	}
	return ret;
}

static void make_key(char key[CACHE_KEY_MAX], const struct symbols_source *source,
	const struct opener_file *file, const uint8_t *build_id, size_t len)
{
	if (source->build_id_len)
		cache_key_build_id(key, build_id, len);
	else
		cache_key_file(key, build_id, len, file->size, file->mtime_ns);
}

/* Load from one open candidate.  0; -ESTALE when it is not the mapped file; -errno. */
static int load_candidate(
	struct loader *loader, struct loader_image *image, const struct opener_file *file)
{
	const struct symbols_source *source = &image->source;
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len = source->build_id_len;
	char key[CACHE_KEY_MAX];
	struct wire_message answer;

	if (!file->same && !len)
		return -ESTALE;
	memcpy(build_id, source->build_id, len);
	if (!file->same || (!len && loader->cache)) {
		int ret = read_build_id(loader, image, file->fd, build_id, &len);
		if (ret < 0)
			return ret;
		if (!file->same &&
			(len != source->build_id_len ||
				memcmp(build_id, source->build_id, len) != 0))
			return -ESTALE;
		if (len && !source->build_id_len) {
			make_key(key, source, file, build_id, len);
			tell_build_id(image, build_id, len);
			if (use_cached(loader, image, key))
				return 0;
		}
	}
	/* Somebody could give their file the build-id of another: only whom this user trusts
	 * anyway may fill the cache. */
	bool trusted = file->owner == 0 || file->owner == geteuid();
	if (len)
		make_key(key, source, file, build_id, len);
	return load_table(loader, image, WIRE_FILE, file->fd, len && trusted ? key : NULL, &answer);
}

static int load_file(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	char key[CACHE_KEY_MAX];
	int result = -ENOENT;

	if (source->build_id_len) {
		cache_key_build_id(key, source->build_id, source->build_id_len);
		tell_build_id(image, source->build_id, source->build_id_len);
		if (use_cached(loader, image, key))
			return 0;
	}
	for (enum opener_way way = 0; way < OPENER_WAYS; way++) {
		struct opener_file file;
		int ret = opener_open(source, way, &file);
		if (ret == 0) {
			ret = load_candidate(loader, image, &file);
			close(file.fd);
			if (ret != -ESTALE)
				return ret;
		}
		/* The reason that says most: a wrong file, else what refused the last way that was open. */
		if (result != -ESTALE && ret != -EINVAL && (ret != -ENOENT || result == -ENOENT))
			result = ret;
	}
	return result;
}

static int load_vdso(struct loader *loader, struct loader_image *image)
{
	struct wire_message answer;

	int fd = opener_vdso(&image->source);
	if (fd < 0)
		return fd;
	int ret = load_table(loader, image, WIRE_FILE, fd, NULL, &answer);
	close(fd);
	return ret;
}

/* -EAGAIN: not in the cache, and may_wait. */
static int load_kernel(struct loader *loader, struct loader_image *image, bool may_wait)
{
	const char *path = loader->kallsyms_path ? loader->kallsyms_path : "/proc/kallsyms";
	struct wire_message answer;
	char key[CACHE_KEY_MAX];

	bool cached = !loader->kallsyms_path && loader->cache && cache_key_kernel(key) == 0;
	if (cached && use_cached(loader, image, key))
		return 0;
	if (may_wait)
		return -EAGAIN;
	/* Whether it shows addresses is decided here, by who opens it. */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int ret = load_table(loader, image, WIRE_KALLSYMS, fd, cached ? key : NULL, &answer);
	close(fd);
	if (ret == 0 && answer.flags & WIRE_FLAG_HIDDEN)
		add_note(loader, SYMBOLS_NOTE_KERNEL_HIDDEN, path, 0, 0);
	return ret;
}

static void tell_no_worker(struct loader *loader)
{
	int error = loader->asker.start_error;

	if (loader->told_no_worker && error == loader->no_worker_error)
		return;
	loader->told_no_worker = true;
	loader->no_worker_error = error;
	add_note(loader, SYMBOLS_NOTE_NO_WORKER, "", error, 0);
}

/* False when the image should wait for others that are quicker. */
static bool load_image(struct loader *loader, struct loader_image *image, bool may_wait)
{
	const char *path = image->source.path ? image->source.path : "";
	int ret;

	image->state = SYMBOLS_UNREADABLE;
	if (image->source.kind == SYMBOLS_KERNEL)
		ret = load_kernel(loader, image, may_wait);
	else if (image->source.kind == SYMBOLS_VDSO)
		ret = load_vdso(loader, image);
	else
		ret = load_file(loader, image);
	if (ret == -EAGAIN && may_wait)
		return false;
	if (ret == -ESTALE)
		add_note(loader, SYMBOLS_NOTE_WRONG_FILE, path, 0, 0);
	else if (ret == -ECHILD)
		tell_no_worker(loader);
	else if (ret < 0 && ret != -EOWNERDEAD && ret != -ECANCELED)
		add_note(loader, SYMBOLS_NOTE_UNREADABLE, path, -ret, 0);
	return true;
}

/* Take the answers apart; a worker that answers nonsense leaves the names as they are. */
static void take_pretty(struct loader_name **names, size_t n, const char *text, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		size_t pretty_len = strnlen(text, len);
		if (pretty_len == len)
			return;
		if (pretty_len)
			names[i]->pretty = strdup(text);
		text += pretty_len + 1;
		len -= pretty_len + 1;
	}
}

/* Demangle a batch.  False when it has to be tried again, name by name. */
static bool demangle(struct loader *loader, struct loader_name **names, size_t n)
{
	struct wire_message answer;
	size_t len = 0;
	int none;

	for (size_t i = 0; i < n; i++) {
		size_t bytes = strlen(names[i]->name) + 1;
		memcpy(loader->packet + len, names[i]->name, bytes);
		len += bytes;
	}
	const struct asker_question question = {.type = WIRE_DEMANGLE,
		.payload = loader->packet,
		.len = len,
		.fd = -1,
		.limits = demangle_limits};
	int ret = asker_ask(
		&loader->asker, &question, &answer, loader->packet, WIRE_PACKET_BYTES, &len, &none);
	if (none >= 0)
		close(none);
	if (ret == 0)
		take_pretty(names, n, loader->packet, len);
	if (ret == -EPIPE && n == 1)
		add_note(loader, SYMBOLS_NOTE_NAME_LEFT, names[0]->name, 0,
			loader->asker.died_status);
	if (ret == -ECHILD)
		tell_no_worker(loader);
	return ret != -EPIPE || n == 1;
}

/* With the lock held: up to a packet of names off the queue. */
static size_t take_names(struct loader *loader, struct loader_name **batch)
{
	size_t n = 0, bytes = 0;

	while (n < WIRE_NAMES_MAX && loader->names) {
		struct loader_name *name = loader->names;
		bytes += strlen(name->name) + 1;
		if (n && (name->suspect || bytes > WIRE_PACKET_BYTES / 2))
			break;
		batch[n++] = name;
		loader->names = name->next;
		if (!loader->names)
			loader->names_end = &loader->names;
		name->next = NULL;
		if (name->suspect)
			break;
	}
	return n;
}

static void do_names(struct loader *loader, struct loader_name **batch, size_t n)
{
	bool done = demangle(loader, batch, n);

	pthread_mutex_lock(&loader->lock);
	for (size_t i = 0; i < n; i++) {
		struct loader_name ***end = done ? &loader->names_done_end : &loader->names_end;
		batch[i]->suspect = !done;
		**end = batch[i];
		*end = &batch[i]->next;
	}
	pthread_mutex_unlock(&loader->lock);
	if (done)
		signal_answers(loader);
}

/* The kernel has ten times as many symbols as most files, and is let wait once for those that came
 * after it. */
static void do_image(struct loader *loader, struct loader_image *image, bool others)
{
	bool done = load_image(loader, image, others && !image->waited);

	pthread_mutex_lock(&loader->lock);
	if (done) {
		*loader->images_done_end = image;
		loader->images_done_end = &image->next;
	} else {
		image->waited = true;
		*loader->images_end = image;
		loader->images_end = &image->next;
	}
	pthread_mutex_unlock(&loader->lock);
	if (done)
		signal_answers(loader);
	if (loader->keep_fd >= 0) {
		cache_store(loader->cache, loader->keep_key, loader->keep_fd);
		close(loader->keep_fd);
		loader->keep_fd = -1;
	}
}

static void *run(void *arg)
{
	struct loader *loader = arg;

	pthread_mutex_lock(&loader->lock);
	while (!loader->stop) {
		struct loader_name *batch[WIRE_NAMES_MAX];
		struct loader_image *image = loader->images;
		size_t n = take_names(loader, batch);
		if (!n && !image) {
			pthread_cond_wait(&loader->wake, &loader->lock);
			continue;
		}
		bool others = image && image->next;
		if (image) {
			loader->images = image->next;
			if (!loader->images)
				loader->images_end = &loader->images;
			image->next = NULL;
		}
		pthread_mutex_unlock(&loader->lock);
		if (n)
			do_names(loader, batch, n);
		if (image)
			do_image(loader, image, others);
		pthread_mutex_lock(&loader->lock);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

static int start_thread(struct loader *loader)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int ret = pthread_create(&loader->thread, NULL, run, loader);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		return -ret;
	loader->started = true;
	pthread_setname_np(loader->thread, "strobe-loader");
	return 0;
}

int loader_new(struct loader **out, const struct symbols_config *config)
{
	struct loader *loader = calloc(1, sizeof(*loader));
	int ret = 0;

	*out = NULL;
	if (!loader)
		return -ENOMEM;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->wake, NULL);
	loader->images_end = &loader->images;
	loader->images_done_end = &loader->images_done;
	loader->names_end = &loader->names;
	loader->names_done_end = &loader->names_done;
	loader->asker.sock = loader->asker.spawner.sock = -1;
	loader->keep_fd = -1;
	loader->answers_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	loader->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loader->answers_fd < 0 || loader->stop_fd < 0) {
		ret = -errno;
		goto out;
	}
	loader->packet = malloc(WIRE_PACKET_BYTES);
	if (config->kallsyms_path)
		loader->kallsyms_path = strdup(config->kallsyms_path);
	if (!loader->packet || (config->kallsyms_path && !loader->kallsyms_path)) {
		ret = -ENOMEM;
		goto out;
	}
	ret = asker_open(&loader->asker, loader->stop_fd,
		config->worker_memory_mb ? config->worker_memory_mb : WORKER_MEMORY_MB);
	if (ret < 0)
		goto out;
	/* Without a cache everything works, only later. */
	if (cache_open(&loader->cache, config->cache_dir, config->cache_max_bytes) == -ENOMEM) {
		ret = -ENOMEM;
		goto out;
	}
	ret = start_thread(loader);
out:
	if (ret < 0) {
		loader_free(loader);
		return ret;
	}
	*out = loader;
	return 0;
}

static void free_lists(struct loader_image *images, struct loader_name *names)
{
	while (images) {
		struct loader_image *next = images->next;
		loader_image_free(images);
		images = next;
	}
	while (names) {
		struct loader_name *next = names->next;
		free(names->pretty);
		free(names);
		names = next;
	}
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	if (loader->started) {
		struct timespec until;
		uint64_t one = 1;

		pthread_mutex_lock(&loader->lock);
		loader->stop = true;
		pthread_cond_signal(&loader->wake);
		pthread_mutex_unlock(&loader->lock);
		ssize_t written = write(loader->stop_fd, &one, sizeof(one));
		(void)written;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += JOIN_SECONDS;
		if (pthread_timedjoin_np(loader->thread, NULL, &until) != 0) {
			/* It hangs in open(2), on a dead network disk: what it uses has to stay. */
			pthread_detach(loader->thread);
			return;
		}
	}
	asker_close(&loader->asker);
	cache_close(loader->cache);
	free_lists(loader->images, loader->names);
	free_lists(loader->images_done, loader->names_done);
	if (loader->answers_fd >= 0)
		close(loader->answers_fd);
	if (loader->stop_fd >= 0)
		close(loader->stop_fd);
	pthread_mutex_destroy(&loader->lock);
	pthread_cond_destroy(&loader->wake);
	free(loader->packet);
	free(loader->kallsyms_path);
	free(loader);
}

void loader_image_free(struct loader_image *image)
{
	if (!image)
		return;
	symtab_close(&image->table);
	free((char *)(uintptr_t)image->source.path);
	free(image);
}

void loader_post_image(struct loader *loader, struct loader_image *image)
{
	image->next = NULL;
	pthread_mutex_lock(&loader->lock);
	*loader->images_end = image;
	loader->images_end = &image->next;
	pthread_cond_signal(&loader->wake);
	pthread_mutex_unlock(&loader->lock);
}

void loader_post_name(struct loader *loader, struct loader_name *name)
{
	name->next = NULL;
	pthread_mutex_lock(&loader->lock);
	*loader->names_end = name;
	loader->names_end = &name->next;
	pthread_cond_signal(&loader->wake);
	pthread_mutex_unlock(&loader->lock);
}

void loader_collect(struct loader *loader, struct loader_image **images, struct loader_name **names)
{
	uint64_t count;

	/* Read before the lists: what comes in between is told once more, and never missed. */
	ssize_t n = read(loader->answers_fd, &count, sizeof(count));
	(void)n;
	pthread_mutex_lock(&loader->lock);
	*images = loader->images_done;
	*names = loader->names_done;
	loader->images_done = NULL;
	loader->images_done_end = &loader->images_done;
	loader->names_done = NULL;
	loader->names_done_end = &loader->names_done;
	pthread_mutex_unlock(&loader->lock);
}

int loader_fd(const struct loader *loader)
{
	return loader->answers_fd;
}

bool loader_take_note(struct loader *loader, struct symbols_note *out)
{
	bool taken = false;

	pthread_mutex_lock(&loader->lock);
	if (loader->n_notes) {
		*out = loader->notes[loader->first_note];
		loader->first_note = (loader->first_note + 1) % NOTES_MAX;
		loader->n_notes--;
		taken = true;
	}
	pthread_mutex_unlock(&loader->lock);
	return taken;
}

int loader_worker_pid(struct loader *loader)
{
	return atomic_load(&loader->asker.worker_pid);
}

int loader_spawner_pid(struct loader *loader)
{
	return atomic_load(&loader->asker.spawner_pid);
}
