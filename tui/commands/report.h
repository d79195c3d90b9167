/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - strobe report: samples for a while, then prints the hot symbols as text, CSV or JSON.
 *
 * struct report holds all data of the output, so that each format is a function of plain data.
 * UI thread.
 */
#ifndef TUI_COMMANDS_REPORT_H
#define TUI_COMMANDS_REPORT_H

#include "tui/base/intern.h"
#include "tui/session/memory.h"
#include "tui/session/request.h"
#include "tui/session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report_key {
	const char *text; /* cleaned; also for numbers: "postgres (4711)" */
	int64_t number; /* pid, tid or CPU */
	bool is_number;
};

/* The part of a row in one column. */
struct report_cell {
	size_t column;
	double self_percent, total_percent; /* shares of the column's own weight */
	uint64_t samples, weight; /* self */
};

struct report_row {
	const struct report_key *keys; /* report.n_keys entries, in the requested order */
	struct names_place place; /* the function's, if a key is a symbol */
	double self_percent, total_percent;
	uint64_t samples;
	uint64_t self_weight, total_weight;
	/* in the order of columns; no cell for a column without samples */
	const struct report_cell *cells;
	size_t n_cells;
};

/* A column of percentages: an event, a CPU or a thread. */
struct report_column {
	const char *name; /* cleaned and unique: "3", "4711/4712" (process/thread), "cpu-clock" */
	const char *head; /* cleaned; "CPU 3", "worker (4711)" */
	uint64_t samples, weight;
};

/* A node of a call tree; node 0 is the root, the sum of all.  0 ends lists of nodes. */
struct report_node {
	const char *symbol, *image; /* cleaned, borrowed from names */
	double self_percent, total_percent;
	uint64_t samples, self_weight, total_weight;
	double below_percent; /* sum of the totals of the children below the limit */
	size_t n_below; /* number of these children */
	size_t parent, child, sibling;
};

struct report_event {
	const char *name; /* cleaned */
	uint64_t samples, weight, lost; /* samples and weight: those that pass the filters */
	uint64_t all_samples, all_weight; /* before the filters */
	uint64_t freq_hz, period; /* at most one is not 0; both are 0 if not known */
	bool rate_varies; /* the event also had other rates */
	bool is_span; /* measures time between switches; every switch is a sample */
	uint64_t count; /* value of the counter, unless count_unknown */
	bool count_unknown;
	uint64_t enabled_ns, running_ns; /* time enabled and time counting; 0: not known */
	uint64_t throttled;
	uint64_t exact, delivered; /* samples with an exact address, and all samples */
	bool tells_exact; /* the event requests exact addresses (precise_ip), or has some */
	bool tells_chains; /* the ends of callchains are known, at least of some */
	/* samples that pass: with a known end of their callchain, and with a whole callchain */
	uint64_t chains, chains_whole;
	uint64_t held_back; /* events counted by the kernel, neither sampled nor lost */
	bool lost_of_all; /* lost and held_back include other processes, as in the engine */
	uint64_t stood_still; /* number of stops because the event had no credit left */
	uint64_t filtered; /* delivered, but not of a followed process (scope cpu) or CPU */
	double covered, coverable; /* coverage is covered / coverable; coverable 0: not known */
	double coverage_percent; /* below 0: not known */
	double unresolved_percent;
	struct report_row *rows; /* in the order of the output */
	size_t n_rows;
	const struct report_column *columns;
	size_t n_columns;
	struct report_node *nodes; /* only with a tree view */
	size_t n_nodes;
	const char *cgroup; /* cleaned label; NULL if none */
	char name_bytes[2 * EVENT_NAME_MAX];
	char cgroup_bytes[2 * CGROUP_LABEL_MAX];
};

/* A recording's description of itself.  Strings are cleaned, NULL if the recording lacks them. */
struct report_file {
	const char *hostname, *release, *arch, *cpu, *perf_version, *command;
	const char *recorder, *device; /* "simpleperf 1.0", and the recorded device */
	const char *pmus; /* "cpu 4, msr 8": names with perf_event_attr types */
	uint32_t cpus;
	uint64_t memory_kb;
	int64_t written; /* time of writing in seconds since the epoch; 0: not known */
	bool truncated;
	const struct reader_status *status; /* NULL: no recording */
};

