// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_cgroup.c - any text as /proc/self/mounts, and as a cgroup path from a recording or option.
 */
#include "sampler/events/cgroup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cgroup_mounts mounts;
	char *text = malloc(size + 1);
	char label[CGROUP_LABEL_MAX];
	const char *root;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	cgroup_parse_mounts(text, &mounts);
	if (strnlen(mounts.perf_event, PATH_MAX) == PATH_MAX ||
		strnlen(mounts.unified, PATH_MAX) == PATH_MAX ||
		strnlen(mounts.other, PATH_MAX) == PATH_MAX)
		abort();
	root = cgroup_root(&mounts);
	if (root && !*root)
		abort();
	cgroup_label(&mounts, text, label);
	if (strnlen(label, sizeof(label)) == sizeof(label))
		abort();
	free(text);
	return 0;
}
