/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reading.c - the thread that reads a recording and passes its records in time order to the loading
 * thread.
 *
 * It does all work that a sample alone allows, because the loading thread has more to do.
 */
#include "sampler/kernel/sys.h"
#include "sampler/recording/recording_private.h"

#include <errno.h>

#define PUBLISH_RECORDS 1024u /* records between two looks at the clock */
#define PUBLISH_NS 50000000ull

static void publish_sometimes(struct recording *recording)
{
	struct reading *reading = &recording->reading;
	uint64_t now_ns;

	if (++reading->since_published < PUBLISH_RECORDS)
		return;
	reading->since_published = 0;
	now_ns = sys_now_ns();
	if (now_ns - reading->published_ns < PUBLISH_NS)
		return;
	reading->published_ns = now_ns;
	relay_pause(recording->relay);
	recording_publish_reader(recording);
}

/* order_fn that passes a record to the loading thread. */
static int give(const struct order_record *record, void *ctx)
{
	struct recording *recording = ctx;
	struct order_record given = *record;

	if (given.has_attr && given.header->type == PERF_RECORD_SAMPLE)
		given.hint = deliver_hash(recording, given.header,
			&reader_attr(recording->reader, given.attr)->format);
	return relay_put(recording->relay, &given);
}

/* order_fn that joins deferred chains first, so that a sample's hash covers its whole chain. */
static int give_whole(const struct order_record *record, void *ctx)
{
	struct recording *recording = ctx;

	return chains_put(recording->reading.chains, record,
		record->has_attr ? reader_attr(recording->reader, record->attr) : NULL);
}

/* Whether a record concerns tasks and their memory, in any event. */
static bool is_side_band(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
		return true;
	}
	return false;
}

static int take_kernel_record(struct recording *recording, const struct reader_record *read)
{
	struct order_record record = {.header = read->header,
		.offset = read->offset,
		.attr = read->attr,
		.has_attr = read->has_attr};
	size_t n = reader_attr_count(recording->reader);
	bool events = !is_side_band(read->header);
	int err = 0;

	if (n > recording->n_attrs || (events && n > recording->n_made) ||
		reader_info(recording->reader)->tracing_data_len != recording->tracing_len) {
		err = relay_settle(recording->relay);
		if (!err)
			err = deliver_attrs(recording, events);
	}
	if (err)
		return err;
	if (record.has_attr)
		record.time_ns = record_time(
			read->header, &reader_attr(recording->reader, read->attr)->format);
	if (!record.time_ns || record.time_ns == UINT64_MAX)
		return give_whole(&record, recording);
	return order_add(recording->reading.order, &record);
}

static int end_round(struct recording *recording)
{
	int err = order_round(recording->reading.order);

	relay_pause(recording->relay);
	return err;
}

static void *reading_main(void *ctx)
{
	struct recording *recording = ctx;
	struct reading *reading = &recording->reading;
	struct reader_record record;
	int fatal = 0;

	while (!fatal && !atomic_load_explicit(&recording->cancelled, memory_order_relaxed)) {
		int ret = reader_next(recording->reader, &record);

		if (ret == -ENOMEM)
			fatal = ret;
		if (ret <= 0)
			break;
		if (record.header->type < PERFDATA_RECORD_HEADER_ATTR)
			fatal = take_kernel_record(recording, &record);
		else if (record.header->type == PERFDATA_RECORD_FINISHED_ROUND)
			fatal = end_round(recording);
		publish_sometimes(recording);
	}
	if (!fatal)
		fatal = order_flush(reading->order);
	if (!fatal)
		fatal = chains_flush(reading->chains);
	reading->fatal = fatal;
	recording_publish_reader(recording);
	relay_end(recording->relay);
	return NULL;
}

static void free_all(struct recording *recording)
{
	struct reading *reading = &recording->reading;

	relay_free(recording->relay);
	chains_free(reading->chains);
	order_free(reading->order);
	recording->relay = NULL;
	reading->chains = NULL;
	reading->order = NULL;
}

int reading_start(struct recording *recording)
{
	struct reading *reading = &recording->reading;
	int ret = order_new(&reading->order, ORDER_BYTES_MAX, give_whole, recording);

	if (!ret)
		ret = chains_new(&reading->chains, give, recording);
	if (!ret)
		ret = relay_new(&recording->relay);
	if (!ret)
		ret = -pthread_create(&reading->thread, NULL, reading_main, recording);
	if (ret)
		free_all(recording);
	return ret;
}

void reading_join(struct recording *recording)
{
	pthread_join(recording->reading.thread, NULL);
	free_all(recording);
}
