/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_name.h - where the symbols of a name are, in a file or the running kernel: for events that are named by a symbol.
 *
 * The loader opens the file and its separate debug file, the worker looks through all symbols.  Imported functions
 * ("malloc@plt") are none.  For the thread that calls symbols.h; nothing blocks but symbols_named_wait().
 */
#ifndef SYMBOLS_BY_NAME_H
#define SYMBOLS_BY_NAME_H

#include "symbols/symbols.h"

struct symbols_place {
	uint64_t address; /* as in the file; of the kernel: where it is */
	uint64_t offset; /* in the file; UINT64_MAX: not in it (.bss) */
	uint64_t size; /* 0: not told */
	bool data, weak, local;
	bool unwound; /* its language walks its own stacks at run time: C++, Rust, Go */
};

struct symbols_named; /* the answer */

/* Ask for a name as it is in the file (mangled), or demangled, with or without its arguments
 * ("ns::f(int)", "ns::f").  It may end in a version ("malloc@@GLIBC_2.2.5").  source: of
 * SYMBOLS_FILE (path, pid) or SYMBOLS_KERNEL; copied.  0 with *out for symbols_named_release(), or
 * -ENOMEM. */
int symbols_named_ask(struct symbols *symbols, const struct symbols_source *source,
	const char *name, struct symbols_named **out);
void symbols_named_release(
	struct symbols_named *named); /* NULL is a no-op; before symbols_free() */

/* PENDING, READY, NONE (no symbol of that name), UNREADABLE with *error, a positive errno: ENOENT, EACCES, ENOEXEC: no ELF
 * file, EOWNERDEAD: it killed the worker, ECHILD: there can be no worker. */
enum symbols_state symbols_named_state(const struct symbols_named *named, int *error);

/* With READY, until released. */
const struct symbols_place *symbols_named_places(const struct symbols_named *named, size_t *n);
/* The address, to a page, that the beginning of the file has in it: what is mapped lowest has it at run time. */
uint64_t symbols_named_base(const struct symbols_named *named);
bool symbols_named_is_fixed(
	const struct symbols_named *named); /* no PIE, no library: addresses stay */
/* With NONE, names that are nearly the same, the nearest first; NULL after the last. */
const char *symbols_named_near(const struct symbols_named *named, size_t i);
/* The file has no .symtab, and its debug file is not here: names that it keeps to itself are not known. */
bool symbols_named_is_stripped(const struct symbols_named *named);
/* The kernel shows no addresses (kptr_restrict). */
bool symbols_named_is_hidden(const struct symbols_named *named);

/* Until it has come, stop_fd can be read (-1: none), or the time is over.  Other news is for the next symbols_collect().  0, -EINTR, -ETIME. */
int symbols_named_wait(struct symbols *symbols, const struct symbols_named *named, int stop_fd,
	unsigned int timeout_ms);

#endif
