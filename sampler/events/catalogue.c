// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * catalogue.c - builds the entries from the program's own lists, sysfs and tracefs.
 *
 * Tracepoint names point into the text of available_events, which is kept.  Reading that one file
 * avoids listing thousands of directories.
 */
#include "sampler/events/catalogue.h"

#include "sampler/base/grow.h"
#include "sampler/base/sysfile.h"
#include "sampler/events/catalogue_private.h"
#include "sampler/events/event.h"
#include "sampler/machine/pmu.h"
#include "sampler/machine/tracefs.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *alias, *description, *pmu;
} forms[] = {
	{"rNNN", NULL, "A raw event of the processor by its number, hexadecimal: r1a8", NULL},
	{"PMU/TERM=VALUE,.../", NULL, "Terms of a PMU (sysfs format/): cpu/event=0x3c,umask=1/",
		NULL},
	{"mem:ADDRESS[/LENGTH][:rwx]", NULL,
		"A breakpoint on an address or a variable: mem:counter/8:w", "breakpoint"},
	{"kprobe:FUNCTION[+OFFSET]", NULL, "A function of the kernel is entered", "kprobe"},
	{"kretprobe:FUNCTION", NULL, "A function of the kernel returns", "kprobe"},
	{"uprobe:BINARY:FUNCTION", NULL, "A function of a program or library is entered", "uprobe"},
	{"uretprobe:BINARY:FUNCTION", NULL, "A function of a program or library returns", "uprobe"},
};

static const char *const cache_ops[] = {"load", "store", "prefetch"};

static const struct {
	const char *name, *what;
	unsigned int ops; /* one bit per element of cache_ops */
} caches[] = {
	{"L1-dcache", "Level 1 data cache", 7},
	{"L1-icache", "Level 1 instruction cache", 5},
	{"LLC", "Last level cache", 7},
	{"dTLB", "Data TLB", 7},
	{"iTLB", "Instruction TLB", 1},
	{"branch", "Branch predictor", 1},
	{"node", "Memory of the CPU's own node", 7},
};

/* Keeps a text as long as the catalogue lives; takes ownership.  NULL if memory runs out. */
static const char *keep(struct catalogue *catalogue, char *text)
{
	if (!text)
		return NULL;
	if (grow_exact(&catalogue->texts, catalogue->n_texts + 1, sizeof(*catalogue->texts))) {
		free(text);
		return NULL;
	}
	catalogue->texts[catalogue->n_texts++] = text;
	return text;
}

static struct catalogue_entry *add(
	struct catalogue *catalogue, enum catalogue_group group, const char *name)
{
	struct catalogue_entry *entry;

	if (grow_items(&catalogue->entries, &catalogue->room, catalogue->n + 1, sizeof(*entry)))
		return NULL;
	entry = &catalogue->entries[catalogue->n++];
	memset(entry, 0, sizeof(*entry));
	entry->group = group;
	entry->name = name;
	entry->description = "";
	return entry;
}

static int add_generic(struct catalogue *catalogue, uint32_t type, enum catalogue_group group)
{
	size_t n;
	const struct event_info *infos = event_catalogue(&n);

	for (size_t i = 0; i < n; i++) {
		struct catalogue_entry *entry;

		if (infos[i].type != type)
			continue;
		entry = add(catalogue, group, infos[i].name);
		if (!entry)
			return -ENOMEM;
		entry->alias = infos[i].alias;
		entry->description = infos[i].description;
		entry->attr.type = type;
		entry->attr.config = infos[i].config;
	}
	return 0;
}

static int add_cache(struct catalogue *catalogue, size_t cache, size_t op, bool missed)
{
	char *name = NULL, *what = NULL;
	struct catalogue_entry *entry;
	const char *plural = op == 2 ? "es" : "s";

	if (asprintf(&name, "%s-%s%s", caches[cache].name, cache_ops[op],
		    missed ? "-misses" : plural) < 0)
		name = NULL;
	if (asprintf(&what, "%s: %s%s%s", caches[cache].what, cache_ops[op], plural,
		    missed ? " that missed" : "") < 0)
		what = NULL;
	if (!keep(catalogue, name) || !keep(catalogue, what))
		return -ENOMEM;
	entry = add(catalogue, CATALOGUE_CACHE, name);
	if (!entry)
		return -ENOMEM;
	entry->description = what;
	entry->attr.type = PERF_TYPE_HW_CACHE;
	entry->attr.config = cache | op << 8 | (uint64_t)missed << 16;
	return 0;
}

