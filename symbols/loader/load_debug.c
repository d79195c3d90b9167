/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_debug.c - finds the separate debug file of an image, one candidate after the other.
 *
 * Runs in the loader thread and in the second loader thread (loader_code.c).
 */
#include "symbols/base/timedopen.h"
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* the CRC-32 takes 1 s of CPU time, while other requests wait */
#define CRC_FILE_BYTES (1ull << 30)
/* timedopen_read() allows 2 s for each read, even from a slow disk */
#define CRC_BUFFER_BYTES (256u * 1024)

static bool is_stopped(const struct loader *loader)
{
	struct pollfd pfd = {.fd = loader->stop_fd, .events = POLLIN};

	return poll(&pfd, 1, 0) > 0;
}

static int read_crc(const struct loader *loader, const struct opener_file *file, uint32_t *crc)
{
	char *buffer = malloc(CRC_BUFFER_BYTES);
	uLong sum = crc32(0, NULL, 0);
	uint64_t at = 0;
	int ret = buffer ? 0 : -ENOMEM;

	while (ret == 0) {
		const ssize_t n = timedopen_read(file->fd, at, buffer, CRC_BUFFER_BYTES);
		if (n <= 0) {
			ret = (int)n;
			break;
		}
		sum = crc32(sum, (const Bytef *)buffer, (uInt)n);
		at += (uint64_t)n;
		if (is_stopped(loader))
			ret = -ECANCELED;
		else if (at > CRC_FILE_BYTES)
			ret = -EFBIG;
	}
	free(buffer);
	*crc = (uint32_t)sum;
	return ret;
}

/* Returns the index of the file's entry, or n_crcs if it has none.  Called with the lock held. */
static size_t find_crc(const struct loader *loader, const struct opener_file *file)
{
	size_t i = 0;

	while (i < loader->n_crcs &&
		(loader->crcs[i].dev != file->dev || loader->crcs[i].inode != file->inode ||
			loader->crcs[i].size != file->size ||
			loader->crcs[i].mtime_ns != file->mtime_ns))
		i++;
	return i;
}

/* Returns the CRC-32 of the whole file in *crc.  Reads each file once.  Returns 0 or -errno. */
static int get_crc(struct loader *loader, const struct opener_file *file, uint32_t *crc)
{
	pthread_mutex_lock(&loader->lock);
	size_t i = find_crc(loader, file);
	const bool known = i < loader->n_crcs;
	const int known_error = known ? loader->crcs[i].error : 0;
	if (known)
		*crc = loader->crcs[i].crc;
	pthread_mutex_unlock(&loader->lock);
	if (known)
		return known_error;
	if (file->size > CRC_FILE_BYTES)
		return -EFBIG;
	const int ret = read_crc(loader, file, crc);
	/* A file whose reads time out is not read again. */
	if (ret < 0 && ret != -ETIMEDOUT)
		return ret;
	pthread_mutex_lock(&loader->lock);
	if (loader->n_crcs == LOADER_CRCS)
		memmove(loader->crcs, loader->crcs + 1, --loader->n_crcs * sizeof(loader->crcs[0]));
	i = loader->n_crcs++;
	loader->crcs[i].dev = file->dev;
	loader->crcs[i].inode = file->inode;
	loader->crcs[i].size = file->size;
	loader->crcs[i].mtime_ns = file->mtime_ns;
	loader->crcs[i].crc = *crc;
	loader->crcs[i].error = ret;
	pthread_mutex_unlock(&loader->lock);
	return ret;
}

static void format_path(char *out, size_t size, const struct finder_place *place)
{
	snprintf(out, size, "%s/%s", strcmp(place->dir, "/") == 0 ? "" : place->dir,
		place->relative);
}

void load_tell_unopened(struct loader *loader, const struct finder_place *place, int error)
{
	char path[2 * FINDER_PATH_MAX];

	if (error == ENOENT || error == ENOTDIR || error == EACCES || error == ESRCH ||
		error == ENAMETOOLONG || error == ENOEXEC)
		return;
	format_path(path, sizeof(path), place);
	loader_add_note(loader, SYMBOLS_NOTE_UNREADABLE, path, error, 0);
}

/* error: positive errno; 0 if the CRC-32 differs from the link's. */
static void tell_unused(struct loader *loader, const struct finder_place *place, int error)
{
	char path[2 * FINDER_PATH_MAX];

	format_path(path, sizeof(path), place);
	loader_add_note(loader, SYMBOLS_NOTE_OTHER_DEBUG, path, error, 0);
}

/* Returns whether a file with the link's name also has the link's CRC-32. */
static bool is_linked(struct loader *loader, const struct load_debug_search *search,
	const struct finder_place *place, const struct opener_file *file)
{
	const struct opener_file *own = search->file;
	uint32_t crc;

	/* A program is not its own debug file, even if it lies at such a path under the link's
	 * name. */
	if (own && own->dev == file->dev && own->inode == file->inode)
		return false;
	const int ret = get_crc(loader, file, &crc);
	if (ret == 0 && crc == search->link.crc)
		return true;
	if (ret == 0 || ret == -EFBIG || ret == -ETIMEDOUT)
		tell_unused(loader, place, -ret);
	return false;
}

/* Returns false if reads time out after a successful open, as on a dead network disk. */
static bool answers(const struct opener_file *file)
{
	char first;

	return timedopen_read(file->fd, 0, &first, sizeof(first)) != -ETIMEDOUT;
}

static void begin(const struct loader *loader, struct load_debug_search *search)
{
	search->begun = true;
	search->over = false;
	search->query = (struct finder_query){
		.what = search->build_id_len ? FINDER_DEBUG : FINDER_LINK,
		.path = search->source->path,
		.link = search->link.name[0] ? search->link.name : NULL,
		.module = search->module,
		.build_id = search->build_id,
		.build_id_len = search->build_id_len,
		.pid = loader->recording ? 0 : search->source->pid,
	};
}

/* A debuginfod server can send any file for a build-id, so the file is foreign. */
static bool open_fetched(
	const struct loader *loader, struct load_debug_search *search, struct loader_file *out)
{
	struct fetch_id id = {.kind = FETCH_DEBUG, .build_id_len = search->build_id_len};

	memcpy(id.build_id, search->build_id, search->build_id_len);
	*out = (struct loader_file){.file.fd = -1, .foreign = true};
	if (search->over || !loader->fetched)
		return false;
	search->over = true;
	return search->build_id_len && fetch_open(loader->fetched, &id, &out->file) == 0;
}

bool load_debug_file(
	struct loader *loader, struct load_debug_search *search, struct loader_file *out)
{
	struct finder_place place;

	if (!search->begun)
		begin(loader, search);
	for (;;) {
		if (!finder_next(&loader->finder, &search->query, &place)) {
			if (search->query.what == FINDER_LINK || !search->query.link)
				break;
			search->query.what = FINDER_LINK;
			search->query.dir = search->query.pattern = 0;
			continue;
		}
		*out = (struct loader_file){.foreign = place.foreign};
		const int ret = opener_below(place.dir, place.relative, place.in_root, &out->file);
		if (ret < 0) {
			load_tell_unopened(loader, &place, -ret);
			continue;
		}
		out->linked = search->query.what == FINDER_LINK;
		if (!answers(&out->file))
			tell_unused(loader, &place, ETIMEDOUT);
		else if (!out->linked || is_linked(loader, search, &place, &out->file))
			return true;
		close(out->file.fd);
	}
	return open_fetched(loader, search, out);
}
