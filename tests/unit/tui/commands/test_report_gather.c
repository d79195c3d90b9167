/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_report_gather.c - a report from a hand-made store: sums, ranges, filters, shares and limits.
 *
 * Defines the session's functions, since there is neither an engine nor a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/control/status.h"
#include "symbols/client/unwind.h"
#include "tests/unit/limits_fixture.h"
#include "tests/unit/samples_fixture.h"
#include "tui/commands/report.h"
#include "tui/session/chain_notes.h"
#include "tui/session/request.h"

#define START_NS 1000000000000u
#define SECOND 1000000000u
#define CLOCK 0
#define FAULTS 3

static struct world {
	struct fixture *fixture;
	struct store *store;
	struct session session;
	struct request request;
	struct engine_status status;
	struct report report;
} world;

void session_status(const struct session *session, struct engine_status *out)
{
	(void)session;
	*out = world.status;
}

bool session_has_times(const struct session *session)
{
	(void)session;
	return true;
}

uint64_t session_covered_ns(const struct session *session, const struct engine_status *status)
{
	(void)session;
	return status->now_ns - status->started_ns;
}

size_t session_notes(
	const struct session *session, uint64_t after, struct engine_note *out, size_t max)
{
	(void)session;
	(void)after;
	(void)out;
	(void)max;
	return 0;
}

bool session_event_asked(const struct session *session, const char *name, const char *asked)
{
	(void)session;
	return !strcmp(name, asked);
}

void session_missing_event(const struct session *session, const char *name, char *out, size_t size)
{
	(void)session;
	snprintf(out, size, "the recording has no event '%s'", name);
}

void session_describe(struct session *session)
{
	(void)session;
}

struct store *session_store(const struct session *session)
{
	(void)session;
	return world.store;
}

const struct stacks *session_stacks(const struct session *session)
{
	(void)session;
	return world.fixture->stacks;
}

void session_schemas(const struct session *session, const struct engine_status *status,
	struct field_schemas *out)
{
	(void)session;
	(void)status;
	*out = (struct field_schemas){0};
}

const struct fields *session_fields(const struct session *session, uint8_t event)
{
	(void)session;
	(void)event;
	return NULL;
}

struct images *session_images(const struct session *session)
{
	(void)session;
	return world.fixture->images;
}

enum symbols_state symbols_unwind_state(
	struct symbols *symbols, uint32_t key, const struct unwtab **table)
{
	static const struct unwtab sparse = {.flags = UNWTAB_SPARSE};

	(void)symbols;
	*table = key == world.fixture->stripped ? &sparse : NULL;
	return key == world.fixture->library ? SYMBOLS_NONE : SYMBOLS_READY;
}

int symbols_unwind_error(struct symbols *symbols, uint32_t key)
{
	(void)symbols;
	(void)key;
	return 0;
}

const struct tasks *session_tasks(const struct session *session)
{
	(void)session;
	return world.fixture->tasks;
}

/* Adds `samples` samples of a stack, each of `weight`, `second` seconds after the start. */
static void add(double second, const char *stack, unsigned int label, uint8_t event,
	uint64_t weight, unsigned int samples)
{
	uint32_t node = fixture_stack(world.fixture, stack);
	uint64_t time_ns = START_NS + (uint64_t)(second * SECOND);

	while (samples--)
		assert_int_equal(store_add(world.store, time_ns, node, world.fixture->labels[label],
					 1, event, weight),
			0);
}

enum { SWAPPER, SERVER, WORKER, MAKE = 5 };

/* Three seconds with 10 clock samples of weight 10 each.  In the last one, 4 samples are idle.  The
 * second one also has 5 page faults. */
