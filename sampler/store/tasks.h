/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks.h - threads, processes and their address spaces, from records and /proc.
 *
 * Live threads are changed by FORK, EXIT, COMM and MMAP records in time order.  Task labels are
 * immutable (pid, tid, comm, start) tuples with small ids that samples refer to; only their program
 * may become known later.  A thread that changes its name or executes another program gets a new
 * label, so older samples keep the old name.
 *
 * The sampling thread owns all data.  Another thread may read labels that it reaches through a
 * snapshot of the store.
 */
#ifndef SAMPLER_STORE_TASKS_H
#define SAMPLER_STORE_TASKS_H

#include "sampler/kernel/record.h"
#include "sampler/store/images.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_COMM_MAX 64

struct task_label {
	int32_t pid, tid;
	char comm[TASK_COMM_MAX]; /* raw bytes: clean before showing */
	/* comm of the thread group's leader when the label was made */
	char process_comm[TASK_COMM_MAX];
	atomic_uint program; /* see tasks_label_program() */
	uint64_t since_ns; /* first seen under this name */
	uint32_t refs; /* from slices and the live thread; only for the sampling thread */
	uint32_t generation; /* counts the reuses of this id */
};

/* The task of tid 0 in a pid namespace: all tasks outside of it, and the idle tasks. */
#define TASK_OUTSIDE "[outside]"

/* The label of samples so old that the store has dropped their tasks: pid and tid -1. */
#define TASK_LABEL_MERGED 0u

struct space; /* one address space, shared by the threads of a process */

struct tasks;

/* The file that a process executes. */
struct tasks_program {
	uint32_t dev_major, dev_minor;
	uint64_t inode, size, mtime_ns;
};

/* Reads /proc/PID/maps and comm of processes first met in a sample.  Profiles of the whole system
 * do not scan all of /proc before the first sample.  Tests pass their own functions. */
struct tasks_reader {
	/* Adds the mappings of pid by tasks_add_mapping().  Returns 0 or -errno. */
	int (*read_maps)(struct tasks *tasks, int32_t pid, void *ctx);
	/* Sets pid (thread group of tid) and comm.  Returns 0 or -errno. */
	int (*read_task)(int32_t tid, int32_t *pid, char *comm, size_t comm_len, void *ctx);
	/* Sets size and change time of the file that pid executes.  Returns 0 or -errno.  NULL: not
	 * known. */
	int (*read_program)(int32_t pid, struct tasks_program *out, void *ctx);
	/* Returns the time in ns, by the clock of the records, at which the data read is valid.
	 * Older records do not undo it.  NULL: CLOCK_MONOTONIC. */
	uint64_t (*now_ns)(void *ctx);
	void *ctx;
	/* Records come from a file, of another time or machine.  They are the only source; no
	 * function is called.  A thread without a name in any record is called ":TID", as in perf.
	 * One that ended keeps its name until the next FORK of its tid. */
	bool recorded;
};

/* reader may be NULL: then records are the only source.  Returns 0 or -ENOMEM. */
int tasks_new(struct tasks **out, struct images *images, const struct tasks_reader *reader);
void tasks_free(struct tasks *tasks);

/* Receives mappings and names from any source except records, when they are added. */
struct tasks_observer {
	void (*mapping)(int32_t pid, const struct record_mmap *mmap, void *ctx);
	void (*comm)(int32_t pid, int32_t tid, const char *comm, void *ctx);
	void *ctx;
};
void tasks_observe(struct tasks *tasks, const struct tasks_observer *observer); /* copied */

/* Keeps data mappings too, from now on: for samples with data addresses. */
void tasks_keep_data(struct tasks *tasks);
bool tasks_keeps_data(const struct tasks *tasks);

/* Returns the image of the process that mapped a jitdump last, and clears it; 0 if none since. */
uint32_t tasks_take_dump_image(struct tasks *tasks);

/* Sets up the reader of /proc (or of a directory that replaces it in a test).  Borrows proc_dir. */
void tasks_reader_proc(struct tasks_reader *reader, const char *proc_dir);

/* Parses one line of /proc/PID/maps, in place: out->filename points into it.  Returns 0 or
 * -EBADMSG. */
int tasks_parse_maps_line(char *line, struct record_mmap *out);

/* Records that tid 0 is that of all tasks outside the recorder's pid namespace.  From now on, its
 * labels are TASK_OUTSIDE, also for older samples.  tasks_apply() finds out itself if a record of
 * tid 0 cannot be the idle task's: an exec, a name other than "swapper", or a user mapping. */
void tasks_set_outside(struct tasks *tasks);
bool tasks_has_outside(const struct tasks *tasks);

