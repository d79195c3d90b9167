/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names_private.h - a table of names from inside, for names*.c alone.
 *
 * names.c has symrefs, names_images.c what images are called and where their symbols come from, names_data.c data symbols.
 */
#ifndef TUI_NAMES_PRIVATE_H
#define TUI_NAMES_PRIVATE_H

#include "symbols/moved.h"
#include "tui/names.h"

enum ref_kind {
	REF_SYMBOL, /* key is the symbol's index */
	REF_ADDRESS, /* key is the offset */
	REF_WHOLE, /* all of the image */
	REF_INLINED, /* key is the address of its raw name, of which there is one */
	REF_FOREIGN, /* key is its own number */
};

struct ref {
	struct symref pub; /* pub.symbol is made when first asked for */
	uint64_t key;
	uint32_t
		table; /* of REF_ADDRESS: the version of the image's symbols when pub.symbol was made */
	uint8_t kind;
	bool uncertain; /* of REF_SYMBOL */
};

struct image_info {
	char *path; /* cleaned; NULL: not met yet */
	const char *name; /* within path */
	uint32_t version; /* grows when its frames must be asked for again */
	uint32_t table; /* symbols_version() */
	uint32_t twin; /* see names_twin(); 0: not asked */
	enum image_kind kind;
	enum symbols_state state;
	bool mismatch; /* the file is another than was recorded */
	bool unproven; /* see struct symref */
	bool has_source; /* there is somebody to ask */
	bool is_piece; /* see names_pieces.c */
};

struct frame_info {
	uint32_t symref;
	uint32_t version; /* of the image; 0: nothing known */
	uint16_t generation;
};

/* Code without a file that may be a file's. */
struct names_piece {
	uint32_t image;
	bool asked;
	struct symbols_piece question;
};

/* Of a frame, as long as names are frozen: what is inlined there, the function last. */
struct frozen_frame {
	uint32_t first, n; /* of lines */
};

/* A segment of an image's file, kept while names are frozen. */
struct frozen_segment {
	uint32_t image;
	struct symbols_segment segment;
};

#define NAMES_CHUNK 1024u /* refs */

struct names {
	const struct stacks *stacks;
	struct images *images;
	struct symbols *symbols;
	struct changes *code; /* told of changes of code; or NULL */
	uint64_t epoch, changes;
	struct frame_info *frames; /* by frame id */
	uint32_t n_frames;
	struct image_info *infos; /* by image id */
	uint32_t n_infos;
	struct ref **chunks;
	uint32_t n_refs;
	uint32_t *slots; /* open addressing over refs; 0: free, symref 0 is never looked up */
	uint32_t n_slots; /* a power of two */
	uint32_t *ugly; /* symrefs that may still get a pretty name */
	uint32_t n_ugly, ugly_room;
	char **modules; /* "[name]", and paths of files that name code made at run time */
	uint32_t n_modules;
	struct forest *forest; /* or NULL */
	bool held;
	bool is_frozen; /* the rest is of such alone (names_frozen.c) */
	struct frozen_frame *frozen; /* by frame id */
	uint32_t n_frozen;
	struct names_line *lines;
	uint32_t n_lines;
	struct frozen_segment *segments;
	uint32_t n_segments;
	struct names_piece *pieces; /* until it is known what they are */
	uint32_t n_pieces;
	bool lines_asked, data_asked; /* since the answers that came last */
};

/* What is known of an image, which is asked for when it is met for the first time.  NULL when out of memory. */
struct image_info *names_image(struct names *names, uint32_t id);
/* The image whose symrefs its symbols have: the same file at the same place, if there is one.
 * Other names of a file (hard links) have their own.  Of images that are ready. */
uint32_t names_twin(struct names *names, uint32_t id);
/* Ask for its symbols (again).  0 or -ENOMEM. */
int names_request(struct names *names, const struct image *image);
/* "[module]", shared. */
const char *names_module(struct names *names, const char *module);
/* A new symref of another profile's symbol; 0 when out of memory. */
uint32_t names_foreign(struct names *names, const char *symbol, const char *image);
/* "name", shared; other where there is no memory for it. */
const char *names_shared(struct names *names, const char *text, const char *other);
/* Where code of an image took the place of other code, to names->code. */
void names_tell_changes(struct names *names, uint32_t image);
/* To whom asks about an image: its changes, once its table is there, or that they will not be
 * known in time. */
void names_answer_changes(struct names *names);
/* --- names_pieces.c --- */

/* An image was met that may be moved code; then, where its code was executed. */
void names_meet_piece(struct names *names, uint32_t image);
void names_sample_piece(struct names *names, uint32_t image, uint64_t address);
/* Ask what the pieces are; what is known by now goes to names->code.  True: something does. */
bool names_tell_pieces(struct names *names);
/* The file that names code made at run time stands for its image. */
void names_jit(struct names *names, struct ref *ref, const char *file);

#endif
