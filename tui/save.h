/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * save.h - what the store holds, as a recording: the other half of recording.h.
 *
 * Frames are (image, offset), so addresses are made up: each image lies at one place in every process that it was sampled
 * in.  A cell becomes as many samples as it counts, spread over its slice, with its weight divided among them.  Opened
 * again, the sums per symbol, process, thread, CPU and event are the same.
 *
 * save_start() is for the UI thread; the work is done by a thread of its own, on a snapshot.
 */
#ifndef TUI_SAVE_H
#define TUI_SAVE_H

#include "sampler/images.h"
#include "sampler/recording/writer.h"
#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is written; everything is borrowed. */
struct save_source {
	const struct snapshot *snapshot;
	const struct stacks *stacks;
	const struct tasks *tasks;
	struct images *images;
	/* Build-ids by image id that the images themselves do not know; n_build_ids of them, length 0: none. */
	const struct save_build_id {
		uint8_t len;
		uint8_t id[RECORD_BUILD_ID_MAX];
	} * build_ids;
	uint32_t n_build_ids;
	/* The events of the file, as opened, by their ids in the store; what is not among them is left out. */
	const struct writer_event *events;
	const uint8_t *event_ids;
	size_t n_events;
	char *const *cmdline;
	size_t n_cmdline;
	const void *kept; /* see writer_kept() */
	size_t kept_len;
	bool machine; /* it is this one that was sampled: its kernel is described */
};

/* An event of the file: like another attribute, with the layout that saved samples have.  like NULL: the one that
 * carries side-band records. */
void save_event(struct writer_event *event, const char *name, const struct perf_event_attr *like);

struct save_progress {
	atomic_bool cancel;
	_Atomic uint64_t cells, cells_total, samples, bytes;
};

/* Completes a file of fd (or, with pipe, a stream).  0; -ECANCELED; -ENOMEM; -errno of writing. */
int save_write(const struct save_source *source, int fd, bool pipe, struct save_progress *progress);

#define SAVE_WAIT_MS 3000u

struct session;
struct save;

/* Everything in [from_ns, to_ns).  0, or -errno and a cleaned sentence; *out = NULL then.  Errors of the
 * file come by save_is_over(). */
int save_start(struct save **out, const struct session *session, const char *path, uint64_t from_ns,
	uint64_t to_ns, char *message, size_t size);
unsigned int save_percent(const struct save *save);
/* True once the work is over: the sentence tells how it went (cleaned), and *error is 0 or negative. */
bool save_is_over(struct save *save, int *error, char *message, size_t size);
/* Stops the work, whose incomplete file is removed.  False if the file system does not answer in
 * time: the work, and what it uses, has to stay.  NULL is a no-op. */
bool save_free(struct save *save);

/* "strobe-20261121-065031.data", of the local time. */
void save_default_name(char *out, size_t size);

#endif
