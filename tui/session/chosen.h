/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chosen.h - the processes that the user chose in the picker, for the title line.
 *
 * Plain data; UI thread.
 */
#ifndef TUI_SESSION_CHOSEN_H
#define TUI_SESSION_CHOSEN_H

#include "sampler/machine/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOSEN_MAX 64
/* time limit for following a process, in ns */
#define CHOSEN_ATTACH_NS 3000000000ull

struct chosen {
	struct {
		struct proc_name name;
		bool followed; /* was followed at some time */
		uint64_t asked_ns;
	} processes[CHOSEN_MAX];
	size_t n;
};

/* Adds a process that is followed already, or was requested at now_ns.  Ignored if CHOSEN_MAX are
 * stored. */
void chosen_add(struct chosen *chosen, int32_t pid, bool followed, uint64_t now_ns);
void chosen_remove(struct chosen *chosen, int32_t pid);

/* Removes processes that ended or could not be followed.  pids: those followed now.  If all are
 * gone, the last ones stay, since the screen still shows them.  Returns true if the list
 * changed. */
bool chosen_prune(struct chosen *chosen, const int32_t *pids, size_t n, uint64_t now_ns);

/* Sets the name that a process executed last, not cleaned.  It also names a process that ends
 * before /proc is read again. */
void chosen_executed(struct chosen *chosen, int32_t pid, const char *comm);

/* Formats "postgres (4711) and 2 more", cleaned, with the current or last known name. */
void chosen_describe(struct chosen *chosen, char *out, size_t size);

#endif
