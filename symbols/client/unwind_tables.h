/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_tables.h - storage of unwind tables: symbols.c owns it, the loader thread fills it. */
#ifndef SYMBOLS_CLIENT_UNWIND_TABLES_H
#define SYMBOLS_CLIENT_UNWIND_TABLES_H

struct unwind_tables;

int unwind_tables_new(struct unwind_tables **out); /* 0 or -ENOMEM */
/* Call after the loader thread has ended.  NULL is a no-op. */
void unwind_tables_free(struct unwind_tables *tables);

#endif
