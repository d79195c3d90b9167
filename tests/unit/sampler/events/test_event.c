// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_event.c - the grammar of -e, as tables.
 */
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/kernel/attr.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/event_fixture.h"

static struct event_fixture machine;

static struct event_spec *all(const char *text, size_t *n)
{
	struct event_spec *specs;
	struct event_error error;

	if (event_parse_list_in(&machine.system, text, &specs, n, &error))
		fail_msg("%s: error %d at %zu", text, error.kind, error.offset);
	return specs;
}

static struct event_spec first(const char *text)
{
	size_t n;
	struct event_spec *specs = all(text, &n), spec = specs[0];

	free(specs);
	return spec;
}

static struct event_spec one(const char *text)
{
	size_t n;
	struct event_spec *specs = all(text, &n), spec = specs[0];

	free(specs);
	assert_int_equal(n, 1);
	return spec;
}

/* An event composed of others adds them, but not twice. */
static void made_of_others(void **state)
{
	static const struct {
		const char *text, *names[6];
	} cases[] = {
		{"wall", {"wall", "cpu-clock", "off-cpu", "preempted"}},
		{"wall:u", {"wall:u", "cpu-clock:u", "off-cpu:u", "preempted:u"}},
		{"preempted,wall", {"preempted", "wall", "cpu-clock", "off-cpu"}},
		{"woken", {"woken", "off-cpu", "sched:sched_waking"}},
		{"sched:sched_waking,woken,wall",
			{"sched:sched_waking", "woken", "off-cpu", "wall", "cpu-clock",
				"preempted"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n, expected = 0;
		struct event_spec *specs = all(cases[i].text, &n);

		while (expected < 6 && cases[i].names[expected])
			expected++;
		assert_int_equal(n, expected);
		for (size_t k = 0; k < n; k++) {
			assert_string_equal(specs[k].name, cases[i].names[k]);
			assert_false(specs[k].part &&
				!strncmp(cases[i].text, specs[k].name, strlen(specs[k].name)));
		}
		assert_true(specs[n - 1].part);
		free(specs);
	}
}

static void catalogue_is_whole(void **state)
{
	bool hw[PERF_COUNT_HW_MAX] = {0}, sw[PERF_COUNT_SW_MAX] = {0};
	size_t n;
	const struct event_info *info = event_catalogue(&n);

	(void)state;
	assert_int_equal(n, PERF_COUNT_HW_MAX + PERF_COUNT_SW_MAX + 4);
	for (size_t i = 0; i < n; i++) {
		bool *seen = info[i].type == PERF_TYPE_HARDWARE ? hw : sw;
		struct event_spec spec = first(info[i].name);

		assert_in_range(info[i].config, 0,
			(info[i].type == PERF_TYPE_HARDWARE ? PERF_COUNT_HW_MAX
							    : PERF_COUNT_SW_MAX) -
				1);
		/* Only an event with a span (the time of switches) shares another event's config
		 * (their number). */
		assert_int_equal(seen[info[i].config], info[i].span != EVENT_SPAN_NONE);
		seen[info[i].config] = true;
		assert_true(strlen(info[i].description) > 5);
		assert_string_equal(spec.name, info[i].name);
		assert_int_equal(spec.attr.type, info[i].type);
		assert_int_equal(spec.attr.config, info[i].config);
		assert_false(spec.by_default);
		assert_int_equal(spec.attr.sample_period, info[i].span != EVENT_SPAN_NONE);
		assert_int_equal(spec.attr.context_switch, event_is_of_switches(info[i].span));
		assert_int_equal(spec.span, info[i].span);
		if (info[i].alias) {
			spec = one(info[i].alias);
			assert_string_equal(spec.name, info[i].name);
			assert_int_equal(spec.attr.config, info[i].config);
		}
	}
}

static void modifiers(void **state)
{
	const struct {
		const char *text, *name;
		bool no_user, no_kernel, no_hv, no_guest, no_host, no_idle;
		unsigned int precise;
	} cases[] = {
		{"faults", "page-faults", 0, 0, 0, 1, 0, 0, 0},
		{"faults:u", "page-faults:u", 0, 1, 1, 1, 0, 0, 0},
		{"cycles:k", "cycles:k", 1, 0, 1, 1, 0, 0, 0},
		{"cycles:h", "cycles:h", 1, 1, 0, 1, 0, 0, 0},
		{"cycles:ku", "cycles:uk", 0, 0, 1, 1, 0, 0, 0},
		{"cycles:hku", "cycles:ukh", 0, 0, 0, 1, 0, 0, 0},
		{"cycles:p", "cycles:p", 0, 0, 0, 1, 0, 0, 1},
		{"cycles:pp", "cycles:pp", 0, 0, 0, 1, 0, 0, 2},
		{"cycles:pupp", "cycles:uppp", 0, 1, 1, 1, 0, 0, 3},
		{"cs:I", "context-switches:I", 0, 0, 0, 1, 0, 1, 0},
		{"cpu-cycles:G", "cycles:G", 0, 0, 0, 0, 1, 0, 0},
		{"cycles:H", "cycles:H", 0, 0, 0, 1, 0, 0, 0},
		{"cycles:HG", "cycles:GH", 0, 0, 0, 0, 0, 0, 0},
		{"cycles:pIHGhku", "cycles:ukhGHIp", 0, 0, 0, 0, 0, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event_spec spec = one(cases[i].text);

		assert_string_equal(spec.name, cases[i].name);
		assert_int_equal(spec.attr.exclude_user, cases[i].no_user);
		assert_int_equal(spec.attr.exclude_kernel, cases[i].no_kernel);
		assert_int_equal(spec.attr.exclude_hv, cases[i].no_hv);
		assert_int_equal(spec.attr.exclude_guest, cases[i].no_guest);
		assert_int_equal(spec.attr.exclude_host, cases[i].no_host);
		assert_int_equal(spec.attr.exclude_idle, cases[i].no_idle);
		assert_int_equal(spec.attr.precise_ip, cases[i].precise);
		spec = one(spec.name); /* a canonical name is its own name */
		assert_string_equal(spec.name, cases[i].name);
	}
}

static void lists(void **state)
{
	struct event_spec *specs;
	struct event_error error;
	size_t n;

	(void)state;
	assert_int_equal(
		event_parse_list("cycles:u, page-faults ,cs,cycles:u", &specs, &n, &error), 0);
	assert_int_equal(n, 4);
	assert_string_equal(specs[0].name, "cycles:u");
	assert_string_equal(specs[1].name, "page-faults");
	assert_string_equal(specs[2].name, "context-switches");
	assert_string_equal(specs[3].name, "cycles:u");
	free(specs);
}

#define LONG_30 "abcdefghijklmnopqrstuvwxyzabcd"

static void errors(void **state)
{
	const struct {
		const char *text;
		enum event_error_kind kind;
		size_t offset;
		const char *near;
	} cases[] = {
		{"", EVENT_ERROR_EMPTY, 0, ""},
		{"  ", EVENT_ERROR_EMPTY, 2, ""},
		{",", EVENT_ERROR_EMPTY, 0, ""},
		{"cycles,", EVENT_ERROR_EMPTY, 7, ""},
		{"cycles,,cs", EVENT_ERROR_EMPTY, 7, ""},
		{"cycels", EVENT_ERROR_UNKNOWN, 0, "cycles"},
		{"cs,cyclse:uk", EVENT_ERROR_UNKNOWN, 3, "cycles"},
		{"ycclse", EVENT_ERROR_UNKNOWN, 0, "cycles"},
		{"Cycles", EVENT_ERROR_UNKNOWN, 0, "cycles"},
		{"page-fault", EVENT_ERROR_UNKNOWN, 0, "page-faults"},
		{"pagefaults", EVENT_ERROR_UNKNOWN, 0, "page-faults"},
		{"cpuclock", EVENT_ERROR_UNKNOWN, 0, "cpu-clock"},
		{"context", EVENT_ERROR_UNKNOWN, 0, "context-switches"},
		{"instr", EVENT_ERROR_UNKNOWN, 0, "instructions"},
		{"migration", EVENT_ERROR_UNKNOWN, 0, "migrations"},
		{"x", EVENT_ERROR_UNKNOWN, 0, ""},
		{"watermelon", EVENT_ERROR_UNKNOWN, 0, ""},
		{":u", EVENT_ERROR_UNKNOWN, 0, ""},
		{":", EVENT_ERROR_UNKNOWN, 0, ""},
		{"watermelon:", EVENT_ERROR_UNKNOWN, 0, ""},
		{"cycles:", EVENT_ERROR_MODIFIER, 7, ""},
		{"cycles:ux", EVENT_ERROR_MODIFIER, 8, ""},
		{"cs,cycles:uu", EVENT_ERROR_MODIFIER, 11, ""},
		{"cycles:pppp", EVENT_ERROR_MODIFIER, 10, ""},
		{"cycles:u:k", EVENT_ERROR_MODIFIER, 8, ""},
		{"cycles: u", EVENT_ERROR_MODIFIER, 7, ""},
		{"cs," LONG_30 LONG_30 LONG_30 "abcdef", EVENT_ERROR_TOO_LONG, 3, ""},
		{LONG_30 LONG_30 LONG_30 "abcde", EVENT_ERROR_UNKNOWN, 0, ""},
		{"sched:sched_swich", EVENT_ERROR_UNKNOWN, 6, "sched:sched_switch"},
		{"cs,shed:sched_switch", EVENT_ERROR_UNKNOWN, 3, "sched:sched_switch"},
		{"sched_swich", EVENT_ERROR_UNKNOWN, 0, "sched:sched_switch"},
		{"syscalls:sys_enter_*d_*", EVENT_ERROR_NO_MATCH, 0, ""},
		{"x*:*", EVENT_ERROR_NO_MATCH, 0, ""},
		{"rxyz", EVENT_ERROR_UNKNOWN, 0, ""},
		{"r12345678901234567", EVENT_ERROR_UNKNOWN, 0, ""},
		{"cpu/event=0x3c", EVENT_ERROR_SYNTAX, 14, ""},
		{"cp/event=0x3c/", EVENT_ERROR_NO_PMU, 0, "cpu"},
		{"cs,cpu/evnt=0x3c/", EVENT_ERROR_TERM, 7, "event"},
		{"cpu/cache-mises/", EVENT_ERROR_TERM, 4, "cache-misses"},
		{"cpu/event=0x100/", EVENT_ERROR_VALUE, 10, ""},
		{"cpu/event=abc/", EVENT_ERROR_VALUE, 10, ""},
		{"cpu/event=/", EVENT_ERROR_VALUE, 10, ""},
		{"cpu/edge=2/", EVENT_ERROR_VALUE, 9, ""},
		{"cpu/broken=1/", EVENT_ERROR_TERM, 4, ""},
		{"cpu/event=1,event=2/", EVENT_ERROR_TERM_TWICE, 12, ""},
		{"cpu/asks/", EVENT_ERROR_TERM_NEEDED, 4, "umask"},
		{"cpu/strange/", EVENT_ERROR_TERM, 4, ""},
		{"cpu/,/", EVENT_ERROR_SYNTAX, 4, ""},
		{"cycles/percore/", EVENT_ERROR_TERM_FOREIGN, 7, ""},
		{"cycles/time=1/", EVENT_ERROR_TERM_FOREIGN, 7, ""},
		{"cycles/perod=1/", EVENT_ERROR_TERM, 7, "period"},
		{"cycles/event=1/", EVENT_ERROR_TERM, 7, ""},
		{"cycles/config=1/", EVENT_ERROR_TERM, 7, ""},
		{"cycles/period=0/", EVENT_ERROR_VALUE, 14, ""},
		{"cycles/period/", EVENT_ERROR_VALUE, 7, ""},
		{"cycles/freq=1,period=2/", EVENT_ERROR_TERM_TWICE, 7, ""},
		{"cycles/call-graph=dwarf/", EVENT_ERROR_VALUE, 18, ""},
		{"cycles/max-stack=70000/", EVENT_ERROR_VALUE, 17, ""},
		{"cycles/period=1/x", EVENT_ERROR_MODIFIER, 16, ""},
		{"cycles:Pp", EVENT_ERROR_MODIFIER, 8, ""},
		{"{cycles,instructions", EVENT_ERROR_GROUP, 0, ""},
		{"cs,{}", EVENT_ERROR_GROUP, 3, ""},
		{"cs,{", EVENT_ERROR_GROUP, 3, ""},
		{"{cs,{faults}}", EVENT_ERROR_GROUP, 4, ""},
		{"cs}", EVENT_ERROR_GROUP, 2, ""},
		{"{cs,}", EVENT_ERROR_EMPTY, 4, ""},
		{"{cs}:x", EVENT_ERROR_MODIFIER, 5, ""},
		{"{cs,faults:D}", EVENT_ERROR_LEADER, 11, ""},
		{"{cycles:pp}:pp", EVENT_ERROR_MODIFIER, 14, ""},
		{"cs faults", EVENT_ERROR_SYNTAX, 3, ""},
		{"mem:", EVENT_ERROR_ADDRESS, 4, ""},
		{"mem:0x1g", EVENT_ERROR_ADDRESS, 4, ""},
		{"mem:+4", EVENT_ERROR_ADDRESS, 4, ""},
		{"mem:0x1000/3", EVENT_ERROR_LENGTH, 11, ""},
		{"mem:0x1000:z", EVENT_ERROR_ACCESS, 11, ""},
		{"mem:0x1000:rx", EVENT_ERROR_ACCESS, 12, ""},
		{"mem:0x1000/8:ww", EVENT_ERROR_ACCESS, 14, ""},
		{"kprobe:", EVENT_ERROR_PROBE, 7, ""},
		{"uprobe:/bin/x", EVENT_ERROR_PROBE, 13, ""},
		{"uprobe:/bin/x:", EVENT_ERROR_PROBE, 14, ""},
		{"uprobe:/bin/x:f/retprobe=1/", EVENT_ERROR_TERM, 16, ""},
		{"kprobe/config=1/", EVENT_ERROR_PROBE, 7, ""},
		{"5:x", EVENT_ERROR_VALUE, 2, ""},
		{"inst_retird", EVENT_ERROR_UNKNOWN, 0, "inst_retired"},
		{"L1-dcache-load-mises", EVENT_ERROR_UNKNOWN, 0, "L1-dcache-load-misses"},
		{"iTLB-stores", EVENT_ERROR_UNKNOWN, 0, "dTLB-stores"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event_spec *specs = (struct event_spec *)8;
		struct event_error error;
		size_t n = 7;
		int err = event_parse_list_in(&machine.system, cases[i].text, &specs, &n, &error);

		if (err != -EINVAL || error.kind != cases[i].kind ||
			error.offset != cases[i].offset || strcmp(error.near, cases[i].near))
			fail_msg("'%s': %d, kind %d at %zu, near '%s'", cases[i].text, err,
				error.kind, error.offset, error.near);
		assert_null(specs);
		assert_int_equal(n, 0);
	}
}

/* Single events and the attributes that they get. */
static void families(void **state)
{
	static const struct {
		const char *text, *name;
		uint32_t type;
		uint64_t config, config1, config2, config3;
	} cases[] = {
		{"r1a8", "r1a8", PERF_TYPE_RAW, 0x1a8, 0, 0, 0},
		{"rFFFFFFFFFFFFFFFF:u", "rFFFFFFFFFFFFFFFF:u", PERF_TYPE_RAW, UINT64_MAX, 0, 0, 0},
		{"1:0x2", "1:0x2", 1, 2, 0, 0, 0},
		{"L1-dcache-load-misses", "L1-dcache-load-misses", 3, 0x10000, 0, 0, 0},
		{"l1d", "L1-dcache-loads", 3, 0, 0, 0, 0},
		{"L1-data-read-access", "L1-dcache-loads", 3, 0, 0, 0, 0},
		{"l1-i-prefetch-miss", "L1-icache-prefetch-misses", 3, 0x10201, 0, 0, 0},
		{"LLC-stores", "LLC-stores", 3, 0x102, 0, 0, 0},
		{"L2-misses-write", "LLC-store-misses", 3, 0x10102, 0, 0, 0},
		{"dTLB-speculative-read", "dTLB-prefetches", 3, 0x203, 0, 0, 0},
		{"Instruction-TLB", "iTLB-loads", 3, 4, 0, 0, 0},
		{"branch", "branch-loads", 3, 5, 0, 0, 0},
		{"bpc-miss:k", "branch-load-misses:k", 3, 0x10005, 0, 0, 0},
		{"node-prefetches", "node-prefetches", 3, 0x206, 0, 0, 0},
		{"cpu/event=0x3c,umask=1/u", "cpu/event=0x3c,umask=1/u", 4, 0x13c, 0, 0, 0},
		{"cpu/edge/", "cpu/edge/", 4, 1 << 18, 0, 0, 0},
		{"cpu/split=0xabc/", "cpu/split=0xabc/", 4, 0xa000000bc, 0, 0, 0},
		{"cpu/third=15,ldlat=7/", "cpu/third=15,ldlat=7/", 4, 0, 7, 0, 0xf0},
		{"cpu/mem-loads/pp", "cpu/mem-loads/pp", 4, 0x1cd, 3, 0, 0},
		{"cpu/mem-loads,ldlat=30/", "cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30, 0, 0},
		{"cpu/asks,umask=2/", "cpu/asks,umask=2/", 4, 0x205, 0, 0, 0},
		{"cpu/config=0x10,config2=5/", "cpu/config=0x10,config2=5/", 4, 0x10, 0, 5, 0},
		{"cpu/event=1,config=0x100/", "cpu/event=1,config=0x100/", 4, 0x101, 0, 0, 0},
		{"cpu/r1c2/", "cpu/r1c2/", 4, 0x1c2, 0, 0, 0},
		{"cpu//u", "cpu//u", 4, 0, 0, 0, 0},
		{"armv8_pmuv3_0/inst_retired,long/", "armv8_pmuv3_0/inst_retired,long/", 8, 8, 1, 0,
			0},
		{"inst_retired:u", "inst_retired:u", 8, 8, 0, 0, 0},
		{"topdown.slots", "topdown.slots", 4, 0x400, 0, 0, 0},
		{"sched:sched_switch", "sched:sched_switch", 2, 316, 0, 0, 0},
		{"sched:sched_switch:k", "sched:sched_switch:k", 2, 316, 0, 0, 0},
		{"sched:sched_swi*", "sched:sched_switch", 2, 316, 0, 0, 0},
		{"mem:0x1000/8:rw:u", "mem:0x1000/8:rw:u", 5, 0, 0x1000, 8, 0},
		{"mem:4096", "mem:4096/4:rw", 5, 0, 4096, 4, 0},
		{"mem:0x1000:x", "mem:0x1000/8:x", 5, 0, 0x1000, sizeof(long), 0},
		{"mem:0x1000:u", "mem:0x1000/4:rw:u", 5, 0, 0x1000, 4, 0},
		{"mem:0x1000/2/period=3/", "mem:0x1000/2:rw", 5, 0, 0x1000, 2, 0},
		{"kprobe:0xffff800012345678", "kprobe:0xffff800012345678", 6, 0, 0,
			0xffff800012345678, 0},
		{"kretprobe:vfs_read", "kretprobe:vfs_read", 6, 1, 0, 0, 0},
		{"kprobe:vfs_read+0x10:k", "kprobe:vfs_read+0x10:k", 6, 0, 0, 0x10, 0},
		{"uprobe:/bin/x:0x40", "uprobe:/bin/x:0x40", 7, 0, 0, 0x40, 0},
		{"uretprobe:/bin/x:64/ref_ctr_offset=3/u", "uretprobe:/bin/x:64/ref_ctr_offset=3/u",
			7, 0x300000001, 0, 64, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event_spec spec = one(cases[i].text), again;

		if (strcmp(spec.name, cases[i].name) || spec.attr.type != cases[i].type ||
			spec.attr.config != cases[i].config ||
			spec.attr.config1 != cases[i].config1 ||
			spec.attr.config2 != cases[i].config2 || spec.config3 != cases[i].config3)
			fail_msg("'%s': '%s', type %u, config %#llx %#llx %#llx", cases[i].text,
				spec.name, spec.attr.type, (unsigned long long)spec.attr.config,
				(unsigned long long)spec.attr.config1,
				(unsigned long long)spec.attr.config2);
		assert_int_equal(spec.needs.kind, NEEDS_NOTHING);
		again = one(spec.name);
		assert_string_equal(again.name, spec.name);
		assert_int_equal(again.attr.config, spec.attr.config);
		/* Uncore counters refuse exclusions. All other events exclude guests. */
		assert_true(spec.attr.exclude_guest);
	}
}

static void symbols(void **state)
{
	static const struct {
		const char *text;
		enum event_needs_kind kind;
		const char *binary, *symbol;
		uint64_t offset;
	} cases[] = {
		{"mem:counter", NEEDS_DATA_ADDRESS, NULL, "counter", 0},
		{"mem:counter+0x10/4:w:u", NEEDS_DATA_ADDRESS, NULL, "counter", 16},
		{"mem:ns::counter:rw", NEEDS_DATA_ADDRESS, NULL, "ns::counter", 0},
		{"uprobe:libc.so.6:malloc", NEEDS_FILE_OFFSET, "libc.so.6", "malloc", 0},
		{"uretprobe:/usr/lib/x.so:f+8:u", NEEDS_FILE_OFFSET, "/usr/lib/x.so", "f", 8},
		{"uprobe:x:ns::f(int, char)/period=2/", NEEDS_FILE_OFFSET, "x", "ns::f(int, char)",
			0},
		{"uprobe:x:0x20", NEEDS_FILE_OFFSET, "x", NULL, 0x20},
	};
	struct event_spec spec;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		spec = one(cases[i].text);
		assert_int_equal(spec.needs.kind, cases[i].kind);
		assert_int_equal(spec.needs.offset, cases[i].offset);
		/* Each text exists once, so equal pointers mean equal texts. */
		assert_ptr_equal(spec.needs.binary,
			cases[i].binary ? event_text(cases[i].binary, strlen(cases[i].binary))
					: NULL);
		assert_ptr_equal(spec.needs.symbol,
			cases[i].symbol ? event_text(cases[i].symbol, strlen(cases[i].symbol))
					: NULL);
	}
	spec = one("kprobe:vfs_read+4");
	assert_string_equal(spec.probe, "vfs_read");
	spec = one("uprobe:/bin/x:0x40");
	assert_string_equal(spec.probe, "/bin/x");
	assert_true(event_is_probe(&spec));
	/* A name that does not fit is cut before its modifiers. */
	snprintf(text, sizeof(text), "uprobe:x:%085d:u", 0);
	memset(text + 9, 'f', 85);
	spec = one(text);
	assert_in_range(strlen(spec.name), EVENT_FIT_BYTES - 8, EVENT_NAME_MAX - 1);
	assert_string_equal(spec.name + strlen(spec.name) - 4, "ff:u");
}

/* Long paths of package managers: two events have different names, and each is found by its whole
 * text. */
static void long_names(void **state)
{
	static const char path[] =
		"/nix/store/0123456789abcdefghijklmnopqrstuv-a-package-with-a-name-1.2.3/"
		"libexec/more/and/more/bin/p";
	static const char *const behind[] = {":first", ":second", ":first:u", ":first:uk", ":main"};
	char texts[5][EVENT_NAME_MAX * 2];
	struct event_spec specs[5];

	(void)state;
	for (int i = 0; i < 5; i++) {
		snprintf(texts[i], sizeof(texts[i]), "uprobe:%s%s", path, behind[i]);
		specs[i] = one(texts[i]);
		assert_true(strlen(specs[i].name) < EVENT_NAME_MAX);
		assert_memory_equal(specs[i].name, texts[i], 20);
		assert_string_equal(
			specs[i].name + strlen(specs[i].name) - strlen(behind[i]), behind[i]);
		assert_string_equal(specs[i].needs.binary, path);
	}
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 5; j++)
			assert_int_equal(event_is_called(specs[i].name, texts[j]), i == j);
	/* Texts that differ only in the middle. */
	texts[0][40] = '!';
	specs[1] = one(texts[0]);
	assert_string_not_equal(specs[0].name, specs[1].name);
	assert_true(event_is_called("cycles", "cycles"));
	assert_false(event_is_called("cycles", "cycles:u"));
}

/* The name is the one that the parser gives an event with the modifier u. */
static void user_only_names(void **state)
{
	static const struct {
		const char *name, *wanted;
		uint32_t type;
	} cases[] = {
		{"cpu-clock", "cpu-clock:u", PERF_TYPE_SOFTWARE},
		{"cpu-clock:u", "cpu-clock:u", PERF_TYPE_SOFTWARE},
		{"cycles:pp", "cycles:upp", PERF_TYPE_HARDWARE},
		{"cycles:ukhHS", "cycles:uHS", PERF_TYPE_HARDWARE},
		{"cpu/event=0x3c/", "cpu/event=0x3c/u", 4},
		{"cpu/event=0x3c/pp", "cpu/event=0x3c/upp", 4},
		{"cpu/event=0x3c/u", "cpu/event=0x3c/u", 4},
		{"1:5", "1:5:u", PERF_TYPE_SOFTWARE},
		{"mem:0x1000/4:rw", "mem:0x1000/4:rw:u", PERF_TYPE_BREAKPOINT},
		{"mem:0x1000/4:rw:uD", "mem:0x1000/4:rw:uD", PERF_TYPE_BREAKPOINT},
		{"syscalls:sys_enter_write", "syscalls:sys_enter_write:u", PERF_TYPE_TRACEPOINT},
		{"syscalls:sys_enter_write:D", "syscalls:sys_enter_write:uD", PERF_TYPE_TRACEPOINT},
		{"mine:up", "mine:up:u", PERF_TYPE_TRACEPOINT},
		{"mine/up:x", "mine/up:x:u", PERF_TYPE_SOFTWARE},
	};
	char name[EVENT_NAME_MAX];
	struct event_spec spec;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(name, sizeof(name), "%s", cases[i].name);
		event_name_user_only(name, cases[i].type);
		assert_string_equal(name, cases[i].wanted);
		event_name_user_only(name, cases[i].type);
		assert_string_equal(name, cases[i].wanted);
	}
	spec = one("cycles:upp");
	assert_string_equal(spec.name, "cycles:upp");
	/* A name without room is cut before its modifiers. */
	memset(name, 'f', sizeof(name));
	memcpy(name + sizeof(name) - 5, ":Dpp", 5);
	event_name_user_only(name, PERF_TYPE_SOFTWARE);
	assert_in_range(strlen(name), EVENT_FIT_BYTES - 8, EVENT_NAME_MAX - 1);
	assert_string_equal(name + strlen(name) - 7, "ff:uDpp");
}

static void escaped_paths(void **state)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{"uprobe:/opt/a\\:b/p:f", "/opt/a:b/p"},
		{"uprobe:/opt/a\\,b\\\\c/p:f", "/opt/a,b\\c/p"},
		{"uprobe:/opt/a\\b/p:f", "/opt/a\\b/p"},
		{"uprobe:/opt/with blank/p:f", "/opt/with blank/p"},
	};
	struct event_spec *specs, spec;
	struct event_error error;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		spec = one(cases[i].text);
		assert_string_equal(spec.needs.binary, cases[i].path);
		assert_string_equal(spec.needs.symbol, "f");
		assert_string_equal(spec.name, cases[i].text);
	}
	spec = one("uprobe:/a\\:b:0x40");
	assert_string_equal(spec.probe, "/a:b");
	assert_int_equal(event_parse_list("uprobe:/a\\,b:f,cpu-clock", &specs, &n, &error), 0);
	assert_int_equal(n, 2);
	assert_string_equal(specs[1].name, "cpu-clock");
	free(specs);
	assert_int_equal(event_parse_list("uprobe:/a\\", &specs, &n, &error), -EINVAL);
}

