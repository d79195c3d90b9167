/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_export.c - exports what the screen shows: the window's samples of the chosen event, as far as the filters pass them.
 *
 * At once, in the UI thread, whose the names are; the sampling thread only adds to what is read here.
 */
#include "tui/clean.h"
#include "tui/export/outfile.h"
#include "tui/export/profile.h"
#include "tui/export_name.h"
#include "tui/model_live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int (*const writers[EXPORT_FORMATS])(FILE *out, const struct profile *profile) = {
	[EXPORT_FOLDED] = export_folded,
	[EXPORT_SPEEDSCOPE] = export_speedscope,
	[EXPORT_PPROF] = export_pprof,
	[EXPORT_CALLGRIND] = export_callgrind,
	[EXPORT_SVG] = export_svg,
	[EXPORT_GECKO] = export_gecko,
};

static int64_t unix_start(const struct model *model)
{
	struct timespec real, mono;

	if (model->recorded || clock_gettime(CLOCK_REALTIME, &real) ||
		clock_gettime(CLOCK_MONOTONIC, &mono))
		return 0;
	return ((int64_t)real.tv_sec - (int64_t)mono.tv_sec) * 1000000000 + real.tv_nsec -
		mono.tv_nsec + (int64_t)model->from_ns;
}

static int write_file(const char *path, enum export_format format, const struct profile *profile)
{
	struct outfile out;
	int ret = outfile_open(&out, path);

	if (ret)
		return ret;
	errno = 0;
	return outfile_end(&out, writers[format](out.file, profile));
}

static int export_slices(struct model_live *live, const char *path, enum export_format format,
	const struct snapshot *snapshot, const struct engine_event_status *status)
{
	const struct model *model = &live->model;
	const struct session *session = live->session;
	struct profile_event event = {
		.id = status->id,
		.is_clock = status->is_clock,
		.freq_hz = status->freq_hz,
		.period = status->period,
	};
	const struct profile profile = {
		.snapshot = snapshot,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = session->names,
		.images = session_images(session),
		.filter = live->crumbs.filter,
		.inlines = format != EXPORT_FOLDED,
		.hide_idle = model->hide_idle,
		.events = &event,
		.n_events = 1,
		.title = model->target,
		.start_ns = model->from_ns,
		.end_ns = model->to_ns,
		.unix_start_ns = unix_start(model),
	};

	clean_string(event.name, sizeof(event.name), status->name);
	return write_file(path, format, &profile);
}

int model_live_export(struct model *model, const char *path, enum export_format format,
	char *message, size_t size)
{
	struct model_live *live = model_live_of(model);
	const struct engine_event_status *status = model_event(model, model->event);
	struct snapshot snapshot;
	char name[256];
	int ret;

	clean_string(name, sizeof(name), path);
	if (!writers[format]) {
		snprintf(message, size,
			"The script format tells every sample in its order, which the screen does "
			"not keep: save a recording (W), then strobe export FILE --format script");
		return -ENOTSUP;
	}
	if (!status) {
		snprintf(message, size, "There is no event to export");
		return -ENODATA;
	}
	ret = store_snapshot(session_store(live->session), model->from_ns, model->to_ns, &snapshot);
	if (!ret) {
		struct snapshot part = snapshot;

		/* As every view counts them. */
		while (part.n && !slice_is_in(part.slices[0], model->from_ns, model->to_ns)) {
			part.slices++;
			part.n--;
		}
		while (part.n &&
			!slice_is_in(part.slices[part.n - 1], model->from_ns, model->to_ns))
			part.n--;
		ret = export_slices(live, path, format, &part, status);
		snapshot_release(session_store(live->session), &snapshot);
	}
	if (ret)
		snprintf(message, size, "Cannot export to %.200s: %s", name, strerror(-ret));
	else
		snprintf(message, size, "Exported to %.200s (%s)", name,
			export_format_names[format]);
	return ret;
}
