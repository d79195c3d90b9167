/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dwarf.h - DWARF 2 to 5 of an open file: source lines and inlined functions of addresses.
 *
 * Uses libdw, which reads what libbfd does not (range lists of DWARF 5).  Only units that cover an
 * address asked for are read, and what was read of the last files stays for the next question.  Runs in the worker;
 * every number in a file is taken for hostile.
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
	const int *parts; /* split units: .dwo files */
	size_t n_parts;
};

/* Begin to read, or go on with what an earlier question with the same files (by device, inode, size and time) left open.
 * 0 with *out, which stays dwarf.c's until dwarf_forget(); -ENODATA: no debug information; -EBADMSG; -errno. */
int dwarf_open(struct dwarf **out, const struct dwarf_files *files);
void dwarf_forget(void); /* close all that is open */

/* What is known of n virtual addresses of the file (ascending): for each, its frames go to builder, and into entries[i] frames and n_frames.
 * Addresses without debug information get none.  0 or -errno. */
int dwarf_lines(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries);

/* What the file needs and was not given: names of .dwo files as the compiler wrote them (made absolute with its directory where
 * that is known), of units that cover the last question's addresses.  NULL after the last one.  Borrowed until the next question. */
const char *dwarf_missing(const struct dwarf *dwarf, size_t i);

/* The functions, and all source lines with code, of a whole unit would be too much: the first line (decl_line) and the file of the function that covers
 * an address.  False: not known. */
bool dwarf_function(struct dwarf *dwarf, uint64_t address, struct codetab_builder *builder,
	struct codetab_frame *out, uint64_t *start, uint64_t *end);

#endif
