/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader_private.h - the loader and its parts, for loader.c, load_*.c alone.
 *
 * All runs in the loader thread, but for loader.c's other functions; what those share is under the lock.
 */
#ifndef SYMBOLS_LOADER_PRIVATE_H
#define SYMBOLS_LOADER_PRIVATE_H

#include "symbols/asker.h"
#include "symbols/cache.h"
#include "symbols/fetch.h"
#include "symbols/finder.h"
#include "symbols/kept.h"
#include "symbols/loader.h"
#include "symbols/opener.h"
#include "symbols/thread.h"

#include <pthread.h>

#define LOADER_NOTES_MAX 256
#define LOADER_CRCS 16
#define LOADER_KALLSYMS "/proc/kallsyms"

/* Whose file it is, for choosing a worker: of root and this user; strings out of any; chosen by others; or
 * LOADER_USERS + uid. */
enum { LOADER_OURS, LOADER_NAMES, LOADER_FOREIGN, LOADER_USERS };

struct loader {
	struct thread thread;
	bool started;
	struct asker asker; /* the thread's, but for the pids */
	struct cache *cache;
	struct finder finder;
	struct fetch *fetched; /* borrowed; NULL: nothing ever is */
	bool fetch; /* what lacks a debug file is to be known */
	char *kallsyms_path, *kernel_notes_path;
	bool recording, keep_files, keep_for_recording, trust_local, told_elsewhere;
	unsigned int memory_mb; /* of a worker */
	uint64_t read_by_worker; /* whose files the worker has read: LOADER_OURS, or who else's */
	bool met_foreign; /* some file was not ours: names may be of one such */
	/* Copies of jitdumps for a recording that images have, the thread's. */
	struct loader_copy {
		uint32_t key;
		uint64_t bytes;
	} * copies;
	size_t n_copies;
	char *packet; /* WIRE_PACKET_BYTES */
	bool is_quiet; /* the thread's: others tell what is wrong with files */
	bool told_unconfined, told_no_worker;
	int64_t started_s; /* since 1970 */
	int no_worker_error; /* told last */
	int keep_fd; /* a table for the cache, once it has been published; -1: none */
	char keep_key[CACHE_KEY_MAX];
	int answers_fd, stop_fd;

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	bool stop;
	struct {
		char *release;
		unsigned int elsewhere;
		int64_t end_s;
		bool monotonic;
		int kept_fd; /* see kept.h; 0: none */
	} recorded;
	struct symbols_told *told; /* by path; NULL: nothing yet; see load_told.c */
	size_t n_told;
	struct loader_image *unwinds, **unwinds_end; /* of LOADER_UNWIND */
	struct loader_image *images, **images_end, *images_done, **images_done_end;
	struct loader_name *names, **names_end, *names_done, **names_done_end;
	struct symbols_note notes[LOADER_NOTES_MAX]; /* a ring: the oldest are dropped */
	size_t first_note, n_notes;
	/* Files whose CRC-32 is known, the oldest given up first. */
	struct {
		dev_t dev;
		ino_t inode;
		uint64_t size, mtime_ns;
		uint32_t crc;
		int error; /* of reading, negative; else 0 */
	} crcs[LOADER_CRCS];
	size_t n_crcs;
};

/* --- loader.c --- */

/* What both loaders have: all but asker, cache and thread.  answers_fd: to be signalled too; -1: none.  0 or -errno; for
 * loader_fini() in any case. */
int loader_init(struct loader *loader, const struct symbols_config *config, int answers_fd);
int loader_start(
	struct loader *loader, const char *name, void (*run)(void *), void *arg); /* 0 or -errno */
bool loader_stop(struct loader *loader); /* false: the thread hangs, and all it uses has to stay */
void loader_fini(struct loader *loader);

void loader_signal(struct loader *loader); /* answers have come */
void loader_add_note(
	struct loader *loader, enum symbols_note_kind kind, const char *path, int error, int value);
void loader_tell_no_worker(struct loader *loader); /* once for each reason */
void loader_tell_elsewhere(struct loader *loader); /* adds the note once */

/* --- load_ask.c --- */

/* What a file tells of its separate debug file. */
struct loader_link {
	char name[WIRE_LINK_MAX]; /* "": nothing */
	uint32_t crc;
};

struct loader_question {
	enum wire_type type;
	const char *path; /* for notes */
	const struct opener_file *file, *debug; /* debug may be NULL */
	bool foreign; /* see finder_place */
	const void *payload; /* of WIRE_KALLSYMS: a module's name, else all; of WIRE_JIT: steps */
	size_t len;
	uint32_t flags;
	uint64_t address;
	struct loader_link *link; /* set from the answer, where there is one; NULL: not wanted */
};

