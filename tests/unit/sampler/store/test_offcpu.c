/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_offcpu.c - off-CPU time from made-up switches; each reference that is taken is released.
 */
#include "sampler/store/offcpu.h"

#include "sampler/store/store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define UNKNOWN 999u

struct world {
	struct offcpu offcpu;
	struct offcpu_span spans[64]; /* the last spans */
	size_t n;
	uint64_t total_ns;
	int64_t refs;
	struct offcpu_span over; /* the last wait that ended */
	struct offcpu_waker waker;
	size_t n_over;
	bool unwanted; /* add() refuses spans: the thread is not wanted */
	int unknown; /* error that unknown() returns; 0: it succeeds */
};

static bool add(const struct offcpu_span *span, void *ctx)
{
	struct world *world = ctx;

	assert_true(span->ns > 0);
	if (world->unwanted)
		return false;
	world->spans[world->n++ % 64] = *span;
	world->total_ns += span->ns;
	return true;
}

static void over(const struct offcpu_span *wait, const struct offcpu_waker *waker, void *ctx)
{
	struct world *world = ctx;

	world->over = *wait;
	world->waker = *waker;
	world->n_over++;
}

/* offcpu passes the pointer on unread, so the world stands for an ingest. */
static struct world *world_of(struct ingest *ingest)
{
	return (struct world *)(void *)ingest;
}

static int unknown(struct ingest *ingest, int32_t pid, int32_t tid, uint64_t time_ns,
	uint32_t *stack, uint32_t *label)
{
	struct world *world = world_of(ingest);

	(void)pid;
	(void)time_ns;
	if (world->unknown)
		return world->unknown;
	world->refs++;
	*stack = UNKNOWN;
	*label = (uint32_t)tid;
	return 0;
}

static void release(struct ingest *ingest, uint32_t stack, uint32_t label)
{
	(void)stack;
	(void)label;
	world_of(ingest)->refs--;
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct offcpu_ops ops = {over, add, unknown, release, (void *)world, world};

	if (!world)
		return -1;
	offcpu_init(&world->offcpu, &ops);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	int64_t left;

	offcpu_fini(&world->offcpu);
	left = world->refs;
	free(world);
	return left ? -1 : 0;
}

static void stack(struct world *world, int32_t tid, uint32_t node)
{
	world->refs++;
	offcpu_stack(&world->offcpu, tid, &(struct offcpu_stack){node, (uint32_t)tid, 0});
}

static void seen(struct world *world, int32_t tid, uint32_t node)
{
	world->refs++;
	offcpu_seen(&world->offcpu, tid, &(struct offcpu_stack){node, (uint32_t)tid, 0});
}

static void out(struct world *world, int32_t tid, uint64_t time_ns, bool preempted)
{
	offcpu_out(&world->offcpu,
		&(struct offcpu_switch){.pid = 1,
			.tid = tid,
			.cpu = 3,
			.time_ns = time_ns,
			.preempted = preempted});
}

static void in(struct world *world, int32_t tid, uint64_t time_ns)
{
	offcpu_in(&world->offcpu,
		&(struct offcpu_switch){.pid = 1, .tid = tid, .cpu = 1, .time_ns = time_ns});
}

static void wake(struct world *world, int32_t tid, uint32_t node)
{
	world->refs++;
	offcpu_wake(&world->offcpu, tid,
		&(struct offcpu_waker){.stack = node, .label = node, .interrupt = node == 5});
}

static void check(const struct world *world, size_t i, uint64_t end_ns, uint64_t ns, uint32_t node)
{
	assert_true(i < world->n);
	assert_int_equal(world->spans[i].end_ns, end_ns);
	assert_int_equal(world->spans[i].ns, ns);
	assert_int_equal(world->spans[i].stack, node);
}

static void pairs(void **state)
{
	struct world *world = *state;

	stack(world, 7, 100);
	out(world, 7, 1000, false);
	stack(world, 8, 200);
	out(world, 8, 1100, true);
	in(world, 8, 1150);
	in(world, 7, 1500);
	assert_int_equal(world->n, 2);
	check(world, 0, 1150, 50, 200);
	assert_true(world->spans[0].preempted);
	assert_int_equal(world->spans[0].label, 8);
	check(world, 1, 1500, 500, 100);
	assert_false(world->spans[1].preempted);
	/* The CPU is the one that the thread left, not the one that it returns on. */
	assert_int_equal(world->spans[1].cpu, 3);
	/* A stack belongs to one time out only. */
	out(world, 7, 2000, false);
	in(world, 7, 2001);
	check(world, 2, 2001, 1, UNKNOWN);
	assert_int_equal(world->offcpu.dropped, 0);
	assert_int_equal(world->offcpu.threads.n, 0);
}

