/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbols.h - names for addresses: the client of the confined worker process.
 *
 * symbols_new() forks a spawner process, so it must run before the caller starts any thread.  If
 * the spawner is killed later, this program is executed again to replace it, see symbols_main().
 * The spawner forks workers on demand.  A worker receives open file descriptors over a socket and
 * answers with sorted symbol tables in sealed memfds.  It has no privileges and a seccomp filter.
 * No other process parses the ELF and DWARF of files.
 *
 * A loader thread in this process opens files below /proc/PID/root, in /proc/PID/map_files, or by
 * path.  It talks to the worker, keeps the disk cache, and publishes finished tables.  So neither a
 * slow disk nor a slow file stops the caller.
 *
 * All functions are for one thread, the caller's.  None of them blocks, except symbols_wait().
 */
#ifndef SYMBOLS_CLIENT_SYMBOLS_H
#define SYMBOLS_CLIENT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SYMBOLS_BUILD_ID_MAX 20

struct symbols;

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

/* Call first in main(), or a killed spawner is not replaced.  Becomes the spawner if this program
 * was executed to replace one, and then never returns. */
void symbols_main(int argc, char **argv);

/* Returns 0; -errno and *out = NULL. */
int symbols_new(struct symbols **out, const struct symbols_config *config);
void symbols_free(struct symbols *symbols); /* ends the worker; NULL is a no-op */

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

/* Adds facts of a recording, before the first request that depends on them.  Returns 0 or
 * -ENOMEM. */
int symbols_recorded(struct symbols *symbols, const struct symbols_recorded *recorded);

/* Requests the symbols of an image under the caller's key (any number, once each).  Live, a file
 * with several names (hard links) is read once for all of them.  A SYMBOLS_JIT image may be
 * requested again with a source that knows more.  Returns 0 or -ENOMEM. */
int symbols_request(struct symbols *symbols, uint32_t key, const struct symbols_source *source);

enum symbols_state {
	SYMBOLS_UNASKED,
	SYMBOLS_PENDING,
	SYMBOLS_READY,
	SYMBOLS_NONE, /* the file was read and has no symbols */
	SYMBOLS_UNREADABLE, /* cannot be opened, is no ELF file, or killed the worker twice */
};
enum symbols_state symbols_state(const struct symbols *symbols, uint32_t key);

/* Returns how often the image got a table (or none).  The running kernel and SYMBOLS_JIT are
 * read again, at most once a second.  This happens while symbols_find() is called for offsets
 * that they do not cover, or for any offset of SYMBOLS_JIT.  SYMBOLS_JIT is also read otherwise,
 * less often. */
uint32_t symbols_version(const struct symbols *symbols, uint32_t key);

/* Doubts about a recorded image's file. */
enum symbols_mark {
	SYMBOLS_MARK_NONE,
	SYMBOLS_MARK_OTHER, /* another file lies at its path: no names */
	SYMBOLS_MARK_UNVERIFIED, /* no build-id was recorded, and the file may be another one */
	SYMBOLS_MARK_UNPROVEN, /* unverified, and the recording is from another machine: no names */
};
enum symbols_mark symbols_mark(const struct symbols *symbols, uint32_t key);

/* With keep_files, returns the files that the table was made from, owned by symbols; -1 if none.
 * For the kernel, file is its list of symbols.  For SYMBOLS_JIT they are a map, a jitdump or
 * both. */
void symbols_files(const struct symbols *symbols, uint32_t key, int *file, int *debug);

/* Writes copies of the files that name these images' code to out.  For SYMBOLS_JIT: all that its
 * maps ever contained, and, with keep_for_recording, a jitdump that is not on this machine, as of
 * the last look.  Otherwise: tables of files that only their process sees.  *left_out: how many had
 * no room.  Returns 0 or -errno. */
int symbols_put_kept(
	const struct symbols *symbols, const uint32_t *keys, size_t n, FILE *out, size_t *left_out);

/* Returns the length of the image's build-id, its file's or the requested one; 0 if unknown. */
size_t symbols_build_id(
	const struct symbols *symbols, uint32_t key, uint8_t out[SYMBOLS_BUILD_ID_MAX]);

struct symbol {
	/* in the image's offsets: file offsets, kernel addresses, vdso offsets */
	uint64_t start, size;
	/* Raw bytes from the file, mangled; borrowed until symbols_free().  "" if the function's
	 * bounds are known, but not its name. */
	const char *name;
	const char *module; /* kernel module, without brackets; NULL if none */
	uint32_t index; /* unique within the image */
	bool uncertain; /* the file gives no size, and unnamed code may follow */
};

/* Finds the symbol that covers an offset.  Returns true and sets *out; false if there is no table
 * (yet) or nothing covers the offset. */
bool symbols_find(const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out);

