/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader.c - the loader thread, its queues and notes.
 */
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define WORKER_MEMORY_MB 4096
#define JOIN_MS 3000

void loader_signal(struct loader *loader)
{
	uint64_t one = 1;

	/* write() fails only if the eventfd is readable already. */
	if (write(loader->answers_fd, &one, sizeof(one)) < 0)
		return;
}

void loader_add_note(
	struct loader *loader, enum symbols_note_kind kind, const char *path, int error, int value)
{
	/* The second attempt tells. */
	if (loader->tentative &&
		(kind == SYMBOLS_NOTE_UNREADABLE || kind == SYMBOLS_NOTE_FILE_BANNED))
		return;
	/* A worker that died or is not confined is always worth a note. */
	if (loader->is_quiet && kind != SYMBOLS_NOTE_WORKER_DIED &&
		kind != SYMBOLS_NOTE_FILE_BANNED && kind != SYMBOLS_NOTE_UNCONFINED)
		return;
	pthread_mutex_lock(&loader->lock);
	if (loader->n_notes == LOADER_NOTES_MAX) {
		loader->first_note = (loader->first_note + 1) % LOADER_NOTES_MAX;
		loader->n_notes--;
	}
	struct symbols_note *note =
		&loader->notes[(loader->first_note + loader->n_notes++) % LOADER_NOTES_MAX];
	*note = (struct symbols_note){.kind = kind, .error = error, .value = value};
	snprintf(note->path, sizeof(note->path), "%s", path ? path : "");
	pthread_mutex_unlock(&loader->lock);
	loader_signal(loader);
}

void loader_tell_no_worker(struct loader *loader)
{
	int error = loader->asker.start_error;

	if (loader->told_no_worker && error == loader->no_worker_error)
		return;
	loader->told_no_worker = true;
	loader->no_worker_error = error;
	loader_add_note(loader, SYMBOLS_NOTE_NO_WORKER, "", error, 0);
}

void loader_tell_elsewhere(struct loader *loader)
{
	if (!loader->told_elsewhere)
		loader_add_note(loader, SYMBOLS_NOTE_ELSEWHERE, "", 0, (int)load_elsewhere(loader));
	loader->told_elsewhere = true;
}

static int load_recorded(struct loader *loader, struct loader_image *image)
{
	switch (image->source.kind) {
	case SYMBOLS_KERNEL:
		return load_recorded_kernel(loader, image);
	case SYMBOLS_VDSO:
		return load_recorded_vdso(loader, image);
	case SYMBOLS_MODULE:
		return load_recorded_module(loader, image);
	case SYMBOLS_JIT:
		return load_recorded_jit(loader, image);
	case SYMBOLS_FILE:
	default:
		return load_recorded_file(loader, image);
	}
}

/* Loads what image->want and the kind of source select, live or from the recording. */
static int load_by_kind(struct loader *loader, struct loader_image *image, bool may_wait)
{
	if (image->want == LOADER_DATA)
		return load_data(loader, image);
	if (loader->recording)
		return load_told(loader, image, load_recorded);
	switch (image->source.kind) {
	case SYMBOLS_KERNEL:
		return load_kernel(loader, image, may_wait);
	case SYMBOLS_VDSO:
		return load_vdso(loader, image);
	case SYMBOLS_JIT:
		return load_jit(loader, image);
	default:
		return load_file(loader, image);
	}
}

/* Returns false if may_wait is set and images that load faster should go first. */
static bool load_image(struct loader *loader, struct loader_image *image, bool may_wait)
{
	const char *path = image->source.path ? image->source.path : "";

	image->state = SYMBOLS_UNREADABLE;
	loader->tentative = image->tentative;
	if (image->want == LOADER_UNWIND) {
		load_unwind(loader, image);
		return true;
	}
	if (image->want == LOADER_MOVED) {
		load_piece(loader, image);
		return true;
	}
	if (image->want == LOADER_NAMED) {
		/* The error goes to the caller that asked. */
		image->error = -load_named(loader, image);
		return true;
	}
	int ret = load_by_kind(loader, image, may_wait);
	if (ret == -EAGAIN && may_wait)
		return false;
	if (ret == -ESTALE) {
		image->mark = loader->recording ? SYMBOLS_MARK_OTHER : SYMBOLS_MARK_NONE;
		loader_add_note(loader, SYMBOLS_NOTE_WRONG_FILE, path, 0, image->source.deleted);
	} else if (ret == -EREMOTE) {
		image->mark = SYMBOLS_MARK_UNPROVEN;
		loader_tell_elsewhere(loader);
	} else if (ret == -ECHILD) {
		loader_tell_no_worker(loader);
	} else if (ret < 0 && ret != -EOWNERDEAD && ret != -ECANCELED) {
		uid_t user;

		if (ret == -EACCES && opener_is_fuse(&image->source, &user) && user != geteuid())
			loader_add_note(loader, SYMBOLS_NOTE_OTHERS_FUSE, path, 0, (int)user);
		else
			loader_add_note(loader, SYMBOLS_NOTE_UNREADABLE, path, -ret,
				image->source.deleted && !loader->recording);
	}
	return true;
}

