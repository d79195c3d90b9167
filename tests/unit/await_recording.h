/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * await_recording.h - a recording is loaded by a thread of its own: here a test waits for it.
 *
 * Without a time: how long it takes is the machine's business.
 */
#ifndef TESTS_AWAIT_RECORDING_H
#define TESTS_AWAIT_RECORDING_H

#include "sampler/recording/recording.h"

#include <poll.h>
#include <unistd.h>

/* Until it has ended, stopped or failed. */
static inline void await_recording(struct recording *recording, struct engine_status *status)
{
	do {
		struct pollfd fd = {recording_notify_fd(recording), POLLIN, 0};
		uint64_t count;

		assert_int_equal(poll(&fd, 1, -1), 1);
		assert_int_equal(read(fd.fd, &count, sizeof(count)), sizeof(count));
		recording_status(recording, status);
	} while (status->state <= ENGINE_RUNNING);
}

/* All of it, which has to succeed. */
static inline void load_recording(struct recording *recording, struct engine_status *status)
{
	assert_int_equal(recording_start(recording), 0);
	await_recording(recording, status);
	assert_int_equal(status->state, ENGINE_ENDED);
}

#endif
