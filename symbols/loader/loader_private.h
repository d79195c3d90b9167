/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader_private.h - the loader and its parts, for loader.c and load_*.c alone.
 *
 * All of it runs in the loader thread, except other functions of loader.c.  Those share data under
 * the lock.
 */
#ifndef SYMBOLS_LOADER_LOADER_PRIVATE_H
#define SYMBOLS_LOADER_LOADER_PRIVATE_H

#include "symbols/base/thread.h"
#include "symbols/loader/asker.h"
#include "symbols/loader/cache.h"
#include "symbols/loader/fetch.h"
#include "symbols/loader/finder.h"
#include "symbols/loader/kept.h"
#include "symbols/loader/loader.h"
#include "symbols/loader/opener.h"

#include <pthread.h>

#define LOADER_NOTES_MAX 256
#define LOADER_CRCS 16
#define LOADER_KALLSYMS "/proc/kallsyms"

/* Owners of files, for choosing a worker: this user or root; names from any file; a file chosen by
 * others; or LOADER_USERS + uid. */
enum { LOADER_OURS, LOADER_NAMES, LOADER_FOREIGN, LOADER_USERS };

struct loader {
	struct thread thread;
	bool started;
	struct asker asker; /* the loader thread's, except the pids */
	struct cache *cache;
	struct finder finder;
	struct fetch *fetched; /* borrowed; NULL: nothing is fetched */
	bool fetch; /* find out which images lack a debug file */
	char *kallsyms_path, *kernel_notes_path;
	bool recording, keep_files, keep_for_recording, trust_local, told_elsewhere;
	unsigned int memory_mb; /* limit of a worker */
	uint64_t read_by_worker; /* owner of the files that the worker has read; LOADER_OURS, ... */
	bool met_foreign; /* some file was not ours: names may come from it */
	/* The loader thread's: jitdumps copied for a recording, by image. */
	struct loader_copy {
		uint32_t key;
		uint64_t bytes;
	} * copies;
	size_t n_copies;
	char *packet; /* WIRE_PACKET_BYTES */
	bool is_quiet; /* the loader thread's: another request adds the notes about files */
	bool tentative; /* the loader thread's: see struct loader_image */
	bool told_unconfined, told_no_worker;
	int64_t started_s; /* seconds since 1970 */
	int no_worker_error; /* in the last note */
	int keep_fd; /* table for the cache, stored after it is published; -1 if none */
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
		int kept_fd; /* see kept.h; 0 if none */
	} recorded;
	struct symbols_told *told; /* sorted by path; NULL if none yet; see load_told.c */
	size_t n_told;
	struct loader_image *unwinds, **unwinds_end; /* LOADER_UNWIND */
	struct loader_image *images, **images_end, *images_done, **images_done_end;
	struct loader_name *names, **names_end, *names_done, **names_done_end;
	struct symbols_note notes[LOADER_NOTES_MAX]; /* ring buffer; the oldest are dropped */
	size_t first_note, n_notes;
	/* Files whose CRC-32 is known; the oldest is dropped first. */
	struct {
		dev_t dev;
		ino_t inode;
		uint64_t size, mtime_ns;
		uint32_t crc;
		int error; /* -errno of reading the file, or 0 */
	} crcs[LOADER_CRCS];
	size_t n_crcs;
};

/* --- loader.c --- */

/* Initialises the parts that both loaders have: all but asker, cache and thread.  answers_fd is
 * duplicated, and signalled when answers have come; -1: a new eventfd.  Returns 0 or -errno; call
 * loader_fini() in any case. */
int loader_init(struct loader *loader, const struct symbols_config *config, int answers_fd);
int loader_start(
	struct loader *loader, const char *name, void (*run)(void *), void *arg); /* 0 or -errno */
/* returns false if the thread hangs: all it uses must stay */
bool loader_stop(struct loader *loader);
void loader_fini(struct loader *loader);

void loader_signal(struct loader *loader); /* signals that answers have come */
void loader_add_note(
	struct loader *loader, enum symbols_note_kind kind, const char *path, int error, int value);
void loader_tell_no_worker(struct loader *loader); /* adds the note once for each reason */
void loader_tell_elsewhere(struct loader *loader); /* adds the note once */

/* --- load_ask.c --- */

/* Name and CRC-32 of the separate debug file, from .gnu_debuglink. */
struct loader_link {
	char name[WIRE_LINK_MAX]; /* "" if none */
	uint32_t crc;
};

struct loader_question {
	enum wire_type type;
	const char *path; /* for notes */
	const struct opener_file *file, *debug; /* debug may be NULL */
	bool foreign; /* see struct finder_place */
	const void *payload; /* WIRE_KALLSYMS: a module's name, NULL for all; WIRE_JIT: steps */
	size_t len;
	uint32_t flags;
	uint64_t address;
	struct loader_link *link; /* set from the answer; NULL if not wanted */
};

