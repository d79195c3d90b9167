/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * namesakes.c - finds different functions of one name.
 *
 * Such are static functions of several source files, instances of a stripped Go generic function,
 * and functions of Rust whose hashes are not shown.
 */
#include "tui/names/called.h"
#include "tui/names/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool names_is_lasting(const struct names *names, const struct symref *symbol)
{
	const struct image *image = images_get(names->images, symbol->image_id);
	/* Android's JIT cache is a file, and so is code that perf inject took from a jitdump. */
	const bool made = !image || image->kind == IMAGE_ANON ||
		(image->kind == IMAGE_FILE &&
			(symbol->image[0] == '[' || called_run(symbol->image) != symbol->image));

	return symbol->resolved && !symbol->inlined && !symbol->foreign && !made;
}

bool names_place(struct names *names, uint32_t symref, struct names_place *out)
{
	const struct symref *symbol = names_get(names, symref);
	uint8_t id[IMAGE_BUILD_ID_MAX];

	*out = (struct names_place){0};
	if (!names_is_lasting(names, symbol))
		return false;
	out->start = symbol->start;
	/* The kernel lies elsewhere after each start. */
	if (symbol->kernel)
		return true;
	/* FNV-1a */
	for (uint8_t i = 0, n = images_build_id(names->images, symbol->image_id, id); i < n; i++)
		out->build = ((i ? out->build : 0xcbf29ce484222325u) ^ id[i]) * 0x100000001b3u;
	return true;
}

static int by_name(const void *a, const void *b, void *names)
{
	const struct symref *x = names_get(names, *(const uint32_t *)a);
	const struct symref *y = names_get(names, *(const uint32_t *)b);

	if (x->image_id != y->image_id)
		return x->image_id < y->image_id ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

/* Orders by name and start. */
static int by_place(const void *a, const void *b, void *names)
{
	const struct symref *x = names_get(names, *(const uint32_t *)a);
	const struct symref *y = names_get(names, *(const uint32_t *)b);
	int order = by_name(a, b, names);

	return order ? order : (x->start > y->start) - (x->start < y->start);
}

int names_namesakes(struct names *names, struct namesakes *out)
{
	const uint32_t limit = names_limit(names);
	uint32_t *order = calloc((size_t)limit + 1, sizeof(*order)), n = 0;

	*out = (struct namesakes){calloc((size_t)limit + 1, 1), limit};
	if (!order || !out->has) {
		free(order);
		namesakes_fini(out);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < limit; i++)
		if (names_is_lasting(names, names_get(names, i)))
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_place, names);
	for (uint32_t i = 1; i < n; i++)
		/* Equal places are one function, before and after its debug file came. */
		if (!by_name(&order[i - 1], &order[i], names) &&
			by_place(&order[i - 1], &order[i], names))
			out->has[order[i - 1]] = out->has[order[i]] = 1;
	free(order);
	return 0;
}

void namesakes_fini(struct namesakes *namesakes)
{
	free(namesakes->has);
	*namesakes = (struct namesakes){0};
}