static int setup(void **state)
{
	static const char *const names[] = {"cpu-clock", "page-faults"};

	memset(&world, 0, sizeof(world));
	fixture_setup(state);
	world.fixture = *state;
	assert_int_equal(store_new(&world.store, world.fixture->stacks, world.fixture->tasks,
				 (size_t)64 << 20),
		0);
	add(0.2, "0 1 2", SERVER, CLOCK, 10, 6);
	add(0.2, "0 1", WORKER, CLOCK, 10, 4);
	add(1.2, "0 1 2", WORKER, CLOCK, 10, 3);
	add(1.2, "0 3 1 3", MAKE, CLOCK, 10, 7); /* recursive */
	add(1.2, "0 4", MAKE, FAULTS, 1, 5);
	add(2.2, "0 2", SERVER, CLOCK, 10, 6);
	add(2.2, "7", SWAPPER, CLOCK, 10, 4);
	store_seal(world.store, 0, true);

	world.request.percent_limit = -1;
	world.request.columns = COLUMNS_NONE;
	world.session.request = &world.request;
	world.session.names = world.fixture->names;
	world.status.started_ns = START_NS;
	world.status.now_ns = START_NS + 3ull * SECOND;
	world.status.n_events = 2;
	for (size_t i = 0; i < 2; i++) {
		struct engine_event_status *event = &world.status.events[i];

		event->id = i ? FAULTS : CLOCK;
		event->open = true;
		event->lost = i;
		event->covered = 30;
		event->coverable = 40;
		snprintf(event->name, sizeof(event->name), "%s", names[i]);
	}
	return 0;
}

static int teardown(void **state)
{
	store_free(world.store);
	return fixture_teardown(state);
}

static const struct report_event *gather(size_t event)
{
	assert_int_equal(report_gather(&world.report, &world.session), 0);
	assert_int_equal(world.report.n_events, 2);
	return &world.report.events[event];
}

static void near(double value, double wanted)
{
	if (value < wanted - 1e-9 || value > wanted + 1e-9)
		fail_msg("%f is not %f", value, wanted);
}

static void expect_row(const struct report_event *event, size_t i, const char *key, double self,
	double total, uint64_t samples)
{
	assert_true(i < event->n_rows);
	assert_string_equal(event->rows[i].keys[0].text, key);
	near(event->rows[i].self_percent, self);
	near(event->rows[i].total_percent, total);
	assert_int_equal(event->rows[i].samples, samples);
}

static void test_rows(void **state)
{
	const struct report_event *event = gather(0);

	(void)state;
	assert_string_equal(event->name, "cpu-clock");
	assert_int_equal(event->samples, 30);
	assert_int_equal(event->weight, 300);
	assert_int_equal(event->all_weight, 300);
	near(event->coverage_percent, 75);
	near(world.report.duration_s, 3);
	assert_int_equal(world.report.n_keys, 2);
	assert_int_equal(event->n_rows, 5);
	expect_row(event, 0, "f2", 50, 50, 15);
	expect_row(
		/* once, although it is on the stack twice */
		event, 1, "f3", 70.0 / 3, 70.0 / 3, 7);
	/* equal to f7 in self, and more total */
	expect_row(event, 2, "f1", 40.0 / 3, 200.0 / 3, 4);
	expect_row(event, 3, "f7", 40.0 / 3, 40.0 / 3, 4);
	expect_row(event, 4, "f0", 0, 260.0 / 3, 0);
	assert_string_equal(event->rows[0].keys[1].text, "program");
	assert_int_equal(event->rows[0].self_weight, 150);

	event = &world.report.events[1];
	assert_int_equal(event->lost, 1);
	assert_int_equal(event->n_rows, 2);
	expect_row(event, 0, "f4", 100, 100, 5);
	report_fini(&world.report);

	world.request.sort_total = true;
	event = gather(0);
	expect_row(event, 0, "f0", 0, 260.0 / 3, 0);
	expect_row(event, 1, "f1", 40.0 / 3, 200.0 / 3, 4);
	report_fini(&world.report);
}

static void gather_notes(size_t wanted)
{
	assert_int_equal(report_gather_notes(&world.report, &world.session), 0);
	assert_int_equal(world.report.n_notes, wanted);
}

static void expect_no_notes(const struct unwind_totals *chains)
{
	world.status.chains = *chains;
	gather(0);
	gather_notes(0);
	report_fini(&world.report);
}

