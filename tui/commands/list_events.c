// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * list_events.c - strobe list, as text, CSV or JSON.
 *
 * JSON is printed directly, without json-c: two thousand objects would cost more than the list
 * itself.
 */
#include "tui/commands/list_events.h"

#include "sampler/control/config.h"
#include "tui/base/clean.h"
#include "tui/base/csv.h"
#include "tui/base/sentence.h"
#include "tui/explain/explain.h"
#include "tui/export/jsontext.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 8 /* up to this number, events are probed exactly */
#define NAME_WIDTH 34
#define REASONS_MAX 16
#define TEXT_MAX 512

struct listing {
	const struct request *request;
	struct proc_limits limits;
	struct catalogue *catalogue;
	const struct catalogue_entry *entries;
	size_t n;
	size_t *shown; /* indexes of entries */
	size_t n_shown;
	FILE *out;
	/* One sentence for each kind of refusal. */
	struct reason {
		enum catalogue_group group;
		int error;
		uint32_t type;
		char text[TEXT_MAX];
	} reasons[REASONS_MAX];
	size_t n_reasons;
};

const char *list_events_state(const struct catalogue_entry *entry)
{
	switch (entry->state) {
	case CATALOGUE_OPENS:
		return "sampled";
	case CATALOGUE_USER_ONLY:
		return "user space only";
	case CATALOGUE_COUNTS:
		return "counted, not sampled";
	case CATALOGUE_REFUSED:
		return explain_refusal(entry->error);
	default:
		return "not tried";
	}
}

void list_events_reason(const struct catalogue_entry *entry, const struct proc_limits *limits,
	char *out, size_t size)
{
	const struct explain_request request = {
		.event = entry->name, .attr = &entry->attr, .pid = entry->pid, .cpu = entry->cpu};
	struct explain_system system;

	out[0] = '\0';
	if (!entry->error || entry->state == CATALOGUE_OPENS || entry->state == CATALOGUE_UNTRIED)
		return;
	explain_system_read(&system, &request, entry->error);
	explain_open(&request, entry->error, limits, &system, out, size);
}

/* Returns the reason without the event's name.  It is the same for all events of a kind. */
static const char *reason_of(struct listing *listing, const struct catalogue_entry *entry)
{
	struct reason *reason;
	char text[TEXT_MAX];
	const char *after;

	for (size_t i = 0; i < listing->n_reasons; i++) {
		reason = &listing->reasons[i];
		if (reason->group == entry->group && reason->error == entry->error &&
			reason->type == entry->attr.type)
			return reason->text;
	}
	list_events_reason(entry, &listing->limits, text, sizeof(text));
	if (!text[0])
		return "";
	after = strstr(text, "': ");
	if (!after)
		after = strstr(text, ": ");
	reason = &listing->reasons[listing->n_reasons];
	if (listing->n_reasons + 1 < REASONS_MAX)
		listing->n_reasons++;
	reason->group = entry->group;
	reason->error = entry->error;
	reason->type = entry->attr.type;
	snprintf(reason->text, sizeof(reason->text), "%s",
		after ? after + (after[0] == '\'' ? 3 : 2) : text);
	return reason->text;
}

void list_events_target(const struct request *request, const struct proc_limits *limits,
	struct catalogue_target *out)
{
	const struct engine_target *target = &request->engine.target;
	bool wide = limits->cap_perfmon || limits->cap_sys_admin || limits->paranoid < 1;
	size_t n = 0;
	int *cpus = NULL;

	*out = (struct catalogue_target){.pid = 0, .cpu = -1};
	if (target->n_pids || target->n_tids) {
		out->pid = target->n_pids ? target->pids[0] : target->tids[0];
		return;
	}
	if (!target->n_cpus && !target->system_wide && !wide)
		return;
	out->pid = -1;
	out->cpu = 0;
	if (target->n_cpus)
		out->cpu = target->cpus[0];
	else if (!proc_online_cpus(&cpus, &n) && n)
		out->cpu = cpus[0];
	free(cpus);
}

static bool is_named(const struct catalogue_entry *entry, const char *pattern)
{
	return !strcmp(entry->name, pattern) || (entry->alias && !strcmp(entry->alias, pattern));
}

/* Selects the entries that match the pattern.  A full event name selects only that event. */
static int choose(struct listing *listing)
{
	const char *pattern = listing->request->pattern;

	listing->shown = calloc(listing->n + 1, sizeof(*listing->shown));
	if (!listing->shown)
		return -ENOMEM;
	for (size_t i = 0; pattern && i < listing->n; i++)
		if (is_named(&listing->entries[i], pattern))
			listing->shown[listing->n_shown++] = i;
	if (listing->n_shown)
		return 0;
	for (size_t i = 0; i < listing->n; i++)
		if (catalogue_matches(&listing->entries[i], pattern))
			listing->shown[listing->n_shown++] = i;
	return 0;
}

