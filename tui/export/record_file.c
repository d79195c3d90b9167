/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_file.c - see record_file.h.
 */
#include "tui/export/record_file.h"

#include "sampler/control/status.h"
#include "sampler/perfdata/synth.h"
#include "symbols/client/symbols.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/format.h"
#include "tui/base/grow.h"
#include "tui/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COVERAGE_WHOLE 99.95 /* percent; format_percent() shows this as 100% */

/* --- the file --- */

static int refuse(char *message, size_t size, const char *path, const char *what, int error)
{
	char name[CLEAN_PATH_BYTES];

	snprintf(message, size, "cannot %s '%s': %s", what, clean_path(name, path),
		explain_errno(error));
	return -error;
}

static int refuse_write(char *message, size_t size, const struct record_file *file, int error)
{
	char kept[PATH_MAX + sizeof(".old")];

	if (file->keeps_failed) {
		snprintf(kept, sizeof(kept), "%s.old", file->path);
		return refuse(message, size, kept, "keep the old recording as", -error);
	}
	return refuse(message, size, file->path, "write", -error);
}

/* Moves FILE.old out of the way.  A directory of that name is kept, and renaming to it fails
 * later. */
static int keep_older(struct record_file *file)
{
	struct stat about;
	int fd, ret;

	if (fstatat(file->place.dir_fd, file->old, &about, AT_SYMLINK_NOFOLLOW) ||
		S_ISDIR(about.st_mode))
		return 0;
	fd = outpath_create_beside(&file->place, file->older, 0600);
	if (fd < 0) {
		file->older[0] = '\0';
		return fd;
	}
	close(fd);
	ret = outpath_rename(&file->place, file->old, file->older);
	if (ret) {
		outpath_unlink(&file->place, file->older);
		file->older[0] = '\0';
	}
	return ret;
}

static void restore_older(struct record_file *file)
{
	if (*file->older)
		(void)outpath_rename(&file->place, file->older, file->old);
	file->older[0] = '\0';
}

static int keep_old(struct record_file *file)
{
	const struct outpath *place = &file->place;
	int ret;

	if (!place->exists || !place->about.st_size)
		return 0;
	if (snprintf(file->old, sizeof(file->old), "%s.old", place->name) >=
		(int)sizeof(file->old)) {
		file->old[0] = '\0';
		return -ENAMETOOLONG;
	}
	ret = keep_older(file);
	if (!ret) {
		ret = outpath_rename(place, place->name, file->old);
		if (ret)
			restore_older(file);
	}
	if (ret)
		file->old[0] = '\0';
	file->keeps_failed = ret;
	return ret;
}

/* Creates the new file first, so that nothing changes if it fails. */
static int open_new(struct record_file *file)
{
	char fresh[NAME_MAX + 1];
	int fd = outpath_create_beside(&file->place, fresh, 0600), ret;

	if (fd < 0)
		return fd;
	ret = keep_old(file);
	if (!ret)
		ret = outpath_rename(&file->place, fresh, file->place.name);
	if (ret) {
		outpath_unlink(&file->place, fresh);
		close(fd);
		record_file_undo(file);
		return ret;
	}
	file->created = true;
	return fd;
}

int record_file_open(struct record_file *file, const char *output, char *message, size_t size)
{
	int ret;

	*file = (struct record_file){
		.fd = -1, .path = output ? output : RECORD_DEFAULT_FILE, .place.dir_fd = -1};
	if (!strcmp(file->path, "-")) {
		if (isatty(STDOUT_FILENO)) {
			snprintf(message, size,
				"-o -: standard output is a terminal; a recording goes to a file "
				"or to another program");
			return -EINVAL;
		}
		file->fd = STDOUT_FILENO;
		file->pipe = file->standard = true;
		return 0;
	}
	ret = outpath_find(&file->place, file->path);
	if (ret)
		return refuse_write(message, size, file, ret);
	/* A FIFO is opened only for writing.  Otherwise strobe itself would be a reader after the
	 * real one has left. */
	ret = outpath_is_replaceable(&file->place) ? open_new(file)
						   : outpath_open_directly(&file->place);
	if (ret < 0)
		return refuse_write(message, size, file, ret);
	file->fd = ret;
	file->pipe = !file->created;
	return 0;
}

void record_file_undo(struct record_file *file)
{
	if (*file->old)
		(void)outpath_rename(&file->place, file->old, file->place.name);
	else if (file->created)
		outpath_unlink(&file->place, file->place.name);
	restore_older(file);
	file->created = false;
	file->old[0] = '\0';
}

