/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder.h - what the engine stores goes into a file as well, written by a thread of its own.
 *
 * The sampling thread fills one of two buffers while the other is written.  When both are full it waits: credit
 * then makes the kernel take fewer samples, which coverage tells.  Nothing that was sampled is dropped, unless writing has
 * failed or was given up.
 */
#ifndef SAMPLER_RECORDING_RECORDER_H
#define SAMPLER_RECORDING_RECORDER_H

#include "sampler/engine.h"
#include "sampler/recording/writer.h"

struct recorder;

struct recorder_config {
	int fd; /* borrowed until recorder_free() */
	bool pipe, compress;
	char *const *cmdline; /* copied */
	size_t n_cmdline;
	size_t buffer_bytes; /* of each of the two; 0: 8 MiB */
};

/* Starts no thread yet: the engine's first word does.  0, -ENOMEM, -errno. */
int recorder_new(struct recorder **out, const struct recorder_config *config);
/* After the engine was freed or has stopped, since its thread may still call the tap. */
void recorder_free(struct recorder *recorder);

/* For engine_config.tap. */
void recorder_tap(struct recorder *recorder, struct engine_tap *out);

/* Readable (eventfd) once writing has failed. */
int recorder_fd(const struct recorder *recorder);

struct recorder_status {
	uint64_t bytes; /* of the file */
	uint64_t samples; /* written */
	uint64_t
		dropped; /* samples that could not be kept: after recorder_give_up(), or unwritten after an error */
	int error; /* of writing, negative, or 0 */
	bool begun; /* there are events */
};
void recorder_status(struct recorder *recorder, struct recorder_status *out);

/* Never wait for the disk again: what it cannot take is dropped. */
void recorder_give_up(struct recorder *recorder);

/* Before recorder_finish(), borrowed until then: what reader_info.kept_fd will have. */
void recorder_keep(struct recorder *recorder, const void *bytes, size_t len);

/* When no record will come any more (the engine stopped, ended or failed): what the engine lost, build-ids, and the header.
 * Waits for the disk.  The file is complete as far as it could be written.  0 or the error of writing;
 * -ENODATA where nothing was ever begun, and nothing is written. */
int recorder_finish(struct recorder *recorder, const struct engine_status *status,
	const struct reader_build_id *build_ids, size_t n_build_ids);

#endif
