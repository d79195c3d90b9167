/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_private.h - what the files of a report share: gathering its parts, writing its formats.
 */
#ifndef TUI_REPORT_PRIVATE_H
#define TUI_REPORT_PRIVATE_H

#include "tui/report.h"
#include "tui/scan.h"

#define REPORT_NAME_MAX 256

/* What was made for rows lives as long as the report. */
struct report_memory {
	struct intern texts;
	void **blocks;
	uint32_t n_blocks, blocks_room;
	struct reader_status file_status;
};

/* Ids of the events that the request is about, in their order; there is room for
 * ENGINE_EVENTS_TOLD.  How many. */
size_t report_choose_events(
	const struct session *session, const struct engine_status *status, uint8_t *ids);

/* The range of --time, in the store's times. */
void report_range(const struct session *session, const struct engine_status *status,
	uint64_t *from_ns, uint64_t *to_ns);

/* Zeroed memory that report_fini() frees; NULL when out of memory. */
void *report_alloc(struct report *report, size_t n, size_t size);

/* What all gathering asks from. */
struct report_source {
	struct session *session;
	const struct engine_status *status;
	const uint8_t *events; /* ids of report->events */
	const uint8_t *stands_for; /* see scan_question */
	struct scan_question scan;
};

static inline double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Sums of the events, rows or trees.  0 or -ENOMEM. */
int report_gather_rows(struct report *report, const struct report_source *source);
int report_gather_trees(struct report *report, const struct report_source *source);
int report_gather_file(struct report *report, struct session *session);
void report_take_sums(struct report_event *event, const struct scan_sums *sums);

void report_put_text(FILE *out, const struct report *report, unsigned int columns);
void report_put_tree(FILE *out, const struct report *report, const struct report_event *event,
	unsigned int columns);
int report_put_csv(FILE *out, const struct report *report);
int report_put_json(FILE *out, const struct report *report);

/* Of a key, in CSV and JSON: "symbol"; of a field its name, with "field:" before it where a fixed one is the same. */
const char *report_key_name(const struct report *report, size_t key, char room[REPORT_NAME_MAX]);

/* At most `width` columns of text, filled up with blanks; a cut one ends in "..". */
void report_put_column(FILE *out, const char *text, int width, bool fill);
/* The same of a name, of which what tells least goes first (shorten.h); group: GROUP_SYMBOL, GROUP_IMAGE or another. */
void report_put_name(
	FILE *out, const char *text, enum query_group group, bool ascii, int width, bool fill);
/* "12,345,678" */
const char *report_grouped(char out[32], uint64_t number);

#endif
