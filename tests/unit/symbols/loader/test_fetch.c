/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_fetch.c - the queue in front of libdebuginfod, with a directory as the server.
 */
#include "symbols/loader/fetch.h"
#include "tests/unit/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/strobe-test-fetch-XXXXXX";
static struct fetch *fetch;
static int answers = -1;
static const struct fetch_id here = {FETCH_DEBUG, {0xab, 0xcd, 0xef}, 3};
static const struct fetch_id nowhere = {FETCH_DEBUG, {0xab, 0xcd, 0x00}, 3};

static int setup(void **state)
{
	char path[256];

	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "file://%s", dir);
	setenv("DEBUGINFOD_URLS", path, 1);
	snprintf(path, sizeof(path), "%s/cache", dir);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	snprintf(path, sizeof(path),
		"mkdir -p %s/buildid/abcdef && printf content > %s/buildid/abcdef/debuginfo", dir,
		dir);
	answers = eventfd(0, EFD_CLOEXEC);
	if (system(path) != 0 || fetch_new(&fetch) < 0)
		return -1;
	fetch_answer_to(fetch, answers);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fetch_free(fetch);
	fetch = NULL;
	close(answers);
	return scratch_remove_tree(dir);
}

static int wait_for(struct fetch_id *id)
{
	struct pollfd pfd = {.fd = answers, .events = POLLIN};
	int error = -1;

	assert_int_equal(poll(&pfd, 1, 60000), 1);
	assert_true(fetch_take(fetch, id, &error));
	if (error == ENOPKG) {
		print_message("skipped: libdebuginfod is not installed\n");
		skip();
	}
	return error;
}

static void test_refused(void **state)
{
	struct fetch_id none = here;
	struct opener_file file;

	(void)state;
	none.build_id_len = 0;
	assert_int_equal(fetch_ask(fetch, &none), -EINVAL);
	assert_int_equal(fetch_open(fetch, &here, &file), -ENOENT);
	setenv("DEBUGINFOD_URLS", "  ", 1);
	assert_int_equal(fetch_ask(fetch, &here), -EDESTADDRREQ);
	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(fetch_ask(fetch, &here), -EDESTADDRREQ);
	assert_false(fetch_has_server());
}

static void test_fetched(void **state)
{
	struct fetch_status status;
	struct opener_file file;
	struct fetch_id id;
	char content[16] = "";
	uint64_t count;

	(void)state;
	assert_int_equal(fetch_ask(fetch, &here), 0);
	assert_int_equal(wait_for(&id), 0);
	assert_memory_equal(&id, &here, sizeof(id));
	assert_int_equal(fetch_open(fetch, &here, &file), 0);
	assert_int_equal(read(file.fd, content, sizeof(content)), 7);
	assert_string_equal(content, "content");
	close(file.fd);
	assert_int_equal(fetch_ask(fetch, &here), -EALREADY);
	fetch_status(fetch, &status);
	assert_int_equal(status.waiting, 0);

	/* A file that was not found may be asked for again. */
	assert_int_equal(read(answers, &count, sizeof(count)), sizeof(count));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fetch_ask(fetch, &nowhere), 0);
		assert_int_not_equal(wait_for(&id), 0);
		assert_memory_equal(&id, &nowhere, sizeof(id));
		assert_int_equal(read(answers, &count, sizeof(count)), sizeof(count));
		assert_int_equal(fetch_open(fetch, &nowhere, &file), -ENOENT);
	}
	assert_false(fetch_take(fetch, &id, &(int){0}));
}

/* All waiting requests are canceled and answered. The queue ends at once, also during a
 * transfer. */
static void test_canceled(void **state)
{
	size_t n = 0, canceled = 0;
	struct fetch_status status;
	struct fetch_id id = here;
	int error;

	(void)state;
	for (uint8_t i = 0; i < 50; i++) {
		id.build_id[2] = i;
		assert_int_equal(fetch_ask(fetch, &id), 0);
	}
	fetch_cancel(fetch);
	do
		fetch_status(fetch, &status);
	while (status.waiting);
	while (fetch_take(fetch, &id, &error)) {
		n++;
		canceled += error == ECANCELED;
	}
	assert_int_equal(n, 50);
	assert_true(canceled > 0);
	/* The queue ends in the middle of this request. */
	assert_int_equal(fetch_ask(fetch, &here), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fetched, setup, teardown),
		cmocka_unit_test_setup_teardown(test_canceled, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
