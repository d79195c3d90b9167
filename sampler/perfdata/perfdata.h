/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfdata.h - the perf.data file format, as plain data.
 *
 * From the kernel's tools/perf/Documentation/perf.data-file-format.txt (Linux 6.8) and
 * include/uapi/linux/perf_event.h.
 *
 * A file has a struct perfdata_header; attributes, each with a section of its ids; the data section
 * of records; and one struct perfdata_section for each feature bit that is set.  These follow the
 * data directly, in bit order.  A pipe has a struct perfdata_pipe_header, then only records,
 * including attributes and features.  All integers have the byte order of the recording machine.
 */
#ifndef SAMPLER_PERFDATA_PERFDATA_H
#define SAMPLER_PERFDATA_PERFDATA_H

#include <linux/perf_event.h>
#include <stdint.h>

#define PERFDATA_MAGIC 0x32454c4946524550ull /* "PERFILE2" in little-endian memory */

#define PERFDATA_FEATURE_WORDS 4

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	uint64_t magic;
	uint64_t size; /* size of this header */
	uint64_t attr_size; /* size of an attribute with the section after it */
	struct perfdata_section attrs, data;
	/* Unused since Linux 3.12 and ignored by perf.  In strobe's recordings, the section of
	 * reader_info.kept_fd's bytes, which begin with PERFDATA_KEPT_MAGIC. */
	struct perfdata_section event_types;
	uint64_t features[PERFDATA_FEATURE_WORDS]; /* bit n of word n / 64 */
};

struct perfdata_pipe_header {
	uint64_t magic;
	uint64_t size; /* 16 */
};

enum perfdata_feature {
	PERFDATA_TRACING_DATA = 1,
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_OSRELEASE = 4,
	PERFDATA_VERSION = 5,
	PERFDATA_ARCH = 6,
	PERFDATA_NRCPUS = 7,
	PERFDATA_CPUDESC = 8,
	PERFDATA_CPUID = 9,
	PERFDATA_TOTAL_MEM = 10,
	PERFDATA_CMDLINE = 11,
	PERFDATA_EVENT_DESC = 12,
	PERFDATA_CPU_TOPOLOGY = 13,
	PERFDATA_NUMA_TOPOLOGY = 14,
	PERFDATA_BRANCH_STACK = 15,
	PERFDATA_PMU_MAPPINGS = 16,
	PERFDATA_GROUP_DESC = 17,
	PERFDATA_AUXTRACE = 18,
	PERFDATA_STAT = 19,
	PERFDATA_CACHE = 20,
	PERFDATA_SAMPLE_TIME = 21,
	PERFDATA_MEM_TOPOLOGY = 22,
	PERFDATA_CLOCKID = 23,
	PERFDATA_DIR_FORMAT = 24,
	PERFDATA_BPF_PROG_INFO = 25,
	PERFDATA_BPF_BTF = 26,
	PERFDATA_COMPRESSED = 27,
	PERFDATA_CPU_PMU_CAPS = 28,
	PERFDATA_CLOCK_DATA = 29,
	PERFDATA_HYBRID_TOPOLOGY = 30,
	PERFDATA_PMU_CAPS = 31,
	/* simpleperf only, see told.h */
	PERFDATA_SIMPLEPERF_FILE = 128,
	PERFDATA_SIMPLEPERF_META_INFO = 129,
	PERFDATA_SIMPLEPERF_FILE2 = 132,
	PERFDATA_FEATURES = 256
};

/* Record types that perf adds to the kernel's (which are below 64). */
enum perfdata_record {
	PERFDATA_RECORD_HEADER_ATTR = 64, /* struct perf_event_attr, then u64 ids */
	PERFDATA_RECORD_EVENT_TYPE = 65, /* in old files; ignored */
	PERFDATA_RECORD_TRACING_DATA =
		66, /* u32 size; that many bytes follow the record, padded to 8 */
	PERFDATA_RECORD_BUILD_ID = 67, /* struct perfdata_build_id without its header */
	PERFDATA_RECORD_FINISHED_ROUND =
		68, /* records older than the previous round may be flushed */
	PERFDATA_RECORD_ID_INDEX = 69,
	PERFDATA_RECORD_AUXTRACE_INFO = 70,
	PERFDATA_RECORD_AUXTRACE = 71, /* u64 size; that many bytes follow the record */
	PERFDATA_RECORD_AUXTRACE_ERROR = 72,
	PERFDATA_RECORD_THREAD_MAP = 73,
	PERFDATA_RECORD_CPU_MAP = 74, /* u16 PERFDATA_CPUS_*, then that layout */
	PERFDATA_RECORD_STAT_CONFIG = 75,
	PERFDATA_RECORD_STAT = 76,
	PERFDATA_RECORD_STAT_ROUND = 77,
	PERFDATA_RECORD_EVENT_UPDATE =
		78, /* u64 kind, u64 id, then data: unit, scale, name (2), cpus */
	PERFDATA_RECORD_TIME_CONV = 79,
	PERFDATA_RECORD_FEATURE = 80, /* u64 feature, then the contents of its section */
	PERFDATA_RECORD_COMPRESSED = 81, /* one piece of a zstd stream of records */
	PERFDATA_RECORD_FINISHED_INIT = 82, /* end of the records synthesized at the start */
	PERFDATA_RECORD_COMPRESSED2 =
		83, /* u64 size, then that many bytes of a zstd stream, padded */
	PERFDATA_RECORD_TYPES = 128 /* size of a table of record counts */
};

/* Record types that only simpleperf writes, see told.h. */
enum perfdata_simpleperf {
	PERFDATA_SIMPLEPERF_FIRST = 32768,
	PERFDATA_SIMPLEPERF_SPLIT = 32772, /* a piece of a record; the last one is SPLIT_END */
	PERFDATA_SIMPLEPERF_SPLIT_END = 32773,
	PERFDATA_SIMPLEPERF_EVENT_ID = 32774, /* u64 n, then n pairs of u64 attribute, u64 id */
	PERFDATA_SIMPLEPERF_TRACING_DATA = 32777, /* u32 size, then that many bytes */
	PERFDATA_SIMPLEPERF_LAST = 32778
};

/* Kinds of CPU_MAP. */
enum perfdata_cpus {
	PERFDATA_CPUS_LIST = 0, /* u16 n, u16 cpu[n] */
	PERFDATA_CPUS_MASK = 1, /* u16 n, u16 bytes of a word (4, or 8 and padded to 8), words[n] */
	PERFDATA_CPUS_RANGE = 2 /* u8 any, u8 pad, u16 first, u16 last */
};

#define PERFDATA_KEPT_MAGIC "strobe kept 1\n" /* without a NUL */

/* Kinds of EVENT_UPDATE.  perf skips unknown kinds.  So a pipe carries the bytes of
 * reader_info.kept_fd in records of such a kind, in order, each after a u64 with its length. */
#define PERFDATA_UPDATE_NAME 2u
#define PERFDATA_UPDATE_KEPT 0x7065656b65626f72u /* a number that perf will not use soon */

#define PERFDATA_BUILD_ID_HAS_SIZE (1u << 15) /* in misc: size is given; otherwise it is 20 */

/* An entry of PERFDATA_BUILD_ID.  The file name follows; header.size includes its padding. */
struct perfdata_build_id {
	struct perf_event_header header;
	int32_t pid; /* -1: the machine */
	uint8_t build_id[20];
	uint8_t size; /* valid with PERFDATA_BUILD_ID_HAS_SIZE */
	uint8_t reserved[3];
};

#endif
