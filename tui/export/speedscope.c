/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedscope.c - the file format of speedscope.app: one sampled profile for each thread and event.
 *
 * It follows https://www.speedscope.app/file-format-schema.json.  Samples are in the order of time
 * as far as it is known.  Equal samples of a slice without a time are merged.
 */
#include "tui/base/clean.h"
#include "tui/export/frames.h"
#include "tui/export/jsontext.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TELL_EVERY 8192

/* Numbers all functions, which must be done before the first sample is written. */
static int number_frames(struct frames *frames, const struct profile *profile,
	const struct profile_moment *moments, size_t n)
{
	uint32_t depth;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = frames_stack(frames, profile, moments[i].stack, &depth);
	return ret;
}

static void write_frames(FILE *out, const struct profile *profile, const struct frames *frames)
{
	fputs("\"shared\":{\"frames\":[", out);
	for (uint32_t i = 0; i < frames->n; i++) {
		const struct symref *symref = names_get(profile->names, frames->symrefs[i]);
		char mark[PROFILE_MARK_BYTES], *name = NULL;

		if (asprintf(&name, "%s%s", symref->symbol,
			    profile_mark(profile, frames->symrefs[i], mark)) < 0)
			name = NULL;
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		jsontext_string(out, name ? name : symref->symbol);
		free(name);
		fputs(",\"file\":", out);
		jsontext_string(out, symref->path);
		putc('}', out);
	}
	fputs("\n]}", out);
}

static void write_name(FILE *out, const struct profile *profile, uint32_t task, uint32_t event)
{
	const struct task_label *label = tasks_label_get(profile->tasks, task);
	char comm[TASK_COMM_MAX], name[2 * TASK_COMM_MAX + EVENT_NAME_MAX];
	const char *what = profile->events[event].name;

	clean_text(comm, sizeof(comm), label ? label->comm : "", TASK_COMM_MAX);
	if (!label || task == TASK_LABEL_MERGED)
		snprintf(name, sizeof(name), "all threads");
	else if (label->pid == label->tid)
		snprintf(name, sizeof(name), "%s (%" PRId32 ")", comm, label->pid);
	else
		snprintf(name, sizeof(name), "%s (%" PRId32 "/%" PRId32 ")", comm, label->pid,
			label->tid);
	if (profile->n_events > 1)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), ", %s", what);
	jsontext_string(out, name);
}

static void write_head(
	FILE *out, const struct profile *profile, uint32_t task, uint32_t event, uint64_t end)
{
	fputs("\n{\"type\":\"sampled\",\"name\":", out);
	write_name(out, profile, task, event);
	fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		profile->events[event].is_clock ? "nanoseconds" : "none", end);
}

static int write_samples(FILE *out, const struct profile *profile, struct frames *frames,
	const struct profile_moment *moments, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t depth;

		if (frames_stack(frames, profile, moments[i].stack, &depth))
			return -ENOMEM;
		fputs(i ? ",\n[" : "\n[", out);
		while (depth--)
			fprintf(out, "%" PRIu32 "%s", frames->path[depth], depth ? "," : "]");
		if (i % TELL_EVERY == 0 && profile_interrupted(profile))
			return -EINTR;
	}
	fputs("],\"weights\":[", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", moments[i].weight);
	fputs("]}", out);
	return ferror(out) ? -EIO : 0;
}

/* Writes the moments of one thread and event. */
static int write_profile(FILE *out, const struct profile *profile, struct frames *frames,
	const struct profile_moment *moments, size_t n)
{
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++)
		end += moments[i].weight;
	write_head(out, profile, moments[0].task, moments[0].event, end);
	return write_samples(out, profile, frames, moments, n);
}

static int write_profiles(FILE *out, const struct profile *profile, struct frames *frames,
	const struct profile_moment *moments, size_t n)
{
	int ret = 0;

	for (size_t i = 0, end; i < n && !ret; i = end) {
		for (end = i + 1; end < n; end++)
			if (moments[end].task != moments[i].task ||
				moments[end].event != moments[i].event)
				break;
		if (i)
			putc(',', out);
		ret = write_profile(out, profile, frames, moments + i, end - i);
	}
	/* speedscope.app does not open a file without a profile. */
	if (!n) {
		write_head(out, profile, TASK_LABEL_MERGED, 0, 0);
		fputs("],\"weights\":[]}", out);
	}
	return ret;
}

int export_speedscope(FILE *out, const struct profile *profile)
{
	struct frames frames = {0};
	struct profile_moments moments;
	int ret = profile_moments(profile, &moments);

	if (!ret)
		ret = number_frames(&frames, profile, moments.at, moments.n);
	if (!ret) {
		fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		      "\"exporter\":\"strobe " STROBE_VERSION "\",\"name\":",
			out);
		jsontext_string(out, profile->title);
		fputs(",\"activeProfileIndex\":0,\n", out);
		write_frames(out, profile, &frames);
		fputs(",\n\"profiles\":[", out);
		ret = write_profiles(out, profile, &frames, moments.at, moments.n);
		fputs("\n]}\n", out);
	}
	if (!ret && ferror(out))
		ret = -EIO;
	profile_moments_fini(&moments);
	frames_fini(&frames);
	return ret;
}
