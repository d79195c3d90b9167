/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_chains.c - callchains joined from deferred records: which samples wait, and how long.
 */
#include "sampler/recording/chains.h"

#include "sampler/store/stacks.h"
#include "tests/unit/record_builder.h"

#include <stdio.h>

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define DEFERRED RECORD_CONTEXT_USER_DEFERRED
#define K1 0xffffffff81000100ull
#define SEEN_MAX 64u
#define SEC 1000000000ull

struct world {
	struct chains *chains;
	struct reader_attr attr;
	/* records that came out */
	uint32_t types[SEEN_MAX];
	uint64_t times[SEEN_MAX];
	uint64_t chain[1 << 13]; /* chain of the last sample */
	uint64_t chain_len;
	char lens[256]; /* lengths of all samples' chains */
	size_t n,
		/* n_joined: samples with a longer chain than sample_waiting() gave them */
		n_joined;
	int error;
};

static int see(const struct order_record *record, void *ctx)
{
	struct world *world = ctx;
	struct record out;

	world->types[world->n % SEEN_MAX] = record->header->type;
	world->times[world->n++ % SEEN_MAX] = record->time_ns;
	if (record->header->type != PERF_RECORD_SAMPLE)
		return world->error;
	assert_int_equal(record_decode(&out, record->header, &world->attr.format), 0);
	world->chain_len = out.sample.chain_len;
	world->n_joined += world->chain_len > 4;
	assert_true(world->chain_len <= sizeof(world->chain) / sizeof(*world->chain));
	if (world->chain_len)
		memcpy(world->chain, out.sample.chain, world->chain_len * 8);
	if (strlen(world->lens) < sizeof(world->lens) - 8)
		sprintf(world->lens + strlen(world->lens), "%u ", (unsigned int)world->chain_len);
	return world->error;
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	world->attr.format = hot;
	return chains_new(&world->chains, see, world);
}

static int teardown(void **state)
{
	struct world *world = *state;

	chains_free(world->chains);
	free(world);
	return 0;
}

static void put_built(struct world *world, const struct builder *b, uint64_t time_ns)
{
	struct perf_event_header *header = copy_of(b, b->n);
	const struct order_record record = {.header = header, .time_ns = time_ns, .has_attr = true};

	assert_int_equal(chains_put(world->chains, &record, &world->attr), world->error);
	free(header);
}

static void put_chain(struct builder *b, const uint64_t *chain, size_t n)
{
	put(b, n);
	for (size_t i = 0; i < n; i++)
		put(b, chain[i]);
}

static void begin_sample(
	struct builder *b, uint16_t misc, uint64_t ip, uint32_t tid, uint64_t time_ns)
{
	begin(b, PERF_RECORD_SAMPLE, misc);
	put(b, 99);
	put(b, ip);
	put_pair(b, tid, tid);
	put(b, time_ns);
	put_pair(b, 1, 0);
	put(b, 1000);
}

static void assert_chain(const struct world *world, const uint64_t *chain, size_t n)
{
	assert_int_equal(world->chain_len, n);
	assert_memory_equal(world->chain, chain, n * sizeof(*chain));
}

#define ASSERT_CHAIN(world, ...)                                   \
	do {                                                       \
		const uint64_t wanted_[] = {__VA_ARGS__};          \
		assert_chain(world, wanted_, sizeof(wanted_) / 8); \
	} while (0)

/* --- deferred records --- */

static void ask_deferred(struct world *world)
{
	const uint64_t bit = 1ull << 38;

	memcpy(&world->attr.attr.read_format + 1, &bit, sizeof(bit));
}

static void sample_waiting(struct world *world, uint32_t tid, uint64_t cookie, uint64_t time_ns)
{
	const uint64_t chain[] = {KERNEL, K1, DEFERRED, cookie};
	struct builder b;

	begin_sample(&b, PERF_RECORD_MISC_KERNEL, K1, tid, time_ns);
	put_chain(&b, chain, 4);
	put_built(world, &b, time_ns);
}