struct report {
	const char *target; /* cleaned */
	double duration_s, covered_s; /* covered: within --time */
	bool no_times; /* no sample has a time, so the durations are unknown */
	bool idle_hidden;
	uint64_t tasks_missed, lost_side_band, dropped;
	uint64_t records_dropped; /* side-band records that memory was too short for */
	uint64_t unknown_records; /* records of the kernel that the engine does not understand */
	uint64_t chains_late, addresses_dropped; /* see struct unwind_totals */
	/* threads without events: too few descriptors or too little locked memory */
	uint64_t threads_left_out;
	enum report_view view;
	enum query_group keys[QUERY_KEYS_MAX]; /* keys of the rows */
	size_t n_keys;
	/* for GROUP_CGROUP: cleaned label by event number; NULL if none */
	const char *cgroups[STORE_EVENTS_MAX];
	/* cleaned; names of GROUP_FIELD and the groups after it */
	const char *fields[QUERY_FIELDS_MAX];
	bool grouped; /* the request names groups or columns */
	enum report_columns columns;
	bool sort_total; /* sort by total; text columns show total, too */
	bool filtered, absolute;
	double tree_limit_percent; /* lowest share of a node that trees show */
	bool ascii; /* draw trees in ASCII */
	struct csv_style csv;
	struct report_file file;
	struct report_event *events;
	size_t n_events;
	struct report_event *merged; /* with columns by event: rows over all events; else NULL */
	char **notes; /* cleaned sentences */
	size_t n_notes;
	struct memory_account costs; /* memory of strobe itself */
	struct report_memory *memory; /* owner of the rows' data; NULL if none */
};

/* Returns whether columns are events or cgroups, so that each row covers all events. */
static inline bool report_is_by_event(const struct report *report)
{
	return report->columns == COLUMNS_EVENT || report->columns == COLUMNS_CGROUP;
}

/* Takes a profile and prints it to standard output.  Messages about failures go to standard error.
 * Returns the exit status. */
int report_run(const struct request *request);

/* Writes the report.  columns: width at which lines are cut; 0: no limit.  Returns 0, -EIO (see
 * ferror(3) and errno), or -ENOMEM. */
int report_write(
	FILE *out, const struct report *report, enum report_format format, unsigned int columns);

/* Returns the width of standard output in columns; 0 if it is not a terminal. */
unsigned int report_columns(void);

/* Returns whether standard output gets colors. */
bool report_wants_color(const struct request *request);

/* Gathers the report from the engine's last status and its store, which must not change any more.
 * Returns 0 or -errno; on success report_fini() frees the report. */
int report_gather(struct report *report, struct session *session);
/* Gathers the report of a profile that was taken, after waiting for its names. */
struct taking;
int report_take(struct report *report, struct taking *taking);
/* Adds all notes of a session.  Call once, after gathering: notes of symbols are taken, not copied.
 * Returns 0 or -ENOMEM. */
int report_gather_notes(struct report *report, struct session *session);
/* Adds each note of the engine or the recording once.  history: also notes on dropped history.
 * Returns 0 or -ENOMEM. */
int report_add_session_notes(struct report *report, const struct session *session, bool history);
/* Adds the reasons for incomplete callchains, unless the request leaves samples or events with such
 * chains out.  Returns 0 or -ENOMEM. */
int report_add_chain_notes(struct report *report, const struct session *session);
/* Adds a copy of a sentence, unless the report already has it.  Returns 0 or -ENOMEM. */
int report_add_note(struct report *report, const char *sentence);
void report_fini(struct report *report);

/* Returns a record type's name, like "MMAP2" or "FINISHED_ROUND"; NULL for a type without a
 * name. */
const char *report_record_name(unsigned int type);

#endif