static void try(struct listing *listing)
{
	struct catalogue_target target;

	list_events_target(listing->request, &listing->limits, &target);
	for (size_t i = 0; i < listing->n_shown; i++) {
		size_t at = listing->shown[i];

		if (listing->n_shown <= EXACT_MAX && listing->request->pattern)
			catalogue_probe_exactly(listing->catalogue, &target, at);
		else
			catalogue_probe(listing->catalogue, &target, at, at + 1);
	}
}

static const char *clean(char out[TEXT_MAX], const char *text)
{
	return clean_string(out, TEXT_MAX, text ? text : "");
}

/* --- text --- */

static void print_fields(struct listing *listing, size_t at)
{
	struct catalogue_field *fields;
	char text[TEXT_MAX];
	size_t n;
	int err = catalogue_fields(listing->catalogue, at, &fields, &n);

	if (err == -ENOENT && listing->entries[at].group != CATALOGUE_TRACEPOINT)
		return;
	if (err) {
		explain_error("    its fields cannot be read", -err, &listing->limits, text,
			sizeof(text));
		fprintf(listing->out, "%s\n", text);
		return;
	}
	fputs("\n    Fields of its samples (for --filter and --group):\n", listing->out);
	for (size_t i = 0; i < n; i++)
		fprintf(listing->out, "      %-40s %3u byte%s%s\n",
			clean(text, fields[i].declaration), fields[i].bytes,
			fields[i].bytes == 1 ? " " : "s", fields[i].is_signed ? ", signed" : "");
	catalogue_fields_free(fields, n);
}

static void print_entry(struct listing *listing, const struct catalogue_entry *entry)
{
	bool opens = entry->state == CATALOGUE_OPENS || entry->state == CATALOGUE_UNTRIED;
	const char *mark = entry->state == CATALOGUE_OPENS ? "+"
		: entry->state == CATALOGUE_REFUSED	   ? "-"
		: entry->state == CATALOGUE_UNTRIED	   ? " "
							   : "~";
	char name[TEXT_MAX], what[TEXT_MAX], full[2 * TEXT_MAX];

	clean(name, entry->name);
	snprintf(full, sizeof(full), "%s%s%s", name, entry->alias ? " or " : "",
		entry->alias ? entry->alias : "");
	clean(what, entry->description);
	if (!what[0] && opens)
		fprintf(listing->out, "  %s %s\n", mark, full);
	else
		fprintf(listing->out, "  %s %-*s  %s%s%s%s\n", mark, NAME_WIDTH, full, what,
			opens		  ? ""
				: what[0] ? "  ("
					  : "(",
			opens ? "" : list_events_state(entry), opens ? "" : ")");
}

static void print_text(struct listing *listing)
{
	enum catalogue_group group = CATALOGUE_GROUPS;
	size_t said = 0;

	for (size_t i = 0; i < listing->n_shown; i++) {
		const struct catalogue_entry *entry = &listing->entries[listing->shown[i]];

		if (entry->group != group) {
			group = entry->group;
			fprintf(listing->out, "%s%s\n", i ? "\n" : "",
				catalogue_group_title(group));
		}
		print_entry(listing, entry);
		if (entry->state != CATALOGUE_UNTRIED)
			reason_of(listing, entry);
		/* Print new reasons once, after the group. */
		if (i + 1 < listing->n_shown &&
			listing->entries[listing->shown[i + 1]].group == group)
			continue;
		for (; said < listing->n_reasons; said++)
			fprintf(listing->out, "    %s: %s\n",
				explain_refusal(listing->reasons[said].error),
				listing->reasons[said].text);
	}
	if (listing->n_shown == 1)
		print_fields(listing, listing->shown[0]);
	if (catalogue_tracepoints_error(listing->catalogue)) {
		char text[TEXT_MAX];

		explain_tracefs(
			catalogue_tracepoints_error(listing->catalogue), text, sizeof(text));
		fprintf(listing->out, "\nTracepoints\n    %s\n", text);
	}
	if (listing->n_shown > 1)
		fputs("\n+ can be sampled here  ~ in part  - not at all; the target is chosen by "
		      "-p, -t, -C or -a\n",
			listing->out);
}

/* --- JSON and CSV --- */

static void put_json(FILE *out, const char *key, const char *text)
{
	char cleaned[TEXT_MAX];

	jsontext_member(out, key, clean(cleaned, text));
}

static const char *error_name(const struct catalogue_entry *entry)
{
	const char *name = entry->error ? strerrorname_np(entry->error) : "";

	return name ? name : "?";
}

static const char *opens_word(const struct catalogue_entry *entry)
{
	switch (entry->state) {
	case CATALOGUE_OPENS:
		return "yes";
	case CATALOGUE_USER_ONLY:
		return "user";
	case CATALOGUE_COUNTS:
		return "count";
	case CATALOGUE_REFUSED:
		return "no";
	default:
		return "unknown";
	}
}

