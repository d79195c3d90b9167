/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_name.h - which form of export a file's name means.  Pure; any thread.
 */
#ifndef TUI_EXPORT_NAME_H
#define TUI_EXPORT_NAME_H

#include "tui/session.h"

/* "callgrind PATH" of any format, or a path alone, whose ending tells: .folded, .speedscope.json (and other .json),
 * .gecko.json, .pb.gz, .pprof, .callgrind, .svg; or a name that begins with callgrind.out.  *path is within text.  0, or
 * -EINVAL and a sentence (cleaned). */
int export_name_parse(const char *text, enum export_format *format, const char **path,
	char *sentence, size_t size);

/* "folded" ..., by enum export_format; NULL at the end. */
extern const char *const export_format_names[EXPORT_FORMATS + 1];

#endif