/* A finished wait is reported as a whole, with its first waker, even if parts were given out
 * before. */
static void wakers(void **state)
{
	struct world *world = *state;

	wake(world, 7, 300); /* the thread runs */
	stack(world, 7, 100);
	wake(world, 7, 300);
	out(world, 7, 1000, false);
	assert_false(offcpu_is_out(&world->offcpu, 8));
	assert_true(offcpu_is_out(&world->offcpu, 7));
	offcpu_advance(&world->offcpu, 1400, SIZE_MAX);
	wake(world, 7, 301);
	wake(world, 7, 302);
	in(world, 7, 1500);
	assert_int_equal(world->n, 2);
	assert_int_equal(world->n_over, 1);
	assert_int_equal(world->over.ns, 500);
	assert_int_equal(world->over.end_ns, 1500);
	assert_int_equal(world->over.stack, 100);
	assert_int_equal(world->over.label, 7);
	assert_true(world->waker.known);
	assert_false(world->waker.interrupt);
	assert_int_equal(world->waker.stack, 301);
	/* The next wait has another waker or none. */
	stack(world, 7, 100);
	out(world, 7, 2000, false);
	wake(world, 7, 5);
	in(world, 7, 2100);
	assert_true(world->waker.known && world->waker.interrupt);
	stack(world, 7, 100);
	out(world, 7, 3000, false);
	in(world, 7, 3001);
	assert_false(world->waker.known);
	assert_int_equal(world->n_over, 3);
	/* A runnable thread is not woken, and a wait that is dropped is not reported. */
	stack(world, 7, 100);
	out(world, 7, 4000, true);
	wake(world, 7, 303);
	in(world, 7, 4100);
	stack(world, 7, 100);
	out(world, 7, 5000, false);
	wake(world, 7, 304);
	offcpu_lost(&world->offcpu, -1);
	in(world, 7, 5100);
	stack(world, 7, 100);
	out(world, 7, 6000, false);
	wake(world, 7, 304);
	offcpu_end(&world->offcpu, 7, 6100);
	assert_int_equal(world->n_over, 3);
}

/* The first wake-up splits the time out: a wait for a CPU follows. */
static void woken(void **state)
{
	struct world *world = *state;

	offcpu_ready(&world->offcpu, 7, 900); /* the thread runs */
	stack(world, 7, 100);
	offcpu_ready(&world->offcpu, 7, 950);
	out(world, 7, 1000, false);
	offcpu_ready(&world->offcpu, 8, 1100);
	offcpu_advance(&world->offcpu, 1200, SIZE_MAX);
	wake(world, 7, 300);
	offcpu_ready(&world->offcpu, 7, 1300);
	offcpu_ready(&world->offcpu, 7, 1350);
	offcpu_advance(&world->offcpu, 1400, SIZE_MAX);
	in(world, 7, 1450);
	assert_int_equal(world->n, 4);
	check(world, 0, 1200, 200, 100);
	check(world, 1, 1300, 100, 100);
	check(world, 2, 1400, 100, 100);
	check(world, 3, 1450, 50, 100);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(world->spans[i].preempted, i > 1);
	/* The waker's wait ends at the wake-up. */
	assert_int_equal(world->n_over, 1);
	assert_int_equal(world->over.ns, 300);
	assert_int_equal(world->over.end_ns, 1450);
	assert_int_equal(world->waker.stack, 300);
	/* The next time out has a new state. A wake-up does not count for a runnable thread. */
	stack(world, 7, 101);
	out(world, 7, 2000, false);
	in(world, 7, 2100);
	assert_false(world->spans[4].preempted);
	stack(world, 7, 101);
	out(world, 7, 3000, true);
	offcpu_ready(&world->offcpu, 7, 3050);
	in(world, 7, 3100);
	assert_int_equal(world->n, 6);
	check(world, 5, 3100, 100, 101);
	assert_int_equal(world->n_over, 2);
	/* A wake-up at the moment of the switch leaves no blocked time. */
	stack(world, 7, 101);
	out(world, 7, 4000, false);
	offcpu_ready(&world->offcpu, 7, 4000);
	in(world, 7, 4010);
	assert_int_equal(world->n, 7);
	assert_true(world->spans[6].preempted);
	assert_int_equal(world->n_over, 2);
	assert_int_equal(world->total_ns, 450 + 100 + 100 + 10);
}

