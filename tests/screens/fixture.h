/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fixture.h - a screen on the fixed profile, driven by scripted keys and compared with golden text.
 */
#ifndef TESTS_SCREENS_FIXTURE_H
#define TESTS_SCREENS_FIXTURE_H

#include "tests/screens/fake_code.h"
#include "tests/screens/fake_model.h"
#include "tui/screen/screen.h"

struct fixture {
	struct fake_model fake;
	struct screen screen;
};

struct fixture *start(int width, int height, bool ascii);
void finish(struct fixture *fixture);

unsigned int press(struct fixture *fixture, uint32_t key);
void click(struct fixture *fixture, int x, int y);
void release(struct fixture *fixture, int x, int y);

/* Types a script: plain characters are themselves; <Name> is a named key; <Tick> is half a
 * second. */
void keys(struct fixture *fixture, const char *script);

/* Compares the screen with golden/NAME.txt. */
void compare(struct fixture *fixture, const char *name);
void expect(const char *script, int width, int height, bool ascii, const char *name);

#endif
