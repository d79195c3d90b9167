/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call_stack.h - call chains from the processor's call stack (LBR, PERF_SAMPLE_BRANCH_CALL_STACK).
 */
#ifndef SAMPLER_KERNEL_CALL_STACK_H
#define SAMPLER_KERNEL_CALL_STACK_H

#include "sampler/kernel/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether samples of this format have both a chain and a call stack. */
bool call_stack_in(const struct record_format *format);

/* Writes the sample's chain with the call stack in place of its user part, at most max words.
 * Returns the number of words; 0 if the chain should stay unchanged. */
size_t call_stack_chain(
	const struct record *record, const struct record_format *format, uint64_t *out, size_t max);

#endif
