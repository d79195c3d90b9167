/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bits.h - sets of small numbers, a bit for each.  Pure functions; any thread.
 */
#ifndef TUI_BASE_BITS_H
#define TUI_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define BITS_WORD 64u

static inline void bits_add(uint64_t *words, uint32_t number)
{
	words[number / BITS_WORD] |= UINT64_C(1) << number % BITS_WORD;
}

static inline void bits_remove(uint64_t *words, uint32_t number)
{
	words[number / BITS_WORD] &= ~(UINT64_C(1) << number % BITS_WORD);
}

static inline bool bits_has(const uint64_t *words, uint32_t n_words, uint32_t number)
{
	return number / BITS_WORD < n_words && words[number / BITS_WORD] >> number % BITS_WORD & 1;
}

/* Iterates over a set in rising order.  Numbers already returned may be removed during the walk. */
struct bits_walk {
	const uint64_t *words;
	uint32_t n_words, next; /* index of the word after `left` */
	uint64_t left;
};

static inline struct bits_walk bits_walk(const uint64_t *words, uint32_t n_words)
{
	return (struct bits_walk){.words = words, .n_words = n_words};
}

static inline bool bits_next(struct bits_walk *walk, uint32_t *number)
{
	while (!walk->left) {
		if (walk->next == walk->n_words)
			return false;
		walk->left = walk->words[walk->next++];
	}
	*number = (walk->next - 1) * BITS_WORD + (uint32_t)__builtin_ctzll(walk->left);
	walk->left &= walk->left - 1;
	return true;
}

#endif
