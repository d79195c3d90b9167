/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_kernel.c - loads symbols of the running kernel or of a recorded kernel.
 *
 * Runs in the loader thread.
 */
#include "symbols/loader/loader_private.h"

#include "symbols/elf/elffile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTES_BYTES 65536

size_t load_notes(const char *path, uint8_t out[WIRE_BUILD_ID_MAX])
{
	const struct elffile native = {0};
	uint8_t *notes = malloc(NOTES_BYTES);
	size_t len = 0, id_len = 0;
	ssize_t n;

	int fd = notes ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	while (fd >= 0 && len < NOTES_BYTES && (n = read(fd, notes + len, NOTES_BYTES - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (len)
		elffile_find_note(&native, notes, len, out, WIRE_BUILD_ID_MAX, &id_len);
	free(notes);
	return id_len;
}

static int open_kallsyms(const struct loader *loader, struct opener_file *out)
{
	/* The kernel decides at open() whether this reader sees addresses. */
	*out = (struct opener_file){.fd = open(loader->kallsyms_path, O_RDONLY | O_CLOEXEC)};
	return out->fd < 0 ? -errno : 0;
}

int load_kernel(struct loader *loader, struct loader_image *image, bool may_wait)
{
	const bool real = strcmp(loader->kallsyms_path, LOADER_KALLSYMS) == 0;
	struct wire_message answer;
	struct opener_file file;
	char key[CACHE_KEY_MAX];

	bool cached = real && loader->cache && cache_key_kernel(key) == 0;
	if (cached && load_cached(loader, image, key))
		return 0;
	if (may_wait)
		return -EAGAIN;
	int ret = open_kallsyms(loader, &file);
	if (ret < 0)
		return ret;
	const struct loader_question question = {
		.type = WIRE_KALLSYMS, .path = image->source.path, .file = &file};
	ret = load_table(loader, image, &question, cached ? key : NULL, &answer);
	close(file.fd);
	if (ret == 0 && answer.flags & WIRE_FLAG_HIDDEN)
		loader_add_note(loader, SYMBOLS_NOTE_KERNEL_HIDDEN, loader->kallsyms_path, 0, 0);
	return ret;
}

/* --- recordings --- */

static int load_moved(struct loader *loader, struct loader_image *image, enum wire_type type,
	const struct opener_file *file, bool foreign, struct wire_message *answer)
{
	const struct loader_question question = {
		.type = type,
		.path = image->source.path,
		.file = file,
		.foreign = foreign,
		.address = image->source.map_start,
		.flags = image->source.stext ? WIRE_FLAG_STEXT : 0,
	};

	return load_table(loader, image, &question, NULL, answer);
}

static void forget_table(struct loader_image *image)
{
	symtab_close(&image->table);
	memset(&image->table, 0, sizeof(image->table));
	image->state = SYMBOLS_UNREADABLE;
}

/* Loads the running kernel's symbols.  same: it counts as the recorded kernel; otherwise its _text
 * must be at the recorded address. */
static int load_running(struct loader *loader, struct loader_image *image, bool same)
{
	const uint64_t text = image->source.map_start;
	struct wire_message answer;
	struct opener_file file;

	int ret = open_kallsyms(loader, &file);
	if (ret < 0)
		return ret;
	ret = load_moved(loader, image, WIRE_KALLSYMS, &file, false, &answer);
	close(file.fd);
	if (ret < 0)
		return ret;
	if (answer.flags & WIRE_FLAG_HIDDEN) {
		loader_add_note(loader, SYMBOLS_NOTE_KERNEL_HIDDEN, loader->kallsyms_path, 0, 0);
		forget_table(image);
		return -ENOENT;
	}
	if (!same && (!text || answer.address != text)) {
		forget_table(image);
		return -ENOENT;
	}
	return 0;
}

static int load_kept(struct loader *loader, struct loader_image *image, enum finder_what what)
{
	char release[128];
	struct finder_query query = {
		.what = what,
		.build_id = image->source.build_id,
		.build_id_len = image->source.build_id_len,
		.release = release,
	};
	struct wire_message answer;
	struct loader_file file;

	pthread_mutex_lock(&loader->lock);
	snprintf(release, sizeof(release), "%s",
		loader->recorded.release ? loader->recorded.release : "");
	pthread_mutex_unlock(&loader->lock);
	int ret = load_find(loader, &query, &file);
	if (ret < 0)
		return ret;
	ret = load_moved(loader, image, what == FINDER_KALLSYMS ? WIRE_KALLSYMS : WIRE_KERNEL,
		&file.file, file.foreign, &answer);
	close(file.file.fd);
	/* A user who saw no addresses made this copy. */
	if (ret == 0 && image->state != SYMBOLS_READY) {
		forget_table(image);
		ret = -ENOENT;
	}
	return ret;
}

int load_recorded_kernel(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	uint8_t own[WIRE_BUILD_ID_MAX];

	load_tell_build_id(image, source->build_id, source->build_id_len);
	size_t len = load_notes(loader->kernel_notes_path, own);
	bool same = len && len == source->build_id_len && memcmp(own, source->build_id, len) == 0;
	const int own_ret = same ? load_running(loader, image, true) : -ENOENT;
	int ret = own_ret;
	if (ret < 0 && source->build_id_len && ret != -ECANCELED && ret != -ECHILD)
		ret = load_kept(loader, image, FINDER_KALLSYMS);
	if (ret < 0 && source->build_id_len && ret != -ECANCELED && ret != -ECHILD)
		ret = load_kept(loader, image, FINDER_VMLINUX);
	if (ret < 0 && !source->build_id_len) {
		if (load_elsewhere(loader))
			return -EREMOTE;
		ret = load_running(loader, image, loader->trust_local);
		if (ret == 0) {
			image->mark = SYMBOLS_MARK_UNVERIFIED;
			loader_add_note(loader, SYMBOLS_NOTE_UNVERIFIED, source->path, 0, 0);
		}
	}
	if (ret == -ECANCELED || ret == -ECHILD || ret == 0)
		return ret;
	/* -ENOENT (hidden addresses) and -EOWNERDEAD (dead worker) already have a note. */
	if (!same)
		loader_add_note(loader, SYMBOLS_NOTE_NO_KERNEL, source->path, 0, 0);
	else if (own_ret != -ENOENT && own_ret != -EOWNERDEAD)
		loader_add_note(
			loader, SYMBOLS_NOTE_UNREADABLE, loader->kallsyms_path, -own_ret, 0);
	image->state = SYMBOLS_NONE;
	return 0;
}

/* Returns the address of a loaded module's code; 0 if unknown or hidden from this user. */
static uint64_t module_start(const char *module)
{
	char line[1024], name[64];
	uint64_t start = 0, found = 0;

	FILE *modules = fopen("/proc/modules", "re");
	while (modules && !found && fgets(line, sizeof(line), modules))
		if (sscanf(line, "%63s %*u %*s %*s %*s %" SCNx64, name, &start) == 2 &&
			strcmp(name, module) == 0)
			found = start;
	if (modules)
		fclose(modules);
	return found;
}

int load_module_of_kernel(struct loader *loader, struct loader_image *image, const char *module)
{
	const struct symbols_source *source = &image->source;
	uint8_t own[WIRE_BUILD_ID_MAX];
	struct wire_message answer;
	struct opener_file file;
	char path[128];

	if (!module[0] || strchr(module, '/'))
		return -ENOENT;
	snprintf(path, sizeof(path), "/sys/module/%.60s/notes/.note.gnu.build-id", module);
	size_t len = load_notes(path, own);
	uint64_t start = module_start(module);
	if (!start || !len || len != source->build_id_len ||
		memcmp(own, source->build_id, len) != 0)
		return -ENOENT;
	int ret = open_kallsyms(loader, &file);
	if (ret < 0)
		return ret;
	const struct loader_question question = {.type = WIRE_KALLSYMS,
		.path = source->path,
		.file = &file,
		.payload = module,
		.len = strlen(module),
		.address = start};
	ret = load_table(loader, image, &question, NULL, &answer);
	close(file.fd);
	return ret;
}
