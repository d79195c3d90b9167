/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * input.h - what the user did: one key or one move of the mouse.  Plain data.
 */
#ifndef TUI_INPUT_H
#define TUI_INPUT_H

#include <stdint.h>

/* Keys are Unicode characters and control codes, and above them the named ones. */
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
	uint32_t key; /* of INPUT_KEY */
	int x, y; /* of the mouse, from 0, 0 */
	int delta; /* of INPUT_WHEEL: -1 up, 1 down */
	uint64_t time_ns; /* CLOCK_MONOTONIC: two clicks close together are a double click */
};

#endif
