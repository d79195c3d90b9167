/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kallsyms.h - a parser of /proc/kallsyms, fed with text in pieces of any size.  Pure.
 */
#ifndef SYMBOLS_WIRE_KALLSYMS_H
#define SYMBOLS_WIRE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KALLSYMS_LINE_MAX 1024

/* One function.  The strings are not terminated and valid only during the call; module_len 0: core
 * kernel. */
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
	const char *types; /* reported types; functions, unless changed after kallsyms_init() */
	char line[KALLSYMS_LINE_MAX]; /* start of an incomplete line */
	size_t len;
	bool skipping; /* inside a line that is too long */
	uint64_t functions; /* number of functions reported */
	bool shown; /* the address of some function is not 0 */
};

#define KALLSYMS_FUNCTIONS "tTwW"
#define KALLSYMS_DATA "bBdDrRgGsSvV"

void kallsyms_init(struct kallsyms *kallsyms, kallsyms_fn *fn, void *ctx);
void kallsyms_feed(struct kallsyms *kallsyms, const char *text, size_t len);
/* call it at the end: the last line may lack its newline */
void kallsyms_end(struct kallsyms *kallsyms);

#endif
