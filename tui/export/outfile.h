/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outfile.h - writes a file completely or not at all: to a temporary file, which is then renamed.
 *
 * The temporary file is in the same directory.  Standard output, and anything that is no regular
 * file, is written directly.
 */
#ifndef TUI_EXPORT_OUTFILE_H
#define TUI_EXPORT_OUTFILE_H

#include "tui/export/outpath.h"

#include <stdio.h>

#define OUTFILE_PUBLIC 0666 /* limited by the umask */
#define OUTFILE_PRIVATE 0600

struct outfile {
	FILE *file;
	int fd; /* descriptor of file */
	int error; /* first error of a write, negative; 0: none */
	struct outpath path; /* unused for standard output */
	char temporary[NAME_MAX + 1]; /* "": the file is written directly */
};

/* Opens a file for writing.  The struct may not move until it is closed.  path: NULL and "-" are
 * standard output.  mode: for a new file; a replaced file of this user passes its own mode on.
 * Returns 0, or -errno, after which outfile_abandon() is legal. */
int outfile_open(struct outfile *out, const char *path, mode_t mode);

/* Gives the file its name before it is complete, for readers that follow it.  Returns 0 or
 * -errno. */
int outfile_show(struct outfile *out);

/* Completes the file and closes it, except for standard output.  Returns 0, or -errno; the previous
 * file then stays. */
int outfile_commit(struct outfile *out);

/* Call it after writing; ret: the writer's result.  Commits a complete file, else abandons it.
 * Returns 0, or -errno of the first cause. */
int outfile_end(struct outfile *out, int ret);

/* Discards the new file; the previous file stays. */
void outfile_abandon(struct outfile *out);

#endif
