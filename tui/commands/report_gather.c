/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_gather.c - turns a stopped engine and its store into a report's plain data.
 *
 * UI thread.
 */
#include "tui/base/sentence.h"
#include "tui/commands/report_private.h"

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/events/event.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/commands/report.h"
#include "tui/explain/explain.h"
#include "tui/query/filter.h"
#include "tui/session/cgroups.h"
#include "tui/session/chain_notes.h"
#include "tui/session/memory.h"
#include "tui/session/request.h"

#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 1000
#define SYMBOLS_NOTES_MAX 512 /* twice the maximum that symbols/ keeps per loader */

int report_add_note(struct report *report, const char *sentence)
{
	return sentence_keep(&report->notes, &report->n_notes, sentence);
}

void *report_alloc(struct report *report, size_t n, size_t size)
{
	struct report_memory *memory = report->memory;
	void *block;

	if (grow_room((void **)&memory->blocks, memory->n_blocks, &memory->blocks_room,
		    sizeof(*memory->blocks)))
		return NULL;
	block = calloc(n ? n : 1, size);
	if (block)
		memory->blocks[memory->n_blocks++] = block;
	return block;
}

void report_fini(struct report *report)
{
	struct report_memory *memory = report->memory;

	for (size_t i = 0; i < report->n_notes; i++)
		free(report->notes[i]);
	free(report->notes);
	if (memory) {
		for (uint32_t i = 0; i < memory->n_blocks; i++)
			free(memory->blocks[i]);
		free(memory->blocks);
		intern_fini(&memory->texts);
		free(memory);
	}
	memset(report, 0, sizeof(*report));
}

void report_take_sums(struct report_event *event, const struct scan_sums *sums)
{
	event->samples = sums->samples;
	event->weight = sums->weight;
	event->all_samples = sums->all_samples;
	event->all_weight = sums->all_weight;
	event->unresolved_percent = report_percent(sums->unresolved, sums->weight);
}

static void take_event(struct report_event *event, const struct engine_event_status *status)
{
	clean_text(event->name_bytes, sizeof(event->name_bytes), status->name, EVENT_NAME_MAX);
	event->name = event->name_bytes;
	if (status->cgroup)
		event->cgroup = clean_string(
			event->cgroup_bytes, sizeof(event->cgroup_bytes), status->cgroup);
	event->lost = status->lost;
	event->freq_hz = status->freq_hz;
	event->rate_varies = status->rate_varies;
	event->is_span = status->span;
	event->period = status->period;
	event->count = status->count;
	event->count_unknown = status->count_by_samples;
	event->enabled_ns = status->enabled_ns;
	event->running_ns = status->running_ns;
	event->throttled = status->throttled;
	event->exact = status->exact;
	event->delivered = status->samples;
	event->tells_exact = status->precise || status->exact;
	event->tells_chains = unwind_judged(&status->chains) > 0;
	event->held_back = status->held_back;
	event->lost_of_all = status->lost_of_all;
	event->stood_still = status->stood_still;
	event->filtered = status->filtered;
	event->covered = status->covered;
	event->coverable = status->coverable;
	event->coverage_percent =
		status->coverable > 0 ? 100 * status->covered / status->coverable : -1;
}

/* True for notes that the head of the report or standard error already shows. */
static bool is_told(enum engine_note_kind kind)
{
	switch (kind) {
	case NOTE_LOST:
	case NOTE_THROTTLED:
	case NOTE_CREDIT_SPENT:
	case NOTE_TASKS_MISSED:
	case NOTE_COMMAND_ENDED:
		return true;
	default:
		return false;
	}
}

/* True if a later note includes this one. */
static bool is_superseded(const struct engine_note *notes, size_t i, size_t n)
{
	bool later = false;

	if (notes[i].kind != NOTE_MAPS_UNREAD && notes[i].kind != NOTE_RECORDS_DROPPED)
		return false;
	for (size_t j = i + 1; j < n; j++)
		later |= notes[j].kind == notes[i].kind;
	return later;
}

#define EVENTS_TOLD 12u /* number of existing events that the note names */

