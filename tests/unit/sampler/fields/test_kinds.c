/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_kinds.c - the extension table and AMD IBS: raw records made from documented registers.
 */
#include "sampler/fields/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BIT(n) (1ull << (n))

struct sample {
	struct fields *fields;
	struct values *values;
	uint32_t id;
};

/* Makes a sample of capabilities and registers, in memory of exactly that length less `cut`. */
static void sample_make(struct sample *sample, const char *pmu, uint32_t caps,
	const uint64_t *registers, size_t n, size_t cut)
{
	const struct perf_event_attr attr = {.type = 77};
	size_t len = sizeof(caps) + n * sizeof(*registers) - cut;
	struct record record = {.type = PERF_RECORD_SAMPLE};
	uint8_t whole[sizeof(caps) + 16 * sizeof(uint64_t)], *raw = malloc(len);

	memcpy(whole, &caps, sizeof(caps));
	memcpy(whole + sizeof(caps), registers, n * sizeof(*registers));
	memcpy(raw, whole, len);
	record.sample.raw = raw;
	record.sample.raw_len = (uint32_t)len;
	assert_int_equal(fields_new(&sample->fields, &attr, pmu, NULL, NULL), 0);
	assert_non_null(sample->fields);
	assert_int_equal(values_new(&sample->values), 0);
	assert_int_equal(
		fields_read(sample->fields, &record, sample->values, NULL, NULL, &sample->id), 0);
	free(raw);
}

static void sample_free(struct sample *sample)
{
	values_free(sample->values);
	fields_free(sample->fields);
}

static void expect(const struct sample *sample, const char *name, const char *text)
{
	int i = fields_find(sample->fields, name);
	struct value value;
	char out[128];

	assert_true(i >= 0);
	assert_true(values_get(sample->values, sample->id, (size_t)i, &value));
	fields_format(sample->fields, (size_t)i, &value, out, sizeof(out));
	if (strcmp(out, text))
		print_message("%s: %s, not %s\n", name, out, text);
	assert_string_equal(out, text);
}

static void expect_outcome(const struct sample *sample, const char *name)
{
	const char *outcome;
	uint64_t samples;
	bool found = false;

	for (size_t i = 0; i < fields_outcome(sample->fields, i, &outcome, &samples); i++) {
		assert_int_equal(samples, !strcmp(outcome, name));
		found |= samples == 1;
	}
	assert_true(found);
}

static void test_table(void **state)
{
	(void)state;
	assert_ptr_equal(kinds_find("ibs_op"), &kind_ibs_op);
	assert_ptr_equal(kinds_find("ibs_fetch"), &kind_ibs_fetch);
	assert_null(kinds_find("cpu"));
	assert_null(kinds_find(NULL));
	assert_true(kind_ibs_op.n_fields <= FIELDS_MAX);
}

/* Family 10h: no branch target, no extended data source. */
static void test_op_fam10h(void **state)
{
	const uint64_t load[] = {BIT(18), 0x401000,
		0x1234 | 0x5678ull << 16 | BIT(37) | BIT(36) | BIT(35), 3 | BIT(4),
		BIT(0) | BIT(2) | BIT(7) | BIT(17) | BIT(18) | BIT(15) | 300ull << 32 | BIT(6),
		0x7ffc12345678, 0x12345678};
	struct sample sample;

	(void)state;
	sample_make(&sample, "ibs_op", 0x1f, load, 7, 0);
	assert_true(fields_sample_type(sample.fields) & PERF_SAMPLE_RAW);
	expect(&sample, "ibs.complete_to_retire", "4660");
	expect(&sample, "ibs.tag_to_retire", "22136");
	expect(&sample, "ibs.branch", "taken, mispredicted");
	expect(&sample, "ibs.return", "no");
	expect(&sample, "ibs.op", "load");
	expect(&sample, "ibs.dc", "miss");
	expect(&sample, "ibs.dc_miss_latency", "300");
	expect(&sample, "ibs.dtlb", "L2 hit");
	expect(&sample, "ibs.page_size", "2 MiB");
	expect(&sample, "ibs.locked", "yes");
	expect(&sample, "ibs.data_source", "DRAM");
	expect(&sample, "ibs.node", "remote");
	expect(&sample, "ibs.addr", "0x7ffc12345678");
	expect(&sample, "ibs.phys_addr", "0x12345678");
	expect(&sample, "ibs.branch_target", "0x0");
	expect_outcome(&sample, "decoded");
	sample_free(&sample);
}

