/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_private.h - shared by report*.c: gathering the parts and writing the formats.
 */
#ifndef TUI_COMMANDS_REPORT_PRIVATE_H
#define TUI_COMMANDS_REPORT_PRIVATE_H

#include "sampler/recording/recording.h"
#include "tui/commands/report.h"
#include "tui/query/scan.h"

#define REPORT_NAME_MAX 256

/* Memory of the rows; lives as long as the report. */
struct report_memory {
	struct intern texts;
	void **blocks;
	uint32_t n_blocks, blocks_room;
	struct reader_status file_status;
};

/* Stores the ids of the requested events in their order.  ids has room for ENGINE_EVENTS_TOLD.
 * Returns their number. */
size_t report_choose_events(
	const struct session *session, const struct engine_status *status, uint8_t *ids);

/* Returns the range of --time, in times of the store (ns). */
void report_range(const struct session *session, const struct engine_status *status,
	uint64_t *from_ns, uint64_t *to_ns);

/* Returns zeroed memory that report_fini() frees; NULL if memory runs out. */
void *report_alloc(struct report *report, size_t n, size_t size);

/* Common input of the gathering functions. */
struct report_source {
	struct session *session;
	const struct engine_status *status;
	const uint8_t *events; /* ids of report->events */
	const uint8_t *stands_for; /* see struct scan_question */
	struct scan_question scan;
};

static inline double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Gather sums of the events together with rows or trees.  Return 0 or -ENOMEM. */
int report_gather_rows(struct report *report, const struct report_source *source);
int report_gather_trees(struct report *report, const struct report_source *source);
/* Counts the samples of each event by the end of their callchain.  Returns 0 or -ENOMEM. */
int report_gather_chains(struct report *report, const struct report_source *source);
int report_gather_file(struct report *report, struct session *session);
void report_take_sums(struct report_event *event, const struct scan_sums *sums);

void report_put_text(FILE *out, const struct report *report, unsigned int columns);
void report_put_tree(FILE *out, const struct report *report, const struct report_event *event,
	unsigned int columns);
int report_put_csv(FILE *out, const struct report *report);
int report_put_json(FILE *out, const struct report *report);

/* Returns the name of a key in CSV and JSON: "symbol", or a field's own name.  A field gets the
 * prefix "field:" if its name is taken. */
const char *report_key_name(const struct report *report, size_t key, char room[REPORT_NAME_MAX]);

/* Writes at most `width` columns of text, padded with blanks if `fill`.  A cut text ends in
 * "..". */
void report_put_column(FILE *out, const char *text, int width, bool fill);
/* Writes a name in at most `width` columns, shortened from its least useful part (shorten.h).
 * group: GROUP_SYMBOL, GROUP_IMAGE or another. */
void report_put_name(
	FILE *out, const char *text, enum query_group group, bool ascii, int width, bool fill);
/* Formats a number like "12,345,678".  Returns out. */
const char *report_grouped(char out[32], uint64_t number);

#endif
