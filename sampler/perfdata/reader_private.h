/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader_private.h - shared by the reader's files.
 *
 * reader_open.c reads header and sections.  reader_own.c has the records that the reader itself
 * processes.  reader.c reads the records of one file, and reader_streams.c those of several files
 * by time.
 */
#ifndef SAMPLER_PERFDATA_READER_PRIVATE_H
#define SAMPLER_PERFDATA_READER_PRIVATE_H

#include "sampler/perfdata/attrs.h"
#include "sampler/perfdata/features.h"
#include "sampler/perfdata/reader.h"
#include "sampler/perfdata/source.h"
#include "sampler/perfdata/unpack.h"

#define STREAM_COPY_BYTES (65536u + 8u)

/* One file of records.  Only a directory of perf record --threads has several. */
struct stream {
	int fd;
	char file[READER_FILE_MAX]; /* name, see reader_fault */
	struct reader_fault *fault; /* borrowed from the reader; NULL if none */
	struct source source;
	struct unpacker unpacker;
	bool has_end; /* the header has the end of the records */
	uint64_t end;
	bool unpacking; /* a pack at the source's position is being unpacked */
	size_t pending; /* bytes of the last record, to pass over */
	uint64_t following; /* bytes after it that are no record, to pass over */
	size_t pack_size;
	struct reader_record head; /* with several streams: its oldest unread record */
	uint64_t head_ns; /* time of the head; 0 if none */
	uint64_t *copy; /* STREAM_COPY_BYTES, for records that are not aligned; NULL until needed */
};

struct reader {
	struct stream *stream; /* the stream that is read now */
	struct stream **streams; /* streams with a head first, in a heap by time */
	size_t n_streams, n_heads;
	bool has_heads; /* the first heads were read */
	int error; /* first error that ended a stream early */
	struct attrs attrs;
	struct features features;
	struct reader_status status;
	struct reader_fault unlisted; /* used for faults beyond READER_FAULTS_MAX */
	unsigned int n_files; /* files of a directory, including missing ones; 0: none */
	struct reader_pieces {
		uint8_t *bytes;
		size_t len, room;
	} pieces; /* pieces of a simpleperf record of more than 64 KiB */
	bool swapped;
	int ended; /* result of reader_next() from now on; 1: not ended yet */
};

/* Notes that the current file lacks the bytes at offset.  Only the first such offset of a file
 * counts. */
void reader_cut(struct reader *reader, uint64_t offset);
/* Counts a fault of a file.  The caller fills it in. */
struct reader_fault *reader_add_fault(struct reader *reader, const char *file);

/* Passes over the last record.  Returns 1; 0 if the file ends before; -errno. */
int reader_pass_over(struct reader *reader);

/* Processes a record of the reader's own, of size bytes, its header in this machine's byte order.
 * Returns 1; 0 for any other record; -EBADMSG or -E2BIG if malformed; -ENOMEM, -errno. */
int reader_take_own(struct reader *reader, const struct perf_event_header *header, size_t size);

/* reader_next() for reader->stream alone. */
int reader_next_of_stream(struct reader *reader, struct reader_record *out);

/* --- reader_streams.c --- */

/* Adds the stream of a descriptor and makes it the current one.  Takes over fd, also on failure.
 * Returns 0, -ENOMEM or -errno. */
int reader_add_stream(struct reader *reader, int fd, size_t buffer_bytes);
void reader_close_streams(struct reader *reader);

/* Adds the files data.0, data.1 and so on of a directory.  Missing files and files that cannot be
 * opened become faults.  Returns 0, -ENOMEM, -EMFILE, -ENFILE, -E2BIG, or -errno of the
 * directory. */
int reader_add_directory(struct reader *reader, int dir_fd);

/* Notes that the directory should have at least n files.  Missing ones become faults. */
void reader_expect_files(struct reader *reader, unsigned int n);

/* reader_next() for all streams, by the time of their records.  Records without a time come
 * first. */
int reader_next_of_all(struct reader *reader, struct reader_record *out);

#endif
