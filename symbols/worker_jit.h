/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker_jit.h - source lines of code made at run time, out of a jitdump.
 */
#ifndef SYMBOLS_WORKER_JIT_H
#define SYMBOLS_WORKER_JIT_H

#include "symbols/codetab.h"

/* Tell entries, ascending, whose starts are addresses, their lines: each that has one has one frame
 * then.  timed: as of jitdump_open().  1; 0: there are none; -errno. */
int worker_jit_lines(int fd, bool timed, struct codetab_builder *builder,
	struct codetab_entry *entries, size_t n);

#endif
