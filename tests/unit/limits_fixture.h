/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * limits_fixture.h - limits of an ordinary user, and a check of texts, for tests of sentences.
 */
#ifndef TESTS_UNIT_LIMITS_FIXTURE_H
#define TESTS_UNIT_LIMITS_FIXTURE_H

#include "sampler/machine/proc.h"

#include <string.h>

/* Returns the limits of an ordinary user with Debian's kernel settings. */
static inline struct proc_limits limits_ordinary(int paranoid)
{
	return (struct proc_limits){
		.paranoid = paranoid,
		.max_sample_rate = 100000,
		.mlock_kb = 516,
		.max_stack = 127,
		.cpu_time_max_percent = 25,
		.nofile_soft = 1024,
		.nofile_hard = 4096,
		.memlock_soft = 65536,
		.memlock_hard = 65536,
		.euid = 1000,
	};
}

static inline void expect_text(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("'%s' does not say '%s'", text, wanted);
}

#endif