/* A wake-up older than the first observation of a sleeping thread ended another sleep. */
static void woken_before(void **state)
{
	struct world *world = *state;

	offcpu_assume(&world->offcpu, &(struct offcpu_switch){.pid = 1, .tid = 7, .time_ns = 1000});
	offcpu_ready(&world->offcpu, 7, 990);
	offcpu_advance(&world->offcpu, 1100, SIZE_MAX);
	assert_false(world->spans[0].preempted);
	offcpu_ready(&world->offcpu, 7, 1200);
	in(world, 7, 1300);
	assert_int_equal(world->n, 3);
	assert_false(world->spans[1].preempted);
	assert_true(world->spans[2].preempted);
	check(world, 2, 1300, 100, UNKNOWN);
	/* The thread is not wanted. */
	out(world, 8, 2000, false);
	world->unwanted = true;
	offcpu_ready(&world->offcpu, 8, 2100);
	assert_int_equal(world->offcpu.threads.n, 0);
}

static void still_out(void **state)
{
	struct world *world = *state;

	stack(world, 7, 100);
	out(world, 7, 1000, false);
	offcpu_advance(&world->offcpu, 1000, SIZE_MAX);
	assert_int_equal(world->n, 0);
	offcpu_advance(&world->offcpu, 1600, SIZE_MAX);
	offcpu_advance(&world->offcpu, 1600, SIZE_MAX);
	offcpu_advance(&world->offcpu, 3000, SIZE_MAX);
	in(world, 7, 3100);
	assert_int_equal(world->n, 3);
	check(world, 0, 1600, 600, 100);
	check(world, 1, 3000, 1400, 100);
	check(world, 2, 3100, 100, 100);
	assert_int_equal(world->total_ns, 2100);
}

/* Threads take turns, and no time is lost. */
static void some_at_a_time(void **state)
{
	struct world *world = *state;

	for (int32_t tid = 1; tid <= 5; tid++)
		out(world, tid, 100, false);
	offcpu_advance(&world->offcpu, 200, 2);
	assert_int_equal(world->n, 2);
	offcpu_advance(&world->offcpu, 300, 2);
	assert_int_equal(world->n, 4);
	assert_int_equal(world->spans[2].label, 3);
	offcpu_advance(&world->offcpu, 400, 2);
	assert_int_equal(world->spans[4].label, 5);
	assert_int_equal(world->spans[5].label, 1);
	for (int32_t tid = 1; tid <= 5; tid++)
		in(world, tid, 500);
	assert_int_equal(world->total_ns, 5 * 400);
}

#define SLICE STORE_SLICE_NS

/* State of passed(): each piece is in the slice that ends next and comes before the report of that
 * end. */
struct passing {
	struct world *world;
	uint64_t longest_ns; /* longest piece */
	uint64_t end_ns; /* last reported end */
	size_t told, seen;
};

static void passed(uint64_t end_ns, void *ctx)
{
	struct passing *passing = ctx;
	const struct world *world = passing->world;

	assert_true(end_ns > passing->end_ns);
	assert_int_equal(end_ns % SLICE, 0);
	for (; passing->seen < world->n; passing->seen++) {
		const struct offcpu_span *span = &world->spans[passing->seen % 64];

		assert_int_equal(span->end_ns, end_ns);
		assert_true(!passing->end_ns || span->end_ns - span->ns >= passing->end_ns);
		if (span->ns > passing->longest_ns)
			passing->longest_ns = span->ns;
	}
	passing->end_ns = end_ns;
	passing->told++;
}

