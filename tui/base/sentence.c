/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.c - see sentence.h.
 */
#include "tui/base/sentence.h"

#include "tui/base/grow.h"
#include "tui/base/width.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#define SENTENCE_MAX 4096

/* Returns the terminal's width; 0: no terminal, or width unknown. */
static int columns_of(FILE *out)
{
	struct winsize size;
	int fd = fileno(out);

	return fd >= 0 && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* Returns whether the word belongs to a shell command in the sentence.  A command begins with sudo
 * or ulimit and ends with the clause. */
static bool is_in_command(bool before, const char *word)
{
	size_t len = strlen(word);

	if (*word == '(')
		word++;
	if (!strcmp(word, "sudo") || !strcmp(word, "ulimit"))
		return true;
	return before && !(len && strchr(",;.)", word[len - 1]));
}

static void print_rows(FILE *out, char *text, int width)
{
	bool command = false;
	int used = 0;

	for (char *word = text, *next; word; word = next) {
		int columns;

		next = strchr(word, ' ');
		if (next)
			*next++ = '\0';
		columns = width_of(word);
		/* Inside a command, blanks fill the row instead of a newline, so that it is copied
		 * as one line. */
		if (used && used + 1 + columns >= width) {
			if (command)
				fprintf(out, "%*s", width - used % width, "");
			else
				putc('\n', out);
			used = 0;
		} else if (used) {
			putc(' ', out);
			used++;
		}
		fputs(word, out);
		used += columns;
		command = is_in_command(command, word);
	}
	putc('\n', out);
}

void sentence_print(FILE *out, const char *format, ...)
{
	static const char prefix[] = "strobe: ";
	char text[sizeof(prefix) + SENTENCE_MAX], *below = text;
	int width = columns_of(out);
	va_list args;

	memcpy(text, prefix, sizeof(prefix));
	va_start(args, format);
	vsnprintf(text + strlen(prefix), SENTENCE_MAX, format, args);
	va_end(args);
	if (width) {
		below = strchr(text, '\n');
		if (below)
			*below++ = '\0';
		print_rows(out, text, width);
	}
	if (below)
		fprintf(out, "%s\n", below);
}

int sentence_keep(char ***list, size_t *n, const char *sentence)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp((*list)[i], sentence))
			return 0;
	if (grow_exact(list, *n + 1, sizeof(**list)))
		return -ENOMEM;
	(*list)[*n] = strdup(sentence);
	if (!(*list)[*n])
		return -ENOMEM;
	++*n;
	return 0;
}
