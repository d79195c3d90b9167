/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * save.h - writes the contents of the store as a recording, which recording.h reads.
 *
 * Frames are (image, offset), so addresses are synthetic: each image has one address in all
 * processes that have samples in it.  A cell becomes `count` samples, spread over its slice, with
 * its weight divided among them.  The file read back has the same sums per symbol, process, thread,
 * CPU and event.
 *
 * save_start() is for the UI thread; a thread of its own does the work, on a snapshot.
 */
#ifndef TUI_EXPORT_SAVE_H
#define TUI_EXPORT_SAVE_H

#include "sampler/perfdata/writer.h"
#include "sampler/store/images.h"
#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Input of save_write(); everything is borrowed. */
struct save_source {
	const struct snapshot *snapshot;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct images *images;
	/* By image id: build-ids that `images` lacks; n_build_ids entries, len 0: none. */
	const struct save_build_id {
		uint8_t len;
		uint8_t id[RECORD_BUILD_ID_MAX];
	} * build_ids;
	uint32_t n_build_ids;
	/* Events of the file as opened, with their ids in the store.  Samples of other events are
	 * left out. */
	const struct writer_event *events;
	const uint8_t *event_ids;
	size_t n_events;
	char *const *cmdline;
	size_t n_cmdline;
	const void *kept; /* see writer_kept() */
	size_t kept_len;
	bool machine; /* sampled on this machine: describe its kernel */
};

/* Sets up an event of the file: attribute `like` with the sample layout of saved samples.  like
 * NULL: the event that carries side-band records. */
void save_event(struct writer_event *event, const char *name, const struct perf_event_attr *like);

struct save_progress {
	atomic_bool cancel;
	_Atomic uint64_t cells, cells_total, samples, bytes;
};

/* Writes a complete file to fd, or a stream if `pipe`.  Returns 0, -ECANCELED, -ENOMEM, or -errno
 * of a failed write. */
int save_write(const struct save_source *source, int fd, bool pipe, struct save_progress *progress);

#define SAVE_WAIT_MS 3000u

struct session;
struct save;

/* Starts to save all samples in [from_ns, to_ns).  Returns 0, or -errno with a cleaned sentence and
 * *out = NULL.  save_is_over() reports errors of the file. */
int save_start(struct save **out, const struct session *session, const char *path, uint64_t from_ns,
	uint64_t to_ns, char *message, size_t size);
unsigned int save_percent(const struct save *save);
/* Returns true once the work is over, with a cleaned sentence on the result; *error is 0 or
 * -errno. */
bool save_is_over(struct save *save, int *error, char *message, size_t size);
/* Cancels the work and removes an incomplete file, then frees `save`.  Returns false if the file
 * system does not answer within SAVE_WAIT_MS: the work and its data must stay then.  NULL is a
 * no-op. */
bool save_free(struct save *save);

/* Writes a file name like "strobe-20261121-065031.data", in local time. */
void save_default_name(char *out, size_t size);

#endif