/* A long time without records is given out slice by slice, as if there were some. */
static void a_gap(void **state)
{
	struct world *world = *state;
	struct passing passing = {.world = world};
	uint64_t next_ns = 10 * SLICE;

	/* No thread is out. */
	offcpu_pass(&world->offcpu, &next_ns, 11 * SLICE + 5, SIZE_MAX, passed, &passing);
	assert_int_equal(next_ns, 12 * SLICE);
	out(world, 7, 11 * SLICE + 10, false);
	out(world, 8, 11 * SLICE + 20, true);
	offcpu_pass(&world->offcpu, &next_ns, 12 * SLICE - 1, SIZE_MAX, passed, &passing);
	assert_int_equal(passing.told, 0);
	/* A slice that ends at this moment is over. */
	offcpu_pass(&world->offcpu, &next_ns, 12 * SLICE, SIZE_MAX, passed, &passing);
	assert_int_equal(passing.told, 1);
	assert_int_equal(world->n, 2);
	assert_int_equal(next_ns, 13 * SLICE);
	/* 25 s and 30 ns. */
	offcpu_pass(&world->offcpu, &next_ns, 262 * SLICE + 30, SIZE_MAX, passed, &passing);
	assert_int_equal(passing.told, 251);
	assert_int_equal(passing.end_ns, 262 * SLICE);
	assert_int_equal(next_ns, 263 * SLICE);
	assert_int_equal(world->n, 2 * 251);
	assert_int_equal(passing.longest_ns, SLICE);
	in(world, 7, 262 * SLICE + 30);
	in(world, 8, 262 * SLICE + 30);
	check(world, 2 * 251 % 64, 262 * SLICE + 30, 30, UNKNOWN);
	assert_int_equal(world->total_ns, 2 * (251 * SLICE + 30) - 10 - 20);
	/* Without a callback. */
	out(world, 7, 262 * SLICE + 40, false);
	offcpu_pass(&world->offcpu, &next_ns, 264 * SLICE, SIZE_MAX, NULL, NULL);
	assert_int_equal(world->n, 2 * 251 + 2 + 2);
}

/* Hours are given out in a few thousand pieces, up to the last complete slice. */
static void a_gap_of_hours(void **state)
{
	const uint64_t hours[] = {1, 7, 1000};
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(hours) / sizeof(*hours); i++) {
		const uint64_t gap_ns = hours[i] * 3600 * 10 * SLICE;
		struct passing passing = {.world = world, .seen = world->n};
		uint64_t next_ns = 2 * SLICE, before_ns = world->total_ns;
		size_t n = world->n;

		out(world, 7, SLICE, false);
		offcpu_pass(
			&world->offcpu, &next_ns, SLICE + gap_ns + 1, SIZE_MAX, passed, &passing);
		assert_in_range(world->n - n, 5000, 10001);
		assert_int_equal(passing.end_ns, SLICE + gap_ns);
		assert_int_equal(next_ns, 2 * SLICE + gap_ns);
		assert_true(passing.longest_ns <= gap_ns / 5000);
		in(world, 7, SLICE + gap_ns + 1);
		assert_int_equal(world->total_ns - before_ns, gap_ns + 1);
	}
}

/* With many threads, pieces are fewer and longer, within the allowed number. */
static void a_gap_of_many(void **state)
{
	const uint64_t gap_ns = 10000 * SLICE;
	struct world *world = *state;
	uint64_t next_ns = 2 * SLICE;

	for (int32_t tid = 1; tid <= 100; tid++)
		out(world, tid, SLICE, false);
	offcpu_pass(&world->offcpu, &next_ns, SLICE + gap_ns + 1, 10000, NULL, NULL);
	assert_in_range(world->n, 5000, 10100);
	assert_int_equal(next_ns, 2 * SLICE + gap_ns);
	assert_int_equal(world->total_ns, 100 * gap_ns);
	/* Fewer pieces than threads are allowed: each thread gets one. */
	offcpu_pass(&world->offcpu, &next_ns, SLICE + 2 * gap_ns, 10, NULL, NULL);
	assert_in_range(world->n, 5100, 10300);
	assert_int_equal(world->total_ns, 2 * 100 * gap_ns);
}