/* Lists of names are split into whole names. */
static void name_lists(void **state)
{
	static const char *const names[] = {"uprobe:/usr/bin/p:f", "uprobe:/p:f", "cpu-clock",
		"cpu/event=1,umask=2/u", "{a,b}:u", "mem:0x10/4:rw", "mem:0x10",
		"uprobe:/opt/a\\,b:f(int, char)/period=2/u", "uretprobe:/p:ns::f<a,b>:u",
		"kprobe:f+4", "sched:x/call-graph=no,period=2/", "cycles@/a", "a/b"};
	static const size_t n = sizeof(names) / sizeof(*names);
	char text[1024];
	size_t len = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%s", i ? "," : "", names[i]);
	len = 0;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(event_name_len(text + len), strlen(names[i]));
		len += strlen(names[i]) + 1;
	}
	assert_int_equal(event_name_len(""), 0);
	assert_int_equal(event_name_len(","), 0);
	assert_int_equal(event_name_len("uprobe:"), 7);
	assert_int_equal(event_name_len("uprobe:/a\\"), 10);
}

static struct event_spec *several(const char *text, size_t n)
{
	struct event_spec *specs;
	struct event_error error;
	size_t got;

	if (event_parse_list_in(&machine.system, text, &specs, &got, &error))
		fail_msg("%s: error %d at %zu", text, error.kind, error.offset);
	assert_int_equal(got, n);
	return specs;
}

