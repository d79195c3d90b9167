/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heat.h - activity by second and by tenth of a second within it, for the heat map.
 *
 * A slice of the store is a tenth of a second long.  The content of older, longer slices is spread
 * evenly over their time.  Complete seconds are computed only once.  UI thread.
 */
#ifndef TUI_MODEL_HEAT_H
#define TUI_MODEL_HEAT_H

#include "tui/model/model.h"
#include "tui/query/filter.h"
#include "tui/session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialized: empty.  Private to heat.c. */
struct heat {
	uint64_t *cells; /* weight per second of time, HEAT_ROWS cells for each second */
	size_t room; /* in seconds */
	size_t n, n_over; /* seconds held; the complete ones among them */
	uint64_t from_ns;
	uint8_t event;
	unsigned int hide_idle; /* model_idle() */
	uint64_t filter, names; /* serial of the filter; activity_names() */
};

/* Implements model_queries.heat. */
int heat_get(struct heat *heat, const struct model *model, struct session *session,
	struct filter *filter, uint64_t from_ns, size_t seconds, const uint64_t **cells);
void heat_fini(struct heat *heat);

#endif
