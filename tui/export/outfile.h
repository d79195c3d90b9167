/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outfile.h - a file to be written whole or not at all: under another name beside it, then renamed.
 *
 * Standard output, and what is no regular file, is written directly.
 */
#ifndef TUI_EXPORT_OUTFILE_H
#define TUI_EXPORT_OUTFILE_H

#include <stdio.h>

struct outfile {
	FILE *file;
	char *path, *temporary; /* NULL where it is written directly */
};

/* path: NULL and "-" are standard output.  0 or -errno; outfile_abandon() is legal then. */
int outfile_open(struct outfile *out, const char *path);

/* All was written: 0, or -errno and what was there before stays.  The file is closed, but for standard output. */
int outfile_commit(struct outfile *out);

/* After writing, which gave ret: commits what was written whole, else abandons it.  errno must have been 0 before writing, and
 * then tells more of -EIO.  0 or -errno. */
int outfile_end(struct outfile *out, int ret);

/* Leave what was there before. */
void outfile_abandon(struct outfile *out);

#endif
