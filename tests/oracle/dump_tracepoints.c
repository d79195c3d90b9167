/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dump_tracepoints.c - prints lines of tracepoints that fields.h makes of formats and raw data.
 *
 * usage: dump_tracepoints TRACEFS < COMMANDS
 *
 * A command is a line.  "format PATH" reads a format file.  "raw HEX" prints the source of the
 * line of these bytes ("none", "format", "fields"), a tab, and the line.
 */
#include "sampler/base/sysfile.h"
#include "sampler/fields/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	uint64_t address;
	char name[128];
};

struct symbols {
	struct symbol *at;
	size_t n;
};

static int by_address(const void *a, const void *b)
{
	const struct symbol *first = a, *second = b;

	return (first->address > second->address) - (first->address < second->address);
}

static void read_symbols(struct symbols *symbols)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		struct symbol *grown, symbol;

		if (sscanf(line, "%" SCNx64 " %*c %127s", &symbol.address, symbol.name) != 2 ||
			!symbol.address)
			continue;
		if (!(symbols->n & (symbols->n - 1))) {
			grown = reallocarray(
				symbols->at, symbols->n ? 2 * symbols->n : 1, sizeof(*grown));
			if (!grown)
				break;
			symbols->at = grown;
		}
		symbols->at[symbols->n++] = symbol;
	}
	if (file)
		fclose(file);
	if (symbols->n)
		qsort(symbols->at, symbols->n, sizeof(*symbols->at), by_address);
}

static bool name_code(void *ctx, uint64_t address, bool with_offset, char *out, size_t size)
{
	const struct symbols *symbols = ctx;
	size_t low = 0, high = symbols->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->at[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Memory after the last symbol is unknown. */
	if (!low || low == symbols->n)
		return false;
	/* The kernel uses the first of several names at one address. */
	for (low--; low && symbols->at[low - 1].address == symbols->at[low].address;)
		low--;
	if (with_offset)
		snprintf(out, size, "%s+0x%" PRIx64, symbols->at[low].name,
			address - symbols->at[low].address);
	else
		snprintf(out, size, "%s", symbols->at[low].name);
	return true;
}

static struct fields *read_format(const char *path, const char *texts)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct fields_source source = {
		.is_here = true, .texts = texts, .texts_len = texts ? strlen(texts) : 0};
	struct fields *fields = NULL;
	char *text = NULL;
	size_t len;

	if (!sysfile_read(&text, &len, "%s", path)) {
		source.format = text;
		(void)fields_new_from(&fields, &attr, NULL, system_dirs(), &source);
	}
	free(text);
	return fields;
}

static void print_raw(
	const struct fields *fields, const struct fields_line_names *names, const char *hex)
{
	static const char *const how[] = {[FIELDS_LINE_NONE] = "none",
		[FIELDS_LINE_FORMAT] = "format",
		[FIELDS_LINE_FIELDS] = "fields"};
	static char out[1 << 17];
	struct record record = {.type = PERF_RECORD_SAMPLE};
	size_t len = strlen(hex) / 2;
	uint8_t *raw = malloc(len ? len : 1);
	enum fields_line made;

	if (!raw)
		return;
	for (size_t i = 0; i < len; i++)
		(void)sscanf(hex + 2 * i, "%2hhx", &raw[i]);
	record.sample.raw = raw;
	record.sample.raw_len = (uint32_t)len;
	made = fields_line(fields, &record, names, out, sizeof(out));
	for (char *at = out; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	printf("%s\t%s\n", how[made], out);
	free(raw);
}

int main(int argc, char **argv)
{
	struct symbols symbols = {0};
	const struct fields_line_names names = {name_code, &symbols};
	struct fields *fields = NULL;
	char *line = NULL, *texts = NULL;
	size_t size = 0, len;
	ssize_t got;

	if (argc != 2)
		return 2;
	read_symbols(&symbols);
	(void)sysfile_read(&texts, &len, "%s/printk_formats", argv[1]);
	while ((got = getline(&line, &size, stdin)) > 0) {
		if (line[got - 1] == '\n')
			line[got - 1] = '\0';
		if (!strncmp(line, "format ", 7)) {
			fields_free(fields);
			fields = read_format(line + 7, texts);
		} else if (!strncmp(line, "raw ", 4)) {
			print_raw(fields, &names, line + 4);
		}
	}
	fields_free(fields);
	free(line);
	free(texts);
	free(symbols.at);
	return 0;
}
