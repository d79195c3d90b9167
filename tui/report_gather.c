/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_gather.c - from a stopped engine and its store to a report's plain data.
 *
 * UI thread.
 */
#include "tui/report.h"

#include "tui/clean.h"
#include "tui/explain.h"
#include "tui/hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 1000

int report_add_note(struct report *report, const char *sentence)
{
	char **grown;

	for (size_t i = 0; i < report->n_notes; i++)
		if (!strcmp(report->notes[i], sentence))
			return 0;
	grown = reallocarray(report->notes, report->n_notes + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	report->notes = grown;
	grown[report->n_notes] = strdup(sentence);
	if (!grown[report->n_notes])
		return -ENOMEM;
	report->n_notes++;
	return 0;
}

void report_fini(struct report *report)
{
	for (size_t i = 0; i < report->n_events; i++)
		free(report->events[i].rows);
	for (size_t i = 0; i < report->n_notes; i++)
		free(report->notes[i]);
	free(report->events);
	free(report->notes);
	memset(report, 0, sizeof(*report));
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int gather_rows(struct report_event *event, const struct request *request,
	struct names *names, const struct hot_row *rows, size_t n, uint64_t weight)
{
	event->rows = calloc(n ? n : 1, sizeof(*event->rows));
	if (!event->rows)
		return -ENOMEM;
	for (size_t i = 0; i < n && (!request->rows || event->n_rows < request->rows); i++) {
		struct report_row *row = &event->rows[event->n_rows];
		const struct symref *symref = names_get(names, rows[i].symref);

		*row = (struct report_row){
			.symbol = symref->symbol,
			.image = symref->image,
			.self_percent = percent(rows[i].self, weight),
			.total_percent = percent(rows[i].total, weight),
			.samples = rows[i].samples,
			.self_weight = rows[i].self,
			.total_weight = rows[i].total,
		};
		if ((request->sort_total ? row->total_percent : row->self_percent) <
			request->percent_limit)
			break;
		event->n_rows++;
	}
	return 0;
}

static int gather_event(struct report_event *event, const struct engine_event_status *status,
	const struct request *request, struct names *names, struct hot *hot)
{
	struct hot_query query = {
		.event = status->id,
		.sort = request->sort_total ? HOT_SORT_TOTAL : HOT_SORT_SELF,
	};
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n;
	int ret = hot_rows(hot, &query, &rows, &n, &sums);

	if (ret)
		return ret;
	clean_text(event->name_bytes, sizeof(event->name_bytes), status->name, EVENT_NAME_MAX);
	event->name = event->name_bytes;
	event->samples = sums.samples;
	event->weight = sums.weight;
	event->lost = status->lost;
	event->freq_hz = status->freq_hz;
	event->period = status->period;
	event->count = status->count;
	event->throttled = status->throttled;
	event->filtered = status->filtered;
	event->coverage_percent =
		status->clock_ns ? percent(status->armed_ns, status->clock_ns) : -1;
	/* Two clocks, read one after the other. */
	if (event->coverage_percent > 100)
		event->coverage_percent = 100;
	event->unresolved_percent = percent(sums.unresolved, sums.weight);
	return gather_rows(event, request, names, rows, n, sums.weight);
}

/* What the header tells in numbers, or stderr already, needs no note. */
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

int report_gather_notes(struct report *report, struct session *session)
{
	struct engine_note *notes = malloc(NOTES_MAX * sizeof(*notes));
	struct symbols_note symbols_note;
	char sentence[1024];
	size_t n;
	int ret = 0;

	if (!notes)
		return -ENOMEM;
	if (session->notice[0])
		ret = report_add_note(report, session->notice);
	n = session_notes(session, 0, notes, NOTES_MAX);
	for (size_t i = 0; i < n && !ret; i++) {
		if (is_told(notes[i].kind) ||
			(explain_note_level(&notes[i]) == EXPLAIN_INFO &&
				notes[i].kind != NOTE_SCOPE && notes[i].kind != NOTE_COARSENED))
			continue;
		explain_note(&notes[i], &session->limits, sentence, sizeof(sentence));
		ret = report_add_note(report, sentence);
	}
	while (!ret && symbols_take_note(session->symbols, &symbols_note)) {
		explain_symbols_note(&symbols_note, sentence, sizeof(sentence));
		ret = report_add_note(report, sentence);
	}
	free(notes);
	return ret;
}

int report_gather(struct report *report, struct session *session)
{
	struct engine_status *status = malloc(sizeof(*status));
	const struct request *request = session->request;
	struct hot *hot = NULL;
	int ret;

	memset(report, 0, sizeof(*report));
	if (!status)
		return -ENOMEM;
	session_status(session, status);
	report->target = session->target_text;
	report->duration_s = (double)(status->now_ns - status->started_ns) / 1e9;
	report->idle_hidden = request->hide_idle;
	report->tasks_missed = status->tasks_missed;
	report->threads_left_out = status->threads_left_out;
	report->lost_side_band = status->lost_side_band;
	report->dropped = status->store.dropped;
	ret = hot_new(&hot, session_store(session), session_stacks(session), session->names);
	if (ret)
		goto out;
	/* In a pid namespace pid 0 tells nothing. */
	if (!session->limits.pid_namespace)
		hot_set_tasks(hot, session_tasks(session));
	hot_hide_idle(hot, request->hide_idle);
	ret = hot_sum(hot, 0, UINT64_MAX);
	if (ret)
		goto out;
	report->events = calloc(status->n_events ? status->n_events : 1, sizeof(*report->events));
	if (!report->events) {
		ret = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < status->n_events && !ret; i++) {
		const struct engine_event_status *event = &status->events[i];

		/* One that was refused is told in the notes. */
		if (!event->open && !event->samples && event->error)
			continue;
		ret = gather_event(
			&report->events[report->n_events++], event, request, session->names, hot);
	}
out:
	hot_free(hot);
	free(status);
	if (ret)
		report_fini(report);
	return ret;
}
