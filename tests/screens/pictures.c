/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pictures.c - draws the pictures of the README from the profile of the screen tests.
 *
 * usage: pictures DIR
 *
 * Writes DIR/NAME.svg.  doc/screens is made this way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/screens/fixture.h"
#include "tui/terminal/picture.h"

#include <stdio.h>

static const struct {
	const char *name, *script;
	int width, height;
	enum theme_kind theme;
} pictures[] = {
	{"flame", "g", 110, 26, THEME_KIND_DARK},
	{"annotate", "a", 110, 26, THEME_KIND_LIGHT},
};

static int write_one(const char *directory, size_t i)
{
	struct fixture *fixture = start(pictures[i].width, pictures[i].height, false);
	const struct theme theme = {.kind = pictures[i].theme};
	char path[512];
	FILE *out;
	int ret;

	keys(fixture, pictures[i].script);
	screen_draw(&fixture->screen);
	snprintf(path, sizeof(path), "%s/%s.svg", directory, pictures[i].name);
	out = fopen(path, "we");
	if (!out) {
		perror(path);
		finish(fixture);
		return -1;
	}
	ret = picture_write(out, &fixture->screen.canvas, &theme, PICTURE_SVG);
	if (fclose(out))
		ret = -1;
	finish(fixture);
	return ret;
}

int main(int argc, char **argv)
{
	int ret = 0;

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(pictures) / sizeof(*pictures); i++)
		ret |= write_one(argv[1], i);
	return ret ? 1 : 0;
}
