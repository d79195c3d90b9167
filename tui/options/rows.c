/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - the values of options that filter samples and choose how they are shown.
 */
#include "tui/base/grow.h"
#include "tui/options/private.h"

#include "sampler/machine/proc.h"
#include "symbols/base/function_name.h"
#include "tui/export/name.h"
#include "tui/options/config.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_term(struct args *args, const struct filter_term *term)
{
	struct request *request = &args->request;

	if (grow_exact(&request->terms, request->n_terms + 1, sizeof(*request->terms)))
		return args_no_memory(args);
	request->terms[request->n_terms++] = *term;
	return 0;
}

/* Returns the length of the first word.  Commas within brackets belong to a function's name. */
static size_t word_len(const char *text, enum filter_field field)
{
	size_t len = 0, end;

	if (field != FILTER_SYMBOL)
		return strcspn(text, ",");
	for (; text[len] && text[len] != ','; len = end)
		(void)function_token(text, len, &end);
	return len;
}

static int add_texts(struct args *args, const char *option, const char *whole,
	struct filter_term term, const char *at)
{
	for (;;) {
		size_t len = word_len(at, term.field);
		int error;

		if (!len)
			return args_refuse(args, "%s '%s': a name is missing", option, whole);
		if (*at == '!')
			return args_refuse(args,
				"%s '%s': '!' leaves out the whole list, and stands before it",
				option, whole);
		term.text = strndup(at, len);
		if (!term.text)
			return args_no_memory(args);
		error = add_term(args, &term);
		if (error) {
			free(term.text);
			return error;
		}
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int add_ids(struct args *args, const char *option, const char *whole,
	struct filter_term term, const char *at)
{
	for (;;) {
		size_t len = strcspn(at, ",");
		char word[16];
		uint64_t value;
		int error;

		if (!len)
			return args_refuse(args, "%s '%s': an id is missing", option, whole);
		snprintf(word, sizeof(word), "%.*s", (int)len, at);
		/* Recordings have a process 0: the kernel's idle tasks. */
		if (len >= sizeof(word) || args_number(word, 0, INT32_MAX, &value))
			return args_refuse(args, "%s '%.*s': not a process or thread id", option,
				(int)len, at);
		term.first = term.last = (int64_t)value;
		error = add_term(args, &term);
		if (error)
			return error;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int add_cpus(struct args *args, const char *option, const char *whole,
	struct filter_term term, const char *at)
{
	int *cpus;
	size_t n, bad = 0;
	int error = proc_parse_cpu_list(at, &cpus, &n, &bad);

	if (error == -EINVAL)
		return args_refuse(args, "%s '%s': not a list of CPUs such as 0-3,8 (at '%s')",
			option, whole, bad < strlen(at) ? at + bad : "its end");
	if (error)
		return args_no_memory(args);
	for (size_t i = 0; i < n && !error; i++) {
		term.first = cpus[i];
		while (i + 1 < n && cpus[i + 1] == cpus[i] + 1)
			i++;
		term.last = cpus[i];
		error = add_term(args, &term);
	}
	free(cpus);
	return error;
}

int args_add_terms(struct args *args, const char *option, enum filter_field field, const char *text)
{
	struct filter_term term = {.field = field, .negated = text[0] == '!'};
	const char *at = text + term.negated;

	if (args->request.command == CMD_STAT)
		return args_refuse(args,
			"%s '%s': '!' leaves out samples, and strobe stat takes none", option,
			text);
	if (args->request.command == CMD_RECORD)
		return args_refuse(args,
			"%s '%s': strobe record writes all that is sampled; '!' leaves out when "
			"the recording is looked at",
			option, text);
	switch (field) {
	case FILTER_PID:
	case FILTER_TID:
		return add_ids(args, option, text, term, at);
	case FILTER_CPU:
		return add_cpus(args, option, text, term, at);
	default:
		return add_texts(args, option, text, term, at);
	}
}

static int parse_time(struct args *args, const char *text)
{
	struct request *request = &args->request;
	const char *comma = strchr(text, ',');
	char from[32];

	if (!comma || !strcmp(text, ",") || (size_t)(comma - text) >= sizeof(from))
		return args_refuse(args,
			"--time '%s': not FROM,TO in seconds from the start, such as 1.5,3 or 10,",
			text);
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = '\0';
	request->time_from_s = request->time_to_s = 0;
	if (*from && args_decimal(from, 0, 1e9, &request->time_from_s))
		return args_refuse(args,
			"--time '%s': '%s' is not a number of seconds from 0 to a billion", text,
			from);
	if (!comma[1])
		return 0;
	if (args_decimal(comma + 1, 0, 1e9, &request->time_to_s))
		return args_refuse(args,
			"--time '%s': '%s' is not a number of seconds from 0 to a billion", text,
			comma + 1);
	if (request->time_from_s >= request->time_to_s)
		return args_refuse(args, "--time '%s': it does not end after its beginning", text);
	return 0;
}

const char *args_view_option(enum report_view view)
{
	static const char *const options[] = {
		[REPORT_CALLERS] = "--callers",
		[REPORT_CALLEES] = "--callees",
		[REPORT_TREE] = "--tree",
	};

	return options[view];
}

static int choose_view(struct args *args, enum report_view view)
{
	if (args->view_given && args->request.view != view)
		return args_refuse(args, "%s and %s contradict each other: give one of them",
			args_view_option(args->request.view), args_view_option(view));
	args->view_given = true;
	args->request.view = view;
	return 0;
}

static int parse_format(struct args *args, const char *text)
{
	static const char *const reports[] = {
		[REPORT_TEXT] = "text", [REPORT_CSV] = "csv", [REPORT_JSON] = "json", NULL};
	bool export = args->request.command == CMD_EXPORT;
	int choice;

	if (args_choose(args, "--format", text, export ? export_format_names : reports, &choice))
		return -EINVAL;
	args->format_given = true;
	if (export)
		args->request.export_format = (enum export_format)choice;
	else
		args->request.format = (enum report_format)choice;
	return 0;
}

static int add_only(struct args *args, const char *text)
{
	struct request *request = &args->request;
	struct expr_error error;
	int ret;

	if (grow_exact(&request->only, request->n_only + 1, sizeof(*request->only)))
		return args_no_memory(args);
	ret = expr_parse(&request->only[request->n_only], text, &error);
	if (ret == -ENOMEM)
		return args_no_memory(args);
	if (ret)
		return args_refuse(args, "--only '%.72s%s': %s (at '%.24s')", text,
			strlen(text) > 72 ? "..." : "", error.what,
			error.at < strlen(text) ? text + error.at : "the end");
	request->n_only++;
	return 0;
}

int args_apply_filter(struct args *args, int id, const char *text)
{
	switch (id) {
	case ARG_COMM:
		return args_add_terms(args, "--comm", FILTER_COMM, text);
	case ARG_IMAGE:
		return args_add_terms(args, "--image", FILTER_IMAGE, text);
	case ARG_SYMBOL:
		return args_add_terms(args, "--symbol", FILTER_SYMBOL, text);
	case ARG_ONLY:
		return add_only(args, text);
	case ARG_TIME:
		return parse_time(args, text);
	}
	return -ENOENT;
}

static int add_source_prefix(struct args *args, const char *text)
{
	struct request *request = &args->request;

	if (!*text || *text == '=')
		return args_refuse(args,
			"--source-prefix '%s': not FROM=TO, such as /build=/home/me/src, nor a "
			"directory",
			text);
	if (grow_exact(&request->source_prefixes, request->n_source_prefixes + 2,
		    sizeof(*request->source_prefixes)))
		return args_no_memory(args);
	request->source_prefixes[request->n_source_prefixes++] = text;
	request->source_prefixes[request->n_source_prefixes] = NULL;
	return 0;
}

/* Applies the options of annotate. */
static int apply_code(struct args *args, int id, const char *text)
{
	static const char *const modes[] = {"mixed", "source", "assembly", NULL};
	static const char *const syntaxes[] = {"att", "intel", NULL};
	struct request *request = &args->request;
	int choice;

	switch (id) {
	case ARG_MODE:
		return args_choose(args, "--mode", text, modes, &request->annotate_mode);
	case ARG_SYNTAX:
		if (args_choose(args, "--syntax", text, syntaxes, &choice))
			return -EINVAL;
		request->intel_syntax = choice == 1;
		request->given |= 1u << CONFIG_SYNTAX;
		return 0;
	case ARG_SOURCE_PREFIX:
		return add_source_prefix(args, text);
	case ARG_SOURCE_TREE:
		if (!*text)
			return args_refuse(
				args, "--source-tree '': the name of a directory is missing");
		request->source_tree = text;
		return 0;
	}
	return -ENOENT;
}

int args_apply_rows(struct args *args, int id, const char *text)
{
	static const char *const sorts[] = {"self", "total", NULL};
	static const char *const columns[] = {
		[COLUMNS_EVENT] = "event",
		[COLUMNS_CPU] = "cpu",
		[COLUMNS_THREAD] = "thread",
		[COLUMNS_CGROUP] = "cgroup",
		[COLUMNS_NONE] = "none",
		NULL,
	};
	static const char *const pers[] = {
		[STAT_PER_TOTAL] = "total",
		[STAT_PER_THREAD] = "thread",
		[STAT_PER_PROCESS] = "process",
		[STAT_PER_CPU] = "cpu",
		[STAT_PER_CORE] = "core",
		[STAT_PER_SOCKET] = "socket",
		[STAT_PER_NODE] = "node",
		NULL,
	};
	static const char *const percentages[] = {"relative", "absolute", NULL};
	static const char *const normals[] = {
		[DIFF_SAMPLE] = "sample", [DIFF_SECOND] = "second", NULL};
	struct request *request = &args->request;
	uint64_t value;
	int choice;

	switch (id) {
	case ARG_FORMAT:
		return parse_format(args, text);
	case ARG_GROUP:
		return args_parse_groups(args, text);
	case ARG_COLUMNS:
		args->columns_given = true;
		if (args_choose(args, "--columns", text, columns, &choice))
			return -EINVAL;
		request->columns = (enum report_columns)choice;
		return 0;
	case ARG_PER:
		if (args_choose(args, "--per", text, pers, &choice))
			return -EINVAL;
		request->per = (enum stat_per)choice;
		return 0;
	case ARG_PER_CPU:
		request->per = STAT_PER_CPU;
		return 0;
	case ARG_PER_THREAD:
		request->per = STAT_PER_THREAD;
		return 0;
	case ARG_CALLERS:
		return choose_view(args, REPORT_CALLERS);
	case ARG_CALLEES:
		return choose_view(args, REPORT_CALLEES);
	case ARG_TREE:
		return choose_view(args, REPORT_TREE);
	case ARG_PERCENTAGE:
		if (args_choose(args, "--percentage", text, percentages, &choice))
			return -EINVAL;
		request->absolute = choice == 1;
		return 0;
	case ARG_NORMALIZE:
		if (args_choose(args, "--normalize", text, normals, &choice))
			return -EINVAL;
		request->normal = (enum diff_normal)choice;
		return 0;
	case ARG_SORT:
		if (args_choose(args, "--sort", text, sorts, &choice))
			return -EINVAL;
		request->sort_total = choice == 1;
		request->given |= 1u << CONFIG_SORT;
		return 0;
	case ARG_PERCENT_LIMIT:
		if (args_decimal(text, 0, 100, &request->percent_limit))
			return args_refuse(
				args, "--percent-limit '%s': not a number from 0 to 100", text);
		return 0;
	case ARG_ROWS:
		if (args_number(text, 0, SIZE_MAX, &value))
			return args_refuse(args, "--rows '%s': not a number of rows", text);
		request->rows = (size_t)value;
		return 0;
	case ARG_INLINE:
		request->inlines = INLINES_ON;
		return 0;
	case ARG_NO_INLINE:
		request->inlines = INLINES_OFF;
		return 0;
	case ARG_NAMES:
		request->names_only = true;
		return 0;
	case ARG_RAW_CELLS:
		request->csv.raw = true;
		return 0;
	case ARG_CRLF:
		request->csv.crlf = true;
		return 0;
	case ARG_NO_IDLE:
		request->hide_idle = true;
		request->given |= 1u << CONFIG_HIDE_IDLE;
		return 0;
	}
	return apply_code(args, id, text);
}

int args_apply_screen(struct args *args, int id, const char *text)
{
	static const char *const colors[] = {
		[COLOR_AUTO] = "auto", [COLOR_NEVER] = "never", [COLOR_ALWAYS] = "always", NULL};
	struct request *request = &args->request;
	uint64_t value;
	int choice;

	switch (id) {
	case ARG_DELAY:
		if (args_number(text, 10, 60000, &value))
			return args_refuse(args,
				"-d '%s': not a number of milliseconds from 10 to 60000", text);
		request->delay_ms = (unsigned int)value;
		return 0;
	case ARG_ASCII:
		request->ascii = true;
		request->given |= 1u << CONFIG_ASCII;
		return 0;
	case ARG_MONO:
		request->mono = true;
		return 0;
	case ARG_SNAPSHOT:
		if (args_geometry(text, &request->snapshot_width, &request->snapshot_height))
			return args_refuse(args,
				"--snapshot '%s': not a size such as 80x24 (at most 1000x1000)",
				text);
		return 0;
	case ARG_NO_MOUSE:
		request->no_mouse = true;
		request->given |= 1u << CONFIG_MOUSE;
		return 0;
	case ARG_THEME:
		if (args_choose(args, "--theme", text, theme_names, &request->theme))
			return -EINVAL;
		request->given |= 1u << CONFIG_THEME;
		return 0;
	case ARG_CONFIG:
		if (!*text)
			return args_refuse(args, "--config '': the name of a file is missing");
		request->config = text;
		return 0;
	case ARG_NO_CONFIG:
		request->no_config = true;
		return 0;
	case ARG_COLOR:
		if (args_choose(args, "--color", text, colors, &choice))
			return -EINVAL;
		request->color = (enum color_mode)choice;
		return 0;
	case ARG_OUTPUT_FILE:
		request->output = text;
		return 0;
	case ARG_COMPRESS:
		request->compress = true;
		return 0;
	case ARG_BASELINE:
		request->baseline = text;
		return 0;
	case ARG_SYMFS:
		request->symfs = text;
		return 0;
	case ARG_ALL_NOTES:
		request->all_notes = true;
		return 0;
	case ARG_TRUST_LOCAL:
		request->trust_local = true;
		return 0;
	case ARG_DEBUG_DIR:
		return args_add_debug_dir(args, text);
	case ARG_DEBUGINFOD:
		return args_want_debuginfod(args);
	case ARG_CACHE_DIR:
		request->cache_dir = text;
		return 0;
	}
	return -ENOENT;
}
