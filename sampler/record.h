/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.h - decode one record of a perf_event ring (perf_event_open(2), "MMAP layout").
 *
 * Decoding is a pure function on bytes: it allocates nothing, keeps nothing, and reads nothing
 * outside [header, header + header->size).  Pointers in the result point into the record.
 * Any thread.
 */
#ifndef SAMPLER_RECORD_H
#define SAMPLER_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define RECORD_BUILD_ID_MAX 20

/* What the decoder must know of the attribute that produced the record. */
struct record_format {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type; /* lays out PERF_SAMPLE_BRANCH_STACK */
	uint64_t regs_user, regs_intr; /* attr.sample_regs_user and _intr: their bits are counted */
	bool sample_id_all;
};

/* The fields common to samples and to sample_id trailers; absent ones are 0. */
struct record_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t id; /* PERF_SAMPLE_IDENTIFIER or PERF_SAMPLE_ID */
	uint32_t cpu;
};

struct record_sample {
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	const uint64_t *chain; /* or NULL; leaf first, with PERF_CONTEXT_* markers; aligned */
	uint64_t chain_len;
	const void *raw;
	uint32_t raw_len;
};

struct record_mmap { /* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t dev_major, dev_minor; /* MMAP2 without build-id */
	uint64_t inode, inode_generation;
	uint8_t build_id[RECORD_BUILD_ID_MAX]; /* MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID */
	uint8_t build_id_len; /* 0: not given */
	uint32_t prot, flags; /* MMAP2 only */
	bool has_inode;
	bool executable; /* of MMAP: not PERF_RECORD_MISC_MMAP_DATA; of MMAP2: PROT_EXEC */
	const char *filename; /* terminated within the record */
};

struct record_comm {
	uint32_t pid, tid;
	bool exec;
	const char *comm;
};

struct record_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct record_lost { /* LOST; and LOST_SAMPLES, whose id is the trailer's */
	uint64_t id, lost;
};

struct record_throttle { /* THROTTLE and UNTHROTTLE */
	uint64_t time_ns, id, stream_id;
};

struct record {
	uint32_t type;
	uint16_t misc;
	struct record_id id;
	union {
		struct record_sample sample;
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_lost lost;
		struct record_throttle throttle;
	};
};

/* Decode a whole record, 8-byte aligned.  Returns 0; -EBADMSG where its fields do not fit its size
 * (*out is then undefined); -ENOTSUP for a type not decoded here (type, misc and the id trailer are
 * set). */
int record_decode(struct record *out, const struct perf_event_header *header,
	const struct record_format *format);

/* The timestamp alone, for merging rings; 0 where the format carries none or the record is bad. */
uint64_t record_time(const struct perf_event_header *header, const struct record_format *format);

#endif
