/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader.h - the thread that opens files, asks the worker and keeps the disk cache.
 *
 * Requests and answers go through queues under one lock.  The loader owns a request from its post
 * until it is collected.  loader_new() forks, so it runs before any other thread starts.
 */
#ifndef SYMBOLS_LOADER_LOADER_H
#define SYMBOLS_LOADER_LOADER_H

#include "symbols/jit/perfmap.h"
#include "symbols/loader/source.h"
#include "symbols/wire/symtab.h"
#include "symbols/wire/unwtab.h"

#include <sys/types.h>

/* Identity of a map or jitdump at the last look; any difference means that it changed. */
struct loader_jit_file {
	uint64_t dev, inode, size, mtime_ns; /* inode 0: no file */
	uid_t owner;
};
struct loader_jit {
	struct loader_jit_file map, dump;
	bool ours; /* this process sees the files at the same paths */
	bool elsewhere; /* the process was seen to have another view of files than this one */
	bool left_out; /* there was no room for a copy of the jitdump */
	bool told_cut; /* the note about its size was added */
	bool told_refused; /* the note about a refused file was added */
	/* Growth of the map over all looks; owned by the holder of this struct, for free(). */
	struct perfmap_step *steps;
	size_t n_steps;
	bool anew; /* the map was rewritten or replaced: its past is in the table */
	uint64_t hash; /* hash of the map's text */
	/* ns of CLOCK_MONOTONIC; the last look, and the last write to the map */
	uint64_t read_ns, written_ns;
	/* "/tmp/perf-4711.map", with the PID that the process has in its own namespace */
	char path[32];
	bool inherited; /* the map belongs to another process, which may still write it */
	bool unfinished; /* the map's last line had no newline when it was read */
	/* The answer: */
	bool same; /* nothing has changed: no table comes with the answer */
	bool over; /* nothing will change any more */
};

/* Copies `from`, with steps of its own, which the owner of `to` frees.  Returns 0 or -ENOMEM. */
int loader_jit_copy(struct loader_jit *to, const struct loader_jit *from);

/* Files that are not here, although the image has a table. */
enum loader_lack {
	LOADER_LACKS_NOTHING,
	LOADER_LACKS_DEBUG, /* the debug file of a stripped file */
	LOADER_LACKS_FILE, /* the file itself: the table is the recording's own */
};

struct loader_image {
	struct loader_image *next;
	uint32_t key;
	struct symbols_source source; /* its path and jitdump are owned */
	enum {
		LOADER_FUNCTIONS,
		LOADER_DATA, /* see client/data.h */
		LOADER_NAMED, /* see client/by_name.h */
		LOADER_UNWIND, /* see client/unwind.h */
		LOADER_MOVED, /* see client/moved.h */
	} want;
	char *wanted; /* LOADER_NAMED: the name; owned */
	/* LOADER_NAMED: the poster's, NULL if no longer wanted; LOADER_UNWIND: struct
	 * unwind_tables */
	void *owner;
	/* LOADER_UNWIND: receives the answer in the loader thread, which still owns the image */
	void (*take)(struct loader_image *answer);
	struct symbols_piece piece; /* LOADER_MOVED */
	bool waited; /* set by the loader: other images went first, once */
	bool tentative; /* a failure gets no note, since it is asked for once more */
	/* The answer: */
	enum symbols_state state;
	struct symtab table;
	struct unwtab unwind; /* LOADER_UNWIND */
	enum symbols_moved moved; /* LOADER_MOVED, with bias */
	uint64_t bias;
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	size_t build_id_len; /* 0 if unknown */
	enum symbols_mark mark;
	enum loader_lack lacks;
	/* See symbols_files(); 0 if none.  SYMBOLS_JIT with keep_for_recording: the second is a
	 * copy of the jitdump. */
	int kept_fds[2];
	/* SYMBOLS_JIT: state at the last look; the answer has the new state */
	struct loader_jit jit;
	struct symtab known; /* SYMBOLS_JIT: table of the last look, borrowed from the poster */
	int error; /* positive errno; LOADER_NAMED and LOADER_UNWIND */
	/* LOADER_NAMED: */
	char *found; /* struct wire_named with its payload, validated; NULL if none */
	size_t found_len;
	/* stripped: the file has only dynamic symbols; hidden: kallsyms shows no addresses */
	bool stripped, hidden;
};

struct loader_name {
	struct loader_name *next;
	char *pretty; /* the answer, for free(); NULL if the name stays as it is */
	bool suspect; /* set by the loader: the name was in a batch that killed the worker */
	char name[];
};

struct loader;

/* Returns 0; -errno and *out = NULL. */
int loader_new(struct loader **out, const struct symbols_config *config);
/* Ends the thread and frees all that is queued; NULL is a no-op.  Returns false if the thread
 * hangs: all that it borrowed must stay. */
bool loader_free(struct loader *loader);

/* See symbols_recorded().  Any thread. */
int loader_recorded(struct loader *loader, const struct symbols_recorded *recorded);

/* Queue a request, which the loader owns until it is collected.  LOADER_UNWIND goes before all
 * others and is handed to its take() instead of loader_collect(). */
void loader_post_image(struct loader *loader, struct loader_image *image);
void loader_post_name(struct loader *loader, struct loader_name *name);

/* Takes all answers so far, as lists that the caller owns. */
void loader_collect(
	struct loader *loader, struct loader_image **images, struct loader_name **names);

/* Returns an eventfd, readable when answers or notes have come; loader_collect() reads it. */
int loader_fd(const struct loader *loader);
bool loader_take_note(struct loader *loader, struct symbols_note *out);
int loader_worker_pid(struct loader *loader);
int loader_spawner_pid(struct loader *loader);

void loader_image_free(struct loader_image *image);

/* Limits of the time (ms) that one file may keep the worker busy; tests lower them before
 * loader_new(). */
extern unsigned int loader_file_cpu_ms, loader_file_wall_ms;

#endif