static void put_end(struct builder *b, uint32_t tid, uint64_t time_ns)
{
	put_pair(b, tid, tid);
	put(b, time_ns);
	put_pair(b, 1, 0);
	put(b, 99);
}

static void deferred(struct world *world, uint32_t tid, uint64_t cookie, const uint64_t *chain,
	size_t n, uint64_t time_ns)
{
	struct builder b;

	begin(&b, RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	put(&b, cookie);
	put_chain(&b, chain, n);
	put_end(&b, tid, time_ns);
	put_built(world, &b, time_ns);
}

static void side(struct world *world, uint32_t type, uint16_t misc, uint32_t tid, uint64_t time_ns)
{
	struct builder b;

	begin(&b, type, misc);
	put_pair(&b, tid, 1);
	if (type == PERF_RECORD_COMM) {
		b.n--;
		put_pair(&b, tid, tid);
		put_string(&b, "new");
	} else {
		put_pair(&b, tid, 1);
		put(&b, time_ns);
	}
	put_end(&b, tid, time_ns);
	put_built(world, &b, time_ns);
}

static const uint64_t marked[] = {USER, 0x1000, 0x2000}, bare[] = {0x1000, 0x2000};

static void joined(void **state)
{
	struct world *world = *state;

	ask_deferred(world);
	for (uint64_t i = 0; i < 2; i++) {
		sample_waiting(world, 7, 40 + i, 100 * i + 100);
		assert_int_equal(world->n, i);
		deferred(world, 7, 40 + i, i ? bare : marked, i ? 2 : 3, 100 * i + 150);
		assert_int_equal(world->n, i + 1);
		ASSERT_CHAIN(world, KERNEL, K1, USER, 0x1000, 0x2000);
		assert_int_equal(world->times[i], 100 * i + 100);
	}
	/* An empty user chain counts, too. */
	sample_waiting(world, 7, 50, 400);
	deferred(world, 7, 50, NULL, 0, 450);
	ASSERT_CHAIN(world, KERNEL, K1, USER);
}

/* One record serves all samples of its cookie, also those that come after the record, before the
 * thread is back in user space. */
static void several_of_one_cookie(void **state)
{
	struct world *world = *state;

	ask_deferred(world);
	sample_waiting(world, 7, 40, 100);
	sample_waiting(world, 7, 40, 110);
	sample_waiting(world, 8, 40, 120);
	deferred(world, 7, 40, marked, 3, 130);
	assert_string_equal(world->lens, "5 5 ");
	sample_waiting(world, 7, 40, 140);
	assert_string_equal(world->lens, "5 5 ");
	deferred(world, 8, 40, bare, 2, 150);
	assert_string_equal(world->lens, "5 5 5 5 ");
	assert_int_equal(world->times[3], 140);
}

/* More threads wait than there are buckets. */
static void chains_of_other_threads(void **state)
{
	struct world *world = *state;

	ask_deferred(world);
	deferred(world, 7, 40, marked, 3, 100);
	for (uint32_t tid = 100; tid < 4100; tid++)
		sample_waiting(world, tid, 40, 110);
	deferred(world, 7, 40, marked, 3, 120);
	assert_int_equal(world->n, 0);
	for (uint32_t tid = 100; tid < 4100; tid += 2)
		deferred(world, tid, 40, marked, 3, 130);
	assert_int_equal(chains_flush(world->chains), 0);
	assert_int_equal(world->n, 4000);
	assert_int_equal(world->n_joined, 2000);
}

/* Later records wait as well. */
static void order_stays(void **state)
{
	struct world *world = *state;

	ask_deferred(world);
	sample_waiting(world, 7, 40, 100);
	side(world, PERF_RECORD_COMM, 0, 9, 110);
	sample_waiting(world, 8, 41, 120);
	side(world, PERF_RECORD_FORK, 0, 7, 130);
	deferred(world, 8, 41, marked, 3, 140);
	assert_int_equal(world->n, 0);
	deferred(world, 7, 40, marked, 3, 150);
	assert_int_equal(world->n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(world->times[i], 100 + 10 * i);
	assert_string_equal(world->lens, "5 5 ");
}

/* The record was lost: a later record of the thread, its end or an exec shows that. */
static void records_that_do_not_come(void **state)
{
	struct world *world = *state;

	ask_deferred(world);
	sample_waiting(world, 7, 40, 100);
	deferred(world, 7, 41, marked, 3, 110);
	assert_string_equal(world->lens, "4 ");
	sample_waiting(world, 7, 42, 200);
	side(world, PERF_RECORD_EXIT, 0, 8, 210);
	side(world, PERF_RECORD_COMM, 0, 7, 220);
	assert_int_equal(world->n, 1);
	side(world, PERF_RECORD_EXIT, 0, 7, 230);
	assert_string_equal(world->lens, "4 4 ");
	assert_int_equal(world->n, 5);
	sample_waiting(world, 7, 43, 300);
	side(world, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 7, 310);
	assert_string_equal(world->lens, "4 4 4 ");
	sample_waiting(world, 7, 44, 400);
	assert_int_equal(chains_flush(world->chains), 0);
	assert_string_equal(world->lens, "4 4 4 4 ");
	ASSERT_CHAIN(world, KERNEL, K1, DEFERRED, 44);
}

static void waits_are_limited(void **state)
{
	struct world *world = *state;

	ask_deferred(world);
	sample_waiting(world, 7, 40, SEC);
	side(world, PERF_RECORD_COMM, 0, 9, SEC + CHAINS_WAIT_NS);
	assert_int_equal(world->n, 0);
	side(world, PERF_RECORD_COMM, 0, 9, SEC + CHAINS_WAIT_NS + 1);
	assert_int_equal(world->n, 3);
	world->n = 0;
	for (uint32_t i = 0; i < CHAINS_WAITING_MAX; i++)
		sample_waiting(world, 100 + i, i, 9 * SEC);
	assert_int_equal(world->n, 0);
	sample_waiting(world, 7, 40, 9 * SEC);
	assert_int_equal(world->n, 1);
	assert_int_equal(chains_flush(world->chains), 0);
	assert_int_equal(world->n, CHAINS_WAITING_MAX + 1);
	world->n = 0;
	sample_waiting(world, 7, 41, 9 * SEC);
	while (!world->n)
		side(world, PERF_RECORD_COMM, 0, 9, 9 * SEC);
	assert_true(world->n > CHAINS_BYTES_MAX / 1024);
}

/* Samples that cannot get a chain do not wait: no thread is known, or the event defers nothing. */
static void samples_that_do_not_wait(void **state)
{
	const uint64_t short_chains[][2] = {{DEFERRED, 0}, {40, DEFERRED}};
	struct world *world = *state;
	struct builder b;

	sample_waiting(world, 7, 40, 100);
	assert_int_equal(world->n, 1);
	ask_deferred(world);
	for (size_t i = 0; i < 2; i++) {
		begin_sample(&b, PERF_RECORD_MISC_USER, 0x1000, 7, 100);
		put_chain(&b, short_chains[i], i + 1);
		put_built(world, &b, 100);
		assert_int_equal(world->n, 2 + i);
	}
	/* A period that equals the marker is not part of a chain. */
	begin_sample(&b, PERF_RECORD_MISC_USER, 0x1000, 7, 100);
	b.words[b.n - 1] = DEFERRED;
	put_chain(&b, NULL, 0);
	put_built(world, &b, 100);
	assert_int_equal(world->n, 4);
	deferred(world, 7, 40, marked, 3, 110);
	assert_int_equal(world->n, 4);
}

/* Thread 0 has no user space. A record without a thread belongs to no sample. */
static void records_without_a_thread(void **state)
{
	const uint64_t chain[] = {DEFERRED, 40};
	struct world *world = *state;
	struct builder b;

	ask_deferred(world);
	sample_waiting(world, 0, 40, 100);
	world->attr.format.sample_id_all = false;
	deferred(world, 0, 40, marked, 3, 110);
	world->attr.format.sample_id_all = true;
	world->attr.format.sample_type &= ~(uint64_t)PERF_SAMPLE_TID;
	begin(&b, RECORD_CALLCHAIN_DEFERRED, 0);
	put(&b, 40);
	put_chain(&b, marked, 3);
	put(&b, 120);
	put_pair(&b, 1, 0);
	put(&b, 99);
	put_built(world, &b, 120);
	assert_int_equal(world->n, 0);
	world->attr.format.sample_type |= PERF_SAMPLE_TID;
	assert_int_equal(chains_flush(world->chains), 0);
	assert_int_equal(world->n_joined, 0);
	world->attr.format.sample_type &= ~(uint64_t)PERF_SAMPLE_TID;
	begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(&b, 99);
	put(&b, 0x1000);
	put(&b, 130);
	put_pair(&b, 1, 0);
	put(&b, 1000);
	put_chain(&b, chain, 2);
	put_built(world, &b, 130);
	assert_int_equal(world->n, 2);
}

/* A malformed record passes, for the loading thread to count. Chains that are too long are cut. */
static void hostile_records(void **state)
{
	struct world *world = *state;
	struct builder b;
	uint64_t words[STACK_DEPTH_MAX + 100];

	ask_deferred(world);
	sample_waiting(world, 7, 40, 100);
	begin(&b, RECORD_CALLCHAIN_DEFERRED, 0);
	put(&b, 40);
	put(&b, UINT64_MAX);
	put_end(&b, 7, 110);
	put_built(world, &b, 110);
	assert_int_equal(chains_flush(world->chains), 0);
	assert_int_equal(world->n, 2);
	assert_int_equal(world->types[1], RECORD_CALLCHAIN_DEFERRED);
	assert_string_equal(world->lens, "4 ");

	struct perf_event_header *header = malloc((3 + STACK_DEPTH_MAX + 100 + 4) * 8);
	uint64_t *out = (uint64_t *)(void *)header;

	assert_non_null(header);
	for (size_t i = 0; i < STACK_DEPTH_MAX + 100; i++)
		words[i] = 0x1000 + i;
	begin(&b, RECORD_CALLCHAIN_DEFERRED, 0);
	memcpy(out, b.words, 8);
	header->size = (3 + STACK_DEPTH_MAX + 100 + 4) * 8;
	out[1] = 41;
	out[2] = STACK_DEPTH_MAX + 100;
	memcpy(out + 3, words, sizeof(words));
	b.n = 0;
	put_end(&b, 7, 120);
	memcpy(out + 3 + STACK_DEPTH_MAX + 100, b.words, 4 * 8);
	sample_waiting(world, 7, 41, 115);
	assert_int_equal(
		chains_put(world->chains,
			&(struct order_record){.header = header, .time_ns = 120, .has_attr = true},
			&world->attr),
		0);
	free(header);
	assert_true(world->chain_len > STACK_DEPTH_MAX + 2);
	assert_true(world->chain_len < STACK_DEPTH_MAX + 10);
}

static void errors_of_the_function(void **state)
{
	struct world *world = *state;

	ask_deferred(world);
	sample_waiting(world, 7, 40, 100);
	sample_waiting(world, 8, 41, 110);
	world->error = -ENOSPC;
	deferred(world, 7, 40, marked, 3, 150);
	assert_int_equal(world->n, 1);
	assert_int_equal(chains_flush(world->chains), -ENOSPC);
	world->error = 0;
	sample_waiting(world, 9, 41, 110); /* freed without having been given out */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(joined, setup, teardown),
		cmocka_unit_test_setup_teardown(several_of_one_cookie, setup, teardown),
		cmocka_unit_test_setup_teardown(chains_of_other_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(order_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(records_that_do_not_come, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_that_do_not_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(records_without_a_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_records, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_of_the_function, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
