/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_told.c - loads the function names of an image that the recording itself carries.
 *
 * Runs in the loader thread, except load_take_told().
 */
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void load_told_free(struct loader *loader)
{
	for (size_t i = 0; i < loader->n_told; i++) {
		free((char *)(uintptr_t)loader->told[i].path);
		free((char *)(uintptr_t)loader->told[i].names);
	}
	free(loader->told);
}

/* NULL is the kernel, which sorts first. */
static int compare_paths(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int by_path(const void *a, const void *b)
{
	return compare_paths(
		((const struct symbols_told *)a)->path, ((const struct symbols_told *)b)->path);
}

static int copy_told(struct symbols_told *to, const struct symbols_told *from)
{
	char *names = malloc(from->len ? from->len : 1);

	if (!names)
		return -ENOMEM;
	memcpy(names, from->names, from->len);
	*to = (struct symbols_told){
		.path = from->path ? strdup(from->path) : NULL, .names = names, .len = from->len};
	return from->path && !to->path ? -ENOMEM : 0;
}

int load_take_told(struct loader *loader, const struct symbols_recorded *recorded)
{
	const size_t n = recorded->n_told;
	int ret = 0;

	if (loader->told || !n)
		return 0;
	loader->told = calloc(n, sizeof(*loader->told));
	if (!loader->told)
		return -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++) {
		ret = copy_told(&loader->told[i], &recorded->told[i]);
		loader->n_told += !ret;
	}
	qsort(loader->told, loader->n_told, sizeof(*loader->told), by_path);
	return ret;
}

/* The list never changes once it is set, so the result stays valid without the lock. */
static const struct symbols_told *find_told(struct loader *loader, const struct loader_image *image)
{
	const struct symbols_told key = {
		.path = image->source.kind == SYMBOLS_KERNEL ? NULL : image->source.path};
	const struct symbols_told *found = NULL;

	pthread_mutex_lock(&loader->lock);
	if (loader->n_told && (key.path || image->source.kind == SYMBOLS_KERNEL))
		found = bsearch(&key, loader->told, loader->n_told, sizeof(key), by_path);
	pthread_mutex_unlock(&loader->lock);
	return found;
}

static int load_names_of(
	struct loader *loader, struct loader_image *image, const struct symbols_told *told)
{
	struct opener_file file = {.fd = memfd_create("names", MFD_CLOEXEC)};
	const struct loader_question question = {
		.type = WIRE_JIT, .path = image->source.path, .file = &file, .foreign = true};
	struct wire_message answer;
	int ret = file.fd < 0 ? -errno : symtab_write(file.fd, told->names, told->len, 0);

	image->mark = SYMBOLS_MARK_NONE;
	image->state = SYMBOLS_UNREADABLE;
	if (!ret)
		ret = load_table(loader, image, &question, NULL, &answer);
	if (file.fd >= 0)
		close(file.fd);
	return ret;
}

/* A file with the build-id has more than the recording: functions without samples, and lines. */
int load_told(struct loader *loader, struct loader_image *image, load_usual *usual)
{
	const struct symbols_told *told = find_told(loader, image);
	const bool was_quiet = loader->is_quiet;

	if (!told || image->want != LOADER_FUNCTIONS)
		return usual(loader, image);
	if (image->source.build_id_len) {
		loader->is_quiet = true;
		const int ret = usual(loader, image);
		loader->is_quiet = was_quiet;
		if (ret == -ECANCELED || ret == -ECHILD || (!ret && image->state == SYMBOLS_READY))
			return ret;
		symtab_close(&image->table);
		memset(&image->table, 0, sizeof(image->table));
	}
	return load_names_of(loader, image, told);
}
