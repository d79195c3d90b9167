// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_recording_spans.c - recordings with context switch records, written and loaded: time off the
 * CPU, with its stacks.
 */
#include "sampler/recording/recording.h"

#include "sampler/perfdata/tracing.h"
#include "sampler/perfdata/writer.h"
#include "tests/unit/event_fixture.h"
#include "tests/unit/record_builder.h"

#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/store/stacks.h"
#include "tests/unit/await_recording.h"

#define TYPE                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		PERF_SAMPLE_CPU)
#define MS 1000000ull
#define SLEEPS 0x401000 /* address where a thread leaves its CPU */
#define COMPUTES 0x402000 /* address where it is sampled */
#define WAKES 0x403000 /* address where it wakes another thread */
#define WAKEUP 77 /* id of the tracepoint */

static const char wakeup_format[] =
	"name: sched_wakeup\nID: 77\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"pid=%d\", REC->pid\n";

struct world {
	struct event_fixture fixture;
	void *tracing;
	size_t tracing_len;
	struct writer *writer;
	int fd;
	struct recording *recording;
	struct engine_status status;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const uint64_t id = WAKEUP;

	*state = world;
	fixture_make(&world->fixture);
	fixture_file(&world->fixture, "trace/events/sched/sched_wakeup/id", "77\n");
	fixture_file(&world->fixture, "trace/events/sched/sched_wakeup/format", wakeup_format);
	fixture_file(&world->fixture, "trace/events/header_page", "page\n");
	fixture_file(&world->fixture, "trace/events/header_event", "event\n");
	if (tracing_make(&world->fixture.system, &id, 1, &world->tracing, &world->tracing_len))
		return -1;
	world->fd = memfd_create("recording", MFD_CLOEXEC);
	return world->fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	recording_free(world->recording);
	fixture_remove(&world->fixture);
	free(world->tracing);
	free(world);
	return 0;
}

/* Event 0 is a clock.  The names decide whether the other events are switches or wake-ups. */
static void write_events(struct world *world, const char *const *names, size_t n)
{
	struct writer_event events[4] = {0};

	for (size_t i = 0; i < n; i++) {
		events[i].attr = (struct perf_event_attr){.size = sizeof(events[i].attr),
			.type = PERF_TYPE_SOFTWARE,
			.config = i ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_CPU_CLOCK,
			.sample_type = TYPE,
			.sample_period = i ? 1 : MS,
			.sample_id_all = 1,
			.context_switch = i > 0};
		strcpy(events[i].name, names[i]);
		if (!strstr(names[i], "wakeup"))
			continue;
		events[i].attr.type = PERF_TYPE_TRACEPOINT;
		events[i].attr.config = WAKEUP;
		events[i].attr.sample_type |= PERF_SAMPLE_RAW;
		events[i].attr.context_switch = 0;
	}
	assert_int_equal(writer_new(&world->writer,
				 &(struct writer_config){.fd = world->fd,
					 .events = events,
					 .n_events = n,
					 .tracing_data = world->tracing,
					 .tracing_data_len = world->tracing_len}),
		0);
}

static void put_record(struct world *world, const struct builder *b, size_t event)
{
	struct perf_event_header *header = copy_of(b, b->n);

	assert_int_equal(writer_record(world->writer, header, event), 0);
	free(header);
}

static void sample(struct world *world, size_t event, uint32_t tid, uint64_t time_ns, uint64_t ip)
{
	struct builder b;

	begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(&b, 0);
	put(&b, ip);
	put_pair(&b, 7, tid);
	put(&b, time_ns);
	put_pair(&b, 2, 0);
	put_record(world, &b, event);
}

/* Thread 6 wakes thread `tid`. */
static void wakes(struct world *world, size_t event, uint32_t tid, uint64_t time_ns)
{
	struct builder b;

	begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put(&b, 0);
	put(&b, WAKES);
	put_pair(&b, 7, 6);
	put(&b, time_ns);
	put_pair(&b, 2, 0);
	/* length of the raw data, then the data: id, pid */
	put_pair(&b, 12, WAKEUP);
	put_pair(&b, 0, tid);
	put_record(world, &b, event);
}

static void put_end(struct builder *b, uint32_t tid, uint64_t time_ns)
{
	put_pair(b, 7, tid);
	put(b, time_ns);
	put_pair(b, 2, 0);
	put(b, 0);
}

static void switches(
	struct world *world, size_t event, uint32_t tid, uint64_t time_ns, uint16_t misc)
{
	struct builder b;

	begin(&b, PERF_RECORD_SWITCH, misc);
	put_end(&b, tid, time_ns);
	put_record(world, &b, event);
}

