// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_fields.c - a tracepoint's format, a byte 0, then raw data, both as in a recording.
 *
 * The raw data is also read as IBS.
 */
#include "sampler/fields/fields.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks that no read passes the bytes' end, and that each value can be formatted. */
static void try_raw(const struct perf_event_attr *attr, const char *pmu,
	const struct fields_source *source, const uint8_t *bytes, size_t len)
{
	struct record record = {.type = PERF_RECORD_SAMPLE};
	struct fields *fields;
	struct values *values;
	struct value value;
	uint8_t *raw = malloc(len ? len : 1);
	char text[40];
	uint32_t id;

	if (!raw)
		return;
	if (len)
		memcpy(raw, bytes, len);
	record.sample.raw = raw;
	record.sample.raw_len = (uint32_t)len;
	if (!fields_new_from(&fields, attr, pmu, NULL, source) && fields && !values_new(&values)) {
		if (fields_read(fields, &record, values, NULL, NULL, &id) ||
			values_count(values, id) != fields_count(fields))
			abort();
		for (size_t i = 0; values_get(values, id, i, &value); i++) {
			fields_format(fields, i, &value, text, sizeof(text));
			if (strnlen(text, sizeof(text)) == sizeof(text))
				abort();
		}
		(void)fields_line(fields, &record, NULL, text, sizeof(text));
		if (strnlen(text, sizeof(text)) == sizeof(text))
			abort();
		values_free(values);
		fields_free(fields);
	}
	free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct perf_event_attr tracepoint = {.type = PERF_TYPE_TRACEPOINT};
	const struct perf_event_attr other = {.type = 99};
	struct fields_source here = {0}, there = {.swapped = true, .long_bytes = 4};
	size_t len = strnlen((const char *)data, size), behind = len + (len < size);
	char *format = malloc(len + 1);

	if (!format)
		return 0;
	memcpy(format, data, len);
	format[len] = '\0';
	here.format = there.format = there.texts = format;
	there.texts_len = len;
	try_raw(&tracepoint, NULL, &here, data + behind, size - behind);
	try_raw(&tracepoint, NULL, &there, data + behind, size - behind);
	try_raw(&other, "ibs_op", NULL, data, size);
	try_raw(&other, "ibs_fetch", NULL, data, size);
	free(format);
	return 0;
}
