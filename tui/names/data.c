/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.c - see names.h: data symbols.
 */
#include "tui/names/private.h"

#include "symbols/client/data.h"

static bool has_data(const struct image_info *info)
{
	return info->kind == IMAGE_FILE || info->kind == IMAGE_KERNEL;
}

bool names_datum(struct names *names, uint32_t image, uint64_t offset, struct names_datum *out)
{
	const struct image_info *info = names_image(names, image);
	struct symbol symbol;

	*out = (struct names_datum){.image = info ? info->name : "[unknown]"};
	if (!info)
		return false;
	out->in_file = info->kind == IMAGE_FILE || info->kind == IMAGE_VDSO;
	if (!has_data(info) || !info->has_source || names->held || info->state == SYMBOLS_PENDING)
		return false;
	if (symbols_data_state(names->symbols, image) == SYMBOLS_UNASKED) {
		if (!symbols_data_request(names->symbols, image))
			names->data_asked = true;
		return false;
	}
	if (!symbols_data_find(names->symbols, image, offset, &symbol))
		return false;
	out->symbol = symbols_pretty(names->symbols, symbol.name);
	out->offset = offset - symbol.start;
	return true;
}
