/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * input.h - one input by the user: a key or a mouse event.  Plain data.
 */
#ifndef TUI_CONTROLS_INPUT_H
#define TUI_CONTROLS_INPUT_H

#include <stdint.h>

/* Keys are Unicode characters and control codes; values above are named keys. */
enum {
	INPUT_TAB = 9,
	INPUT_ENTER = 10,
	INPUT_ESCAPE = 27,
	INPUT_BACKSPACE = 127,
	INPUT_UP = 0x110000,
	INPUT_DOWN,
	INPUT_LEFT,
	INPUT_RIGHT,
	INPUT_HOME,
	INPUT_END,
	INPUT_PAGE_UP,
	INPUT_PAGE_DOWN,
	INPUT_BACK_TAB,
	INPUT_DELETE,
	INPUT_INSERT,
};

#define INPUT_CTRL(letter) ((uint32_t)(letter)&0x1fu)

enum input_kind { INPUT_KEY, INPUT_CLICK, INPUT_RELEASE, INPUT_WHEEL };

struct input {
	enum input_kind kind;
	uint32_t key; /* for INPUT_KEY */
	int x, y; /* mouse position, from 0, 0 */
	int delta; /* for INPUT_WHEEL: -1 up, 1 down */
	uint64_t time_ns; /* CLOCK_MONOTONIC; detects double clicks */
};

#endif