static void patterns(void **state)
{
	struct event_spec *specs = several("sched:*wak*,*:sys_*", 4);

	(void)state;
	assert_string_equal(specs[0].name, "sched:sched_wakeup");
	assert_string_equal(specs[1].name, "sched:sched_waking");
	assert_string_equal(specs[3].name, "syscalls:sys_exit_read");
	free(specs);
	specs = several("uncore_imc/cas_count_read/", 2);
	assert_string_equal(specs[0].name, "uncore_imc_0/cas_count_read/");
	assert_string_equal(specs[0].cpus, "0,8");
	assert_string_equal(specs[0].unit, "MiB");
	assert_true(specs[0].scale > 6.1e-5 && specs[0].scale < 6.2e-5);
	assert_false(specs[0].attr.exclude_guest);
	assert_int_equal(specs[1].attr.type, 21);
	assert_int_equal(specs[1].attr.config, 0x304);
	assert_null(specs[1].unit);
	free(specs);
	specs = several("imc/event=1/,cas_count_read", 4);
	free(specs);
	specs = several("*_l3/event=1/", 1);
	assert_string_equal(specs[0].pmu, "amd_l3");
	free(specs);
}

static void groups(void **state)
{
	struct event_spec *specs =
		several("cs,{cycles:u , instructions:S}:kDW,{faults},{cpu/event=1/u,r1}:P", 6);

	(void)state;
	assert_int_equal(specs[0].group, 0);
	assert_int_equal(specs[1].group, specs[2].group);
	assert_int_not_equal(specs[1].group, 0);
	assert_int_not_equal(specs[3].group, specs[1].group);
	assert_int_not_equal(specs[4].group, specs[3].group);
	assert_string_equal(specs[1].name, "cycles:ukDW");
	assert_true(specs[1].attr.pinned && specs[1].weak_group);
	assert_false(specs[1].attr.exclude_user);
	assert_false(specs[1].attr.exclude_kernel);
	assert_true(specs[1].attr.exclude_hv);
	assert_string_equal(specs[2].name, "instructions:kSW");
	assert_true(specs[2].weak_group && specs[2].read_group);
	assert_false(specs[2].attr.pinned);
	assert_true(specs[2].attr.exclude_user);
	assert_string_equal(specs[4].name, "cpu/event=1/uP");
	assert_true(specs[4].precise_most && specs[5].precise_most);
	assert_int_equal(specs[4].attr.precise_ip, 3);
	free(specs);
}

