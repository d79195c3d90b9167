/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_debug.c - the files that may be the separate debug file of an image, one after the other.
 *
 * The loader thread, and the one that asks about lines and instructions.
 */
#include "symbols/loader_private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CRC_FILE_BYTES (4ull << 30) /* larger ones are not read for it */
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
		ssize_t n = pread(file->fd, buffer, CRC_BUFFER_BYTES, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n < 0 ? -errno : 0;
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

/* The number of the file's entry, or n_crcs.  With the lock held. */
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

/* Of the whole file, read once.  0 or -errno. */
static int get_crc(struct loader *loader, const struct opener_file *file, uint32_t *crc)
{
	pthread_mutex_lock(&loader->lock);
	size_t i = find_crc(loader, file);
	const bool known = i < loader->n_crcs;
	if (known)
		*crc = loader->crcs[i].crc;
	pthread_mutex_unlock(&loader->lock);
	if (known)
		return 0;
	if (file->size > CRC_FILE_BYTES)
		return -EFBIG;
	int ret = read_crc(loader, file, crc);
	if (ret < 0)
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
	pthread_mutex_unlock(&loader->lock);
	return 0;
}

/* Has a file of the link's name the sum it should have? */
static bool is_linked(struct loader *loader, const struct load_debug_search *search,
	const struct finder_place *place, const struct opener_file *file)
{
	const struct opener_file *own = search->file;
	char path[2 * FINDER_PATH_MAX];
	uint32_t crc;

	/* A program that lies where its debug file could, under the same name. */
	if (own && own->dev == file->dev && own->inode == file->inode)
		return false;
	if (get_crc(loader, file, &crc) < 0)
		return false;
	if (crc == search->link.crc)
		return true;
	snprintf(path, sizeof(path), "%s/%s", strcmp(place->dir, "/") == 0 ? "" : place->dir,
		place->relative);
	loader_add_note(loader, SYMBOLS_NOTE_OTHER_DEBUG, path, 0, 0);
	return false;
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

/* What a server sent is somebody else's choice, whatever build-id it was asked for. */
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
		if (opener_below(place.dir, place.relative, place.in_root, &out->file) < 0)
			continue;
		out->linked = search->query.what == FINDER_LINK;
		if (!out->linked || is_linked(loader, search, &place, &out->file))
			return true;
		close(out->file.fd);
	}
	return open_fetched(loader, search, out);
}
