/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finder.h - places of files with symbols: debug files by build-id, and the files of a recording.
 *
 * Names places in the order of search and opens none: only the build-id proves that a file is the
 * right one.  Used in the loader thread.
 */
#ifndef SYMBOLS_LOADER_FINDER_H
#define SYMBOLS_LOADER_FINDER_H

#include "symbols/loader/source.h"

#define FINDER_PATH_MAX 4096
#ifdef STROBE_DEBUG_DIR
#define FINDER_DEBUG_DIR STROBE_DEBUG_DIR
#else
#define FINDER_DEBUG_DIR "/usr/lib/debug"
#endif

struct finder {
	char *archive, *symfs, *home; /* NULL: none; home is perf's ~/.debug */
	char **debug_dirs;
	size_t n_debug_dirs;
	bool recording;
};

/* Copies the directories of `config`.  Returns 0 or -ENOMEM. finder_fini() frees them. */
int finder_init(struct finder *finder, const struct symbols_config *config);
void finder_fini(struct finder *finder); /* a zeroed finder is legal */

enum finder_what {
	FINDER_BINARY, /* the file itself */
	FINDER_DEBUG, /* its separate debug file, by build-id */
	/* its debug file by .gnu_debuglink: right only if its CRC-32 matches, too */
	FINDER_LINK,
	FINDER_KALLSYMS,
	FINDER_VDSO,
	FINDER_VMLINUX,
};

struct finder_query {
	enum finder_what what;
	const char *path; /* path of a binary or link, as mapped or recorded; or NULL */
	const char *link; /* for FINDER_LINK: name of a file, without a directory */
	const char *release; /* for FINDER_VMLINUX; or NULL */
	const char *module; /* for FINDER_DEBUG: RELEASE/kernel/....ko; or NULL */
	const uint8_t *build_id;
	size_t build_id_len; /* 0: unknown, search by path alone */
	bool deleted; /* see struct symbols_source */
	uint64_t inode; /* see struct symbols_source; 0: unknown */
	/* process with another root than ours: its root is searched first for a debug file; 0:
	 * none */
	int32_t pid;
	/* Used by the finder; start with 0. */
	size_t dir, pattern;
};

struct finder_place {
	char dir[FINDER_PATH_MAX]; /* "/" for the root */
	char relative[FINDER_PATH_MAX];
	bool in_root; /* links in it must not lead out of dir */
	bool by_path; /* the recorded path: report another file there */
	bool foreign; /* chosen by other users: its data must not enter the cache */
};

/* Gets the next place to look at; returns false after the last one. */
bool finder_next(const struct finder *finder, struct finder_query *query, struct finder_place *out);

#endif
