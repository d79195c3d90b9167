/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_file.c - loads symbols of a mapped file, of its separate debug file, and of the vdso.
 *
 * Runs in the loader thread.
 */
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const struct opener_file *file)
{
	return file->owner == 0 || file->owner == geteuid();
}

static void make_key(char key[CACHE_KEY_MAX], const struct loader_file *file, bool told,
	const uint8_t *build_id, size_t len, const struct loader_file *debug)
{
	if (told)
		cache_key_build_id(key, build_id, len);
	else
		cache_key_file(key, build_id, len, file->file.size, file->file.mtime_ns);
	if (debug)
		cache_key_debug(key, debug->file.size, debug->file.mtime_ns);
}

bool load_find_debug(struct loader *loader, const struct symbols_source *source,
	const uint8_t *build_id, size_t len, struct loader_file *out)
{
	struct load_debug_search search = {.source = source, .build_id_len = len};

	memcpy(search.build_id, build_id, len);
	return load_debug_file(loader, &search, out);
}

static int load_with_debug(struct loader *loader, struct loader_image *image,
	const struct loader_file *file, const uint8_t *build_id, size_t len,
	const struct loader_file *debug, struct loader_link *link, struct wire_message *answer)
{
	/* Another user can give a file any build-id.  Only files of this user and of root may fill
	 * the cache. */
	const bool trusted = !file->foreign && is_ours(&file->file) &&
		(!debug || (!debug->foreign && is_ours(&debug->file)));
	const struct loader_question question = {
		.type = WIRE_FILE,
		.path = image->source.path,
		.file = &file->file,
		.debug = debug ? &debug->file : NULL,
		.foreign = file->foreign || (debug && debug->foreign),
		.flags = debug && debug->linked ? WIRE_FLAG_LINKED : 0,
		.link = link,
	};
	char key[CACHE_KEY_MAX], stripped_key[CACHE_KEY_MAX] = "";

	*link = (struct loader_link){0};
	*answer = (struct wire_message){0};
	if (len) {
		make_key(key, file, file->told, build_id, len, debug);
		/* The table of a stripped file must not serve all files with its build-id. */
		make_key(stripped_key, file, false, build_id, len, debug);
		if (file->told)
			cache_key_stripped(stripped_key);
		/* A cached table does not show whether the debug file is missing, which
		 * symbols_fetch() needs to know. */
		if ((debug || !loader->fetch) &&
			(load_cached(loader, image, key) ||
				(file->told && load_cached(loader, image, stripped_key))))
			return 0;
	}
	int ret = load_table(loader, image, &question, len && trusted ? key : NULL, answer);
	if (ret == 0 && loader->keep_fd >= 0 && answer->flags & WIRE_FLAG_STRIPPED &&
		!(answer->flags & WIRE_FLAG_DEBUG))
		memcpy(loader->keep_key, stripped_key, sizeof(stripped_key));
	return ret;
}

/* Discards the loaded table before the next debug file is tried. */
static void drop_table(struct loader *loader, struct loader_image *image)
{
	symtab_close(&image->table);
	memset(&image->table, 0, sizeof(image->table));
	image->state = SYMBOLS_UNREADABLE;
	if (loader->keep_fd >= 0)
		close(loader->keep_fd);
	loader->keep_fd = -1;
}

/* Adds the build-id and link that came with the table to the search.  Returns false if both were
 * known. */
static bool has_learned(struct load_debug_search *search, const struct loader_image *image,
	const struct loader_link *link)
{
	if (search->build_id_len == image->build_id_len &&
		strcmp(search->link.name, link->name) == 0)
		return false;
	search->build_id_len = image->build_id_len;
	memcpy(search->build_id, image->build_id, image->build_id_len);
	search->link = *link;
	search->begun = false;
	return true;
}

int load_elf(struct loader *loader, struct loader_image *image, const struct loader_file *file,
	const uint8_t *build_id, size_t len)
{
	struct load_debug_search search = {.source = &image->source,
		.file = &file->file,
		.build_id_len = len,
		.link = file->link};
	struct wire_message answer;
	struct loader_file debug;
	struct loader_link link;
	bool has_debug, again;
	int ret;

	memcpy(search.build_id, build_id, len);
	load_tell_build_id(image, build_id, len);
	has_debug = load_debug_file(loader, &search, &debug);
	do {
		ret = load_with_debug(loader, image, file, build_id, len, has_debug ? &debug : NULL,
			&link, &answer);
		const bool had_debug = has_debug;
		if (had_debug)
			close(debug.file.fd);
		again = false;
		/* No debug file was found, or the one found belongs to another file. */
		if (ret == 0 && answer.flags & WIRE_FLAG_STRIPPED &&
			!(answer.flags & WIRE_FLAG_DEBUG) &&
			(had_debug || has_learned(&search, image, &link)))
			again = has_debug = load_debug_file(loader, &search, &debug);
		if (again)
			drop_table(loader, image);
	} while (again);
	image->lacks =
		ret == 0 && answer.flags & WIRE_FLAG_STRIPPED && !(answer.flags & WIRE_FLAG_DEBUG)
		? LOADER_LACKS_DEBUG
		: LOADER_LACKS_NOTHING;
	/* If the debug file makes the load fail or kills the worker, load the file's own symbols
	 * alone. */
	if (ret < 0 && ret != -ECANCELED && ret != -ECHILD && has_debug) {
		if (ret != -EOWNERDEAD)
			loader_add_note(
				loader, SYMBOLS_NOTE_UNREADABLE, image->source.path, -ret, 0);
		image->state = SYMBOLS_UNREADABLE;
		ret = load_with_debug(loader, image, file, NULL, 0, NULL, &link, &answer);
	}
	return ret;
}