static void terms(void **state)
{
	struct event_spec spec =
		one("cycles/period=1000,name=my event,max-stack=7,call-graph=no/u");

	(void)state;
	assert_string_equal(spec.name, "my event");
	assert_true(spec.has_rate);
	assert_int_equal(spec.attr.sample_max_stack, 7);
	assert_int_equal(spec.chain, EVENT_CHAIN_OFF);
	assert_true(spec.attr.exclude_kernel);
	event_set_freq(&spec, 99);
	assert_false(spec.attr.freq);
	assert_int_equal(spec.attr.sample_period, 1000);
	spec = one("cpu/event=3,freq=50,call-graph=fp/");
	event_set_period(&spec, 7);
	assert_true(spec.attr.freq);
	assert_int_equal(spec.attr.sample_freq, 50);
	assert_int_equal(spec.chain, EVENT_CHAIN_ON);
	assert_int_equal(spec.attr.config, 3);
	/* Tracepoints, breakpoints and probes sample every event, for any frequency. */
	static const char *const each[] = {
		"sched:sched_switch", "mem:0x10", "kprobe:f", "uprobe:x:f"};

	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++) {
		spec = one(each[i]);
		event_set_freq(&spec, 99);
		assert_false(spec.attr.freq);
		assert_int_equal(spec.attr.sample_period, 1);
		event_set_period(&spec, 5);
		assert_int_equal(spec.attr.sample_period, 5);
	}
	spec = one("sched:sched_switch/freq=9/");
	event_set_freq(&spec, 99);
	assert_int_equal(spec.attr.sample_freq, 9);
}

