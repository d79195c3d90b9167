/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_format.h - the formats of exports; tui/export writes them.
 */
#ifndef TUI_SESSION_EXPORT_FORMAT_H
#define TUI_SESSION_EXPORT_FORMAT_H

enum export_format {
	EXPORT_FOLDED,
	EXPORT_SPEEDSCOPE,
	EXPORT_PPROF,
	EXPORT_CALLGRIND,
	EXPORT_SVG,
	EXPORT_SCRIPT,
	EXPORT_GECKO,
	EXPORT_FORMATS
};

#endif
