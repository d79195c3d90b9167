/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * times.h - the time of each sample in a recording, which the store drops.
 *
 * The loading thread adds samples; other threads read after loading has ended.  A sample takes
 * about twelve bytes.  Samples beyond the limit of bytes have no time.
 */
#ifndef TUI_SESSION_TIMES_H
#define TUI_SESSION_TIMES_H

#include "sampler/recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct times;

/* A sample with the ids of a slice's cell (store.h). */
struct times_sample {
	uint64_t time_ns, weight;
	uint32_t stack, task;
	uint16_t cpu;
	uint8_t event;
};

int times_new(struct times **out, size_t bytes_max);
void times_free(struct times *times); /* NULL is a no-op */

/* A recording_tap that adds the sample to the times in ctx.  Returns 0. */
int times_tap(const struct recording_sample *sample, void *ctx);
void times_add(struct times *times, const struct times_sample *sample);

/* A position in the order of adding.  Zeroed except for times, it is at the first sample. */
struct times_cursor {
	const struct times *times; /* NULL: no samples */
	size_t block, at;
	struct times_sample before; /* sample that the next one's differences refer to */
};
bool times_next(struct times_cursor *cursor, struct times_sample *out);

#endif
