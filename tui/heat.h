/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heat.h - activity by second and by tenth of a second within it, for the heat map.
 *
 * A tenth is the length of the store's slices; what older, longer ones hold is spread evenly over their time.  Seconds
 * that are over are asked for once.  UI thread.
 */
#ifndef TUI_HEAT_H
#define TUI_HEAT_H

#include "tui/filter.h"
#include "tui/model.h"
#include "tui/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros is one that knows nothing.  Private to heat.c. */
struct heat {
	uint64_t *cells; /* weight per second of time, HEAT_ROWS a second */
	size_t room; /* seconds */
	size_t n, n_over; /* seconds; of these, those that were over */
	uint64_t from_ns;
	uint8_t event;
	unsigned int hide_idle; /* model_idle() */
	uint64_t filter, changes; /* its serial; of names, which filters may look at */
};

/* As model_ops.heat. */
int heat_get(struct heat *heat, const struct model *model, struct session *session,
	struct filter *filter, uint64_t from_ns, size_t seconds, const uint64_t **cells);
void heat_fini(struct heat *heat);

#endif
