// SPDX-License-Identifier: GPL-3.0-or-later
/* trigger.c - parses and evaluates a CPU trigger; see trigger.h. */
#include "sampler/control/trigger.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PERCENT_MAX 1e7
#define SECONDS_MAX 86400.0
#define NS_PER_S 1e9

/* Reads digits with an optional fraction, in every locale.  Returns the number of characters; 0 if
 * none. */
static size_t read_decimal(const char *text, double *out)
{
	double value = 0, unit = 1;
	size_t len = 0;
	bool fraction = false;

	if (!isdigit((unsigned char)*text))
		return 0;
	for (; isdigit((unsigned char)text[len]) || (text[len] == '.' && !fraction); len++) {
		if (text[len] == '.') {
			fraction = true;
			continue;
		}
		value = value * 10 + (text[len] - '0');
		unit *= fraction ? 10 : 1;
	}
	*out = value / unit;
	return len;
}

static bool accept(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len))
		return false;
	*text += len;
	return true;
}

int trigger_parse(const char *text, struct trigger_spec *out, size_t *bad)
{
	const char *at = text, *number;
	size_t len;

	*out = (struct trigger_spec){.seconds = 1};
	if (!accept(&at, "cpu"))
		goto bad;
	if (!accept(&at, ">"))
		goto bad;
	number = at;
	len = read_decimal(at, &out->percent);
	if (!len || !(out->percent > 0) || !(out->percent <= PERCENT_MAX)) {
		at = number;
		goto bad;
	}
	at += len;
	accept(&at, "%");
	if (accept(&at, ",")) {
		number = at;
		len = read_decimal(at, &out->seconds);
		if (!len || !(out->seconds > 0) || !(out->seconds <= SECONDS_MAX)) {
			at = number;
			goto bad;
		}
		at += len;
		accept(&at, "s");
	}
	if (!*at)
		return 0;
bad:
	*out = (struct trigger_spec){0};
	*bad = (size_t)(at - text);
	return -EINVAL;
}

bool trigger_feed(struct trigger *trigger, double percent, uint64_t interval_ns)
{
	if (trigger->spec.percent <= 0)
		return false;
	if (percent <= trigger->spec.percent) {
		trigger->above_ns = 0;
		trigger->fired = false;
		return false;
	}
	trigger->above_ns += interval_ns;
	/* Intervals never end exactly on the second. */
	if (trigger->fired || (double)trigger->above_ns < 0.98 * trigger->spec.seconds * NS_PER_S)
		return false;
	trigger->fired = true;
	return true;
}

int trigger_parse_busy(const char *text, uint64_t *ticks)
{
	/* proc(5): user nice system idle iowait irq softirq steal; user includes guests. */
	unsigned long long t[8] = {0};

	*ticks = 0;
	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
		    &t[4], &t[5], &t[6], &t[7]) < 4)
		return -EBADMSG;
	*ticks = t[0] + t[1] + t[2] + t[5] + t[6];
	return 0;
}
