/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - read a perf.data file, pipe or directory: attributes, features and records.
 *
 * Records of a file or pipe come in file order.  The files of a directory (perf record --threads)
 * are merged by time.
 *
 * Every byte may be hostile.  Files of the other byte order are swapped, compressed records are
 * unpacked, and a truncated file is read up to the cut.  The largest record, the attributes, the
 * features (each with its own limit) and the number of files bound memory; file length never does.
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
	bool is_named; /* the recording named it */
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

enum reader_told_kind { /* as simpleperf numbers them */
	READER_TOLD_KERNEL,
	READER_TOLD_MODULE,
	READER_TOLD_ELF,
	READER_TOLD_DEX, /* code that is interpreted */
	READER_TOLD_MAP, /* of code made at run time */
	READER_TOLD_OTHER
};

#define READER_TOLD_PATH 4096

/* The functions of one file, as simpleperf keeps them in its recordings. */
struct reader_told {
	char *path; /* of the image */
	enum reader_told_kind kind;
	bool from_start; /* old: its mapping's start has the address vaddr, and offsets are addresses */
	uint64_t vaddr;
	char *names; /* lines "START SIZE NAME", numbers in hexadecimal: offsets of the image */
	size_t len;
};

/* What the recording says of itself.  Strings are raw bytes or NULL. */
struct reader_info {
	char *recorder, *device; /* "simpleperf 1.0", what it ran on; NULL: it was perf or strobe */
	struct reader_told *told; /* by path */
	size_t n_told;
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
	/* Copies of what names code, by strobe: the bytes are symbols/'s. */
	int kept_fd; /* in memory; 0: none */
};

#define READER_KEPT_MAX (256u << 20)

struct reader_record {
	const struct perf_event_header *
		header; /* whole, 8-byte aligned, this machine's order; valid until the next call */
	uint32_t attr; /* of reader_attr(); for kernel records (type < 64), when known */
	bool has_attr; /* false: its id belongs to no attribute */
	uint64_t offset; /* where in the file; of a compressed one, that of its pack */
};

#define READER_FILE_MAX 16 /* "data.8191" and its NUL */
#define READER_FAULTS_MAX 8 /* faults kept in detail */

enum reader_fault_kind {
	READER_CUT, /* its end is missing */
	READER_UNREADABLE, /* from offset on; error: of read(2), or EBADMSG: not understood */
	READER_MISSING /* error of open(2); 0: it does not exist or is no regular file */
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
	uint64_t counts[PERFDATA_RECORD_TYPES]; /* records by type, unpacked ones too */
	uint64_t
		unknown; /* of types not known here: skipped (those below PERFDATA_RECORD_TYPES are in counts too) */
	uint64_t bad; /* records whose fields do not fit their size: skipped */
	bool truncated; /* an end is missing */
	uint64_t n_faults; /* at most one a file; those beyond READER_FAULTS_MAX are only counted */
	struct reader_fault faults[READER_FAULTS_MAX];
	bool features_missing; /* their table is cut or unreadable (recording not finished) */
	uint32_t features_bad; /* sections that do not make sense: ignored */
};

struct reader;

/* Reads fd from its current offset; fd is taken, also on failure.  Input that cannot seek and is no
 * pipe recording is copied to a temporary file first.  Returns 0, or with *out NULL: -ENODATA: it
 * is empty; -EMEDIUMTYPE: it is compressed; -ENOEXEC: not a perf.data file; -ENOTSUP: the first
 * version's format; -EISDIR: a directory without a recording, or one file of such a recording;
 * -EBADMSG: its header contradicts itself; -ENOMEM, -errno of read(2). */
int reader_open(struct reader **out, int fd);
void reader_close(struct reader *reader); /* NULL is a no-op */

/* True where the bytes begin as a perf.data file does (either byte order); for telling a file from a command. */
bool reader_is_magic(const void *bytes, size_t len);
/* True if the bytes begin like a file of gzip, xz, bzip2 or zstd. */
bool reader_is_compressed(const void *bytes, size_t len);

/* Returns the next record in *out.  The reader itself takes attributes, features, packs and
 * build-ids in; it passes all others on, FINISHED_ROUND among them.  Returns 1; 0 at the end;
 * -EBADMSG if nothing further can be understood (the status gives the place); -ENOMEM, -errno of
 * read(2).  The other files of a directory are read to their ends before such an error. */
int reader_next(struct reader *reader, struct reader_record *out);

/* Grows while a pipe is read; entries keep their number, and their place until the next reader_next(). */
size_t reader_attr_count(const struct reader *reader);
const struct reader_attr *reader_attr(const struct reader *reader, size_t i);

/* Of a file complete after reader_open(); of a pipe at its end. */
const struct reader_info *reader_info(const struct reader *reader);
void reader_status(const struct reader *reader, struct reader_status *out);

#endif
