/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine_orders.h - children that wait for a byte to go on, and send a byte when they are done.
 *
 * Included after engine_fixture.h.
 */
#ifndef TESTS_LIVE_ENGINE_ORDERS_H
#define TESTS_LIVE_ENGINE_ORDERS_H

#include <fcntl.h>

static int go[2], done[2];

static UNUSED void open_pipes(void)
{
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
}

static UNUSED void close_pipes(void)
{
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
}

/* Waits for the next order in the child, for as long as it takes. */
static UNUSED char wait_order(void)
{
	char byte;

	if (read(go[0], &byte, 1) != 1)
		_exit(4);
	return byte;
}

static UNUSED void give_order_of(char byte)
{
	assert_int_equal(write(go[1], &byte, 1), 1);
}

static UNUSED void give_order(void)
{
	give_order_of('g');
}

static UNUSED void tell_done(void)
{
	(void)!write(done[1], "d", 1);
}

static UNUSED void wait_done(void)
{
	assert_int_equal(read_byte(done[0]), 'd');
}

#endif
