// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * dump_event.c - prints parsed event texts, one line of "key=value" words for each event.
 *
 * usage: dump_event TEXT...
 *
 * A text that is refused gives "error KIND at OFFSET near NAME".
 */
#include "sampler/events/event.h"
#include "sampler/events/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void dump(const struct event_spec *spec)
{
	const struct perf_event_attr *attr = &spec->attr;
	bool breakpoint = attr->type == PERF_TYPE_BREAKPOINT;

	printf("type=%u config=%#" PRIx64 " config1=%#" PRIx64 " config2=%#" PRIx64
	       " config3=%#" PRIx64,
		attr->type, (uint64_t)attr->config, (uint64_t)attr->config1,
		(uint64_t)attr->config2, spec->config3);
	printf(" bp_type=%u exclude_user=%u exclude_kernel=%u exclude_hv=%u exclude_guest=%u "
	       "exclude_host=%u exclude_idle=%u",
		breakpoint ? attr->bp_type : 0, (unsigned int)attr->exclude_user,
		(unsigned int)attr->exclude_kernel, (unsigned int)attr->exclude_hv,
		(unsigned int)attr->exclude_guest, (unsigned int)attr->exclude_host,
		(unsigned int)attr->exclude_idle);
	printf(" precise_ip=%u pinned=%u exclusive=%u freq=%u sample=%" PRIu64
	       " max_stack=%u group=%u name=%s\n",
		(unsigned int)attr->precise_ip, (unsigned int)attr->pinned,
		(unsigned int)attr->exclusive, (unsigned int)attr->freq,
		(uint64_t)attr->sample_period, attr->sample_max_stack, spec->group, spec->name);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct event_spec *specs;
		struct event_error error;
		size_t n;
		int err = event_parse_list(argv[i], &specs, &n, &error);

		if (err) {
			printf("error %d at %zu near %s\n", (int)error.kind, error.offset,
				error.near);
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			event_set_freq(&specs[k], 4000);
			dump(&specs[k]);
		}
		free(specs);
	}
	return 0;
}
