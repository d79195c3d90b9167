/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader_code.h - the second loader thread: source lines and instructions, with its own worker.
 *
 * It is created together with the first loader.  Its thread starts with the first job, then its
 * spawner, which is this program executed again.  The loader owns a job from its post until it is
 * collected or abandoned.
 */
#ifndef SYMBOLS_LOADER_LOADER_CODE_H
#define SYMBOLS_LOADER_LOADER_CODE_H

#include "symbols/loader/rights.h"
#include "symbols/loader/source.h"
#include "symbols/wire/codetab.h"
#include "symbols/worker/disasm.h"

#include <errno.h>

struct loader_job {
	struct loader_job *next;
	void *owner; /* for the poster */
	uint32_t key;
	struct symbols_source source; /* its path and jitdump are owned */
	uint64_t *offsets; /* asked for lines; NULL: instructions are wanted */
	size_t n_offsets, offsets_cap;
	uint64_t start, end; /* range of instructions asked for */
	enum disasm_syntax syntax;
	bool lines, quick; /* see struct symbols_code_question */
	int32_t pid; /* process whose memory has the code; 0: see source */
	/* How many more slices the work may take; other jobs run between slices.  0 if the user has
	 * nothing to look at until this job is done: then the job runs in one piece. */
	unsigned int slices;
	uint64_t since_ns; /* set by the loader: start of the work, ns of CLOCK_MONOTONIC */
	/* The answer: */
	int error; /* positive errno */
	int lines_error; /* why instructions have no lines: positive errno; 0 otherwise */
	struct codetab table;
	bool has_lines, partial;
	/* with has_lines: rights to the source files that are named */
	struct symbols_rights rights;
	struct loader_job *more; /* answers to parts of the question, collected with this one */
};

struct loader_code;

/* Returns whether a positive errno means short memory, threads or descriptors, or a failing disk.
 * Then a later try may succeed. */
static inline bool loader_code_is_want(int error)
{
	return error == ENOMEM || error == EAGAIN || error == EMFILE || error == ENFILE ||
		error == EIO;
}

/* Creates the second loader, before any thread starts.  answers_fd is duplicated, and written to
 * when answers have come.  Returns 0 or -errno. */
int loader_code_new(struct loader_code **out, const struct symbols_config *config, int answers_fd);
bool loader_code_free(struct loader_code *code); /* see loader_free() */

/* See symbols_recorded(). */
int loader_code_recorded(struct loader_code *code, const struct symbols_recorded *recorded);

/* Queues a job.  Returns 0; -errno and the caller still owns the job. */
int loader_code_post(struct loader_code *code, struct loader_job *job);

/* Adds offsets to jobs that wait for this image's lines.  Returns how many of the first were
 * added. */
size_t loader_code_append(
	struct loader_code *code, uint32_t key, const uint64_t *offsets, size_t n);

/* returns a list that the caller owns */
struct loader_job *loader_code_collect(struct loader_code *code);

/* Drops all jobs that wait, are at work or were not collected, and ends the worker. */
void loader_code_abandon(struct loader_code *code);

/* Returns how many jobs wait or are at work.  *since_ns: start of the one at work, ns of
 * CLOCK_MONOTONIC; 0 if none. */
size_t loader_code_waiting(struct loader_code *code, uint64_t *since_ns);

bool loader_code_take_note(struct loader_code *code, struct symbols_note *out);
int loader_code_worker_pid(struct loader_code *code); /* returns -1 if none */

void loader_job_free(struct loader_job *job); /* NULL is a no-op */

/* Limits in ms: CPU and wall time of one question, and total time of one answer; tests lower
 * them. */
extern unsigned int loader_code_cpu_ms, loader_code_wall_ms, loader_code_total_ms;
/* Path of kernel code, and the root above /proc, /sys and /lib/modules; tests replace them. */
extern const char *loader_kcore_path, *loader_modules_root;

#endif
