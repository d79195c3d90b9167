/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.c - exports the samples on the screen: those of the window and event that pass the
 * filters.
 *
 * The UI thread, which owns filters and names, copies the samples that pass and the current names.
 * Another thread writes the file.
 */
#include "sampler/control/status.h"
#include "sampler/recording/recording.h"
#include "sampler/store/store.h"
#include "symbols/base/thread.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/export/name.h"
#include "tui/export/outfile.h"
#include "tui/export/profile.h"
#include "tui/model/live_private.h"
#include "tui/names/names.h"
#include "tui/session/export_format.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int (*const writers[EXPORT_FORMATS])(FILE *out, const struct profile *profile) = {
	[EXPORT_FOLDED] = export_folded,
	[EXPORT_SPEEDSCOPE] = export_speedscope,
	[EXPORT_PPROF] = export_pprof,
	[EXPORT_CALLGRIND] = export_callgrind,
	[EXPORT_SVG] = export_svg,
	[EXPORT_GECKO] = export_gecko,
	[EXPORT_SCRIPT] = export_script_slices,
};

#define SOON_NS 100000000u /* interval of progress updates */

struct export_job {
	struct store *store; /* borrowed */
	struct snapshot snapshot; /* held */
	struct snapshot part; /* the slices of snapshot that are in the window */
	/* copies of the slices with the cells that pass the filter; NULL without a filter */
	struct slice *slices;
	const struct slice **list;
	struct names *names;
	struct profile_event event;
	struct profile profile;
	enum export_format format;
	char *path, title[128];
	uint64_t untimed; /* valid after over */
	struct thread thread;
	bool has_thread;
	atomic_bool cancel, over;
	_Atomic size_t looked; /* number of slices read */
	int error; /* valid after over */
};

/* Called by the writing thread for each slice. */
static bool is_cancelled(void *ctx)
{
	struct export_job *job = ctx;

	atomic_fetch_add(&job->looked, 1);
	return atomic_load(&job->cancel);
}

/* A pipe may have no reader, and a blocked writer could not be stopped. */
static bool is_pipe(const char *path)
{
	struct stat about;

	return !stat(path, &about) && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

static void job_main(void *arg)
{
	struct export_job *job = arg;
	struct outfile out;
	int ret = is_pipe(job->path) ? -ESPIPE : outfile_open(&out, job->path, OUTFILE_PUBLIC);

	if (!ret) {
		ret = names_namesakes(job->names, &job->profile.namesakes);
		if (!ret)
			ret = writers[job->format](out.file, &job->profile);
		/* Even if the request came too late to stop the writer, there must be no file. */
		if (!ret && atomic_load(&job->cancel))
			ret = -EINTR;
		ret = outfile_end(&out, ret);
	}
	job->error = ret;
	atomic_store(&job->over, true);
}

/* Returns false if the thread hangs.  All objects that it uses must then stay. */
static bool job_free(struct export_job *job)
{
	if (!job)
		return true;
	atomic_store(&job->cancel, true);
	if (job->has_thread && !thread_wait(&job->thread, SAVE_WAIT_MS))
		return false;
	for (size_t i = 0; job->slices && i < job->part.n; i++)
		free((void *)(uintptr_t)job->slices[i].weight);
	free(job->slices);
	free(job->list);
	namesakes_fini(&job->profile.namesakes);
	names_free(job->names);
	if (job->snapshot.slices)
		snapshot_release(job->store, &job->snapshot);
	free(job->path);
	free(job);
	return true;
}

/* Copies the cells of a slice that pass.  All columns are in one allocation, at weight. */
static int copy_slice(struct slice *to, const struct slice *from, struct filter *filter)
{
	const size_t room = from->cells + 1;
	uint64_t *weight = malloc(room *
		(sizeof(*to->weight) + 3 * sizeof(*to->stack) + sizeof(*to->cpu) +
			sizeof(*to->event)));
	uint32_t *stack = (uint32_t *)(weight + room), *task = stack + room, *count = task + room;
	uint16_t *cpu = (uint16_t *)(count + room);
	uint8_t *event = (uint8_t *)(cpu + room);
	uint32_t at = 0;

	if (!weight)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->cells; i++) {
		if (!filter_pass(filter, from, i))
			continue;
		weight[at] = from->weight[i];
		stack[at] = from->stack[i];
		task[at] = from->task[i];
		count[at] = from->count[i];
		cpu[at] = from->cpu[i];
		event[at++] = from->event[i];
	}
	*to = *from;
	to->cells = at;
	to->weight = weight;
	to->stack = stack;
	to->task = task;
	to->count = count;
	to->cpu = cpu;
	to->event = event;
	to->values = NULL;
	return 0;
}

static int copy_passing(struct export_job *job, struct filter *filter)
{
	int ret = 0;

	job->slices = calloc(job->part.n + 1, sizeof(*job->slices));
	job->list = calloc(job->part.n + 1, sizeof(*job->list));
	if (!job->slices || !job->list)
		return -ENOMEM;
	for (size_t i = 0; i < job->part.n && !ret; i++) {
		ret = copy_slice(&job->slices[i], job->part.slices[i], filter);
		job->list[i] = &job->slices[i];
	}
	if (!ret)
		job->part.slices = job->list;
	return ret;
}

/* Selects the slices by the same rule as the views. */
static void choose_slices(struct snapshot *part, const struct model *model)
{
	while (part->n && !slice_is_in(part->slices[0], model->from_ns, model->to_ns)) {
		part->slices++;
		part->n--;
	}
	while (part->n && !slice_is_in(part->slices[part->n - 1], model->from_ns, model->to_ns))
		part->n--;
}