/* Notes each requested event that is not in the recording, with the events that are. */
static int note_missing_events(struct report *report, const struct session *session)
{
	const struct request *request = session->request;
	struct engine_status *status = malloc(sizeof(*status));
	char raw[900], sentence[1024];
	int ret = 0;

	if (!status)
		return -ENOMEM;
	session_status(session, status);
	for (size_t i = 0; i < request->n_event_names && !ret; i++) {
		bool found = false;
		size_t len;

		session_missing_event(session, request->event_names[i], raw, sizeof(raw));
		len = strlen(raw);
		for (size_t j = 0; j < status->n_events; j++) {
			found |= session_event_asked(
				session, status->events[j].name, request->event_names[i]);
			if (len < sizeof(raw) && j < EVENTS_TOLD)
				len += (size_t)snprintf(raw + len, sizeof(raw) - len, "%s %s",
					j ? "," : ", but", status->events[j].name);
		}
		if (len < sizeof(raw) && status->n_events > EVENTS_TOLD)
			snprintf(raw + len, sizeof(raw) - len, " and %zu more",
				status->n_events - EVENTS_TOLD);
		clean_string(sentence, sizeof(sentence), raw);
		if (!found)
			ret = report_add_note(report, sentence);
	}
	free(status);
	return ret;
}

/* The kernel does not report the times of lost samples, so these counts ignore --time. */
static int note_range(struct report *report, const struct request *request)
{
	bool some = false;

	if (request->time_from_s <= 0 && request->time_to_s <= 0)
		return 0;
	for (size_t i = 0; i < report->n_events; i++)
		some |= report->events[i].lost || report->events[i].throttled;
	return some ? report_add_note(report,
			      "lost and throttled are of all the time, not only of that of --time")
		    : 0;
}

/* Notes events that the kernel opened but never scheduled on the hardware. */
static int note_not_counted(struct report *report)
{
	char sentence[2 * EVENT_NAME_MAX + 200];
	int ret = 0;

	for (size_t i = 0; i < report->n_events && !ret; i++) {
		const struct report_event *event = &report->events[i];

		if (!event->enabled_ns || event->running_ns)
			continue;
		snprintf(sentence, sizeof(sentence),
			"'%s' was never counted: the processor has too few counters for all of its "
			"group at one time, or others hold them. Make the group smaller, or let "
			"its "
			"members take turns with the modifier W of the group",
			event->name);
		ret = report_add_note(report, sentence);
	}
	return ret;
}

/* True if the notes differ only in their file. */
static bool is_alike(const struct symbols_note *a, const struct symbols_note *b)
{
	return a->kind == b->kind && a->error == b->error && a->value == b->value;
}

static int add_symbols_note(struct report *report, const struct symbols_note *note, size_t more)
{
	char sentence[1024];
	size_t len;

	explain_symbols_note(note, sentence, sizeof(sentence));
	len = strlen(sentence);
	if (more)
		snprintf(sentence + len, sizeof(sentence) - len,
			". The same holds for %zu more file%s (--all-notes names each)", more,
			more == 1 ? "" : "s");
	return report_add_note(report, sentence);
}

/* Merges equal notes on several files into one that gives their number. */
static int gather_symbols_notes(struct report *report, const struct session *session)
{
	struct symbols_note *notes = calloc(SYMBOLS_NOTES_MAX, sizeof(*notes));
	size_t n = 0, more;
	int ret = notes ? 0 : -ENOMEM;

	while (notes && n < SYMBOLS_NOTES_MAX && symbols_take_note(session->symbols, &notes[n]))
		n++;
	for (size_t i = 0; i < n && !ret; i++) {
		bool told = false;

		more = 0;
		for (size_t j = 0; j < n && !session->request->all_notes; j++) {
			const bool alike = is_alike(&notes[j], &notes[i]);

			told |= j < i && alike;
			more += j > i && alike && strcmp(notes[j].path, notes[i].path) != 0;
		}
		if (!told)
			ret = add_symbols_note(report, &notes[i], more);
	}
	free(notes);
	return ret;
}

/* True for notes on dropped history.  A recording that is still being written lost no history. */
static bool is_of_history(enum engine_note_kind kind)
{
	return kind == NOTE_COARSENED || kind == NOTE_FIELDS_DROPPED;
}

