/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_weaken.c - fallbacks if the kernel refuses an event: less precision, user space only,
 * another event, and the notes about them.
 *
 * The kernel is a function here, linked in place of sys_open_at().  Each case describes its
 * machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/engine/attr.h"
#include "sampler/engine/engine.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/weaken.h"
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/events/silent.h"

/* The fake machine. */
static struct {
	unsigned int precise; /* largest precise_ip */
	int error; /* errno for a larger precise_ip */
	bool no_hardware, no_kernel, no_guests;
	unsigned int asked; /* number of attempts */
	unsigned int least; /* precise_ip of the last attempt */
} machine;

static int answer(const struct perf_event_attr *attr)
{
	machine.asked++;
	machine.least = attr->precise_ip;
	if (machine.no_kernel && !attr->exclude_kernel)
		return EACCES;
	if (attr->type != PERF_TYPE_HARDWARE)
		return 0;
	if (machine.no_hardware)
		return ENOENT;
	if (attr->precise_ip > machine.precise)
		return machine.error;
	return machine.no_guests && attr->exclude_guest ? EINVAL : 0;
}

int __wrap_sys_open_at(const struct perf_event_attr *attr, const struct sys_place *place);

int __wrap_sys_open_at(const struct perf_event_attr *attr, const struct sys_place *place)
{
	int error = answer(attr);

	(void)place;
	return error ? -error : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct event_spec *parse(const char *text)
{
	struct event_error error;
	struct event_spec *specs;
	size_t n;

	if (*text) {
		assert_int_equal(event_parse_list(text, &specs, &n, &error), 0);
	} else {
		specs = malloc(sizeof(*specs));
		assert_non_null(specs);
		event_default(specs);
	}
	return specs;
}

/* Opens the only event as the engine does, and frees its specification.  Returns 0 or an errno. */
static int try_spec(struct event_spec *specs, struct engine **out)
{
	const struct point here = {.tid = 1, .cpu = -1};
	const struct sys_setup setup = {0};
	struct engine_config config = {.n_events = 1, .memory_bytes = 4 << 20};
	struct engine *engine;
	const int32_t pid = 1;
	int fd;

	event_set_period(specs, 1000000);
	config.events = specs;
	config.target.pids = &pid;
	config.target.n_pids = 1;
	config.target.command_output_fd = -1;
	assert_int_equal(engine_new(&engine, &config), 0);
	engine->budget.fd_limit = 1024;
	engine->filter = true;
	choice_add_all(engine, specs, 1, NULL);
	free(specs);
	machine.asked = 0;
	do {
		struct perf_event_attr attr;

		choice_attr(engine, 0, &setup, &attr);
		fd = choice_open_event(engine, 0, &attr, &here, -1);
	} while (fd < 0 && choice_weaken(engine, 0, -fd));
	if (fd >= 0) {
		choice_settle(engine, 0);
		engine_close_event(engine, &fd);
		fd = 0;
	} else {
		choice_refuse(engine, 0, -fd, &here);
	}
	*out = engine;
	return -fd;
}

static int try_event(const char *text, struct engine **out)
{
	return try_spec(parse(text), out);
}

static const struct engine_note *noted(struct engine *engine, enum engine_note_kind kind)
{
	static struct engine_note notes[32];
	size_t n = engine_notes(engine, 0, notes, 32);

	for (size_t i = 0; i < n; i++)
		if (notes[i].kind == kind)
			return &notes[i];
	return NULL;
}

/* Precision falls one step at a time, to that of the machine.  A note reports it, unless :P
 * requested as much as there is. */
static void test_precision(void **state)
{
	static const struct {
		const char *text;
		unsigned int asked, has;
		int error;
		bool told;
	} cases[] = {
		{"cycles:ppp", 3, 3, EOPNOTSUPP, false},
		{"cycles:ppp", 3, 2, EOPNOTSUPP, true},
		{"cycles:ppp", 3, 1, ENOENT, true},
		{"cycles:ppp", 3, 0, EINVAL, true},
		{"cycles:pp", 2, 1, ENODEV, true},
		{"cycles:p", 1, 0, EOPNOTSUPP, true},
		{"cycles:P", 3, 2, EOPNOTSUPP, false},
		{"cycles:P", 3, 0, EINVAL, false},
		{"cycles", 0, 0, EOPNOTSUPP, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct engine_note *note;
		struct engine *engine;

		memset(&machine, 0, sizeof(machine));
		machine.precise = cases[i].has;
		machine.error = cases[i].error;
		assert_int_equal(try_event(cases[i].text, &engine), 0);
		assert_int_equal(machine.asked, 1 + cases[i].asked - cases[i].has);
		assert_int_equal(machine.least, cases[i].has);
		assert_int_equal(engine->status.events[0].precise, cases[i].has);
		note = noted(engine, NOTE_LESS_PRECISE);
		assert_int_equal(note != NULL, cases[i].told);
		if (note) {
			assert_int_equal(note->value, cases[i].has);
			assert_string_equal(note->text, cases[i].text);
		}
		engine_free(engine);
	}
}

/* If there is no such event at all, less precision does not help.  The event is refused as it was
 * requested. */
static void test_no_such_event(void **state)
{
	struct engine *engine;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.no_hardware = true;
	assert_int_equal(try_event("cycles:pp", &engine), ENOENT);
	assert_int_equal(machine.asked, 3);
	assert_non_null(noted(engine, NOTE_EVENT_REFUSED));
	assert_int_equal(noted(engine, NOTE_EVENT_REFUSED)->attr.precise_ip, 2);
	assert_null(noted(engine, NOTE_LESS_PRECISE));
	engine_free(engine);
	/* Without a named event, the clock is used. */
	assert_int_equal(try_event("", &engine), 0);
	assert_non_null(noted(engine, NOTE_FALLBACK_CLOCK));
	assert_string_equal(engine->status.events[0].name, "cpu-clock");
	engine_free(engine);
}

/* The kernel is excluded first, then precision is reduced; notes report both.  With the letter k,
 * the kernel is not excluded. */
static void test_no_kernel(void **state)
{
	static const char *const kernels[] = {"cycles:kpp", "cycles:ukD"};
	struct engine *engine;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.no_kernel = true;
	machine.precise = 1;
	machine.error = EOPNOTSUPP;
	assert_int_equal(try_event("cycles:pp", &engine), 0);
	assert_true(engine->status.events[0].user_only);
	assert_string_equal(engine->status.events[0].name, "cycles:upp");
	assert_int_equal(engine->status.events[0].precise, 1);
	assert_non_null(noted(engine, NOTE_USER_ONLY));
	assert_non_null(noted(engine, NOTE_LESS_PRECISE));
	engine_free(engine);
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		assert_int_equal(try_event(kernels[i], &engine), EACCES);
		assert_string_equal(engine->status.events[0].name, kernels[i]);
		assert_null(noted(engine, NOTE_USER_ONLY));
		engine_free(engine);
	}
	/* The clock that is used instead has no kernel part either. */
	machine.no_hardware = true;
	assert_int_equal(try_event("", &engine), 0);
	assert_string_equal(engine->status.events[0].name, "cpu-clock:u");
	engine_free(engine);
	/* A refused event has the name that was requested. */
	assert_int_equal(try_event("cycles:pp", &engine), ENOENT);
	assert_string_equal(engine->status.events[0].name, "cycles:pp");
	engine_free(engine);
}

/* Two events never have one name, whichever was chosen first. */
static void test_name_is_taken(void **state)
{
	static const char *const orders[] = {"cpu-clock,cpu-clock:u", "cpu-clock:u,cpu-clock"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct event_spec *specs = parse(orders[i]);
		struct engine_config config = {
			.events = specs, .n_events = 2, .memory_bytes = 4 << 20};
		const int32_t pid = 1;
		struct engine *engine;

		config.target =
			(struct engine_target){.pids = &pid, .n_pids = 1, .command_output_fd = -1};
		assert_int_equal(engine_new(&engine, &config), 0);
		choice_add_all(engine, specs, 1, NULL);
		assert_true(choice_weaken(engine, 0, EACCES) == (i == 0));
		assert_string_equal(engine->status.events[0].name, "cpu-clock:u");
		choice_add_all(engine, specs + 1, 1, NULL);
		assert_true(choice_weaken(engine, 1, EACCES) == (i == 1));
		assert_string_equal(engine->status.events[0].name, i ? "cpu-clock:u" : "cpu-clock");
		assert_string_equal(engine->status.events[1].name, i ? "cpu-clock" : "cpu-clock:u");
		engine_free(engine);
		free(specs);
	}
}

/* Events that happen in the kernel only are not tried without it. */
static void test_kernels_own(void **state)
{
	struct engine *engine;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.no_kernel = true;
	assert_int_equal(try_event("context-switches", &engine), EACCES);
	assert_int_equal(machine.asked, 1);
	assert_non_null(noted(engine, NOTE_EVENT_REFUSED));
	engine_free(engine);
	assert_int_equal(try_event("page-faults", &engine), 0);
	assert_non_null(noted(engine, NOTE_USER_ONLY));
	assert_string_equal(engine->status.events[0].name, "page-faults:u");
	engine_free(engine);
}

/* Tracepoints also happen in the kernel only, except those whose hits have registers of user
 * space. */
static void test_tracepoints(void **state)
{
	static const enum tracefs_kind kinds[] = {
		TRACEFS_PLAIN, TRACEFS_SCHEDSTAT, TRACEFS_KPROBE, TRACEFS_SYSCALL, TRACEFS_UPROBE};

	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.no_kernel = true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		bool fires = kinds[i] == TRACEFS_SYSCALL || kinds[i] == TRACEFS_UPROBE;
		struct event_spec *spec = parse("dummy");
		struct engine *engine;

		spec->attr.type = PERF_TYPE_TRACEPOINT;
		spec->attr.config = 1;
		spec->trace = kinds[i];
		assert_int_equal(try_spec(spec, &engine), fires ? 0 : EACCES);
		assert_int_equal(noted(engine, NOTE_USER_ONLY) != NULL, fires);
		assert_int_equal(noted(engine, NOTE_EVENT_REFUSED) == NULL, fires);
		assert_null(noted(engine, NOTE_SILENT));
		engine_free(engine);
	}
}

