/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_report.h - strobe annotate: functions with their source and instructions, printed once.
 *
 * Functions are chosen (annotate/pick.h), read (annotate.h) and printed.  With --source-tree all
 * sampled lines are written below a directory instead, next to copies of their files.  UI thread;
 * once per run.
 */
#ifndef TUI_COMMANDS_ANNOTATE_REPORT_H
#define TUI_COMMANDS_ANNOTATE_REPORT_H

#include "tui/annotate/annotate.h"
#include "tui/annotate/pick.h"
#include "tui/commands/report.h"
#include "tui/session/taking.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct annotate_event {
	uint8_t id;
	char name[2 * EVENT_NAME_MAX]; /* cleaned */
	uint64_t freq_hz, period; /* exactly one is not 0 */
	bool rate_varies; /* other rates were in use too */
	uint64_t lost;
	/* share of exact addresses; below 0: the event neither requests them nor has any */
	double exact_percent;
	uint64_t weight, samples; /* that passed the filters */
};

struct annotate_report {
	struct taking *taking;
	const struct request *request;
	struct snapshot snapshot;
	struct filter *filter; /* NULL: all samples pass */
	uint64_t from_ns, to_ns;
	struct annotate_event *events;
	uint8_t ids[STORE_EVENTS_MAX]; /* event ids in column order */
	size_t n_events;
	struct pick pick;
	struct annotation **functions; /* in print order */
	size_t n_functions;
	struct report notes; /* only its notes are used */
};

/* Takes a profile or reads a recording, and prints.  Returns the exit status. */
int annotate_run(const struct request *request);

/* Returns a question for the samples in the reported range that pass the filters. */
struct scan_question annotate_question(const struct annotate_report *report);

/* --- annotate_text.c, annotate_data.c --- */

void annotate_put_text(FILE *out, const struct annotate_report *report, bool color);
void annotate_put_json(FILE *out, const struct annotate_report *report);
void annotate_put_csv(FILE *out, const struct annotate_report *report);

/* Shows on standard error that the program waits, if that is a terminal.  NULL clears the text. */
void annotate_tell_wait(const char *what);

/* Waits once for further results.  Returns false if interrupted. */
bool annotate_wait(struct annotate_report *report);

#endif
