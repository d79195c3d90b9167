/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.h - where a source file is that debug information names; code.h's symbols_source_read() reads it.
 */
#ifndef SYMBOLS_SOURCE_TEXT_H
#define SYMBOLS_SOURCE_TEXT_H

#include "symbols/symbols.h"

#include <stddef.h>

/* The path that symbols_source_read() would read, for another program to open: of a process in another root it leads
 * through /proc.  0; -ENOENT, -errno. */
int symbols_source_find(const struct symbols_source *image, const char *file,
	const char *const *prefixes, char *out, size_t size);

#endif
