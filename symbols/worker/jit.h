/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit.h - source lines of code made at run time, from a jitdump. */
#ifndef SYMBOLS_WORKER_JIT_H
#define SYMBOLS_WORKER_JIT_H

#include "symbols/wire/codetab.h"

/* Sets the lines of entries, whose starts are addresses in ascending order.  Each entry with a line
 * gets one frame.  timed: see jitdump_open().  Returns 1; 0 if there are no lines; -errno. */
int worker_jit_lines(int fd, bool timed, struct codetab_builder *builder,
	struct codetab_entry *entries, size_t n);

#endif