int report_add_session_notes(struct report *report, const struct session *session, bool history)
{
	struct engine_note *notes = malloc(NOTES_MAX * sizeof(*notes));
	char sentence[1024];
	int ret = 0;
	size_t n;

	if (!notes)
		return -ENOMEM;
	n = session_notes(session, 0, notes, NOTES_MAX);
	for (size_t i = 0; i < n && !ret; i++) {
		if (is_told(notes[i].kind) || is_superseded(notes, i, n) ||
			(!history && is_of_history(notes[i].kind)) ||
			(explain_note_level(&notes[i]) == EXPLAIN_INFO &&
				notes[i].kind != NOTE_SCOPE && notes[i].kind != NOTE_COARSENED &&
				notes[i].kind != NOTE_CPU_ONLINE))
			continue;
		explain_note(&notes[i], &session->limits, sentence, sizeof(sentence));
		ret = report_add_note(report, sentence);
	}
	free(notes);
	return ret;
}

static int add_chain_note(void *ctx, enum explain_level level, const char *sentence)
{
	(void)level;
	return report_add_note(ctx, sentence);
}

/* Causes are counted for all samples of all events, in recordings for those of the time range.
 * Returns whether they apply to a report: it has no filter, and all events with incomplete
 * chains. */
static bool tells_causes(const struct session *session, const struct engine_status *status)
{
	const struct request *request = session->request;
	uint8_t ids[ENGINE_EVENTS_TOLD];
	const size_t n = report_choose_events(session, status, ids);

	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];
		bool shown = unwind_judged(&event->chains) == event->chains.whole;

		for (size_t j = 0; j < n; j++)
			shown |= ids[j] == event->id;
		if (!shown)
			return false;
	}
	if (!session->recording && (request->time_from_s > 0 || request->time_to_s > 0))
		return false;
	return !request->n_terms && !request->n_only;
}

int report_add_chain_notes(struct report *report, const struct session *session)
{
	struct engine_status *status = malloc(sizeof(*status));
	struct chain_notes told = {.waits = true};

	if (!status)
		return -ENOMEM;
	session_status(session, status);
	const int ret = tells_causes(session, status)
		? chain_notes_add(&told, session, status, add_chain_note, report)
		: 0;
	free(status);
	return ret;
}

/* Exports and annotations show dropped samples only in this note. */
static int note_dropped(struct report *report, const struct session *session)
{
	struct engine_status *status = malloc(sizeof(*status));
	char number[32], sentence[128];
	uint64_t dropped;

	if (!status)
		return -ENOMEM;
	session_status(session, status);
	dropped = status->store.dropped;
	free(status);
	if (!dropped)
		return 0;
	snprintf(sentence, sizeof(sentence), "%s %s dropped: out of memory",
		report_grouped(number, dropped), dropped == 1 ? "sample" : "samples");
	return report_add_note(report, sentence);
}

int report_gather_notes(struct report *report, struct session *session)
{
	char sentence[1024];
	int ret = 0;

	if (session->notice[0])
		ret = report_add_note(report, session->notice);
	if (!ret && session->request->memory_limit_bytes) {
		memory_explain_limit(session->request->memory_limit_bytes,
			session->request->engine.memory_bytes, sentence);
		ret = report_add_note(report, sentence);
	}
	if (!ret && session->recording)
		ret = note_missing_events(report, session);
	if (!ret)
		ret = note_range(report, session->request);
	if (!ret)
		ret = note_not_counted(report);
	if (!ret)
		ret = note_dropped(report, session);
	if (!ret)
		ret = report_add_session_notes(report, session, true);
	if (!ret)
		ret = report_add_chain_notes(report, session);
	if (!ret)
		ret = gather_symbols_notes(report, session);
	return ret;
}

/* Live: leaves out events that could not be opened, which have notes.  Recorded: keeps the
 * requested events, or all if none is requested. */
static bool is_wanted(const struct session *session, const struct engine_event_status *event)
{
	const struct request *request = session->request;

	if (!session->recording)
		return event->open || event->samples || !event->error;
	for (size_t i = 0; i < request->n_event_names; i++)
		if (session_event_asked(session, event->name, request->event_names[i]))
			return true;
	return !request->n_event_names;
}

size_t report_choose_events(
	const struct session *session, const struct engine_status *status, uint8_t *ids)
{
	size_t n = 0;

	for (size_t i = 0; i < status->n_events; i++)
		if (is_wanted(session, &status->events[i]))
			ids[n++] = status->events[i].id;
	return n;
}

