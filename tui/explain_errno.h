/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_errno.h - a sentence part for the errno of a file or call, without its name.
 */
#ifndef TUI_EXPLAIN_ERRNO_H
#define TUI_EXPLAIN_ERRNO_H

/* Returns a constant text that fits behind "cannot write 'x': ".  error: positive or negative.  Any
 * thread. */
const char *explain_errno(int error);

#endif
