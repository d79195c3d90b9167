/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * name_bomb.h - a short C++ name whose readable form doubles with each level.
 */
#ifndef TESTS_NAME_BOMB_H
#define TESTS_NAME_BOMB_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME_BOMB_BYTES 1024
#define NAME_BOMB_LEVELS 34 /* maximum */

/* Writes f<A<int, int>, A<that, that>, A<that, that> ...>(A<int, int>).  S_ is f, S0_ is A, S1_
 * is A<int, int>. */
static inline void name_bomb(char out[NAME_BOMB_BYTES], int levels)
{
	static const char digits[] = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len = (size_t)sprintf(out, "_Z1fI1AIiiE");

	for (int i = 0; i < levels; i++)
		len += (size_t)sprintf(out + len, "S0_IS%c_S%c_E", digits[i], digits[i]);
	memcpy(out + len, "EvT_", 5);
}

#endif
