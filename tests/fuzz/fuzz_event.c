// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_event.c - any text as the argument of -e: a canonical name must parse to itself.
 */
#include "sampler/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_spec *specs, *again;
	struct event_error error;
	size_t n, n_again;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (event_parse_list(text, &specs, &n, &error)) {
		if (error.kind == EVENT_ERROR_NONE || error.offset > strlen(text))
			abort();
		free(text);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (event_parse_list(specs[i].name, &again, &n_again, &error) || n_again != 1 ||
			memcmp(again, &specs[i], sizeof(*again)))
			abort();
		free(again);
	}
	free(specs);
	free(text);
	return 0;
}
