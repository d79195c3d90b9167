/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trigger.h - when the flight recorder takes a snapshot by itself: the target uses much CPU for some time.
 *
 * "cpu>80%,5": more than 80 percent of one CPU (250% are two and a half) for five seconds.  Pure; any thread.
 */
#ifndef SAMPLER_TRIGGER_H
#define SAMPLER_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trigger_spec {
	double percent; /* of one CPU; 0: no trigger */
	double seconds; /* in a row */
};

/* "cpu>PERCENT[%][,SECONDS[s]]"; without seconds one.  0; or -EINVAL with *bad at the character that cannot be right. */
int trigger_parse(const char *text, struct trigger_spec *out, size_t *bad);

struct trigger {
	struct trigger_spec spec;
	uint64_t above_ns; /* so long it has been above */
	bool fired; /* not again before it has been below */
};

/* What was used of a CPU in the last interval.  True once, when it has been above for long enough. */
bool trigger_feed(struct trigger *trigger, double percent, uint64_t interval_ns);

/* Ticks that all CPUs were busy, from the text of /proc/stat.  0 or -EBADMSG. */
int trigger_parse_busy(const char *text, uint64_t *ticks);

#endif
