/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader_code_private.h - the second loader and its parts, for loader_code.c and load_code*.c
 * alone.
 *
 * All runs in its thread, but for loader_code.c's other functions.
 */
#ifndef SYMBOLS_LOADER_CODE_PRIVATE_H
#define SYMBOLS_LOADER_CODE_PRIVATE_H

#include "symbols/loader_code.h"
#include "symbols/loader_private.h"

#define LOADER_BANS 32
#define LOADER_KEPT 4

struct load_code_files {
	struct loader_file file, debug, alt; /* fd -1: none */
	struct loader_file parts[WIRE_FDS_MAX - 4];
	size_t n_parts;
	const char *path; /* for notes; and what .gnu_debuglink is relative to */
	const char *module; /* see finder_query */
	bool here; /* see opener_is_here(); in a recording: not of another machine */
	bool kernel; /* a vmlinux, */
	bool loaded; /* a module of the running kernel, */
	bool stext;
	/* whose _text (or _stext) is there, whose code begins (or .text is) there */
	uint64_t text;
	const struct loader_file
		*memory; /* the code's bytes as they are now; NULL: as in the file */
};

struct loader_code {
	/* What finds files and asks: with neither cache nor images nor names.  Its lock guards all. */
	struct loader loader;
	char *answer; /* WIRE_PACKET_BYTES */
	/* Files that killed the worker twice, the oldest forgotten first. */
	struct loader_ban {
		dev_t dev;
		ino_t inode;
		uint64_t size, mtime_ns;
		bool code; /* even without lines */
	} bans[LOADER_BANS];
	size_t n_bans;
	/* Files of the images asked about last that have lines, the newest first.  So the worker that
	 * has read them can go on, whoever's they are, and a process may end meanwhile. */
	struct {
		uint32_t key;
		struct load_code_files files;
	} kept[LOADER_KEPT];
	size_t n_kept;
	uint64_t kernel_text;
	bool kernel_text_known;

	/* Under the lock. */
	struct loader_job *codes, **codes_end, *lines, **lines_end, *done, **done_end;
	size_t n_waiting;
	struct loader_job *at_work;
	bool abandoned; /* what is at work */
	uint64_t since_ns;
};

/* --- load_code.c --- */

/* Answer a job whose code or lines are in a file.  0 or -errno: -ENODATA: no debug information;
 * -ENXIO: no code. */
int load_code(struct loader_code *code, struct loader_job *job);
void load_code_drop_kept(struct loader_code *code);
/* The same about a file that is open, with the debug files that may belong to it. */
int load_code_from(struct loader_code *code, struct loader_job *job, struct load_code_files *files);
/* No use in trying another way? */
bool load_code_is_final(int ret);

/* --- load_code_modules.c --- */

/* Answer a job about the running kernel's code, where it begins in a module.  0 or -errno: -ENOENT:
 * it does not, or the module's file is not here. */
int load_module_code(struct loader_code *code, struct loader_job *job);
/* Of a job about lines, answer what is in modules in jobs of their own, job->more, and leave the
 * rest.  1: there are modules; 0; -errno. */
int load_module_lines(struct loader_code *code, struct loader_job *job);

/* --- load_code_ask.c --- */

/* Ask about these files, and take the answer into job, after rounds for files that turn out to
 * be missing, which are added.  0; -ETIME: these took too long; -errno. */
int load_code_ask(struct loader_code *code, struct loader_job *job, struct load_code_files *files);
/* The same about bytes alone, of this machine, with the lines of a jitdump (-1: without); or, with
 * WIRE_FLAG_JITDUMP, about a jitdump. */
int load_code_ask_raw(
	struct loader_code *code, struct loader_job *job, int fd, int dump, uint32_t flags);
/* Returns the rights that source file names in a file have. */
struct symbols_rights load_code_rights(const struct loader_file *file, bool here);
void load_code_close(struct load_code_files *files);

/* --- load_code_memory.c --- */

/* Copy memory of the kernel or of process pid.  A memory file, or -errno. */
int load_code_kernel_bytes(uint64_t start, uint64_t end);
int load_code_process_bytes(int32_t pid, uint64_t start, uint64_t end);
/* The first bytes of the program that a process runs, where it is an ELF file of this byte order;
 * else out stays as it is. */
void load_code_process_header(int32_t pid, void *out, size_t len);
/* Where _text is in the running kernel; 0: not told. */
uint64_t load_code_kernel_text(const char *kallsyms_path);

#endif
