/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_tables.h - storage of unwind tables: symbols.c owns it, the loader thread fills it. */
#ifndef SYMBOLS_LOADER_UNWIND_TABLES_H
#define SYMBOLS_LOADER_UNWIND_TABLES_H

struct loader_image;
struct unwind_tables;

int unwind_tables_new(struct unwind_tables **out); /* 0 or -ENOMEM */
/* Call after the loader thread has ended.  NULL is a no-op. */
void unwind_tables_free(struct unwind_tables *tables);

/* Stores an answer and wakes the threads that wait for it.  The caller still owns the image.  Runs
 * in the loader thread. */
void unwind_tables_take(struct loader_image *answer);

#endif
