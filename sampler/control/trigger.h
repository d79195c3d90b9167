/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trigger.h - condition for the flight recorder's own snapshots: the target uses much CPU for some
 * time.
 *
 * "cpu>80%,5": more than 80 percent of one CPU (250% are two and a half CPUs) for five seconds.
 * Pure; any thread.
 */
#ifndef SAMPLER_CONTROL_TRIGGER_H
#define SAMPLER_CONTROL_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trigger_spec {
	double percent; /* percent of one CPU; 0: no trigger */
	double seconds; /* without interruption */
};

/* Parses "cpu>PERCENT[%][,SECONDS[s]]"; one second by default.  Returns 0, or -EINVAL with *bad at
 * the first wrong character. */
int trigger_parse(const char *text, struct trigger_spec *out, size_t *bad);

struct trigger {
	struct trigger_spec spec;
	uint64_t above_ns; /* time above the limit so far */
	bool fired; /* fires again only after it was below the limit */
};

/* Takes the CPU usage of the last interval, in percent of one CPU.  Returns true once, when it was
 * above the limit for long enough. */
bool trigger_feed(struct trigger *trigger, double percent, uint64_t interval_ns);

/* Reads the ticks that all CPUs were busy from the text of /proc/stat.  Returns 0 or -EBADMSG. */
int trigger_parse_busy(const char *text, uint64_t *ticks);

#endif
