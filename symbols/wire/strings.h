/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strings.h - strings stored once each, with numbers and fixed addresses.  For one thread. */
#ifndef SYMBOLS_WIRE_STRINGS_H
#define SYMBOLS_WIRE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct strings_chunk;

/* Initialise with zeros. */
struct strings {
	struct strings_chunk *chunks;
	const char **texts; /* by number */
	uint32_t *slots; /* number + 1; open addressing, at most half full */
	uint32_t n, slots_cap;
	size_t cap; /* capacity of texts */
};

void strings_fini(struct strings *strings);

/* Returns the number of a string, added if new; -ENOMEM. */
int64_t strings_add(struct strings *strings, const char *text);

#endif
