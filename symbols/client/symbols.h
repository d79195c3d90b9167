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

#include "symbols/loader/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct symbols;

/* Call first in main(), or a killed spawner is not replaced.  Becomes the spawner if this program
 * was executed to replace one, and then never returns. */
void symbols_main(int argc, char **argv);

/* Returns 0; -errno and *out = NULL. */
int symbols_new(struct symbols **out, const struct symbols_config *config);
void symbols_free(struct symbols *symbols); /* ends the worker; NULL is a no-op */

/* Adds facts of a recording, before the first request that depends on them.  Returns 0 or
 * -ENOMEM. */
int symbols_recorded(struct symbols *symbols, const struct symbols_recorded *recorded);

/* Requests the symbols of an image under the caller's key (any number, once each).  Live, a file
 * with several names (hard links) is read once for all of them.  A SYMBOLS_JIT image may be
 * requested again with a source that knows more.  Returns 0 or -ENOMEM. */
int symbols_request(struct symbols *symbols, uint32_t key, const struct symbols_source *source);

enum symbols_state symbols_state(const struct symbols *symbols, uint32_t key);

/* Returns how often the image got a table (or none).  The running kernel and SYMBOLS_JIT are
 * read again, at most once a second.  This happens while symbols_find() is called for offsets
 * that they do not cover, or for any offset of SYMBOLS_JIT.  SYMBOLS_JIT is also read otherwise,
 * less often. */
uint32_t symbols_version(const struct symbols *symbols, uint32_t key);

enum symbols_mark symbols_mark(const struct symbols *symbols, uint32_t key);

/* With keep_files, returns the files that the table was made from, owned by symbols; -1 if none.
 * For the kernel, file is its list of symbols.  For SYMBOLS_JIT they are a map, a jitdump or
 * both. */
void symbols_files(const struct symbols *symbols, uint32_t key, int *file, int *debug);

/* Writes copies of the files that name these images' code to out.  For SYMBOLS_JIT: all that its
 * maps ever contained, and, with keep_for_recording, a jitdump that is not on this machine, as of
 * the last look.  Otherwise: tables of files that are not at their paths.  *left_out: how many had
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
