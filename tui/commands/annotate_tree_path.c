/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_tree_path.c - the path of a source file within a tree: see annotate_tree.h.
 *
 * A pure function; any thread.
 */
#include "tui/commands/annotate_tree.h"

#include "tui/base/clean.h"
#include "tui/commands/annotate_tree_private.h"

#include <string.h>

#define PART_MAX 200 /* bytes of one part of a path */

const char *annotate_tree_path(char *out, size_t size, const char *file)
{
	size_t len = 0;

	out[0] = '\0';
	while (*file) {
		size_t part = strcspn(file, "/"), bytes = part < PART_MAX ? part : PART_MAX;

		if (part == 2 && !memcmp(file, "..", 2)) {
			char *slash = strrchr(out, '/');

			len = slash ? (size_t)(slash - out) : 0;
			out[len] = '\0';
		} else if (part && !(part == 1 && *file == '.')) {
			if (len + bytes + 2 > size)
				break;
			if (len)
				out[len++] = '/';
			/* cleaning invalid UTF-8 never makes the text longer */
			len += clean_text(out + len, size - len, file, bytes);
		}
		file += part + (file[part] == '/');
	}
	if (!len || !strcmp(out, TREE_SUMMARY))
		snprintf(out, size, len ? "source/" TREE_SUMMARY : "unnamed");
	return out;
}
