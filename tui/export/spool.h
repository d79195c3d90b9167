/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.h - copies input that can be read only once to an unnamed file below $TMPDIR.
 */
#ifndef TUI_EXPORT_SPOOL_H
#define TUI_EXPORT_SPOOL_H

/* Reads the descriptor `from` to its end.  Returns 0 and in *fd the copy, at its beginning; the
 * caller closes it.  Returns -errno and *fd = -1 on failure. */
int spool_stream(int from, int *fd);

#endif
