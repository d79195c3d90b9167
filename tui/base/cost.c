/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cost.c - see cost.h: events or getrusage(2) for this process, /proc for the others.
 */
#include "tui/base/cost.h"

#include "sampler/kernel/self_counters.h"
#include "sampler/machine/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void cost_init(struct cost *cost)
{
	memset(cost, 0, sizeof(*cost));
	cost->cpu_percent = cost->instructions_per_s = -1.0;
}

void cost_fini(struct cost *cost)
{
	self_counters_close(cost->counters);
	cost->counters = NULL;
}

/* Resets the measurement: earlier values come from another clock. */
static void begin_anew(struct cost *cost)
{
	cost->measured_ns = cost->self_cpu_ns = cost->self_instructions = 0;
}

int cost_open(struct cost *cost)
{
	int ret;

	if (cost->counters)
		return -EALREADY;
	ret = self_counters_open(&cost->counters);
	if (!ret)
		begin_anew(cost);
	return ret;
}

int cost_parse_statm(const char *text, uint64_t *pages)
{
	uint64_t size;

	return sscanf(text, "%" SCNu64 " %" SCNu64, &size, pages) == 2 ? 0 : -EBADMSG;
}

uint64_t cost_resident_bytes(int32_t pid)
{
	char path[64], text[128];
	uint64_t pages;
	ssize_t n;
	int fd;

	if (pid < 1)
		return 0;
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return cost_parse_statm(text, &pages) ? 0 : pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t rusage_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

static uint64_t self_cpu_ns(struct cost *cost, struct self_counts *counts)
{
	*counts = (struct self_counts){0};
	if (cost->counters && self_counters_read(cost->counters, counts)) {
		cost_fini(cost);
		begin_anew(cost);
	}
	return cost->counters ? counts->cpu_ns : rusage_cpu_ns();
}

/* Returns the CPU time since the last measurement.  A new process counts from its start. */
static uint64_t other_cpu_ns(const struct cost *cost, int32_t pid, uint64_t cpu_ns)
{
	for (size_t i = 0; i < COST_PIDS; i++) {
		if (cost->others[i].pid == pid)
			return cpu_ns > cost->others[i].cpu_ns ? cpu_ns - cost->others[i].cpu_ns
							       : 0;
	}
	return cpu_ns;
}

void cost_update(
	struct cost *cost, uint64_t now_ns, uint64_t every_ns, const int32_t *pids, size_t n)
{
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t self_ns, used_ns;
	struct self_counts counts;
	struct cost next;

	if (cost->measured_ns && now_ns - cost->measured_ns < every_ns)
		return;
	self_ns = self_cpu_ns(cost, &counts);
	used_ns = self_ns > cost->self_cpu_ns ? self_ns - cost->self_cpu_ns : 0;
	next = (struct cost){
		.measured_ns = now_ns,
		.self_cpu_ns = self_ns,
		.counters = cost->counters,
		.self_instructions = counts.instructions,
		.instructions_per_s = -1.0,
		.cpu_percent = -1.0,
	};
	next.memory_bytes = cost_resident_bytes(getpid());
	for (size_t i = 0; i < n && i < COST_PIDS; i++) {
		struct proc_process process;

		if (pids[i] < 1 || proc_read(pids[i], &process))
			continue;
		next.others[i].pid = pids[i];
		next.others[i].cpu_ns = process.cpu_ticks * tick_ns;
		used_ns += other_cpu_ns(cost, pids[i], next.others[i].cpu_ns);
		next.memory_bytes += cost_resident_bytes(pids[i]);
	}
	if (cost->measured_ns && now_ns > cost->measured_ns)
		next.cpu_percent = 100.0 * (double)used_ns / (double)(now_ns - cost->measured_ns);
	if (next.cpu_percent >= 0.0 && counts.has_instructions &&
		counts.instructions >= cost->self_instructions)
		next.instructions_per_s = 1e9 *
			(double)(counts.instructions - cost->self_instructions) /
			(double)(now_ns - cost->measured_ns);
	*cost = next;
}
