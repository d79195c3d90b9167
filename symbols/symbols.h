/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbols.h - names for addresses: the client of the confined worker process.
 *
 * symbols_new() forks a spawner process, so it must run before the caller starts any thread.  (One that is
 * killed later is replaced by this program executed anew, see symbols_main().)  The spawner forks workers on
 * demand; a worker gets open file descriptors over a socket, has no privileges and
 * a seccomp filter, and is the only process that parses ELF (and, later, DWARF).  It answers with sorted symbol tables in sealed memfds.
 *
 * A loader thread in this process opens files (below /proc/PID/root, /proc/PID/map_files, or by
 * path), talks to the worker, keeps the disk cache, and publishes finished tables; so neither a slow disk nor
 * a slow file ever stops the caller.  All functions are for one thread, the caller's, and never block, but for
 * symbols_wait().
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SYMBOLS_BUILD_ID_MAX 20

struct symbols;

struct symbols_config {
	const char
		*cache_dir; /* NULL: $XDG_CACHE_HOME/strobe or ~/.cache/strobe; "": no disk cache */
	size_t cache_max_bytes; /* on disk; 0: 256 MiB */
	const char *kallsyms_path; /* NULL: /proc/kallsyms */
	unsigned int worker_memory_mb; /* RLIMIT_AS of a worker; 0: 4096 */
	/* Where separate debug files are looked for; ends with NULL.  NULL: that of the build, /usr/lib/debug */
	const char *const *debug_dirs;
	const char *const *more_debug_dirs; /* looked at before those; ends with NULL; NULL: none */

	/* What is profiled is a recording: files are looked for by build-id and path, never in /proc/PID; see
	 * symbols_recorded(). */
	bool recording;
	const char *symfs; /* a root file system, or files by build-id, looked at first; NULL */
	const char *archive; /* the same, before that: an archive that was unpacked; NULL */
	const char *kernel_notes_path; /* NULL: /sys/kernel/notes */
	bool keep_files; /* for symbols_files(); with no disk cache only */
	bool late; /* threads run already: what parses is not forked but executed, see symbols_main() */
	/* Key tables by build-id alone, since files may be gone later; and see symbols_put_kept(). */
	bool keep_for_recording;
	bool trust_local; /* for a recording from elsewhere: use unproven local files, too */
	bool fetch; /* symbols_fetch() whatever lacks a debug file, or, of a recording, is not here */
	struct fetch *fetched; /* symbols.c's own */
};

#define SYMBOLS_OTHER_HOST 1u
#define SYMBOLS_OTHER_RELEASE 2u
#define SYMBOLS_OTHER_ARCH 4u

/* Functions of an image as the recording itself has them: lines "START SIZE NAME", numbers in
 * hexadecimal, offsets of the image. */
struct symbols_told {
	const char *path; /* of the image; NULL: the kernel */
	const char *names;
	size_t len;
};

/* Facts in a recording.  If it is from elsewhere, files without a build-id are not searched
 * here. */
struct symbols_recorded {
	const char *release; /* of the kernel; NULL: not known */
	unsigned int
		elsewhere; /* SYMBOLS_OTHER_...: proof that it is from another machine; 0: none */
	int kept_fd; /* what symbols_put_kept() wrote, complete; 0: nothing; the caller's */
	bool monotonic; /* its times are those of CLOCK_MONOTONIC, as are those in jitdumps */
	int64_t end_s; /* since 1970: no file that was changed later is taken for the one without build-id that was
			* profiled; 0: not known */
	const struct symbols_told *told; /* copied; the first list that is not empty stays */
	size_t n_told;
};

/* The first thing in main(): where this program was executed to replace a spawner that was killed, this serves
 * and never returns.  Without it none is replaced. */
void symbols_main(int argc, char **argv);

/* Returns 0, or -errno and *out = NULL. */
int symbols_new(struct symbols **out, const struct symbols_config *config);
void symbols_free(struct symbols *symbols); /* ends the worker; NULL is a no-op */