static void test_chains(void **state)
{
	struct unwind_totals *chains = &world.status.chains;

	(void)state;
	*chains = (struct unwind_totals){.judged = 1000,
		.stack_bytes = 16384,
		.broken = {{.chains = 400, .image = world.fixture->program},
			{.chains = 300, .image = world.fixture->library},
			{.chains = 20, .image = world.fixture->stripped}}};
	gather(0);
	gather_notes(2);
	expect_text(world.report.notes[0], "30.0% of call chains break in '");
	expect_text(world.report.notes[1], "which has no unwind data");
	report_fini(&world.report);

	chains->stack_bytes = 0;
	chains->late = 1;
	chains->dropped = 7;
	gather(0);
	assert_int_equal(world.report.chains_late, 1);
	assert_int_equal(world.report.addresses_dropped, 7);
	gather_notes(3);
	expect_text(world.report.notes[0], "40.0% of call chains break in '");
	expect_text(world.report.notes[0], "--call-graph dwarf");
	report_fini(&world.report);

	chains->late = 25;
	chains->dropped = 70;
	gather(0);
	gather_notes(5);
	expect_text(world.report.notes[2], "too late for 25 samples:");
	expect_text(world.report.notes[3], "2.0% of call chains break in '");
	expect_text(world.report.notes[4], "70 addresses of call chains");
	report_fini(&world.report);
	chains->nowhere = 35;
	gather(0);
	gather_notes(5);
	expect_text(
		world.report.notes[2], "3.5% of call chains break in code that lies in no known");
	expect_text(world.report.notes[4], "2.0% of call chains break in '");
	report_fini(&world.report);

	/* few, or a small share */
	expect_no_notes(&(const struct unwind_totals){.judged = 100,
		.late = 19,
		.dropped = 19,
		.broken = {{.chains = 19, .image = world.fixture->library}}});
	expect_no_notes(&(const struct unwind_totals){.judged = 10000,
		.late = 49,
		.dropped = 49,
		.broken = {{.chains = 49, .image = world.fixture->library}}});
}

/* Notes are ordered by their share.  If less than 99 % of the chains are whole, one cause is named,
 * however small.  With a better share, or few chains, no cause is needed. */
static void test_causes_of_chains(void **state)
{
	struct unwind_totals *chains = &world.status.chains;
	struct unwind_ends *ends = &world.status.events[0].chains;

	(void)state;
	*chains = (struct unwind_totals){.judged = 1000,
		.stack_bytes = 16384,
		.broken = {{.chains = 10, .image = world.fixture->library}}};
	*ends = (struct unwind_ends){.whole = 945, .cut = 20, .broken = 10, .away = 25};
	world.status.events[0].stack_bytes = 16384;
	world.status.events[1].chains = (struct unwind_ends){.whole = 400, .broken = 600};
	chains->judged = 2000;
	gather(0);
	gather_notes(3);
	expect_text(world.report.notes[0], "60.0% of call chains of page-faults break: it fires");
	expect_text(world.report.notes[1], "1.2% of call chains go on on another stack");
	expect_text(world.report.notes[2], "1.0% of call chains end where the copy of their");
	report_fini(&world.report);

	/* 98.9 % are whole.  Each cause is small, so the largest one is named. */
	world.status.events[1].chains = (struct unwind_ends){.whole = 0};
	chains->judged = 10000;
	chains->broken[0].chains = 44;
	*ends = (struct unwind_ends){.whole = 9890, .cut = 36, .broken = 44, .away = 30};
	gather(0);
	gather_notes(1);
	expect_text(world.report.notes[0], "0.4% of call chains break in '");
	report_fini(&world.report);

	/* shown as 99.0 % */
	ends->whole = 9895;
	ends->cut = 30;
	gather(0);
	gather_notes(0);
	report_fini(&world.report);

	/* below 99 %, but of few chains */
	chains->judged = 100;
	chains->broken[0].chains = 0;
	*ends = (struct unwind_ends){.whole = 81, .cut = 19};
	gather(0);
	gather_notes(0);
	report_fini(&world.report);
	/* another event, with few of all chains */
	chains->judged = 1000000;
	*ends = (struct unwind_ends){.whole = 999900};
	world.status.events[1].stack_bytes = 4096;
	world.status.events[1].chains = (struct unwind_ends){.whole = 60, .cut = 40};
	gather(0);
	gather_notes(1);
	expect_text(world.report.notes[0], "40 call chains end where the copy");
	report_fini(&world.report);
}

static void add_below(uint32_t caller, unsigned int label, unsigned int samples)
{
	const uint32_t node = fixture_call(world.fixture, caller, world.fixture->program, 16);

	while (samples--)
		assert_int_equal(store_add(world.store, START_NS + 4ull * SECOND, node,
					 world.fixture->labels[label], 1, CLOCK, 10),
			0);
}

