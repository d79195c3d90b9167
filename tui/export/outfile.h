/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outfile.h - a file to be written whole or not at all: under another name beside it, then renamed.
 *
 * Standard output, and what is no regular file, is written directly.
 */
#ifndef TUI_EXPORT_OUTFILE_H
#define TUI_EXPORT_OUTFILE_H

#include "tui/export/outpath.h"

#include <stdio.h>

#define OUTFILE_PUBLIC 0666 /* before the umask */
#define OUTFILE_PRIVATE 0600

struct outfile {
	FILE *file;
	int fd; /* the descriptor behind file */
	int error; /* the first error of a write, negative; 0: none */
	struct outpath path; /* standard output has no directory */
	char temporary[NAME_MAX + 1]; /* "": the file is written directly */
};

/* Opens for writing; out may not move until it is closed.  path: NULL and "-" are standard output.
 * mode: for a new file; a replaced file of this user passes its own mode on.  Returns 0 or -errno,
 * after which outfile_abandon() is legal. */
int outfile_open(struct outfile *out, const char *path, mode_t mode);

/* Gives the file its name before it is complete, for readers that follow it.  Returns 0 or
 * -errno. */
int outfile_show(struct outfile *out);

/* All was written: 0, or -errno and what was there before stays.  The file is closed, but for standard output. */
int outfile_commit(struct outfile *out);

/* Call after writing; ret: the writer's result.  Commits a complete file, else abandons it.
 * Returns 0, or -errno of the first cause. */
int outfile_end(struct outfile *out, int ret);

/* Leave what was there before. */
void outfile_abandon(struct outfile *out);

#endif
