/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfmap.h - a parser of /tmp/perf-PID.map, fed with text in pieces of any size.  Pure.
 *
 * A line is "START SIZE NAME" with hexadecimal numbers.  The name extends to the end of the line
 * and may contain blanks.  A line without an end is still being written, and is ignored.
 */
#ifndef SYMBOLS_JIT_PERFMAP_H
#define SYMBOLS_JIT_PERFMAP_H

#include "symbols/jit/jitspans.h"

#include <stdbool.h>
#include <stddef.h>

/* read per file: all, or half at its beginning and half at its end */
#define PERFMAP_BYTES_MAX (64u << 20)
#define PERFMAP_LINE_MAX 65536 /* a longer line loses the end of its name */

/* The file's text from byte `bytes` on was written at since_ns. */
struct perfmap_step {
	uint64_t bytes, since_ns;
};
#define PERFMAP_STEPS_MAX 2048u

struct perfmap {
	struct jitspans *spans; /* borrowed */
	const struct perfmap_step *steps; /* borrowed; the caller may set them */
	size_t n_steps, step; /* step: current position of the search */
	uint64_t at; /* file offset of the text fed next */
	int error; /* the first error; later calls do nothing */
	size_t len;
	char line[PERFMAP_LINE_MAX]; /* beginning of a line whose end is missing so far */
};

void perfmap_init(struct perfmap *map, struct jitspans *spans);
void perfmap_feed(struct perfmap *map, const char *text, size_t len);

/* Reads a file up to its current size.  A too large file loses its middle, so the oldest and newest
 * code stays, and spans->cut_bytes is set.  steps: ascending; without any, no time is known.
 * Returns 0 or -errno. */
int perfmap_read(int fd, const struct perfmap_step *steps, size_t n_steps, struct jitspans *spans);

#endif
