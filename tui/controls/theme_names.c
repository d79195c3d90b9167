/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme_names.c - names of styles and colors in a configuration, and the nearest color of a
 * terminal.
 */
#include "tui/controls/theme.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[STYLE_COUNT] = {
	[STYLE_TEXT] = "text",
	[STYLE_DIM] = "dim",
	[STYLE_TITLE] = "title",
	[STYLE_ACCENT] = "accent",
	[STYLE_HEADER] = "header",
	[STYLE_HEADER_SORTED] = "header-sorted",
	[STYLE_SELECTED] = "selected",
	[STYLE_MATCH] = "match",
	[STYLE_BAR_HOT] = "bar-hot",
	[STYLE_BAR_WARM] = "bar-warm",
	[STYLE_BAR_COOL] = "bar-cool",
	[STYLE_USER] = "user",
	[STYLE_KERNEL] = "kernel",
	[STYLE_LIBRARY] = "library",
	[STYLE_UNRESOLVED] = "unresolved",
	[STYLE_TREND] = "trend",
	[STYLE_STRIP] = "strip",
	[STYLE_STRIP_WINDOW] = "strip-window",
	[STYLE_GOOD] = "good",
	[STYLE_WARN] = "warn",
	[STYLE_BAD] = "bad",
	[STYLE_KEY] = "key",
	[STYLE_HINT] = "hint",
	[STYLE_INPUT] = "input",
	[STYLE_BORDER] = "border",
	[STYLE_MARK] = "mark",
	[STYLE_FLAME_ROOT] = "flame-root",
	[STYLE_FLAME_USER] = "flame-user",
	[STYLE_FLAME_USER + 1] = "flame-user-2",
	[STYLE_FLAME_USER + 2] = "flame-user-3",
	[STYLE_FLAME_USER + 3] = "flame-user-4",
	[STYLE_FLAME_LIBRARY] = "flame-library",
	[STYLE_FLAME_LIBRARY + 1] = "flame-library-2",
	[STYLE_FLAME_LIBRARY + 2] = "flame-library-3",
	[STYLE_FLAME_LIBRARY + 3] = "flame-library-4",
	[STYLE_FLAME_KERNEL] = "flame-kernel",
	[STYLE_FLAME_KERNEL + 1] = "flame-kernel-2",
	[STYLE_FLAME_UNRESOLVED] = "flame-unresolved",
	[STYLE_FLAME_SAME] = "flame-same",
	[STYLE_FLAME_MORE] = "flame-more",
	[STYLE_FLAME_MORE + 1] = "flame-more-2",
	[STYLE_FLAME_MORE + 2] = "flame-more-3",
	[STYLE_FLAME_LESS] = "flame-less",
	[STYLE_FLAME_LESS + 1] = "flame-less-2",
	[STYLE_FLAME_LESS + 2] = "flame-less-3",
	[STYLE_FLAME_MATCH] = "flame-match",
	[STYLE_HEAT] = "heat",
	[STYLE_HEAT + 1] = "heat-2",
	[STYLE_HEAT + 2] = "heat-3",
	[STYLE_HEAT + 3] = "heat-4",
	[STYLE_HEAT + 4] = "heat-5",
	[STYLE_HEAT + 5] = "heat-6",
};

/* xterm's default colors. */
static const struct {
	const char *name;
	int32_t rgb;
} colors[16] = {
	{"black", 0x000000},
	{"red", 0xcd0000},
	{"green", 0x00cd00},
	{"yellow", 0xcdcd00},
	{"blue", 0x0000ee},
	{"magenta", 0xcd00cd},
	{"cyan", 0x00cdcd},
	{"white", 0xe5e5e5},
	{"bright-black", 0x7f7f7f},
	{"bright-red", 0xff0000},
	{"bright-green", 0x00ff00},
	{"bright-yellow", 0xffff00},
	{"bright-blue", 0x5c5cff},
	{"bright-magenta", 0xff00ff},
	{"bright-cyan", 0x00ffff},
	{"bright-white", 0xffffff},
};

const char *const theme_names[THEME_KINDS + 1] = {
	[THEME_KIND_DARK] = "dark",
	[THEME_KIND_LIGHT] = "light",
	[THEME_KIND_MONO] = "mono",
	[THEME_KIND_SAFE] = "colour-blind",
	NULL,
};

const char *theme_style_name(enum style style)
{
	return style < STYLE_COUNT ? names[style] : NULL;
}

enum style theme_style_of(const char *name)
{
	for (int i = 0; i < STYLE_COUNT; i++) {
		if (names[i] && !strcmp(names[i], name))
			return (enum style)i;
	}
	return STYLE_COUNT;
}

bool theme_color_of(const char *name, int32_t *rgb)
{
	if (!strcmp(name, "default")) {
		*rgb = THEME_DEFAULT;
		return true;
	}
	for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++) {
		if (!strcmp(colors[i].name, name)) {
			*rgb = colors[i].rgb;
			return true;
		}
	}
	if (name[0] != '#' || strlen(name) != 7 || strspn(name + 1, "0123456789abcdefABCDEF") != 6)
		return false;
	*rgb = (int32_t)strtol(name + 1, NULL, 16);
	return true;
}

static int32_t distance(int32_t a, int32_t b)
{
	int32_t sum = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		int32_t d = (a >> shift & 0xff) - (b >> shift & 0xff);

		sum += d * d;
	}
	return sum;
}

int32_t theme_nearest_16(int32_t rgb, int n)
{
	int32_t best = 0;

	for (int32_t i = 1; i < n && i < 16; i++) {
		if (distance(rgb, colors[i].rgb) < distance(rgb, colors[best].rgb))
			best = i;
	}
	return best;
}

/* Uses colors 16 to 231 (a cube) and 232 to 255 (greys).  Users may redefine the first 16. */
int32_t theme_nearest_256(int32_t rgb)
{
	static const int32_t steps[6] = {0, 95, 135, 175, 215, 255};
	int32_t best = 16, nearest = INT32_MAX;

	for (int32_t i = 16; i < 256; i++) {
		int32_t cube = i - 16, grey = 8 + 10 * (i - 232);
		int32_t color = i >= 232
			? grey << 16 | grey << 8 | grey
			: steps[cube / 36] << 16 | steps[cube / 6 % 6] << 8 | steps[cube % 6];

		if (distance(rgb, color) < nearest) {
			nearest = distance(rgb, color);
			best = i;
		}
	}
	return best;
}