static void out(struct world *world, size_t event, uint32_t tid, uint64_t time_ns)
{
	switches(world, event, tid, time_ns, PERF_RECORD_MISC_SWITCH_OUT);
}

static void in(struct world *world, size_t event, uint32_t tid, uint64_t time_ns)
{
	switches(world, event, tid, time_ns, 0);
}

static void load_range(struct world *world, uint64_t from_ns, uint64_t to_ns)
{
	const struct recording_config config = {.fd = dup(world->fd),
		.memory_bytes = (size_t)16 << 20,
		.from_ns = from_ns,
		.to_ns = to_ns};

	if (world->writer) {
		assert_int_equal(writer_round(world->writer), 0);
		assert_int_equal(writer_finish(world->writer), 0);
		writer_free(world->writer);
		world->writer = NULL;
	}
	recording_free(world->recording);
	assert_int_equal(lseek(world->fd, 0, SEEK_SET), 0);
	assert_int_equal(recording_new(&world->recording, &config), 0);
	load_recording(world->recording, &world->status);
}

static const struct engine_event_status *event_of(const struct world *world, const char *name)
{
	for (size_t i = 0; i < world->status.n_events; i++)
		if (!strcmp(world->status.events[i].name, name))
			return &world->status.events[i];
	return NULL;
}

