/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * early.h - requests symbols while sampling or loading continues, so that few are missing at the
 * end.
 *
 * UI thread.
 */
#ifndef TUI_SESSION_EARLY_H
#define TUI_SESSION_EARLY_H

#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "tui/names/names.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialized: nothing seen. */
struct early {
	uint16_t *seen; /* generation + 1, by node of the stacks */
	uint32_t room;
	uint8_t *asked; /* one bit per frame: its symbols are loaded, and its name was requested */
	uint32_t asked_room;
	uint64_t upto_ns; /* end of the latest slice checked */
	bool has_unsettled; /* some stacks have pending symbols */
	uint64_t unsettled_ns; /* start of the first slice with such a stack */
	uint64_t changes; /* names_changes() at the last check */
};

/* Checks the slices sealed since the last call, and those with pending symbols again.  Returns 0,
 * or -ENOMEM: some names are then requested later. */
int early_ask(
	struct early *early, struct store *store, const struct stacks *stacks, struct names *names);
void early_fini(struct early *early);

#endif
