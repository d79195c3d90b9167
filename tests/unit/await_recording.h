/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * await_recording.h - waits for the thread that loads a recording.
 *
 * There is no time limit, since the load time depends on the machine.
 */
#ifndef TESTS_AWAIT_RECORDING_H
#define TESTS_AWAIT_RECORDING_H

#include "sampler/control/status.h"
#include "sampler/recording/recording.h"

#include <poll.h>
#include <unistd.h>

/* Waits until the load has ended, stopped or failed. */
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

/* Loads the whole recording; the test fails if that fails. */
static inline void load_recording(struct recording *recording, struct engine_status *status)
{
	assert_int_equal(recording_start(recording), 0);
	await_recording(recording, status);
	assert_int_equal(status->state, ENGINE_ENDED);
}

#endif