static void missing_parts(void **state)
{
	struct system_dirs bare = {.sysfs = "/nonexistent-sysfs"};
	struct event_spec *specs;
	struct event_error error;
	size_t n;

	(void)state;
	assert_int_equal(
		event_parse_list_in(&bare, "sched:sched_switch", &specs, &n, &error), -EINVAL);
	assert_int_equal(error.kind, EVENT_ERROR_NO_TRACEFS);
	assert_int_equal(error.error, ENOENT);
	assert_int_equal(event_parse_list_in(&bare, "uprobe:x:f", &specs, &n, &error), -EINVAL);
	assert_int_equal(error.kind, EVENT_ERROR_NO_PROBES);
	assert_int_equal(event_parse_list_in(&bare, "cpu/event=1/", &specs, &n, &error), -EINVAL);
	assert_int_equal(error.kind, EVENT_ERROR_NO_PMU);
	assert_int_equal(event_parse_list_in(&bare, "cycles:u,r1", &specs, &n, &error), 0);
	free(specs);
}

static int setup(void **state)
{
	(void)state;
	fixture_make(&machine);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_remove(&machine);
	return 0;
}

static void defaults_and_rates(void **state)
{
	struct event_spec spec;

	(void)state;
	event_default(&spec);
	assert_true(spec.by_default);
	assert_string_equal(spec.name, "cycles");
	assert_int_equal(spec.attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(spec.attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_true(spec.attr.exclude_guest);
	event_set_freq(&spec, 4000);
	assert_true(spec.attr.freq);
	assert_int_equal(spec.attr.sample_freq, 4000);
	event_set_period(&spec, 100003);
	assert_false(spec.attr.freq);
	assert_int_equal(spec.attr.sample_period, 100003);
	assert_false(attr_is_clock(&spec.attr)); /* cycles have the config of cpu-clock */
	spec = one("cpu-clock");
	assert_true(attr_is_clock(&spec.attr));
	spec = one("task-clock:u");
	assert_true(attr_is_clock(&spec.attr));
	spec = one("faults");
	assert_false(attr_is_clock(&spec.attr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(catalogue_is_whole),
		cmocka_unit_test(modifiers),
		cmocka_unit_test(lists),
		cmocka_unit_test(long_names),
		cmocka_unit_test(user_only_names),
		cmocka_unit_test(escaped_paths),
		cmocka_unit_test(name_lists),
		cmocka_unit_test(errors),
		cmocka_unit_test(defaults_and_rates),
		cmocka_unit_test(families),
		cmocka_unit_test(symbols),
		cmocka_unit_test(patterns),
		cmocka_unit_test(groups),
		cmocka_unit_test(terms),
		cmocka_unit_test(missing_parts),
		cmocka_unit_test(made_of_others),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
