/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_mailbox.c - order, wakeups, and posting from several threads.
 */
#include "sampler/control/mailbox.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include <cmocka.h>

#define POSTERS 4
#define POSTS 500

static bool is_readable(const struct mailbox *box)
{
	struct pollfd pollfd = {.fd = box->wake_fd, .events = POLLIN};

	return poll(&pollfd, 1, 0) == 1;
}

static void test_order_and_wakeup(void **state)
{
	struct mailbox box;
	eventfd_t count;

	(void)state;
	assert_int_equal(mailbox_init(&box), 0);
	assert_null(mailbox_take(&box));
	assert_false(is_readable(&box));
	for (int32_t i = 0; i < 3; i++) {
		struct mail mail = {.kind = MAIL_ATTACH, .pid = i};

		assert_int_equal(mailbox_post(&box, &mail), 0);
	}
	assert_true(is_readable(&box));
	assert_int_equal(eventfd_read(box.wake_fd, &count), 0);
	assert_int_equal(count, 3);
	for (int32_t i = 0; i < 3; i++) {
		struct mail *mail = mailbox_take(&box);

		assert_non_null(mail);
		assert_int_equal(mail->pid, i);
		free(mail);
	}
	assert_null(mailbox_take(&box));
	mailbox_wake(&box);
	assert_true(is_readable(&box));
	mailbox_fini(&box);
	mailbox_fini(&box);
}

static void test_fini_frees_what_was_not_taken(void **state)
{
	const struct mail mail = {.kind = MAIL_SNAPSHOT};
	struct mailbox box;

	(void)state;
	assert_int_equal(mailbox_init(&box), 0);
	assert_int_equal(mailbox_post(&box, &mail), 0);
	mailbox_fini(&box);
}

struct poster {
	struct mailbox *box;
	int32_t number;
};

static void *post_many(void *arg)
{
	struct poster *poster = arg;

	for (uint64_t i = 0; i < POSTS; i++) {
		struct mail mail = {.kind = MAIL_SET_FREQ, .pid = poster->number, .value = i};

		if (mailbox_post(poster->box, &mail))
			return arg;
	}
	return NULL;
}

static void test_posters(void **state)
{
	struct poster posters[POSTERS];
	pthread_t threads[POSTERS];
	uint64_t next[POSTERS] = {0};
	struct mailbox box;
	size_t taken = 0;

	(void)state;
	assert_int_equal(mailbox_init(&box), 0);
	for (int32_t i = 0; i < POSTERS; i++) {
		posters[i] = (struct poster){&box, i};
		assert_int_equal(pthread_create(&threads[i], NULL, post_many, &posters[i]), 0);
	}
	while (taken < POSTERS * POSTS) {
		struct pollfd pollfd = {.fd = box.wake_fd, .events = POLLIN};
		struct mail *mail;
		eventfd_t count;

		assert_int_equal(poll(&pollfd, 1, 60000), 1);
		eventfd_read(box.wake_fd, &count);
		while ((mail = mailbox_take(&box))) {
			/* Mail of each poster stays in order. */
			assert_int_equal(mail->value, next[mail->pid]++);
			free(mail);
			taken++;
		}
	}
	for (int i = 0; i < POSTERS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	mailbox_fini(&box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_wakeup),
		cmocka_unit_test(test_fini_frees_what_was_not_taken),
		cmocka_unit_test(test_posters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