static bool has_samples(const struct profile *profile)
{
	uint32_t event;

	for (size_t s = 0; s < profile->snapshot->n; s++) {
		const struct slice *slice = profile->snapshot->slices[s];

		for (uint32_t i = 0; i < slice->cells; i++)
			if (profile_pass(profile, slice, i, &event))
				return true;
	}
	return false;
}

/* Returns a recording's sample times once loading has ended and they no longer change. */
static const struct times *find_times(const struct session *session)
{
	struct engine_status status;

	if (!session->times)
		return NULL;
	recording_status(session->recording, &status);
	return status.state == ENGINE_STARTING || status.state == ENGINE_RUNNING ? NULL
										 : session->times;
}

static int gather(struct export_job *job, struct model_live *live, const char *path,
	const struct engine_event_status *status)
{
	const struct model *model = &live->model;
	const struct session *session = live->session;
	/* These formats leave inlined functions out, as the tools of perf do. */
	bool inlines = job->format != EXPORT_FOLDED && job->format != EXPORT_SCRIPT;
	int ret;

	job->store = session_store(session);
	job->path = strdup(path);
	if (!job->path)
		return -ENOMEM;
	ret = store_snapshot(job->store, model->from_ns, model->to_ns, &job->snapshot);
	if (ret) {
		job->snapshot.slices = NULL;
		return ret;
	}
	job->part = job->snapshot;
	choose_slices(&job->part, model);
	if (live->crumbs.filter)
		ret = copy_passing(job, live->crumbs.filter);
	if (!ret)
		ret = names_freeze(&job->names, session->names, &job->part, inlines);
	job->event = (struct profile_event){
		.id = status->id,
		.is_clock = status->is_clock,
		.freq_hz = status->rate_varies ? 0 : status->freq_hz,
		.period = status->rate_varies ? 0 : status->period,
	};
	clean_string(job->event.name, sizeof(job->event.name), status->name);
	snprintf(job->title, sizeof(job->title), "%s", model->target);
	job->profile = (struct profile){
		.snapshot = &job->part,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = job->names,
		.images = session_images(session),
		.inlines = inlines,
		.hide_idle = model->hide_idle,
		.idle_by_name = session->limits.pid_namespace,
		.events = &job->event,
		.n_events = 1,
		.title = job->title,
		.start_ns = model->from_ns,
		.end_ns = model->to_ns,
		.covered_ns = model->to_ns - model->from_ns,
		.times = find_times(session),
		.untimed = &job->untimed,
		.unix_start_ns = profile_unix_start(model->recorded, model->from_ns),
		.interrupted = is_cancelled,
		.ctx = job,
	};
	if (!ret && !has_samples(&job->profile))
		ret = -ENODATA;
	return ret;
}

int model_live_export(struct model *model, const char *path, enum export_format format,
	char *message, size_t size)
{
	struct model_live *live = model_live_of(model);
	const struct engine_event_status *status = model_event(model, model->event);
	struct export_job *job;
	char name[CLEAN_PATH_BYTES];
	int ret = -ENOMEM;

	clean_path(name, path);
	if (!status) {
		snprintf(message, size, "There is no event to export");
		return -ENODATA;
	}
	if (live->export_job) {
		snprintf(message, size, "Another file is being written (Esc stops that)");
		return -EALREADY;
	}
	job = calloc(1, sizeof(*job));
	if (job) {
		job->format = format;
		ret = gather(job, live, path, status);
	}
	if (!ret)
		ret = thread_start(&job->thread, "strobe-export", job_main, NULL, job);
	if (ret) {
		snprintf(message, size, "Cannot export to %s: %s", name,
			ret == -ENODATA ? "the event has no samples in this time"
					: explain_errno(ret));
		(void)job_free(job);
		return ret;
	}
	job->has_thread = true;
	live->export_job = job;
	model->exporting = true;
	model->exporting_percent = 0;
	return 0;
}

void model_live_take_export(struct model_live *live)
{
	struct model *model = &live->model;
	struct export_job *job = live->export_job;
	char name[CLEAN_PATH_BYTES], text[400];
	size_t looked;
	int error;

	if (!job)
		return;
	looked = atomic_load(&job->looked);
	model->exporting_percent =
		looked < job->part.n ? (unsigned int)(100 * looked / job->part.n) : 99;
	if (!atomic_load(&job->over)) {
		model->soon_ns = model->now_ns + SOON_NS;
		return;
	}
	error = job->error;
	clean_path(name, job->path);
	if (error == -EINTR)
		snprintf(text, sizeof(text), "The export was stopped: nothing was written");
	else if (error == -ESPIPE)
		snprintf(text, sizeof(text), "%s is no file: it is not written to", name);
	else if (error)
		snprintf(text, sizeof(text), "Cannot export to %s: %s", name, explain_errno(error));
	else
		snprintf(text, sizeof(text), "Exported to %s (%s)%s", name,
			export_format_names[job->format],
			job->untimed ? "; times are spread over the tenths of a second in which "
				       "samples were counted"
				     : "");
	logbook_add(&model->log, model->recorded ? model->status.now_ns : model->now_ns,
		!error			  ? EXPLAIN_INFO
			: error == -EINTR ? EXPLAIN_WARNING
					  : EXPLAIN_ERROR,
		false, text);
	model_live_export_end(live);
}

void model_live_export_stop(struct model *model)
{
	struct model_live *live = model_live_of(model);

	if (live->export_job)
		atomic_store(&live->export_job->cancel, true);
}

void model_live_export_end(struct model_live *live)
{
	live->hangs |= !job_free(live->export_job);
	live->export_job = NULL;
	live->model.exporting = false;
}