/* Chains of the samples that pass count.  They are left out if their outermost frame is unknown. */
static void test_whole_chains(void **state)
{
	struct filter_term terms[] = {{.field = FILTER_COMM, .text = (char[]){"worker"}}};
	const struct image key = {.kind = IMAGE_KSYMBOL, .path = (char *)"[truncated]"};
	struct fixture *fixture = world.fixture;
	const struct report_event *event;
	uint32_t image, cut;

	(void)state;
	assert_int_equal(images_intern(fixture->images, &key, &image), 0);
	cut = fixture_call(fixture, STACK_ROOT, image, 0);
	add_below(cut, SERVER, 6);
	add_below(cut, WORKER, 2);
	add_below(fixture_call(fixture, STACK_ROOT, IMAGE_ID_UNKNOWN, 0x1234), SERVER, 3);
	store_seal(world.store, 0, true);
	assert_int_equal(gather(0)->chains, 0);
	report_fini(&world.report);

	/* the engine's numbers are of all samples */
	world.status.events[0].chains = (struct unwind_ends){.whole = 1, .broken = 1};
	event = gather(0);
	assert_int_equal(event->samples, 41);
	assert_int_equal(event->chains, 38);
	assert_int_equal(event->chains_whole, 30);
	assert_int_equal(world.report.events[1].chains, 0);
	report_fini(&world.report);

	world.request.terms = terms;
	world.request.n_terms = 1;
	event = gather(0);
	assert_int_equal(event->chains, 9);
	assert_int_equal(event->chains_whole, 7);
	report_fini(&world.report);

	world.request.view = REPORT_TREE;
	assert_int_equal(gather(0)->chains_whole, 7);
	report_fini(&world.report);
}

/* A report of some samples or events does not have the causes of all. */
static void test_causes_of_other_samples(void **state)
{
	struct filter_term terms[] = {{.field = FILTER_COMM, .text = (char[]){"worker"}}};
	char ticks[] = "cpu-clock", faults[] = "page-faults";
	char *names[] = {ticks};

	(void)state;
	world.status.chains = (struct unwind_totals){.judged = 1000,
		.stack_bytes = 16384,
		.broken = {{.chains = 300, .image = world.fixture->library}}};
	world.status.events[1].stack_bytes = 16384;
	world.status.events[1].chains = (struct unwind_ends){.whole = 700, .broken = 300};
	gather(0);
	gather_notes(1);
	report_fini(&world.report);

	world.request.terms = terms;
	world.request.n_terms = 1;
	gather(0);
	gather_notes(0);
	world.request.n_terms = 0;
	world.request.time_to_s = 1;
	assert_int_equal(report_add_chain_notes(&world.report, &world.session), 0);
	assert_int_equal(world.report.n_notes, 0);
	world.request.time_to_s = 0;
	world.request.event_names = names;
	world.request.n_event_names = 1;
	world.session.recording = (void *)&world;
	gather_notes(0);
	names[0] = faults;
	gather_notes(1);
	report_fini(&world.report);
}

/* The first seconds say little about the rest. */
static void test_when_chains_are_told(void **state)
{
	struct engine_status *status = &world.status;

	(void)state;
	status->state = ENGINE_RUNNING;
	status->chains.judged = 200;
	status->now_ns = status->started_ns + 5ull * SECOND;
	assert_true(chain_notes_due(&world.session, status));
	status->chains.judged = 199;
	assert_false(chain_notes_due(&world.session, status));
	status->chains.judged = 100000;
	status->now_ns--;
	assert_false(chain_notes_due(&world.session, status));
	status->state = ENGINE_ENDED;
	assert_true(chain_notes_due(&world.session, status));
}

