/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - internals of a table of names, for names*.c only.
 *
 * names.c has the symrefs, images.c the names of images and the sources of their symbols,
 * data.c the data symbols.
 */
#ifndef TUI_NAMES_PRIVATE_H
#define TUI_NAMES_PRIVATE_H

#include "symbols/client/moved.h"
#include "tui/names/names.h"

enum ref_kind {
	REF_SYMBOL, /* key: index of the symbol */
	REF_ADDRESS, /* key: the offset */
	REF_WHOLE, /* the whole image */
	REF_INLINED, /* key: address of the raw name, of which there is one copy */
	REF_FOREIGN, /* key: its own number */
};

struct ref {
	struct symref pub; /* pub.symbol is made on first use */
	uint64_t key;
	uint32_t table; /* for REF_ADDRESS: image_info.table when pub.symbol was made */
	uint8_t kind;
	bool uncertain; /* for REF_SYMBOL */
};

struct image_info {
	char *path; /* cleaned; NULL: not met yet */
	const char *name; /* points into path */
	uint32_t version; /* grows when the symrefs of its frames change */
	uint32_t table; /* last symbols_version() */
	uint32_t twin; /* see names_twin(); 0: not computed yet */
	enum image_kind kind;
	enum symbols_state state;
	bool mismatch; /* the file is not the recorded one */
	bool unproven; /* see struct symref */
	bool has_source; /* symbols can be requested */
	bool is_piece; /* see pieces.c */
};

struct frame_info {
	uint32_t symref;
	uint32_t version; /* image_info.version at the lookup; 0: none */
	uint16_t generation;
};

/* Code without a file that may be code of a file. */
struct names_piece {
	uint32_t image;
	bool asked;
	struct symbols_piece question;
};

/* A frame in frozen names: its inlined functions and, as the last one, the function. */
struct frozen_frame {
	uint32_t first, n; /* range in lines */
};

/* A segment of an image's file, in frozen names. */
struct frozen_segment {
	uint32_t image;
	struct symbols_segment segment;
};

#define NAMES_CHUNK 1024u /* number of refs */

struct names {
	const struct stacks *stacks;
	struct images *images;
	struct symbols *symbols;
	struct changes *code; /* receives changes of code; or NULL */
	uint64_t epoch, kernel_epoch, code_epoch, changes;
	struct frame_info *frames; /* by frame id */
	uint32_t n_frames;
	struct image_info *infos; /* by image id */
	uint32_t n_infos;
	struct ref **chunks;
	uint32_t n_refs;
	uint32_t *slots; /* open addressing over refs; 0: free, since symref 0 is never looked up */
	uint32_t n_slots; /* a power of two */
	uint32_t *ugly; /* symrefs that may still get a demangled name */
	uint32_t n_ugly, ugly_room;
	char **modules; /* "[name]", and paths of files that name generated code */
	uint32_t n_modules;
	struct forest *forest; /* or NULL */
	bool held;
	bool is_frozen; /* a copy by names_freeze(); only then the next fields are used */
	struct frozen_frame *frozen; /* by frame id */
	uint32_t n_frozen;
	struct names_line *lines;
	uint32_t n_lines;
	struct frozen_segment *segments;
	uint32_t n_segments;
	struct names_piece *pieces; /* pieces still being compared */
	uint32_t n_pieces;
	bool lines_asked, data_asked; /* requests since the last answers */
};

/* Returns the data of an image; the first call requests its symbols.  Returns NULL if memory runs
 * out. */
struct image_info *names_image(struct names *names, uint32_t id);
/* Returns the image that owns the symrefs for the symbols of this one, which must be ready: another
 * image of the same file at the same path, or the image itself.  Hard links have their own
 * symrefs. */
uint32_t names_twin(struct names *names, uint32_t id);
/* Requests the image's symbols (again).  Returns 0 or -ENOMEM. */
int names_request(struct names *names, const struct image *image);
/* Returns "[module]", shared. */
const char *names_module(struct names *names, const char *module);
/* Returns whether a symbol has a name and a fixed place: it is neither inlined nor generated. */
bool names_is_lasting(const struct names *names, const struct symref *symbol);
/* Adds a symref for another profile's symbol.  Returns 0 if memory runs out. */
uint32_t names_foreign(struct names *names, const char *symbol, const char *image, uint64_t start);
/* Returns a shared copy of text; `other` if memory runs out. */
const char *names_shared(struct names *names, const char *text, const char *other);
/* Reports to names->code where code of an image replaced other code. */
void names_tell_changes(struct names *names, uint32_t image);
/* Answers a question in names->code about the changes of an image, once its table is here.
 * Declines it if they will not be known in time. */
void names_answer_changes(struct names *names);
/* --- pieces.c --- */

/* names_meet_piece() adds an image that may be moved code, names_sample_piece() an address where
 * its code ran. */
void names_meet_piece(struct names *names, uint32_t image);
void names_sample_piece(struct names *names, uint32_t image, uint64_t address);
/* Requests comparisons of the pieces and reports results to names->code.  Returns true if it
 * reported any. */
bool names_tell_pieces(struct names *names);
/* Uses the file that names generated code as the image of a ref. */
void names_jit(struct names *names, struct ref *ref, const char *file);

#endif
