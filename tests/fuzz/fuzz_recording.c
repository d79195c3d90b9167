// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_recording.c - any bytes as a recording, loaded into a store by the usual threads.
 *
 * All stacks, labels and other entries that its slices refer to must exist.
 */
#include "sampler/control/status.h"
#include "sampler/recording/recording.h"
#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t sink; /* uses all results, so that no read is optimized out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void await_end(struct recording *recording)
{
	struct engine_status status;

	do {
		struct pollfd fd = {recording_notify_fd(recording), POLLIN, 0};
		uint64_t count;

		if (poll(&fd, 1, -1) == 1 && read(fd.fd, &count, sizeof(count)) < 0)
			abort();
		recording_status(recording, &status);
	} while (status.state <= ENGINE_RUNNING);
}

static void look_at_slice(struct recording *recording, const struct slice *slice)
{
	const struct stacks *stacks = recording_stacks(recording);

	for (uint32_t i = 0; i < slice->cells; i++) {
		uint32_t node = slice->stack[i];

		for (unsigned int depth = 0; node != STACK_ROOT; depth++) {
			const struct stack_node *at = stacks_node(stacks, node);

			if (depth > 4096)
				abort();
			sink += stacks_frame_get(stacks, at->frame)->offset;
			node = at->parent;
		}
		sink += slice->weight[i];
		const struct task_label *label =
			tasks_label_get(recording_tasks(recording), slice->task[i]);
		if (label)
			sink += strnlen(label->comm, sizeof(label->comm));
	}
}

static void look_at_store(struct recording *recording)
{
	struct snapshot snapshot;

	struct store *store = recording_store(recording);

	if (store_snapshot(store, 0, UINT64_MAX, &snapshot))
		return;
	for (size_t i = 0; i < snapshot.n; i++)
		look_at_slice(recording, snapshot.slices[i]);
	snapshot_release(store, &snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording_config config = {.memory_bytes = 1 << 20};
	struct recording *recording;

	config.fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (config.fd < 0 || pwrite(config.fd, data, size, 0) != (ssize_t)size)
		abort();
	if (recording_new(&recording, &config))
		return 0;
	if (!recording_start(recording)) {
		await_end(recording);
		look_at_store(recording);
	}
	recording_free(recording);
	return 0;
}
