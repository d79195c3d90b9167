/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer.h - write a perf.data file or pipe, record by record.
 *
 * Every event has exactly one id in the file, its number + 1, whatever ids the kernel gave: records are
 * passed with the event they belong to and their ids are rewritten.  All events have the same sample_type layout for side-band
 * trailers, PERF_SAMPLE_IDENTIFIER and sample_id_all.
 * Not locked: one thread at a time.  Writes block; see recorder.h for the thread that does it.
 */
#ifndef SAMPLER_RECORDING_WRITER_H
#define SAMPLER_RECORDING_WRITER_H

#include "sampler/recording/reader.h"

struct writer;

struct writer_event {
	struct perf_event_attr attr; /* as opened: sample_type, period, bits */
	char name[EVENT_NAME_MAX];
	uint16_t group; /* neighbours with the same number other than 0, led by the first */
};

struct writer_config {
	int fd; /* borrowed; a file to be written from offset 0, or anything for pipe */
	bool pipe;
	const struct writer_event *events; /* copied */
	size_t n_events;
	char *const *cmdline; /* copied */
	size_t n_cmdline;
	bool compress; /* zstd */
	const void *tracing_data; /* of tracing.h, copied; or NULL */
	size_t tracing_data_len;
};

/* Writes the header (a file's is completed by writer_finish()).  0, -ENOMEM, -errno of write(2). */
int writer_new(struct writer **out, const struct writer_config *config);
void writer_free(struct writer *writer);

/* One record of the kernel's layout, of event number `event` (side-band records: of the tracker); its bytes are
 * copied.  Records need not be in order of time between two rounds.  0, -EBADMSG, -errno. */
int writer_record(struct writer *writer, const struct perf_event_header *record, size_t event);
/* Ends a round: all that was passed before the last round is older than what follows. */
int writer_round(struct writer *writer);
/* All that was made up to describe what was there before sampling has been passed. */
int writer_synthesized(struct writer *writer);

/* Build-ids of images that samples fell into. */
int writer_build_id(struct writer *writer, const struct reader_build_id *build_id);

/* What reader_info.kept_fd will have: once, borrowed until writer_finish(). */
int writer_kept(struct writer *writer, const void *bytes, size_t len);

/* Have what was passed so far written: if nothing follows, the file can be read up to here.  0 or -errno. */
int writer_flush(struct writer *writer);

/* Features, the header, and what is buffered.  0 or -errno; nothing may be written after.  Where a write has failed
 * before (a full disk), a file is cut behind its last whole record and completed as far as there is room. */
int writer_finish(struct writer *writer);

uint64_t writer_bytes(const struct writer *writer); /* written or buffered */

#endif
