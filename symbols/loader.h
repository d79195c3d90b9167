/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader.h - the thread that opens files, asks the worker and keeps the disk cache.
 *
 * Work goes in and comes back through queues under one lock; what is in them belongs to the loader
 * from post to collect.  loader_new() forks, so it runs before any other thread.
 */
#ifndef SYMBOLS_LOADER_H
#define SYMBOLS_LOADER_H

#include "symbols/moved.h"
#include "symbols/perfmap.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"
#include "symbols/unwtab.h"

#include <sys/types.h>

/* What the names of code without a file were read from, to tell whether it has changed. */
struct loader_jit_file {
	uint64_t dev, inode, size, mtime_ns; /* inode 0: there is none */
	uid_t owner;
};
struct loader_jit {
	struct loader_jit_file map, dump;
	bool ours; /* they are where this process sees them, too */
	bool elsewhere; /* the process was seen to see other files than this one */
	bool left_out; /* there was no room for a copy */
	bool told_cut; /* the note about its size was added */
	bool told_refused; /* the one about a file that is not taken */
	/* How the map grew while it was looked at; its owner's, for free(). */
	struct perfmap_step *steps;
	size_t n_steps;
	bool anew; /* it did more than grow: its past is in the table */
	uint64_t hash; /* of its text */
	uint64_t read_ns, written_ns; /* CLOCK_MONOTONIC */
	char path[32]; /* "/tmp/perf-4711.map", with the number that the process has for itself */
	bool inherited; /* that is another process's, which may still write it */
	bool unfinished; /* its last line was, when it was read */
	/* The answer. */
	bool same; /* as it was: no table comes with it */
	bool over; /* nothing will change any more */
};

/* With steps of its own.  0 or -ENOMEM. */
int loader_jit_copy(struct loader_jit *to, const struct loader_jit *from);

struct loader_image {
	struct loader_image *next;
	uint32_t key;
	struct symbols_source source; /* its path is this one's own */
	enum {
		LOADER_FUNCTIONS,
		LOADER_DATA, /* see data.h */
		LOADER_NAMED, /* see by_name.h */
		LOADER_UNWIND, /* see unwind.h */
		LOADER_MOVED, /* see moved.h */
	} want;
	char *wanted; /* of LOADER_NAMED: the name */
	void *owner; /* of LOADER_NAMED: the poster's; NULL: nobody wants it any more; of LOADER_UNWIND: struct unwind_tables */
	struct symbols_piece piece; /* of LOADER_MOVED */
	bool waited; /* the loader's: has let others pass */
	/* The answer. */
	enum symbols_state state;
	struct symtab table;
	struct unwtab unwind; /* of LOADER_UNWIND */
	enum symbols_moved moved; /* of LOADER_MOVED, as is bias */
	uint64_t bias;
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	size_t build_id_len; /* 0: none known */
	enum symbols_mark mark;
	bool lacks_debug; /* it was stripped, and its debug file is not here */
	/* See symbols_files(); of SYMBOLS_JIT with keep_for_recording copies of the map and of the
	 * jitdump; 0: none */
	int kept_fds[2];
	struct loader_jit jit; /* of SYMBOLS_JIT: what was read last, and then now */
	struct symtab known; /* of SYMBOLS_JIT: the table of before, borrowed from who asks */
	int error; /* positive errno, of LOADER_NAMED and LOADER_UNWIND */
	/* Of LOADER_NAMED. */
	char *found; /* struct wire_named and what follows it, checked; NULL: none */
	size_t found_len;
	bool stripped,
		hidden; /* the file has no names but those of other files' use; kallsyms shows no addresses */
};

struct loader_name {
	struct loader_name *next;
	char *pretty; /* the answer, for free(); NULL: as it is */
	bool suspect; /* the loader's: was in a batch that killed the worker */
	char name[];
};

struct loader;

int loader_new(struct loader **out, const struct symbols_config *config);
/* Frees what is queued; NULL is a no-op.  False: its thread hangs, and what it borrowed has to stay. */
bool loader_free(struct loader *loader);

/* See symbols_recorded(); any thread. */
int loader_recorded(struct loader *loader, const struct symbols_recorded *recorded);

/* One of LOADER_UNWIND is done before all others, and never comes back by loader_collect(). */
void loader_post_image(struct loader *loader, struct loader_image *image);
void loader_post_name(struct loader *loader, struct loader_name *name);

/* All answers so far, as lists; the caller's again. */
void loader_collect(
	struct loader *loader, struct loader_image **images, struct loader_name **names);

int loader_fd(const struct loader
		*loader); /* eventfd: answers or notes have come; loader_collect() reads it */
bool loader_take_note(struct loader *loader, struct symbols_note *out);
int loader_worker_pid(struct loader *loader);
int loader_spawner_pid(struct loader *loader);

void loader_image_free(struct loader_image *image);

/* How long one file may keep the worker busy; tests make it short before loader_new(). */
extern unsigned int loader_file_cpu_ms, loader_file_wall_ms;

#endif