/* returns LOADER_OURS, or LOADER_USERS + uid */
uint64_t load_owner(const struct opener_file *file);

struct load_payload { /* buffer for an answer's payload */
	char *bytes;
	size_t size, len;
};

/* Asks, and asks again if that killed the worker.  Returns 0 and *table, an fd that the caller
 * closes (-1 if none); -EOWNERDEAD if the worker was killed twice or took too long; the answer's
 * error; -errno. */
int load_ask_twice(struct loader *loader, const struct asker_question *asked, const char *path,
	struct wire_message *answer, struct load_payload *payload, int *table);

/* Asks about a file with load_ask_twice(), in a worker that may read its owner's files.  Adds a
 * note if that returns -EOWNERDEAD. */
int load_ask(struct loader *loader, const struct loader_question *question,
	struct wire_message *answer, int *table);

/* Asks for the table of a file and uses it.  key: for the cache; NULL if not cached.  Returns 0 or
 * -errno. */
int load_table(struct loader *loader, struct loader_image *image,
	const struct loader_question *question, const char *key, struct wire_message *answer);

/* Reads the file's own build-id and its link (NULL if not wanted).  Returns 0, with *len 0 if it
 * has none, or -errno. */
int load_build_id(struct loader *loader, const struct loader_question *question,
	uint8_t out[WIRE_BUILD_ID_MAX], size_t *len, struct loader_link *link);

/* Uses a table; the caller still owns fd.  Returns 0, -EBADMSG or -errno. */
int load_use_table(struct loader_image *image, int fd);
bool load_cached(struct loader *loader, struct loader_image *image, const char *key);
void load_tell_build_id(struct loader_image *image, const uint8_t *build_id, size_t len);

/* Prepares the worker for files of this owner (LOADER_...).  A worker that read files of others may
 * be under their control, so another owner's files get a fresh one. */
void load_for(struct loader *loader, uint64_t whose);

/* --- load_file.c --- */

struct loader_file {
	struct opener_file file;
	bool foreign;
	/* its table's cache key is the build-id alone: given by the kernel or the recording, or the
	 * file may be gone later */
	bool told;
	bool linked; /* a debug file found by its name, with the link's CRC-32: WIRE_FLAG_LINKED */
	struct loader_link link; /* set once the build-id was read */
};

/* Loads the table of an open file, with a separate debug file if it is stripped and one exists, or
 * from the cache.  len 0: build-id unknown.  Returns 0 or -errno. */
int load_elf(struct loader *loader, struct loader_image *image, const struct loader_file *file,
	const uint8_t *build_id, size_t len);

/* Opens the mapped file and returns its build-id; *len is 0 if it has none, or if only reading it
 * would show it and want_build_id is false.  Returns 0; -ESTALE if only another file is there;
 * -errno.  The caller closes out. */
int load_open(struct loader *loader, const struct symbols_source *source, bool want_build_id,
	struct loader_file *out, uint8_t build_id[WIRE_BUILD_ID_MAX], size_t *len);

/* Opens the first file that load_debug_file() finds by the build-id alone. */
bool load_find_debug(struct loader *loader, const struct symbols_source *source,
	const uint8_t *build_id, size_t len, struct loader_file *out);

/* Loads the table of the known build-id from the cache; opens at most a debug file. */
bool load_known(struct loader *loader, struct loader_image *image);

int load_file(struct loader *loader, struct loader_image *image);
int load_vdso(struct loader *loader, struct loader_image *image);

/* --- load_debug.c --- */

/* A search for the separate debug file of an image.  Do not copy it once begun. */
struct load_debug_search {
	const struct symbols_source *source; /* path and process; if recorded, path alone */
	const struct opener_file *file; /* never taken as its own debug file; may be NULL */
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t build_id_len; /* 0 if unknown */
	struct loader_link link;
	const char *module; /* see struct finder_query */
	/* Internal; begins with 0. */
	struct finder_query query;
	bool begun, over;
};

/* Opens the next candidate: by build-id, then by the link's name if the CRC-32 is right, then a
 * fetched file.  Only the worker finds out whether it is the debug file.  The CRC-32 takes long:
 * the whole file is read, once.  Returns true and *out, which the caller closes; false after the
 * last.  Any loader thread. */
bool load_debug_file(
	struct loader *loader, struct load_debug_search *search, struct loader_file *out);

/* Adds a note about a place that may have the file but cannot be opened now.  Adds none if error
 * says that the file is missing or access is denied. */
void load_tell_unopened(struct loader *loader, const struct finder_place *place, int error);

/* --- load_recorded.c --- */

/* Returns the query for the file of a source. */
struct finder_query load_query(enum finder_what what, const struct symbols_source *source);