uint64_t load_owner(const struct opener_file *file); /* LOADER_OURS, or LOADER_USERS + uid */

struct load_payload { /* of an answer */
	char *bytes;
	size_t size, len;
};

/* Ask, once more where that killed the worker.  0 and *table (-1: none), which is the caller's; -EOWNERDEAD when it
 * killed it twice; what the answer's error says; -errno. */
int load_ask_twice(struct loader *loader, const struct asker_question *asked, const char *path,
	struct wire_message *answer, struct load_payload *payload, int *table);

/* Ask about a file; one that kills the worker is tried once more.  0 and *table (-1: none), which is the caller's;
 * or -errno: -EOWNERDEAD when it killed it twice. */
int load_ask(struct loader *loader, const struct loader_question *question,
	struct wire_message *answer, int *table);

/* Ask for the table of a file, and use it.  key: for the cache; NULL: not for that.  0 or -errno. */
int load_table(struct loader *loader, struct loader_image *image,
	const struct loader_question *question, const char *key, struct wire_message *answer);

/* The file's own build-id, and what it tells of its debug file (link may be NULL).  0 (*len may be) or -errno. */
int load_build_id(struct loader *loader, const struct loader_question *question,
	uint8_t out[WIRE_BUILD_ID_MAX], size_t *len, struct loader_link *link);

/* Use a table; fd stays the caller's.  0, -EBADMSG, -errno. */
int load_use_table(struct loader_image *image, int fd);
bool load_cached(struct loader *loader, struct loader_image *image, const char *key);
void load_tell_build_id(struct loader_image *image, const uint8_t *build_id, size_t len);

/* A worker that read other people's files may be theirs by now: what follows is read by a fresh one. */
void load_for(struct loader *loader, uint64_t whose);

/* --- load_file.c --- */

struct loader_file {
	struct opener_file file;
	bool foreign;
	bool told; /* its build-id is one that somebody trusted told: the recording, the kernel */
	bool linked; /* a debug file found by name, that has the CRC-32 it should have: for WIRE_FLAG_LINKED */
	struct loader_link link; /* once its build-id was asked for */
};

/* The table of an open file with its build-id (len 0: not known yet), with a separate debug file where it is
 * stripped and there is one, or out of the cache.  0 or -errno. */
int load_elf(struct loader *loader, struct loader_image *image, const struct loader_file *file,
	const uint8_t *build_id, size_t len);

/* The file that is mapped, with its build-id (len 0: none, or not want_build_id).  0; -ESTALE: only another is
 * there; -errno. */
int load_open(struct loader *loader, const struct symbols_source *source, bool want_build_id,
	struct loader_file *out, uint8_t build_id[WIRE_BUILD_ID_MAX], size_t *len);

/* load_debug_file() by a build-id alone, the first one. */
bool load_find_debug(struct loader *loader, const struct symbols_source *source,
	const uint8_t *build_id, size_t len, struct loader_file *out);

/* Takes the table of the known build-id from the cache; opens at most a debug file. */
bool load_known(struct loader *loader, struct loader_image *image);

int load_file(struct loader *loader, struct loader_image *image);
int load_vdso(struct loader *loader, struct loader_image *image);

/* --- load_debug.c --- */

/* Where the separate debug file of an image may lie.  Not to be copied once begun. */
struct load_debug_search {
	const struct symbols_source
		*source; /* its path and process; a recording's process is not looked at */
	const struct opener_file *file; /* not to be taken for its own debug file; NULL */
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t build_id_len; /* 0: not known */
	struct loader_link link;
	const char *module; /* see finder_query */
	/* The search's, begin with 0. */
	struct finder_query query;
	bool begun, over;
};

/* Open the next file that may be the debug file: those of the build-id, then those of the link's name that have its
 * CRC-32 (which may take long: all of it is read, but once), then what was fetched.  Whether it is one, only the worker sees.
 * True and *out, with a descriptor that is the caller's; false after the last.  Any thread of the loader's. */
bool load_debug_file(
	struct loader *loader, struct load_debug_search *search, struct loader_file *out);

/* Note a place that may have the file but cannot be opened now.  Adds no note if error means that
 * it is missing or forbidden. */
void load_tell_unopened(struct loader *loader, const struct finder_place *place, int error);

/* --- load_recorded.c --- */

/* Returns the query for the file of a source. */
struct finder_query load_query(enum finder_what what, const struct symbols_source *source);

