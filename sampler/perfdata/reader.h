/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - reads a perf.data file, pipe or directory: attributes, features and records.
 *
 * Records of a file or pipe come in file order.  The files of a directory (perf record --threads)
 * are merged by time.
 *
 * No byte of the input is trusted.  Files in the other byte order are swapped, compressed records
 * are unpacked, and a truncated file is read up to the cut.  The memory used is limited by the
 * largest record, the attributes, the features (each with its own limit) and the number of files.
 * It does not depend on the file length.
 *
 * One thread at a time; prints nothing.
 */
#ifndef SAMPLER_PERFDATA_READER_H
#define SAMPLER_PERFDATA_READER_H

#include "sampler/events/spec.h"
#include "sampler/kernel/record.h"
#include "sampler/perfdata/perfdata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One recorded event. */
struct reader_attr {
	struct perf_event_attr
		attr; /* in this machine's byte order; fields unknown to the file are 0 */
	struct record_format format; /* format of its records */
	uint64_t *ids;
	size_t n_ids;
	bool is_named; /* the recording named it */
	uint16_t group; /* equal for all events of a group, from 1 on; 0: none recorded */
	/* raw bytes: the recorded name, or one made from the attribute ("raw 0x1a8") */
	char name[EVENT_NAME_MAX];
};

struct reader_build_id {
	char *path;
	int32_t pid; /* -1: the machine */
	uint16_t cpumode; /* PERF_RECORD_MISC_*: kernel, user */
	uint8_t build_id[RECORD_BUILD_ID_MAX];
	uint8_t build_id_len;
};

/* A PMU of the recorded machine, with its type in attributes. */
struct reader_pmu {
	uint32_t type;
	char *name;
};

enum reader_told_kind { /* numbers of simpleperf */
	READER_TOLD_KERNEL,
	READER_TOLD_MODULE,
	READER_TOLD_ELF,
	READER_TOLD_DEX, /* interpreted code */
	READER_TOLD_MAP, /* code generated at run time */
	READER_TOLD_OTHER
};

#define READER_TOLD_PATH 4096

/* The functions of one file, as simpleperf keeps them in its recordings. */
struct reader_told {
	char *path; /* path of the image */
	enum reader_told_kind kind;
	/* old format: vaddr is the address of its mapping's start, offsets are addresses */
	bool from_start;
	uint64_t vaddr;
	char *names; /* lines "START SIZE NAME", numbers in hexadecimal: offsets in the image */
	size_t len;
};

/* The recording's data about itself.  Strings are raw bytes or NULL. */
struct reader_info {
	char *recorder, *device; /* "simpleperf 1.0", and its device; NULL for perf or strobe */
	struct reader_told *told; /* sorted by path */
	size_t n_told;
	bool pipe, swapped, compressed;
	char *hostname, *release, *perf_version, *arch, *cpu_desc, *cpu_id;
	char **cmdline;
	size_t n_cmdline;
	uint32_t cpus_online, cpus_available;
	uint64_t total_mem_kb;
	uint64_t first_sample_ns, last_sample_ns; /* PERFDATA_SAMPLE_TIME; 0 if not recorded */
	bool has_clockid;
	uint64_t clockid; /* PERFDATA_CLOCKID: resolution in ns; see attr.clockid */
	struct reader_pmu *pmus;
	size_t n_pmus;
	struct reader_build_id *build_ids;
	size_t n_build_ids;
	void *tracing_data; /* formats of tracepoints, as stored by perf */
	size_t tracing_data_len;
	/* Copies of symbol data, made by strobe; symbols/ defines the bytes. */
	int kept_fd; /* a memory file; 0 if none */
};

#define READER_KEPT_MAX (256u << 20)

struct reader_record {
	/* whole, 8-byte aligned, this machine's byte order; valid until the next call */
	const struct perf_event_header *header;
	uint32_t attr; /* index for reader_attr(); for kernel records (type < 64), if known */
	bool has_attr; /* false: no attribute has its id */
	uint64_t offset; /* offset in the file; for an unpacked record, of its pack */
};

#define READER_FILE_MAX 16 /* "data.8191" with its NUL */
#define READER_FAULTS_MAX 8 /* faults kept in detail */

enum reader_fault_kind {
	READER_CUT, /* its end is missing */
	READER_UNREADABLE, /* from offset on; error of read(2), or EBADMSG if malformed */
	READER_MISSING /* error of open(2); 0: does not exist or is no regular file */
};

/* One fault of a file. */
struct reader_fault {
	enum reader_fault_kind kind;
	int error; /* positive errno, or 0 */
	uint64_t offset; /* start of the unreadable or invalid part */
	char file[READER_FILE_MAX]; /* name in a directory; "": the recording is one file */
};

struct reader_status {
	uint64_t bytes_read, bytes_total; /* total 0: not known (a pipe) */
	uint64_t counts[PERFDATA_RECORD_TYPES]; /* records by type, including unpacked ones */
	/* skipped records of unknown types; below PERFDATA_RECORD_TYPES also in counts */
	uint64_t unknown;
	uint64_t bad; /* skipped records with fields that do not fit their size */
	bool truncated; /* at least one end is missing */
	/* at most one per file; those beyond READER_FAULTS_MAX are only counted */
	uint64_t n_faults;
	struct reader_fault faults[READER_FAULTS_MAX];
	bool features_missing; /* the feature table is cut or unreadable (unfinished recording) */
	uint32_t features_bad; /* malformed sections, ignored */
};

struct reader;

/* Opens the recording that begins at fd's current offset.  Takes over fd, also on failure.  Input
 * that cannot seek and is no pipe recording is copied to a temporary file first.
 *
 * Returns 0; on an error *out is NULL: -ENODATA: empty; -EMEDIUMTYPE: compressed; -ENOEXEC: not a
 * perf.data file; -ENOTSUP: the format's first version; -EISDIR: a directory without a recording;
 * -ENOTDIR: one file of a directory's recording; -EBADMSG: contradictory header; -ENOMEM, -errno of
 * read(2). */
int reader_open(struct reader **out, int fd);
void reader_close(struct reader *reader); /* NULL is a no-op */

/* Whether the bytes begin like a perf.data file, in either byte order.  Distinguishes a file from a
 * command. */
bool reader_is_magic(const void *bytes, size_t len);
/* Whether the bytes begin like a file of gzip, xz, bzip2 or zstd. */
bool reader_is_compressed(const void *bytes, size_t len);

/* Reads the next record into *out.  The reader itself processes attributes, features, packs and
 * build-ids.  It passes on all other records, including FINISHED_ROUND.  Returns 1; 0 at the end;
 * -EBADMSG if the rest is malformed (the status has the place); -ENOMEM, -errno of read(2).  Before
 * such an error, the other files of a directory are read to their ends. */
int reader_next(struct reader *reader, struct reader_record *out);

/* Returns the number of attributes, which grows while a pipe is read.  Entries keep their number;
 * pointers to them stay valid until the next reader_next(). */
size_t reader_attr_count(const struct reader *reader);
const struct reader_attr *reader_attr(const struct reader *reader, size_t i);

/* Returns the recording's data about itself.  It is complete after reader_open() for a file, and at
 * the end for a pipe. */
const struct reader_info *reader_info(const struct reader *reader);
void reader_status(const struct reader *reader, struct reader_status *out);

#endif
