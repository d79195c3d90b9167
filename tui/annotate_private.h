/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_private.h - what the files of an annotation share: annotate.c its life, annotate_sums.c what was sampled,
 * annotate_rows.c and annotate_lines.c the rows, annotate_source.c the text of source files.
 */
#ifndef TUI_ANNOTATE_PRIVATE_H
#define TUI_ANNOTATE_PRIVATE_H

#include "tui/annotate.h"
#include "tui/intern.h"

#include <string.h>

#define ANNOTATE_NO_ROW UINT32_MAX

/* A source file as the compiler named it. */
struct annotate_file {
	const char *raw; /* borrowed from the table */
	const char *clean;
	enum { ANNOTATE_UNREAD, ANNOTATE_ASKED, ANNOTATE_READ, ANNOTATE_MISSING } state;
	bool given_up;
	int error; /* positive errno */
	struct symbols_text *text; /* NULL: not asked for, or not there */
	uint32_t *starts; /* of lines in text, and the end */
	uint32_t n_lines;
};

/* A function, inlined or not. */
struct annotate_function {
	const char *raw; /* borrowed from the table */
	uint32_t file; /* where it was met first */
	uint32_t decl_line;
	uint32_t shown; /* the last of its lines that is among the rows; 0: none */
};

/* What one slice adds, by (offset, event); after these its whole weight by event, with offset ANNOTATE_WHOLE. */
struct annotate_part {
	uint32_t offset; /* its number in annotation.offsets */
	uint8_t event;
	uint64_t weight, samples;
};
#define ANNOTATE_WHOLE UINT32_MAX

struct annotate_digest {
	uint64_t serial;
	uint32_t n;
	struct annotate_part parts[];
};

struct annotate_verdict { /* on a stack: is its leaf in the function? */
	uint16_t generation;
	bool known, ours;
};

/* Rows that an address counts on. */
struct annotate_places {
	uint32_t at, also;
};

/* What a table is known to name. */
struct annotate_sources {
	struct intern file_keys, function_keys;
	struct annotate_file *files;
	uint32_t files_room;
	struct annotate_function *functions;
};

struct annotation {
	struct annotate_question question;
	uint32_t image;
	uint64_t start, end; /* offsets */
	bool is_address; /* offsets are addresses */
	bool is_memory; /* it is in no file */
	struct symbols_code *code;
	/* With inlined functions, while these are missing in code and are looked for. */
	struct symbols_code *complete;
	bool is_partial; /* they are missing in code */
	const struct codetab *table; /* NULL: not there */
	enum annotate_progress progress;
	char reason[512];
	enum annotate_mode mode;
	bool has_lines, has_source;
	struct intern texts;

	struct intern file_keys, function_keys; /* by offset in the table's pool */
	struct annotate_file *files;
	uint32_t files_room, next_file; /* to be asked for */
	uint32_t n_reading; /* files that were asked for, and have not come */
	struct annotate_function *functions;
	uint32_t functions_room;
	struct intern ugly_keys; /* pointers to raw names that may still become pretty */

	struct annotate_row *rows;
	uint32_t n_rows, rows_room;
	struct annotate_places *by_entry; /* of the table's entries */

	struct intern offsets; /* sampled ones, 64 bits each */
	struct annotate_places *places; /* by offset's number */
	uint32_t n_places, places_room;
	struct annotate_digest **digests; /* by serial */
	size_t n_digests;
	struct annotate_verdict *verdicts; /* by stack node */
	uint32_t verdicts_room;
	uint64_t filter_serial, epoch; /* that the digests hold for */
	uint8_t events[ANNOTATE_EVENTS_MAX];
	size_t n_events;
	uint64_t *sums; /* by offset's number and event: weight, samples */
	uint32_t sums_room; /* offsets */
	uint64_t weight[ANNOTATE_EVENTS_MAX], samples[ANNOTATE_EVENTS_MAX],
		whole[ANNOTATE_EVENTS_MAX];
	uint64_t **blocks; /* sums of rows that have some */
	uint32_t n_blocks, blocks_room, n_slots;
	uint32_t *slots; /* by row: + 1 */
	uint32_t slots_room;
};

/* --- annotate_rows.c --- */

/* Make the rows anew.  0 or -ENOMEM. */
int annotate_build(struct annotation *annotation);
/* A new row at the end; NULL when out of memory. */
struct annotate_row *annotate_add_row(struct annotation *annotation, enum annotate_kind kind);
/* A raw name as it is shown; "" for "", NULL when out of memory. */
const char *annotate_name(struct annotation *annotation, const char *raw);
int annotate_add_line(
	struct annotation *annotation, uint32_t file, uint32_t line, unsigned int depth);
int annotate_add_function(
	struct annotation *annotation, const struct codetab_frame *frame, unsigned int depth);

/* --- annotate_lines.c --- */

int annotate_build_lines(struct annotation *annotation);

/* --- annotate_source.c --- */

/* The numbers of a frame's file and function; 0 or -ENOMEM. */
int annotate_file_of(
	struct annotation *annotation, const struct codetab_frame *frame, uint32_t *file);
int annotate_function_of(
	struct annotation *annotation, const struct codetab_frame *frame, uint32_t *function);
/* Know all files and functions of the table.  0 or -ENOMEM. */
int annotate_learn(struct annotation *annotation);
/* Ask for files that were not yet, take in those that came.  Whether any did. */
bool annotate_read(struct annotation *annotation);
/* The text of a line from 1 on, cleaned; NULL: not there.  *error is set when out of memory. */
const char *annotate_line_text(
	struct annotation *annotation, uint32_t file, uint32_t line, int *error);
void annotate_files_fini(struct annotation *annotation);
/* Take out what is known, for annotate_sources_fini(): another table comes. */
struct annotate_sources annotate_sources_take(struct annotation *annotation);
void annotate_sources_fini(struct annotation *annotation, struct annotate_sources *sources);

/* --- annotate_sums.c --- */

/* Rows were made anew: they have no sums. */
void annotate_rows_changed(struct annotation *annotation);
/* Sums to rows.  0 or -ENOMEM. */
int annotate_spread(struct annotation *annotation);
void annotate_sums_fini(struct annotation *annotation);
extern const uint64_t annotate_zeros[ANNOTATE_EVENTS_MAX];

static inline uint64_t annotate_offset(const struct annotation *annotation, uint32_t number)
{
	uint64_t offset;

	memcpy(&offset, annotation->offsets.entries[number].bytes, sizeof(offset));
	return offset;
}

static inline bool annotate_covers(const struct annotation *annotation, uint64_t offset)
{
	return offset >= annotation->start && offset < annotation->end;
}

#endif
