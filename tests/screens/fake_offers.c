/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_offers.c - see fake_offers.h.
 */
#include "tests/screens/fake_offers.h"
#include "sampler/events/catalogue.h"
#include "tui/model/offers.h"
#include "tui/model/queries.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct fake_offers fake_offers;

#define OF(what) .group = CATALOGUE_##what
#define NOT_HERE .state = CATALOGUE_REFUSED, .error = ENOENT
#define SAMPLED .state = CATALOGUE_OPENS

static const struct catalogue_entry entries[] = {
	{OF(HARDWARE), NOT_HERE, .name = "cycles", .alias = "cpu-cycles",
		.description = "CPU cycles"},
	{OF(HARDWARE), NOT_HERE, .name = "instructions",
		.description = "instructions that were retired"},
	{OF(HARDWARE), NOT_HERE, .name = "cache-misses",
		.description = "accesses that missed the last level of cache"},
	{OF(SOFTWARE), SAMPLED, .name = "cpu-clock",
		.description = "time of the CPU, by its high-resolution timer"},
	{OF(SOFTWARE), SAMPLED, .name = "task-clock", .description = "time that the task ran"},
	{OF(SOFTWARE), .state = CATALOGUE_USER_ONLY, .error = EACCES, .name = "page-faults",
		.alias = "faults", .description = "pages that were touched and not there"},
	{OF(SOFTWARE), SAMPLED, .name = "context-switches", .alias = "cs",
		.description = "switches to another task"},
	{OF(CACHE), NOT_HERE, .name = "L1-dcache-loads",
		.description = "Level 1 data cache: loads"},
	{OF(CACHE), NOT_HERE, .name = "L1-dcache-load-misses",
		.description = "Level 1 data cache: loads that missed"},
	{OF(PMU), .state = CATALOGUE_COUNTS, .error = EINVAL, .name = "msr/tsc/", .pmu = "msr",
		.description = "msr/event=0x00/"},
	{OF(PMU), .state = CATALOGUE_COUNTS, .error = EINVAL, .name = "power/energy-pkg/",
		.pmu = "power", .description = "power/event=0x02/, in Joules"},
	{OF(PMU), .state = CATALOGUE_UNTRIED, .name = "power/energy-of/", .pmu = "power",
		.description = "power/event=?/"},
	{OF(FORM), SAMPLED, .name = "mem:ADDRESS[/LENGTH][:rwx]",
		.description = "A breakpoint on an address or a variable: mem:counter/8:w"},
	{OF(FORM), SAMPLED, .name = "kprobe:FUNCTION[+OFFSET]",
		.description = "A function of the kernel is entered"},
	{OF(TRACEPOINT), SAMPLED, .name = "block:block_rq_issue", .description = ""},
	{OF(TRACEPOINT), SAMPLED, .name = "sched:sched_process_fork", .description = ""},
	{OF(TRACEPOINT), SAMPLED, .name = "sched:sched_switch", .description = ""},
	{OF(TRACEPOINT), SAMPLED, .name = "sched:sched_wakeup", .description = ""},
	{OF(TRACEPOINT), .state = CATALOGUE_REFUSED, .error = EACCES,
		.name = "syscalls:sys_enter_\033[31mread", .description = ""},
};
#define N (sizeof(entries) / sizeof(*entries))

static int begin(struct model *model)
{
	(void)model;
	return 0;
}

static void list(struct model *model, struct offers_list *out)
{
	(void)model;
	*out = (struct offers_list){
		.error = fake_offers.error, .tracepoints_error = fake_offers.tracepoints_error};
	if (fake_offers.unread || fake_offers.error)
		return;
	out->entries = entries;
	out->n = out->tried = N;
	while (fake_offers.tracepoints_error && entries[out->n - 1].group == CATALOGUE_TRACEPOINT)
		out->tried = --out->n;
}

static void state(struct model *model, size_t i, struct offer_state *out)
{
	(void)model;
	*out = (struct offer_state){entries[i].state, entries[i].error, true};
}

static bool detail(struct model *model, size_t i, struct offer_detail *out)
{
	(void)model;
	memset(out, 0, sizeof(*out));
	if (entries[i].state == CATALOGUE_REFUSED)
		snprintf(out->reason, sizeof(out->reason),
			"cannot sample '%s': this machine has no hardware counters, as is usual in "
			"virtual machines: use cpu-clock instead",
			"cycles");
	if (entries[i].group == CATALOGUE_TRACEPOINT)
		snprintf(out->fields, sizeof(out->fields),
			"char prev_comm[16], pid_t prev_pid, int prev_prio, long prev_state, char "
			"next_comm[16], pid_t next_pid, int next_prio");
	return true;
}

const struct model_offer_ops fake_offer_ops = {
	.begin = begin,
	.list = list,
	.state = state,
	.detail = detail,
};