/* Checks whether an opened candidate is the mapped file.  The build-id decides if the mapped file's
 * is known.  Otherwise opener.c has compared contents, then times.  Returns 0; -ESTALE if it is
 * another file; -errno. */
static int check_candidate(struct loader *loader, const struct symbols_source *source,
	struct loader_file *file, bool want_build_id, uint8_t build_id[WIRE_BUILD_ID_MAX],
	size_t *len)
{
	const struct opener_file *opened = &file->file;
	const struct loader_question question = {.path = source->path, .file = opened};

	*len = source->build_id_len;
	if (!opened->same && !*len)
		return -ESTALE;
	memcpy(build_id, source->build_id, *len);
	if (!*len && !want_build_id)
		return 0;
	int ret = load_build_id(loader, &question, build_id, len, &file->link);
	if (ret < 0)
		return ret;
	if (source->build_id_len &&
		(*len != source->build_id_len || memcmp(build_id, source->build_id, *len) != 0))
		return -ESTALE;
	return 0;
}

int load_open(struct loader *loader, const struct symbols_source *source, bool want_build_id,
	struct loader_file *out, uint8_t build_id[WIRE_BUILD_ID_MAX], size_t *len)
{
	int result = -ENOENT;

	*len = 0;
	for (enum opener_way way = 0; way < OPENER_WAYS; way++) {
		/* A deleted file cannot be identified later, so its table's key is the build-id
		 * alone. */
		*out = (struct loader_file){.told = source->build_id_len > 0 || source->deleted ||
				loader->keep_for_recording};
		int ret = opener_open(source, way, &out->file);
		/* The path of a deleted file may now hold another file that reuses the inode. */
		if (source->deleted && way != OPENER_MAP_FILES && way != OPENER_EXE)
			out->file.same = false;
		if (ret == 0) {
			ret = check_candidate(loader, source, out, want_build_id, build_id, len);
			if (ret == 0)
				return 0;
			close(out->file.fd);
			out->file.fd = -1;
			if (ret != -ESTALE)
				return ret;
		}
		if (ret == -ETIMEDOUT)
			return ret;
		/* Return the most specific error: -ESTALE first, else the last one other than
		 * -ENOENT. */
		if (result != -ESTALE && ret != -EINVAL && (ret != -ENOENT || result == -ENOENT))
			result = ret;
	}
	out->file.fd = -1;
	return result;
}

bool load_known(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	struct loader_file debug;
	char key[CACHE_KEY_MAX];

	if (!source->build_id_len || !loader->cache || loader->fetch)
		return false;
	bool has_debug =
		load_find_debug(loader, source, source->build_id, source->build_id_len, &debug);
	make_key(
		key, NULL, true, source->build_id, source->build_id_len, has_debug ? &debug : NULL);
	if (has_debug)
		close(debug.file.fd);
	load_tell_build_id(image, source->build_id, source->build_id_len);
	return load_cached(loader, image, key);
}

int load_file(struct loader *loader, struct loader_image *image)
{
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	struct loader_file file;
	size_t len;

	image->source.elsewhere = opener_view_of(image->source.pid) == OPENER_VIEW_OTHER;
	if (load_known(loader, image))
		return 0;
	int ret = load_open(loader, &image->source, loader->cache, &file, build_id, &len);
	if (ret < 0)
		return ret;
	ret = load_elf(loader, image, &file, build_id, len);
	close(file.file.fd);
	return ret;
}

int load_vdso(struct loader *loader, struct loader_image *image)
{
	struct opener_file file = {.fd = opener_vdso(&image->source)};
	const struct loader_question question = {
		.type = WIRE_FILE, .path = image->source.path, .file = &file};
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	struct wire_message answer;
	char key[CACHE_KEY_MAX];
	struct stat st;
	size_t len;

	if (file.fd < 0)
		return file.fd;
	file.owner = fstat(file.fd, &st) < 0 ? geteuid() : st.st_uid;
	int ret = load_build_id(loader, &question, build_id, &len, NULL);
	/* A process can modify its vdso's memory, so this table must not serve as that of a
	 * file. */
	if (ret == 0 && len)
		cache_key_vdso(key, build_id, len);
	if (ret == 0)
		ret = load_table(
			loader, image, &question, len && is_ours(&file) ? key : NULL, &answer);
	close(file.fd);
	return ret;
}
