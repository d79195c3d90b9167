/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.c - see memory.h.
 *
 * The history counts itself.  The allocator reports used and free memory, the kernel resident
 * memory.
 */
#include "tui/session/memory.h"

#include "symbols/client/symbols.h"
#include "tui/base/cost.h"
#include "tui/base/format.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_SHARE 4 /* names, tables and the program need about as much again */
#define LEAST_BYTES (4u << 20) /* the least that --memory accepts */

uint64_t memory_parse_status(const char *text, const char *name)
{
	size_t len = strlen(name);
	uint64_t kib;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, name, len) && text[len] == ':')
			return sscanf(text + len + 1, "%" SCNu64 " kB", &kib) == 1 ? kib * 1024 : 0;
	}
	return 0;
}

uint64_t memory_parse_buffer(const char *line)
{
	uint64_t start, end;

	if (!strstr(line, " anon_inode:[perf_event]") ||
		sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || end < start)
		return 0;
	return end - start;
}

static void read_status(struct memory_account *out)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char text[8192];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	out->resident = memory_parse_status(text, "VmRSS");
	out->symbols = memory_parse_status(text, "RssShmem");
	out->program = memory_parse_status(text, "RssFile");
}

static void read_buffers(struct memory_account *out)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		out->buffers += memory_parse_buffer(line);
	if (maps)
		fclose(maps);
}

void memory_measure(
	struct memory_account *out, const struct store_status *store, const struct symbols *symbols)
{
	struct symbols_status helpers;

	symbols_status(symbols, &helpers);
	*out = (struct memory_account){
		.history = store->memory_bytes,
		.history_limit = store->budget_bytes,
		.helpers = cost_resident_bytes(helpers.spawner_pid) +
			cost_resident_bytes(helpers.worker_pid),
	};
	read_status(out);
	read_buffers(out);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	const struct mallinfo2 info = mallinfo2();
	const uint64_t used = info.uordblks + info.hblkhd;

	out->tables = used > out->history ? used - out->history : 0;
	out->unused = info.fordblks;
#endif
	const uint64_t sum = out->history + out->tables + out->unused + out->symbols + out->program;
	out->untouched = sum > out->resident ? sum - out->resident : 0;
}

size_t memory_fit(size_t bytes, uint64_t cgroup_limit, uint64_t *limit)
{
	const uint64_t part = cgroup_limit / LIMIT_SHARE;

	*limit = cgroup_limit && part < bytes ? cgroup_limit : 0;
	if (!*limit)
		return bytes;
	return part > LEAST_BYTES ? (size_t)part : LEAST_BYTES;
}

void memory_explain_limit(uint64_t limit, size_t bytes, char out[MEMORY_TEXT_MAX])
{
	char texts[2][FORMAT_MAX];

	snprintf(out, MEMORY_TEXT_MAX,
		"the history is kept within %s, because the cgroup of strobe may take only %s of "
		"memory; --memory sets another size",
		format_bytes(texts[0], bytes), format_bytes(texts[1], limit));
}

void memory_describe(const struct memory_account *account, char out[MEMORY_TEXT_MAX])
{
	char texts[10][FORMAT_MAX];
	const uint64_t bytes[10] = {account->resident, account->history, account->history_limit,
		account->tables, account->symbols, account->program, account->unused,
		account->untouched, account->helpers, account->buffers};

	for (size_t i = 0; i < 10; i++)
		format_bytes(texts[i], bytes[i]);
	snprintf(out, MEMORY_TEXT_MAX,
		"strobe takes %s of memory: %s history (--memory limits it to %s), %s names and "
		"tables, %s symbols, %s program and libraries, %s freed and kept, less %s not "
		"touched yet; besides, %s in helper processes and %s of buffers in the kernel",
		texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], texts[7],
		texts[8], texts[9]);
}
