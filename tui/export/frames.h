/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames.h - the functions on a profile's stacks, numbered in order of first use.
 *
 * One number per symref, for formats with a table of functions.  The thread of the export.
 */
#ifndef TUI_EXPORT_FRAMES_H
#define TUI_EXPORT_FRAMES_H

#include "tui/export/profile.h"

#include <stdint.h>

struct frames {
	uint32_t *numbers; /* number + 1, by symref */
	uint32_t numbers_room;
	uint32_t *symrefs; /* by number */
	uint32_t n, room;
	uint32_t *path; /* result of frames_stack() */
	uint32_t path_room;
};

void frames_fini(struct frames *frames); /* a zeroed struct is legal */

/* Finds or adds the number of a symref.  Returns 0 or -ENOMEM. */
int frames_number(struct frames *frames, uint32_t symref, uint32_t *number);

/* Stores the numbers of a stack in frames->path, leaf first, valid until the next call.  *n is at
 * least 1.  Returns 0 or -ENOMEM. */
int frames_stack(struct frames *frames, const struct profile *profile, uint32_t stack, uint32_t *n);

#endif
