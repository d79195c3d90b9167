/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.h - finds a source file that debug information names; symbols_source_read() reads it.
 */
#ifndef SYMBOLS_CLIENT_SOURCE_TEXT_H
#define SYMBOLS_CLIENT_SOURCE_TEXT_H

#include "symbols/client/code.h"

#include <stddef.h>

/* Finds the path that symbols_source_read() reads, for another program to open.  Returns 0; -EPERM
 * if another user's image names it, since that program would use this user's rights; -ENOENT or
 * -errno. */
int symbols_source_find(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, char *out, size_t size);

#endif