/* Zen 4: the branch target and IbsOpData4 follow. The data source has five bits. */
static void test_op_zen(void **state)
{
	const uint32_t caps = 0x1f | BIT(5) | BIT(10) | BIT(11);
	uint64_t registers[] = {BIT(18), 0x401000, BIT(37) | BIT(34) | BIT(40), 4 | 1ull << 6,
		BIT(0) | BIT(7) | BIT(20) | BIT(17) | 4ull << 22, 0x1000, 0x99, 0x402000, 1};
	struct sample sample;

	(void)state;
	sample_make(&sample, "ibs_op", caps, registers, 9, 0);
	expect(&sample, "ibs.branch", "not taken");
	expect(&sample, "ibs.return", "yes");
	expect(&sample, "ibs.microcode", "yes");
	expect(&sample, "ibs.data_source", "peer agent memory");
	expect(&sample, "ibs.node", "local");
	expect(&sample, "ibs.l2", "miss");
	expect(&sample, "ibs.dtlb", "L1 hit");
	expect(&sample, "ibs.page_size", "4 KiB");
	expect(&sample, "ibs.width", "8");
	expect(&sample, "ibs.phys_addr", "0x0"); /* not valid */
	expect(&sample, "ibs.branch_target", "0x402000");
	expect(&sample, "ibs.load_resync", "yes");
	sample_free(&sample);

	/* Without a branch target, IbsOpData4 follows directly. */
	registers[7] = 1;
	sample_make(&sample, "ibs_op", 0x1f | BIT(10), registers, 8, 0);
	expect(&sample, "ibs.load_resync", "yes");
	expect(&sample, "ibs.branch_target", "0x0");
	sample_free(&sample);
}

static void test_op_store(void **state)
{
	const uint64_t store[] = {BIT(18), 1, 0, 3, BIT(1) | BIT(7) | BIT(14) | 9ull << 32, 5, 6};
	const uint64_t none[] = {BIT(18), 1, 0, 3, 0, 5, 6};
	struct sample sample;

	(void)state;
	sample_make(&sample, "ibs_op", 0x1f, store, 7, 0);
	expect(&sample, "ibs.op", "store");
	expect(&sample, "ibs.memory", "uncacheable");
	expect(&sample, "ibs.dc_miss_latency", "0");
	expect(&sample, "ibs.data_source", "none");
	expect(&sample, "ibs.node", "no data");
	expect(&sample, "ibs.addr", "0x0");
	sample_free(&sample);
	sample_make(&sample, "ibs_op", 0x1f, none, 7, 0);
	expect(&sample, "ibs.op", "neither");
	expect(&sample, "ibs.dc", "no access");
	expect(&sample, "ibs.branch", "no branch");
	sample_free(&sample);
}

static void test_fetch(void **state)
{
	const uint64_t aborted[] = {BIT(49) | 77ull << 32 | BIT(51), 0x401234, 0};
	const uint64_t completed[] = {BIT(49) | BIT(50) | BIT(52) | 1ull << 53 | BIT(55) | BIT(56) |
			BIT(58) | BIT(60) | BIT(61) | 9ull << 32,
		0xffffffff81000000, 0x5000, 123};
	struct sample sample;

	(void)state;
	sample_make(&sample, "ibs_fetch", 0x1f, aborted, 3, 0);
	expect(&sample, "ibs.fetch", "aborted");
	expect(&sample, "ibs.fetch_latency", "77");
	expect(&sample, "ibs.ic", "miss");
	expect(&sample, "ibs.itlb", "L1 hit");
	expect(&sample, "ibs.page_size", "not known");
	expect(&sample, "ibs.addr", "0x401234");
	sample_free(&sample);
	sample_make(&sample, "ibs_fetch", 0x1f | BIT(9), completed, 4, 0);
	expect(&sample, "ibs.fetch", "completed");
	expect(&sample, "ibs.itlb", "miss");
	expect(&sample, "ibs.l2", "miss");
	expect(&sample, "ibs.l3", "miss");
	expect(&sample, "ibs.op_cache", "miss");
	expect(&sample, "ibs.page_size", "2 MiB");
	expect(&sample, "ibs.phys_addr", "0x5000");
	expect(&sample, "ibs.itlb_refill_latency", "123");
	sample_free(&sample);
}

static void test_bad(void **state)
{
	const uint64_t registers[9] = {0};
	struct sample sample;

	(void)state;
	sample_make(&sample, "ibs_op", 0x1f, registers, 7, 0);
	expect_outcome(&sample, "not valid");
	sample_free(&sample);
	for (size_t cut = 1; cut <= 60; cut++) {
		sample_make(&sample, "ibs_op", UINT32_MAX, registers, 7, cut);
		expect_outcome(&sample, "too short");
		expect(&sample, "ibs.tag_to_retire", "0");
		sample_free(&sample);
	}
	sample_make(&sample, "ibs_fetch", UINT32_MAX, registers, 3, 1);
	expect_outcome(&sample, "too short");
	sample_free(&sample);
	sample_make(&sample, "ibs_fetch", UINT32_MAX, registers, 3, 0);
	expect_outcome(&sample, "not valid");
	sample_free(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_op_fam10h),
		cmocka_unit_test(test_op_zen),
		cmocka_unit_test(test_op_store),
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
