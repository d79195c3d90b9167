/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.c - the themes: the look of each role.
 *
 * A row per style: true color, 256 colors, 16 colors, attributes with colors, and attributes
 * without.  Numbers 8 to 15 of the 16 colors are bright; with only 8 colors they become bold.  For
 * boxes the color is the background of black text.
 */
#include "tui/controls/theme.h"

#define DEF THEME_DEFAULT

#define NEAR (-2) /* the nearest of 256 to the true color */

struct entry {
	int32_t rgb;
	int16_t of_256, of_16;
	unsigned int attrs; /* with colors */
	unsigned int mono_attrs; /* without colors */
};

static const struct entry dark[STYLE_COUNT] = {
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
	[STYLE_STRIP] = {0x5e7f97, 66, 4, 0, THEME_DIM},
	[STYLE_STRIP_WINDOW] = {0x5fd7ff, 81, 14, 0, THEME_BOLD},
	[STYLE_GOOD] = {0x87d787, 114, 10, 0, 0},
	[STYLE_WARN] = {0xffd75f, 221, 11, 0, THEME_BOLD},
	[STYLE_BAD] = {0xff5f5f, 203, 9, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_KEY] = {0x5fd7ff, 81, 14, THEME_BOLD, THEME_BOLD},
	[STYLE_HINT] = {0x90959e, 246, 7, 0, 0},
	[STYLE_INPUT] = {0xffffff, 231, 15, 0, 0},
	[STYLE_BORDER] = {0x767676, 243, 8, 0, THEME_DIM},
	[STYLE_MARK] = {0xff87ff, 213, 13, THEME_BOLD, THEME_UNDERLINE},
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
	[STYLE_FLAME_SAME] = {0xc4c7cc, 251, 7, 0, 0},
	[STYLE_FLAME_MORE] = {0xf0b8b0, 217, 9, 0, THEME_BOLD},
	[STYLE_FLAME_MORE + 1] = {0xf08f80, 210, 9, 0, THEME_BOLD},
	[STYLE_FLAME_MORE + 2] = {0xf4604c, 203, 9, 0, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_FLAME_LESS] = {0xb4cdf2, 153, 12, 0, THEME_DIM},
	[STYLE_FLAME_LESS + 1] = {0x84b0f0, 111, 12, 0, THEME_DIM},
	[STYLE_FLAME_LESS + 2] = {0x5a93f0, 69, 12, 0, THEME_DIM | THEME_UNDERLINE},
	[STYLE_FLAME_MATCH] = {0xa6f25c, 155, 10, 0, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_HEAT] = {0x4b3f72, 60, 4, 0, THEME_DIM},
	[STYLE_HEAT + 1] = {0x8a4a86, 96, 5, 0, 0},
	[STYLE_HEAT + 2] = {0xc0547c, 132, 13, 0, 0},
	[STYLE_HEAT + 3] = {0xe8735c, 209, 9, 0, 0},
	[STYLE_HEAT + 4] = {0xf7a84b, 215, 3, 0, THEME_BOLD},
	[STYLE_HEAT + 5] = {0xfbe38a, 228, 11, 0, THEME_BOLD},
};

