/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_values.c - tuples of field values: stored once, counted, and read by another thread while
 * others come and go.
 */
#include "sampler/fields/values.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
	struct values *values;

	assert_int_equal(values_new(&values), 0);
	*state = values;
	return 0;
}

static int teardown(void **state)
{
	values_free(*state);
	return 0;
}

static struct value number(uint64_t n)
{
	return (struct value){.number = n};
}

static struct value text(const char *bytes)
{
	return (struct value){.text = bytes, .text_len = strlen(bytes)};
}

static struct value place(uint32_t image, uint64_t offset)
{
	return (struct value){.number = offset, .image = image, .has_image = true};
}

static uint32_t intern(struct values *values, const struct value *tuple, size_t n)
{
	uint32_t id;

	assert_int_equal(values_intern(values, tuple, n, &id), 0);
	assert_int_not_equal(id, VALUES_NONE);
	return id;
}

static void test_each_once(void **state)
{
	struct values *values = *state;
	const struct value a[] = {number(7), text("bash"), place(3, 16)};
	const struct value b[] = {number(7), text("bash"), place(3, 17)};
	const struct value c[] = {number(7), text("bash")};
	uint32_t first = intern(values, a, 3), other;

	assert_int_equal(intern(values, a, 3), first);
	other = intern(values, b, 3);
	assert_int_not_equal(other, first);
	assert_int_not_equal(intern(values, c, 2), first);
	assert_int_equal(values_tuples(values), 3);
	assert_int_equal(values_texts(values), 1);
	/* Values of one number differ by their kind. */
	assert_int_not_equal(intern(values, (struct value[]){place(0, 9)}, 1),
		intern(values, (struct value[]){number(9)}, 1));
	values_free(NULL);
}

static void test_read_back(void **state)
{
	struct values *values = *state;
	const struct value tuple[] = {number(UINT64_MAX), text(""), place(0, 5), text("a\xff\x01")};
	uint32_t id = intern(values, tuple, 4);
	struct value got;

	assert_int_equal(values_count(values, id), 4);
	assert_true(values_get(values, id, 0, &got));
	assert_true(got.number == UINT64_MAX && !got.text && !got.has_image);
	assert_true(values_get(values, id, 1, &got));
	assert_string_equal(got.text, "");
	assert_int_equal(got.text_len, 0);
	assert_true(values_get(values, id, 2, &got));
	assert_true(got.has_image && got.image == 0 && got.number == 5);
	assert_true(values_get(values, id, 3, &got));
	assert_string_equal(got.text, "a\xff\x01");
	assert_false(values_get(values, id, 4, &got));
	assert_int_equal(values_count(values, VALUES_NONE), 0);
	assert_false(values_get(values, VALUES_NONE, 0, &got));
}

static void test_limits(void **state)
{
	struct values *values = *state;
	struct value tuple[VALUES_FIELDS_MAX + 1] = {{0}}, got;
	char bytes[VALUE_TEXT_MAX + 50];
	uint32_t id;

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(values_intern(values, tuple, 0, &id), -EINVAL);
	assert_int_equal(values_intern(values, tuple, VALUES_FIELDS_MAX + 1, &id), -EINVAL);
	assert_int_equal(id, VALUES_NONE);
	for (size_t i = 0; i < VALUES_FIELDS_MAX; i++)
		tuple[i] = place((uint32_t)i + 1, i);
	id = intern(values, tuple, VALUES_FIELDS_MAX);
	assert_true(values_get(values, id, VALUES_FIELDS_MAX - 1, &got));
	assert_int_equal(got.image, VALUES_FIELDS_MAX);
	/* Longer texts are truncated and marked, and still differ from each other. */
	tuple[0] = (struct value){.text = bytes, .text_len = VALUE_TEXT_MAX + 50};
	id = intern(values, tuple, 1);
	assert_int_equal(intern(values, tuple, 1), id);
	tuple[0].text_len = VALUE_TEXT_MAX + 3;
	assert_int_not_equal(intern(values, tuple, 1), id);
	assert_true(values_get(values, id, 0, &got));
	assert_int_equal(got.text_len, VALUE_TEXT_MAX - 1);
	assert_int_equal(strlen(got.text), VALUE_TEXT_MAX - 1);
	assert_non_null(strstr(got.text, "x\xe2\x80\xa6"));
	tuple[0].text_len = VALUE_TEXT_MAX - 1;
	id = intern(values, tuple, 1);
	assert_true(values_get(values, id, 0, &got));
	assert_int_equal(got.text_len, VALUE_TEXT_MAX - 1);
	assert_int_equal(got.text[VALUE_TEXT_MAX - 2], 'x');
}

