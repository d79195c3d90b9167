// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_config.c - any text as a configuration: errors have places within it, and accepted text
 * reads back unchanged.
 */
#include "tui/options/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t size_now;

static void check_place(unsigned int line, unsigned int column, const char *sentence, void *ctx)
{
	(void)ctx;
	if (!line || !column || line > size_now || column > size_now + 1 || !*sentence)
		abort();
	for (const char *at = sentence; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config config, again;
	char *text = NULL;
	size_t len;
	FILE *out;

	memset(&config, 0, sizeof(config));
	memset(&again, 0, sizeof(again));
	size_now = size;
	config_parse(&config, (const char *)data, size, check_place, NULL);
	if (!config.given)
		return 0;
	out = open_memstream(&text, &len);
	if (!out)
		return 0;
	if (config_write(out, &config) || fclose(out))
		abort();
	config_parse(&again, text, len, check_place, NULL);
	if (again.given != config.given ||
		memcmp(again.values, config.values, sizeof(config.values)))
		abort();
	free(text);
	return 0;
}
