/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * name.h - the export format that a file's name selects.  Pure functions; any thread.
 */
#ifndef TUI_EXPORT_NAME_H
#define TUI_EXPORT_NAME_H

#include "tui/session/export_format.h"
#include "tui/session/session.h"

/* Parses "FORMAT PATH", or a path whose ending selects the format: .folded, .speedscope.json (and
 * other .json), .gecko.json, .pb.gz, .pprof, .callgrind, .svg, .script.  A file name that begins
 * with callgrind.out selects callgrind.  *path points into text.  Returns 0, or -EINVAL and a
 * sentence (cleaned). */
int export_name_parse(const char *text, enum export_format *format, const char **path,
	char *sentence, size_t size);

/* Names such as "folded", by enum export_format; NULL at the end. */
extern const char *const export_format_names[EXPORT_FORMATS + 1];

#endif
