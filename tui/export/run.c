/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run.c - see run.h: prepares the profile of a session for export.
 *
 * UI thread.
 */
#include "tui/export/run.h"

#include "sampler/events/event.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_ROUNDS 4

static bool interrupted(void *ctx)
{
	return taking_was_interrupted(ctx);
}

static bool is_wanted(const struct export_run *run, const char *name)
{
	const struct request *request = run->taking->request;

	for (size_t i = 0; i < request->n_event_names; i++)
		if (session_event_asked(&run->taking->session, name, request->event_names[i]))
			return true;
	return !request->n_event_names;
}

/* Returns true for tracepoints: perf script prints no period for their samples. */
static bool counts_samples(const struct session *session, uint8_t id)
{
	const struct request *request = session->request;

	if (session->recording) {
		for (size_t i = 0; i < recording_attr_count(session->recording); i++) {
			const struct reader_attr *attr = recording_attr(session->recording, i);

			if (recording_event_of(session->recording, i) == id)
				return attr->attr.type == PERF_TYPE_TRACEPOINT;
		}
		return false;
	}
	return id < request->engine.n_events &&
		request->engine.events[id].attr.type == PERF_TYPE_TRACEPOINT;
}

static void add_event(struct export_run *run, const struct engine_event_status *status)
{
	struct profile_event *event = &run->events[run->profile.n_events++];

	*event = (struct profile_event){.id = status->id,
		.is_clock = status->is_clock,
		.by_count = counts_samples(&run->taking->session, status->id),
		.freq_hz = status->rate_varies ? 0 : status->freq_hz,
		.period = status->rate_varies ? 0 : status->period};
	clean_string(event->name, sizeof(event->name), status->name);
}

/* Notes that only the first of several events is exported. */
static void tell_single(const struct export_run *run)
{
	char sentence[3 * EVENT_NAME_MAX];

	snprintf(sentence, sizeof(sentence),
		"this format holds one event: %s is taken, -e chooses another of the %zu",
		run->events[0].name, run->profile.n_events);
	taking_complain(sentence);
}

/* Chooses the wanted events.  Events without samples are left out if another one has samples. */
static int choose_events(struct export_run *run, bool single)
{
	const struct engine_status *status = &run->taking->status;
	const struct request *request = run->taking->request;
	char sentence[256], missing[256];
	bool some = false;

	for (size_t i = 0; i < status->n_events; i++)
		some |= status->events[i].samples && is_wanted(run, status->events[i].name);
	for (size_t i = 0; i < status->n_events; i++)
		if (is_wanted(run, status->events[i].name) && (status->events[i].samples || !some))
			add_event(run, &status->events[i]);
	if (run->profile.n_events) {
		if (single && run->profile.n_events > 1) {
			tell_single(run);
			run->profile.n_events = 1;
		}
		return 0;
	}
	if (!status->n_events) {
		taking_complain("there is no event to export");
		return -ENOENT;
	}
	session_missing_event(
		&run->taking->session, request->event_names[0], missing, sizeof(missing));
	taking_complain(clean_string(sentence, sizeof(sentence), missing));
	return -ENOENT;
}

/* Replaces the snapshot by the current samples. */
static int take_snapshot(struct export_run *run)
{
	struct store *store = session_store(&run->taking->session);

	if (run->snapshot.slices)
		snapshot_release(store, &run->snapshot);
	return store_snapshot(store, 0, UINT64_MAX, &run->snapshot);
}

int export_run_init(struct export_run *run, struct taking *taking, bool single)
{
	const struct request *request = taking->request;
	struct session *session = &taking->session;
	int ret;

	memset(run, 0, sizeof(*run));
	run->taking = taking;
	run->profile = (struct profile){.snapshot = &run->snapshot,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = session->names,
		.images = session_images(session),
		.inlines = request->inlines == INLINES_ON ||
			(request->inlines == INLINES_DEFAULT &&
				request->export_format != EXPORT_FOLDED &&
				request->export_format != EXPORT_SCRIPT),
		.lines = request->export_format == EXPORT_PPROF ||
			request->export_format == EXPORT_CALLGRIND,
		.hide_idle = request->hide_idle,
		.idle_by_name = session->limits.pid_namespace,
		.events = run->events,
		.title = session->target_text,
		.times = session->times,
		.recording = session->recording,
		.untimed = &run->untimed,
		.start_ns = taking->status.started_ns,
		.end_ns = taking->status.now_ns,
		.covered_ns = session_covered_ns(session, &taking->status),
		.interrupted = interrupted,
		.ctx = taking};
	ret = choose_events(run, single);
	if (ret)
		return ret;
	ret = take_snapshot(run);
	if (!ret)
		ret = session_filter(session, &run->profile.filter);
	if (ret)
		taking_complain("out of memory");
	run->profile.unix_start_ns =
		profile_unix_start(session->recording != NULL, run->profile.start_ns);
	return ret;
}

void export_run_fini(struct export_run *run)
{
	filter_free(run->profile.filter);
	namesakes_fini(&run->profile.namesakes);
	if (run->snapshot.slices)
		snapshot_release(session_store(&run->taking->session), &run->snapshot);
	run->snapshot = (struct snapshot){0};
	run->profile.filter = NULL;
}

/* One byte per node: stack already visited. */
struct seen {
	uint8_t *nodes;
	uint32_t room;
};

static int ask_stack(const struct profile *profile, struct seen *seen, uint32_t node)
{
	while (node != STACK_ROOT) {
		uint32_t symrefs[PROFILE_FRAMES_MAX], frame;
		struct names_line lines[NAMES_INLINED_MAX + 1];
		size_t n;

		if (grow_zeroed((void **)&seen->nodes, node, &seen->room, 1))
			return -ENOMEM;
		if (seen->nodes[node])
			break;
		seen->nodes[node] = 1;
		frame = stacks_node(profile->stacks, node)->frame;
		if (profile->lines)
			(void)names_lines(profile->names, frame, lines);
		/* names_get() also requests the demangled name. */
		n = profile_frames(profile, node, symrefs);
		for (size_t i = 0; i < n; i++)
			names_get(profile->names, symrefs[i]);
		node = stacks_node(profile->stacks, node)->parent;
	}
	return 0;
}

static int ask_names(const struct profile *profile)
{
	struct seen seen = {0};
	int ret = 0;

	/* Filters need names, too, so request names of all stacks before filtering. */
	for (size_t s = 0; s < profile->snapshot->n; s++) {
		const struct slice *slice = profile->snapshot->slices[s];

		for (uint32_t i = 0; i < slice->cells && !ret; i++)
			if (profile_event(profile, slice->event[i]) >= 0)
				ret = ask_stack(profile, &seen, slice->stack[i]);
	}
	free(seen.nodes);
	return ret;
}

int export_run_names(struct export_run *run)
{
	struct names *names = run->profile.names;

	for (int round = 0; round < NAMES_ROUNDS; round++) {
		uint64_t changes = names_changes(names);
		int ret = 0;

		if (run->profile.inlines || run->profile.lines)
			ret = ask_names(&run->profile);
		else
			taking_ask_names(run->taking);
		if (ret || run->taking->interrupted)
			return ret;
		taking_wait_names(run->taking);
		/* New names may change stacks. */
		ret = take_snapshot(run);
		if (ret)
			return ret;
		/* Arrived symbols lead to further requests, for inlined functions and demangled
		 * names. */
		if (names_changes(names) == changes)
			break;
	}
	taking_tell_pending(run->taking);
	namesakes_fini(&run->profile.namesakes);
	return names_namesakes(names, &run->profile.namesakes);
}
