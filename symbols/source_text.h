/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.h - where a source file is that debug information names; code.h's symbols_source_read() reads it.
 */
#ifndef SYMBOLS_SOURCE_TEXT_H
#define SYMBOLS_SOURCE_TEXT_H

#include "symbols/code.h"

#include <stddef.h>

/* Returns the path of symbols_source_read(), for another program to open.  0; -EPERM: another
 * user's image names it, so that program would open it with this user's rights; -ENOENT, -errno. */
int symbols_source_find(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, char *out, size_t size);

#endif
