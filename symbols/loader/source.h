/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - sources of symbols, facts of a recording, and results of a search.
 *
 * Plain data that the loader and the client (client/symbols.h) share.
 */
#ifndef SYMBOLS_LOADER_SOURCE_H
#define SYMBOLS_LOADER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_BUILD_ID_MAX 20

struct symbols_config {
	/* NULL: $XDG_CACHE_HOME/strobe or ~/.cache/strobe; "": no disk cache */
	const char *cache_dir;
	size_t cache_max_bytes; /* on disk; 0: 256 MiB */
	const char *kallsyms_path; /* NULL: /proc/kallsyms */
	unsigned int worker_memory_mb; /* RLIMIT_AS of a worker; 0: 4096 */
	/* Directories of separate debug files, NULL-terminated.  NULL: the build's,
	 * /usr/lib/debug */
	const char *const *debug_dirs;
	/* searched before those; NULL-terminated; NULL if none */
	const char *const *more_debug_dirs;

	/* The session is a recording: files are found by build-id and path, never in /proc/PID; see
	 * symbols_recorded(). */
	bool recording;
	/* root file system, or files by build-id; searched first; NULL if none */
	const char *symfs;
	/* unpacked archive of the same form; searched before symfs; NULL if none */
	const char *archive;
	const char *kernel_notes_path; /* NULL: /sys/kernel/notes */
	bool keep_files; /* for symbols_files(); only without a disk cache */
	/* threads already run: the spawner is executed, not forked, see symbols_main() */
	bool late;
	/* Tables' cache keys are build-ids alone, since files may be gone later; see
	 * symbols_put_kept(). */
	bool keep_for_recording;
	bool trust_local; /* for a recording from another machine: use unproven local files, too */
	/* symbols_fetch() every missing debug file, and every missing file of a recording */
	bool fetch;
	struct fetch *fetched; /* set by symbols.c */
};

#define SYMBOLS_OTHER_HOST 1u
#define SYMBOLS_OTHER_RELEASE 2u
#define SYMBOLS_OTHER_ARCH 4u

/* Functions of an image, as the recording itself has them.  Each line is "START SIZE NAME" with
 * hexadecimal numbers; START is an offset of the image. */
struct symbols_told {
	const char *path; /* the image's path; NULL: the kernel */
	const char *names;
	size_t len;
};

/* Facts in a recording.  If it is from another machine, files without a build-id are not searched
 * here. */
struct symbols_recorded {
	const char *release; /* the kernel's; NULL if unknown */
	/* SYMBOLS_OTHER_... flags: proof that it is from another machine; 0 if none */
	unsigned int elsewhere;
	int kept_fd; /* complete output of symbols_put_kept(); borrowed; 0 if none */
	bool monotonic; /* its samples use CLOCK_MONOTONIC, as jitdumps do */
	/* end of the recording, seconds since 1970; 0 if unknown; a file without a build-id that
	 * changed later is marked as unverified */
	int64_t end_s;
	const struct symbols_told *told; /* copied; the first list that is not empty stays */
	size_t n_told;
};

enum symbols_kind {
	SYMBOLS_FILE,
	SYMBOLS_KERNEL,
	SYMBOLS_VDSO,
	SYMBOLS_MODULE, /* recorded; offsets are from the start of its code */
	SYMBOLS_JIT, /* code of process pid without a file; offsets are addresses */
};

/* Possible places of an image's symbols.  Strings are copied. */
struct symbols_source {
	enum symbols_kind kind;
	const char *path; /* path in the mapping */
	int32_t pid; /* a process that maps it; 0 if none */
	int32_t parent; /* SYMBOLS_JIT: process whose memory it got by fork(2); 0 if none */
	/* the first process in this chain of forks, if it is another one; 0 otherwise */
	int32_t elder;
	const char *jitdump; /* SYMBOLS_JIT: the jit-PID.dump that the process maps; NULL if none */
	uint64_t map_start, map_end; /* recorded kernel: map_start is _text; 0: same as here */
	bool stext; /* map_start is _stext instead */
	uint32_t dev_major, dev_minor; /* with inode, identify the file; inode 0: unknown */
	uint64_t inode, inode_generation; /* generation 0: unknown */
	uint64_t file_size, file_mtime_ns; /* when it was mapped; mtime 0: unknown */
	bool elsewhere; /* its process was seen to have another root than this one */
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	uint8_t build_id_len; /* 0 if unknown */
	bool deleted; /* it had lost its path: only a build-id can identify a file there */
};

enum symbols_state {
	SYMBOLS_UNASKED,
	SYMBOLS_PENDING,
	SYMBOLS_READY,
	SYMBOLS_NONE, /* the file was read and has no symbols */
	SYMBOLS_UNREADABLE, /* cannot be opened, is no ELF file, or killed the worker twice */
};

/* Doubts about a recorded image's file. */
enum symbols_mark {
	SYMBOLS_MARK_NONE,
	SYMBOLS_MARK_OTHER, /* another file lies at its path: no names */
	SYMBOLS_MARK_UNVERIFIED, /* no build-id was recorded, and the file may be another one */
	SYMBOLS_MARK_UNPROVEN, /* unverified, and the recording is from another machine: no names */
};

