/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groups.c - the values of --group: keys, and fields that the samples of some event have.
 */
#include "tui/options/private.h"

#include "sampler/events/event.h"
#include "sampler/fields/fields.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/query/field_names.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS "symbol, image, process, thread, cpu, command, address, line, event, cgroup"

static const char *const group_names[GROUP_KEYS + 1] = {
	[GROUP_PROCESS] = "process",
	[GROUP_THREAD] = "thread",
	[GROUP_CPU] = "cpu",
	[GROUP_SYMBOL] = "symbol",
	[GROUP_IMAGE] = "image",
	[GROUP_COMMAND] = "command",
	[GROUP_ADDRESS] = "address",
	[GROUP_EVENT] = "event",
	[GROUP_CGROUP] = "cgroup",
	[GROUP_LINE] = "line",
	NULL,
};

const char *args_group_name(enum query_group group)
{
	return group_names[group];
}

/* Returns our name for a sort key of perf, or NULL. */
static const char *group_of_perf(const char *text, size_t len)
{
	static const char *const names[][2] = {
		{"comm", "command"},
		{"dso", "image"},
		{"sym", "symbol"},
		{"pid", "process"},
		{"tid", "thread"},
		{"addr", "address"},
		{"ip", "address"},
		{"srcline", "line"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i][0]) == len && !memcmp(names[i][0], text, len))
			return names[i][1];
	return NULL;
}

static int refuse_twice(struct args *args, const char *text, const char *name)
{
	return args_refuse(args, "--group '%s': %s is there twice", text, name);
}

static int add_field(struct args *args, const char *text, const char *name, size_t len)
{
	struct request *request = &args->request;
	const char *copy = event_text(name, len);

	if (!copy)
		return args_no_memory(args);
	for (size_t i = 0; i < request->n_fields; i++)
		if (!strcmp(request->fields[i], copy))
			return refuse_twice(args, text, copy);
	if (request->n_fields == QUERY_FIELDS_MAX)
		return args_refuse(args, "--group '%s': at most %d fields at one time", text,
			QUERY_FIELDS_MAX);
	request->groups[request->n_groups++] = (enum query_group)(GROUP_FIELD + request->n_fields);
	request->fields[request->n_fields++] = copy;
	return 0;
}

static int add_group(struct args *args, const char *text, const char *name, size_t len)
{
	const size_t prefix = strlen(FIELD_PREFIX);
	struct request *request = &args->request;
	enum query_group group = 0;
	const char *near;

	if (len > prefix && !memcmp(name, FIELD_PREFIX, prefix))
		return add_field(args, text, name + prefix, len - prefix);
	while (group < GROUP_KEYS &&
		(strlen(group_names[group]) != len || memcmp(group_names[group], name, len)))
		group++;
	if (group == GROUP_KEYS) {
		near = group_of_perf(name, len);
		if (near)
			return args_refuse(args,
				"--group '%.*s': did you mean %s? (A field of samples with that "
				"name "
				"is " FIELD_PREFIX "%.*s)",
				(int)len, name, near, (int)len, name);
		return add_field(args, text, name, len);
	}
	for (size_t i = 0; i < request->n_groups; i++)
		if (request->groups[i] == group)
			return refuse_twice(args, text, group_names[group]);
	request->groups[request->n_groups++] = group;
	return 0;
}

int args_parse_groups(struct args *args, const char *text)
{
	const char *at = text;

	args->request.n_groups = args->request.n_fields = 0;
	for (;;) {
		size_t len = strcspn(at, ",");
		int error;

		if (!len)
			return args_refuse(args, "--group '%s': a name is missing", text);
		error = add_group(args, text, at, len);
		if (error || !at[len])
			return error;
		at += len + 1;
	}
}

/* Finds the sample fields of each event, the same way as the engine. */
static int find_schemas(struct args *args, struct fields **schemas)
{
	for (size_t i = 0; i < args->n_events; i++) {
		const struct event_spec *spec = &args->events[i];
		struct perf_event_attr attr = spec->attr;
		int ret;

		attr.sample_type |= args->request.engine.sample_more;
		ret = fields_new(&schemas[i], &attr, spec->pmu, system_dirs(), NULL);
		if (ret == -ENOMEM)
			return args_no_memory(args);
		if (ret)
			return args_refuse(args, "--group: what fields '%s' has cannot be read: %s",
				spec->name, explain_errno(ret));
	}
	return 0;
}

int args_check_fields(struct args *args)
{
	const struct request *request = &args->request;
	char sentence[1024];
	struct fields **schemas;
	int error;

	if ((!request->n_fields && !request->n_only) || request->n_files)
		return 0;
	schemas = calloc(args->n_events + 1, sizeof(*schemas));
	if (!schemas)
		return args_no_memory(args);
	error = find_schemas(args, schemas);
	for (size_t i = 0; i < request->n_fields && !error; i++) {
		const char *name = request->fields[i];
		const char *near = args_nearest(name, strlen(name), group_names);

		if (field_names_check(name, (const struct fields *const *)schemas, args->n_events,
			    sentence, sizeof(sentence)))
			continue;
		error = near ? args_refuse(args, "--group '%s': did you mean %s?", name, near)
			     : args_refuse(args,
				       "--group '%s': %s; otherwise it must be some of " GROUPS,
				       name, sentence);
	}
	for (size_t i = 0; i < request->n_only && !error; i++) {
		struct expr_error wrong;

		if (expr_check_fields(&request->only[i], (const struct fields *const *)schemas,
			    args->n_events, &wrong))
			error = args_refuse(args, "--only: %s", wrong.what);
	}
	for (size_t i = 0; i < args->n_events; i++)
		fields_free(schemas[i]);
	free(schemas);
	return error;
}
