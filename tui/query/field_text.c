/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_text.c - see field_text.h.
 */
#include "tui/query/field_text.h"

#include "symbols/base/function_cut.h"
#include "tui/base/clean.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE_MASK ((uint64_t)4095)

static const char *const made[] = {[FIELD_PAGE] = "data_page", [FIELD_SYMBOL] = "data_symbol"};

/* Returns the index of the data address that PERF_SAMPLE_ADDR adds, or -1. */
static int find_address(const struct fields *fields)
{
	int at = fields_find(fields, "addr");

	return at >= 0 && fields_at(fields, (size_t)at)->kind == FIELD_DATA ? at : -1;
}

bool field_find(const struct fields *fields, const char *name, struct field_ref *out)
{
	*out = (struct field_ref){.at = fields_find(fields, name)};
	if (out->at >= 0)
		return true;
	if (!strcmp(name, made[FIELD_PAGE]))
		out->as = FIELD_PAGE;
	else if (!strcmp(name, made[FIELD_SYMBOL]))
		out->as = FIELD_SYMBOL;
	else
		return false;
	out->at = find_address(fields);
	return out->at >= 0;
}

const char *field_name(const struct fields *fields, size_t i)
{
	size_t n = fields_count(fields);

	if (i < n)
		return fields_at(fields, i)->name;
	if (find_address(fields) < 0 || i - n > FIELD_SYMBOL - FIELD_PAGE)
		return NULL;
	return made[FIELD_PAGE + (i - n)];
}

/* Writes the name of a code address.  Returns false if no function is known there. */
static bool put_code(
	struct names *names, const struct value *value, bool whole, struct field_text *out)
{
	const struct symref *name =
		names_get(names, names_symref_at(names, value->image, value->number));
	char symbol[480];

	function_cut(symbol, sizeof(symbol), name->symbol);
	if (name->resolved && value->number > name->start && !whole)
		snprintf(out->bytes, sizeof(out->bytes), "%s+0x%" PRIx64, symbol,
			value->number - name->start);
	else
		snprintf(out->bytes, sizeof(out->bytes), "%s", symbol);
	return name->resolved;
}

/* Writes an address without a name.  In a file, it is the address that nm and objdump show. */
static void put_nameless(struct names *names, const struct names_datum *datum,
	const struct value *value, const struct field_ref *ref, struct field_text *out)
{
	uint64_t number = value->number;

	if (datum->in_file)
		number = names_address(names, value->image, number);
	if (ref->as == FIELD_PAGE)
		number &= ~PAGE_MASK;
	if (ref->as == FIELD_SYMBOL)
		snprintf(out->bytes, sizeof(out->bytes), "%.500s", datum->image);
	else if (datum->in_file)
		snprintf(out->bytes, sizeof(out->bytes), "%.480s+0x%" PRIx64, datum->image, number);
	else
		snprintf(out->bytes, sizeof(out->bytes), "0x%" PRIx64, number);
}

static void put_data(struct names *names, const struct value *value, struct field_ref ref,
	struct field_text *out)
{
	char clean[FIELD_TEXT_MAX - 32], symbol[FIELD_TEXT_MAX - 32];
	struct names_datum datum;
	bool named = names_datum(names, value->image, value->number, &datum);

	if (ref.as == FIELD_PAGE) {
		put_nameless(names, &datum, value, &ref, out);
		return;
	}
	/* Constants and jump tables in the code have no data symbol, but belong to a function. */
	if (!named && put_code(names, value, ref.as == FIELD_SYMBOL, out))
		return;
	if (!named) {
		put_nameless(names, &datum, value, &ref, out);
		return;
	}
	function_cut(symbol, sizeof(symbol), datum.symbol);
	clean_string(clean, sizeof(clean), symbol);
	if (ref.as == FIELD_SYMBOL || !datum.offset)
		snprintf(out->bytes, sizeof(out->bytes), "%s", clean);
	else
		snprintf(out->bytes, sizeof(out->bytes), "%s+0x%" PRIx64, clean, datum.offset);
}

/* Writes an address in no known mapping, such as an address of another process. */
static void put_address(const struct value *value, struct field_ref ref, struct field_text *out)
{
	if (ref.as == FIELD_SYMBOL)
		snprintf(out->bytes, sizeof(out->bytes), "[unknown]");
	else
		snprintf(out->bytes, sizeof(out->bytes), "0x%" PRIx64,
			ref.as == FIELD_PAGE ? value->number & ~PAGE_MASK : value->number);
}

void field_text(struct names *names, const struct fields *fields, struct field_ref ref,
	const struct value *value, struct field_text *out)
{
	enum field_kind kind = fields_at(fields, (size_t)ref.at)->kind;
	char raw[FIELD_TEXT_MAX];

	out->number = 0;
	out->is_number = false;
	if (kind == FIELD_CODE || kind == FIELD_DATA) {
		if (!value->has_image || !names)
			put_address(value, ref, out);
		else if (kind == FIELD_CODE)
			(void)put_code(names, value, false, out);
		else
			put_data(names, value, ref, out);
		return;
	}
	fields_format(fields, (size_t)ref.at, value, raw, sizeof(raw));
	clean_string(out->bytes, sizeof(out->bytes), raw);
	if (kind == FIELD_SIGNED || (kind == FIELD_UNSIGNED && value->number <= INT64_MAX)) {
		out->number = (int64_t)value->number;
		out->is_number = true;
	}
}
