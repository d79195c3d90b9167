/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_file.c - the symbols of a file that is mapped now, of its separate debug file, and of the vdso.
 *
 * The loader thread.
 */
#include "symbols/loader_private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool is_ours(const struct opener_file *file)
{
	return file->owner == 0 || file->owner == geteuid();
}

static void make_key(char key[CACHE_KEY_MAX], const struct loader_file *file,
	const uint8_t *build_id, size_t len, const struct loader_file *debug)
{
	if (file->told)
		cache_key_build_id(key, build_id, len);
	else
		cache_key_file(key, build_id, len, file->file.size, file->file.mtime_ns);
	if (debug)
		cache_key_debug(key, debug->file.size, debug->file.mtime_ns);
}

/* Open the separate debug file of a build-id.  That it is the right one, the worker sees. */
static bool find_debug(struct loader *loader, const struct loader_image *image,
	const uint8_t *build_id, size_t len, struct loader_file *out)
{
	struct finder_query query = {.what = FINDER_DEBUG,
		.build_id = build_id,
		.build_id_len = len,
		.pid = image->source.pid};
	struct finder_place place;

	*out = (struct loader_file){.file.fd = -1};
	while (len && finder_next(&loader->finder, &query, &place)) {
		if (opener_below(place.dir, place.relative, place.in_root, &out->file) < 0)
			continue;
		out->foreign = place.foreign;
		return true;
	}
	return false;
}

static int load_with_debug(struct loader *loader, struct loader_image *image,
	const struct loader_file *file, const uint8_t *build_id, size_t len,
	const struct loader_file *debug, struct wire_message *answer)
{
	/* Somebody could give their file the build-id of another: only whom this user trusts
	 * anyway may fill the cache. */
	const bool trusted = !file->foreign && is_ours(&file->file) &&
		(!debug || (!debug->foreign && is_ours(&debug->file)));
	const struct loader_question question = {
		.type = WIRE_FILE,
		.path = image->source.path,
		.file = &file->file,
		.debug = debug ? &debug->file : NULL,
		.foreign = file->foreign || (debug && debug->foreign),
	};
	char key[CACHE_KEY_MAX];

	if (len) {
		make_key(key, file, build_id, len, debug);
		if (load_cached(loader, image, key)) {
			memset(answer, 0, sizeof(*answer));
			return 0;
		}
	}
	return load_table(loader, image, &question, len && trusted ? key : NULL, answer);
}

int load_elf(struct loader *loader, struct loader_image *image, const struct loader_file *file,
	const uint8_t *build_id, size_t len)
{
	struct wire_message answer;
	struct loader_file debug;

	load_tell_build_id(image, build_id, len);
	bool has_debug = find_debug(loader, image, build_id, len, &debug);
	int ret = load_with_debug(
		loader, image, file, build_id, len, has_debug ? &debug : NULL, &answer);
	/* Where nothing asked for the build-id before, it comes with the table. */
	if (ret == 0 && !len && answer.flags & WIRE_FLAG_STRIPPED && answer.build_id_len &&
		find_debug(loader, image, image->build_id, image->build_id_len, &debug)) {
		has_debug = true;
		symtab_close(&image->table);
		memset(&image->table, 0, sizeof(image->table));
		ret = load_with_debug(loader, image, file, NULL, 0, &debug, &answer);
	}
	/* A debug file that kills the worker does not take the file's own symbols along. */
	if (ret < 0 && ret != -ECANCELED && ret != -ECHILD && has_debug) {
		image->state = SYMBOLS_UNREADABLE;
		ret = load_with_debug(loader, image, file, NULL, 0, NULL, &answer);
	}
	if (has_debug)
		close(debug.file.fd);
	return ret;
}

/* Load from one open candidate.  0; -ESTALE when it is not the mapped file; -errno. */
static int load_candidate(
	struct loader *loader, struct loader_image *image, const struct opener_file *opened)
{
	const struct symbols_source *source = &image->source;
	const struct loader_file file = {.file = *opened, .told = source->build_id_len > 0};
	const struct loader_question question = {.path = source->path, .file = opened};
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len = source->build_id_len;

	if (!opened->same && !len)
		return -ESTALE;
	memcpy(build_id, source->build_id, len);
	if (!opened->same || (!len && loader->cache)) {
		int ret = load_build_id(loader, &question, build_id, &len);
		if (ret < 0)
			return ret;
		if (!opened->same &&
			(len != source->build_id_len ||
				memcmp(build_id, source->build_id, len) != 0))
			return -ESTALE;
	}
	return load_elf(loader, image, &file, build_id, len);
}

/* Before anything is opened but a debug file. */
static bool is_cached(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	const struct loader_file file = {.told = true};
	struct loader_file debug;
	char key[CACHE_KEY_MAX];

	if (!source->build_id_len || !loader->cache)
		return false;
	bool has_debug = find_debug(loader, image, source->build_id, source->build_id_len, &debug);
	make_key(key, &file, source->build_id, source->build_id_len, has_debug ? &debug : NULL);
	if (has_debug)
		close(debug.file.fd);
	load_tell_build_id(image, source->build_id, source->build_id_len);
	return load_cached(loader, image, key);
}

int load_file(struct loader *loader, struct loader_image *image)
{
	int result = -ENOENT;

	if (is_cached(loader, image))
		return 0;
	for (enum opener_way way = 0; way < OPENER_WAYS; way++) {
		struct opener_file file;
		int ret = opener_open(&image->source, way, &file);
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

int load_vdso(struct loader *loader, struct loader_image *image)
{
	const struct opener_file file = {.fd = opener_vdso(&image->source), .owner = geteuid()};
	const struct loader_question question = {
		.type = WIRE_FILE, .path = image->source.path, .file = &file};
	struct wire_message answer;

	if (file.fd < 0)
		return file.fd;
	int ret = load_table(loader, image, &question, NULL, &answer);
	close(file.fd);
	return ret;
}
