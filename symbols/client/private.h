/* SPDX-License-Identifier: GPL-3.0-or-later */
/* private.h - functions of symbols.c for data.c, by_name.c, unwind.c and symbols_*.c. */
#ifndef SYMBOLS_CLIENT_PRIVATE_H
#define SYMBOLS_CLIENT_PRIVATE_H

#include "symbols/loader/loader.h"

struct symbols;
struct again;
struct data_tables;
struct unwind_tables;

struct loader *symbols_loader(const struct symbols *symbols);
struct unwind_tables *symbols_unwind_tables(const struct symbols *symbols);
struct data_tables *symbols_data_tables(const struct symbols *symbols);

/* Returns the table of an image or of its twin; NULL if it was not requested. */
const struct symtab *symbols_table(const struct symbols *symbols, uint32_t key);

/* Returns the state of an image that changes; NULL if it does not change or was not requested. */
const struct again *symbols_again(const struct symbols *symbols, uint32_t key);

/* symbols_collect() for a caller that ignores what changed: the next symbols_collect() returns it.
 * symbols_tell_untold() then makes the eventfd readable. */
void symbols_collect_meanwhile(struct symbols *symbols);
void symbols_tell_untold(const struct symbols *symbols);

int data_tables_new(struct data_tables **out); /* 0 or -ENOMEM */
void data_tables_free(struct data_tables *data); /* NULL is a no-op */
/* Takes in an answer, which the caller still owns. */
void data_tables_take(struct data_tables *data, struct loader_image *answer);
/* Returns whether answers about pieces are pending (moved.h). */
bool moved_pending(const struct data_tables *data);
void by_name_take(struct loader_image *answer);

#endif
