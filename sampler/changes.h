/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * changes.h - code made at run time that took the place of other code: where, and since when; and
 * code without a file that turned out to be a file's.
 *
 * Such code lies in images of kind IMAGE_ANON, where offsets are addresses.  What lay at one
 * address, one after the other, is numbered from 0 on, and the offset of a frame has the number
 * above CHANGES_SHIFT: so each has a frame, and a name, of its own.
 *
 * Somebody tells of changes when they are known, which may be long after their time (symbols/ does
 * not, and so is told nothing of); the sampling thread takes them over between samples, for what it
 * has stored as well.
 */
#ifndef SAMPLER_CHANGES_H
#define SAMPLER_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANGES_SHIFT 48u
#define CHANGES_NUMBERS 32768u /* kernel addresses are not below */

struct code_change {
	uint64_t start; /* with the number */
	uint64_t since_ns; /* CLOCK_MONOTONIC; no earlier than that of the number before */
	uint32_t size;
};

/* Code at [start, end) of an image belongs to another image. */
struct code_move {
	uint32_t image, to;
	uint64_t start, end;
	uint64_t bias; /* added to an offset */
	uint64_t until_ns; /* samples up to that time */
};

struct changes;

int changes_new(struct changes **out); /* 0 or -ENOMEM */
void changes_free(struct changes *changes); /* NULL is a no-op */

/* All changes of an image, ascending by start and without overlaps, in place of those told before;
 * copied.  Any thread.  0 or -ENOMEM. */
int changes_tell(struct changes *changes, uint32_t image, const struct code_change *at, size_t n);

/* All of these hold for ever; those of one image do not overlap.  Any thread.  0 or -ENOMEM. */
int changes_move(struct changes *changes, const struct code_move *move);
/* Returns whether any of an image was moved. */
bool changes_moved(struct changes *changes, uint32_t image);

/* Ask for the changes of an image and wait for the answer, at most timeout_ms.  Returns 0 if
 * they are known; -ENODATA if the other side declined; -ETIME.  wake is called to wake the other
 * side, and not if the changes are known already.  The loading thread. */
int changes_ask(struct changes *changes, uint32_t image, void (*wake)(void *ctx), void *ctx,
	unsigned int timeout_ms);
/* Returns whether changes_ask() waits, and for which image.  changes_decline() answers that they
 * will not be known.  The thread that tells. */
bool changes_asked(struct changes *changes, uint32_t *image);
void changes_decline(struct changes *changes, uint32_t image);

/* Wait until the sampling thread has taken over what was told, at most so long; any thread. */
void changes_wait(struct changes *changes, unsigned int timeout_ms);

/* Returns an offset without the number above CHANGES_SHIFT. */
static inline uint64_t changes_plain(uint64_t offset)
{
	return offset >> CHANGES_SHIFT < CHANGES_NUMBERS
		? offset & ((UINT64_C(1) << CHANGES_SHIFT) - 1)
		: offset;
}

/* --- what one thread knows of them --- */

struct changes_of;

struct changes_known {
	struct changes *from; /* borrowed; NULL: there are none */
	uint64_t serial;
	struct changes_of *images; /* by image; those that have none are not there */
	size_t n_images;
	uint64_t *times; /* of all, ascending */
	size_t n_times;
	struct code_move *moves;
	size_t n_moves;
};

void changes_known_init(struct changes_known *known, struct changes *from);
void changes_known_fini(struct changes_known *known);

/* Take over what was told since.  *from_ns is the time from which on something is new; UINT64_MAX:
 * nothing is.  0 or -ENOMEM, and all is as before. */
int changes_take(struct changes_known *known, uint64_t *from_ns);
/* Call this when stored samples follow the changes that were taken: wakes changes_wait(). */
void changes_settled(const struct changes_known *known);

/* How many changes there were up to a time. */
static inline size_t changes_count(const struct changes_known *known, uint64_t time_ns)
{
	size_t low = 0, high = known->n_times;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (known->times[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Two times with the same state have the same code at every address. */
static inline uint64_t changes_state(const struct changes_known *known, uint64_t time_ns)
{
	return known->n_times ? changes_count(known, time_ns) + (known->serial << 32) : 0;
}

/* Replaces image and offset if they were moved. */
void changes_follow(
	const struct changes_known *known, uint32_t *image, uint64_t *offset, uint64_t time_ns);

bool changes_has(const struct changes_known *known, uint32_t image);
/* The offset, with or without a number, with that of the code that lay there at a time. */
uint64_t changes_offset(
	const struct changes_known *known, uint32_t image, uint64_t offset, uint64_t time_ns);

#endif
