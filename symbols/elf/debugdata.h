/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * debugdata.h - .gnu_debugdata, Fedora's "mini-debuginfo".
 *
 * It is a small ELF file with names of functions, packed by xz into the stripped file itself.  Runs
 * in the worker.
 */
#ifndef SYMBOLS_ELF_DEBUGDATA_H
#define SYMBOLS_ELF_DEBUGDATA_H

#include "symbols/elf/elffile.h"

/* Unpacks it into a memory file.  Returns an fd, which the caller owns; -ENODATA if there is none;
 * -EFBIG beyond the maxima of unpack.h; -EBADMSG if it is broken; -ENOMEM; or -errno. */
int debugdata_open(const struct elffile *elf);

#endif
