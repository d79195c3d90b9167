/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fixture.c - see fixture.h.
 *
 * The golden texts are tests/screens/golden/NAME.txt.  After an intended change, run
 *   STROBE_GOLDEN=update meson test --suite screens
 * and read the difference before committing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"

#include "tui/views/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GOLDEN_DIR
#define GOLDEN_DIR "golden"
#endif

struct fixture *start(int width, int height, bool ascii)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fake_model_init(&fixture->fake);
	assert_int_equal(screen_init(&fixture->screen, &fixture->fake.model, views_by_key, width,
				 height, ascii),
		0);
	return fixture;
}

void finish(struct fixture *fixture)
{
	screen_fini(&fixture->screen);
	fake_model_fini(&fixture->fake);
	free(fixture);
}

unsigned int press(struct fixture *fixture, uint32_t key)
{
	const struct input input = {
		.kind = INPUT_KEY, .key = key, .time_ns = fixture->fake.model.now_ns};

	return screen_input(&fixture->screen, &input);
}

void click(struct fixture *fixture, int x, int y)
{
	const struct input input = {
		.kind = INPUT_CLICK, .x = x, .y = y, .time_ns = fixture->fake.model.now_ns};

	screen_input(&fixture->screen, &input);
}

void release(struct fixture *fixture, int x, int y)
{
	const struct input input = {
		.kind = INPUT_RELEASE, .x = x, .y = y, .time_ns = fixture->fake.model.now_ns};

	screen_input(&fixture->screen, &input);
}

void keys(struct fixture *fixture, const char *script)
{
	static const struct {
		const char *name;
		uint32_t key;
	} names[] = {
		{"<Enter>", INPUT_ENTER},
		{"<Esc>", INPUT_ESCAPE},
		{"<Down>", INPUT_DOWN},
		{"<Up>", INPUT_UP},
		{"<Left>", INPUT_LEFT},
		{"<Right>", INPUT_RIGHT},
		{"<PgDn>", INPUT_PAGE_DOWN},
		{"<End>", INPUT_END},
		{"<Home>", INPUT_HOME},
		{"<Tab>", INPUT_TAB},
		{"<BackTab>", INPUT_BACK_TAB},
		{"<Backspace>", INPUT_BACKSPACE},
	};

	while (*script) {
		size_t i, n = sizeof(names) / sizeof(*names);

		if (!strncmp(script, "<Tick>", 6)) {
			fake_model_tick(&fixture->fake);
			assert_int_equal(screen_refresh(&fixture->screen), 0);
			script += 6;
			continue;
		}
		for (i = 0; i < n && strncmp(script, names[i].name, strlen(names[i].name)); i++)
			;
		press(fixture, i < n ? names[i].key : (uint32_t)*script);
		script += i < n ? strlen(names[i].name) : 1;
	}
}

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text;
	size_t len;

	if (!in)
		return NULL;
	text = calloc(1, 1 << 16);
	assert_non_null(text);
	len = fread(text, 1, (1 << 16) - 1, in);
	text[len] = '\0';
	fclose(in);
	return text;
}

void compare(struct fixture *fixture, const char *name)
{
	const char *update = getenv("STROBE_GOLDEN");
	char path[512], *dump, *golden;

	screen_draw(&fixture->screen);
	dump = canvas_dump(&fixture->screen.canvas);
	assert_non_null(dump);
	snprintf(path, sizeof(path), "%s/%s.txt", GOLDEN_DIR, name);
	if (update && !strcmp(update, "update")) {
		FILE *out = fopen(path, "we");

		assert_non_null(out);
		fputs(dump, out);
		fclose(out);
	}
	golden = read_text(path);
	if (!golden)
		fail_msg("%s: %s", path, strerror(errno));
	if (strcmp(dump, golden) != 0)
		print_message("%s\n--- is\n%s--- should be\n%s", name, dump, golden);
	assert_string_equal(dump, golden);
	free(golden);
	free(dump);
}

void expect(const char *script, int width, int height, bool ascii, const char *name)
{
	struct fixture *fixture = start(width, height, ascii);

	keys(fixture, script);
	compare(fixture, name);
	finish(fixture);
}
