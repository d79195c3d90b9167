/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maptext.h - writes a table of run-time code as the text of a map, with its times.
 *
 * The parser of maps (perfmap.h) turns the text into the same table.  Any thread.
 */
#ifndef SYMBOLS_LOADER_MAPTEXT_H
#define SYMBOLS_LOADER_MAPTEXT_H

#include "symbols/jit/perfmap.h"
#include "symbols/wire/symtab.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct maptext {
	/* For free(3).  Has room for PERFMAP_STEPS_MAX steps; at least one is unused. */
	struct perfmap_step *steps;
	size_t n_steps;
	uint64_t last_ns; /* time of the newest entry */
	uint64_t bytes;
	bool cut; /* the oldest entries were left out */
};

/* Limits of a text.  An entry newer than now_ns counts as of now_ns. */
struct maptext_limits {
	uint64_t bytes, lines, now_ns;
};
/* Returns whether the whole table fits. */
bool maptext_fits(const struct symtab *table, const struct maptext_limits *limits);
/* Writes the table to out, which must be empty.  Leaves out the oldest entries if not all fit.
 * Returns 0 or -ENOMEM; the caller checks out for write errors. */
int maptext_write(const struct symtab *table, const struct maptext_limits *limits, FILE *out,
	struct maptext *text);

#endif