/* Boxes use the dark theme's looks, because they have their own background. */
static const struct entry light[STYLE_COUNT] = {
	[STYLE_TEXT] = {DEF, DEF, DEF, 0, 0},
	[STYLE_DIM] = {0x6b6f76, NEAR, 8, 0, THEME_DIM},
	[STYLE_TITLE] = {0x1a1a1a, NEAR, 0, THEME_BOLD, THEME_BOLD},
	[STYLE_ACCENT] = {0x9a4a00, NEAR, 1, THEME_BOLD, THEME_BOLD},
	[STYLE_HEADER] = {0x4e5668, NEAR, 8, 0, THEME_UNDERLINE},
	[STYLE_HEADER_SORTED] = {0x005f87, NEAR, 4, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_SELECTED] = {0x000000, NEAR, 0, THEME_BOLD, THEME_REVERSE},
	[STYLE_MATCH] = {0x7a5200, NEAR, 5, THEME_BOLD | THEME_UNDERLINE,
		THEME_BOLD | THEME_UNDERLINE},
	[STYLE_BAR_HOT] = {0xb00020, NEAR, 1, 0, THEME_BOLD},
	[STYLE_BAR_WARM] = {0x9a4a00, NEAR, 3, 0, 0},
	[STYLE_BAR_COOL] = {0x1b6b45, NEAR, 2, 0, 0},
	[STYLE_USER] = {0x1a1a1a, NEAR, 0, 0, 0},
	[STYLE_KERNEL] = {0x8a1f6a, NEAR, 5, 0, 0},
	[STYLE_LIBRARY] = {0x1f4f8f, NEAR, 4, 0, 0},
	[STYLE_UNRESOLVED] = {0x6b6f76, NEAR, 8, 0, THEME_DIM},
	[STYLE_TREND] = {0x2a5f8f, NEAR, 4, 0, 0},
	[STYLE_STRIP] = {0x5f7f95, NEAR, 6, 0, THEME_DIM},
	[STYLE_STRIP_WINDOW] = {0x005f87, NEAR, 4, 0, THEME_BOLD},
	[STYLE_GOOD] = {0x1b6b2f, NEAR, 2, 0, 0},
	[STYLE_WARN] = {0x855900, NEAR, 5, 0, THEME_BOLD},
	[STYLE_BAD] = {0xb00020, NEAR, 1, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_KEY] = {0x005f87, NEAR, 4, THEME_BOLD, THEME_BOLD},
	[STYLE_HINT] = {0x565b63, NEAR, 8, 0, 0},
	[STYLE_INPUT] = {0x000000, NEAR, 0, 0, 0},
	[STYLE_BORDER] = {0x7c7c7c, NEAR, 7, 0, THEME_DIM},
	[STYLE_MARK] = {0x8a1f6a, NEAR, 5, THEME_BOLD, THEME_UNDERLINE},
	[STYLE_HEAT] = {0xd6c8e6, NEAR, 7, 0, THEME_DIM},
	[STYLE_HEAT + 1] = {0xb78fcb, NEAR, 6, 0, 0},
	[STYLE_HEAT + 2] = {0xa65a9c, NEAR, 5, 0, 0},
	[STYLE_HEAT + 3] = {0xa0305f, NEAR, 1, 0, 0},
	[STYLE_HEAT + 4] = {0x7d1236, NEAR, 1, THEME_BOLD, THEME_BOLD},
	[STYLE_HEAT + 5] = {0x3f0012, NEAR, 0, THEME_BOLD, THEME_BOLD},
};

/* Orange and blue instead of red and green, after Okabe and Ito.  Other styles use the dark
 * theme. */