static void missing_records(void **state)
{
	struct world *world = *state;

	/* The switch out is missing. */
	in(world, 7, 1000);
	assert_int_equal(world->n, 0);
	/* The switch in is missing: time already given out stays, the rest is not invented. */
	stack(world, 7, 100);
	out(world, 7, 2000, false);
	offcpu_advance(&world->offcpu, 2100, SIZE_MAX);
	stack(world, 7, 101);
	assert_int_equal(world->offcpu.dropped, 1);
	out(world, 7, 5000, false);
	in(world, 7, 5010);
	assert_int_equal(world->total_ns, 110);
	check(world, 1, 5010, 10, 101);
	/* The switch in is missing, without a sample. */
	out(world, 8, 6000, false);
	out(world, 8, 7000, false);
	in(world, 8, 7005);
	assert_int_equal(world->offcpu.dropped, 2);
	assert_int_equal(world->total_ns, 115);
	/* The switch in and the next sample are missing: the stack of another time is not used. */
	stack(world, 8, 300);
	out(world, 8, 7100, false);
	out(world, 8, 7200, false);
	in(world, 8, 7201);
	check(world, 3, 7201, 1, UNKNOWN);
	assert_int_equal(world->offcpu.dropped, 3);
	/* A loss is reported. */
	stack(world, 7, 100);
	out(world, 7, 8000, false);
	out(world, 8, 8000, false);
	offcpu_lost(&world->offcpu, 7);
	in(world, 7, 8001);
	offcpu_lost(&world->offcpu, 7);
	assert_int_equal(world->total_ns, 116);
	assert_int_equal(world->offcpu.dropped, 4);
	offcpu_lost(&world->offcpu, -1);
	in(world, 8, 9000);
	assert_int_equal(world->total_ns, 116);
	assert_int_equal(world->offcpu.dropped, 5);
	assert_int_equal(world->offcpu.n_out, 0);
}

static void time_going_back(void **state)
{
	struct world *world = *state;

	out(world, 7, 1000, false);
	in(world, 7, 900);
	assert_int_equal(world->n, 0);
	assert_int_equal(world->offcpu.dropped, 1);
	out(world, 7, 2000, false);
	offcpu_advance(&world->offcpu, 1500, SIZE_MAX);
	assert_int_equal(world->n, 0);
	in(world, 7, 2000);
	assert_int_equal(world->n, 0);
	assert_int_equal(world->offcpu.dropped, 1);
}

static void ended(void **state)
{
	struct world *world = *state;

	/* A thread that has ended switches out a last time, which is not a wait. */
	offcpu_end(&world->offcpu, 7, 1000);
	stack(world, 7, 100);
	out(world, 7, 1001, false);
	offcpu_advance(&world->offcpu, 9000, SIZE_MAX);
	assert_int_equal(world->n, 0);
	assert_int_equal(world->offcpu.dropped, 0);
	offcpu_expire(&world->offcpu, 1000);
	assert_int_equal(world->offcpu.threads.n, 1);
	offcpu_expire(&world->offcpu, 1001);
	assert_int_equal(world->offcpu.threads.n, 0);
	/* Its number is used again. */
	offcpu_end(&world->offcpu, 7, 2000);
	offcpu_forget(&world->offcpu, 7);
	out(world, 7, 2100, false);
	in(world, 7, 2200);
	assert_int_equal(world->total_ns, 100);
	/* The thread ends while it is out: its switch in was not recorded. */
	out(world, 7, 3000, false);
	offcpu_end(&world->offcpu, 7, 4000);
	assert_int_equal(world->offcpu.dropped, 1);
	assert_int_equal(world->total_ns, 100);
}

static void unwanted(void **state)
{
	struct world *world = *state;

	stack(world, 7, 100);
	out(world, 7, 1000, false);
	out(world, 8, 1000, false);
	world->unwanted = true;
	offcpu_advance(&world->offcpu, 2000, SIZE_MAX);
	assert_int_equal(world->offcpu.threads.n, 0);
	out(world, 7, 3000, false);
	in(world, 7, 3500);
	assert_int_equal(world->offcpu.threads.n, 0);
	assert_int_equal(world->refs, 0);
}

