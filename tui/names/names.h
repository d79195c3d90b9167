/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.h - maps frames to symbols: connects the sampler's ids with symbols/.
 *
 * A symref is a small id of one symbol of one image.  In an image without symbols it represents one
 * address; for anonymous memory, all of it in one process.  The symref of a frame is cached.  The
 * first query for an image requests its symbols.  UI thread.
 */
#ifndef TUI_NAMES_NAMES_H
#define TUI_NAMES_NAMES_H

#include "sampler/store/changes.h"
#include "sampler/store/images.h"
#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "symbols/client/symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct names;

struct symref {
	/* Cleaned, demangled.  Without a name: "node+0x1b2c", with the start of the function if
	 * known, else the address itself, both as numbered in the file; or "[anon]".
	 * "name+0x...?": the symbol may be followed by code without a name. */
	const char *symbol;
	/* The name in the file: mangled, raw bytes; NULL if none.  Borrowed until
	 * symbols_free(). */
	const char *raw;
	const char *image; /* cleaned short name: "node", "libc.so.6", "[kernel]", "[anon]" */
	const char *path; /* cleaned full path */
	uint32_t image_id;
	uint64_t start; /* offset in the image */
	bool kernel;
	bool resolved; /* has a real symbol name */
	bool bounded; /* start and end are known; never for inlined functions */
	bool pending; /* the image's table has not arrived yet */
	bool growing; /* generated code without a name: may get one with names_code_epoch() */
	bool idle; /* part of the kernel's idle loop */
	bool inlined; /* an inlined function: symbol ends in " (inlined)", start is 0 */
	bool foreign; /* only in another profile (names_index_add()); image_id is 0 */
	bool unproven; /* image of another machine, and no file is proven to match: no names */
	bool mismatch; /* the file at the image's path is not the recorded one: no names */
};

/* Makes a table of names.  Borrows all three; they must outlive it.  symbols may be NULL: no frame
 * then has a name (tests).  Returns 0 or -ENOMEM. */
int names_new(struct names **out, const struct stacks *stacks, struct images *images,
	struct symbols *symbols);
void names_free(struct names *names);

/* Returns whether code without a file is being compared with files (pieces.c). */
bool names_asks_pieces(const struct names *names);
/* Sets the receiver of changes of code; borrowed. */
void names_set_changes(struct names *names, struct changes *changes);

/* Returns the symref of a frame reached through a snapshot; 0 ("[unknown]") if memory runs out. */
uint32_t names_symref(struct names *names, uint32_t frame);
const struct symref *names_get(struct names *names, uint32_t symref);
/* Variant of names_get() that neither makes nor requests the name.  symbol may be NULL; pending and
 * mismatch are those of the last names_get(). */
const struct symref *names_peek(const struct names *names, uint32_t symref);
uint32_t names_limit(const struct names *names); /* greater than all symrefs */

/* Returns the symref of an offset in an image (as in struct frame), sampled or not. */
uint32_t names_symref_at(struct names *names, uint32_t image, uint64_t offset);

/* Returns the possible sources of an image's symbols, code and source lines.  Strings are borrowed
 * from images.  Returns false if there are none.  Any thread. */
bool names_source(struct images *images, uint32_t image, struct symbols_source *source);

/* Returns the address that an image's file gives to an offset, if known; else the offset. */
uint64_t names_address(const struct names *names, uint32_t image, uint64_t offset);

/* Finds the code segment that contains an offset of an image's file; false if none is known. */
bool names_segment(
	const struct names *names, uint32_t image, uint64_t offset, struct symbols_segment *out);

/* Returns where source files of an image's lines may lie.  Ignores processes of a recording. */
struct symbols_source_origin names_source_origin(
	const struct names *names, uint32_t image, bool recording);

/* The data symbol at an offset of an image.  The first query requests the image's data symbols;
 * names_changes() grows when they have arrived.  Returns false if no name is known (yet); image and
 * in_file are set in any case. */
struct names_datum {
	const char *symbol; /* raw; borrowed until names_free() */
	uint64_t offset; /* from the symbol's start */
	const char *image; /* cleaned short name */
	bool in_file; /* offsets are in a file, not addresses */
};
bool names_datum(struct names *names, uint32_t image, uint64_t offset, struct names_datum *out);