enum symbols_kind {
	SYMBOLS_FILE,
	SYMBOLS_KERNEL,
	SYMBOLS_VDSO,
	SYMBOLS_MODULE, /* of a recording; offsets are from the start of its code */
	SYMBOLS_JIT, /* code that process pid made or got without a file; offsets are addresses */
};

/* Where an image's symbols can come from.  Strings are copied. */
struct symbols_source {
	enum symbols_kind kind;
	const char *path; /* as the mapping named it */
	int32_t pid; /* a process that maps it, or 0 */
	int32_t parent; /* of SYMBOLS_JIT: the process that it has its memory from by fork(2), or 0 */
	int32_t elder; /* the first one in the row of such processes, if that is another; or 0 */
	const char *jitdump; /* of SYMBOLS_JIT: the jit-PID.dump that it maps, or NULL */
	uint64_t map_start,
		map_end; /* of a recorded kernel: map_start is where _text was; 0: as it is here */
	bool stext; /* it is where _stext was */
	uint32_t dev_major,
		dev_minor; /* with inode, to recognise the right file; inode 0: unknown */
	uint64_t inode, inode_generation; /* generation 0: unknown */
	uint64_t file_size, file_mtime_ns; /* when it was mapped; mtime 0: not known */
	bool elsewhere; /* its process was seen to have another root than this one */
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	uint8_t build_id_len; /* 0: unknown */
	bool deleted; /* it had lost its path: a file there needs the build-id */
};

/* Of a recording, before the first request that it shall be heeded in.  0 or -ENOMEM. */
int symbols_recorded(struct symbols *symbols, const struct symbols_recorded *recorded);

/* Ask for the symbols of one image under the caller's key (any number, once each).  Live, a file
 * with several names (hard links) is read once for all of them.  Of SYMBOLS_JIT it may be told
 * again, when more is known.  0 or -ENOMEM. */
int symbols_request(struct symbols *symbols, uint32_t key, const struct symbols_source *source);

enum symbols_state {
	SYMBOLS_UNASKED,
	SYMBOLS_PENDING,
	SYMBOLS_READY,
	SYMBOLS_NONE, /* the file was read and has no symbols */
	SYMBOLS_UNREADABLE, /* could not be opened, is no ELF file, or killed the worker twice */
};
enum symbols_state symbols_state(const struct symbols *symbols, uint32_t key);

/* How often the image has got a table (or none).  Those of SYMBOLS_JIT and of the running kernel are looked at again, at most once
 * a second, while symbols_find() is asked for what they do not cover or, of SYMBOLS_JIT, for anything. */
uint32_t symbols_version(const struct symbols *symbols, uint32_t key);

/* What is to be known about a recorded image's file. */
enum symbols_mark {
	SYMBOLS_MARK_NONE,
	SYMBOLS_MARK_OTHER, /* what lies at its path is another file than was profiled: it gives no names */
	SYMBOLS_MARK_UNVERIFIED, /* no build-id was recorded, and the file may be another */
	SYMBOLS_MARK_UNPROVEN, /* unverified, and the recording is from elsewhere: no names */
};
enum symbols_mark symbols_mark(const struct symbols *symbols, uint32_t key);

/* With keep_files: what the table was made from; -1: none.  They stay symbols'.  For the kernel, file is its
 * list of symbols; of SYMBOLS_JIT they are a map and a jitdump, or one of them. */
void symbols_files(const struct symbols *symbols, uint32_t key, int *file, int *debug);

/* Write copies of what names these images' code to out: of SYMBOLS_JIT all that its maps have told,
 * and, with keep_for_recording, the jitdump as of the last look at it if it is not here; and tables
 * of files that lie where only their process sees them.  *left_out: how many had no room.  0 or
 * -errno. */
int symbols_put_kept(
	const struct symbols *symbols, const uint32_t *keys, size_t n, FILE *out, size_t *left_out);

/* The build-id that the image's file has, or that was asked for.  Its length, or 0. */
size_t symbols_build_id(
	const struct symbols *symbols, uint32_t key, uint8_t out[SYMBOLS_BUILD_ID_MAX]);

