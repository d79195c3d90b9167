// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * data.c - the options for additional sample data: addresses, page sizes, weights, branches.
 */
#include "sampler/control/config.h"
#include "tui/options/private.h"
#include "tui/session/request.h"

#include <errno.h>
#include <string.h>

/* The names of perf. */
static const struct {
	const char *name;
	uint64_t bit;
} branches[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
};
#define BRANCHES (sizeof(branches) / sizeof(branches[0]))

/* Bits that choose no kind of branch: they set only the details recorded, and the privilege
 * level. */
#define NO_KIND                                                                                    \
	(PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES | \
		PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX |                       \
		PERF_SAMPLE_BRANCH_PRIV_SAVE)

static uint64_t find_branch(const char *text, size_t len)
{
	for (size_t i = 0; i < BRANCHES; i++)
		if (strlen(branches[i].name) == len && !memcmp(branches[i].name, text, len))
			return branches[i].bit;
	return 0;
}

static int refuse_branch(struct args *args, const char *text, size_t len)
{
	const char *names[BRANCHES + 1] = {NULL}, *near;

	for (size_t i = 0; i < BRANCHES; i++)
		names[i] = branches[i].name;
	near = args_nearest(text, len, names);
	if (near)
		return args_refuse(args, "-j '%.*s': did you mean %s?", (int)len, text, near);
	return args_refuse(args,
		"-j '%.*s': no such branches; there are any, any_call, any_ret, ind_call, ind_jmp, "
		"call, cond, in_tx, no_tx, abort_tx, stack; u, k, hv; no_flags, no_cycles, "
		"save_type, hw_index, priv",
		(int)len, text);
}

static int parse_branches(struct args *args, const char *text)
{
	struct engine_config *engine = &args->request.engine;
	const char *at = text;

	for (;;) {
		size_t len = strcspn(at, ",");
		uint64_t bit = find_branch(at, len);

		if (!bit)
			return refuse_branch(args, at, len);
		engine->branch_sample_type |= bit;
		if (!at[len])
			break;
		at += len + 1;
	}
	/* Like perf: without a kind, record any branch. */
	if (!(engine->branch_sample_type & ~(uint64_t)NO_KIND))
		engine->branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
	engine->sample_more |= PERF_SAMPLE_BRANCH_STACK;
	if (engine->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) {
		if (engine->branch_sample_type &
			~(uint64_t)(NO_KIND | PERF_SAMPLE_BRANCH_CALL_STACK))
			return args_refuse(args,
				"--call-graph lbr and -j stack: the processor records either call "
				"stacks or branches of other kinds (-b, -j)");
		/* LBR call stacks are complete without copies of the stack. */
		engine->stack_bytes = 0;
		engine->stack_adapts = false;
	}
	return 0;
}

int args_apply_data(struct args *args, int id, const char *text)
{
	struct engine_config *engine = &args->request.engine;

	switch (id) {
	case ARG_DATA:
	case ARG_DATA_LETTER:
		engine->sample_more |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
		return 0;
	case ARG_PHYS_DATA:
		engine->sample_more |= PERF_SAMPLE_PHYS_ADDR;
		return 0;
	case ARG_DATA_PAGE_SIZE:
		engine->sample_more |= PERF_SAMPLE_DATA_PAGE_SIZE;
		return 0;
	case ARG_CODE_PAGE_SIZE:
		engine->sample_more |= PERF_SAMPLE_CODE_PAGE_SIZE;
		return 0;
	case ARG_WEIGHT:
		engine->sample_more |= PERF_SAMPLE_WEIGHT_STRUCT;
		return 0;
	case ARG_TRANSACTION:
		engine->sample_more |= PERF_SAMPLE_TRANSACTION;
		return 0;
	case ARG_BRANCH_ANY:
		return parse_branches(args, "any");
	case ARG_BRANCH_FILTER:
		return parse_branches(args, text);
	}
	return -ENOENT;
}