static void kept_stacks(void **state)
{
	struct world *world = *state;

	seen(world, 7, 55); /* not kept */
	assert_int_equal(world->refs, 0);
	world->offcpu.keep_stacks = true;
	seen(world, 7, 100);
	seen(world, 7, 101);
	out(world, 7, 1000, false);
	seen(world, 7, 102); /* impossible, as the thread does not run: ignored */
	in(world, 7, 1100);
	check(world, 0, 1100, 100, 101);
	out(world, 7, 1200, false);
	in(world, 7, 1300);
	check(world, 1, 1300, 100, 101);
	out(world, 8, 1400, false);
	in(world, 8, 1500);
	check(world, 2, 1500, 100, UNKNOWN);
	offcpu_clear(&world->offcpu);
	assert_int_equal(world->refs, 0);
}

/* An assumed state holds until a record contradicts it, which is not a loss. */
static void assumed(void **state)
{
	struct world *world = *state;
	const struct offcpu_switch sleeper = {.pid = 1, .tid = 7, .time_ns = 1000};

	offcpu_assume(&world->offcpu, &sleeper);
	offcpu_advance(&world->offcpu, 1500, SIZE_MAX);
	in(world, 7, 1700);
	assert_int_equal(world->n, 2);
	check(world, 0, 1500, 500, UNKNOWN);
	check(world, 1, 1700, 200, UNKNOWN);
	/* Records from before the assumption, read later. */
	offcpu_assume(&world->offcpu, &sleeper);
	in(world, 7, 900);
	offcpu_assume(&world->offcpu, &sleeper);
	stack(world, 7, 100);
	offcpu_assume(&world->offcpu, &sleeper);
	out(world, 7, 950, false);
	offcpu_assume(&world->offcpu, &sleeper);
	in(world, 7, 1050);
	check(world, 2, 1050, 100, 100);
	assert_int_equal(world->n, 3);
	offcpu_assume(&world->offcpu, &sleeper);
	offcpu_end(&world->offcpu, 7, 1100);
	offcpu_assume(&world->offcpu, &sleeper);
	assert_int_equal(world->offcpu.n_out, 0);
	assert_int_equal(world->offcpu.dropped, 0);
}

/* A stopped CPU writes a record late: the time counted as waiting meanwhile counts once. */
static void late(void **state)
{
	struct world *world = *state;

	out(world, 7, 100, false);
	offcpu_advance(&world->offcpu, 300, SIZE_MAX);
	in(world, 7, 200);
	assert_int_equal(world->offcpu.dropped, 1);
	out(world, 7, 250, false);
	in(world, 7, 280);
	out(world, 7, 290, false);
	out(world, 7, 295, false);
	in(world, 7, 400);
	out(world, 7, 450, false);
	in(world, 7, 500);
	assert_int_equal(world->total_ns, 200 + 100 + 50);
	/* It does not count twice after a loss either. */
	out(world, 7, 600, false);
	offcpu_advance(&world->offcpu, 800, SIZE_MAX);
	offcpu_lost(&world->offcpu, 7);
	out(world, 7, 750, false);
	in(world, 7, 900);
	assert_int_equal(world->total_ns, 350 + 300);
}

/* The number of known threads is limited. Threads beyond it are counted. */
static void many(void **state)
{
	struct world *world = *state;

	for (int32_t tid = 1; tid <= (int32_t)OFFCPU_THREADS_MAX + 10; tid++) {
		stack(world, tid, 5);
		out(world, tid, 1000, false);
	}
	assert_int_equal(world->offcpu.threads.n, OFFCPU_THREADS_MAX);
	assert_int_equal(world->offcpu.left_out, 10);
	assert_int_equal(world->refs, OFFCPU_THREADS_MAX);
	for (int32_t tid = 1; tid <= (int32_t)OFFCPU_THREADS_MAX + 10; tid++)
		in(world, tid, 1002);
	assert_int_equal(world->offcpu.threads.n, 0);
	assert_int_equal(world->total_ns, 2 * OFFCPU_THREADS_MAX);
	world->unknown = -ENOMEM;
	out(world, 1, 2000, false);
	in(world, 1, 2001);
	assert_int_equal(world->offcpu.left_out, 11);
	assert_int_equal(world->total_ns, 2 * OFFCPU_THREADS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pairs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wakers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(woken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(woken_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(still_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(some_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_gap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_gap_of_hours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_gap_of_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(missing_records, set_up, tear_down),
		cmocka_unit_test_setup_teardown(time_going_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwanted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kept_stacks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(assumed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
