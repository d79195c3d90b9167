/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_fields.c - see scan_fields.h.
 */
#include "tui/query/scan_fields.h"

#include "tui/base/grow.h"

#include <stdio.h>

/* Key of a value: values are equal if all members are. */
struct text_key {
	int64_t number;
	uint32_t is_number, is_missing;
	char text[FIELD_TEXT_MAX];
};

static int intern_value(
	struct scan_fields *fields, const struct field_text *text, bool is_missing, uint32_t *id)
{
	struct text_key key;
	size_t len = strlen(text->bytes) + 1;

	memset(&key, 0, sizeof(key));
	key.number = text->number;
	key.is_number = text->is_number;
	key.is_missing = is_missing;
	memcpy(key.text, text->bytes, len);
	if (intern_id(&fields->texts, &key, offsetof(struct text_key, text) + len, id))
		return -ENOMEM;
	if (*id < fields->n_values)
		return 0;
	if (grow_room((void **)&fields->values, *id, &fields->values_room, sizeof(*fields->values)))
		return -ENOMEM;
	fields->values[fields->n_values++] = (struct scan_value){
		.text = fields->texts.entries[*id].bytes + offsetof(struct text_key, text),
		.number = text->number,
		.is_number = text->is_number,
		.is_missing = is_missing,
	};
	return 0;
}

static void find_fields(struct scan_fields *fields, const struct fields *schema,
	const char *const *names, uint8_t event)
{
	for (uint32_t i = 0; i < fields->n_names; i++)
		if (!field_find(schema, names[i], &fields->refs[event][i]))
			fields->refs[event][i].at = -1;
	fields->is_found[event] = true;
}

static int make_combination(struct scan_fields *fields, const struct field_schemas *schemas,
	struct names *symbols, uint8_t event, uint32_t values, uint32_t *id)
{
	uint32_t key[SCAN_FIELDS_MAX];
	size_t size = fields->n_names * sizeof(*key);

	for (uint32_t i = 0; i < fields->n_names; i++) {
		struct field_ref ref = fields->refs[event][i];
		struct field_text text = {.bytes = FIELD_MISSING};
		struct value value;
		bool has =
			ref.at >= 0 && values_get(schemas->values, values, (size_t)ref.at, &value);

		if (has)
			field_text(symbols, schemas->of[event], ref, &value, &text);
		if (intern_value(fields, &text, !has, &key[i]))
			return -ENOMEM;
	}
	if (intern_id(&fields->keys, key, size, id))
		return -ENOMEM;
	if (*id < fields->n_combinations)
		return 0;
	if (grow_room((void **)&fields->combinations, fields->n_combinations,
		    &fields->combinations_room, size))
		return -ENOMEM;
	memcpy(&fields->combinations[(size_t)fields->n_combinations++ * fields->n_names], key,
		size);
	return 0;
}

int scan_fields_id(struct scan_fields *fields, const struct field_schemas *schemas,
	const char *const *names, struct names *symbols, uint8_t event, uint32_t values,
	uint32_t *id)
{
	static const struct field_schemas none;
	/* Equal values may belong to other fields in another event. */
	const uint32_t tuple[] = {event, values};
	uint32_t at;
	int ret;

	schemas = schemas ? schemas : &none;
	if (!fields->is_found[event])
		find_fields(fields, schemas->of[event], names, event);
	if (intern_id(&fields->tuples, tuple, sizeof(tuple), &at) ||
		grow_zeroed(
			(void **)&fields->known, at, &fields->known_room, sizeof(*fields->known)))
		return -ENOMEM;
	if (!fields->known[at]) {
		ret = make_combination(fields, schemas, symbols, event, values, id);
		if (ret)
			return ret;
		fields->known[at] = *id + 1;
	}
	*id = fields->known[at] - 1;
	return 0;
}

void scan_fields_fini(struct scan_fields *fields)
{
	intern_fini(&fields->texts);
	intern_fini(&fields->tuples);
	intern_fini(&fields->keys);
	free(fields->values);
	free(fields->combinations);
	free(fields->known);
	memset(fields, 0, sizeof(*fields));
}
