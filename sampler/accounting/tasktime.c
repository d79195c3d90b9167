/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tasktime.c - the time that tasks ran on some CPUs; see tasktime.h. */
#include "sampler/accounting/tasktime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEVIATIONS 4 /* standard deviations; chance exceeds them once in about 30,000 sums */

struct tasktime tasktime_read(const char *text, tasktime_cpu_fn *wanted, const void *ctx)
{
	struct tasktime sum = {0};

	/* CPUs come first.  The line "cpu  ..." is their sum. */
	for (const char *line = text; line && !strncmp(line, "cpu", 3);) {
		unsigned long long user, nice, system, idle, disk;
		int cpu;

		if (line[3] != ' ' &&
			sscanf(line, "cpu%d %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system,
				&idle, &disk) == 6 &&
			wanted(cpu, ctx)) {
			sum.tasks += user + nice + system;
			sum.idle += idle + disk;
		}
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return sum;
}

double tasktime_since(const struct tasktime *before, const struct tasktime *now, double ticks)
{
	const double tasks = (double)now->tasks - (double)before->tasks;
	const double busy = ticks - ((double)now->idle - (double)before->idle);
	const double ran = tasks < busy ? tasks : busy;

	return ran > 0 && now->idle >= before->idle ? ran : 0;
}

double tasktime_excess(double ran_ns, double tick_ns, double period_ns)
{
	return ran_ns > 0 ? DEVIATIONS * sqrt(ran_ns * (tick_ns + period_ns)) : 0;
}
