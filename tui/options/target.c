/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target.c - the values of options that choose what to sample, and how.
 *
 * With a recording, the same letters select recorded samples by filter terms.
 */
#include "tui/base/grow.h"
#include "tui/options/private.h"

#include "sampler/control/trigger.h"
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/machine/pmu.h"

#include "sampler/control/config.h"
#include "sampler/machine/proc.h"
#include "tui/explain/explain.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Appends the ids of "12,34". */
static int parse_ids(
	struct args *args, const char *option, const char *text, int32_t **ids, size_t *n)
{
	const char *at = text;

	for (;;) {
		size_t len = strcspn(at, ",");
		char word[16];
		uint64_t value;

		if (!len)
			return args_refuse(args, "%s '%s': an id is missing", option, text);
		if (len >= sizeof(word))
			return args_refuse(args, "%s '%.*s': not a process or thread id", option,
				(int)len, at);
		memcpy(word, at, len);
		word[len] = '\0';
		if (args_number(word, 1, INT32_MAX, &value))
			return args_refuse(
				args, "%s '%s': not a process or thread id", option, word);
		if (grow_exact(ids, *n + 1, sizeof(**ids)))
			return args_no_memory(args);
		(*ids)[(*n)++] = (int32_t)value;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

/* Appends the words of "a,b". */
static int parse_words(
	struct args *args, const char *option, const char *text, char ***words, size_t *n)
{
	const char *at = text;

	for (;;) {
		size_t len = strcspn(at, ",");
		int error;

		if (!len)
			return args_refuse(args, "%s '%s': a name is missing", option, text);
		error = args_add_word(args, words, n, at, len);
		if (error)
			return error;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int parse_cpus(struct args *args, const char *text)
{
	int *cpus;
	size_t n, bad = 0;
	int error = proc_parse_cpu_list(text, &cpus, &n, &bad);

	if (error == -EINVAL)
		return args_refuse(args, "-C '%s': not a list of CPUs such as 0-3,8 (at '%s')",
			text, bad < strlen(text) ? text + bad : "its end");
	if (error)
		return args_no_memory(args);
	free(args->cpus);
	args->cpus = cpus;
	args->n_cpus = n;
	return 0;
}

/* Parses event names only: a recording's events are known by name alone. */
static int parse_event_names(struct args *args, const char *text)
{
	struct request *request = &args->request;
	const char *at = text;

	for (;;) {
		size_t len = event_name_len(at);
		int error;

		if (!len)
			return args_refuse(args, "-e '%s': an event's name is missing", text);
		error = args_add_word(
			args, &request->event_names, &request->n_event_names, at, len);
		if (error)
			return error;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

/* Appends an array of events, and frees it. */
static int add_events(
	struct args *args, const char *option, const char *text, struct event_spec *specs, size_t n)
{
	uint16_t groups = 0;

	if (n > ENGINE_EVENTS_MAX - args->n_events) {
		free(specs);
		return args_refuse(
			args, "%s '%s': more than %d events", option, text, ENGINE_EVENTS_MAX);
	}
	if (grow_exact(&args->events, args->n_events + n, sizeof(*args->events))) {
		free(specs);
		return args_no_memory(args);
	}
	/* Groups are numbered within each text, so renumber them after those of earlier -e
	 * options. */
	for (size_t i = 0; i < args->n_events; i++)
		if (args->events[i].group > groups)
			groups = args->events[i].group;
	for (size_t i = 0; i < n; i++)
		if (specs[i].group)
			specs[i].group = (uint16_t)(specs[i].group + groups);
	memcpy(args->events + args->n_events, specs, n * sizeof(*specs));
	args->events_before = args->n_events;
	args->n_events += n;
	free(specs);
	return 0;
}

static int parse_events(struct args *args, const char *option, const char *text)
{
	struct event_spec *specs;
	struct event_error bad;
	size_t n;
	bool pfm = strcmp(option, "-e") != 0;
	int error = pfm ? event_parse_pfm_list(text, &specs, &n, &bad)
			: event_parse_list(text, &specs, &n, &bad);

	if (error == -EINVAL) {
		size_t len;

		explain_option_error(option, text, &bad, args->message, args->size);
		len = strlen(args->message);
		explain_event_caret(text, &bad, args->message + len, args->size - len);
		return error;
	}
	return error ? args_no_memory(args) : add_events(args, option, text, specs, n);
}

/* Combines two filters with &&. */
static const char *join_filters(const char *before, const char *text)
{
	const char *joined = NULL;
	char *both;

	if (!before)
		return event_text(text, strlen(text));
	if (asprintf(&both, "(%s) && (%s)", before, text) < 0)
		return NULL;
	joined = event_text(both, strlen(both));
	free(both);
	return joined;
}

/* Adds an address filter for tracing hardware, "filter 0x1000/0x100@/bin/ls".  The PMU reports how
 * many it has. */
static int add_address_filter(struct args *args, const char *text, struct event_spec *event)
{
	unsigned int most = pmu_address_filters(system_dirs(), event->pmu);
	char name[EVENT_NAME_MAX];

	snprintf(name, sizeof(name), "%s", event->name);
	if (!most)
		return args_refuse(args,
			"--filter '%s': it is of the tracepoints of the -e before it, and '%s' is "
			"none; nor has its PMU address filters (nr_addr_filters)",
			text, name);
	if (event->filter)
		return args_refuse(args,
			"--filter '%s': '%s' has one already; address filters are joined by "
			"commas, at most %u",
			text, name, most);
	event->filter = event_text(text, strlen(text));
	return event->filter ? 0 : args_no_memory(args);
}

static int parse_filter(struct args *args, const char *text)
{
	char name[EVENT_NAME_MAX];

	if (!text[strspn(text, " \t\n")])
		return args_refuse(args, "--filter '%s': an expression is missing", text);
	if (!args->n_events)
		return args_refuse(args,
			"--filter '%s': it is of the tracepoints of the -e before it, and there is "
			"none: -e sched:sched_switch --filter 'prev_pid != 0'",
			text);
	for (size_t i = args->events_before; i < args->n_events; i++) {
		struct event_spec *event = &args->events[i];

		if (event->attr.type != PERF_TYPE_TRACEPOINT && !event_is_probe(event)) {
			int error;

			if (event->pmu) {
				error = add_address_filter(args, text, event);
				if (error)
					return error;
				continue;
			}
			snprintf(name, sizeof(name), "%s", event->name);
			return args_refuse(args,
				"--filter '%s': it is of the tracepoints of the -e before it, and "
				"'%s' is none",
				text, name);
		}
		event->filter = join_filters(event->filter, text);
		if (!event->filter)
			return args_no_memory(args);
	}
	return 0;
}

static int add_program(struct args *args, const char *text)
{
	if (!text[0] || !strcmp(text, "id:"))
		return args_refuse(args,
			"--bpf '%s': a program is the path where it is pinned, or id:N", text);
	if (!args->n_events)
		return args_refuse(args,
			"--bpf '%s': it is of the events of the -e before it, and there is none",
			text);
	for (size_t i = args->events_before; i < args->n_events; i++) {
		if (args->events[i].bpf)
			return args_refuse(args, "--bpf '%s': an event takes one program", text);
		args->events[i].bpf = event_text(text, strlen(text));
		if (!args->events[i].bpf)
			return args_no_memory(args);
	}
	return 0;
}

static int parse_freq(struct args *args, const char *text)
{
	struct proc_limits limits;

	if (strcmp(text, "max")) {
		if (args_number(text, 1, 10000000, &args->freq_hz))
			return args_refuse(args, "-F '%s': not a frequency in Hz, nor 'max'", text);
		return 0;
	}
	proc_limits(&limits);
	if (limits.max_sample_rate < 1)
		return args_refuse(
			args, "-F max: kernel.perf_event_max_sample_rate cannot be read");
	args->freq_hz = (uint64_t)limits.max_sample_rate;
	return 0;
}

static int parse_call_graph(struct args *args, const char *text)
{
	struct engine_config *engine = &args->request.engine;
	uint64_t bytes = ENGINE_STACK_BYTES;

	engine->stack_bytes = 0;
	if (engine->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) {
		engine->branch_sample_type = 0;
		engine->sample_more &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	}
	engine->callchain = strcmp(text, "no") != 0;
	engine->stack_adapts = !strcmp(text, "auto");
	if (engine->stack_adapts)
		engine->stack_bytes = ENGINE_STACK_BYTES;
	if (!strcmp(text, "fp") || !strcmp(text, "no") || engine->stack_adapts)
		return 0;
	if (!strcmp(text, "lbr"))
		return args_apply_data(args, ARG_BRANCH_FILTER, "stack,u,no_cycles,no_flags");
	if (strncmp(text, "dwarf", 5) || (text[5] && text[5] != ','))
		return args_refuse(args,
			"--call-graph '%s': must be auto, fp, dwarf[,BYTES], lbr or no", text);
	if (text[5] && args_number(text + 6, 256, UNWIND_STACK_MAX, &bytes))
		return args_refuse(args,
			"--call-graph '%s': not a number of bytes from 256 to %u to copy of each "
			"stack",
			text, UNWIND_STACK_MAX);
	engine->stack_bytes = (uint32_t)bytes / 8 * 8;
	return 0;
}

static int parse_trigger(struct args *args, const char *text)
{
	size_t bad;

	if (!trigger_parse(text, &args->request.engine.flight_trigger, &bad))
		return 0;
	return args_refuse(args,
		"--flight-trigger '%s': '%s' is not understood; cpu>80%%,5 is more than 80%% of "
		"one CPU for "
		"5 seconds",
		text, text + bad);
}

int args_apply_target(struct args *args, int id, const char *text)
{
	struct request *request = &args->request;
	bool filters = request->n_files || (text && text[0] == '!');
	uint64_t value;

	switch (id) {
	case ARG_PID:
		return filters ? args_add_terms(args, "-p", FILTER_PID, text)
			       : parse_ids(args, "-p", text, &args->pids, &args->n_pids);
	case ARG_TID:
		return filters ? args_add_terms(args, "-t", FILTER_TID, text)
			       : parse_ids(args, "-t", text, &args->tids, &args->n_tids);
	case ARG_N:
		/* perf uses the letter for rows, strobe for names: see the help text. */
		if ((request->command == CMD_REPORT || request->command == CMD_DIFF ||
			    request->command == CMD_ANNOTATE) &&
			!args_number(text, 0, SIZE_MAX, &value)) {
			request->rows = (size_t)value;
			return 0;
		}
		return filters ? args_add_terms(args, "-n", FILTER_COMM, text)
			       : parse_words(args, "-n", text, &request->names, &request->n_names);
	case ARG_NAME:
		return filters
			? args_add_terms(args, "--name", FILTER_COMM, text)
			: parse_words(args, "--name", text, &request->names, &request->n_names);
	case ARG_USER:
		return parse_words(args, "-u", text, &request->users, &request->n_users);
	case ARG_CPU:
		return filters ? args_add_terms(args, "-C", FILTER_CPU, text)
			       : parse_cpus(args, text);
	case ARG_CGROUP:
		return parse_words(args, "-G", text, &request->cgroups, &request->n_cgroups);
	case ARG_ALL:
		request->engine.target.system_wide = true;
		return 0;
	}
	return -ENOENT;
}

int args_apply_sampling(struct args *args, int id, const char *text)
{
	static const char *const scopes[] = {
		[SCOPE_AUTO] = "auto",
		[SCOPE_TASK] = "task",
		[SCOPE_CPU] = "cpu",
		[SCOPE_INHERIT] = "inherit",
		NULL,
	};
	struct engine_config *engine = &args->request.engine;
	uint64_t value;
	int choice;

	switch (id) {
	case ARG_EVENT:
		return args->request.n_files ? parse_event_names(args, text)
					     : parse_events(args, "-e", text);
	case ARG_WALL:
		return parse_events(args, "-e", "wall");
	case ARG_PFM_EVENTS:
		return parse_events(args, "--pfm-events", text);
	case ARG_EVENT_FILTER:
		return parse_filter(args, text);
	case ARG_BPF:
		return add_program(args, text);
	case ARG_FREQ:
		return parse_freq(args, text);
	case ARG_PERIOD:
		if (args_number(text, 1, INT64_MAX, &args->period))
			return args_refuse(args, "-c '%s': not a number of events above 0", text);
		return 0;
	case ARG_CHAIN:
		engine->callchain = true;
		return 0;
	case ARG_CALL_GRAPH:
		return parse_call_graph(args, text);
	case ARG_NO_CHAIN:
		engine->callchain = false;
		return 0;
	case ARG_MAX_STACK:
		if (args_number(text, 1, STACK_DEPTH_MAX, &value))
			return args_refuse(args,
				"--max-stack '%s': not a number of frames from 1 to %d", text,
				STACK_DEPTH_MAX);
		engine->max_stack = (uint16_t)value;
		return 0;
	case ARG_KERNEL_CHAINS:
		engine->callchain = engine->no_user_chain = true;
		return 0;
	case ARG_USER_CHAINS:
		engine->callchain = engine->no_kernel_chain = true;
		return 0;
	case ARG_OWN_THREADS:
		engine->own_threads = true;
		return 0;
	case ARG_UNTIL_EXEC:
		engine->until_exec = true;
		return 0;
	case ARG_STAT:
		engine->inherit_stat = true;
		return 0;
	case ARG_DURATION:
		if (args_decimal(text, 0.001, 1e9, &args->request.duration_s))
			return args_refuse(
				args, "--duration '%s': not a number of seconds above 0", text);
		return 0;
	case ARG_SCOPE:
		if (args_choose(args, "--scope", text, scopes, &choice))
			return -EINVAL;
		engine->scope = (enum engine_scope)choice;
		return 0;
	case ARG_KEEP_STACKS:
		engine->keep_stacks = true;
		return 0;
	case ARG_NO_CREDIT:
		engine->no_credit = true;
		return 0;
	case ARG_FLIGHT:
		if (args_decimal(text, 0.1, 86400, &engine->flight_s))
			return args_refuse(args,
				"--flight-recorder '%s': not a number of seconds from 0.1 to 86400",
				text);
		return 0;
	case ARG_FLIGHT_TRIGGER:
		return parse_trigger(args, text);
	case ARG_INTERVAL:
		if (args_number(text, 10, 86400000, &value))
			return args_refuse(args,
				"--interval '%s': not a number of milliseconds of at least 10",
				text);
		args->request.interval_ms = (unsigned int)value;
		return 0;
	case ARG_REPEAT:
		if (args_number(text, 1, 1000000, &value))
			return args_refuse(
				args, "--repeat '%s': not a number of runs above 0", text);
		args->request.repeat = (unsigned int)value;
		return 0;
	case ARG_NO_INHERIT:
		args->request.no_inherit = true;
		return 0;
	case ARG_MEMORY:
		if (args_size(text, 4ull << 20, 1ull << 40, &value))
			return args_refuse(args,
				"--memory '%s': not a size of at least 4M, such as 256M", text);
		engine->memory_bytes = (size_t)value;
		args->request.memory_given = true;
		return 0;
	case ARG_RING_PAGES:
		if (args_number(text, 1, 65536, &value) || (value & (value - 1)))
			return args_refuse(args,
				"--ring-pages '%s': not a power of two from 1 to 65536", text);
		engine->ring_pages = (unsigned int)value;
		return 0;
	case ARG_WAKEUP_EVENTS:
		if (args_number(text, 1, UINT32_MAX, &value))
			return args_refuse(
				args, "--wakeup-events '%s': not a number above 0", text);
		engine->wakeup_events = (uint32_t)value;
		return 0;
	case ARG_WATERMARK:
		if (args_size(text, 1, 1u << 30, &value))
			return args_refuse(
				args, "--watermark '%s': not a size such as 4096 or 64K", text);
		engine->wakeup_bytes = (uint32_t)value;
		return 0;
	}
	return -ENOENT;
}