/* Applies a side-band record (MMAP, MMAP2, COMM, FORK, EXIT; others are ignored).  FORK of a
 * process copies the address space, exec clears it.  A FORK that reuses a known tid replaces its
 * thread.  After EXIT, the thread can be found until tasks_expire().  Names, mappings and children
 * of tid 0 are of different tasks, and are not kept.  Returns 0 or -ENOMEM. */
int tasks_apply(struct tasks *tasks, const struct record *record);

/* Returns whether a record that is not applied yet changes what addresses of a process mean, or a
 * name: a name, an exec, or a mapping in place of another one. */
bool tasks_changes_meaning(const struct tasks *tasks, const struct record *record);

/* Loads the present data of an attached process from /proc, for all later records.  Returns 0,
 * -ESRCH if it is gone, or another -errno. */
int tasks_load_process(struct tasks *tasks, int32_t pid);

/* Processes with unreadable mappings.  Their samples have no image until a retry succeeds.  ESRCH:
 * the process ended before its mappings were known. */
struct tasks_unread {
	uint64_t processes; /* number of processes, not of attempts */
	int32_t pid; /* the first such process */
	int error; /* its errno */
};
const struct tasks_unread *tasks_unread(const struct tasks *tasks);

/* Adds one mapping; also for tasks_reader.read_maps.  text: its position, if it may be a piece of a
 * file's code that was moved; otherwise NULL.  Returns 0 or -ENOMEM. */
struct space_text;
int tasks_add_mapping(struct tasks *tasks, int32_t pid, const struct record_mmap *mmap,
	const struct space_text *text);

/* Gives a piece of code its identified image in all processes, from now on, and reports it to the
 * observer.  Returns 0 or -ENOMEM. */
struct code_move;
int tasks_move(struct tasks *tasks, const struct code_move *move);
/* Takes the next such move from a recording.  Returns false if there is none. */
bool tasks_take_move(struct tasks *tasks, struct code_move *out);

/* Called for a sample without a known mapping in its process.  Processes may share one address
 * space (CLONE_VM without CLONE_THREAD), and a record of a mapping names only one of them.  Live,
 * it reads the mappings again.  In a recording, a forked process without an exec gets its parent's
 * mappings, if the address is in a file. */
void tasks_find_code(struct tasks *tasks, int32_t pid, uint64_t address);

/* Returns the current label of a thread, which is added if it is new.  Returns 0 or -ENOMEM. */
int tasks_label(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *label);

/* Returns the address space of a process; NULL if unknown.  Kernel threads have an empty one. */
struct space *tasks_space(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns);

/* tasks_label() and tasks_space() in one call, for each sample. */
int tasks_sample(struct tasks *tasks, int32_t pid, int32_t tid, uint64_t time_ns, uint32_t *label,
	struct space **space);
/* Whether tasks_sample() will change nothing; then its earlier results stay valid. */
bool tasks_is_settled(const struct tasks *tasks, int32_t pid, int32_t tid);

/* Returns a number that differs between address spaces and changes with their mappings; 0 for
 * NULL. */
uint64_t space_generation(const struct space *space);

/* Resolves a user address to image and offset; to IMAGE_ID_UNKNOWN and the address itself if it is
 * not mapped. */
void space_resolve(const struct space *space, uint64_t address, uint32_t *image, uint64_t *offset);

/* Describes the mapping that contains an address.  Returns false if there is none. */
bool space_origin(const struct space *space, uint64_t address, struct image_origin *origin);

/* Any thread.  Never returns NULL.  After tasks_set_outside(), all labels of tid 0 are one. */
const struct task_label *tasks_label_get(const struct tasks *tasks, uint32_t label);
/* Returns the image of the program that the process executes, which stays for good;
 * IMAGE_ID_UNKNOWN if not known.  Any thread. */
static inline uint32_t tasks_label_program(const struct task_label *label)
{
	return atomic_load_explicit(&label->program, memory_order_acquire);
}
void tasks_label_ref(struct tasks *tasks, uint32_t label);
void tasks_label_unref(struct tasks *tasks, uint32_t label);

/* Forgets a thread now.  It will have no EXIT record and no more samples. */
void tasks_forget_thread(struct tasks *tasks, int32_t tid);

/* Forgets threads that exited before time_ns, with the labels that only they used. */
void tasks_expire(struct tasks *tasks, uint64_t time_ns);

uint32_t tasks_thread_count(const struct tasks *tasks); /* live threads */
uint32_t tasks_label_count(const struct tasks *tasks); /* labels in use */

/* Return the bytes ever allocated, including the images; and the bytes of the labels in use. */
size_t tasks_memory(const struct tasks *tasks);
size_t tasks_memory_labels(const struct tasks *tasks);

#endif