/* For rows by cgroup: replaces events that differ only in their cgroup by the first one. */
static void merge_cgroups(struct report *report, const struct engine_status *status, uint8_t *ids,
	uint8_t stands_for[STORE_EVENTS_MAX])
{
	size_t kept = 0;

	cgroups_stand_for(status, stands_for);
	for (size_t i = 0; i < report->n_events; i++) {
		bool there = false;

		for (size_t j = 0; j < kept; j++)
			there |= ids[j] == stands_for[ids[i]];
		if (!there)
			ids[kept++] = stands_for[ids[i]];
	}
	report->n_events = kept;
}

static void add_event(struct report_event *event, const struct engine_event_status *more)
{
	event->lost += more->lost;
	event->count += more->count;
	event->count_unknown |= more->count_by_samples;
	event->throttled += more->throttled;
	event->exact += more->exact;
	event->delivered += more->samples;
	event->tells_exact |= more->precise || more->exact;
	event->tells_chains |= unwind_judged(&more->chains) > 0;
	event->held_back += more->held_back;
	event->lost_of_all |= more->lost_of_all;
	event->stood_still += more->stood_still;
	event->filtered += more->filtered;
	event->covered += more->covered;
	event->coverable += more->coverable;
	if (event->coverable > 0)
		event->coverage_percent = 100 * event->covered / event->coverable;
}

/* Adds the counts of merged events to the first of each, and keeps the label of each cgroup. */
static int take_cgroups(struct report *report, const struct engine_status *status,
	const uint8_t *ids, const uint8_t stands_for[STORE_EVENTS_MAX])
{
	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];
		char clean[2 * CGROUP_LABEL_MAX];

		for (size_t k = 0; k < report->n_events; k++)
			if (ids[k] == stands_for[event->id] && ids[k] != event->id)
				add_event(&report->events[k], event);
		if (!event->cgroup)
			continue;
		report->cgroups[event->id] = intern_text(
			&report->memory->texts, clean_string(clean, sizeof(clean), event->cgroup));
		if (!report->cgroups[event->id])
			return -ENOMEM;
	}
	for (size_t k = 0; k < report->n_events; k++) {
		struct report_event *event = &report->events[k];
		size_t len = strlen(event->name_bytes);
		size_t label = event->cgroup ? strlen(event->cgroup) + 1 : 0;

		if (label && label < len)
			event->name_bytes[len - label] = '\0';
		event->cgroup = NULL;
	}
	return 0;
}

static int gather_events(struct report *report, const struct engine_status *status, uint8_t *ids)
{
	report->events = report_alloc(report, status->n_events, sizeof(*report->events));
	if (!report->events)
		return -ENOMEM;
	for (size_t i = 0; i < report->n_events; i++)
		for (size_t j = 0; j < status->n_events; j++)
			if (status->events[j].id == ids[i])
				take_event(&report->events[i], &status->events[j]);
	return 0;
}

static void take_request(struct report *report, const struct session *session)
{
	const struct request *request = session->request;

	report->idle_hidden = request->hide_idle;
	report->csv = request->csv;
	report->view = request->view;
	report->columns = request->columns;
	report->sort_total = request->sort_total;
	report->filtered = request->n_terms + request->n_only > 0;
	report->absolute = request->absolute;
	report->ascii = request->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	report->grouped = request->n_groups || request->columns != COLUMNS_NONE;
	report->n_keys = request->n_groups;
	memcpy(report->keys, request->groups, sizeof(report->keys));
	if (!report->n_keys) {
		report->keys[0] = GROUP_SYMBOL;
		report->keys[1] = GROUP_IMAGE;
		report->n_keys = 2;
	}
}

static int take_fields(struct report *report, const struct request *request)
{
	char clean[REPORT_NAME_MAX];

	for (size_t i = 0; i < request->n_fields; i++) {
		clean_string(clean, sizeof(clean), request->fields[i]);
		report->fields[i] = intern_text(&report->memory->texts, clean);
		if (!report->fields[i])
			return -ENOMEM;
	}
	return 0;
}

