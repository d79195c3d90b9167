// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_swap.c - byte order of attributes' bit fields, and records that do not fit.  Whole files are
 * in tests/oracle/reader.py.
 */
#include "sampler/perfdata/swap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* `before` bits precede each field of the flags.  In the other byte order, they count from the
 * word's highest bit. */
static void flags_of_attributes(void **state)
{
	const struct {
		unsigned int before, width;
	} fields[] = {{0, 1}, {1, 1}, {7, 1}, {8, 1}, {14, 1}, {15, 2}, {17, 1}, {18, 1}, {37, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		for (uint64_t value = 1; value < 1u << fields[i].width; value++) {
			struct perf_event_attr attr = {0};
			uint64_t other = value << (64 - fields[i].before - fields[i].width), word;

			other = __builtin_bswap64(other);
			memcpy((uint8_t *)&attr + 40, &other, 8);
			swap_attr(&attr);
			memcpy(&word, (uint8_t *)&attr + 40, 8);
			assert_int_equal(word, value << fields[i].before);
		}
}

static void fields_of_attributes(void **state)
{
	struct perf_event_attr attr, turned;
	uint8_t *bytes = (uint8_t *)&attr;

	(void)state;
	for (size_t i = 0; i < sizeof(attr); i++)
		bytes[i] = i / 8 == 5 ? 0 : (uint8_t)i;
	turned = attr;
	swap_attr(&turned);
	assert_int_equal(turned.type, __builtin_bswap32(attr.type));
	assert_int_equal(turned.config, __builtin_bswap64(attr.config));
	assert_int_equal(turned.read_format, __builtin_bswap64(attr.read_format));
	assert_int_equal(turned.bp_type, __builtin_bswap32(attr.bp_type));
	assert_int_equal(turned.bp_len, __builtin_bswap64(attr.bp_len));
	assert_int_equal(turned.sample_regs_user, __builtin_bswap64(attr.sample_regs_user));
	assert_int_equal(turned.sample_stack_user, __builtin_bswap32(attr.sample_stack_user));
	assert_int_equal(turned.sample_regs_intr, __builtin_bswap64(attr.sample_regs_intr));
	assert_int_equal(turned.sample_max_stack, __builtin_bswap16(attr.sample_max_stack));
	assert_int_equal(turned.aux_sample_size, __builtin_bswap32(attr.aux_sample_size));
	assert_int_equal(turned.sig_data, __builtin_bswap64(attr.sig_data));
	swap_attr(&turned); /* swapping twice changes nothing */
	assert_memory_equal(&turned, &attr, sizeof(attr));
}

/* Every type with every field, too small for most of them: refused, and no byte outside is
 * touched (ASan). */
static void records_that_do_not_fit(void **state)
{
	(void)state;
	for (uint32_t type = 0; type < 90; type++)
		for (unsigned int bit = 0; bit < 26; bit++)
			for (uint16_t size = 8; size <= 40; size = (uint16_t)(size + 8)) {
				struct perf_event_header *header = malloc(size);
				struct record_format format = {
					.sample_type = 1ull << bit,
					.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
					.sample_id_all = true,
				};

				assert_non_null(header);
				memset(header, 0xff, size);
				*header = (struct perf_event_header){.type = type, .size = size};
				swap_record(header, &format);
				free(header);
			}
}

static void refused(void **state)
{
	uint64_t words[4] = {0};
	struct perf_event_header *header = (struct perf_event_header *)(void *)words;
	const struct record_format chain = {.sample_type = PERF_SAMPLE_CALLCHAIN};
	const struct record_format raw = {.sample_type = PERF_SAMPLE_RAW};

	(void)state;
	header->type = PERF_RECORD_SAMPLE;
	header->size = sizeof(words);
	words[1] = __builtin_bswap64(2);
	assert_int_equal(swap_record(header, &chain), 0);
	assert_int_equal(words[1], 2);
	words[1] = __builtin_bswap64(3);
	assert_int_equal(swap_record(header, &chain), -EBADMSG);
	words[1] = __builtin_bswap32(20);
	assert_int_equal(swap_record(header, &raw), 0);
	words[1] = __builtin_bswap32(21);
	assert_int_equal(swap_record(header, &raw), -EBADMSG);
}

/* All words are swapped as 64 bits, except for the pairs of the trailer. */
static void deferred_chains(void **state)
{
	const struct record_format format = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = true};
	uint64_t words[7] = {0, __builtin_bswap64(40), __builtin_bswap64(2),
		__builtin_bswap64((uint64_t)PERF_CONTEXT_USER), __builtin_bswap64(0x401000), 0,
		__builtin_bswap64(100)};
	const uint32_t pair[2] = {__builtin_bswap32(7), __builtin_bswap32(8)};
	struct perf_event_header *header = (struct perf_event_header *)(void *)words;
	struct record out;

	(void)state;
	*header = (struct perf_event_header){
		.type = RECORD_CALLCHAIN_DEFERRED, .size = sizeof(words)};
	memcpy(&words[5], pair, sizeof(pair));
	assert_int_equal(swap_record(header, &format), 0);
	assert_int_equal(record_decode(&out, header, &format), 0);
	assert_int_equal(out.id.pid, 7);
	assert_int_equal(out.id.tid, 8);
	assert_int_equal(out.id.time_ns, 100);
	assert_int_equal(out.deferred.cookie, 40);
	assert_int_equal(out.deferred.chain_len, 2);
	assert_int_equal(out.deferred.chain[0], PERF_CONTEXT_USER);
	assert_int_equal(out.deferred.chain[1], 0x401000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_of_attributes),
		cmocka_unit_test(fields_of_attributes),
		cmocka_unit_test(records_that_do_not_fit),
		cmocka_unit_test(refused),
		cmocka_unit_test(deferred_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
