/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * debugdata.h - .gnu_debugdata: a small ELF file with the names of functions, packed by xz into the stripped file itself, as
 * Fedora does ("mini-debuginfo").
 *
 * Runs in the worker.
 */
#ifndef SYMBOLS_DEBUGDATA_H
#define SYMBOLS_DEBUGDATA_H

#include "symbols/elffile.h"

/* Unpack it into a memory file.  An fd, which is the caller's; -ENODATA: there is none; -EFBIG beyond the maxima of unpack.h; -EBADMSG for
 * what is broken; -ENOMEM; -errno. */
int debugdata_open(const struct elffile *elf);

#endif
