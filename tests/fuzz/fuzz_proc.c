// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_proc.c - any text as /proc/PID/stat and as a list of CPUs.
 */
#include "sampler/machine/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_process process;
	char *text = malloc(size + 1);
	int *cpus;
	size_t n, bad;

	if (!text)
		return 0;
	if (!proc_parse_stat((const char *)data, size, &process) &&
		(process.pid < 0 ||
			strnlen(process.comm, sizeof(process.comm)) == sizeof(process.comm)))
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	if (!proc_parse_cpu_list(text, &cpus, &n, &bad)) {
		for (size_t i = 1; i < n; i++)
			if (cpus[i - 1] >= cpus[i])
				abort();
		free(cpus);
	} else if (bad > strlen(text)) {
		abort();
	}
	free(text);
	return 0;
}
