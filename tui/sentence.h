/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.h - what a command says to its user besides its output.  Any thread.
 */
#ifndef TUI_SENTENCE_H
#define TUI_SENTENCE_H

#include <stdio.h>

/* "strobe: SENTENCE" as a line.  On a terminal that is as many rows as it takes, broken between words; a word that is wider than
 * the terminal stays whole, and so does what follows a newline: text of the user's with a mark below it. */
__attribute__((format(printf, 2, 3))) void sentence_print(FILE *out, const char *format, ...);

#endif
