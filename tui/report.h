/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - strobe report: sample for a while, then print the hot symbols as text, CSV or JSON.
 *
 * What is printed is gathered into struct report first, so that the formats are functions of plain
 * data.  UI thread.
 */
#ifndef TUI_REPORT_H
#define TUI_REPORT_H

#include "tui/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report_row {
	const char *symbol, *image; /* cleaned, borrowed from names */
	double self_percent, total_percent;
	uint64_t samples;
	uint64_t self_weight, total_weight;
};

struct report_event {
	const char *name; /* cleaned */
	uint64_t samples, weight, lost;
	uint64_t freq_hz, period; /* exactly one is not 0 */
	uint64_t count; /* the counter itself */
	uint64_t throttled;
	uint64_t filtered; /* delivered, but of no followed process (scope cpu) or CPU */
	double coverage_percent; /* below 0: not known */
	double unresolved_percent;
	struct report_row *rows; /* in the order to print */
	size_t n_rows;
	char name_bytes[2 * EVENT_NAME_MAX];
};

struct report {
	const char *target; /* cleaned */
	double duration_s;
	bool idle_hidden;
	uint64_t tasks_missed, lost_side_band, dropped;
	uint64_t threads_left_out; /* without events, for want of descriptors or locked memory */
	struct report_event *events;
	size_t n_events;
	char **notes; /* cleaned sentences */
	size_t n_notes;
};

/* Take a profile and print it to standard output; sentences about failures go to standard error.
 * Returns the exit status. */
int report_run(const struct request *request);

/* Print.  columns: of the terminal, to cut lines to; 0: as wide as needed.  Returns 0, -EIO (look
 * at ferror(3) and errno), or -ENOMEM. */
int report_write(
	FILE *out, const struct report *report, enum report_format format, unsigned int columns);

/* From the engine's last word and its store, which must not change any more; for report_fini(). */
int report_gather(struct report *report, struct session *session);
/* Then, once: the symbols' notes are taken, not copied.  0 or -ENOMEM. */
int report_gather_notes(struct report *report, struct session *session);
int report_add_note(struct report *report, const char *sentence); /* once each; 0 or -ENOMEM */
void report_fini(struct report *report);

#endif
