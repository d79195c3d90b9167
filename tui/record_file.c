/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_file.c - see record_file.h.
 */
#include "tui/record_file.h"

#include "sampler/recording/synth.h"
#include "tui/clean.h"
#include "tui/format.h"
#include "tui/record.h"
#include "tui/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COVERAGE_WHOLE 99.95 /* percent; what format_percent() calls all of it */

/* --- the file --- */

static int refuse(char *message, size_t size, const char *path, const char *what, int error)
{
	char raw[RECORD_TEXT_MAX];

	snprintf(raw, sizeof(raw), "cannot %s '%s': %s", what, path, strerror(error));
	clean_string(message, size, raw);
	return -error;
}

static void forget_names(struct record_file *file)
{
	free(file->old);
	free(file->older);
	file->old = file->older = NULL;
}

/* A directory stays, and is in the way. */
static int keep_older(struct record_file *file)
{
	struct stat about;
	int fd, ret = 0;

	if (lstat(file->old, &about) || S_ISDIR(about.st_mode))
		return 0;
	if (asprintf(&file->older, "%s.XXXXXX", file->old) < 0) {
		file->older = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(file->older, O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
	} else if (rename(file->old, file->older)) {
		ret = -errno;
		unlink(file->older);
	}
	if (fd >= 0)
		close(fd);
	if (ret) {
		free(file->older);
		file->older = NULL;
	}
	return ret;
}

static void restore_older(struct record_file *file)
{
	if (file->older)
		(void)!rename(file->older, file->old);
}

static int keep_old(struct record_file *file, char *message, size_t size)
{
	struct stat about;
	int error;

	if (stat(file->path, &about) || !S_ISREG(about.st_mode) || !about.st_size)
		return 0;
	if (asprintf(&file->old, "%s.old", file->path) < 0) {
		file->old = NULL;
		return refuse(message, size, file->path, "write", ENOMEM);
	}
	error = -keep_older(file);
	if (!error && rename(file->path, file->old)) {
		error = errno;
		restore_older(file);
	}
	if (error) {
		forget_names(file);
		return refuse(message, size, file->path, "rename", error);
	}
	return 0;
}

int record_file_open(struct record_file *file, const char *output, char *message, size_t size)
{
	struct stat about;
	int ret;

	*file = (struct record_file){.fd = -1, .path = output ? output : RECORD_DEFAULT_FILE};
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
	ret = keep_old(file, message, size);
	if (ret)
		return ret;
	/* A FIFO opened for both would have a reader, oneself, after its reader has left. */
	if (!stat(file->path, &about) && !S_ISREG(about.st_mode))
		file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	else
		file->fd = open(file->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file->fd < 0)
		return refuse(message, size, file->path, "write", errno);
	file->created = !fstat(file->fd, &about) && S_ISREG(about.st_mode);
	file->pipe = !file->created;
	return 0;
}

void record_file_undo(struct record_file *file)
{
	if (file->created)
		unlink(file->path);
	if (file->old)
		(void)!rename(file->old, file->path);
	restore_older(file);
	file->created = false;
	forget_names(file);
}

void record_file_settle(struct record_file *file)
{
	if (file->older)
		unlink(file->older);
	free(file->older);
	file->older = NULL;
}

int record_file_close(struct record_file *file, char *message, size_t size)
{
	int ret = 0;

	record_file_settle(file);
	forget_names(file);
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
		char **grown = reallocarray(*words, *n + 1, sizeof(*grown));

		if (!grown) {
			ret = -ENOMEM;
			break;
		}
		*words = grown;
		grown[*n] = strdup(text);
		if (!grown[*n])
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

/* --- sentences --- */

static uint64_t lost_samples(
	const struct engine_status *status, const struct recorder_status *recorded)
{
	uint64_t lost = recorded->dropped;

	for (size_t i = 0; i < status->n_events; i++)
		lost += status->events[i].lost;
	return lost;
}

/* In percent, of the event that has the least. */
static double least_coverage(const struct engine_status *status)
{
	double least = 100;

	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];
		double percent = 100 * format_share(event->armed_ns, event->clock_ns);

		if (event->clock_ns && percent < least)
			least = percent;
	}
	return least;
}

