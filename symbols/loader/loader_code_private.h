/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader_code_private.h - the second loader and its parts, for loader_code.c and load_code*.c
 * alone.
 *
 * All of it runs in the loader's thread, except other functions of loader_code.c.
 */
#ifndef SYMBOLS_LOADER_LOADER_CODE_PRIVATE_H
#define SYMBOLS_LOADER_LOADER_CODE_PRIVATE_H

#include "symbols/loader/loader_code.h"
#include "symbols/loader/loader_private.h"
#include "symbols/wire/strings.h"

#define LOADER_BANS 32
#define LOADER_KEPT 4

struct load_code_files {
	struct loader_file file, debug, alt; /* fd -1 if none */
	struct loader_file parts[WIRE_FDS_MAX - 4];
	size_t n_parts;
	const char *path; /* for notes; .gnu_debuglink is relative to it */
	const char *module; /* see struct finder_query */
	bool here; /* see opener_is_here(); recorded: not from another machine */
	bool kernel; /* the file is a vmlinux */
	bool loaded; /* the file is a module of the running kernel */
	bool stext; /* text is the address of _stext (kernel) or of .text (loaded) */
	uint64_t text; /* otherwise address of _text (kernel), or of the module's code */
	const struct loader_file *memory; /* the code's current bytes; NULL: the file's bytes */
};

struct loader_code {
	/* Finds files and asks the worker; has no cache, images or names.  Its lock guards all
	 * below. */
	struct loader loader;
	char *answer; /* WIRE_PACKET_BYTES */
	/* Files that killed the worker twice; the oldest is dropped first. */
	struct loader_ban {
		dev_t dev;
		ino_t inode;
		uint64_t size, mtime_ns;
		bool code; /* instructions are refused, even without lines */
	} bans[LOADER_BANS];
	size_t n_bans;
	/* Files with lines, of the images asked about last, newest first.  Whatever their
	 * owner, the worker that has read them can go on, even after their process has ended. */
	struct {
		uint32_t key;
		struct load_code_files files;
	} kept[LOADER_KEPT];
	size_t n_kept;
	struct strings told_alts; /* alternate files that were missing, each noted once */
	uint64_t kernel_text;
	bool kernel_text_known;

	/* Under loader.lock: */
	struct loader_job *codes, **codes_end, *lines, **lines_end, *done, **done_end;
	size_t n_waiting;
	struct loader_job *at_work;
	bool abandoned; /* at_work was abandoned */
	uint64_t since_ns; /* start of at_work, CLOCK_MONOTONIC */
};

/* --- load_code.c --- */

/* Answers a job from the file that has the code or lines.  Returns 0; -ENODATA if there is no debug
 * information; -ENXIO if there is no code; -errno. */
int load_code(struct loader_code *code, struct loader_job *job);
void load_code_drop_kept(struct loader_code *code);
/* Variant for an open file, with its candidate debug files. */
int load_code_from(struct loader_code *code, struct loader_job *job, struct load_code_files *files);
/* Returns whether the result makes other ways useless. */
bool load_code_is_final(int ret);

/* --- load_code_modules.c --- */

/* Answers a job about the running kernel's code that begins in a module.  Returns 0; -ENOENT if it
 * begins elsewhere, or if the module's file is not here; -errno. */
int load_module_code(struct loader_code *code, struct loader_job *job);
/* Answers the offsets in modules with jobs of their own, job->more, and leaves the other offsets.
 * Returns 1 if there are modules; 0; -errno. */
int load_module_lines(struct loader_code *code, struct loader_job *job);

/* --- load_code_ask.c --- */

/* Asks about these files and puts the answer into job.  Adds files that turn out to be missing, and
 * asks again.  Returns 0; -ETIME if these files took too long; -errno. */
int load_code_ask(struct loader_code *code, struct loader_job *job, struct load_code_files *files);
/* Variant for this machine's bytes alone, with the lines of a jitdump (dump -1: without).  With
 * WIRE_FLAG_JITDUMP, fd is a jitdump. */
int load_code_ask_raw(
	struct loader_code *code, struct loader_job *job, int fd, int dump, uint32_t flags);
/* Returns the rights that source file names in a file have. */
struct symbols_rights load_code_rights(const struct loader_file *file, bool here);
void load_code_close(struct load_code_files *files);

/* --- load_code_memory.c --- */

/* Copy memory of the kernel or of process pid.  Return a memory file's fd, which the caller closes,
 * or -errno. */
int load_code_kernel_bytes(uint64_t start, uint64_t end);
int load_code_process_bytes(int32_t pid, uint64_t start, uint64_t end);
/* Reads the first bytes of the program that a process runs into out.  Leaves out as it is unless
 * that is an ELF file of this byte order. */
void load_code_process_header(int32_t pid, void *out, size_t len);
/* Returns the address of _text in the running kernel; 0 if unknown. */
uint64_t load_code_kernel_text(const char *kallsyms_path);

#endif
