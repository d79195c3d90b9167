/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_unwind.c - loads unwind tables of files and vdsos, live or recorded.
 *
 * Runs in the loader thread.  Notes about a file come with the request for its symbols.
 */
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int use_table(struct loader_image *image, int fd)
{
	const int ret = unwtab_open(&image->unwind, fd);

	if (ret == 0)
		image->state = image->unwind.n_rows ? SYMBOLS_READY : SYMBOLS_NONE;
	return ret;
}

static bool use_cached(struct loader *loader, struct loader_image *image, const char *key)
{
	const int fd = cache_load(loader->cache, key);

	if (fd < 0)
		return false;
	const int ret = use_table(image, fd);
	close(fd);
	return ret == 0;
}

/* Asks for the table of an open file.  key: for the cache, which takes it only if the files are
 * trusted and the table is not sparse; NULL if not cached.  *is_sparse: much of the code has no
 * rules. */
static int ask_table(struct loader *loader, struct loader_image *image,
	const struct loader_file *file, const struct loader_file *debug, const char *key,
	bool *is_sparse)
{
	const struct loader_question question = {
		.type = WIRE_UNWIND,
		.path = image->source.path,
		.file = &file->file,
		.debug = debug ? &debug->file : NULL,
		.foreign = file->foreign || (debug && debug->foreign),
		.flags = debug && debug->linked ? WIRE_FLAG_LINKED : 0,
	};
	const bool is_trusted = !question.foreign && load_owner(&file->file) == LOADER_OURS &&
		(!debug || load_owner(&debug->file) == LOADER_OURS);
	struct wire_message answer;
	int table = -1;

	int ret = load_ask(loader, &question, &answer, &table);
	if (ret < 0)
		return ret;
	if (table < 0)
		return -EBADMSG;
	*is_sparse = answer.flags & WIRE_FLAG_STRIPPED;
	unwtab_close(&image->unwind);
	image->state = SYMBOLS_UNREADABLE;
	ret = use_table(image, table);
	if (ret == 0 && loader->cache && key && is_trusted && !*is_sparse) {
		snprintf(loader->keep_key, sizeof(loader->keep_key), "%s", key);
		loader->keep_fd = table;
		return 0;
	}
	close(table);
	return ret;
}

/* Programs without .eh_frame (Go, -fno-asynchronous-unwind-tables) may have .debug_frame in their
 * debug files. */
static void ask_debug(
	struct loader *loader, struct loader_image *image, const struct loader_file *file)
{
	struct load_debug_search search = {.source = &image->source, .file = &file->file};
	const struct loader_question question = {
		.path = image->source.path, .file = &file->file, .foreign = file->foreign};
	struct loader_file debug;
	bool is_sparse = true;

	/* Read the build-id from the file: a build-id from the source comes without the link. */
	int ret = load_build_id(
		loader, &question, search.build_id, &search.build_id_len, &search.link);
	while (ret == 0 && is_sparse && load_debug_file(loader, &search, &debug)) {
		/* No cache key, since it would not name the debug file. */
		ret = ask_table(loader, image, file, &debug, NULL, &is_sparse);
		close(debug.file.fd);
	}
}

/* build_id: the source's or the file's own. */
static int load_open_file(struct loader *loader, struct loader_image *image,
	const struct loader_file *file, const uint8_t *build_id, size_t len)
{
	char key[CACHE_KEY_MAX] = "";
	bool is_sparse = false;

	if (len && file->told)
		cache_key_build_id(key, build_id, len);
	else if (len)
		cache_key_file(key, build_id, len, file->file.size, file->file.mtime_ns);
	if (len)
		cache_key_unwind(key);
	if (len && use_cached(loader, image, key))
		return 0;
	const int ret = ask_table(loader, image, file, NULL, len ? key : NULL, &is_sparse);
	if (ret == 0 && is_sparse)
		ask_debug(loader, image, file);
	return ret;
}

