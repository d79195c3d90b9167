/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tasktime.c - the time that tasks ran on some CPUs; see tasktime.h. */
#include "sampler/accounting/tasktime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEVIATIONS 4 /* standard deviations of the number of ticks, which is binomial */

uint64_t tasktime_ticks(const char *text, tasktime_cpu_fn *wanted, const void *ctx)
{
	uint64_t sum = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned long long user, nice, system;
		int cpu;

		line += *line == '\n';
		/* The first line, "cpu  ...", is the sum of all CPUs. */
		if (!strncmp(line, "cpu ", 4))
			continue;
		if (sscanf(line, "cpu%d %llu %llu %llu", &cpu, &user, &nice, &system) == 4 &&
			wanted(cpu, ctx))
			sum += user + nice + system;
	}
	return sum;
}

double tasktime_excess(double ticks)
{
	return ticks > 0 ? DEVIATIONS * sqrt(ticks) : 0;
}