void record_progress(char *out, size_t size, const char *target, const struct engine_status *status,
	const struct recorder_status *recorded)
{
	char bytes[FORMAT_MAX], samples[FORMAT_MAX], lost[FORMAT_MAX], coverage[FORMAT_MAX];
	uint64_t ns = status->now_ns > status->started_ns ? status->now_ns - status->started_ns : 0;

	snprintf(out, size,
		"recording %s: %s, %s samples, lost %s, coverage %s, %" PRIu64 " s; Ctrl-C ends",
		target, format_bytes(bytes, recorded->bytes),
		format_count(samples, recorded->samples),
		format_count(lost, lost_samples(status, recorded)),
		format_percent(coverage, least_coverage(status)), ns / 1000000000u);
}

void record_summary(char *out, size_t size, const char *path, const struct engine_status *status,
	const struct recorder_status *recorded)
{
	char bytes[FORMAT_MAX], coverage[FORMAT_MAX], raw[RECORD_TEXT_MAX];
	double least = least_coverage(status);
	bool whole = least >= COVERAGE_WHOLE;

	/* Samples that were not made are missing as much as those that were lost. */
	snprintf(raw, sizeof(raw), "%s: %s, %" PRIu64 " samples, %" PRIu64 " lost%s%s",
		strcmp(path, "-") ? path : "standard output", format_bytes(bytes, recorded->bytes),
		recorded->samples, lost_samples(status, recorded), whole ? "" : ", coverage ",
		whole ? "" : format_percent(coverage, least));
	clean_string(out, size, raw);
}

void record_explain(
	char *out, size_t size, const char *path, int error, const struct recorder_status *recorded)
{
	char raw[RECORD_TEXT_MAX], bytes[FORMAT_MAX];
	const char *name = strcmp(path, "-") ? path : "standard output";

	if (!recorded->begun)
		snprintf(raw, sizeof(raw), "nothing was recorded into '%s'%s%s", name,
			error == -ENODATA ? "" : ": ", error == -ENODATA ? "" : strerror(-error));
	else
		snprintf(raw, sizeof(raw),
			"cannot write to '%s': %s; recording has ended, and what it holds can be "
			"read: %s, %" PRIu64 " samples",
			name, strerror(-error), format_bytes(bytes, recorded->bytes),
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
	if (ids->n == ids->capacity) {
		size_t capacity = ids->capacity ? ids->capacity * 2 : 16;
		struct reader_build_id *grown = reallocarray(ids->list, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		ids->list = grown;
		ids->capacity = capacity;
	}
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
		return image->inode
			? 0 /* that of 32-bit processes, which only their memory holds */
			: add(ids, "[vdso]", false, id, synth_vdso_build_id(id));
	case IMAGE_FILE:
		len = image->build_id_len;
		memcpy(id, image->build_id, len);
		if (!len)
			len = symbols_build_id(session->symbols, image->id, id);
		snprintf(path, sizeof(path), "%s%s", image->path,
			image->deleted ? " (deleted)" : "");
		return add(ids, path, false, id, len);
	default:
		return 0;
	}
}

/* The images of frames: those that samples fell into. */
static int find_images(const struct session *session, uint8_t *sampled, uint32_t n)
{
	const struct stacks *stacks = session_stacks(session);
	uint32_t limit = stacks_frame_limit(stacks);

	for (uint32_t id = 1; id < limit; id++) {
		const struct frame *frame = stacks_frame_get(stacks, id);

		if (frame->image >= n || sampled[frame->image])
			continue;
		sampled[frame->image] = 1;
		names_symref(session->names, id);
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