/* Uses the cached table of the source's build-id.  Returns false if there is none. */
static bool use_known(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	char key[CACHE_KEY_MAX];

	if (!source->build_id_len || !loader->cache)
		return false;
	cache_key_build_id(key, source->build_id, source->build_id_len);
	cache_key_unwind(key);
	return use_cached(loader, image, key);
}

static int load_mapped(struct loader *loader, struct loader_image *image)
{
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	struct loader_file file;
	size_t len;

	image->source.elsewhere = opener_view_of(image->source.pid) == OPENER_VIEW_OTHER;
	if (use_known(loader, image))
		return 0;
	int ret = load_open(loader, &image->source, loader->cache, &file, build_id, &len);
	if (ret < 0)
		return ret;
	ret = load_open_file(loader, image, &file, build_id, len);
	close(file.file.fd);
	return ret;
}

static int load_of_recording(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	struct finder_query query = load_query(FINDER_BINARY, source);
	struct loader_file file;

	int ret = load_find(loader, &query, &file);
	if (ret < 0)
		return use_known(loader, image) ? 0 : ret;
	file.told = source->build_id_len > 0;
	ret = load_open_file(loader, image, &file, source->build_id, source->build_id_len);
	close(file.file.fd);
	return ret;
}

/* --- vdsos --- */

static int load_mapped_vdso(struct loader *loader, struct loader_image *image)
{
	struct loader_file file = {.file = {.fd = opener_vdso(&image->source)}};
	const struct loader_question question = {.path = image->source.path, .file = &file.file};
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	char key[CACHE_KEY_MAX];
	bool is_sparse;
	struct stat st;
	size_t len;

	if (file.file.fd < 0)
		return file.file.fd;
	file.file.owner = fstat(file.file.fd, &st) < 0 ? geteuid() : st.st_uid;
	int ret = load_build_id(loader, &question, build_id, &len, NULL);
	if (ret == 0 && len) {
		cache_key_vdso(key, build_id, len);
		cache_key_unwind(key);
	}
	if (ret == 0)
		ret = ask_table(loader, image, &file, NULL, len ? key : NULL, &is_sparse);
	close(file.file.fd);
	return ret;
}

static bool use_known_vdso(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	char key[CACHE_KEY_MAX];

	if (!source->build_id_len || !loader->cache)
		return false;
	cache_key_vdso(key, source->build_id, source->build_id_len);
	cache_key_unwind(key);
	return use_cached(loader, image, key);
}

static int load_vdso_of_recording(struct loader *loader, struct loader_image *image)
{
	struct loader_file file;
	bool is_sparse;

	if (load_find_vdso(loader, image, &file) == 0) {
		const int ret = ask_table(loader, image, &file, NULL, NULL, &is_sparse);
		close(file.file.fd);
		return ret;
	}
	if (!use_known_vdso(loader, image))
		image->state = SYMBOLS_NONE;
	return 0;
}

static int load_by_kind(struct loader *loader, struct loader_image *image)
{
	switch (image->source.kind) {
	case SYMBOLS_FILE:
		return loader->recording ? load_of_recording(loader, image)
					 : load_mapped(loader, image);
	case SYMBOLS_VDSO:
		return loader->recording ? load_vdso_of_recording(loader, image)
					 : load_mapped_vdso(loader, image);
	case SYMBOLS_KERNEL:
	case SYMBOLS_MODULE:
	case SYMBOLS_JIT:
	default:
		image->state = SYMBOLS_NONE;
		return 0;
	}
}

void load_unwind(struct loader *loader, struct loader_image *image)
{
	loader->is_quiet = true;
	const int ret = load_by_kind(loader, image);
	loader->is_quiet = false;
	if (ret == -ECHILD)
		loader_tell_no_worker(loader);
	if (ret < 0 && image->state != SYMBOLS_READY) {
		image->state = SYMBOLS_UNREADABLE;
		image->error = -ret;
	}
}
