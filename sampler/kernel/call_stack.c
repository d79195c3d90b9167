// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * call_stack.c - see call_stack.h.
 *
 * The call stack replaces the part of the chain after PERF_CONTEXT_USER, like in perf
 * (tools/perf/util/machine.c).  The `from` of a branch is the call itself.  Chains hold return
 * addresses, which are looked up one byte before, so `from` + 1 goes into the chain.
 */
#include "sampler/kernel/call_stack.h"

bool call_stack_in(const struct record_format *format)
{
	const uint64_t both = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;

	return (format->sample_type & both) == both &&
		format->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/* Returns false for 0, and for an address that plus 1 would be a context marker. */
static bool is_address(uint64_t address)
{
	return address && address < (uint64_t)PERF_CONTEXT_MAX - 1;
}

static bool begins_user_part(uint64_t word)
{
	return word == (uint64_t)PERF_CONTEXT_USER || word == RECORD_CONTEXT_USER_DEFERRED;
}

size_t call_stack_chain(
	const struct record *record, const struct record_format *format, uint64_t *out, size_t max)
{
	const struct record_sample *sample = &record->sample;
	const struct perf_branch_entry *branches = sample->more.branches;
	const uint64_t n_branches = sample->has_more ? sample->more.n_branches : 0;
	uint64_t leaf, is_caller = 0;
	size_t n = 0;

	while (n < sample->chain_len && n + 2 < max && !begins_user_part(sample->chain[n])) {
		out[n] = sample->chain[n];
		n++;
	}
	/* No marker means no user part, unless user chains were not requested. */
	if (!n_branches || (n == sample->chain_len && !format->no_user_chain))
		return 0;
	leaf = branches[0].to;
	if ((record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER && sample->ip)
		leaf = sample->ip;
	out[n++] = (uint64_t)PERF_CONTEXT_USER;
	if (is_address(leaf)) {
		out[n++] = leaf;
		is_caller = 1;
	}
	for (uint64_t i = 0; i < n_branches && n < max; i++) {
		if (!is_address(branches[i].from))
			continue;
		out[n++] = branches[i].from + is_caller;
		is_caller = 1;
	}
	return n;
}