static void test_references(void **state)
{
	struct values *values = *state;
	const struct value a[] = {text("one"), text("two"), text("one")};
	const struct value b[] = {text("two")};
	size_t empty = values_memory_used(values);
	uint32_t first = intern(values, a, 3), second = intern(values, b, 1);

	assert_int_equal(values_texts(values), 2);
	values_ref(values, first, 2);
	values_unref(values, first, 2);
	assert_int_equal(values_tuples(values), 2);
	values_unref(values, first, 1);
	assert_int_equal(values_tuples(values), 1);
	assert_int_equal(values_texts(values), 1);
	values_unref(values, second, 1);
	assert_int_equal(values_texts(values), 0);
	assert_int_equal(values_memory_used(values), empty);
	assert_true(values_memory(values) > empty);
	/* The ids are reused. */
	first = intern(values, b, 1);
	assert_true(first <= 2);
	values_unref(values, VALUES_NONE, 5);
	values_ref(values, VALUES_NONE, 5);
}

/* --- against a list --- */

#define MODEL_MAX 400u

struct model {
	char key[64];
	uint32_t id, refs;
};

static uint64_t random_state = 88172645463325252ull;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 20) % n);
}

/* Makes one of few tuples, and describes it in `key`.  Returns the number of values. */
static size_t random_tuple(struct value tuple[3], char bytes[3][16], char key[64])
{
	size_t n = 1 + random_below(3), len = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int kind = random_below(3), which = random_below(5);

		snprintf(bytes[i], sizeof(bytes[i]), "%u", which);
		tuple[i] = kind == 0 ? number(which) : kind == 1 ? text(bytes[i]) : place(which, 1);
		len += (size_t)snprintf(key + len, 64 - len, "%u:%u,", kind, which);
	}
	return n;
}

static void check_model(const struct values *values, const struct model *model)
{
	const char *at = model->key;

	for (size_t i = 0; i < values_count(values, model->id); i++) {
		unsigned int kind, which;
		struct value got;
		int used;

		assert_int_equal(sscanf(at, "%u:%u,%n", &kind, &which, &used), 2);
		at += used;
		assert_true(values_get(values, model->id, i, &got));
		assert_int_equal(got.has_image, kind == 2);
		assert_int_equal(got.text != NULL, kind == 1);
		assert_int_equal(kind == 0  ? got.number
				: kind == 1 ? strtoull(got.text, NULL, 10)
					    : got.image,
			which);
	}
	assert_string_equal(at, "");
}