/* If the user excludes the kernel, a note reports that no event is left. */
static void test_left_out(void **state)
{
	struct engine *engine;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	assert_int_equal(try_event("context-switches:u", &engine), 0);
	assert_int_equal(noted(engine, NOTE_SILENT)->value, SILENT_IN_KERNEL);
	engine_free(engine);
	assert_int_equal(try_event("page-faults:u", &engine), 0);
	assert_null(noted(engine, NOTE_SILENT));
	engine_free(engine);
}

/* An event that opened elsewhere is not refused because a CPU went away (ENODEV).  Other errors
 * refuse it, and so does a CPU that is there. */
static void test_offline(void **state)
{
	const struct point gone = {.tid = -1, .cpu = 1 << 20}, here = {.tid = -1, .cpu = 0};
	struct engine *engine;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	assert_int_equal(try_event("cpu-clock", &engine), 0);
	choice_refuse(engine, 0, ENODEV, &gone);
	assert_null(noted(engine, NOTE_EVENT_REFUSED));
	assert_int_equal(engine->status.events[0].error, 0);
	choice_refuse(engine, 0, EBUSY, &gone);
	assert_int_equal(noted(engine, NOTE_EVENT_REFUSED)->error, EBUSY);
	engine_free(engine);
	assert_int_equal(try_event("cpu-clock", &engine), 0);
	choice_refuse(engine, 0, ENODEV, &here);
	assert_int_equal(noted(engine, NOTE_EVENT_REFUSED)->cpu, 0);
	engine_free(engine);
}

/* A PMU without support for guests also returns EINVAL. Precision is tried first, then guests are
 * included. */
static void test_no_guests(void **state)
{
	struct engine *engine;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.no_guests = true;
	assert_int_equal(try_event("cycles", &engine), 0);
	assert_int_equal(machine.asked, 2);
	assert_int_equal(engine->choices[0].attr.exclude_guest, 0);
	engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_no_such_event),
		cmocka_unit_test(test_no_kernel),
		cmocka_unit_test(test_name_is_taken),
		cmocka_unit_test(test_kernels_own),
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_offline),
		cmocka_unit_test(test_no_guests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