static uint64_t seconds_after(uint64_t start_ns, double seconds)
{
	double ns = seconds * 1e9;

	return ns >= (double)(UINT64_MAX / 2) ? UINT64_MAX : start_ns + (uint64_t)ns;
}

/* Recordings were loaded within their range only.  Live targets get their range here. */
void report_range(const struct session *session, const struct engine_status *status,
	uint64_t *from_ns, uint64_t *to_ns)
{
	const struct request *request = session->request;

	*from_ns = 0;
	*to_ns = UINT64_MAX;
	if (session->recording)
		return;
	if (request->time_from_s > 0)
		*from_ns = seconds_after(status->started_ns, request->time_from_s);
	if (request->time_to_s > 0)
		*to_ns = seconds_after(status->started_ns, request->time_to_s);
}

static int gather_samples(struct report *report, struct report_source *source)
{
	struct session *session = source->session;
	struct store *store = session_store(session);
	struct scan_question *scan = &source->scan;
	struct field_schemas schemas;
	struct snapshot snapshot;
	struct filter *filter;
	int ret = session_filter(session, &filter);

	if (ret)
		return ret;
	ret = store_snapshot(store, 0, UINT64_MAX, &snapshot);
	if (ret) {
		filter_free(filter);
		return ret;
	}
	scan->snapshot = &snapshot;
	scan->stacks = session_stacks(session);
	scan->tasks = session_tasks(session);
	scan->names = session->names;
	scan->filter = filter;
	scan->hide_idle = session->request->hide_idle;
	/* In a pid namespace pid 0 does not identify the idle task. */
	scan->idle_by_name = session->limits.pid_namespace;
	scan->event = -1;
	scan->stands_for = source->stands_for;
	scan->fields = session->request->fields;
	scan->n_fields = session->request->n_fields;
	session_schemas(session, source->status, &schemas);
	scan->schemas = &schemas;
	report_range(session, source->status, &scan->from_ns, &scan->to_ns);
	ret = report->view == REPORT_FLAT ? report_gather_rows(report, source)
					  : report_gather_trees(report, source);
	if (!ret)
		ret = report_gather_chains(report, source);
	snapshot_release(store, &snapshot);
	filter_free(filter);
	return ret;
}

static bool is_by_cgroup(const struct report *report)
{
	for (size_t i = 0; i < report->n_keys; i++)
		if (report->keys[i] == GROUP_CGROUP)
			return true;
	return false;
}

int report_gather(struct report *report, struct session *session)
{
	struct engine_status *status = malloc(sizeof(*status));
	uint8_t ids[ENGINE_EVENTS_TOLD];
	struct report_source source = {.session = session, .status = status, .events = ids};
	uint8_t stands_for[STORE_EVENTS_MAX];
	int ret;

	memset(report, 0, sizeof(*report));
	report->memory = calloc(1, sizeof(*report->memory));
	if (!status || !report->memory) {
		free(status);
		report_fini(report);
		return -ENOMEM;
	}
	session_status(session, status);
	session_describe(session);
	report->target = session->target_text;
	report->duration_s = (double)(status->now_ns - status->started_ns) / 1e9;
	report->covered_s = (double)session_covered_ns(session, status) / 1e9;
	report->no_times = !session_has_times(session);
	report->tasks_missed = status->tasks_missed;
	report->threads_left_out = status->threads_left_out;
	report->lost_side_band = status->lost_side_band;
	report->dropped = status->store.dropped;
	report->records_dropped = status->records_dropped;
	report->unknown_records = status->unknown_records;
	report->chains_late = status->chains.late;
	report->addresses_dropped = status->chains.dropped;
	memory_measure(&report->costs, &status->store, session->symbols);
	take_request(report, session);
	report->n_events = report_choose_events(session, status, ids);
	if (is_by_cgroup(report)) {
		merge_cgroups(report, status, ids, stands_for);
		source.stands_for = stands_for;
	}
	ret = gather_events(report, status, ids);
	if (!ret && source.stands_for)
		ret = take_cgroups(report, status, ids, stands_for);
	if (!ret)
		ret = report_gather_file(report, session);
	if (!ret)
		ret = take_fields(report, session->request);
	if (!ret)
		ret = gather_samples(report, &source);
	free(status);
	if (ret)
		report_fini(report);
	return ret;
}
