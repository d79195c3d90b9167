/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_code.h - fixed code of the fake model's functions, and what is wrong with that of some.
 */
#ifndef TESTS_SCREENS_FAKE_CODE_H
#define TESTS_SCREENS_FAKE_CODE_H

#include "tui/model/model.h"

extern const struct model_code_ops fake_code_ops;

/* What the next update of every annotation finds. */
struct fake_code {
	bool waits; /* nothing yet */
	bool failed; /* no code */
	bool no_source; /* lines without text */
	bool no_lines;
	bool hotter; /* samples have moved to another instruction */
	bool grown; /* a row came in front */
	bool twin_line; /* a line of another file in front, with the number of the call's */
	bool reading; /* a source file that hangs */
	bool partial; /* inlined functions are still to come */
	bool abandoned;
	int n_open;
};
extern struct fake_code fake_code;

#endif