/* Requests the symbols of a frame's image if necessary.  If they are here, finds the frame's symref
 * and requests the demangled name.  Returns false if they have not arrived yet. */
bool names_ask(struct names *names, uint32_t frame);

/* Returns the symrefs of the functions inlined at a frame, innermost first, without the function
 * itself; at most max.  The first query requests the debug information; names_changes() grows when
 * it has arrived. */
size_t names_inlined(struct names *names, uint32_t frame, uint32_t *out, size_t max);
#define NAMES_INLINED_MAX 64u

/* Variant with source lines, and with the function itself as the last entry.  Returns the number of
 * entries, at least 1. */
struct names_line {
	uint32_t symref;
	uint32_t line; /* 0: unknown */
	const char *file; /* full path, raw; "": unknown; borrowed until symbols_free() */
};
size_t names_lines(
	struct names *names, uint32_t frame, struct names_line out[NAMES_INLINED_MAX + 1]);
#define NAMES_INLINED " (inlined)" /* end of the symbol of an inlined function */
#define NAMES_UNCERTAIN "+0x...?"

/* Copies the current names of the stacks of a snapshot, for use by another thread.  inlines: with
 * inlined functions, as far as known.  That thread may call names_symref(), names_lines(),
 * names_inlined() and names_get() for these stacks.  Free the copy before the original.  Returns 0
 * or -ENOMEM. */
int names_freeze(
	struct names **out, struct names *names, const struct snapshot *snapshot, bool inlines);

/* Index of symrefs by name, to look up symbols of another profile.  Valid until names_changes() of
 * either grows.  other: the names of that profile; NULL: unknown.  only: the symbol there that will
 * be looked up; NULL: several.  Returns 0 or -ENOMEM. */
struct names_index;
int names_index_new(struct names_index **out, struct names *names, struct names *other,
	const struct symref *only);
void names_index_free(struct names_index *index); /* NULL is a no-op */
/* Finds the symref of another profile's symbol by its names, or adds one.  Images of generated code
 * have one name in all runs (called_run()), but one with the same process number is preferred.
 * Several functions of an image may have the name.  In one build, the one with the same start is
 * taken.  In another build it is the one with the same place in their order, if both have as many.
 * Without the same name, it is a clone of the function (called.h).  Returns 0; -ENOMEM, maybe with
 * *symref 0. */
int names_index_add(struct names_index *index, const struct symref *symbol, uint32_t *symref);

/* The place of a function.  Returns false, and zeros, for code that is inlined, generated or
 * nameless. */
struct names_place {
	uint64_t start; /* that of struct symref */
	uint64_t build; /* hash of its file's build-id; 0: unknown, and for the kernel */
};
bool names_place(struct names *names, uint32_t symref, struct names_place *out);

/* Which functions share image and name with another one, as static functions may.  Generated code
 * is left out: a runtime compiles one function several times.  Valid for symrefs below n. */
struct namesakes {
	uint8_t *has; /* by symref: 0 or 1 */
	uint32_t n;
};
/* Returns 0 or -ENOMEM.  Release *out with namesakes_fini(). */
int names_namesakes(struct names *names, struct namesakes *out);
void namesakes_fini(struct namesakes *namesakes); /* a zeroed struct is legal */

/* Requests no symbols until names_resume(), while files cannot be told apart yet.  Names are
 * pending meanwhile. */
void names_hold(struct names *names);
void names_resume(struct names *names);

/* The place of the forest (forest.h) of these names: private to forest.c.  names_free() releases
 * it. */
struct forest;
struct forest **names_forest(struct names *names);

/* Takes in new results of symbols/.  Returns the epoch, a number that grows when frames get other
 * symrefs.  Sums by symref must then be recomputed. */
uint64_t names_update(struct names *names);

/* Waits until symbols/ has nothing left to do, then takes in its results.  Returns 0 or
 * -ETIMEDOUT. */
int names_wait(struct names *names, unsigned int timeout_ms);
uint64_t names_epoch(const struct names *names);
/* Returns a number that grows when kernel frames get other names. */
uint64_t names_kernel_epoch(const struct names *names);
/* Returns a number that grows when generated code gets names. */
uint64_t names_code_epoch(const struct names *names);
/* Returns a number that grows with the epoch, and when a name already returned is replaced.  The
 * old name is then freed. */
uint64_t names_changes(const struct names *names);

#endif
