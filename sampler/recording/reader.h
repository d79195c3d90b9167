/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - read a perf.data file or pipe: its attributes, its features, and its records in file order.
 *
 * Every byte is taken for hostile.  Files of the other byte order are turned round, compressed records are
 * unpacked, and what is cut is read up to the cut.  Memory is bounded by the largest record, the
 * attributes and the features (each with its own limit), never by the length of the file.
 * One thread at a time; nothing is printed.
 */
#ifndef SAMPLER_RECORDING_READER_H
#define SAMPLER_RECORDING_READER_H

#include "sampler/event.h"
#include "sampler/record.h"
#include "sampler/recording/perfdata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One event as it was recorded. */
struct reader_attr {
	struct perf_event_attr
		attr; /* in this machine's order; fields the file did not know are 0 */
	struct record_format format; /* to decode its records with */
	uint64_t *ids;
	size_t n_ids;
	uint16_t group; /* the same for all of one, from 1 on; 0: none is told */
	char name
		[EVENT_NAME_MAX]; /* raw bytes: as recorded, else made from the attribute ("raw 0x1a8") */
};

struct reader_build_id {
	char *path;
	int32_t pid; /* -1: of the machine */
	uint16_t cpumode; /* PERF_RECORD_MISC_*: kernel, user */
	uint8_t build_id[RECORD_BUILD_ID_MAX];
	uint8_t build_id_len;
};

/* A PMU of the machine that was recorded: the type that attributes have of it. */
struct reader_pmu {
	uint32_t type;
	char *name;
};

/* What the recording says of itself.  Strings are raw bytes or NULL. */
struct reader_info {
	bool pipe, swapped, compressed;
	char *hostname, *release, *perf_version, *arch, *cpu_desc, *cpu_id;
	char **cmdline;
	size_t n_cmdline;
	uint32_t cpus_online, cpus_available;
	uint64_t total_mem_kb;
	uint64_t first_sample_ns, last_sample_ns; /* PERFDATA_SAMPLE_TIME; 0: not told */
	bool has_clockid;
	uint64_t clockid; /* PERFDATA_CLOCKID: its resolution in ns; see attr.clockid */
	struct reader_pmu *pmus;
	size_t n_pmus;
	struct reader_build_id *build_ids;
	size_t n_build_ids;
	void *tracing_data; /* of tracepoints: formats, as perf stores them */
	size_t tracing_data_len;
};

struct reader_record {
	const struct perf_event_header *
		header; /* whole, 8-byte aligned, this machine's order; valid until the next call */
	uint32_t attr; /* of reader_attr(); for kernel records (type < 64), when known */
	bool has_attr; /* false: its id belongs to no attribute */
	uint64_t offset; /* where in the file; of a compressed one, that of its pack */
};

struct reader_status {
	uint64_t bytes_read, bytes_total; /* total 0: not known (a pipe) */
	uint64_t counts[PERFDATA_RECORD_TYPES]; /* records by type, unpacked ones too */
	uint64_t
		unknown; /* of types not known here: skipped (those below PERFDATA_RECORD_TYPES are in counts too) */
	uint64_t bad; /* records whose fields do not fit their size: skipped */
	bool truncated; /* the end is missing */
	bool corrupt; /* reader_next() gave -EBADMSG */
	uint64_t truncated_at; /* offset of what could not be read whole, or was not understood */
	bool features_missing; /* their table is cut or unreadable (recording not finished) */
	uint32_t features_bad; /* sections that do not make sense: ignored */
};

struct reader;

/* fd: read from its current offset; taken, also on failure.  What cannot seek and is no pipe recording is copied to a temporary file first.
 * Returns 0; -ENOEXEC: not a perf.data file; -ENOTSUP: one of a kind not read (perf record --threads' directory,
 * the first version's format); -EBADMSG: its header contradicts itself; -ENOMEM, -errno of read(2).  *out is NULL then. */
int reader_open(struct reader **out, int fd);
void reader_close(struct reader *reader); /* NULL is a no-op */

/* True where the bytes begin as a perf.data file does (either byte order); for telling a file from a command. */
bool reader_is_magic(const void *bytes, size_t len);

/* The next record that is not the reader's own business (attributes, features, packs and build-ids are taken in
 * on the way; all others, FINISHED_ROUND among them, are passed on).  1 and *out; 0 at the end; -EBADMSG where nothing further can be understood (the
 * status tells where); -ENOMEM, -errno of read(2). */
int reader_next(struct reader *reader, struct reader_record *out);

/* Grows while a pipe is read; entries keep their number, and their place until the next reader_next(). */
size_t reader_attr_count(const struct reader *reader);
const struct reader_attr *reader_attr(const struct reader *reader, size_t i);

/* Of a file complete after reader_open(); of a pipe at its end. */
const struct reader_info *reader_info(const struct reader *reader);
void reader_status(const struct reader *reader, struct reader_status *out);

#endif
