/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_code.h - fixed code of the fake model's functions, and faults that tests can select.
 */
#ifndef TESTS_SCREENS_FAKE_CODE_H
#define TESTS_SCREENS_FAKE_CODE_H

#include "tui/model/model.h"

extern const struct model_code_ops fake_code_ops;

/* Selects the result of the next update of every annotation. */
struct fake_code {
	bool waits; /* no result yet */
	bool failed; /* no code */
	bool no_source; /* lines without text */
	bool no_lines;
	bool hotter; /* samples have moved to another instruction */
	bool grown; /* a new row at the front */
	/* a new line of another file at the front, with the line number of the call */
	bool twin_line;
	bool reading; /* a source file that hangs */
	bool partial; /* inlined functions are still missing */
	bool abandoned;
	int n_open;
};
extern struct fake_code fake_code;

#endif
