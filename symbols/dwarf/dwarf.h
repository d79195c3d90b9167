/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dwarf.h - DWARF 2 to 5 of an open file: source lines and inlined functions of addresses.
 *
 * The reader opens no file by name: all files are given as descriptors, including split units and
 * alternate files.  It unpacks sections only as far as needed, and reads only units that cover an
 * address asked for.  The last files stay open for the next question.  Runs in the worker, one
 * thread; every number in a file may be hostile.
 */
#ifndef SYMBOLS_DWARF_DWARF_H
#define SYMBOLS_DWARF_DWARF_H

#include "symbols/wire/codetab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf;

#define DWARF_PARTS_MAX 16 /* split parts in one question */

struct dwarf_files {
	int file; /* the image's file, with or without debug information */
	int debug; /* its separate debug file; -1: none */
	int alt; /* the file that .gnu_debugaltlink names (dwz); -1: none */
	const int *parts; /* split units: .dwo files, or one .dwp file with all of them */
	size_t n_parts;
};

/* Opens files, or reuses those left open by an earlier question (equal device, inode, size and
 * time).  Parts are added to earlier ones.  The caller owns all descriptors and may close them.
 * The files are mapped: one that is truncated later ends the process with SIGBUS.  Returns 0 with
 * *out, which dwarf.c owns until dwarf_forget() or the next dwarf_open().  Returns -ENODATA: no
 * debug information; -ENOTSUP: an unlinked file (.ko) with unknown relocations; -EBADMSG; -errno.
 * Addresses of unlinked files are those of unlinked.h. */
int dwarf_open(struct dwarf **out, const struct dwarf_files *files);
void dwarf_forget(void); /* closes all that is open */

/* Unpacks more of the file used last, for later questions; takes some milliseconds.  Returns false
 * if no more is left.  Call it while no question waits. */
bool dwarf_idle(void);

/* Finds the frames of n virtual addresses of the file (ascending).  The frames go to builder;
 * entries[i] gets their frames and n_frames.  Addresses without debug information get none.  An
 * address with only a line gets one frame without a function.  Returns 0 or -errno.  -ELOOP: a
 * broken file would take too much work; answers found until then are kept, the rest get none.
 * -ENOMEM: dwarf_forget() frees memory. */
int dwarf_lines(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries);

/* Like dwarf_lines(), but finds lines alone, if hundreds of megabytes would have to be unpacked
 * first.  Each address gets one frame without a function, for the innermost line.  Returns 1 with
 * these; 0 if it saves no time or finds no line: call dwarf_lines() then; or -ENOMEM. */
int dwarf_lines_quick(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries);

/* Unpacks some of the data that dwarf_lines() needs for an address; takes some milliseconds.
 * Returns false if little is left to unpack, or on errors. */
bool dwarf_prepare(struct dwarf *dwarf, uint64_t address);

/* Returns file `i` that the last question needed but was not given; NULL after the last one.  It is
 * a .dwo file as the compiler named it, made absolute with the compiler's directory if known.
 * Borrowed until the next question.  The program's name with ".dwp" appended is another place to
 * look for all of them. */
const char *dwarf_missing(const struct dwarf *dwarf, size_t i);

/* Finds the function that covers an address; inlined ones do not count.  `out` gets its name, and
 * the file and line of its declaration (line is decl_line). [*start, *end) is its range around the
 * address, up to the first gap.  Returns false if unknown. */
bool dwarf_function(struct dwarf *dwarf, uint64_t address, struct codetab_builder *builder,
	struct codetab_frame *out, uint64_t *start, uint64_t *end);

#endif