void record_file_settle(struct record_file *file)
{
	if (*file->older)
		outpath_unlink(&file->place, file->older);
	file->older[0] = '\0';
}

int record_file_close(struct record_file *file, char *message, size_t size)
{
	int ret = 0;

	record_file_settle(file);
	file->old[0] = '\0';
	outpath_close(&file->place);
	if (file->fd >= 0 && !file->standard && close(file->fd))
		ret = refuse(message, size, file->path, "write", errno);
	file->fd = -1;
	return ret;
}

/* --- the command line --- */

int record_cmdline(char ***words, size_t *n)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	FILE *file = fopen("/proc/self/cmdline", "re");
	int ret = 0;

	*words = NULL;
	*n = 0;
	while (file && !ret && (len = getdelim(&text, &room, '\0', file)) > 0) {
		ret = grow_exact(words, *n + 1, sizeof(**words));
		if (ret)
			break;
		(*words)[*n] = strdup(text);
		if (!(*words)[*n])
			ret = -ENOMEM;
		else
			++*n;
	}
	free(text);
	if (file)
		fclose(file);
	if (ret) {
		record_cmdline_free(*words, *n);
		*words = NULL;
		*n = 0;
	}
	return ret;
}

void record_cmdline_free(char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
}

/* --- messages --- */

static uint64_t lost_samples(
	const struct engine_status *status, const struct recorder_status *recorded)
{
	uint64_t lost = recorded->dropped;

	for (size_t i = 0; i < status->n_events; i++)
		lost += status->events[i].lost;
	return lost;
}

static uint64_t held_back_samples(const struct engine_status *status)
{
	uint64_t held_back = 0;

	for (size_t i = 0; i < status->n_events; i++)
		held_back += status->events[i].held_back;
	return held_back;
}

static bool lost_of_all(const struct engine_status *status)
{
	bool of_all = false;

	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];

		of_all |= event->lost_of_all && (event->lost || event->held_back);
	}
	return of_all;
}

/* Returns the lowest known coverage of all events, in percent; below 0 if none is known. */
static double least_coverage(const struct engine_status *status)
{
	double least = -1;

	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];
		double percent;

		if (!(event->coverable > 0))
			continue;
		percent = 100 * event->covered / event->coverable;
		if (least < 0 || percent < least)
			least = percent;
	}
	return least;
}

void record_progress(char *out, size_t size, const char *target, const struct engine_status *status,
	const struct recorder_status *recorded)
{
	char bytes[FORMAT_MAX], samples[FORMAT_MAX], lost[FORMAT_MAX], coverage[FORMAT_MAX];
	uint64_t ns = status->now_ns > status->started_ns ? status->now_ns - status->started_ns : 0;
	double least = least_coverage(status);
	bool known = least >= 0;

	snprintf(out, size, "recording %s: %s, %s samples, lost %s%s%s, %" PRIu64 " s; Ctrl-C ends",
		target, format_bytes(bytes, recorded->bytes),
		format_count(samples, recorded->samples),
		format_count(lost, lost_samples(status, recorded)), known ? ", coverage " : "",
		known ? format_percent(coverage, least) : "", ns / 1000000000u);
}

void record_summary(char *out, size_t size, const char *path, const struct engine_status *status,
	const struct recorder_status *recorded)
{
	char bytes[FORMAT_MAX], coverage[FORMAT_MAX], held_back[64] = "", raw[RECORD_TEXT_MAX];
	double least = least_coverage(status);
	bool part = least >= 0 && least < COVERAGE_WHOLE;

	/* Samples that were held back are missing as much as lost ones. */
	if (held_back_samples(status))
		snprintf(held_back, sizeof(held_back), ", %" PRIu64 " held back",
			held_back_samples(status));
	snprintf(raw, sizeof(raw), "%s: %s, %" PRIu64 " samples, %" PRIu64 " lost%s%s%s%s",
		strcmp(path, "-") ? path : "standard output", format_bytes(bytes, recorded->bytes),
		recorded->samples, lost_samples(status, recorded), held_back,
		lost_of_all(status) ? " (of all processes)" : "", part ? ", coverage " : "",
		part ? format_percent(coverage, least) : "");
	clean_string(out, size, raw);
}

