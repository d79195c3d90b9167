/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kallsyms.h - a parser of /proc/kallsyms, fed with text in pieces of any size.  Pure.
 */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KALLSYMS_LINE_MAX 1024

/* One function; the strings are not terminated and valid only during the call; module_len 0: core. */
struct kallsyms_symbol {
	uint64_t address;
	char type; /* one of types */
	const char *name, *module;
	size_t name_len, module_len;
};
typedef void kallsyms_fn(const struct kallsyms_symbol *symbol, void *ctx);

struct kallsyms {
	kallsyms_fn *fn;
	void *ctx;
	const char *types; /* that are told; functions, unless changed after kallsyms_init() */
	char line[KALLSYMS_LINE_MAX]; /* the start of a line whose end has not come */
	size_t len;
	bool skipping; /* inside of a line that is too long */
	uint64_t functions; /* seen */
	bool shown; /* some function's address is not 0 */
};

#define KALLSYMS_FUNCTIONS "tTwW"
#define KALLSYMS_DATA "bBdDrRgGsSvV"

void kallsyms_init(struct kallsyms *kallsyms, kallsyms_fn *fn, void *ctx);
void kallsyms_feed(struct kallsyms *kallsyms, const char *text, size_t len);
void kallsyms_end(struct kallsyms *kallsyms); /* a last line may lack its newline */

#endif
