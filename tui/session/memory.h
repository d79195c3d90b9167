/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.h - an account of strobe's memory: history, names and tables, symbols, the allocator's
 * free memory, helpers, and the kernel's buffers.  UI thread.
 */
#ifndef TUI_SESSION_MEMORY_H
#define TUI_SESSION_MEMORY_H

#include "sampler/store/store.h"

#define MEMORY_TEXT_MAX 640

struct memory_account {
	/* this process: history + tables + unused + symbols + program - untouched */
	uint64_t resident;
	uint64_t history, history_limit; /* slices, stacks, tasks, fields; limited by --memory */
	uint64_t tables; /* all other allocations: names, sums, trees, rows, images */
	uint64_t unused; /* freed, but kept by the allocator */
	uint64_t symbols; /* symbol tables of files, as far as they were read */
	uint64_t program; /* resident code and data of the program and its libraries */
	uint64_t untouched; /* allocated, but not resident until it is written to */
	uint64_t helpers; /* resident in other processes; pages may be shared with this one */
	uint64_t buffers; /* in the kernel, which charges them to no process */
};

/* Returns the history's default size: bytes, or a quarter of the cgroup's limit if that is less.
 * *limit: the cgroup's limit if it counted, else 0. */
size_t memory_fit(size_t bytes, uint64_t cgroup_limit, uint64_t *limit);
/* Writes one sentence about that limit. */
void memory_explain_limit(uint64_t limit, size_t bytes, char out[MEMORY_TEXT_MAX]);

/* Measures the memory, with the symbols' helper processes.  Takes a few ms with thousands of
 * buffers.  tables and unused are 0 if the allocator does not report them. */
struct symbols;
void memory_measure(struct memory_account *out, const struct store_status *store,
	const struct symbols *symbols);

/* Writes the account as one sentence. */
void memory_describe(const struct memory_account *account, char out[MEMORY_TEXT_MAX]);

/* --- for tests --- */

/* Returns the bytes of "NAME:  123 kB" in the text of /proc/PID/status; 0 if none. */
uint64_t memory_parse_status(const char *text, const char *name);
/* Returns the length of a perf event buffer in a line of /proc/PID/maps; 0 if it is none. */
uint64_t memory_parse_buffer(const char *line);

#endif
