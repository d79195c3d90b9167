/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_catalogue.c - the catalogue of a made-up machine: search, completion, format fields.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "sampler/events/catalogue.h"
#include "tests/unit/scratch.h"

static char root[] = "/tmp/strobe-catalogue-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[256], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

#define PMU "sys/bus/event_source/devices/power/"

static int make_machine(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	put(PMU "type", "23\n");
	put(PMU "cpumask", "0\n");
	put(PMU "events/energy-pkg", "event=0x02\n");
	put(PMU "events/energy-pkg.unit", "Joules\n");
	put(PMU "events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
	put("tracing/available_events", "sched:sched_switch\nblock:block_rq_issue\n");
	put("tracing/events/sched/sched_switch/format",
		"name: sched_switch\nID: 316\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n"
		"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"field:no %d;\", REC->prev_pid\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	return scratch_remove_tree(root);
}

static struct catalogue *machine(struct system_dirs *out)
{
	static char sysfs[64], tracefs[64];
	struct catalogue *catalogue;

	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	snprintf(tracefs, sizeof(tracefs), "%s/tracing", root);
	*out = (struct system_dirs){.sysfs = sysfs, .tracefs = tracefs};
	assert_int_equal(catalogue_new(&catalogue, out), 0);
	return catalogue;
}

static const struct catalogue_entry *find(const struct catalogue *catalogue, const char *name)
{
	size_t n;
	const struct catalogue_entry *entries = catalogue_entries(catalogue, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(entries[i].name, name))
			return &entries[i];
	fail_msg("there is no '%s'", name);
	return NULL;
}

static void test_entries(void **state)
{
	struct system_dirs system;
	struct catalogue *catalogue = machine(&system);
	const struct catalogue_entry *entry;
	enum catalogue_group group = CATALOGUE_HARDWARE;
	size_t n;

	(void)state;
	entry = find(catalogue, "cycles");
	assert_string_equal(entry->alias, "cpu-cycles");
	assert_int_equal(entry->state, CATALOGUE_UNTRIED);
	entry = find(catalogue, "LLC-load-misses");
	assert_int_equal(entry->group, CATALOGUE_CACHE);
	assert_int_equal(entry->attr.config, 0x10002);
	entry = find(catalogue, "power/energy-pkg/");
	assert_string_equal(entry->unit, "Joules");
	assert_true(entry->scale > 2.3e-10 && entry->scale < 2.4e-10);
	assert_int_equal(find(catalogue, "sched:sched_switch")->group, CATALOGUE_TRACEPOINT);
	assert_int_equal(find(catalogue, "mem:ADDRESS[/LENGTH][:rwx]")->group, CATALOGUE_FORM);
	/* Entries are sorted by group, tracepoints by name. */
	entry = catalogue_entries(catalogue, &n);
	for (size_t i = 0; i < n; i++) {
		assert_true(entry[i].group >= group);
		group = entry[i].group;
		assert_non_null(catalogue_group_title(group));
		assert_non_null(catalogue_group_name(group));
	}
	assert_string_equal(entry[n - 2].name, "block:block_rq_issue");
	catalogue_free(catalogue);
}

static void test_no_tracefs(void **state)
{
	const struct system_dirs system = {.sysfs = "/no/such/folder", .tracefs = NULL};
	struct catalogue *catalogue;

	(void)state;
	assert_int_equal(catalogue_new(&catalogue, &system), 0);
	assert_int_equal(catalogue_tracepoints_error(catalogue), ENOENT);
	find(catalogue, "cpu-clock");
	catalogue_free(catalogue);
	catalogue_free(NULL);
}

static void test_matches(void **state)
{
	const struct catalogue_entry entry = {
		.name = "page-faults", .alias = "faults", .description = "Of both kinds"};

	(void)state;
	assert_true(catalogue_matches(&entry, NULL));
	assert_true(catalogue_matches(&entry, ""));
	assert_true(catalogue_matches(&entry, "FAULT"));
	assert_true(catalogue_matches(&entry, "both"));
	assert_false(catalogue_matches(&entry, "bath"));
	assert_true(catalogue_matches(&entry, "page-*"));
	assert_true(catalogue_matches(&entry, "f?ults"));
	assert_false(catalogue_matches(&entry, "age-*"));
}

static void test_fields(void **state)
{
	struct system_dirs system;
	struct catalogue *catalogue = machine(&system);
	struct catalogue_field *fields;
	const struct catalogue_entry *entries;
	size_t n, at;

	(void)state;
	entries = catalogue_entries(catalogue, &n);
	at = (size_t)(find(catalogue, "sched:sched_switch") - entries);
	assert_int_equal(catalogue_fields(catalogue, at, &fields, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(fields[0].declaration, "char prev_comm[16]");
	assert_int_equal(fields[0].bytes, 16);
	assert_string_equal(fields[1].declaration, "pid_t prev_pid");
	assert_true(fields[1].is_signed);
	catalogue_fields_free(fields, n);
	assert_int_equal(catalogue_fields(catalogue, 0, &fields, &n), -ENOENT);
	assert_int_equal(catalogue_fields(catalogue, at - 1, &fields, &n), -ENOENT);
	assert_int_equal(catalogue_parse_fields("nothing", &fields, &n), -EBADMSG);
	assert_int_equal(
		catalogue_parse_fields("format:\n\n\tfield:int a;\toffset:0;\n", &fields, &n),
		-EBADMSG);
	assert_null(fields);
	assert_int_equal(catalogue_parse_fields("format:", &fields, &n), 0);
	assert_int_equal(n, 0);
	catalogue_free(catalogue);
}

/* Probes on the calling thread. A refused entry has an errno, one that opens has none. */
static void test_probe(void **state)
{
	struct system_dirs system;
	struct catalogue *catalogue = machine(&system);
	const struct catalogue_target self = {.pid = 0, .cpu = -1};
	const struct catalogue_entry *entries;
	size_t n;

	(void)state;
	entries = catalogue_entries(catalogue, &n);
	catalogue_probe(catalogue, &self, 0, n);
	for (size_t i = 0; i < n; i++) {
		if (entries[i].state == CATALOGUE_REFUSED)
			assert_true(entries[i].error > 0);
		if (entries[i].state == CATALOGUE_OPENS)
			assert_int_equal(entries[i].error, 0);
	}
	assert_int_equal(find(catalogue, "sched:sched_switch")->state,
		find(catalogue, "block:block_rq_issue")->state);
	assert_false(find(catalogue, "sched:sched_switch")->exactly);
	catalogue_probe_exactly(
		catalogue, &self, (size_t)(find(catalogue, "sched:sched_switch") - entries));
	assert_true(find(catalogue, "sched:sched_switch")->exactly);
	/* A tracepoint without an id cannot be opened, even by root. */
	assert_int_equal(find(catalogue, "sched:sched_switch")->state, CATALOGUE_REFUSED);
	assert_int_equal(find(catalogue, "sched:sched_switch")->error, ENOENT);
	catalogue_free(catalogue);
}

static void completes(const struct catalogue *catalogue, const char *word, const char *const *names,
	size_t n, size_t prefixed)
{
	struct catalogue_completion out;
	size_t n_entries;
	const struct catalogue_entry *entries = catalogue_entries(catalogue, &n_entries);

	catalogue_complete(entries, n_entries, word, &out);
	assert_int_equal(out.n, n);
	assert_int_equal(out.total, n);
	assert_int_equal(out.prefixed, prefixed);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(entries[out.at[i]].name, names[i]);
}

static void test_completion(void **state)
{
	static const char *const switches[] = {"context-switches", "cgroup-switches"};
	static const char *const sched[] = {"sched:sched_switch"};
	static const char *const block[] = {"block:block_rq_issue"};
	static const char *const faults[] = {"page-faults"};
	static const char *const cs[] = {"context-switches"};
	static const char *const probe[] = {"uprobe:BINARY:FUNCTION"};
	struct system_dirs system;
	struct catalogue *catalogue = machine(&system);
	struct catalogue_completion out;
	size_t n;
	const struct catalogue_entry *entries = catalogue_entries(catalogue, &n);

	(void)state;
	/* Names that begin with the text come first, then names that have it after a separator.
	 * Case is ignored. */
	completes(catalogue, "SCHED", sched, 1, 1);
	completes(catalogue, "switches", switches, 2, 0);
	completes(catalogue, "rq_i", block, 1, 0);
	completes(catalogue, "", NULL, 0, 0);
	/* A match after a separator comes before one within a word, as in "references". */
	catalogue_complete(entries, n, "en", &out);
	assert_true(out.n > 1);
	assert_string_equal(entries[out.at[0]].name, "power/energy-pkg/");
	/* An alias matches as well as the name. */
	completes(catalogue, "cs", cs, 1, 1);
	/* A form matches any text after its fixed part. */
	completes(catalogue, "upro", probe, 1, 1);
	completes(catalogue, "uprobe:libc.so.6:getp", probe, 1, 1);
	catalogue_complete(entries, n, "page-fautls", &out);
	assert_true(out.near);
	assert_string_equal(entries[out.at[0]].name, faults[0]);
	catalogue_complete(entries, n, "quite-another", &out);
	assert_int_equal(out.n, 0);
	/* common prefix of L1-dcache-load-misses and L1-dcache-loads */
	assert_int_equal(catalogue_common(entries, n, "L1-d"), strlen("L1-dcache-"));
	assert_int_equal(catalogue_common(entries, n, "L1-dcache-l"), strlen("L1-dcache-load"));
	assert_int_equal(catalogue_common(entries, n, "sched"), strlen(sched[0]));
	assert_int_equal(catalogue_common(entries, n, "upro"), strlen("uprobe:"));
	assert_int_equal(catalogue_common(entries, n, "nosuch"), 0);
	catalogue_free(catalogue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_no_tracefs),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
