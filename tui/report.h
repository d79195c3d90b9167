/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - strobe report: sample for a while, then print the hot symbols as text, CSV or JSON.
 *
 * What is printed is gathered into struct report first, so that the formats are functions of plain
 * data.  UI thread.
 */
#ifndef TUI_REPORT_H
#define TUI_REPORT_H

#include "tui/intern.h"
#include "tui/memory.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report_key {
	const char *text; /* cleaned; of numbers too: "postgres (4711)" */
	int64_t number; /* pid, tid or CPU */
	bool is_number;
};

/* A row under one column. */
struct report_cell {
	size_t column;
	double self_percent, total_percent; /* of the column's own weight */
	uint64_t samples, weight; /* self */
};

struct report_row {
	const struct report_key *keys; /* report.n_keys, in the order asked for */
	double self_percent, total_percent;
	uint64_t samples;
	uint64_t self_weight, total_weight;
	const struct report_cell *cells; /* by column; where there is nothing there is none */
	size_t n_cells;
};

/* What stands side by side: an event, a CPU or a thread. */
struct report_column {
	const char *
		name; /* cleaned; unique: "3", "4711/4712" (a process and its thread), "cpu-clock" */
	const char *head; /* cleaned; "CPU 3", "worker (4711)" */
	uint64_t samples, weight;
};

/* A path of a tree of calls; node 0 stands for all.  0 ends lists. */
struct report_node {
	const char *symbol, *image; /* cleaned, borrowed from names */
	double self_percent, total_percent;
	uint64_t samples, self_weight, total_weight;
	double below_percent; /* total of children left out, that */
	size_t n_below; /* is so many */
	size_t parent, child, sibling;
};

struct report_event {
	const char *name; /* cleaned */
	uint64_t samples, weight, lost; /* samples and weight: that pass the filters */
	uint64_t all_samples, all_weight; /* before the filters */
	uint64_t freq_hz, period; /* exactly one is not 0 */
	bool rate_varies; /* it had other rates too */
	bool is_span; /* time between switches, all of them */
	uint64_t count; /* the counter itself */
	uint64_t enabled_ns, running_ns; /* it counted for running_ns of enabled_ns; 0: not known */
	uint64_t throttled;
	uint64_t exact, delivered; /* samples at the very instruction, and samples in all */
	bool tells_exact; /* the event requests such addresses (precise_ip), or has some */
	struct unwind_ends chains; /* how the call chains of all delivered samples end */
	uint64_t held_back; /* counted by the kernel, neither sampled nor lost */
	bool lost_of_all; /* other processes' among them, as in the engine */
	uint64_t stood_still; /* times, for want of credit */
	uint64_t filtered; /* delivered, but of no followed process (scope cpu) or CPU */
	double covered, coverable; /* the share of possible samples; coverable 0: not known */
	double coverage_percent; /* below 0: not known */
	double unresolved_percent;
	struct report_row *rows; /* in the order to print */
	size_t n_rows;
	const struct report_column *columns;
	size_t n_columns;
	struct report_node *nodes; /* of a tree */
	size_t n_nodes;
	const char *cgroup; /* cleaned label; NULL: none */
	char name_bytes[2 * EVENT_NAME_MAX];
	char cgroup_bytes[2 * CGROUP_LABEL_MAX];
};

/* What a recording says of itself.  Strings are cleaned, NULL where it does not. */
struct report_file {
	const char *hostname, *release, *arch, *cpu, *perf_version, *command;
	const char *recorder, *device; /* "simpleperf 1.0", and what it ran on */
	const char *pmus; /* "cpu 4, msr 8": with the types that attributes have */
	uint32_t cpus;
	uint64_t memory_kb;
	int64_t written; /* when the file was, in seconds of the epoch; 0: not known */
	bool truncated;
	const struct reader_status *status; /* NULL: no recording */
};

struct report {
	const char *target; /* cleaned */
	double duration_s;
	bool idle_hidden;
	uint64_t tasks_missed, lost_side_band, dropped;
	uint64_t unknown_records; /* that the kernel wrote and the engine does not understand */
	uint64_t chains_late, addresses_dropped; /* see struct unwind_totals */
	uint64_t threads_left_out; /* without events, for want of descriptors or locked memory */
	enum report_view view;
	enum query_group keys[QUERY_KEYS_MAX]; /* of the rows */
	size_t n_keys;
	const char *cgroups
		[STORE_EVENTS_MAX]; /* of GROUP_CGROUP: by event's number its label, cleaned; or NULL */
	const char *fields[QUERY_FIELDS_MAX]; /* cleaned; what GROUP_FIELD and the next ones are */
	bool grouped; /* they were asked for, or columns were */
	enum report_columns columns;
	bool sort_total; /* what is in the columns of a text, too */
	bool filtered, absolute;
	double tree_limit_percent; /* what was left out of trees */
	bool ascii; /* trees are drawn in it */
	struct csv_style csv;
	struct report_file file;
	struct report_event *events;
	size_t n_events;
	struct report_event *merged; /* of columns by event: the rows of all; else NULL */
	char **notes; /* cleaned sentences */
	size_t n_notes;
	struct memory_account costs; /* strobe's own */
	struct report_memory *memory; /* what rows borrow; NULL: nothing */
};

/* Whether columns are events, under whichever name, so that rows are of all of them. */
static inline bool report_is_by_event(const struct report *report)
{
	return report->columns == COLUMNS_EVENT || report->columns == COLUMNS_CGROUP;
}

/* Take a profile and print it to standard output; sentences about failures go to standard error.
 * Returns the exit status. */
int report_run(const struct request *request);

/* Print.  columns: to cut lines to; 0: as wide as needed.  Returns 0, -EIO (look
 * at ferror(3) and errno), or -ENOMEM. */
int report_write(
	FILE *out, const struct report *report, enum report_format format, unsigned int columns);

/* Of standard output, to cut lines to; 0: it is no terminal. */
unsigned int report_columns(void);

/* Whether standard output is to be coloured. */
bool report_wants_color(const struct request *request);

/* From the engine's last word and its store, which must not change any more; for report_fini(). */
int report_gather(struct report *report, struct session *session);
/* The same for a profile that was taken, with the names that it asks for waited for. */
struct taking;
int report_take(struct report *report, struct taking *taking);
/* Then, once: the symbols' notes are taken, not copied.  0 or -ENOMEM. */
int report_gather_notes(struct report *report, struct session *session);
/* Adds each note of the engine or the recording once.  history: adds notes on dropped history,
 * too. */
int report_add_session_notes(struct report *report, const struct session *session, bool history);
/* Adds why call chains are not whole.  0 or -ENOMEM. */
int report_add_chain_notes(struct report *report, const struct session *session);
int report_add_note(struct report *report, const char *sentence); /* once each; 0 or -ENOMEM */
void report_fini(struct report *report);

/* "MMAP2", "FINISHED_ROUND"; NULL for a type without a name. */
const char *report_record_name(unsigned int type);

#endif