/* Returns SYMBOLS_OTHER_... flags that prove a recording from elsewhere; 0 if it may be from here.
 * With flags, local files without a build-id are not used. */
unsigned int load_elsewhere(struct loader *loader);

/* Runs kept_find() on the recording's own files, which others may have written. */
int load_find_kept(struct loader *loader, const struct kept_file *wanted, struct kept_found *out);

int load_recorded_file(struct loader *loader, struct loader_image *image);
int load_recorded_vdso(struct loader *loader, struct loader_image *image);
/* Opens the recorded vdso, this machine's or a copy, which the caller closes.  Returns 0 or
 * -errno. */
int load_find_vdso(struct loader *loader, struct loader_image *image, struct loader_file *out);
int load_recorded_module(struct loader *loader, struct loader_image *image);

/* Opens the file with the query's build-id in the first place that has it.  Returns 0; -ESTALE if
 * only another file is at its path; -EREMOTE if it has no build-id and comes from elsewhere;
 * -errno. */
int load_find(struct loader *loader, struct finder_query *query, struct loader_file *out);

/* --- load_told.c --- */

typedef int load_usual(struct loader *loader, struct loader_image *image);

/* Runs usual().  If that finds no file with the build-id, loads the names that the recording itself
 * has of the image.  Returns 0 or -errno. */
int load_told(struct loader *loader, struct loader_image *image, load_usual *usual);
/* Copies those names out of the recording, with the lock held.  Returns 0 or -ENOMEM. */
int load_take_told(struct loader *loader, const struct symbols_recorded *recorded);
void load_told_free(struct loader *loader);

/* --- load_map.c --- */

/* Reads the current contents of an open map.  map->fd becomes that of a copy, which the caller
 * closes.  Known entries that are no longer in the map precede its text.  Sets size, times and
 * steps of image->jit.  before: identity at the last look.  Returns 0 or -errno. */
int load_map(
	struct loader_image *image, const struct loader_jit_file *before, struct opener_file *map);
/* Variant for a map that was removed: the copy has all that it ever contained. */
int load_map_again(struct loader_image *image, struct opener_file *map);
/* Returns whether the last line of a map has no newline. */
bool load_map_is_unfinished(const struct opener_file *map);
/* Adds that newline, which the process will not write.  map->fd becomes that of a copy.  Returns 0
 * or -errno. */
int load_map_finish(struct opener_file *map);

/* --- load_jit.c --- */

int load_jit(struct loader *loader, struct loader_image *image);
int load_recorded_jit(struct loader *loader, struct loader_image *image);

/* Returns WIRE_FLAG_TIMED if jitdumps use the clock of the samples, else 0. */
uint32_t load_jit_timed(struct loader *loader);
/* Opens the jitdump of a SYMBOLS_JIT source on the same conditions.  Returns 0 and out, which the
 * caller closes; -errno. */
int load_jitdump(
	struct loader *loader, const struct symbols_source *source, struct loader_file *out);

/* --- load_kernel.c --- */

/* Returns -EAGAIN if may_wait is set and the cache has no table. */
int load_kernel(struct loader *loader, struct loader_image *image, bool may_wait);
int load_recorded_kernel(struct loader *loader, struct loader_image *image);

/* Reads the build-id from the kernel's notes, a file that other users cannot write.  Returns its
 * length; 0 if none. */
size_t load_notes(const char *path, uint8_t out[WIRE_BUILD_ID_MAX]);

/* Loads the symbols of one module of the running kernel if the build-id is the same.  Returns 0,
 * -ENOENT or -errno. */
int load_module_of_kernel(struct loader *loader, struct loader_image *image, const char *module);

/* --- load_named.c --- */

/* Load data symbols of a file or the kernel, or the places of one name into image->found.  Return 0
 * or -errno. */
int load_data(struct loader *loader, struct loader_image *image);
int load_named(struct loader *loader, struct loader_image *image);

/* --- load_piece.c --- */

/* Sets image->moved and image->bias. */
void load_piece(struct loader *loader, struct loader_image *image);

/* Finds the next place of a piece, from *next on (0 at first), by the segments of its file.
 * Address + bias is the file offset.  start and end bound the code segment in memory.  Returns
 * false if there is no other place. */
struct load_place {
	uint64_t bias, start, end;
};
bool load_place_piece(const struct symtab *table, const struct symbols_piece *piece, size_t *next,
	struct load_place *out);

/* --- load_unwind.c --- */

/* Sets image->state and image->unwind. */
void load_unwind(struct loader *loader, struct loader_image *image);

/* --- load_names.c --- */

/* Takes up to a packet of names off the queue, with the lock held. */
size_t load_take_names(struct loader *loader, struct loader_name **batch);
/* Demangles these names and queues the answers, without the lock. */
void load_names(struct loader *loader, struct loader_name **batch, size_t n);

#endif
