/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_recorder.c - the test plays the engine's part: the tapped records are in the file, in order.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "sampler/kernel/sys.h"
#include "sampler/perfdata/synth.h"
#include "sampler/recording/recorder.h"

#define SMALL ((size_t)64 << 10)

static struct engine_tap tap;
static struct engine_status *status; /* large */

static struct recorder *open_recorder(int fd, bool pipe)
{
	const struct recorder_config config = {.fd = fd, .pipe = pipe, .buffer_bytes = SMALL};
	struct recorder *recorder;

	assert_int_equal(recorder_new(&recorder, &config), 0);
	recorder_tap(recorder, &tap);
	status = calloc(1, sizeof(*status));
	assert_non_null(status);
	status->n_events = 3;
	strcpy(status->events[0].name, "cpu-clock");
	strcpy(status->events[1].name, "refused");
	strcpy(status->events[2].name, "page-faults");
	return recorder;
}

/* Two opened events, and the tracker. */
static void begin(void)
{
	const struct sys_features features = {.mmap2 = true, .comm_exec = true, .lost = true};
	const struct sys_setup setup = {.map_records = true};
	struct event_spec events[3] = {
		{.name = "cpu-clock"}, {.name = "page-faults"}, {.name = "dummy:u"}};

	for (size_t i = 0; i < 3; i++) {
		sys_dummy(&events[i].attr);
		sys_setup(&events[i].attr, &features, &setup);
	}
	tap.begin(events, 3, tap.ctx);
}

static void sample(size_t event, uint64_t time_ns)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, ip, task, time_ns, cpu;
	} record = {{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(record)}, 0xabcdef, 1, 2,
		time_ns, 0};

	tap.record(&record.header, event, tap.ctx);
}

struct found {
	uint64_t samples[3], types[PERFDATA_RECORD_TYPES], lost[3], lost_side;
	uint64_t last_ns; /* time of the newest sample; samples come in order */
	bool comm_first, mapping_first;
};

static void read_back(int fd, struct found *found)
{
	struct reader_record record;
	struct reader *reader;
	int ret;

	*found = (struct found){0};
	assert_int_equal(reader_open(&reader, fd), 0);
	while ((ret = reader_next(reader, &record)) == 1) {
		struct record decoded;

		found->types[record.header->type]++;
		if (record.header->type >= PERFDATA_RECORD_HEADER_ATTR)
			continue;
		assert_true(record.has_attr && record.attr < 3);
		assert_int_equal(record_decode(&decoded, record.header,
					 &reader_attr(reader, record.attr)->format),
			0);
		switch (decoded.type) {
		case PERF_RECORD_SAMPLE:
			assert_true(decoded.id.time_ns >= found->last_ns);
			found->last_ns = decoded.id.time_ns;
			found->samples[record.attr]++;
			break;
		case PERF_RECORD_COMM:
			found->comm_first |= !found->last_ns;
			break;
		case PERF_RECORD_MMAP2:
			found->mapping_first |= !found->last_ns;
			break;
		case PERF_RECORD_LOST_SAMPLES:
			found->lost[record.attr] += decoded.lost.lost;
			break;
		case PERF_RECORD_LOST:
			assert_int_equal(record.attr, 2);
			found->lost_side += decoded.lost.lost;
			break;
		default:
			break;
		}
	}
	assert_int_equal(ret, 0);
	reader_close(reader);
}

static void test_all_is_written(void **state)
{
	const struct record_mmap mmap = {
		.start = 0x1000, .len = 0x1000, .executable = true, .filename = "/a"};
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recorder *recorder = open_recorder(fd, false);
	struct recorder_status recorded;
	struct found found;

	(void)state;
	/* These are learned while processes are attached, before any event is open. */
	tap.comm(4711, 4711, "node", 5, tap.ctx);
	tap.mapping(4711, &mmap, 5, tap.ctx);
	recorder_status(recorder, &recorded);
	assert_false(recorded.begun);
	begin();
	for (uint64_t i = 0; i < 10000; i++) {
		sample(i % 4 == 3, 100 + i);
		if (i % 100 == 0)
			tap.round(tap.ctx);
	}
	status->events[0].lost = 7;
	status->events[1].lost = 8; /* that event is not in the file */
	status->events[2].lost = 9;
	status->lost_side_band = 3;
	assert_int_equal(recorder_finish(recorder, status, NULL, 0), 0);
	recorder_status(recorder, &recorded);
	assert_true(recorded.begun);
	assert_int_equal(recorded.samples, 10000);
	assert_int_equal(recorded.dropped, 0);
	assert_int_equal(recorded.bytes, lseek(fd, 0, SEEK_END));
	recorder_free(recorder);
	lseek(fd, 0, SEEK_SET);
	read_back(fd, &found);
	assert_int_equal(found.samples[0], 7500);
	assert_int_equal(found.samples[1], 2500);
	assert_int_equal(found.lost[0], 7);
	assert_int_equal(found.lost[1], 9);
	assert_int_equal(found.lost_side, 3);
	assert_true(found.comm_first && found.mapping_first);
	assert_int_equal(found.types[PERFDATA_RECORD_FINISHED_INIT], 1);
	assert_true(found.types[PERFDATA_RECORD_FINISHED_ROUND] >= 1);
	free(status);
}