/* Notable events, for the log. */
enum symbols_note_kind {
	/* path = file it was reading, value = status from waitpid(2); it is tried once more */
	SYMBOLS_NOTE_WORKER_DIED,
	SYMBOLS_NOTE_FILE_BANNED, /* path killed the worker twice or, error ETIME, took too long */
	/* path, error; value 1: the file of a running program was deleted */
	SYMBOLS_NOTE_UNREADABLE,
	SYMBOLS_NOTE_OTHERS_FUSE, /* path is in a FUSE mount that only user `value` may read */
	SYMBOLS_NOTE_KERNEL_HIDDEN, /* kallsyms shows no addresses (kptr_restrict) */
	SYMBOLS_NOTE_WRONG_FILE, /* path holds another file than was mapped; value 1: deleted */
	SYMBOLS_NOTE_UNCONFINED, /* the worker is not fully confined; error */
	/* no worker can be started; error, 0: it was killed; noted once for each error */
	SYMBOLS_NOTE_NO_WORKER,
	/* a recorded kernel is not this one, and its symbols were not found */
	SYMBOLS_NOTE_NO_KERNEL,
	/* path was recorded without a build-id; value 1: it changed since, 2: it is from another
	 * machine, 3: it names code made at run time, 0: the kernel */
	SYMBOLS_NOTE_UNVERIFIED,
	/* path belongs to a user other than the process's, root or this one: not used; value 1: a
	 * recording does not tell the process's user */
	SYMBOLS_NOTE_JIT_OWNER,
	SYMBOLS_NOTE_JIT_GONE, /* path, a recorded jitdump, cannot be opened; error */
	SYMBOLS_NOTE_JIT_LEFT, /* path is older than the process: not used */
	/* path, a debug file named by .gnu_debuglink, has another CRC-32; error EFBIG: it is too
	 * large to compute that; error ETIMEDOUT: reads of it hang */
	SYMBOLS_NOTE_OTHER_DEBUG,
	/* path, a file with debug information of several programs (dwz), is not used; error ESTALE:
	 * it has another build-id than they name; ENOEXEC: it is no ELF file, or another user's;
	 * otherwise from opening it */
	SYMBOLS_NOTE_NO_COMMON,
	/* path killed the worker twice or, error ETIME, kept it too long; value 1: its debug
	 * information did, 0: its code */
	SYMBOLS_NOTE_CODE_BANNED,
	SYMBOLS_NOTE_FETCHED, /* a debuginfod server sent path's debug file; value 1: path itself */
	/* no server sent it; error (ENOENT: none has it, ECANCELED, ENOPKG: no libdebuginfod) */
	SYMBOLS_NOTE_NOT_FETCHED,
	/* images without a build-id are not searched, since the recording is from another machine;
	 * value: SYMBOLS_OTHER_... flags; noted once */
	SYMBOLS_NOTE_ELSEWHERE,
	SYMBOLS_NOTE_JIT_CUT, /* path is too large; value: MiB that were read */
	/* names or callers were dropped because memory ran out; noted once */
	SYMBOLS_NOTE_NO_MEMORY,
	/* memory without a file counts as code of path because of its place alone */
	SYMBOLS_NOTE_MOVED,
	/* no source lines: memory, threads or descriptors ran out, or EIO; error; noted once */
	SYMBOLS_NOTE_NO_LINES,
	/* path is a mangled name that killed the worker, and stays mangled; value: status */
	SYMBOLS_NOTE_NAME_LEFT,
};
struct symbols_note {
	enum symbols_note_kind kind;
	int error; /* positive errno */
	int value;
	char path[256]; /* raw bytes */
};

/* Memory without a file that may be a copy of a file's code; see client/moved.h. */
#define SYMBOLS_PIECE_SAMPLES 32

struct symbols_piece {
	int32_t pid; /* process that has the memory; 0 if recorded */
	uint64_t start, end;
	struct {
		uint64_t address, offset;
		bool known;
	} near[2]; /* mappings of the file before and after the piece; at least one is known */
	bool is_exact; /* the piece fills the gap between them */
	uint64_t samples[SYMBOLS_PIECE_SAMPLES]; /* addresses that were executed */
	size_t n_samples;
};

enum symbols_moved {
	SYMBOLS_MOVED_UNASKED,
	SYMBOLS_MOVED_PENDING,
	SYMBOLS_MOVED_OTHER, /* other code, or unknown */
	SYMBOLS_MOVED_SAME, /* the file's code: its pages were compared */
	SYMBOLS_MOVED_PLACE, /* the file's code, judged by its place alone; a note is added */
};

/* Copies a source with its strings; the caller releases it with source_drop().  Returns 0 or
 * -ENOMEM. */
int source_copy(struct symbols_source *out, const struct symbols_source *source);
void source_drop(struct symbols_source *source);

#endif
