/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counterparts.h - matches the processes, threads or images of one profile to those of another.
 *
 * Equal number and name match first.  Two remaining entries match if each is the only one of its
 * name on its side, like a program that was restarted.  A main thread and other threads of its name
 * count as two names.  Pure functions; any thread.
 */
#ifndef TUI_TABLES_COUNTERPARTS_H
#define TUI_TABLES_COUNTERPARTS_H

#include <stdbool.h>
#include <stdint.h>

struct counterpart {
	int64_t id; /* pid, tid, or hash of the exact name of an image */
	const char *name;
	bool is_main; /* a thread with tid == pid */
};

/* no unmatched entry of `here` has this name */
#define COUNTERPART_NONE UINT32_MAX
/* several unmatched entries have the name, here or there */
#define COUNTERPART_UNKNOWN (UINT32_MAX - 1)

/* For each entry of `there`, stores the index of its match in `here`, or COUNTERPART_NONE or
 * _UNKNOWN. unknown[] is set for entries of `here` with an unknown match.  A process may be
 * repeated on either side.  Returns 0 or -ENOMEM. */
int counterparts_find(const struct counterpart *here, uint32_t n_here,
	const struct counterpart *there, uint32_t n_there, uint32_t *places, bool *unknown);

#endif