static int add_caches(struct catalogue *catalogue)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++)
		for (size_t op = 0; op < 3 && !err; op++) {
			if (!(caches[i].ops >> op & 1))
				continue;
			err = add_cache(catalogue, i, op, false);
			if (!err)
				err = add_cache(catalogue, i, op, true);
		}
	return err;
}

static int add_pmu_event(
	struct catalogue *catalogue, const struct pmu *pmu, const struct pmu_event *event)
{
	struct catalogue_entry *entry;
	char *name = NULL, *what = NULL, *owner = strdup(pmu->name), *unit = NULL;

	if (asprintf(&name, "%s/%s/", pmu->name, event->name) < 0)
		name = NULL;
	if (asprintf(&what, "%s/%s/%s%s", pmu->name, event->terms ? event->terms : "",
		    event->unit ? ", in " : "", event->unit ? event->unit : "") < 0)
		what = NULL;
	if (event->unit)
		unit = strdup(event->unit);
	if (!keep(catalogue, name) || !keep(catalogue, what) || !keep(catalogue, owner) ||
		(event->unit && !keep(catalogue, unit)))
		return -ENOMEM;
	entry = add(catalogue, CATALOGUE_PMU, name);
	if (!entry)
		return -ENOMEM;
	entry->description = what;
	entry->pmu = owner;
	entry->unit = unit;
	entry->scale = event->scale;
	entry->attr.type = pmu->type;
	return 0;
}

static int add_pmus(struct catalogue *catalogue)
{
	struct sysfile_names names;
	int err = 0;

	if (pmu_names(catalogue->system, &names))
		return 0;
	for (size_t i = 0; i < names.n && !err; i++) {
		struct pmu *pmu;

		err = pmu_read(&pmu, catalogue->system, names.names[i], PMU_EVENTS);
		for (size_t k = 0; !err && k < pmu->n_events; k++)
			err = add_pmu_event(catalogue, pmu, &pmu->events[k]);
		pmu_free(pmu);
		if (err != -ENOMEM)
			err = 0; /* the PMU disappeared meanwhile */
	}
	sysfile_names_fini(&names);
	return err;
}

static int add_forms(struct catalogue *catalogue)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct catalogue_entry *entry = add(catalogue, CATALOGUE_FORM, forms[i].name);

		if (!entry)
			return -ENOMEM;
		entry->description = forms[i].description;
		entry->pmu = forms[i].pmu;
		entry->attr.type = PERF_TYPE_RAW;
		if (!entry->pmu)
			continue;
		/* UINT32_MAX marks a PMU that this machine does not have; probe_form() then refuses
		 * it. */
		if (pmu_type(catalogue->system, entry->pmu, &entry->attr.type))
			entry->attr.type = UINT32_MAX;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct catalogue_entry *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static int add_tracepoints(struct catalogue *catalogue)
{
	size_t first = catalogue->n;
	char *text, *line, *rest = NULL;
	int err = catalogue->system->tracefs
		? sysfile_read(&text, NULL, "%s/available_events", catalogue->system->tracefs)
		: -ENOENT;

	if (err == -ENOMEM)
		return err;
	catalogue->tracepoints_error = -err;
	if (err)
		return 0;
	if (!keep(catalogue, text))
		return -ENOMEM;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct catalogue_entry *entry;

		if (!strchr(line, ':'))
			continue;
		entry = add(catalogue, CATALOGUE_TRACEPOINT, line);
		if (!entry)
			return -ENOMEM;
		entry->attr.type = PERF_TYPE_TRACEPOINT;
	}
	qsort(catalogue->entries + first, catalogue->n - first, sizeof(*catalogue->entries),
		compare_names);
	return 0;
}

int catalogue_new(struct catalogue **out, const struct system_dirs *system)
{
	struct catalogue *catalogue = calloc(1, sizeof(*catalogue));
	int err;

	*out = NULL;
	if (!catalogue)
		return -ENOMEM;
	catalogue->system = system;
	err = add_generic(catalogue, PERF_TYPE_HARDWARE, CATALOGUE_HARDWARE);
	if (!err)
		err = add_generic(catalogue, PERF_TYPE_SOFTWARE, CATALOGUE_SOFTWARE);
	if (!err)
		err = add_caches(catalogue);
	if (!err)
		err = add_pmus(catalogue);
	if (!err)
		err = add_forms(catalogue);
	if (!err)
		err = add_tracepoints(catalogue);
	if (err)
		catalogue_free(catalogue);
	else
		*out = catalogue;
	return err;
}