static void test_random(void **state)
{
	struct values *values = *state;
	struct model *model = calloc(MODEL_MAX, sizeof(*model));
	uint32_t n = 0, alive;

	assert_non_null(model);
	for (unsigned int step = 0; step < 40000; step++) {
		/* At times few tuples are kept, so that many are freed and added again. */
		bool add = random_below(100) < (step / 2000 % 2 ? 35u : 65u);
		uint32_t at = 0;

		if (add) {
			struct value tuple[3];
			char bytes[3][16], key[64];
			size_t len = random_tuple(tuple, bytes, key);
			uint32_t id = intern(values, tuple, len);

			while (at < n && (strcmp(model[at].key, key) || !model[at].refs))
				at++;
			if (at == n) {
				for (at = 0; at < n && model[at].refs; at++)
					assert_int_not_equal(model[at].id, id);
				n += at == n;
				assert_true(n < MODEL_MAX);
				memcpy(model[at].key, key, sizeof(key));
				model[at].id = id;
			}
			assert_int_equal(model[at].id, id);
			model[at].refs++;
		} else if (n) {
			at = random_below(n);
			if (model[at].refs) {
				uint32_t drop = 1 + random_below(model[at].refs);

				values_unref(values, model[at].id, drop);
				model[at].refs -= drop;
			}
		}
		if (step % 500)
			continue;
		alive = 0;
		for (uint32_t i = 0; i < n; i++) {
			if (!model[i].refs)
				continue;
			alive++;
			check_model(values, &model[i]);
		}
		assert_int_equal(values_tuples(values), alive);
	}
	for (uint32_t i = 0; i < n; i++)
		values_unref(values, model[i].id, model[i].refs);
	assert_int_equal(values_tuples(values), 0);
	assert_int_equal(values_texts(values), 0);
	free(model);
}

/* --- another thread --- */

#define SHARED 64u

struct exchange {
	struct values *values;
	pthread_mutex_t lock;
	uint32_t id[SHARED]; /* one reference each; VALUES_NONE: none */
	uint64_t says[SHARED];
	bool stop;
};

/* The lock protects the ids, as in the store.  Their values are read without it. */
static void *reader(void *ctx)
{
	struct exchange *exchange = ctx;
	size_t wrong = 0;
	bool stop = false;

	while (!stop) {
		uint32_t id[SHARED];
		uint64_t says[SHARED];

		pthread_mutex_lock(&exchange->lock);
		memcpy(id, exchange->id, sizeof(id));
		memcpy(says, exchange->says, sizeof(says));
		stop = exchange->stop;
		memset(exchange->id, 0, sizeof(exchange->id));
		pthread_mutex_unlock(&exchange->lock);
		for (size_t i = 0; i < SHARED; i++) {
			struct value got;

			if (id[i] == VALUES_NONE)
				continue;
			wrong += values_count(exchange->values, id[i]) != 2;
			wrong += !values_get(exchange->values, id[i], 0, &got) ||
				got.number != says[i];
			wrong += !values_get(exchange->values, id[i], 1, &got) ||
				strtoull(got.text, NULL, 10) != says[i];
		}
	}
	return wrong ? exchange : NULL;
}

static void test_concurrent_reader(void **state)
{
	struct exchange exchange = {.values = *state, .lock = PTHREAD_MUTEX_INITIALIZER};
	uint32_t kept[SHARED];
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, reader, &exchange), 0);
	for (uint64_t round = 0; round < 400; round++) {
		for (uint32_t i = 0; i < SHARED; i++) {
			uint64_t which = round * SHARED + i;
			struct value tuple[2];
			char bytes[24];

			snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)which);
			tuple[0] = number(which);
			tuple[1] = text(bytes);
			kept[i] = intern(exchange.values, tuple, 2);
		}
		pthread_mutex_lock(&exchange.lock);
		for (uint32_t i = 0; i < SHARED; i++) {
			exchange.id[i] = kept[i];
			exchange.says[i] = round * SHARED + i;
		}
		pthread_mutex_unlock(&exchange.lock);
		/* Other tuples come and go next to those that are read. */
		for (uint64_t i = 0; i < 200; i++) {
			const struct value one[] = {number(i), text("passing")};
			uint32_t id = intern(exchange.values, one, 2);

			values_unref(exchange.values, id, 1);
		}
	}
	pthread_mutex_lock(&exchange.lock);
	exchange.stop = true;
	pthread_mutex_unlock(&exchange.lock);
	pthread_join(thread, &result);
	assert_null(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_references, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test_setup_teardown(test_concurrent_reader, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