/* In a file with an unwind table, code without rules is named by its functions. */
static void test_code_without_rules(void **state)
{
	struct unwind_totals *chains = &world.status.chains;
	struct unwind_broken *broken = &chains->broken[0];

	(void)state;
	*chains = (struct unwind_totals){.judged = 1000,
		.stack_bytes = 16384,
		.broken = {{.chains = 300,
			.image = world.fixture->program,
			.unwound = 300,
			.ruleless = 200,
			.n_places = 3,
			.places = {0x21, 0x14, 0x2f}}}};
	gather(0);
	gather_notes(1);
	expect_text(world.report.notes[0],
		"30.0% of call chains break in '/bin/program' (f2 and others), in code without "
		"unwind data");
	report_fini(&world.report);

	broken->places[1] = 0x20;
	gather(0);
	gather_notes(1);
	expect_text(world.report.notes[0], "'/bin/program' (f2), in code");
	report_fini(&world.report);

	broken->n_places = 1;
	broken->places[0] = 0x10000;
	gather(0);
	gather_notes(1);
	expect_text(world.report.notes[0], "'/bin/program', in code");
	report_fini(&world.report);

	broken->ruleless = 100;
	gather(0);
	gather_notes(1);
	expect_text(world.report.notes[0], "where its unwind data does not lead to a caller");
	report_fini(&world.report);

	/* the other chains were unwound by frame pointers */
	broken->unwound = 4;
	gather(0);
	gather_notes(0);
	report_fini(&world.report);
}

static void test_time(void **state)
{
	const struct report_event *event;

	(void)state;
	world.request.time_from_s = 1;
	world.request.time_to_s = 2;
	event = gather(0);
	assert_int_equal(event->samples, 10);
	assert_int_equal(event->all_samples, 10);
	expect_row(event, 0, "f3", 70, 70, 7);
	report_fini(&world.report);

	/* The second event has lost a sample at an unknown time. */
	gather(0);
	assert_int_equal(report_gather_notes(&world.report, &world.session), 0);
	assert_int_equal(world.report.n_notes, 1);
	assert_non_null(strstr(world.report.notes[0], "--time"));
	report_fini(&world.report);

	/* up to the end, then from the beginning */
	world.request.time_to_s = 0;
	assert_int_equal(gather(0)->samples, 20);
	report_fini(&world.report);
	world.request.time_from_s = 0;
	world.request.time_to_s = 1;
	event = gather(0);
	assert_int_equal(event->samples, 10);
	assert_int_equal(world.report.events[1].samples, 0);
	report_fini(&world.report);

	world.request.time_to_s = 1e300;
	assert_int_equal(gather(0)->samples, 30);
	report_fini(&world.report);
}

static void test_filters(void **state)
{
	struct filter_term terms[] = {
		{.field = FILTER_COMM, .text = (char[]){"worker"}},
		{.field = FILTER_SYMBOL, .text = (char[]){"f2"}, .negated = true},
	};
	const struct report_event *event;

	(void)state;
	world.request.terms = terms;
	world.request.n_terms = 1;
	event = gather(0);
	assert_true(world.report.filtered);
	assert_int_equal(event->samples, 7);
	assert_int_equal(event->all_samples, 30);
	expect_row(event, 0, "f1", 400.0 / 7, 100, 4);
	expect_row(event, 1, "f2", 300.0 / 7, 300.0 / 7, 3);
	report_fini(&world.report);

	world.request.absolute = true;
	event = gather(0);
	assert_int_equal(event->samples, 7);
	expect_row(event, 0, "f1", 40.0 / 3, 70.0 / 3, 4);
	expect_row(event, 1, "f2", 10, 10, 3);
	report_fini(&world.report);

	world.request.n_terms = 2;
	event = gather(0);
	assert_int_equal(event->samples, 4);
	expect_row(event, 0, "f1", 40.0 / 3, 40.0 / 3, 4);
	report_fini(&world.report);
}

static void test_idle(void **state)
{
	(void)state;
	world.request.hide_idle = true;
	assert_int_equal(gather(0)->samples, 26);
	/* Idle samples do not count, not even in the sum. */
	assert_int_equal(world.report.events[0].all_samples, 26);
	expect_row(&world.report.events[0], 0, "f2", 1500.0 / 26, 1500.0 / 26, 15);
	report_fini(&world.report);
}

static void test_losses(void **state)
{
	(void)state;
	world.status.lost_side_band = 3;
	world.status.store.dropped = 4;
	world.status.records_dropped = 5;
	gather(0);
	assert_int_equal(world.report.lost_side_band, 3);
	assert_int_equal(world.report.dropped, 4);
	assert_int_equal(world.report.records_dropped, 5);
	report_fini(&world.report);
}