void record_explain(
	char *out, size_t size, const char *path, int error, const struct recorder_status *recorded)
{
	char raw[RECORD_TEXT_MAX], bytes[FORMAT_MAX];
	const char *name = strcmp(path, "-") ? path : "standard output";

	if (!recorded->begun)
		snprintf(raw, sizeof(raw), "nothing was recorded into '%s'%s%s", name,
			error == -ENODATA ? "" : ": ",
			error == -ENODATA ? "" : explain_errno(error));
	else
		snprintf(raw, sizeof(raw),
			"cannot write to '%s': %s; recording has ended, and what it holds can be "
			"read: %s, %" PRIu64 " samples",
			name, explain_errno(error), format_bytes(bytes, recorded->bytes),
			recorded->samples);
	clean_string(out, size, raw);
}

/* --- build-ids --- */

static int add(
	struct record_build_ids *ids, const char *path, bool kernel, const uint8_t *id, size_t len)
{
	struct reader_build_id *entry;

	if (!len || len > sizeof(entry->build_id))
		return 0;
	if (grow_items(&ids->list, &ids->capacity, ids->n + 1, sizeof(*ids->list)))
		return -ENOMEM;
	entry = &ids->list[ids->n];
	*entry = (struct reader_build_id){
		.path = strdup(path),
		.pid = -1,
		.cpumode = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		.build_id_len = (uint8_t)len,
	};
	if (!entry->path)
		return -ENOMEM;
	memcpy(entry->build_id, id, len);
	ids->n++;
	return 0;
}

static int add_image(
	struct record_build_ids *ids, const struct session *session, const struct image *image)
{
	uint8_t id[RECORD_BUILD_ID_MAX];
	char path[4096];
	size_t len;

	switch (image->kind) {
	case IMAGE_KERNEL:
		return add(ids, "[kernel.kallsyms]", true, id, synth_kernel_build_id(id));
	case IMAGE_VDSO:
		/* The vdso of 32-bit processes exists only in memory; the name is perf's. */
		return image->inode ? add(ids, "[vdso32]", false, id,
					      symbols_build_id(session->symbols, image->id, id))
				    : add(ids, "[vdso]", false, id, synth_vdso_build_id(id));
	case IMAGE_FILE:
		len = image->build_id_len;
		memcpy(id, image->build_id, len);
		if (!len)
			len = symbols_build_id(session->symbols, image->id, id);
		snprintf(path, sizeof(path), "%s%s", image->path,
			image->deleted ? IMAGE_DELETED : "");
		return add(ids, path, false, id, len);
	default:
		return 0;
	}
}

/* Adds zeros for a file that could not be read, if another file at its path has a build-id.
 * Otherwise the file would get that build-id.  Readers ignore a path with several build-ids, and
 * zeros represent an unknown one. */
static int add_unknown(
	struct record_build_ids *ids, const struct session *session, const struct image *image)
{
	static const uint8_t unknown[RECORD_BUILD_ID_MAX];
	uint8_t id[RECORD_BUILD_ID_MAX];

	if (image->kind != IMAGE_FILE || image->deleted || image->build_id_len ||
		symbols_build_id(session->symbols, image->id, id))
		return 0;
	for (size_t i = 0; i < ids->n; i++)
		if (!strcmp(ids->list[i].path, image->path))
			return add(ids, image->path, false, unknown, sizeof(unknown));
	return 0;
}

#define ASKED_BY_FRAME 2

/* Skips the kernel, which cannot be deleted.  Each piece of generated code is looked up, since a
 * piece without a name makes its file be read again. */
static int ask_frame(struct record_asked *asked, const struct session *session, uint32_t id)
{
	struct image_text text;
	const struct frame *frame = stacks_frame_get(session_stacks(session), id);
	const struct image *image;

	if (frame->image < asked->room && asked->images[frame->image]) {
		if (asked->images[frame->image] == ASKED_BY_FRAME)
			names_symref(session->names, id);
		return 0;
	}
	image = images_get(session_images(session), frame->image);
	if (image && image->kind == IMAGE_ANON) {
		names_symref(session->names, id);
		return 0;
	}
	if (grow_zeroed((void **)&asked->images, frame->image, &asked->room, 1))
		return -ENOMEM;
	asked->images[frame->image] = 1;
	if (image && (image->kind == IMAGE_FILE || image->kind == IMAGE_VDSO))
		names_symref(session->names, id);
	/* The origin of a piece of code cannot be found out later. */
	if (image && images_text(session_images(session), image->id, &text)) {
		asked->images[frame->image] = ASKED_BY_FRAME;
		names_symref(session->names, id);
	}
	return 0;
}

