/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * svg_page.h - the style and the script of a flame graph.
 */
#ifndef TUI_EXPORT_SVG_PAGE_H
#define TUI_EXPORT_SVG_PAGE_H

extern const char svg_style[];
extern const char svg_script[];

#endif