/* Returns how the recording is known to come from elsewhere; 0: it may be from here.  If it is not,
 * files without a build-id are not used. */
unsigned int load_elsewhere(struct loader *loader);

/* kept_find() in what the recording has; others may have written it. */
int load_find_kept(struct loader *loader, const struct kept_file *wanted, struct kept_found *out);

int load_recorded_file(struct loader *loader, struct loader_image *image);
int load_recorded_vdso(struct loader *loader, struct loader_image *image);
/* Open the vdso that was recorded, this machine's or a copy, for close(2).  0 or -errno. */
int load_find_vdso(struct loader *loader, struct loader_image *image, struct loader_file *out);
int load_recorded_module(struct loader *loader, struct loader_image *image);

/* Opens the file with that build-id in the first place that has it.  Returns 0; -ESTALE: only
 * another file is at its path; -EREMOTE: it has no build-id and comes from elsewhere; -errno. */
int load_find(struct loader *loader, struct finder_query *query, struct loader_file *out);

/* --- load_told.c --- */

typedef int load_usual(struct loader *loader, struct loader_image *image);

/* usual(), or the names that the recording has of the image, where no file with its build-id is
 * here.  0 or -errno.
 * load_take_told() copies those names, with the lock held: 0 or -ENOMEM. */
int load_told(struct loader *loader, struct loader_image *image, load_usual *usual);
int load_take_told(struct loader *loader, const struct symbols_recorded *recorded);
void load_told_free(struct loader *loader);

/* --- load_map.c --- */

/* Take what an open map says now: the descriptor becomes that of a copy, which is the caller's, in
 * front of which stands what is in it no more; sets size, time and steps of image->jit.  before:
 * what was read last.  0 or -errno. */
int load_map(
	struct loader_image *image, const struct loader_jit_file *before, struct opener_file *map);
/* load_map() for a map that was removed: the copy has all that it told. */
int load_map_again(struct loader_image *image, struct opener_file *map);
/* Returns whether the last line of a map has no end. */
bool load_map_is_unfinished(const struct opener_file *map);
/* End it: the process will not.  The descriptor becomes that of a copy.  0 or -errno. */
int load_map_finish(struct opener_file *map);

/* --- load_jit.c --- */

int load_jit(struct loader *loader, struct loader_image *image);
int load_recorded_jit(struct loader *loader, struct loader_image *image);

/* WIRE_FLAG_TIMED where the times in jitdumps are those of the samples; else 0. */
uint32_t load_jit_timed(struct loader *loader);
/* Open the jitdump of a source of SYMBOLS_JIT, under the same conditions.  0 and a descriptor that is the caller's; -errno. */
int load_jitdump(
	struct loader *loader, const struct symbols_source *source, struct loader_file *out);

/* --- load_kernel.c --- */

/* -EAGAIN: not in the cache, and may_wait. */
int load_kernel(struct loader *loader, struct loader_image *image, bool may_wait);
int load_recorded_kernel(struct loader *loader, struct loader_image *image);

/* The build-id among notes as the kernel gives them out, which are no file of other people.  Its length, or 0. */
size_t load_notes(const char *path, uint8_t out[WIRE_BUILD_ID_MAX]);

/* The symbols of one module of the running kernel, where it has that build-id.  0, -ENOENT, -errno. */
int load_module_of_kernel(struct loader *loader, struct loader_image *image, const char *module);

/* --- load_named.c --- */

/* Data symbols of a file or the kernel; places of one name, with image->found.  0 or -errno. */
int load_data(struct loader *loader, struct loader_image *image);
int load_named(struct loader *loader, struct loader_image *image);

/* --- load_piece.c --- */

/* Sets image->moved and image->bias. */
void load_piece(struct loader *loader, struct loader_image *image);

/* The place of a piece in its file, by the file's segments: the first one from *next on.  bias is
 * added to an address and gives the file offset; start and end are of the code segment there.
 * False: it is nowhere. */
struct load_place {
	uint64_t bias, start, end;
};
bool load_place_piece(const struct symtab *table, const struct symbols_piece *piece, size_t *next,
	struct load_place *out);

/* --- load_unwind.c --- */

/* Sets image->state and image->unwind. */
void load_unwind(struct loader *loader, struct loader_image *image);

/* --- load_names.c --- */

/* Up to a packet of names off the queue, with the lock held; then their work, without. */
size_t load_take_names(struct loader *loader, struct loader_name **batch);
void load_names(struct loader *loader, struct loader_name **batch, size_t n);

#endif
