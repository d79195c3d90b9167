/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_recorded.c - loads symbols of the files that a recording names.
 *
 * Files are found by build-id in the places that keep them, else by path if the build-id is the
 * same.  A file with another build-id gives no names.  Runs in the loader thread.
 */
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

struct finder_query load_query(enum finder_what what, const struct symbols_source *source)
{
	return (struct finder_query){
		.what = what,
		.path = source->path,
		.build_id = source->build_id,
		.build_id_len = source->build_id_len,
		.deleted = source->deleted,
		.inode = source->inode,
	};
}

unsigned int load_elsewhere(struct loader *loader)
{
	if (loader->trust_local)
		return 0;
	pthread_mutex_lock(&loader->lock);
	const unsigned int elsewhere = loader->recorded.elsewhere;
	pthread_mutex_unlock(&loader->lock);
	return elsewhere;
}

int load_find_kept(struct loader *loader, const struct kept_file *wanted, struct kept_found *out)
{
	struct stat st;

	*out = (struct kept_found){.fd = -1};
	pthread_mutex_lock(&loader->lock);
	const int fd = loader->recorded.kept_fd;
	pthread_mutex_unlock(&loader->lock);
	if (fd <= 0 || fstat(fd, &st) < 0 || !st.st_size)
		return -ENOENT;
	char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	int ret = kept_find(bytes, (size_t)st.st_size, wanted, out);
	munmap(bytes, (size_t)st.st_size);
	return ret;
}

/* Returns the recording's own table of a file that was not at its path: an fd, which the caller
 * closes.  Otherwise -ENOENT if the recording has no entry, or -errno. */
static int find_kept_table(struct loader *loader, const struct finder_query *query)
{
	const struct kept_file wanted = {
		.kind = KEPT_TABLE,
		.path = query->path,
		.inode = query->inode,
		.build_id = query->build_id,
		.build_id_len = query->build_id_len,
	};
	struct kept_found found;

	int ret = query->path ? load_find_kept(loader, &wanted, &found) : -ENOENT;
	if (ret == 0)
		free(found.steps);
	return ret < 0 ? ret : found.fd;
}

static bool was_elsewhere(struct loader *loader, const struct finder_query *query)
{
	int fd = find_kept_table(loader, query);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -ENODATA;
}

/* Judges a path without a build-id.  Returns 0; -ESTALE if the file was deleted while recorded, or
 * lay elsewhere; -EREMOTE if the path belongs to another machine. */
static int check_path(
	struct loader *loader, const struct finder_query *query, const struct finder_place *place)
{
	if (query->deleted || (!place->foreign && was_elsewhere(loader, query)))
		return -ESTALE;
	return !place->foreign && load_elsewhere(loader) ? -EREMOTE : 0;
}

/* Returns 0; -ESTALE if the file has another build-id; -errno. */
static int check_build_id(struct loader *loader, const struct finder_query *query,
	const struct finder_place *place, struct loader_file *file)
{
	const struct loader_question question = {
		.path = place->relative, .file = &file->file, .foreign = place->foreign};
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len;

	int ret = load_build_id(loader, &question, build_id, &len, &file->link);
	if (ret < 0)
		return ret;
	return len == query->build_id_len && memcmp(build_id, query->build_id, len) == 0 ? 0
											 : -ESTALE;
}

/* Only the server's word ties this file to the build-id, so the file's own build-id is checked. */
static int find_fetched(
	struct loader *loader, const struct finder_query *query, struct loader_file *out)
{
	const struct finder_place place = {.relative = "debuginfod", .foreign = true};
	struct fetch_id id = {.kind = FETCH_PROGRAM, .build_id_len = query->build_id_len};

	if (!loader->fetched || query->what != FINDER_BINARY || !query->build_id_len)
		return -ENOENT;
	memcpy(id.build_id, query->build_id, query->build_id_len);
	*out = (struct loader_file){.foreign = true, .told = true};
	int ret = fetch_open(loader->fetched, &id, &out->file);
	if (ret < 0)
		return ret;
	ret = check_build_id(loader, query, &place, out);
	if (ret < 0)
		close(out->file.fd);
	return ret;
}