struct symbol {
	uint64_t start,
		size; /* in the image's offsets: file offsets, kernel addresses, vdso offsets */
	/* As in the file: mangled, raw bytes; borrowed until symbols_free().  "": a function whose
	 * bounds are known, not its name. */
	const char *name;
	const char *module; /* kernel module, without brackets; NULL: none */
	uint32_t index; /* distinct within the image */
	bool uncertain; /* the file has no size for it, and code that it does not name may follow */
};

/* The symbol that covers an offset.  True and *out set; false where the table is not there (yet) or
 * nothing covers it. */
bool symbols_find(const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out);

/* Finds the code segment of the image's file that contains an offset; its byte at `offset` has
 * address vaddr.  Returns false if none does, or the file was not read (yet). */
struct symbols_segment {
	uint64_t offset, len, vaddr; /* checked: sums do not wrap */
};
bool symbols_segment(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbols_segment *out);

/* How many functions of an image have names, and how many have none. */
void symbols_count(
	const struct symbols *symbols, uint32_t key, uint32_t *named, uint32_t *nameless);

/* Of SYMBOLS_JIT: code that took the place of other code, number i from 0 on, in ascending order
 * without overlaps.  The names of what lies at an address since then are found at start, which has
 * above SYMBOLS_CHANGE_SHIFT how many pieces of code lay there before.  False: there is none. */
#define SYMBOLS_CHANGE_SHIFT 48u
struct symbols_change {
	uint64_t start;
	uint32_t size;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};
bool symbols_change(
	const struct symbols *symbols, uint32_t key, uint32_t i, struct symbols_change *out);

/* Of SYMBOLS_JIT: what has the names, "/tmp/perf-4711.map" or a jitdump, as the process calls it; NULL where
 * nothing has.  Borrowed until symbols_collect(). */
const char *symbols_jit_file(const struct symbols *symbols, uint32_t key);

/* The key of an image that is the same file by another name, or on another mount of its layer
 * (by inode, build-id and table), so that index means the same symbols there; else key itself.
 * Of those that are ready. */
uint32_t symbols_twin(const struct symbols *symbols, uint32_t key);

/* The demangled form of a raw name (C++, Rust, D), or the name itself while it is being asked for and where it
 * is not mangled.  Borrowed until symbols_free(). */
const char *symbols_pretty(struct symbols *symbols, const char *name);

/* Ask the debuginfod servers of $DEBUGINFOD_URLS for the image's debug file (of a recording: for the file itself, where it is
 * not here).  When it has come, the image's symbols are read again: its version grows.  Nothing touches the network
 * before this is called.  0; -EALREADY: it was asked for; -EINVAL: no such image; -ENODATA: no build-id is known;
 * -EDESTADDRREQ: no server is named; -ENOMEM, -errno.  How it went, notes tell. */
int symbols_fetch(struct symbols *symbols, uint32_t key);

struct symbols_fetching {
	size_t waiting; /* files, with the one at work */
	/* Of an image whose file is at work; NULL: none.  Borrowed until symbols_free(). */
	const char *path;
	uint64_t received, total; /* bytes of it; total 0: not known */
};
void symbols_fetch_status(const struct symbols *symbols, struct symbols_fetching *out);
void symbols_fetch_cancel(struct symbols *symbols); /* all that waits, too */

/* Readable (eventfd, symbols_collect() reads it) when answers have come. */
int symbols_fd(const struct symbols *symbols);

/* Take in what has come.  Returns bit flags of what changed. */
#define SYMBOLS_CHANGED_TABLES 1u /* some image left SYMBOLS_PENDING */
#define SYMBOLS_CHANGED_NAMES 2u /* some pretty name is known now */
#define SYMBOLS_CHANGED_CODE 4u /* answers of code.h have come */
#define SYMBOLS_CHANGED_DATA 8u /* answers of data.h or by_name.h have come */
unsigned int symbols_collect(struct symbols *symbols);

