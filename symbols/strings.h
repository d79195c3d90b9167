/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strings.h - strings kept once each, numbered, at addresses that stay.  One thread.
 */
#ifndef SYMBOLS_STRINGS_H
#define SYMBOLS_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct strings_chunk;

/* Begin with zeroes. */
struct strings {
	struct strings_chunk *chunks;
	const char **texts; /* by number */
	uint32_t *slots; /* number + 1; open addressing, at most half full */
	uint32_t n, cap, slots_cap;
};

void strings_fini(struct strings *strings);

/* The number of a string, or -ENOMEM. */
int64_t strings_add(struct strings *strings, const char *text);

#endif
