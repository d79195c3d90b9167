/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer.h - writes a perf.data file or pipe, record by record.
 *
 * Every event has exactly one id in the file, its number + 1, independent of the kernel's ids.
 * Records are passed with their event, and their ids are rewritten.  All events have the same
 * sample_type layout for side-band trailers, PERF_SAMPLE_IDENTIFIER and sample_id_all.
 *
 * Not locked: one thread at a time.  Writes block; see recorder.h for the thread that writes.
 */
#ifndef SAMPLER_PERFDATA_WRITER_H
#define SAMPLER_PERFDATA_WRITER_H

#include "sampler/perfdata/reader.h"

struct writer;

struct writer_event {
	struct perf_event_attr attr; /* the opened event's: sample_type, period, bits */
	char name[EVENT_NAME_MAX];
	/* adjacent events with equal numbers other than 0; the first is the leader */
	uint16_t group;
};

struct writer_config {
	int fd; /* borrowed; a file that is written from offset 0, or any descriptor for pipe */
	bool pipe;
	const struct writer_event *events; /* copied */
	size_t n_events;
	char *const *cmdline; /* copied */
	size_t n_cmdline;
	bool compress; /* zstd */
	const void *tracing_data; /* from tracing.h, copied; or NULL */
	size_t tracing_data_len;
};

/* Writes the header; writer_finish() completes that of a file.  Returns 0, -ENOMEM, or -errno of
 * write(2). */
int writer_new(struct writer **out, const struct writer_config *config);
void writer_free(struct writer *writer);

/* Writes a copy of one record with the kernel's layout.  `event` is its event number, the tracker's
 * for side-band records.  Between two rounds, records may have any time order.  Returns 0, -EBADMSG
 * or -errno. */
int writer_record(struct writer *writer, const struct perf_event_header *record, size_t event);
/* Ends a round: records passed before the previous round are older than all later ones. */
int writer_round(struct writer *writer);
/* Marks the end of the synthesized records of the state before sampling. */
int writer_synthesized(struct writer *writer);

/* Writes the build-id of an image with samples. */
int writer_build_id(struct writer *writer, const struct reader_build_id *build_id);

/* Sets the contents of reader_info.kept_fd.  Call once; bytes are borrowed until
 * writer_finish(). */
int writer_kept(struct writer *writer, const void *bytes, size_t len);

/* Writes all records passed so far.  If nothing follows, the file can be read up to here.  Returns
 * 0 or -errno. */
int writer_flush(struct writer *writer);

/* Writes the buffer, the features and the header; nothing may be written afterwards.  If a write
 * failed before (a full disk), a file is cut after its last whole record and completed as far as
 * there is room.  Returns 0 or -errno. */
int writer_finish(struct writer *writer);

uint64_t writer_bytes(const struct writer *writer); /* bytes written or buffered */

#endif
