/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks.h - threads, processes and their address spaces, as records and /proc tell of them.
 *
 * Two things: live threads, changed by FORK, EXIT, COMM and MMAP records in order of time; and
 * task labels, immutable (pid, tid, comm, start) tuples with small ids that samples refer to.  A
 * thread that changes its name or executes another program gets a new label, so what was sampled before
 * keeps the old name.
 *
 * The sampling thread owns everything; another thread may read labels that it reached through a
 * snapshot of the store.
 */
#ifndef SAMPLER_TASKS_H
#define SAMPLER_TASKS_H

#include "sampler/images.h"
#include "sampler/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_COMM_MAX 64

struct task_label {
	int32_t pid, tid;
	char comm[TASK_COMM_MAX]; /* raw bytes: clean before showing */
	char process_comm[TASK_COMM_MAX]; /* of the thread group's leader when the label was made */
	uint64_t since_ns; /* first seen under this name */
	uint32_t refs; /* slices and the live thread; the sampling thread's alone */
	uint32_t generation; /* counts the reuses of this id */
};

/* The label of samples so old that the store no longer tells their tasks apart: pid and tid -1. */
#define TASK_LABEL_MERGED 0u

struct space; /* one address space, shared by the threads of a process */

struct tasks;

/* The file that a process executes. */
struct tasks_program {
	uint32_t dev_major, dev_minor;
	uint64_t inode, size, mtime_ns;
};

/* Reads /proc/PID/maps and comm of processes first met in a sample (system-wide profiles do not
 * scan all of /proc before the first one).  Tests pass their own. */
struct tasks_reader {
	/* Append the mappings of pid through tasks_add_mapping(); 0 or -errno. */
	int (*read_maps)(struct tasks *tasks, int32_t pid, void *ctx);
	/* Set pid (thread group of tid) and comm; 0 or -errno. */
	int (*read_task)(int32_t tid, int32_t *pid, char *comm, size_t comm_len, void *ctx);
	/* Size and time of change of the file that pid executes; 0 or -errno.  NULL: they are not known. */
	int (*read_program)(int32_t pid, struct tasks_program *out, void *ctx);
	/* The clock of the records' times, at which what was read is known to hold; NULL: CLOCK_MONOTONIC.
	 * Records from before it do not undo what was read. */
	uint64_t (*now_ns)(void *ctx);
	void *ctx;
	/* Records come from a file, of another time or machine: nobody is asked, what records tell is all there is.  A
	 * thread that none has named is called ":TID", as perf does, and one that ended keeps its
	 * name until a FORK tells of another one. */
	bool recorded;
};

/* A reader may be NULL: then nothing is known but what records tell. */
int tasks_new(struct tasks **out, struct images *images, const struct tasks_reader *reader);
void tasks_free(struct tasks *tasks);

/* Sees what is learned from anywhere but records: mappings and names, as they are taken in. */
struct tasks_observer {
	void (*mapping)(int32_t pid, const struct record_mmap *mmap, void *ctx);
	void (*comm)(int32_t pid, int32_t tid, const char *comm, void *ctx);
	void *ctx;
};
void tasks_observe(struct tasks *tasks, const struct tasks_observer *observer); /* copied */

/* Keep mappings of data too, from now on: for samples that tell addresses of data. */
void tasks_keep_data(struct tasks *tasks);
bool tasks_keeps_data(const struct tasks *tasks);

/* The image of the process that has mapped a jitdump last, once; 0: none has since. */
uint32_t tasks_take_dump_image(struct tasks *tasks);

/* The reader that asks /proc (or the folder that stands for it in a test); borrows proc_dir. */
void tasks_reader_proc(struct tasks_reader *reader, const char *proc_dir);

/* Parse one line of /proc/PID/maps, in place: out->filename points into it.  -EBADMSG. */
int tasks_parse_maps_line(char *line, struct record_mmap *out);

/* Apply a side-band record (MMAP, MMAP2, COMM, FORK, EXIT; others are ignored).  FORK of a process copies
 * the address space, exec clears it; a FORK that reuses a known tid starts afresh.  An EXIT keeps the
 * thread findable until tasks_expire().  Returns 0 or -ENOMEM. */
int tasks_apply(struct tasks *tasks, const struct record *record);

/* Load what /proc says of an attached process now, for all later records.  -ESRCH when it is gone. */
int tasks_load_process(struct tasks *tasks, int32_t pid);

/* Processes with unreadable mappings.  Their samples have no image until a retry succeeds.
 * ESRCH: it had ended before its mappings were known. */
struct tasks_unread {
	uint64_t processes; /* processes, not attempts */
	int32_t pid; /* the first of them */
	int error; /* its errno */
};
const struct tasks_unread *tasks_unread(const struct tasks *tasks);

/* One mapping; also for tasks_reader.read_maps.  text: where it lies, if it may be a piece of a
 * file's code that was moved; else NULL. */
struct space_text;
int tasks_add_mapping(struct tasks *tasks, int32_t pid, const struct record_mmap *mmap,
	const struct space_text *text);

/* What a piece of code is has been found out: all processes have it so from now on, and the
 * observer is told.  0 or -ENOMEM. */
struct code_move;
int tasks_move(struct tasks *tasks, const struct code_move *move);
/* The next one that a recording has told; false: nothing more. */
bool tasks_take_move(struct tasks *tasks, struct code_move *out);

/* A sample fell where its process has nothing mapped, as far as is known.  Processes may share
 * one address space (CLONE_VM without CLONE_THREAD), and a record of a mapping names only one of
 * them.  Live, the mappings are read again; of a recording, a process that was forked and has
 * executed nothing has what its parent has there, if that is a file. */
void tasks_find_code(struct tasks *tasks, int32_t pid, uint64_t address);

/* The current label of a thread, met for the first time if need be.  Returns 0 or -ENOMEM. */
int tasks_label(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *label);

/* The address space of a process; NULL when unknown (kernel threads have an empty one). */
struct space *tasks_space(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns);

/* Both of the above at once, for the path of a sample. */
int tasks_sample(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *label,
	struct space **space);
/* True: tasks_sample() will change nothing, and nothing it gave before becomes invalid. */
bool tasks_is_settled(const struct tasks *tasks, int32_t pid, int32_t tid);

/* A number that differs between address spaces and changes with every change of mappings; 0 for NULL. */
uint64_t space_generation(const struct space *space);

/* Image and offset of a user address; IMAGE_ID_UNKNOWN and the address itself where nothing is mapped. */
void space_resolve(const struct space *space, uint64_t address, uint32_t *image, uint64_t *offset);

/* The mapping an address falls into; false where there is none. */
bool space_origin(const struct space *space, uint64_t address, struct image_origin *origin);

const struct task_label *tasks_label_get(const struct tasks *tasks, uint32_t label);
void tasks_label_ref(struct tasks *tasks, uint32_t label);
void tasks_label_unref(struct tasks *tasks, uint32_t label);

/* Forget a thread now: no record will tell of its end, and no sample of it will come. */
void tasks_forget_thread(struct tasks *tasks, int32_t tid);

/* Forget threads that exited before time_ns, and labels nobody refers to. */
void tasks_expire(struct tasks *tasks, uint64_t time_ns);

uint32_t tasks_thread_count(const struct tasks *tasks); /* alive */
uint32_t tasks_label_count(const struct tasks *tasks); /* in use */

/* Bytes ever needed, with the images; and those of the labels in use. */
size_t tasks_memory(const struct tasks *tasks);
size_t tasks_memory_labels(const struct tasks *tasks);

#endif
