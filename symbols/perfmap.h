/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfmap.h - a parser of /tmp/perf-PID.map, fed with text in pieces of any size.  Pure.
 *
 * A line is "START SIZE NAME", the numbers in hexadecimal; the name goes to the end of the line
 * and may have spaces.  A line that has no end yet is still being written, and is left out.
 */
#ifndef SYMBOLS_PERFMAP_H
#define SYMBOLS_PERFMAP_H

#include "symbols/jitspans.h"

#include <stdbool.h>
#include <stddef.h>

#define PERFMAP_BYTES_MAX (64u << 20) /* read per file: half at its beginning, half at its end */
#define PERFMAP_LINE_MAX 65536 /* what is longer loses the end of its name */

/* What stands from so many bytes of the file on was written then. */
struct perfmap_step {
	uint64_t bytes, since_ns;
};
#define PERFMAP_STEPS_MAX 2048u

struct perfmap {
	struct jitspans *spans; /* borrowed */
	const struct perfmap_step *steps; /* borrowed; the caller may set them */
	size_t n_steps, step; /* step: where the search goes on */
	uint64_t at; /* position in the file of the text that is fed next */
	int error; /* the first one; all later calls do nothing */
	size_t len;
	char line[PERFMAP_LINE_MAX]; /* the start of a line whose end has not come */
};

void perfmap_init(struct perfmap *map, struct jitspans *spans);
void perfmap_feed(struct perfmap *map, const char *text, size_t len);

/* Read a file up to its current size.  A too large file loses its middle, and spans->cut_bytes
 * is set: the oldest and newest code stays.  steps: ascending; none: no time is known.  Returns
 * 0 or -errno. */
int perfmap_read(int fd, const struct perfmap_step *steps, size_t n_steps, struct jitspans *spans);

#endif
