/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * early.h - asks for the symbols of what was sampled, while sampling or loading goes on: few are missing at the end.
 *
 * UI thread.
 */
#ifndef TUI_EARLY_H
#define TUI_EARLY_H

#include "sampler/stacks.h"
#include "sampler/store.h"
#include "tui/names.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeros is one that has seen nothing. */
struct early {
	uint16_t *seen; /* generation + 1, by node of the stacks */
	uint32_t room;
	uint8_t *asked; /* bits, by frame: its symbols are here, and its name was asked for */
	uint32_t asked_room;
	uint64_t upto_ns; /* the end of the latest slice looked at */
	bool has_unsettled; /* stacks whose symbols were on their way */
	uint64_t unsettled_ns; /* the start of the first slice that has such */
	uint64_t changes; /* names_changes() when they were looked at */
};

/* Look at the slices that were sealed since, and again at those whose symbols may have come.  0; or -ENOMEM, which only means that some are asked for later. */
int early_ask(
	struct early *early, struct store *store, const struct stacks *stacks, struct names *names);
void early_fini(struct early *early);

#endif
