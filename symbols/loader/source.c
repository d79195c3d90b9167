/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.c - see source.h.
 */
#include "symbols/loader/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int source_copy(struct symbols_source *out, const struct symbols_source *source)
{
	*out = *source;
	out->path = strdup(source->path ? source->path : "");
	out->jitdump = source->jitdump ? strdup(source->jitdump) : NULL;
	if (out->build_id_len > SYMBOLS_BUILD_ID_MAX)
		out->build_id_len = 0;
	if (out->path && (out->jitdump || !source->jitdump))
		return 0;
	source_drop(out);
	return -ENOMEM;
}

void source_drop(struct symbols_source *source)
{
	free((char *)(uintptr_t)source->path);
	free((char *)(uintptr_t)source->jitdump);
	source->path = source->jitdump = NULL;
}