static void close_file(struct opener_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

int load_find(struct loader *loader, struct finder_query *query, struct loader_file *out)
{
	struct finder_place place;
	int result = -ENOENT;

	while (finder_next(&loader->finder, query, &place)) {
		*out = (struct loader_file){.foreign = place.foreign, .told = true};
		int ret = opener_below(place.dir, place.relative, place.in_root, &out->file);
		if (place.by_path && !query->build_id_len) {
			const int refused = check_path(loader, query, &place);
			/* -EREMOTE counts even if the file is missing here: it would not be used
			 * anyway. */
			if (refused == -EREMOTE || (ret == 0 && refused < 0)) {
				close_file(&out->file);
				result = refused;
				continue;
			}
		}
		if (ret < 0) {
			/* Report the error of the recorded path, unless no file is there. */
			if (place.by_path && result != -ESTALE && ret != -ENOENT && ret != -ENOTDIR)
				result = ret;
			if (!place.by_path)
				load_tell_unopened(loader, &place, -ret);
			continue;
		}
		/* Kernel symbols as text carry no build-id; their directory's name does. */
		if (query->build_id_len && query->what != FINDER_KALLSYMS)
			ret = check_build_id(loader, query, &place, out);
		if (ret == 0)
			return 0;
		close(out->file.fd);
		if (ret == -ECANCELED || ret == -ECHILD)
			return ret;
		if (place.by_path)
			result = ret;
	}
	if (find_fetched(loader, query, out) == 0)
		return 0;
	out->file.fd = -1;
	return result;
}

/* Marks a file without a build-id if the one at its path may be another, and adds a note. */
static void tell_unverified(
	struct loader *loader, struct loader_image *image, const struct loader_file *file)
{
	pthread_mutex_lock(&loader->lock);
	const bool other = loader->recorded.elsewhere;
	const int64_t end_s = loader->recorded.end_s;
	pthread_mutex_unlock(&loader->lock);

	/* A file moved to this path keeps its mtime, so the inode is compared too. */
	const bool replaced =
		!other && image->source.inode && image->source.inode != file->file.inode;
	const bool newer = end_s && file->file.mtime_ns / 1000000000u > (uint64_t)end_s;
	if (file->foreign || (!other && !newer && !replaced))
		return;
	image->mark = SYMBOLS_MARK_UNVERIFIED;
	loader_add_note(
		loader, SYMBOLS_NOTE_UNVERIFIED, image->source.path, 0, newer || replaced ? 1 : 2);
}

static bool use_kept_table(
	struct loader *loader, struct loader_image *image, const struct finder_query *query)
{
	int fd = find_kept_table(loader, query);

	if (fd < 0)
		return false;
	/* Others may have written the recording, and so chosen the names. */
	loader->met_foreign = true;
	int ret = load_use_table(image, fd);
	close(fd);
	image->lacks = ret == 0 ? LOADER_LACKS_FILE : LOADER_LACKS_NOTHING;
	return ret == 0;
}

int load_recorded_file(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	struct finder_query query = load_query(FINDER_BINARY, source);
	struct loader_file file;

	load_tell_build_id(image, source->build_id, source->build_id_len);
	int ret = load_find(loader, &query, &file);
	/* The file is gone.  Its table may be in the cache, from the recording run or another
	 * session, or in the recording itself.  A debug file has more names than that. */
	const bool gone = ret < 0 && ret != -ECANCELED && ret != -ECHILD;
	if (gone && load_known(loader, image))
		return 0;
	/* Some debug files (from eu-strip) describe the layout of the file itself and suffice
	 * alone. */
	if (ret < 0 && source->build_id_len) {
		struct finder_query debug = query;
		debug.what = FINDER_DEBUG;
		debug.dir = debug.pattern = 0;
		if (load_find(loader, &debug, &file) < 0)
			return gone && use_kept_table(loader, image, &query) ? 0 : ret;
	} else if (ret < 0) {
		return gone && use_kept_table(loader, image, &query) ? 0 : ret;
	}
	if (!source->build_id_len) {
		file.told = false;
		tell_unverified(loader, image, &file);
	}
	int loaded = load_elf(loader, image, &file, source->build_id, source->build_id_len);
	close(file.file.fd);
	/* A debug file without the layout does not suffice: return the error of the path. */
	if (ret < 0 && (loaded < 0 || image->state != SYMBOLS_READY)) {
		if (gone && use_kept_table(loader, image, &query))
			return 0;
		image->state = SYMBOLS_UNREADABLE;
		return ret;
	}
	return loaded;
}

static int load_vdso_of(
	struct loader *loader, struct loader_image *image, const struct loader_file *file)
{
	const struct loader_question question = {.type = WIRE_FILE,
		.path = image->source.path,
		.file = &file->file,
		.foreign = file->foreign};
	struct wire_message answer;

	return load_table(loader, image, &question, NULL, &answer);
}

/* Opens this machine's vdso if it has the recorded build-id, or if none was recorded. */
static int open_own_vdso(
	struct loader *loader, const struct loader_image *image, struct loader_file *out)
{
	const struct symbols_source own = {.kind = SYMBOLS_VDSO, .map_start = UINT64_MAX};
	struct loader_file file = {.file = {.fd = opener_vdso(&own), .owner = geteuid()}};
	const struct loader_question question = {.path = image->source.path, .file = &file.file};
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len;

	if (file.file.fd < 0)
		return file.file.fd;
	int ret = image->source.build_id_len
		? load_build_id(loader, &question, build_id, &len, NULL)
		: 0;
	if (ret == 0 && image->source.build_id_len &&
		(len != image->source.build_id_len ||
			memcmp(build_id, image->source.build_id, len) != 0))
		ret = -ENOENT;
	if (ret < 0)
		close(file.file.fd);
	else
		*out = file;
	return ret;
}

/* Returns whether the recorded kernel's release is that of this host's kernel.  Used if nothing
 * else identifies the vdso. */
static bool is_same_kernel(struct loader *loader)
{
	struct utsname machine;

	if (load_elsewhere(loader) || uname(&machine) < 0)
		return false;
	pthread_mutex_lock(&loader->lock);
	const bool same = loader->recorded.release &&
		(loader->trust_local || strcmp(loader->recorded.release, machine.release) == 0);
	pthread_mutex_unlock(&loader->lock);
	return same;
}

/* Takes the table from the cache, if strobe read the vdso while its process ran. */
static bool load_known_vdso(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	char key[CACHE_KEY_MAX];

	if (!source->build_id_len || !loader->cache)
		return false;
	load_tell_build_id(image, source->build_id, source->build_id_len);
	cache_key_vdso(key, source->build_id, source->build_id_len);
	return load_cached(loader, image, key);
}

int load_find_vdso(struct loader *loader, struct loader_image *image, struct loader_file *out)
{
	struct finder_query query = load_query(FINDER_VDSO, &image->source);

	/* The vdso of 32-bit processes (its source has an inode) differs from this process's. */
	const bool may_be_own =
		query.build_id_len || (!image->source.inode && is_same_kernel(loader));
	const int own = may_be_own ? open_own_vdso(loader, image, out) : -ENOENT;
	if (own == 0)
		return 0;
	const int ret = query.build_id_len ? load_find(loader, &query, out) : -ENOENT;
	return ret == -ENOENT || ret == -ESTALE || ret == -EREMOTE ? own : ret;
}

int load_recorded_vdso(struct loader *loader, struct loader_image *image)
{
	struct loader_file file;

	int ret = load_find_vdso(loader, image, &file);
	if (ret == 0) {
		ret = load_vdso_of(loader, image, &file);
		close(file.file.fd);
		return ret;
	}
	if (load_known_vdso(loader, image))
		return 0;
	/* A vdso that is, or may be, another kernel's is no error. */
	image->state = ret == -ENOENT ? SYMBOLS_NONE : SYMBOLS_UNREADABLE;
	return ret == -ENOENT ? 0 : ret;
}

/* Formats a module's name: "nf_tables" for ".../kernel/net/nf-tables.ko" or for "[nf_tables]". */
static void module_name(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path[0] == '[' ? path + 1 : path;
	size_t len = strcspn(name, ".]");

	snprintf(out, size, "%.*s", (int)len, name);
	for (; *out; out++)
		if (*out == '-')
			*out = '_';
}

int load_recorded_module(struct loader *loader, struct loader_image *image)
{
	struct finder_query query = load_query(FINDER_BINARY, &image->source);
	struct wire_message answer;
	struct loader_file file;
	char name[64];

	module_name(image->source.path, name, sizeof(name));
	int ret = load_find(loader, &query, &file);
	if (ret == 0) {
		const struct loader_question question = {.type = WIRE_MODULE,
			.path = image->source.path,
			.file = &file.file,
			.foreign = file.foreign};
		if (!query.build_id_len)
			tell_unverified(loader, image, &file);
		ret = load_table(loader, image, &question, NULL, &answer);
		close(file.file.fd);
	}
	/* A module whose file is compressed or missing may still be loaded. */
	if (ret < 0 && ret != -ECANCELED && ret != -ECHILD &&
		load_module_of_kernel(loader, image, name) == 0)
		return 0;
	return ret;
}
