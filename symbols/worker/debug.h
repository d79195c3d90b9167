/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * debug.h - decides whether a file is the separate debug file of another.
 *
 * Runs in the worker.
 */
#ifndef SYMBOLS_WORKER_DEBUG_H
#define SYMBOLS_WORKER_DEBUG_H

#include "symbols/elf/elffile.h"

/* Returns whether both files are for the same kind of machine. */
bool worker_debug_is_alike(const struct elffile *a, const struct elffile *b);

/* Opens the separate debug file of elf, for elffile_close().  linked: it has the CRC-32 of elf's
 * link.  Returns false if fd is not that file; then there is nothing to close. */
bool worker_debug_open(const struct elffile *elf, int fd, bool linked, struct elffile *debug);

#endif
