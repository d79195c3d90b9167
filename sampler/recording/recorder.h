/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder.h - also writes the records that the engine stores to a file, in a thread of its own.
 *
 * The sampling thread fills one of two buffers while the other is written.  If both are full, it
 * waits.  Then events use up their credit (credit.h), the kernel takes fewer samples, and the
 * coverage shows that.  No sample is dropped unless writing has failed or was given up.
 */
#ifndef SAMPLER_RECORDING_RECORDER_H
#define SAMPLER_RECORDING_RECORDER_H

#include "sampler/control/config.h"
#include "sampler/perfdata/writer.h"

struct engine_status;
struct recorder;

struct recorder_config {
	int fd; /* borrowed until recorder_free() */
	bool pipe, compress;
	char *const *cmdline; /* copied */
	size_t n_cmdline;
	size_t buffer_bytes; /* each of the two; 0: 8 MiB */
};

/* Makes a recorder.  Its thread starts with the engine's first call of the tap.  Returns 0, -ENOMEM
 * or -errno. */
int recorder_new(struct recorder **out, const struct recorder_config *config);
/* Frees a recorder.  The engine must have stopped or been freed before: its thread may call the
 * tap. */
void recorder_free(struct recorder *recorder);

/* Fills in a tap for engine_config.tap. */
void recorder_tap(struct recorder *recorder, struct engine_tap *out);

/* Returns an eventfd that is readable once writing has failed. */
int recorder_fd(const struct recorder *recorder);

struct recorder_status {
	uint64_t bytes; /* bytes of the file */
	uint64_t samples; /* written */
	/* samples that were not kept: after recorder_give_up(), or unwritten after an error */
	uint64_t dropped;
	int error; /* negative errno of writing, or 0 */
	bool begun; /* there are events */
};
void recorder_status(struct recorder *recorder, struct recorder_status *out);

/* Stops all waiting for the disk, from now on.  Records that it cannot take are dropped. */
void recorder_give_up(struct recorder *recorder);

/* Sets the future contents of reader_info.kept_fd.  Called before recorder_finish(); bytes are
 * borrowed until then. */
void recorder_keep(struct recorder *recorder, const void *bytes, size_t len);

/* Finishes the file after the last record, when the engine has stopped, ended or failed.  Writes
 * the engine's losses, build-ids and the header, and waits for the disk.  The file is complete up
 * to the first error.  Returns 0, the error of writing, or -ENODATA if nothing was begun; no file
 * is written then. */
int recorder_finish(struct recorder *recorder, const struct engine_status *status,
	const struct reader_build_id *build_ids, size_t n_build_ids);

#endif
