/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - the structs and functions that the files of an annotation share.
 *
 * annotate.c: its lifetime; sums.c: samples by address; rows.c and
 * lines.c: the rows; source.c: the text of source files.  UI thread.
 */
#ifndef TUI_ANNOTATE_PRIVATE_H
#define TUI_ANNOTATE_PRIVATE_H

#include "tui/annotate/annotate.h"
#include "tui/base/intern.h"

#include <string.h>

#define ANNOTATE_NO_ROW UINT32_MAX

/* A source file as the compiler named it. */
struct annotate_file {
	const char *raw; /* borrowed from the table */
	const char *clean;
	enum { ANNOTATE_UNREAD, ANNOTATE_ASKED, ANNOTATE_READ, ANNOTATE_MISSING } state;
	bool given_up;
	int error; /* positive errno */
	struct symbols_text *text; /* NULL if not requested or not available */
	uint32_t *starts; /* offset of each line in text, and the end */
	uint32_t n_lines;
};

/* A function, inlined or not. */
struct annotate_function {
	const char *raw; /* borrowed from the table */
	uint32_t file; /* first file it was seen in */
	uint32_t decl_line;
	uint32_t shown; /* last of its lines among the rows; 0: none */
};

/* One slice's sum by (offset, event).  ANNOTATE_WHOLE holds the slice's whole weight by event. */
struct annotate_part {
	uint32_t offset; /* index into annotation.offsets */
	uint8_t event;
	uint64_t weight, samples;
};
#define ANNOTATE_WHOLE UINT32_MAX

struct annotate_digest {
	uint64_t serial;
	uint32_t n;
	struct annotate_part parts[];
};

/* Cached per stack node: is its leaf in the function? */
struct annotate_verdict {
	uint16_t generation;
	bool known, ours;
};

/* The rows that an address counts on; ANNOTATE_NO_ROW if none. */
struct annotate_places {
	uint32_t at, also;
};

/* The files and functions that a table names. */
struct annotate_sources {
	struct intern file_keys, function_keys;
	struct annotate_file *files;
	uint32_t files_room;
	struct annotate_function *functions;
};

struct annotation {
	struct annotate_question question;
	uint32_t image;
	uint64_t start, end; /* offsets in the image */
	bool is_address; /* offsets are addresses */
	bool is_memory; /* code in process memory, in no file */
	struct symbols_code *code;
	/* The request with inlined functions, while `code` lacks them. */
	struct symbols_code *complete;
	bool is_partial; /* `code` lacks inlined functions */
	const struct codetab *table; /* NULL if there is no code */
	enum annotate_progress progress;
	char reason[512];
	enum annotate_mode mode;
	bool has_lines, has_source;
	struct intern texts;

	struct intern file_keys, function_keys; /* keyed by offset in the table's pool */
	struct annotate_file *files;
	uint32_t files_room, next_file; /* next file to request */
	uint32_t n_reading; /* files requested but not yet read */
	struct annotate_function *functions;
	uint32_t functions_room;
	struct intern ugly_keys; /* raw names, as pointers, that may still be demangled */

	struct annotate_row *rows;
	uint32_t n_rows, rows_room;
	struct annotate_places *by_entry; /* indexed by table entry */

	struct intern offsets; /* sampled offsets, 64 bits each */
	struct annotate_places *places; /* by index into offsets */
	uint32_t n_places, places_room;
	struct annotate_digest **digests; /* sorted by serial */
	size_t n_digests;
	struct annotate_verdict *verdicts; /* by stack node */
	uint32_t verdicts_room;
	uint64_t filter_serial, epoch; /* the digests are valid for these */
	uint8_t events[ANNOTATE_EVENTS_MAX];
	size_t n_events;
	uint64_t *sums; /* by index into offsets, and event: weight, samples */
	uint32_t sums_room; /* in offsets */
	uint64_t weight[ANNOTATE_EVENTS_MAX], samples[ANNOTATE_EVENTS_MAX],
		whole[ANNOTATE_EVENTS_MAX];
	uint64_t **blocks; /* sums of rows with samples */
	uint32_t n_blocks, blocks_room, n_slots;
	uint32_t *slots; /* by row: slot + 1; 0: none */
	uint32_t slots_room;
};

/* --- rows.c --- */

/* Rebuilds the rows.  Returns 0 or -ENOMEM. */
int annotate_build(struct annotation *annotation);
/* Appends a row; returns NULL if memory runs out. */
struct annotate_row *annotate_add_row(struct annotation *annotation, enum annotate_kind kind);
/* Returns a raw name in display form; "" for ""; NULL if memory runs out. */
const char *annotate_name(struct annotation *annotation, const char *raw);
int annotate_add_line(
	struct annotation *annotation, uint32_t file, uint32_t line, unsigned int depth);
int annotate_add_function(
	struct annotation *annotation, const struct codetab_frame *frame, unsigned int depth);

/* --- lines.c --- */

int annotate_build_lines(struct annotation *annotation);

/* --- source.c --- */

/* Store the index of a frame's file or function.  Return 0 or -ENOMEM. */
int annotate_file_of(
	struct annotation *annotation, const struct codetab_frame *frame, uint32_t *file);
int annotate_function_of(
	struct annotation *annotation, const struct codetab_frame *frame, uint32_t *function);
/* Registers all files and functions of the table.  Returns 0 or -ENOMEM. */
int annotate_learn(struct annotation *annotation);
/* Requests files not requested yet and takes those that arrived.  Returns true if any did. */
bool annotate_read(struct annotation *annotation);
/* Returns the cleaned text of a line, counted from 1; NULL if there is none.  Sets *error if memory
 * runs out. */
const char *annotate_line_text(
	struct annotation *annotation, uint32_t file, uint32_t line, int *error);
void annotate_files_fini(struct annotation *annotation);
/* Moves the sources out of the annotation before another table replaces them.  Free them with
 * annotate_sources_fini(). */
struct annotate_sources annotate_sources_take(struct annotation *annotation);
void annotate_sources_fini(struct annotation *annotation, struct annotate_sources *sources);

/* --- sums.c --- */

/* Drops the sums of the rows after a rebuild. */
void annotate_rows_changed(struct annotation *annotation);
/* Adds the sums by offset to the rows.  Returns 0 or -ENOMEM. */
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