/* Finds the code segment of the image's file that contains an offset; file offset `offset` has the
 * address vaddr.  Returns false if there is none, or if the file was not read (yet). */
struct symbols_segment {
	uint64_t offset, len, vaddr; /* validated: sums do not wrap */
};
bool symbols_segment(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbols_segment *out);

/* Counts the functions of an image with and without a name. */
void symbols_count(
	const struct symbols *symbols, uint32_t key, uint32_t *named, uint32_t *nameless);

/* Finds piece i, from 0 on, of SYMBOLS_JIT code that replaced other code; ascending, no
 * overlaps.  Names of code that lies there since since_ns are found at start.  The bits of start
 * above SYMBOLS_CHANGE_SHIFT count the pieces that lay there before.  Returns false after the
 * last piece. */
#define SYMBOLS_CHANGE_SHIFT 48u
struct symbols_change {
	uint64_t start;
	uint32_t size;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};
bool symbols_change(
	const struct symbols *symbols, uint32_t key, uint32_t i, struct symbols_change *out);

/* Returns the file with the names of SYMBOLS_JIT, as the process calls it: "/tmp/perf-4711.map" or
 * a jitdump; NULL if none.  Borrowed until symbols_collect(). */
const char *symbols_jit_file(const struct symbols *symbols, uint32_t key);

/* Returns the key of a ready image that is the same file under another name, or on another mount of
 * its layer.  Inode, build-id and table are the same.  Symbol indexes are the same in both.
 * Returns key if there is none. */
uint32_t symbols_twin(const struct symbols *symbols, uint32_t key);

/* Returns the demangled form of a raw name (C++, Rust, D); the name itself while it is pending or
 * if it is not mangled.  Borrowed until symbols_free(). */
const char *symbols_pretty(struct symbols *symbols, const char *name);

/* Asks the debuginfod servers of $DEBUGINFOD_URLS for the image's debug file, or for a recorded
 * file that is not here.  Once it has come, the symbols are read again, and the version grows.
 * Before this call nothing touches the network.  Returns 0; -EALREADY if it was asked for; -EINVAL:
 * no such image; -ENODATA: no build-id is known; -EDESTADDRREQ: no server is named; -ENOMEM;
 * -errno.  Notes report the result. */
int symbols_fetch(struct symbols *symbols, uint32_t key);

struct symbols_fetching {
	size_t waiting; /* number of files, including the current one */
	/* Image of the current file; NULL if none.  Borrowed until symbols_free(). */
	const char *path;
	uint64_t received, total; /* bytes of the current file; total 0: unknown */
};
void symbols_fetch_status(const struct symbols *symbols, struct symbols_fetching *out);
void symbols_fetch_cancel(struct symbols *symbols); /* also drops all that wait */

/* Returns an eventfd, readable when answers have come; symbols_collect() reads it. */
int symbols_fd(const struct symbols *symbols);

/* Takes in all answers.  Returns flags of what changed. */
#define SYMBOLS_CHANGED_TABLES 1u /* some image left SYMBOLS_PENDING, or got another table */
#define SYMBOLS_CHANGED_NAMES 2u /* some demangled name has come */
#define SYMBOLS_CHANGED_CODE 4u /* answers to code.h or texts.h have come */
#define SYMBOLS_CHANGED_DATA 8u /* answers to data.h or by_name.h have come */
unsigned int symbols_collect(struct symbols *symbols);

/* Collects until nothing is pending or the time is over.  Returns 0 or -ETIME.  For text
 * reports. */
int symbols_wait(struct symbols *symbols, unsigned int timeout_ms);

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
	/* path belongs to a user other than the process's, root or this one: not used */
	SYMBOLS_NOTE_JIT_OWNER,
	SYMBOLS_NOTE_JIT_LEFT, /* path is older than the process: not used */
	/* path, a debug file named by .gnu_debuglink, has another CRC-32; error EFBIG: it is too
	 * large to compute that; error ETIMEDOUT: reads of it hang */
	SYMBOLS_NOTE_OTHER_DEBUG,
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
	/* memory without a file counts as code of path because of its place alone (moved.h) */
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
/* Adds SYMBOLS_NOTE_NO_MEMORY, once: the caller lacks memory for a name or a callchain.  NULL is a
 * no-op.  Any thread. */
void symbols_lack_memory(struct symbols *symbols);
/* Takes the next note.  Returns false if there is none. */
bool symbols_take_note(struct symbols *symbols, struct symbols_note *out);

struct symbols_status {
	uint32_t images, pending, unreadable;
	size_t table_bytes; /* mapped */
	int worker_pid, spawner_pid; /* -1 if none */
	int code_worker_pid; /* worker of code.h */
};
void symbols_status(const struct symbols *symbols, struct symbols_status *out);

#endif
