/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_report.h - strobe annotate: functions with their source and instructions, printed once.
 *
 * Functions are chosen (annotate_pick.h), read (annotate.h) and printed; or, with --source-tree, all lines that were
 * sampled are written below a directory, beside copies of their files.  UI thread; once per run of the program.
 */
#ifndef TUI_ANNOTATE_REPORT_H
#define TUI_ANNOTATE_REPORT_H

#include "tui/annotate.h"
#include "tui/annotate_pick.h"
#include "tui/report.h"
#include "tui/taking.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct annotate_event {
	uint8_t id;
	char name[2 * EVENT_NAME_MAX]; /* cleaned */
	uint64_t freq_hz, period; /* exactly one is not 0 */
	bool rate_varies; /* it had other rates too */
	uint64_t lost;
	double exact_percent; /* exact addresses; below 0: report_event.tells_exact is false */
	uint64_t weight, samples; /* that passed the filters */
};

struct annotate_report {
	struct taking *taking;
	const struct request *request;
	struct snapshot snapshot;
	struct filter *filter; /* NULL: all */
	uint64_t from_ns, to_ns;
	struct annotate_event *events;
	uint8_t ids[STORE_EVENTS_MAX]; /* of the events */
	size_t n_events;
	struct pick pick;
	struct annotation **functions; /* in the order to print */
	size_t n_functions;
	struct report notes; /* its notes alone */
};

/* Take a profile or read a recording, print.  Returns the exit status. */
int annotate_run(const struct request *request);

/* Asks for the samples that pass the filters, of the time that is reported. */
struct scan_question annotate_question(const struct annotate_report *report);

/* --- annotate_text.c, annotate_data.c --- */

void annotate_put_text(FILE *out, const struct annotate_report *report, bool color);
void annotate_put_json(FILE *out, const struct annotate_report *report);
void annotate_put_csv(FILE *out, const struct annotate_report *report);

/* Tells on standard error, where it is a terminal, what is being waited for; NULL: nothing any more. */
void annotate_tell_wait(const char *what);

/* One wait for what comes next.  False: interrupted. */
bool annotate_wait(struct annotate_report *report);

#endif
