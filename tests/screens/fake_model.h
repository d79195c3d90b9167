/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_model.h - a profile with fixed numbers, names and clock, for tests of the screen.
 */
#ifndef TESTS_SCREENS_FAKE_MODEL_H
#define TESTS_SCREENS_FAKE_MODEL_H

#include "tui/model/model.h"

struct fake_model {
	struct model model; /* first: ops cast it to struct fake_model */
	struct hot_row shown[64];
	uint32_t gone_symref; /* a symbol that has no samples any more */
	/* Changes of processes: the second by CPU becomes the first, one ends, one's pid is
	 * reused. */
	bool swapped;
	int32_t ended_pid, reused_pid;
	char commands[512]; /* requests so far, one a line: "attach 4711" */
	int refuse; /* positive errno of every command; 0: accepted */
};

void fake_model_init(struct fake_model *fake);
void fake_model_fini(struct fake_model *fake);

/* Returns the weight of this number of thousandths of the whole. */
uint64_t fake_model_weight(unsigned int per_mille);

/* Advances the clock by one step: half a second. */
void fake_model_tick(struct fake_model *fake);

#endif
