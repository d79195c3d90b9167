/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.h - what can be read once only, kept in a file without a name below $TMPDIR.
 */
#ifndef TUI_EXPORT_SPOOL_H
#define TUI_EXPORT_SPOOL_H

/* Reads from to its end.  0 and *fd at the beginning of the copy; -errno and *fd = -1. */
int spool_stream(int from, int *fd);

#endif
