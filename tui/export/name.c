/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * name.c - see name.h.
 */
#include "tui/export/name.h"

#include "tui/base/clean.h"
#include "tui/session/export_format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const export_format_names[EXPORT_FORMATS + 1] = {
	[EXPORT_FOLDED] = "folded",
	[EXPORT_SPEEDSCOPE] = "speedscope",
	[EXPORT_PPROF] = "pprof",
	[EXPORT_CALLGRIND] = "callgrind",
	[EXPORT_SVG] = "svg",
	[EXPORT_SCRIPT] = "script",
	[EXPORT_GECKO] = "gecko",
	NULL,
};

/* Longer endings come first. */
static const struct {
	const char *ending;
	enum export_format format;
} endings[] = {
	{".speedscope.json", EXPORT_SPEEDSCOPE},
	{".gecko.json", EXPORT_GECKO},
	{".json", EXPORT_SPEEDSCOPE},
	{".folded", EXPORT_FOLDED},
	{".pb.gz", EXPORT_PPROF},
	{".pprof", EXPORT_PPROF},
	{".callgrind", EXPORT_CALLGRIND},
	{".svg", EXPORT_SVG},
	{".script", EXPORT_SCRIPT},
};

static bool by_ending(const char *path, enum export_format *format)
{
	const char *slash = strrchr(path, '/');
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i].ending);

		if (len > n && !strcmp(path + len - n, endings[i].ending)) {
			*format = endings[i].format;
			return true;
		}
	}
	*format = EXPORT_CALLGRIND;
	return !strncmp(slash ? slash + 1 : path, "callgrind.out", strlen("callgrind.out"));
}

int export_name_parse(const char *text, enum export_format *format, const char **path,
	char *sentence, size_t size)
{
	size_t word = strcspn(text, " ");
	char name[CLEAN_PATH_BYTES];

	for (int i = 0; text[word] && i < EXPORT_FORMATS; i++) {
		if (strlen(export_format_names[i]) != word ||
			strncmp(export_format_names[i], text, word) != 0)
			continue;
		*format = (enum export_format)i;
		*path = text + word + strspn(text + word, " ");
		if (**path)
			return 0;
	}
	*path = text;
	if (by_ending(text, format))
		return 0;
	clean_path(name, text);
	snprintf(sentence, size,
		"The ending of '%s' tells no format: .folded, .speedscope.json, .pb.gz, "
		".callgrind, .svg or .gecko.json; or a format's name before the file's",
		name);
	return -EINVAL;
}
