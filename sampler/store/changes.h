/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * changes.h - code replaced at run time, and code without a file that turned out to be a file's.
 *
 * Such code lies in images of kind IMAGE_ANON, in which offsets are addresses.  Successive pieces
 * of code at one address are numbered from 0.  The offset of a frame carries the number above
 * CHANGES_SHIFT, so each piece has its own frame and name.
 *
 * A caller reports changes with changes_tell(), possibly long after they happened.  The sampling
 * thread takes them over between samples and applies them to stored samples too.
 */
#ifndef SAMPLER_STORE_CHANGES_H
#define SAMPLER_STORE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANGES_SHIFT 48u
#define CHANGES_NUMBERS 32768u /* higher values are part of kernel addresses */

struct code_change {
	uint64_t start; /* includes the number */
	uint64_t since_ns; /* CLOCK_MONOTONIC; not before that of the previous number */
	uint32_t size;
};

/* Code at [start, end) of `image` belongs to the image `to`. */
struct code_move {
	uint32_t image, to;
	uint64_t start, end;
	uint64_t bias; /* added to an offset */
	uint64_t until_ns; /* applies to samples up to this time */
};

struct changes;

int changes_new(struct changes **out); /* 0 or -ENOMEM */
void changes_free(struct changes *changes); /* NULL is a no-op */

/* Replaces the list of an image's changes, sorted by start, without overlaps; copies it.  Any
 * thread.  Returns 0 or -ENOMEM. */
int changes_tell(struct changes *changes, uint32_t image, const struct code_change *at, size_t n);

/* Adds a move, for the life of the object; moves of one image do not overlap.  Moves beyond the
 * first 1000 are ignored.  Any thread.  Returns 0 or -ENOMEM. */
int changes_move(struct changes *changes, const struct code_move *move);
/* Returns whether any code of an image was moved. */
bool changes_moved(struct changes *changes, uint32_t image);

/* Requests the changes of an image and waits for the answer, at most timeout_ms.  wake() wakes the
 * answering thread; it is not called if the changes are already known.  Returns 0 if they are
 * known; -ENODATA if the answering thread declined; -ETIME.  The loading thread. */
int changes_ask(struct changes *changes, uint32_t image, void (*wake)(void *ctx), void *ctx,
	unsigned int timeout_ms);
/* Returns whether changes_ask() waits, and for which image.  changes_decline() answers that the
 * changes will stay unknown.  The thread that calls changes_tell(). */
bool changes_asked(struct changes *changes, uint32_t *image);
void changes_decline(struct changes *changes, uint32_t image);

/* Waits until the sampling thread has applied all reported changes, at most timeout_ms.  Any
 * thread. */
void changes_wait(struct changes *changes, unsigned int timeout_ms);

/* Returns an offset without the number above CHANGES_SHIFT. */
static inline uint64_t changes_plain(uint64_t offset)
{
	return offset >> CHANGES_SHIFT < CHANGES_NUMBERS
		? offset & ((UINT64_C(1) << CHANGES_SHIFT) - 1)
		: offset;
}

/* --- one thread's copy of the changes --- */

struct changes_of;

struct changes_known {
	struct changes *from; /* borrowed; NULL: no changes */
	uint64_t serial;
	struct changes_of *images; /* images that have reported changes */
	size_t n_images;
	uint64_t *times; /* since_ns of all changes, ascending */
	size_t n_times;
	struct code_move *moves;
	size_t n_moves;
};

void changes_known_init(struct changes_known *known, struct changes *from);
void changes_known_fini(struct changes_known *known);

/* Takes over the changes reported since the last call.  *from_ns is the earliest time with a
 * difference; UINT64_MAX if there is none.  Returns 0, or -ENOMEM with nothing changed. */
int changes_take(struct changes_known *known, uint64_t *from_ns);
/* Wakes changes_wait(); called when the stored samples follow the changes taken. */
void changes_settled(const struct changes_known *known);

/* Returns the number of changes up to a time. */
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

/* Returns a state: if two times have the same one, they have the same code at every address. */
static inline uint64_t changes_state(const struct changes_known *known, uint64_t time_ns)
{
	return known->n_times ? changes_count(known, time_ns) + (known->serial << 32) : 0;
}

/* Replaces image and offset if they were moved. */
void changes_follow(
	const struct changes_known *known, uint32_t *image, uint64_t *offset, uint64_t time_ns);

bool changes_has(const struct changes_known *known, uint32_t image);
/* Returns the offset with the number of the code that lay there at a time.  The given offset may
 * have any number or none. */
uint64_t changes_offset(
	const struct changes_known *known, uint32_t image, uint64_t offset, uint64_t time_ns);

#endif