/* Stores the table in the disk cache, after it was published. */
static void keep_table(struct loader *loader)
{
	if (loader->keep_fd < 0)
		return;
	cache_store(loader->cache, loader->keep_key, loader->keep_fd);
	close(loader->keep_fd);
	loader->keep_fd = -1;
}

/* The kernel has ten times as many symbols as most files.  It waits, once, for images posted after
 * it. */
static void do_image(struct loader *loader, struct loader_image *image, bool others)
{
	bool done = load_image(loader, image, others && !image->waited);

	if (image->want == LOADER_UNWIND) {
		image->take(image);
		loader_image_free(image);
		keep_table(loader);
		return;
	}
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
		loader_signal(loader);
	keep_table(loader);
}

/* Takes the next image, unwind tables first; NULL if none.  Called with the lock held. */
static struct loader_image *take_image(struct loader *loader)
{
	struct loader_image *image = loader->unwinds ? loader->unwinds : loader->images;

	if (!image)
		return NULL;
	if (image == loader->unwinds) {
		loader->unwinds = image->next;
		if (!loader->unwinds)
			loader->unwinds_end = &loader->unwinds;
	} else {
		loader->images = image->next;
		if (!loader->images)
			loader->images_end = &loader->images;
	}
	image->next = NULL;
	return image;
}

static void run(void *arg)
{
	struct loader *loader = arg;

	pthread_mutex_lock(&loader->lock);
	while (!loader->stop) {
		struct loader_name *batch[WIRE_NAMES_MAX];
		size_t n = load_take_names(loader, batch);
		struct loader_image *image = take_image(loader);
		if (!n && !image) {
			pthread_cond_wait(&loader->wake, &loader->lock);
			continue;
		}
		bool others = loader->images;
		pthread_mutex_unlock(&loader->lock);
		if (n)
			load_names(loader, batch, n);
		if (image)
			do_image(loader, image, others);
		pthread_mutex_lock(&loader->lock);
	}
	pthread_mutex_unlock(&loader->lock);
}

int loader_start(struct loader *loader, const char *name, void (*run_thread)(void *), void *arg)
{
	const int ret = thread_start(&loader->thread, name, run_thread, NULL, arg);

	loader->started = ret == 0;
	return ret;
}

int loader_init(struct loader *loader, const struct symbols_config *config, int answers_fd)
{
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->wake, NULL);
	loader->unwinds_end = &loader->unwinds;
	loader->images_end = &loader->images;
	loader->images_done_end = &loader->images_done;
	loader->names_end = &loader->names;
	loader->names_done_end = &loader->names_done;
	loader->asker.sock = loader->asker.spawner.sock = -1;
	loader->keep_fd = -1;
	loader->memory_mb = config->worker_memory_mb ? config->worker_memory_mb : WORKER_MEMORY_MB;
	loader->answers_fd = answers_fd < 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)
					    : fcntl(answers_fd, F_DUPFD_CLOEXEC, 0);
	loader->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loader->answers_fd < 0 || loader->stop_fd < 0)
		return -errno;
	loader->packet = malloc(WIRE_PACKET_BYTES);
	loader->kallsyms_path =
		strdup(config->kallsyms_path ? config->kallsyms_path : LOADER_KALLSYMS);
	loader->kernel_notes_path =
		strdup(config->kernel_notes_path ? config->kernel_notes_path : "/sys/kernel/notes");
	loader->recording = config->recording;
	loader->started_s = time(NULL);
	loader->keep_files = config->keep_files;
	loader->keep_for_recording = config->keep_for_recording;
	loader->trust_local = config->trust_local;
	loader->fetched = config->fetched;
	loader->fetch = config->fetch;
	if (!loader->packet || !loader->kallsyms_path || !loader->kernel_notes_path ||
		finder_init(&loader->finder, config) < 0)
		return -ENOMEM;
	return 0;
}

