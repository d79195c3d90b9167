/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chosen.h - the processes that the user chose in the picker, as the title line tells them.
 *
 * Plain data; UI thread.
 */
#ifndef TUI_CHOSEN_H
#define TUI_CHOSEN_H

#include "sampler/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOSEN_MAX 64
#define CHOSEN_ATTACH_NS 3000000000ull /* by then a process is followed, or could not be */

struct chosen {
	struct {
		struct proc_name name;
		bool followed; /* has been */
		uint64_t asked_ns;
	} processes[CHOSEN_MAX];
	size_t n;
};

/* One that is followed already, or was asked for at now_ns.  More than CHOSEN_MAX are not told. */
void chosen_add(struct chosen *chosen, int32_t pid, bool followed, uint64_t now_ns);
void chosen_remove(struct chosen *chosen, int32_t pid);

/* Leave out what ended or could not be followed, where pids are the followed ones.  The last ones stay: they tell
 * what is on the screen.  Whether anything changed. */
bool chosen_prune(struct chosen *chosen, const int32_t *pids, size_t n, uint64_t now_ns);

/* What it executed last, raw; also of one that ends before /proc is asked again. */
void chosen_executed(struct chosen *chosen, int32_t pid, const char *comm);

/* "postgres (4711) and 2 more", cleaned; with the current or last known name. */
void chosen_describe(struct chosen *chosen, char *out, size_t size);

#endif
