/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.h - decodes one record of a perf_event ring (perf_event_open(2), "MMAP layout").
 *
 * Decoding is a pure function on bytes.  It allocates and keeps nothing, and reads nothing outside
 * [header, header + header->size).  Pointers in the result point into the record.  Any thread.
 */
#ifndef SAMPLER_KERNEL_RECORD_H
#define SAMPLER_KERNEL_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define RECORD_BUILD_ID_MAX 20

/* Since Linux 6.19; unknown to older headers.  A sample's chain ends with the marker and a cookie;
 * a record with this cookie has the user part. */
#define RECORD_CALLCHAIN_DEFERRED 22u
#define RECORD_CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* The fields of the record's attribute that the decoder needs. */
struct record_format {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type; /* layout of PERF_SAMPLE_BRANCH_STACK */
	uint64_t regs_user, regs_intr; /* attr.sample_regs_user and _intr: one value per set bit */
	uint16_t max_stack; /* maximum frames of an unwound chain; 0: limited by space only */
	bool sample_id_all;
	bool no_user_chain; /* attr.exclude_callchain_user */
	/* The event did not ask for build-ids.  Linux 6.18 sets PERF_RECORD_MISC_MMAP_BUILD_ID in
	 * the records of all events if another profiler asked; see record_has_build_id(). */
	bool no_build_ids;
};

/* Returns whether a MMAP2 record has a build-id at `at`, instead of device and inode.  If the event
 * did not ask, only a length of exactly 20 bytes is a build-id (perf inject writes those): no
 * device has major number 20. */
bool record_has_build_id(uint16_t misc, const uint8_t *at, bool no_build_ids);

/* The fields common to samples and to sample_id trailers; absent ones are 0. */
struct record_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t id; /* PERF_SAMPLE_IDENTIFIER or PERF_SAMPLE_ID */
	uint64_t stream_id;
	uint32_t cpu;
};

/* Counters as read(2) returns them; read them with record_counter(). */
struct record_read {
	uint64_t enabled_ns, running_ns; /* 0 if not requested */
	uint64_t n;
	const uint64_t *values, *rest;
	uint8_t words_each;
	bool has_id, has_lost;
};

struct record_counter {
	uint64_t value, id, lost;
};

struct record_regs {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_*; NONE: no values */
	const uint64_t *values; /* one for each bit of the format's mask, lowest first */
};

/* Fields that samples carry only on request; 0 or NULL if absent. */
struct record_more {
	struct record_read read;
	const struct perf_branch_entry *branches; /* newest first */
	uint64_t n_branches;
	uint64_t branch_index; /* PERF_SAMPLE_BRANCH_HW_INDEX; all ones if none */
	const uint64_t *branch_counters; /* one per branch, or NULL */
	struct record_regs regs_user, regs_intr;
	const void *stack; /* user stack, from the stack pointer on */
	uint64_t stack_len;
	bool stack_ends; /* no memory behind the copy could be read: a larger one has no more */
	uint64_t weight; /* first part of WEIGHT_STRUCT, with the others in weight_2 and weight_3 */
	uint16_t weight_2, weight_3;
	uint64_t data_src; /* union perf_mem_data_src */
	uint64_t transaction, phys_addr, cgroup, data_page_size, code_page_size;
	const void *aux;
	uint64_t aux_len;
};

struct record_sample {
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	const uint64_t *chain; /* or NULL; leaf first, with PERF_CONTEXT_* markers; aligned */
	uint64_t chain_len;
	const void *raw;
	uint32_t raw_len;
	bool has_more; /* false: `more` is not set at all; live sampling does not need it */
	struct record_more more;
};

struct record_mmap { /* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t dev_major, dev_minor; /* MMAP2 without build-id */
	uint64_t inode, inode_generation;
	/* Not in the record: set if the file was looked at; otherwise 0. */
	uint64_t file_size, file_mtime_ns;
	uint8_t build_id[RECORD_BUILD_ID_MAX]; /* MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID */
	uint8_t build_id_len; /* 0 if not given */
	uint32_t prot, flags; /* MMAP2 only */
	bool has_inode;
	bool executable; /* MMAP: not PERF_RECORD_MISC_MMAP_DATA; MMAP2: PROT_EXEC */
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

struct record_lost { /* LOST, and LOST_SAMPLES with the trailer's id */
	uint64_t id, lost;
};

struct record_throttle { /* THROTTLE and UNTHROTTLE */
	uint64_t time_ns, id, stream_id;
};

struct record_read_event { /* READ: counts of an inherited counter when its task ended */
	uint32_t pid, tid;
	struct record_read read;
};

struct record_aux {
	uint64_t offset, len, flags; /* PERF_AUX_FLAG_* */
};

struct record_itrace { /* ITRACE_START */
	uint32_t pid, tid;
};

struct record_switch { /* SWITCH and SWITCH_CPU_WIDE */
	bool out; /* otherwise in */
	bool preempted; /* out although it could run on */
	bool has_other; /* CPU_WIDE: the task before (in) or after (out) follows */
	uint32_t other_pid, other_tid;
};

struct record_namespaces {
	uint32_t pid, tid;
	uint64_t n;
	const uint64_t *pairs; /* n pairs of device and inode, by the kernel's *_NS_INDEX */
};

struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t kind; /* PERF_RECORD_KSYMBOL_TYPE_* */
	bool unregistered;
	const char *name;
};

struct record_bpf { /* BPF_EVENT */
	uint16_t kind; /* PERF_BPF_EVENT_* */
	uint16_t flags;
	uint32_t id;
	uint8_t tag[8];
};

struct record_cgroup {
	uint64_t id;
	const char *path;
};

struct record_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	const uint8_t *bytes; /* the old bytes, then the new ones */
};

struct record_deferred { /* CALLCHAIN_DEFERRED, for the thread in the trailer */
	uint64_t cookie;
	const uint64_t *chain; /* like a sample's; user addresses if no marker comes first */
	uint64_t chain_len;
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
		struct record_read_event read;
		struct record_aux aux;
		struct record_itrace itrace;
		struct record_switch switched;
		struct record_namespaces namespaces;
		struct record_ksymbol ksymbol;
		struct record_bpf bpf;
		struct record_cgroup cgroup;
		struct record_text_poke text_poke;
		struct record_deferred deferred;
		uint64_t hw_id; /* AUX_OUTPUT_HW_ID */
	};
};

/* Decodes a whole record, 8-byte aligned.  Returns 0; -EBADMSG if its fields do not fit its size
 * (*out is then undefined); -ENOTSUP for a type not decoded here.  With -ENOTSUP, type, misc and
 * the id trailer are set. */
int record_decode(struct record *out, const struct perf_event_header *header,
	const struct record_format *format);

/* Reads counter i < read->n. */
void record_counter(const struct record_read *read, uint64_t i, struct record_counter *out);

/* Whether ip is the address of the instruction that caused the sample, without skid. */
static inline bool record_is_exact(const struct record *record)
{
	return record->misc & PERF_RECORD_MISC_EXACT_IP;
}

/* Returns only the timestamp, for merging rings; 0 if the format has none or the record is bad. */
uint64_t record_time(const struct perf_event_header *header, const struct record_format *format);

#endif
