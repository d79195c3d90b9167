/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * save.c - see save.h: the saving thread, its file, and the data gathered for it.
 */
#include "tui/export/save.h"
#include "symbols/base/thread.h"
#include "symbols/client/symbols.h"

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "sampler/events/parse.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/format.h"
#include "tui/export/record_file.h"
#include "tui/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct save {
	char *path;
	struct record_file file;
	struct store *store; /* borrowed */
	struct snapshot snapshot;
	struct save_source source;
	struct save_build_id *build_ids;
	struct writer_event events[ENGINE_EVENTS_TOLD];
	uint8_t event_ids[ENGINE_EVENTS_TOLD];
	char **cmdline;
	struct record_kept kept;
	struct save_progress progress;
	struct thread thread;
	bool has_thread;
	atomic_bool over;
	int error; /* valid after `over` is set */
	/* valid after `over`: why the file could not be opened or closed */
	char message[RECORD_TEXT_MAX];
};

/* Calls that may block on a file system are made only in this thread. */
static void save_main(void *arg)
{
	struct save *save = arg;
	char unsaid[RECORD_TEXT_MAX];
	int ret, closed;

	ret = record_file_open(&save->file, save->path, save->message, sizeof(save->message));
	if (!ret) {
		ret = save_write(&save->source, save->file.fd, save->file.pipe, &save->progress);
		if (ret)
			record_file_undo(&save->file);
		closed = record_file_close(
			&save->file, ret ? unsaid : save->message, sizeof(save->message));
		ret = ret ? ret : closed;
	}
	save->error = ret;
	atomic_store(&save->over, true);
}

/* Builds an event's attribute from its name.  A name that does not parse gets a dummy event's. */
static void gather_event(struct writer_event *event, const struct engine_event_status *status)
{
	struct event_spec *specs = NULL;
	struct event_error error;
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
	size_t n;

	if (!event_parse_list(status->name, &specs, &n, &error) && n)
		attr = specs[0].attr;
	free(specs);
	attr.freq = status->freq_hz != 0;
	/* An attribute has only one rate: 0 means that the samples had several. */
	if (status->rate_varies)
		attr.sample_period = 0;
	else if (status->freq_hz)
		attr.sample_freq = status->freq_hz;
	else
		attr.sample_period = status->period;
	/* Marks callchains as unwound from stack copies, like the files of strobe record. */
	attr.sample_stack_user = status->stack_bytes;
	save_event(event, status->name, &attr);
}

static int gather_events(struct save *save, const struct session *session)
{
	struct engine_status *status = calloc(1, sizeof(*status));
	struct save_source *source = &save->source;

	if (!status)
		return -ENOMEM;
	session_status(session, status);
	for (size_t i = 0; i < status->n_events; i++) {
		/* Events that could not be opened have no samples. */
		if (!status->events[i].open && !status->events[i].samples)
			continue;
		gather_event(&save->events[source->n_events], &status->events[i]);
		save->event_ids[source->n_events++] = status->events[i].id;
	}
	source->events = save->events;
	source->event_ids = save->event_ids;
	free(status);
	return 0;
}

/* Copies build-ids found in the symbols' files.  Only the UI thread may ask for them. */
static int gather_build_ids(struct save *save, const struct session *session)
{
	uint32_t n = images_count(session_images(session));

	save->build_ids = calloc(n + 1u, sizeof(*save->build_ids));
	if (!save->build_ids)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++)
		save->build_ids[id].len =
			(uint8_t)symbols_build_id(session->symbols, id, save->build_ids[id].id);
	save->source.build_ids = save->build_ids;
	save->source.n_build_ids = n;
	return 0;
}

static int gather(
	struct save *save, const struct session *session, uint64_t from_ns, uint64_t to_ns)
{
	int ret;

	save->store = session_store(session);
	save->source.stacks = session_stacks(session);
	save->source.tasks = session_tasks(session);
	save->source.images = session_images(session);
	save->source.snapshot = &save->snapshot;
	save->source.machine = true;
	ret = store_snapshot(save->store, from_ns, to_ns, &save->snapshot);
	if (!ret)
		ret = gather_events(save, session);
	if (ret)
		return ret;
	ret = record_cmdline(&save->cmdline, &save->source.n_cmdline);
	save->source.cmdline = save->cmdline;
	/* The build-ids come after the snapshot: they then cover every image of its samples. */
	if (!ret)
		ret = gather_build_ids(save, session);
	/* Failing to copy names is no error: readers may find them in the original files. */
	if (!ret && !record_copy_kept(&save->kept, session)) {
		save->source.kept = save->kept.bytes;
		save->source.kept_len = save->kept.len;
	}
	return ret;
}

int save_start(struct save **out, const struct session *session, const char *path, uint64_t from_ns,
	uint64_t to_ns, char *message, size_t size)
{
	struct save *save = calloc(1, sizeof(*save));
	char name[CLEAN_PATH_BYTES];
	int ret = -ENOMEM;

	*out = NULL;
	if (save) {
		save->file.fd = save->file.place.dir_fd = -1;
		save->path = strdup(path);
		if (save->path)
			ret = gather(save, session, from_ns, to_ns);
	}
	if (!ret && !save->snapshot.n)
		ret = -ENODATA;
	if (!ret)
		ret = thread_start(&save->thread, "strobe-save", save_main, NULL, save);
	if (!ret) {
		save->has_thread = true;
		*out = save;
	} else {
		snprintf(message, size, "cannot save to '%s': %s", clean_path(name, path),
			ret == -ENODATA ? "there are no samples yet" : explain_errno(ret));
		save_free(save);
	}
	return ret;
}

unsigned int save_percent(const struct save *save)
{
	uint64_t total = atomic_load(&save->progress.cells_total);
	uint64_t done = atomic_load(&save->progress.cells);

	return total ? (unsigned int)(done * 100 / total) : 0;
}

bool save_is_over(struct save *save, int *error, char *message, size_t size)
{
	char raw[RECORD_TEXT_MAX], bytes[FORMAT_MAX], left_out[RECORD_TEXT_MAX / 2];
	char name[CLEAN_PATH_BYTES];

	if (!atomic_load(&save->over))
		return false;
	*error = save->error;
	clean_path(name, save->path);
	if (save->error && save->message[0]) {
		snprintf(message, size, "%s", save->message);
		return true;
	}
	if (save->error)
		snprintf(raw, sizeof(raw), "cannot save to '%s': %s", name,
			explain_errno(save->error));
	else
		snprintf(raw, sizeof(raw), "saved %" PRIu64 " samples to %s (%s)%s%s",
			atomic_load(&save->progress.samples), name,
			format_bytes(bytes, atomic_load(&save->progress.bytes)),
			record_explain_kept(&save->kept, left_out, sizeof(left_out)) ? "; " : "",
			save->kept.left_out ? left_out : "");
	clean_string(message, size, raw);
	return true;
}

bool save_free(struct save *save)
{
	if (!save)
		return true;
	atomic_store(&save->progress.cancel, true);
	if (save->has_thread && !thread_wait(&save->thread, SAVE_WAIT_MS))
		return false;
	if (save->snapshot.n)
		snapshot_release(save->store, &save->snapshot);
	record_cmdline_free(save->cmdline, save->source.n_cmdline);
	free(save->build_ids);
	record_kept_fini(&save->kept);
	free(save->path);
	free(save);
	return true;
}
