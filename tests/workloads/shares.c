// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * shares.c - CPU time in known shares: shares_hot 70, shares_warm 20, shares_cool 10 percent.
 *
 * The shares are shares of work, not of a clock.  Each call runs one number of one kind of
 * instruction: a long chain of dependent ones, whose speed does not depend on the address of the
 * code.  The calls come in the order of a shuffled deck, so no sampling rate beats with them.  The
 * function shares_warm() is in a shared library and is called through the PLT.
 *
 * usage: shares [SECONDS]     0, the default: no end
 */
#include "shares.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HOT 70
#define WARM 20
#define CARDS 100

uint64_t shares_hot(uint64_t x);
uint64_t shares_cool(uint64_t x);

__attribute__((noinline, aligned(64))) uint64_t shares_hot(uint64_t x)
{
	SHARES_WORK(x, 0x9e3779b97f4a7c15u);
	return x;
}

__attribute__((noinline, aligned(64))) uint64_t shares_cool(uint64_t x)
{
	SHARES_WORK(x, 0xc2b2ae3d27d4eb4fu);
	return x;
}

static void shuffle(uint8_t *cards, uint64_t seed)
{
	for (unsigned int i = CARDS - 1; i > 0; i--) {
		unsigned int j = (unsigned int)(seed >> 33) % (i + 1);
		uint8_t card = cards[i];

		cards[i] = cards[j];
		cards[j] = card;
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	}
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct timespec begin, now;
	uint8_t cards[CARDS];
	uint64_t x = 1;

	for (unsigned int i = 0; i < CARDS; i++)
		cards[i] = i < HOT ? 0 : i < HOT + WARM ? 1 : 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		shuffle(cards, x);
		for (unsigned int i = 0; i < CARDS; i++) {
			if (cards[i] == 0)
				x = shares_hot(x);
			else if (cards[i] == 1)
				x = shares_warm(x);
			else
				x = shares_cool(x);
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!seconds || (unsigned long)(now.tv_sec - begin.tv_sec) < seconds ||
		((unsigned long)(now.tv_sec - begin.tv_sec) == seconds &&
			now.tv_nsec < begin.tv_nsec));
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
