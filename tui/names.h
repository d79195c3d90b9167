/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.h - from frames to symbols: the bridge between the sampler's ids and symbols/.
 *
 * A symref is one symbol of one image (or one address of an image without symbols, or all
 * anonymous memory of one process), with a small id.  Frame -> symref is cached; asking for a frame of an image
 * met for the first time requests its symbols.  UI thread.
 */
#ifndef TUI_NAMES_H
#define TUI_NAMES_H

#include "sampler/changes.h"
#include "sampler/images.h"
#include "sampler/stacks.h"
#include "sampler/store.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct names;

struct symref {
	/* Cleaned, pretty.  Without a name: "node+0x1b2c", the address of its function's start if
	 * that is known, else its own, both as the file numbers them; or "[anon]".
	 * "name+0x...?": code without a name may follow the symbol. */
	const char *symbol;
	/* The name as in the file: mangled, raw bytes; NULL without a name.  Borrowed until
	 * symbols_free(). */
	const char *raw;
	const char *
		image; /* cleaned short name: "node", "libc.so.6", "[kernel]", "[nf_tables]", "[anon]" */
	const char *path; /* cleaned full path */
	uint32_t image_id;
	uint64_t start; /* offset in the image */
	bool kernel;
	bool resolved; /* has a real symbol name */
	bool bounded; /* start and end are known, with a name or without: not of what is inlined */
	bool pending; /* its image's table has not come yet */
	bool idle; /* the kernel's idle loop */
	bool inlined; /* a function that the compiler put into another: symbol ends in " (inlined)", start is 0 */
	bool foreign; /* of another profile alone (names_index_add()); start and image_id are 0 */
	bool unproven; /* from another machine, and no file is proven to be the image: no names */
	bool mismatch; /* what lies at the image's path is another file than was recorded: no names */
};

/* Borrows all three.  symbols may be NULL: then nothing ever has a name (tests). */
int names_new(struct names **out, const struct stacks *stacks, struct images *images,
	struct symbols *symbols);
void names_free(struct names *names);

/* Who is told where code took the place of other code; borrowed. */
/* Returns whether code without a file is being compared with files (names_pieces.c). */
bool names_asks_pieces(const struct names *names);
void names_set_changes(struct names *names, struct changes *changes);

/* The symref of a frame reached through a snapshot; 0 when out of memory ("[unknown]"). */
uint32_t names_symref(struct names *names, uint32_t frame);
const struct symref *names_get(struct names *names, uint32_t symref);
/* The same without making or asking for the symbol's name: symbol may be NULL, and pending and mismatch are as they were
 * when it was got last. */
const struct symref *names_peek(const struct names *names, uint32_t symref);
uint32_t names_limit(const struct names *names); /* every symref is below */

/* The same of an offset of an image (struct frame's), sampled or not. */
uint32_t names_symref_at(struct names *names, uint32_t image, uint64_t offset);

/* Where an image's symbols, code and source can come from; strings are borrowed from images.  False
 * where from nowhere. Any thread. */
bool names_source(struct images *images, uint32_t image, struct symbols_source *source);

/* The address that an image's file gives to an offset, if that is known; else the offset. */
uint64_t names_address(const struct names *names, uint32_t image, uint64_t offset);

/* Finds the code segment that contains an offset of an image's file; false if none is known. */
bool names_segment(
	const struct names *names, uint32_t image, uint64_t offset, struct symbols_segment *out);

/* Returns where source files of an image's lines may lie.  Ignores processes of a recording. */
struct symbols_source_origin names_source_origin(
	const struct names *names, uint32_t image, bool recording);

/* What lies at an offset of an image, for addresses of data.  Data symbols are asked for by that, and are not there at
 * once: names_changes() grows when they have come.  False: nothing (yet) has a name there; image and in_file are set. */
struct names_datum {
	const char *symbol; /* raw; borrowed until names_free() */
	uint64_t offset; /* from its start */
	const char *image; /* cleaned short name */
	bool in_file; /* offsets are of a file, not addresses */
};
bool names_datum(struct names *names, uint32_t image, uint64_t offset, struct names_datum *out);

/* Ask for the symbols of a frame's image, where that was not done yet; where they are here find the frame's symref, and ask
 * for the pretty name.  False: they are on their way. */
bool names_ask(struct names *names, uint32_t frame);

/* The symrefs of the functions that are inlined at a frame, innermost first, without the function itself; at most max.
 * What the debug information says is asked for, and is not there at once: names_changes() grows when answers came. */
size_t names_inlined(struct names *names, uint32_t frame, uint32_t *out, size_t max);
#define NAMES_INLINED_MAX 64u

/* The same with source lines, and the function itself as the last one: at least that, without a line where none is known. */
struct names_line {
	uint32_t symref;
	uint32_t line; /* 0: not known */
	const char *file; /* full path, raw; "": not known; borrowed until symbols_free() */
};
size_t names_lines(
	struct names *names, uint32_t frame, struct names_line out[NAMES_INLINED_MAX + 1]);
#define NAMES_INLINED " (inlined)" /* what such a symref's symbol ends in */
#define NAMES_UNCERTAIN "+0x...?"

/* Names of the stacks of a snapshot as they are now, with inlined functions if they are wanted, as far as they are known: for another thread, in which
 * names_symref(), names_lines(), names_inlined() and names_get() of these may be called.  It must be freed before the names that it was made of
 * are.  0 or -ENOMEM. */
int names_freeze(
	struct names **out, struct names *names, const struct snapshot *snapshot, bool inlines);

/* Symbols by what they are called, for those of another profile.  Good until names_changes() grows.  0 or -ENOMEM. */
struct names_index;
int names_index_new(struct names_index **out, struct names *names);
void names_index_free(struct names_index *index); /* NULL is a no-op */
/* The symref of a symbol with the names of another profile's, which is added where there is
 * none: of several the one that begins at the same offset, as it does in the same build.
 * Without the name, a clone of the same function counts (called.h).  *symref is 0 when out of
 * memory.  0 or -ENOMEM. */
int names_index_add(struct names_index *index, const struct symref *symbol, uint32_t *symref);

/* Ask for no symbols until names_resume(): what tells files apart is not known yet.  Names are pending meanwhile. */
void names_hold(struct names *names);
void names_resume(struct names *names);

/* Where the forest (forest.h) of these names is kept: private to forest.c; names_free() puts it. */
struct forest;
struct forest **names_forest(struct names *names);

/* Take in what symbols/ has found.  Returns a number that grows when frames got other symrefs than
 * before: whoever keeps sums by symref makes them anew. */
uint64_t names_update(struct names *names);

/* The same, after waiting until symbols/ has nothing left to do or the time is over: 0 or -ETIMEDOUT. */
int names_wait(struct names *names, unsigned int timeout_ms);
uint64_t names_epoch(const struct names *names);
/* Grows with the epoch, and when a name that was given out is another now: the old one is freed. */
uint64_t names_changes(const struct names *names);

#endif
