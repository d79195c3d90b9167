/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_errno.h - a text for the errno of a file or call, to follow its name.
 */
#ifndef TUI_BASE_EXPLAIN_ERRNO_H
#define TUI_BASE_EXPLAIN_ERRNO_H

/* Returns a constant text that fits after "cannot write 'x': ".  error: positive or negative.  Any
 * thread. */
const char *explain_errno(int error);

#endif
