/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dwarf.h - DWARF 2 to 5 of an open file: source lines and inlined functions of addresses.
 *
 * A reader of our own, which opens nothing by name: all files come as descriptors, split units and
 * alternate files too.  Sections are unpacked only as far as they are needed, and only units that
 * cover an address asked for are read; what was unpacked of the last files stays for the next
 * question.  Runs in the worker, one thread; every number in a file is taken for hostile.
 */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include "symbols/codetab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf;

#define DWARF_PARTS_MAX 16 /* split parts given with one question */

struct dwarf_files {
	int file; /* with the debug information, or without any */
	int debug; /* its separate debug file; -1: none */
	int alt; /* the file that .gnu_debugaltlink names (dwz); -1: none */
	const int *parts; /* split units: .dwo files, or one .dwp file with all of them */
	size_t n_parts;
};

/* Begin to read, or go on with what an earlier question with the same files (by device, inode, size
 * and time) left open; parts are added to those given before.  All descriptors stay the caller's,
 * who may close them.  The files are mapped: one that is cut meanwhile ends the process with
 * SIGBUS.  0 with *out, which stays dwarf.c's until dwarf_forget() or the next dwarf_open();
 * -ENODATA: no debug information; -ENOTSUP: a file not yet linked (.ko), of a machine whose
 * relocations are not known; -EBADMSG; -errno.  Addresses of such files are those of unlinked.h. */
int dwarf_open(struct dwarf **out, const struct dwarf_files *files);
void dwarf_forget(void); /* close all that is open */

/* Do some milliseconds of what later questions about the file used last will need: unpack more of
 * its sections.  False when there is nothing to do.  For times when no question waits. */
bool dwarf_idle(void);

/* What is known of n virtual addresses of the file (ascending): for each, its frames go to builder,
 * and into entries[i] frames and n_frames.  Addresses without debug information get none; where
 * only the line is known there is one frame, without a function.
 * 0 or -errno: -ELOOP where a broken file would have been too much work: what was found until then
 * is there, the rest gets none; -ENOMEM, after which dwarf_forget() helps. */
int dwarf_lines(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries);

/* The same, but lines alone, where more would take long, since hundreds of megabytes have to be
 * unpacked: each address has one frame without a function, of the innermost line.  1 with these; 0
 * where there is nothing to be gained, or nothing was found: dwarf_lines() is to be asked; -errno. */
int dwarf_lines_quick(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries);

/* Do some milliseconds of what dwarf_lines() will need for an address.  False when that would not
 * be kept from an answer by more of it. */
bool dwarf_prepare(struct dwarf *dwarf, uint64_t address);

/* What the file needs and was not given: names of .dwo files as the compiler wrote them (made
 * absolute with its directory where that is known), of units that cover the last question's
 * addresses.  NULL after the last one.  Borrowed until the next question.  The program's name with
 * ".dwp" put after it is another place to look for all of them. */
const char *dwarf_missing(const struct dwarf *dwarf, size_t i);

/* The function that covers an address, inlined ones not counted: its name, and the file and line
 * where it is declared (line is decl_line), and the range it has there, as far as it is without
 * gaps.  False: not known. */
bool dwarf_function(struct dwarf *dwarf, uint64_t address, struct codetab_builder *builder,
	struct codetab_frame *out, uint64_t *start, uint64_t *end);

#endif