/* Until nothing is pending or the time is over; collects.  0 or -ETIME. For text reports. */
int symbols_wait(struct symbols *symbols, unsigned int timeout_ms);

/* Notable events, for the log. */
enum symbols_note_kind {
	SYMBOLS_NOTE_WORKER_DIED, /* value = how it ended (waitpid status), path = what it was reading; it is tried once more */
	SYMBOLS_NOTE_FILE_BANNED, /* path killed the worker twice, or, error ETIME, took too long */
	SYMBOLS_NOTE_UNREADABLE, /* path, error; value 1: its running program's file was deleted */
	SYMBOLS_NOTE_OTHERS_FUSE, /* path is in a FUSE mount that only user `value` may read */
	SYMBOLS_NOTE_KERNEL_HIDDEN, /* kallsyms shows no addresses (kptr_restrict) */
	SYMBOLS_NOTE_WRONG_FILE, /* path holds another file than was mapped; value 1: deleted */
	SYMBOLS_NOTE_UNCONFINED, /* the worker could not be confined fully; error */
	SYMBOLS_NOTE_NO_WORKER, /* none can be started; error, or 0: it was killed.  Told once for each error */
	SYMBOLS_NOTE_NO_KERNEL, /* a recording's kernel is not this one, and its symbols are nowhere */
	SYMBOLS_NOTE_UNVERIFIED, /* path was recorded without build-id; value 1: has changed since, 2: on another machine, 3: it has
				  * the names of code made at run time */
	SYMBOLS_NOTE_JIT_OWNER, /* path belongs neither to the process's user nor to root: its names are not used */
	SYMBOLS_NOTE_JIT_LEFT, /* path is older than the process: its names are not used */
	SYMBOLS_NOTE_OTHER_DEBUG, /* the debug file at path, named by .gnu_debuglink, has not the CRC-32 named there; or, error EFBIG,
				   * is too large to be read for it; error ETIMEDOUT: reads of it never end */
	SYMBOLS_NOTE_CODE_BANNED, /* path killed the worker twice, or, error ETIME, kept it for too long; value 1: by its debug
				   * information, 0: before */
	SYMBOLS_NOTE_FETCHED, /* what path lacked has come from a debuginfod server; value 1: the file itself */
	SYMBOLS_NOTE_NOT_FETCHED, /* the same has not; error (ENOENT: no server has it, ECANCELED, ENOPKG: no libdebuginfod) */
	/* images without a build-id in a recording from elsewhere are not searched;
	 * value: SYMBOLS_OTHER_...; noted once */
	SYMBOLS_NOTE_ELSEWHERE,
	SYMBOLS_NOTE_JIT_CUT, /* path is too large; value: megabytes that were read */
	SYMBOLS_NOTE_NO_MEMORY, /* names or callers were given up for lack of memory; noted once */
	SYMBOLS_NOTE_MOVED, /* memory without a file is taken for code of path by its place alone (moved.h) */
	/* source lines: memory, threads or descriptors are short, or EIO; error; noted once */
	SYMBOLS_NOTE_NO_LINES,
	SYMBOLS_NOTE_NAME_LEFT, /* path is a mangled name that killed the worker, and stays so; value as above */
};
struct symbols_note {
	enum symbols_note_kind kind;
	int error; /* positive errno */
	int value;
	char path[256]; /* raw bytes */
};
/* The caller lacks memory for a name or a call chain: adds SYMBOLS_NOTE_NO_MEMORY, once.  NULL is a
 * no-op.  Any thread. */
void symbols_lack_memory(struct symbols *symbols);
/* The next note not yet taken; false when there is none. */
bool symbols_take_note(struct symbols *symbols, struct symbols_note *out);

struct symbols_status {
	uint32_t images, pending, unreadable;
	size_t table_bytes; /* mapped */
	int worker_pid, spawner_pid; /* -1: none now */
	int code_worker_pid; /* the one of code.h */
};
void symbols_status(const struct symbols *symbols, struct symbols_status *out);

#endif
