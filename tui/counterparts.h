/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * counterparts.h - which processes, or threads, of one profile are those of another.
 *
 * Those of the same number and name; of what is left, the only ones of their name on both sides, as programs have that were
 * started again; a main thread and the others of its name are two names.
 */
#ifndef TUI_COUNTERPARTS_H
#define TUI_COUNTERPARTS_H

#include <stdbool.h>
#include <stdint.h>

struct counterpart {
	int64_t id; /* pid or tid */
	const char *name;
	bool is_main; /* a thread whose number is that of its process */
};

#define COUNTERPART_NONE UINT32_MAX /* nothing here that is left has the name */
#define COUNTERPART_UNKNOWN (UINT32_MAX - 1) /* several are left that have it, here or there */

/* For each of `there` the place of what it is among `here`, or why there is none; and which of those here have an unknown one
 * there.  The same process may come more than once on either side.  0 or -ENOMEM. */
int counterparts_find(const struct counterpart *here, uint32_t n_here,
	const struct counterpart *there, uint32_t n_there, uint32_t *places, bool *unknown);

#endif
