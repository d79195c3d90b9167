/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader_code.h - the second loader thread: source lines and instructions, by a worker of its
 * own.
 *
 * Made with the first loader, it begins with the first job: thread, then a spawner that is this
 * program executed anew.  A job belongs to it from post until it is collected, or given up.
 */
#ifndef SYMBOLS_LOADER_CODE_H
#define SYMBOLS_LOADER_CODE_H

#include "symbols/codetab.h"
#include "symbols/disasm.h"
#include "symbols/rights.h"
#include "symbols/symbols.h"

#include <errno.h>

struct loader_job {
	struct loader_job *next;
	void *owner; /* the poster's */
	uint32_t key;
	struct symbols_source source; /* its path is this one's own */
	uint64_t *offsets; /* of lines; NULL: instructions are wanted */
	size_t n_offsets, offsets_cap;
	uint64_t start, end; /* of instructions */
	enum disasm_syntax syntax;
	bool lines, quick; /* as in symbols_code_question */
	int32_t pid; /* whose memory it is in; 0: in the source */
	/* In how many slices it may be worked on, between which others have their turn: nobody has
	 * nothing to look at until it is done. */
	unsigned int slices;
	uint64_t since_ns; /* the loader's own */
	/* The answer. */
	int error; /* positive errno */
	int lines_error; /* why instructions have no lines: positive errno, or 0 */
	struct codetab table;
	bool has_lines, partial;
	struct symbols_rights rights; /* with has_lines: rights of the source file names */
	struct loader_job
		*more; /* answers to a part of what was asked, taken along with this one */
};

struct loader_code;

/* Is this positive errno one of short memory, threads or descriptors, or of a disk that fails?  Then
 * a later try may have an answer. */
static inline bool loader_code_is_want(int error)
{
	return error == ENOMEM || error == EAGAIN || error == EMFILE || error == ENFILE ||
		error == EIO;
}

/* Before any thread.  answers_fd stays the caller's: it is written to when answers have come.  0
 * or -errno. */
int loader_code_new(struct loader_code **out, const struct symbols_config *config, int answers_fd);
bool loader_code_free(struct loader_code *code); /* as loader_free() */

/* See symbols_recorded(). */
int loader_code_recorded(struct loader_code *code, const struct symbols_recorded *recorded);

/* 0, or -errno, and the job is still the caller's. */
int loader_code_post(struct loader_code *code, struct loader_job *job);

/* Give offsets along with a job for this image's lines that waits.  How many of the first were. */
size_t loader_code_append(
	struct loader_code *code, uint32_t key, const uint64_t *offsets, size_t n);

struct loader_job *loader_code_collect(struct loader_code *code); /* a list, the caller's */

/* Give up all that waits, is at work or was not collected, and end the worker. */
void loader_code_abandon(struct loader_code *code);

/* Jobs that wait or are at work; since when the one at work is, CLOCK_MONOTONIC, 0: none. */
size_t loader_code_waiting(struct loader_code *code, uint64_t *since_ns);

bool loader_code_take_note(struct loader_code *code, struct symbols_note *out);
int loader_code_worker_pid(struct loader_code *code); /* -1: none now */

void loader_job_free(struct loader_job *job); /* NULL is a no-op */

/* How long one question may keep the worker busy, and all that one answer takes; tests make it short. */
extern unsigned int loader_code_cpu_ms, loader_code_wall_ms, loader_code_total_ms;
/* Where kernel code is read, and what /proc, /sys and /lib of its modules are below; tests give
 * others. */
extern const char *loader_kcore_path, *loader_modules_root;

#endif
