/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dump_recording.c - prints each sample of a loaded recording, one a line, then counts by event.
 *
 * usage: dump_recording FILE
 */
#include "sampler/control/status.h"
#include "sampler/recording/recording.h"
#include "sampler/store/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct recording *recording;

/* Order and form are those of perf script -F comm,pid,tid,cpu,time,period,event,ip,dso --ns,
 * with tabs between the fields. */
static int dump(const struct recording_sample *sample, void *ctx)
{
	const struct record *record = sample->record;
	const struct stacks *stacks = recording_stacks(recording);
	const struct task_label *label = tasks_label_get(recording_tasks(recording), sample->label);
	const struct stack_node *node = stacks_node(stacks, sample->stack);
	const struct frame *frame = stacks_frame_get(stacks, node->frame);

	(void)ctx;
	/* perf has samples of switches, but not the time between them. */
	if (sample->is_span)
		return 0;
	printf("sample\t%s\t%" PRId32 "/%" PRId32 "\t%" PRIu32 "\t%" PRIu64 "\t%u\t%" PRIu64
	       "\t%" PRIx64 "\t%s%s\n",
		label->comm, label->pid, label->tid, record->id.cpu, record->id.time_ns,
		sample->event, record->sample.period, record->sample.ip,
		images_get(recording_images(recording), frame->image)->path,
		images_get(recording_images(recording), frame->image)->deleted ? " (deleted)" : "");
	return 0;
}

int main(int argc, char **argv)
{
	struct recording_config config = {.memory_bytes = (size_t)256 << 20, .tap = dump};
	struct engine_status status = {0};
	struct reader_status reader;
	uint64_t count;
	int ret;

	if (argc != 2)
		return 2;
	config.fd = strcmp(argv[1], "-") ? open(argv[1], O_RDONLY | O_CLOEXEC) : dup(0);
	ret = config.fd < 0 ? -errno : recording_new(&recording, &config);
	if (!ret)
		ret = recording_start(recording);
	while (!ret && status.state <= ENGINE_RUNNING) {
		struct pollfd fd = {recording_notify_fd(recording), POLLIN, 0};

		if (poll(&fd, 1, -1) < 0 || read(fd.fd, &count, sizeof(count)) < 0)
			ret = -errno;
		recording_status(recording, &status);
	}
	if (!ret && status.state != ENGINE_ENDED)
		ret = -status.failure.error;
	if (ret) {
		fprintf(stderr, "dump_recording: %s: %s\n", argv[1], strerror(-ret));
		return 1;
	}
	for (size_t i = 0; i < status.n_events; i++)
		printf("event\t%u\t%s\t%" PRIu64 "\t%" PRIu64 "\n", status.events[i].id,
			status.events[i].name, status.events[i].samples, status.events[i].lost);
	recording_reader_status(recording, &reader);
	for (unsigned int type = 0; type < PERFDATA_RECORD_TYPES; type++)
		if (reader.counts[type])
			printf("type\t%u\t%" PRIu64 "\n", type, reader.counts[type]);
	printf("late\t%" PRIu64 "\nbad\t%" PRIu64 "\nlost\t%" PRIu64 "\n",
		recording_out_of_order(recording), reader.bad, status.lost_side_band);
	recording_free(recording);
	return 0;
}