static void json_fields(struct listing *listing, size_t at)
{
	struct catalogue_field *fields;
	size_t n;

	if (catalogue_fields(listing->catalogue, at, &fields, &n))
		return;
	fputs(",\"fields\":[", listing->out);
	for (size_t i = 0; i < n; i++) {
		fprintf(listing->out, "%s{", i ? "," : "");
		put_json(listing->out, "declaration", fields[i].declaration);
		fprintf(listing->out, ",\"bytes\":%u,\"signed\":%s}", fields[i].bytes,
			fields[i].is_signed ? "true" : "false");
	}
	putc(']', listing->out);
	catalogue_fields_free(fields, n);
}

static void print_json(struct listing *listing)
{
	FILE *out = listing->out;

	fputs("{\"events\":[", out);
	for (size_t i = 0; i < listing->n_shown; i++) {
		const struct catalogue_entry *entry = &listing->entries[listing->shown[i]];

		fprintf(out, "%s\n{", i ? "," : "");
		put_json(out, "name", entry->name);
		putc(',', out);
		put_json(out, "group", catalogue_group_name(entry->group));
		if (entry->alias) {
			putc(',', out);
			put_json(out, "alias", entry->alias);
		}
		if (entry->description[0]) {
			putc(',', out);
			put_json(out, "description", entry->description);
		}
		if (entry->pmu) {
			putc(',', out);
			put_json(out, "pmu", entry->pmu);
		}
		if (entry->unit) {
			putc(',', out);
			put_json(out, "unit", entry->unit);
			fprintf(out, ",\"scale\":%.17g", entry->scale);
		}
		putc(',', out);
		put_json(out, "opens", opens_word(entry));
		fprintf(out, ",\"tried\":%s", entry->exactly ? "true" : "false");
		if (entry->error) {
			putc(',', out);
			put_json(out, "error", error_name(entry));
			putc(',', out);
			put_json(out, "reason", reason_of(listing, entry));
		}
		if (listing->n_shown <= EXACT_MAX)
			json_fields(listing, listing->shown[i]);
		putc('}', out);
	}
	fputs("\n]}\n", out);
}

static void print_csv(struct listing *listing)
{
	FILE *out = listing->out;
	const struct csv_style style = listing->request->csv;
	char cleaned[TEXT_MAX];

	fputs("name,alias,group,description,opens,error,reason", out);
	csv_end_row(out, style);
	for (size_t i = 0; i < listing->n_shown; i++) {
		const struct catalogue_entry *entry = &listing->entries[listing->shown[i]];
		const char *const cells[] = {entry->name, entry->alias,
			catalogue_group_name(entry->group), entry->description, opens_word(entry),
			error_name(entry), entry->error ? reason_of(listing, entry) : ""};

		for (size_t k = 0; k < sizeof(cells) / sizeof(*cells); k++) {
			if (k)
				putc(',', out);
			csv_put_text(out, clean(cleaned, cells[k]), style);
		}
		csv_end_row(out, style);
	}
}

static void print_names(struct listing *listing)
{
	char text[TEXT_MAX];

	for (size_t i = 0; i < listing->n_shown; i++) {
		const struct catalogue_entry *entry = &listing->entries[listing->shown[i]];

		if (entry->group != CATALOGUE_FORM)
			fprintf(listing->out, "%s\n", clean(text, entry->name));
	}
}

static int fail(const char *what, int error, const struct proc_limits *limits)
{
	char text[TEXT_MAX];

	explain_error(what, error, limits, text, sizeof(text));
	sentence_print(stderr, "%s", text);
	return 1;
}

static int not_found(const struct listing *listing)
{
	char text[TEXT_MAX], why[TEXT_MAX] = "";
	int error = catalogue_tracepoints_error(listing->catalogue);

	if (error)
		explain_tracefs(error, why, sizeof(why));
	sentence_print(stderr, "nothing here is called or described as '%s'%s%s",
		clean(text, listing->request->pattern), why[0] ? "; " : "", why);
	return 1;
}

int list_events_run(const struct request *request)
{
	struct listing listing = {.request = request, .out = stdout};
	int err, status = 0;

	proc_limits(&listing.limits);
	err = catalogue_new(&listing.catalogue, system_dirs());
	if (err)
		return fail("cannot list events", -err, &listing.limits);
	listing.entries = catalogue_entries(listing.catalogue, &listing.n);
	err = choose(&listing);
	if (err) {
		status = fail("cannot list events", -err, &listing.limits);
	} else if (request->names_only) {
		print_names(&listing);
	} else if (!listing.n_shown) {
		status = not_found(&listing);
	} else {
		try(&listing);
		if (request->format == REPORT_JSON)
			print_json(&listing);
		else if (request->format == REPORT_CSV)
			print_csv(&listing);
		else
			print_text(&listing);
	}
	free(listing.shown);
	catalogue_free(listing.catalogue);
	return status;
}
