/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbols_private.h - what symbols.c lends to data.c, by_name.c, unwind.c and symbols_*.c.
 */
#ifndef SYMBOLS_SYMBOLS_PRIVATE_H
#define SYMBOLS_SYMBOLS_PRIVATE_H

#include "symbols/loader.h"

struct again;
struct data_tables;
struct unwind_tables;

struct loader *symbols_loader(const struct symbols *symbols);
struct unwind_tables *symbols_unwind_tables(const struct symbols *symbols);
struct data_tables *symbols_data_tables(const struct symbols *symbols);

/* The table of an image, or of its twin; NULL: it was not asked for. */
const struct symtab *symbols_table(const struct symbols *symbols, uint32_t key);

/* What is known of an image that changes; NULL: it does not, or was not asked for. */
const struct again *symbols_again(const struct symbols *symbols, uint32_t key);

/* symbols_collect() of somebody who does not look at what changed: the next one is told, and after symbols_tell_untold()
 * the descriptor says so. */
void symbols_collect_meanwhile(struct symbols *symbols);
void symbols_tell_untold(const struct symbols *symbols);

int data_tables_new(struct data_tables **out); /* 0 or -ENOMEM */
void data_tables_free(struct data_tables *data); /* NULL is a no-op */
/* Take in an answer, which stays the caller's. */
void data_tables_take(struct data_tables *data, struct loader_image *answer);
/* Pieces that were asked about (moved.h). */
bool moved_pending(const struct data_tables *data);
void by_name_take(struct loader_image *answer);

#endif
