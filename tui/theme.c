/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.c - the dark theme, by role.
 *
 * One row a style: true colour, 256 colours, 16 colours (8 and above are the bright ones; where
 * there are only 8, bold), and the attributes that carry the meaning where there is no colour.
 * Of boxes it is the background, below black text.
 */
#include "tui/theme.h"

#define DEF THEME_DEFAULT

struct entry {
	int32_t rgb;
	int16_t of_256, of_16;
	unsigned int attrs; /* with colour */
	unsigned int mono_attrs; /* without */
};

static const struct entry entries[STYLE_COUNT] = {
	[STYLE_TEXT] = {DEF, DEF, DEF, 0, 0},
	[STYLE_DIM] = {0x7f848e, 244, 8, 0, THEME_DIM},
	[STYLE_TITLE] = {0xe6e6e6, 255, 15, THEME_BOLD, THEME_BOLD},
	[STYLE_ACCENT] = {0xffaf5f, 215, 11, THEME_BOLD, THEME_BOLD},
	[STYLE_HEADER] = {0x8a93a6, 103, 7, 0, THEME_UNDERLINE},
	[STYLE_HEADER_SORTED] = {0x5fd7ff, 81, 14, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_SELECTED] = {0xffffff, 231, 15, THEME_BOLD, THEME_REVERSE},
	[STYLE_MATCH] = {0xffd700, 220, 11, THEME_BOLD | THEME_UNDERLINE,
		THEME_BOLD | THEME_UNDERLINE},
	[STYLE_BAR_HOT] = {0xff5f5f, 203, 9, 0, THEME_BOLD},
	[STYLE_BAR_WARM] = {0xffaf5f, 215, 11, 0, 0},
	[STYLE_BAR_COOL] = {0x5faf87, 72, 2, 0, 0},
	[STYLE_USER] = {0xe6e6e6, 254, 15, 0, 0},
	[STYLE_KERNEL] = {0xd787af, 175, 13, 0, 0},
	[STYLE_LIBRARY] = {0x87afd7, 110, 14, 0, 0},
	[STYLE_UNRESOLVED] = {0x7f848e, 244, 8, 0, THEME_DIM},
	[STYLE_TREND] = {0x5f87af, 67, 4, 0, 0},
	[STYLE_STRIP] = {0x4e6a7f, 60, 4, 0, THEME_DIM},
	[STYLE_STRIP_WINDOW] = {0x5fd7ff, 81, 14, 0, THEME_BOLD},
	[STYLE_GOOD] = {0x87d787, 114, 10, 0, 0},
	[STYLE_WARN] = {0xffd75f, 221, 11, 0, THEME_BOLD},
	[STYLE_BAD] = {0xff5f5f, 203, 9, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_KEY] = {0x5fd7ff, 81, 14, THEME_BOLD, THEME_BOLD},
	[STYLE_HINT] = {0x8a8f98, 246, 7, 0, 0},
	[STYLE_INPUT] = {0xffffff, 231, 15, 0, 0},
	[STYLE_BORDER] = {0x4e4e4e, 240, 8, 0, THEME_DIM},
	[STYLE_FLAME_ROOT] = {0xa8adb5, 248, 7, 0, 0},
	[STYLE_FLAME_USER] = {0xe0975a, 173, 3, 0, 0},
	[STYLE_FLAME_USER + 1] = {0xe8b060, 179, 11, 0, 0},
	[STYLE_FLAME_USER + 2] = {0xd9825b, 209, 3, 0, 0},
	[STYLE_FLAME_USER + 3] = {0xe3c078, 222, 11, 0, 0},
	[STYLE_FLAME_LIBRARY] = {0x7fb0df, 110, 6, 0, 0},
	[STYLE_FLAME_LIBRARY + 1] = {0x6fb3b8, 73, 14, 0, 0},
	[STYLE_FLAME_LIBRARY + 2] = {0x8fc1e3, 117, 6, 0, 0},
	[STYLE_FLAME_LIBRARY + 3] = {0x8a9fdc, 104, 14, 0, 0},
	[STYLE_FLAME_KERNEL] = {0xd787af, 175, 5, 0, THEME_BOLD},
	[STYLE_FLAME_KERNEL + 1] = {0xb98fd0, 140, 13, 0, THEME_BOLD},
	[STYLE_FLAME_UNRESOLVED] = {0x858a94, 245, 7, 0, THEME_DIM},
	[STYLE_FLAME_MATCH] = {0xa6f25c, 155, 10, 0, THEME_BOLD | THEME_UNDERLINE},
};

static bool is_box(enum style style)
{
	return style >= STYLE_FLAME_ROOT && style <= STYLE_FLAME_MATCH;
}

/* The selected one is white. */
static struct theme_look box_look(enum theme_depth depth, const struct entry *entry, bool selected)
{
	struct theme_look look = {0, entry->of_16, selected ? THEME_BOLD : 0};

	switch (depth) {
	case THEME_8:
		look.bg &= 7;
		look.attrs = selected ? THEME_REVERSE | THEME_BOLD : 0;
		return look;
	case THEME_16:
		look.bg = selected ? 15 : look.bg;
		return look;
	case THEME_256:
		look.fg = 16;
		look.bg = selected ? 231 : entry->of_256;
		return look;
	default:
		look.fg = 0x14161a;
		look.bg = selected ? 0xffffff : entry->rgb;
		return look;
	}
}

struct theme_look theme_look(enum theme_depth depth, enum style style, bool selected)
{
	const struct entry *entry = &entries[style < STYLE_COUNT ? style : STYLE_TEXT];
	struct theme_look look = {DEF, DEF, entry->attrs};

	if (depth != THEME_MONO && is_box(style))
		return box_look(depth, entry, selected);
	switch (depth) {
	case THEME_MONO:
		look.attrs = entry->mono_attrs;
		if (selected)
			look.attrs = (look.attrs & ~(unsigned int)THEME_DIM) | THEME_REVERSE;
		return look;
	case THEME_8:
		/* Bright black as bold black would vanish on black. */
		if (entry->of_16 == 8) {
			look.attrs |= THEME_DIM;
		} else if (entry->of_16 >= 8) {
			look.fg = entry->of_16 - 8;
			look.attrs |= THEME_BOLD;
		} else {
			look.fg = entry->of_16;
		}
		if (selected)
			look.attrs = (look.attrs & ~(unsigned int)THEME_DIM) | THEME_REVERSE;
		return look;
	case THEME_16:
		look.fg = entry->of_16;
		if (selected) {
			look.bg = 4;
			if (look.fg == 8 || look.fg == 4 || look.fg == DEF)
				look.fg = 7;
		}
		return look;
	case THEME_256:
		look.fg = entry->of_256;
		if (selected)
			look.bg = 237;
		return look;
	case THEME_RGB:
	default:
		look.fg = entry->rgb;
		if (selected)
			look.bg = 0x303848;
		return look;
	}
}