/* Reads a pipe to its end into memory, slowly at first. */
static void *drain(void *arg)
{
	int *fds = arg;
	char bytes[4096];
	ssize_t n;

	while ((n = read(fds[0], bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(fds[1], bytes, (size_t)n), n);
	return NULL;
}

static void test_waits_for_the_disk(void **state)
{
	int pipes[2], fds[2];
	struct recorder *recorder;
	struct recorder_status recorded;
	struct found found;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	fds[0] = pipes[0];
	fds[1] = memfd_create("drained", MFD_CLOEXEC);
	assert_int_equal(pthread_create(&thread, NULL, drain, fds), 0);
	recorder = open_recorder(pipes[1], true);
	begin();
	/* far more than both buffers and the pipe hold */
	for (uint64_t i = 0; i < 50000; i++)
		sample(0, 100 + i);
	assert_int_equal(recorder_finish(recorder, status, NULL, 0), 0);
	recorder_status(recorder, &recorded);
	assert_int_equal(recorded.samples, 50000);
	assert_int_equal(recorded.dropped, 0);
	recorder_free(recorder);
	close(pipes[1]);
	pthread_join(thread, NULL);
	lseek(fds[1], 0, SEEK_SET);
	read_back(fds[1], &found);
	assert_int_equal(found.samples[0], 50000);
	close(pipes[0]);
	free(status);
}

static void test_giving_up(void **state)
{
	int pipes[2], fds[2];
	struct recorder *recorder;
	struct recorder_status recorded;
	struct found found;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	recorder = open_recorder(pipes[1], true);
	begin();
	recorder_give_up(recorder);
	/* No process reads: without giving up, this would never return. */
	for (uint64_t i = 0; i < 50000; i++)
		sample(i % 2, 100 + i);
	fds[0] = pipes[0];
	fds[1] = memfd_create("drained", MFD_CLOEXEC);
	assert_int_equal(pthread_create(&thread, NULL, drain, fds), 0);
	status->events[0].lost = 1;
	assert_int_equal(recorder_finish(recorder, status, NULL, 0), 0);
	recorder_status(recorder, &recorded);
	assert_true(recorded.dropped > 0);
	assert_int_equal(recorded.samples + recorded.dropped, 50000);
	recorder_free(recorder);
	close(pipes[1]);
	pthread_join(thread, NULL);
	lseek(fds[1], 0, SEEK_SET);
	read_back(fds[1], &found);
	assert_int_equal(found.samples[0] + found.samples[1], recorded.samples);
	assert_int_equal(found.lost[0] + found.lost[1], recorded.dropped + 1);
	assert_int_equal(found.samples[0] + found.lost[0], 25001);
	close(pipes[0]);
	free(status);
}

static void test_write_error(void **state)
{
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	struct recorder *recorder;
	struct recorder_status recorded;
	struct pollfd failed;

	(void)state;
	assert_true(fd >= 0);
	recorder = open_recorder(fd, true);
	failed = (struct pollfd){recorder_fd(recorder), POLLIN, 0};
	assert_int_equal(poll(&failed, 1, 0), 0);
	begin();
	/* Samples do not wait for writes that can never succeed. */
	for (uint64_t i = 0; i < 50000; i++)
		sample(0, 100 + i);
	assert_int_equal(poll(&failed, 1, -1), 1);
	assert_int_equal(recorder_finish(recorder, status, NULL, 0), -ENOSPC);
	recorder_status(recorder, &recorded);
	assert_int_equal(recorded.error, -ENOSPC);
	assert_int_equal(recorded.samples, 0);
	recorder_free(recorder);
	close(fd);
	free(status);
}

static void test_nothing_begun(void **state)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recorder *recorder = open_recorder(fd, false);

	(void)state;
	tap.comm(1, 1, "init", 5, tap.ctx);
	tap.round(tap.ctx);
	assert_int_equal(recorder_finish(recorder, status, NULL, 0), -ENODATA);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	recorder_free(recorder);
	recorder_free(NULL);
	close(fd);
	free(status);
}

/* Events without any samples are still a recording. */
static void test_empty(void **state)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recorder *recorder = open_recorder(fd, false);
	struct found found;

	(void)state;
	begin();
	assert_int_equal(recorder_finish(recorder, status, NULL, 0), 0);
	recorder_free(recorder);
	lseek(fd, 0, SEEK_SET);
	read_back(fd, &found);
	assert_int_equal(found.types[PERF_RECORD_SAMPLE], 0);
	free(status);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_written),
		cmocka_unit_test(test_waits_for_the_disk),
		cmocka_unit_test(test_giving_up),
		cmocka_unit_test(test_write_error),
		cmocka_unit_test(test_nothing_begun),
		cmocka_unit_test(test_empty),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