static int ask_slice(
	struct record_asked *asked, const struct session *session, const struct slice *slice)
{
	const struct stacks *stacks = session_stacks(session);
	int ret = 0;

	for (uint32_t i = 0; i < slice->cells; i++)
		for (uint32_t at = slice->stack[i]; at != STACK_ROOT && !ret;
			at = stacks_node(stacks, at)->parent)
			ret = ask_frame(asked, session, stacks_node(stacks, at)->frame);
	return ret;
}

int record_ask_files(struct record_asked *asked, const struct session *session)
{
	struct store *store = session_store(session);
	struct snapshot snapshot;
	int ret = store_snapshot(store, asked->upto_ns, UINT64_MAX, &snapshot);

	if (ret)
		return ret;
	for (size_t i = 0; i < snapshot.n && !ret; i++) {
		ret = ask_slice(asked, session, snapshot.slices[i]);
		if (!ret && snapshot.slices[i]->end_ns > asked->upto_ns)
			asked->upto_ns = snapshot.slices[i]->end_ns;
	}
	snapshot_release(store, &snapshot);
	return ret;
}

void record_asked_fini(struct record_asked *asked)
{
	free(asked->images);
	*asked = (struct record_asked){0};
}

/* Looks up the images of all frames, those that have samples. */
static int find_images(const struct session *session, uint8_t *sampled, uint32_t n)
{
	const struct stacks *stacks = session_stacks(session);
	uint32_t limit = stacks_frame_limit(stacks);
	struct symbol symbol;

	for (uint32_t id = 1; id < limit; id++) {
		const struct frame *frame = stacks_frame_get(stacks, id);

		if (frame->image >= n || sampled[frame->image])
			continue;
		sampled[frame->image] = 1;
		names_symref(session->names, id);
		/* If the names are known already, names_symref() alone does not read the image
		 * again. */
		if (session->symbols)
			(void)symbols_find(session->symbols, frame->image, frame->offset, &symbol);
	}
	return 0;
}

int record_build_ids(
	struct record_build_ids *ids, const struct session *session, unsigned int timeout_ms)
{
	struct images *images = session_images(session);
	uint32_t n = images_count(images);
	uint8_t *sampled = calloc(n + 1u, 1);
	int ret = sampled ? find_images(session, sampled, n) : -ENOMEM;

	if (!ret)
		(void)names_wait(session->names, timeout_ms);
	for (uint32_t id = 0; id < n && !ret; id++) {
		const struct image *image = sampled[id] ? images_get(images, id) : NULL;

		if (image)
			ret = add_image(ids, session, image);
	}
	for (uint32_t id = 0; id < n && !ret; id++) {
		const struct image *image = sampled[id] ? images_get(images, id) : NULL;

		if (image)
			ret = add_unknown(ids, session, image);
	}
	free(sampled);
	return ret;
}

void record_build_ids_fini(struct record_build_ids *ids)
{
	for (size_t i = 0; i < ids->n; i++)
		free(ids->list[i].path);
	free(ids->list);
	*ids = (struct record_build_ids){0};
}

/* --- data that a reader will not find --- */

int record_copy_kept(struct record_kept *kept, const struct session *session)
{
	/* Images may be gone already; symbols/ knows which ones it was asked about. */
	const uint32_t limit = images_count(session_images(session));
	uint32_t *keys = calloc(limit + 1u, sizeof(*keys));
	FILE *out = keys ? open_memstream(&kept->bytes, &kept->len) : NULL;
	int ret = out ? 0 : -ENOMEM;

	for (uint32_t id = 0; id < limit && !ret; id++)
		keys[id] = id;
	if (!ret)
		ret = symbols_put_kept(session->symbols, keys, limit, out, &kept->left_out);
	if (out && (fclose(out) || !kept->bytes) && !ret)
		ret = -ENOMEM;
	free(keys);
	if (ret)
		record_kept_fini(kept);
	return ret;
}

void record_kept_fini(struct record_kept *kept)
{
	free(kept->bytes);
	kept->bytes = NULL;
	kept->len = 0;
}

bool record_explain_kept(const struct record_kept *kept, char *out, size_t size)
{
	snprintf(out, size,
		"%zu file%s with names of code did not fit into the recording: that code may have "
		"no names once %s gone",
		kept->left_out, kept->left_out == 1 ? "" : "s",
		kept->left_out == 1 ? "it is" : "they are");
	return kept->left_out > 0;
}
