/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind_tables.h - where symbols.c keeps unwind tables, and where the loader thread puts them.
 */
#ifndef SYMBOLS_UNWIND_TABLES_H
#define SYMBOLS_UNWIND_TABLES_H

struct loader_image;
struct unwind_tables;

int unwind_tables_new(struct unwind_tables **out); /* 0 or -ENOMEM */
void unwind_tables_free(
	struct unwind_tables *tables); /* NULL is a no-op; after the loader's thread */

/* Put an answer into place and wake who waits for it.  The image stays the caller's.  The loader
 * thread. */
void unwind_tables_take(struct loader_image *answer);

#endif
