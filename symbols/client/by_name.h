/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_name.h - finds the symbols of a name in a file or the running kernel.
 *
 * Serves events that are named by a symbol.  The loader opens the file and its separate debug file,
 * the worker searches all symbols.  Imported functions ("malloc@plt") do not count.  Runs in the
 * thread of symbols.h; only symbols_named_wait() blocks.
 */
#ifndef SYMBOLS_CLIENT_BY_NAME_H
#define SYMBOLS_CLIENT_BY_NAME_H

#include "symbols/client/symbols.h"

struct symbols_place {
	uint64_t address; /* address in the file; kernel: address at run time */
	uint64_t offset; /* in the file; UINT64_MAX: not in it (.bss) */
	uint64_t size; /* 0: unknown */
	bool data, weak, local;
	bool unwound; /* its language unwinds its own stacks at run time: C++, Rust, Go */
};

struct symbols_named; /* the answer */

/* Asks for a name, either mangled (the file's form), or demangled, with or without its arguments
 * ("ns::f(int)", "ns::f").  It may end in a version ("malloc@@GLIBC_2.2.5").  source: a
 * SYMBOLS_FILE (path, pid) or SYMBOLS_KERNEL; copied.  Returns 0 with *out for
 * symbols_named_release(), or -ENOMEM. */
int symbols_named_ask(struct symbols *symbols, const struct symbols_source *source,
	const char *name, struct symbols_named **out);
void symbols_named_release(
	struct symbols_named *named); /* NULL is a no-op; before symbols_free() */

/* Returns PENDING, READY, NONE (no symbol of that name) or UNREADABLE.  *error is then a positive
 * errno: ENOENT, EACCES, ENOEXEC (no ELF file), EOWNERDEAD (the worker was killed by it), ECHILD
 * (no worker can be started), or another. */
enum symbols_state symbols_named_state(const struct symbols_named *named, int *error);

/* Returns the places, after READY; valid until released. */
const struct symbols_place *symbols_named_places(const struct symbols_named *named, size_t *n);
/* Returns the page-aligned link address of the file's first byte.  The lowest mapping has it at run
 * time. */
uint64_t symbols_named_base(const struct symbols_named *named);
bool symbols_named_is_fixed(
	const struct symbols_named *named); /* neither PIE nor library: addresses stay */
/* Returns name `i` of the most similar ones, after NONE, best first; NULL after the last.  Valid
 * until released. */
const char *symbols_named_near(const struct symbols_named *named, size_t i);
/* Returns true if the file has no .symtab and its debug file is not here: its local names are
 * unknown. */
bool symbols_named_is_stripped(const struct symbols_named *named);
/* Returns true if the kernel shows no addresses (kptr_restrict). */
bool symbols_named_is_hidden(const struct symbols_named *named);

/* Waits for the answer until stop_fd is readable (-1: none) or the time is over.  The next
 * symbols_collect() reports other changes.  Returns 0, -EINTR or -ETIME. */
int symbols_named_wait(struct symbols *symbols, const struct symbols_named *named, int stop_fd,
	unsigned int timeout_ms);

#endif