/* Weight of an event in all stacks, or in those with a leaf at `ip` (0: at no address). */
static uint64_t weight(const struct world *world, const char *name, bool all, uint64_t ip)
{
	const struct engine_event_status *event = event_of(world, name);
	const struct stacks *stacks = recording_stacks(world->recording);
	struct store *store = recording_store(world->recording);
	struct snapshot snapshot;
	uint64_t sum = 0;

	assert_non_null(event);
	assert_int_equal(store_snapshot(store, 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t k = 0; k < snapshot.slices[i]->cells; k++) {
			const struct stack_node *node =
				stacks_node(stacks, snapshot.slices[i]->stack[k]);

			if (snapshot.slices[i]->event[k] == event->id &&
				(all || stacks_frame_get(stacks, node->frame)->offset == ip))
				sum += snapshot.slices[i]->weight[k];
		}
	snapshot_release(store, &snapshot);
	return sum;
}

/* In recordings of strobe record, samples of the off-CPU event carry stacks and are not counted. */
static void own_events(void **state)
{
	static const char *const names[] = {"cpu-clock", "off-cpu", "preempted"};
	struct world *world = *state;

	write_events(world, names, 3);
	sample(world, 0, 8, 1000 * MS, COMPUTES);
	sample(world, 1, 8, 1010 * MS, SLEEPS);
	out(world, 1, 8, 1010 * MS);
	out(world, 2, 8, 1010 * MS); /* the other event reports the same switch */
	in(world, 1, 8, 1350 * MS); /* some slices later */
	in(world, 2, 8, 1350 * MS);
	sample(world, 2, 8, 1360 * MS, COMPUTES);
	switches(world, 1, 8, 1360 * MS,
		PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	in(world, 1, 8, 1365 * MS);
	/* The idle task, and a thread that is still off the CPU at the end. */
	out(world, 1, 0, 1370 * MS);
	sample(world, 1, 9, 1380 * MS, SLEEPS);
	out(world, 1, 9, 1380 * MS);
	in(world, 1, 0, 1390 * MS);
	sample(world, 0, 8, 1400 * MS, COMPUTES);
	load_range(world, 0, 0);
	assert_int_equal(world->status.n_events, 3);
	assert_int_equal(event_of(world, "off-cpu")->span, EVENT_SPAN_BLOCKED);
	assert_true(event_of(world, "off-cpu")->is_clock);
	assert_int_equal(weight(world, "off-cpu", true, 0), (340 + 20) * MS);
	assert_int_equal(weight(world, "off-cpu", false, SLEEPS), (340 + 20) * MS);
	assert_int_equal(weight(world, "preempted", false, COMPUTES), 5 * MS);
	assert_int_equal(weight(world, "cpu-clock", true, 0), 2 * MS);
	assert_int_equal(event_of(world, "off-cpu")->count, 360 * MS);
	/* A part of the recording's time has its part of the span. */
	load_range(world, 100 * MS, 200 * MS);
	assert_int_equal(weight(world, "off-cpu", true, 0), 100 * MS);
	assert_int_equal(weight(world, "cpu-clock", true, 0), 0);
	load_range(world, 300 * MS, 0);
	assert_int_equal(weight(world, "off-cpu", true, 0), (50 + 20) * MS);
}

/* In recordings of perf, switches are an event of their own or none.  Both kinds of off-CPU time
 * are added. */
static void made_of_records(void **state)
{
	static const char *const names[] = {"cpu-clock", "context-switches"};
	struct world *world = *state;

	write_events(world, names, 2);
	out(world, 1, 8, 900 * MS); /* nothing is counted before the first sample */
	in(world, 1, 8, 950 * MS);
	sample(world, 0, 8, 1000 * MS, COMPUTES);
	sample(world, 1, 8, 1010 * MS, SLEEPS);
	out(world, 1, 8, 1010 * MS);
	in(world, 1, 8, 1020 * MS);
	out(world, 1, 8, 1030 * MS); /* its sample is missing */
	in(world, 1, 8, 1032 * MS);
	in(world, 1, 8, 1040 * MS);
	out(world, 1, 8, 1050 * MS);
	out(world, 1, 8, 1060 * MS); /* the time of its return is unknown */
	in(world, 1, 8, 1061 * MS);
	load_range(world, 0, 0);
	assert_int_equal(world->status.n_events, 4);
	assert_int_equal(event_of(world, "context-switches")->samples, 1);
	assert_int_equal(event_of(world, "context-switches")->span, EVENT_SPAN_NONE);
	assert_int_equal(weight(world, "off-cpu", true, 0), 13 * MS);
	assert_int_equal(weight(world, "off-cpu", false, SLEEPS), 10 * MS);
	assert_int_equal(weight(world, "preempted", true, 0), 0);
}

static bool notes_lack_of_wakes(const struct world *world)
{
	struct engine_note notes[16];
	size_t n = recording_notes(world->recording, 0, notes, 16);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found |= notes[i].kind == NOTE_WAITS_SUMMED;
	return found;
}

/* Blocked time ends at the wake-up.  Wake-ups that were recorded only for this are not shown as an
 * event. */
static void woken(void **state)
{
	static const char *const own[] = {"cpu-clock", "off-cpu", "preempted", "off-cpu-wakeups"};
	static const char *const asked[] = {
		"cpu-clock", "off-cpu", "preempted", "sched:sched_wakeup"};
	struct world *world = *state;

	for (size_t i = 0; i < 2; i++) {
		write_events(world, i ? asked : own, 4);
		wakes(world, 3, 8, 990 * MS);
		sample(world, 0, 8, 1000 * MS, COMPUTES);
		sample(world, 1, 8, 1010 * MS, SLEEPS);
		out(world, 1, 8, 1010 * MS);
		wakes(world, 3, 9, 1020 * MS); /* wakes another thread */
		wakes(world, 3, 8, 1250 * MS); /* some slices later */
		wakes(world, 3, 8, 1255 * MS);
		in(world, 1, 8, 1260 * MS);
		wakes(world, 3, 8, 1261 * MS);
		sample(world, 0, 8, 1300 * MS, COMPUTES);
		load_range(world, 0, 0);
		assert_int_equal(world->status.n_events, 3 + i);
		assert_int_equal(weight(world, "off-cpu", false, SLEEPS), 240 * MS);
		assert_int_equal(weight(world, "preempted", false, SLEEPS), 10 * MS);
		assert_false(notes_lack_of_wakes(world));
		if (i)
			assert_int_equal(event_of(world, "sched:sched_wakeup")->samples, 5);
		assert_int_equal(ftruncate(world->fd, 0), 0);
		assert_int_equal(lseek(world->fd, 0, SEEK_SET), 0);
	}
	/* Without wake-ups, there is a note about it. */
	write_events(world, own, 3);
	sample(world, 1, 8, 1010 * MS, SLEEPS);
	out(world, 1, 8, 1010 * MS);
	in(world, 1, 8, 1260 * MS);
	load_range(world, 0, 0);
	assert_int_equal(weight(world, "off-cpu", true, 0), 250 * MS);
	assert_true(notes_lack_of_wakes(world));
}

/* A sleep of years costs no more than a sleep of an hour. */
static void long_sleep(void **state)
{
	static const char *const names[] = {"cpu-clock", "off-cpu"};
	const uint64_t years_ns = 100000000000 * MS;
	struct world *world = *state;

	write_events(world, names, 2);
	sample(world, 1, 8, 1000 * MS, SLEEPS);
	out(world, 1, 8, 1000 * MS);
	in(world, 1, 8, 1000 * MS + years_ns);
	load_range(world, 0, 0);
	assert_int_equal(world->status.n_events, 2);
	assert_int_equal(weight(world, "off-cpu", true, 0), years_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_events, setup, teardown),
		cmocka_unit_test_setup_teardown(made_of_records, setup, teardown),
		cmocka_unit_test_setup_teardown(woken, setup, teardown),
		cmocka_unit_test_setup_teardown(long_sleep, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
