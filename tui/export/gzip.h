/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gzip.h - compresses bytes into a file, in gzip(1)'s format.  The thread of the export.
 */
#ifndef TUI_EXPORT_GZIP_H
#define TUI_EXPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

int gzip_new(struct gzip **gzip, FILE *out); /* 0 or -ENOMEM; out is borrowed */
int gzip_write(struct gzip *gzip, const void *bytes, size_t n); /* 0 or -EIO */
int gzip_finish(struct gzip *gzip); /* ends the stream; 0 or -EIO */
void gzip_free(struct gzip *gzip); /* NULL is a no-op */

#endif