int loader_new(struct loader **out, const struct symbols_config *config)
{
	struct loader *loader = calloc(1, sizeof(*loader));

	*out = NULL;
	if (!loader)
		return -ENOMEM;
	int ret = loader_init(loader, config, -1);
	if (ret == 0 && config->late)
		asker_open_late(&loader->asker, loader->stop_fd, loader->memory_mb, false);
	else if (ret == 0)
		ret = asker_open(&loader->asker, loader->stop_fd, loader->memory_mb);
	/* The cache is optional: without it symbols come later. */
	if (ret == 0 &&
		cache_open(&loader->cache, config->cache_dir, config->cache_max_bytes) == -ENOMEM)
		ret = -ENOMEM;
	if (ret == 0)
		ret = loader_start(loader, "strobe-loader", run, loader);
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

bool loader_stop(struct loader *loader)
{
	uint64_t one = 1;

	if (!loader->started)
		return true;
	pthread_mutex_lock(&loader->lock);
	loader->stop = true;
	pthread_cond_signal(&loader->wake);
	pthread_mutex_unlock(&loader->lock);
	ssize_t written = write(loader->stop_fd, &one, sizeof(one));
	(void)written;
	/* The thread may hang in open(2) on a dead network disk. */
	return thread_wait(&loader->thread, JOIN_MS);
}

void loader_fini(struct loader *loader)
{
	asker_close(&loader->asker);
	cache_close(loader->cache);
	free_lists(loader->unwinds, NULL);
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
	free(loader->kernel_notes_path);
	free(loader->recorded.release);
	if (loader->recorded.kept_fd > 0)
		close(loader->recorded.kept_fd);
	free(loader->copies);
	load_told_free(loader);
	finder_fini(&loader->finder);
}

bool loader_free(struct loader *loader)
{
	if (!loader)
		return true;
	if (!loader_stop(loader))
		return false;
	loader_fini(loader);
	free(loader);
	return true;
}

void loader_image_free(struct loader_image *image)
{
	if (!image)
		return;
	symtab_close(&image->table);
	free(image->jit.steps);
	unwtab_close(&image->unwind);
	for (size_t i = 0; i < 2; i++)
		if (image->kept_fds[i] > 0)
			close(image->kept_fds[i]);
	free((char *)(uintptr_t)image->source.path);
	free((char *)(uintptr_t)image->source.jitdump);
	free(image->wanted);
	free(image->found);
	free(image);
}

void loader_post_image(struct loader *loader, struct loader_image *image)
{
	struct loader_image ***end =
		image->want == LOADER_UNWIND ? &loader->unwinds_end : &loader->images_end;

	image->next = NULL;
	pthread_mutex_lock(&loader->lock);
	**end = image;
	*end = &image->next;
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

	/* Read the eventfd before the lists: an answer in between wakes the caller once more, and
	 * is never missed. */
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

int loader_recorded(struct loader *loader, const struct symbols_recorded *recorded)
{
	char *release = strdup(recorded->release ? recorded->release : "");

	if (!release)
		return -ENOMEM;
	pthread_mutex_lock(&loader->lock);
	free(loader->recorded.release);
	loader->recorded.release = release;
	loader->recorded.elsewhere = recorded->elsewhere;
	loader->recorded.end_s = recorded->end_s;
	loader->recorded.monotonic = recorded->monotonic;
	if (recorded->kept_fd > 0 && !loader->recorded.kept_fd) {
		const int fd = fcntl(recorded->kept_fd, F_DUPFD_CLOEXEC, 3);
		loader->recorded.kept_fd = fd > 0 ? fd : 0;
	}
	const int ret = load_take_told(loader, recorded);
	pthread_mutex_unlock(&loader->lock);
	return ret;
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
		loader->first_note = (loader->first_note + 1) % LOADER_NOTES_MAX;
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
