/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call_stack.h - call chains from the processor's call stack (LBR, PERF_SAMPLE_BRANCH_CALL_STACK).
 */
#ifndef SAMPLER_CALL_STACK_H
#define SAMPLER_CALL_STACK_H

#include "sampler/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether samples of this format have chains and call stacks. */
bool call_stack_in(const struct record_format *format);

/* The sample's chain with its call stack in place of the user part, at most max words.  Returns how
 * many there are; 0: the chain stays as it is. */
size_t call_stack_chain(
	const struct record *record, const struct record_format *format, uint64_t *out, size_t max);

#endif