static void test_limits(void **state)
{
	const struct report_event *event;

	(void)state;
	world.request.rows = 3;
	event = gather(0);
	assert_int_equal(event->n_rows, 3);
	expect_row(event, 2, "f1", 40.0 / 3, 200.0 / 3, 4);
	assert_int_equal(world.report.events[1].n_rows, 2);
	report_fini(&world.report);

	world.request.rows = 0;
	world.request.percent_limit = 20;
	event = gather(0);
	assert_int_equal(event->n_rows, 2);
	expect_row(event, 1, "f3", 70.0 / 3, 70.0 / 3, 7);
	report_fini(&world.report);

	/* A share equal to the limit is not below it. */
	world.request.percent_limit = 50;
	assert_int_equal(gather(0)->n_rows, 1);
	report_fini(&world.report);

	world.request.percent_limit = 0;
	assert_int_equal(gather(0)->n_rows, 5);
	report_fini(&world.report);
}

/* Rows of equal weight are ordered by name, also when only some are requested. */
static void test_ties(void **state)
{
	const char *const stacks[] = {"13", "11", "15", "10", "14", "12"};
	const struct report_event *event;

	(void)state;
	for (size_t i = 0; i < 6; i++)
		add(4, stacks[i], SERVER, FAULTS, 200, 1);
	store_seal(world.store, 0, true);
	event = gather(1);
	assert_int_equal(event->n_rows, 8);
	expect_row(event, 0, "f10", 20000.0 / 1205, 20000.0 / 1205, 1);
	expect_row(event, 5, "f15", 20000.0 / 1205, 20000.0 / 1205, 1);
	report_fini(&world.report);
	world.request.rows = 2;
	event = gather(1);
	assert_int_equal(event->n_rows, 2);
	expect_row(event, 0, "f10", 20000.0 / 1205, 20000.0 / 1205, 1);
	expect_row(event, 1, "f11", 20000.0 / 1205, 20000.0 / 1205, 1);
	report_fini(&world.report);
	world.request.rows = 0;
	world.request.percent_limit = 100 * 200.0 / 1205;
	event = gather(1);
	assert_int_equal(event->n_rows, 6);
	expect_row(event, 0, "f10", 20000.0 / 1205, 20000.0 / 1205, 1);
	expect_row(event, 5, "f15", 20000.0 / 1205, 20000.0 / 1205, 1);
	report_fini(&world.report);
}

static void test_groups(void **state)
{
	const struct report_event *event;

	(void)state;
	world.request.groups[0] = GROUP_COMMAND;
	world.request.groups[1] = GROUP_SYMBOL;
	world.request.n_groups = 2;
	event = gather(0);
	assert_true(world.report.grouped);
	expect_row(event, 0, "server", 40, 40, 12);
	assert_string_equal(event->rows[0].keys[1].text, "f2");
	report_fini(&world.report);
}

/* Two threads with one tid are two columns, since the tid was reused. */
static void test_threads_side_by_side(void **state)
{
	const struct report_event *event;

	(void)state;
	world.fixture->labels[WORKER] =
		labelled_task(world.fixture->tasks, 300, 101, "again", START_NS + 5ull * SECOND);
	add(5.2, "0 6", WORKER, CLOCK, 10, 1);
	store_seal(world.store, 0, true);
	world.request.columns = COLUMNS_THREAD;
	event = gather(0);
	assert_int_equal(event->n_columns, 5);
	for (size_t i = 0; i < event->n_columns; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(event->columns[i].name, event->columns[j].name);
	assert_string_equal(event->columns[1].name, "100/101");
	assert_string_equal(event->columns[1].head, "worker (101)");
	assert_string_equal(event->columns[4].name, "300/101");
	report_fini(&world.report);
}

static void test_trees(void **state)
{
	(void)state;
	/* f4 has 5 of 2,000 faults, which is below the limit of trees. */
	add(5, "0 6", SERVER, FAULTS, 1995, 1);
	store_seal(world.store, 0, true);
	world.request.view = REPORT_TREE;
	assert_int_equal(gather(1)->n_nodes, 3); /* all, f0, f6 */
	near(world.report.tree_limit_percent, 0.5);
	near(world.report.events[1].nodes[world.report.events[1].nodes[1].child].total_percent,
		99.75);
	report_fini(&world.report);
	world.request.percent_limit = 0;
	assert_int_equal(gather(1)->n_nodes, 4);
	report_fini(&world.report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_causes_of_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whole_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_causes_of_other_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code_without_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_when_chains_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_filters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_losses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ties, setup, teardown),
		cmocka_unit_test_setup_teardown(test_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_side_by_side, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trees, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