static const struct entry safe[STYLE_COUNT] = {
	[STYLE_ACCENT] = {0xf0e442, NEAR, 11, THEME_BOLD, THEME_BOLD},
	[STYLE_BAR_HOT] = {0xff9e2c, NEAR, 11, 0, THEME_BOLD},
	[STYLE_BAR_WARM] = {0xf0e442, NEAR, 3, 0, 0},
	[STYLE_BAR_COOL] = {0x56b4e9, NEAR, 12, 0, 0},
	[STYLE_KERNEL] = {0xe6a0c4, NEAR, 13, 0, 0},
	[STYLE_LIBRARY] = {0x56b4e9, NEAR, 14, 0, 0},
	[STYLE_GOOD] = {0x56b4e9, NEAR, 12, 0, 0},
	[STYLE_WARN] = {0xf0e442, NEAR, 11, 0, THEME_BOLD},
	[STYLE_BAD] = {0xff9e2c, NEAR, 3, THEME_BOLD | THEME_UNDERLINE,
		THEME_BOLD | THEME_UNDERLINE},
	[STYLE_FLAME_USER] = {0xe69f00, NEAR, 3, 0, 0},
	[STYLE_FLAME_USER + 1] = {0xf0c040, NEAR, 11, 0, 0},
	[STYLE_FLAME_USER + 2] = {0xdb8b1d, NEAR, 3, 0, 0},
	[STYLE_FLAME_USER + 3] = {0xf0d878, NEAR, 11, 0, 0},
	[STYLE_FLAME_LIBRARY] = {0x56b4e9, NEAR, 6, 0, 0},
	[STYLE_FLAME_LIBRARY + 1] = {0x4f9fd0, NEAR, 14, 0, 0},
	[STYLE_FLAME_LIBRARY + 2] = {0x7cc4ee, NEAR, 6, 0, 0},
	[STYLE_FLAME_LIBRARY + 3] = {0x8fa8e0, NEAR, 14, 0, 0},
	[STYLE_FLAME_MORE] = {0xf6cf9a, NEAR, 11, 0, THEME_BOLD},
	[STYLE_FLAME_MORE + 1] = {0xf0b050, NEAR, 11, 0, THEME_BOLD},
	[STYLE_FLAME_MORE + 2] = {0xe68600, NEAR, 3, 0, THEME_BOLD | THEME_UNDERLINE},
	[STYLE_FLAME_MATCH] = {0xffffff, NEAR, 15, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
};

static bool is_empty(const struct entry *entry)
{
	return !entry->rgb && !entry->of_256 && !entry->of_16 && !entry->attrs &&
		!entry->mono_attrs;
}

static struct entry entry_of(enum theme_kind kind, enum style style)
{
	const struct entry *of = kind == THEME_KIND_LIGHT ? &light[style]
		: kind == THEME_KIND_SAFE		  ? &safe[style]
							  : &dark[style];
	struct entry entry = is_empty(of) ? dark[style] : *of;

	if (entry.of_256 == NEAR)
		entry.of_256 = (int16_t)theme_nearest_256(entry.rgb);
	return entry;
}

static bool is_box(enum style style)
{
	return style >= STYLE_FLAME_ROOT && style <= STYLE_FLAME_MATCH;
}

/* The selected box is white. */
static struct theme_look box_look(enum theme_depth depth, const struct entry *entry, bool selected)
{
	struct theme_look look = {0, entry->of_16, selected ? THEME_BOLD : 0};

	switch (depth) {
	case THEME_8:
		look.bg &= 7;
		/* Eight colors cannot distinguish all boxes. */
		look.attrs =
			selected ? THEME_REVERSE | THEME_BOLD : entry->mono_attrs & THEME_UNDERLINE;
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

/* Returns the background of the selected row. */
static int32_t selected_bg(enum theme_kind kind, enum theme_depth depth)
{
	if (depth == THEME_16)
		return kind == THEME_KIND_LIGHT ? 7 : 4;
	if (depth == THEME_256)
		return kind == THEME_KIND_LIGHT ? 253 : 237;
	return kind == THEME_KIND_LIGHT ? 0xe2e6ee : 0x262c39;
}

static int32_t to_depth(enum theme_depth depth, int32_t rgb)
{
	if (rgb == DEF || depth == THEME_RGB)
		return rgb;
	return depth == THEME_256 ? theme_nearest_256(rgb)
				  : theme_nearest_16(rgb, depth == THEME_16 ? 16 : 8);
}

static struct theme_look custom_look(const struct theme *theme, enum theme_depth depth,
	const struct theme_look *custom, bool selected)
{
	struct theme_look look = {DEF, DEF, custom->attrs};

	if (depth != THEME_MONO) {
		look.fg = to_depth(depth, custom->fg);
		look.bg = to_depth(depth, custom->bg);
	}
	if (!selected)
		return look;
	if (depth <= THEME_8 || custom->bg != DEF)
		look.attrs ^= THEME_REVERSE;
	else
		look.bg = selected_bg(theme->kind, depth);
	return look;
}

struct theme_look theme_look(
	const struct theme *theme, enum theme_depth depth, enum style style, bool selected)
{
	enum theme_kind kind = theme->kind;
	struct entry row = entry_of(kind, style < STYLE_COUNT ? style : STYLE_TEXT);
	const struct entry *entry = &row;
	struct theme_look look = {DEF, DEF, entry->attrs};

	if (kind == THEME_KIND_MONO)
		depth = THEME_MONO;
	if (theme->custom && style < STYLE_COUNT && theme->custom->given[style])
		return custom_look(theme, depth, &theme->custom->looks[style], selected);

	if (depth != THEME_MONO && is_box(style))
		return box_look(depth, entry, selected);
	switch (depth) {
	case THEME_MONO:
		look.attrs = entry->mono_attrs;
		if (selected)
			look.attrs = (look.attrs & ~(unsigned int)THEME_DIM) | THEME_REVERSE;
		return look;
	case THEME_8:
		/* Bright black as bold black would be invisible on black. */
		if (entry->of_16 == 8) {
			look.attrs |= kind == THEME_KIND_LIGHT ? 0u : (unsigned int)THEME_DIM;
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
			look.bg = selected_bg(kind, depth);
			if (kind == THEME_KIND_LIGHT) {
				if (look.fg == 7 || look.fg == DEF)
					look.fg = 0;
			} else if (look.fg == 8 || look.fg == 4 || look.fg == DEF) {
				look.fg = 7;
			}
		}
		return look;
	case THEME_256:
		look.fg = entry->of_256;
		if (selected)
			look.bg = selected_bg(kind, depth);
		return look;
	case THEME_RGB:
	default:
		look.fg = entry->rgb;
		if (selected)
			look.bg = selected_bg(kind, depth);
		return look;
	}
}

void theme_paper(enum theme_kind kind, int32_t *fg, int32_t *bg)
{
	*fg = kind == THEME_KIND_LIGHT ? 0x24292e : 0xd0d0d0;
	*bg = kind == THEME_KIND_LIGHT ? 0xffffff : 0x181a1f;
}
