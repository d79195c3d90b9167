/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maptext.h - a table of code made at run time as the text of a map, with its times: who reads it
 * (perfmap.h) has the same table.  Any thread.
 */
#ifndef SYMBOLS_MAPTEXT_H
#define SYMBOLS_MAPTEXT_H

#include "symbols/perfmap.h"
#include "symbols/symtab.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct maptext {
	/* For free(3), with room for PERFMAP_STEPS_MAX, of which one at least is left. */
	struct perfmap_step *steps;
	size_t n_steps;
	uint64_t last_ns; /* the time of the newest */
	uint64_t bytes;
	bool cut; /* the oldest are left out */
};

/* Write to out, which is empty, at most so many bytes and lines: the oldest are left out.  What is
 * said to come after now_ns counts as of then.  0 or -ENOMEM; whether all was written is the
 * caller's to ask of out. */
struct maptext_limits {
	uint64_t bytes, lines, now_ns;
};
/* Whether nothing would be left out. */
bool maptext_fits(const struct symtab *table, const struct maptext_limits *limits);
int maptext_write(const struct symtab *table, const struct maptext_limits *limits, FILE *out,
	struct maptext *text);

#endif
