/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.h - prints messages of a command to its user, besides its output.  Any thread.
 */
#ifndef TUI_BASE_SENTENCE_H
#define TUI_BASE_SENTENCE_H

#include <stddef.h>
#include <stdio.h>

/* Prints "strobe: SENTENCE" as a line.  On a terminal it breaks the line between words; a word that
 * is too wide stays whole.  Text after a newline is printed unchanged: it quotes user text with a
 * mark below. */
__attribute__((format(printf, 2, 3))) void sentence_print(FILE *out, const char *format, ...);

/* Appends a copy of a sentence to a list on the heap, unless the list has it.  Returns 0 or
 * -ENOMEM. */
int sentence_keep(char ***list, size_t *n, const char *sentence);

#endif