void catalogue_free(struct catalogue *catalogue)
{
	if (!catalogue)
		return;
	for (size_t i = 0; i < catalogue->n_texts; i++)
		free(catalogue->texts[i]);
	free(catalogue->texts);
	free(catalogue->entries);
	free(catalogue);
}

const struct catalogue_entry *catalogue_entries(const struct catalogue *catalogue, size_t *n)
{
	*n = catalogue->n;
	return catalogue->entries;
}

int catalogue_tracepoints_error(const struct catalogue *catalogue)
{
	return catalogue->tracepoints_error;
}

/* --- searching --- */

static bool has_part(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

bool catalogue_matches(const struct catalogue_entry *entry, const char *pattern)
{
	if (!pattern || !*pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, entry->name, FNM_CASEFOLD) ||
			(entry->alias && !fnmatch(pattern, entry->alias, FNM_CASEFOLD));
	return has_part(entry->name, pattern) || has_part(entry->alias, pattern) ||
		has_part(entry->description, pattern);
}

const char *catalogue_group_title(enum catalogue_group group)
{
	static const char *const titles[CATALOGUE_GROUPS] = {
		[CATALOGUE_HARDWARE] = "Hardware events",
		[CATALOGUE_SOFTWARE] = "Software events",
		[CATALOGUE_CACHE] = "Cache events",
		[CATALOGUE_PMU] = "Events of PMUs",
		[CATALOGUE_FORM] = "Forms: put in your own",
		[CATALOGUE_TRACEPOINT] = "Tracepoints",
	};

	return titles[group];
}

const char *catalogue_group_name(enum catalogue_group group)
{
	static const char *const names[CATALOGUE_GROUPS] = {
		[CATALOGUE_HARDWARE] = "hardware",
		[CATALOGUE_SOFTWARE] = "software",
		[CATALOGUE_CACHE] = "cache",
		[CATALOGUE_PMU] = "pmu",
		[CATALOGUE_FORM] = "form",
		[CATALOGUE_TRACEPOINT] = "tracepoint",
	};

	return names[group];
}

/* --- fields --- */

void catalogue_fields_free(struct catalogue_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(fields[i].declaration);
	free(fields);
}

/* "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;" */
static int add_field(const char *line, struct catalogue_field **fields, size_t *n)
{
	const char *begin = strstr(line, "field:"), *end = begin ? strchr(begin, ';') : NULL;
	const char *size = end ? strstr(end, "size:") : NULL;
	const char *sign = end ? strstr(end, "signed:") : NULL;

	if (!size)
		return -EBADMSG;
	begin += strlen("field:");
	if (grow_exact(fields, *n + 1, sizeof(**fields)))
		return -ENOMEM;
	(*fields)[*n] = (struct catalogue_field){
		.declaration = strndup(begin, (size_t)(end - begin)),
		.bytes = (unsigned int)strtoul(size + strlen("size:"), NULL, 10),
		.is_signed = sign && sign[strlen("signed:")] == '1',
	};
	if (!(*fields)[*n].declaration)
		return -ENOMEM;
	(*n)++;
	return 0;
}

int catalogue_parse_fields(const char *text, struct catalogue_field **out, size_t *n)
{
	const char *at = strstr(text, "format:");
	bool own = false;
	int err = at ? 0 : -EBADMSG;

	*out = NULL;
	*n = 0;
	/* An empty line ends the fields common to all tracepoints. */
	while (!err && at && (at = strchr(at, '\n')) && strncmp(++at, "print fmt:", 10)) {
		if (*at == '\n')
			own = true;
		else if (*at && own)
			err = add_field(at, out, n);
	}
	if (err) {
		catalogue_fields_free(*out, *n);
		*out = NULL;
		*n = 0;
	}
	return err;
}

int catalogue_fields(
	const struct catalogue *catalogue, size_t i, struct catalogue_field **out, size_t *n)
{
	const struct catalogue_entry *entry = &catalogue->entries[i];
	const char *colon = strchr(entry->name, ':');
	char subsystem[EVENT_NAME_MAX], *text;
	int err;

	*out = NULL;
	*n = 0;
	if (entry->group != CATALOGUE_TRACEPOINT || colon - entry->name >= EVENT_NAME_MAX)
		return -ENOENT;
	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - entry->name), entry->name);
	err = tracefs_format(catalogue->system, subsystem, colon + 1, &text, NULL);
	if (err)
		return err;
	err = catalogue_parse_fields(text, out, n);
	free(text);
	return err;
}
