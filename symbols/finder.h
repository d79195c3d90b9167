/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finder.h - where files with symbols may lie: debug files by build-id, and what a recording was made of.
 *
 * Names places in the order in which they are to be tried, and opens nothing: whether what lies there is the
 * right file, only its build-id tells.  The loader thread's.
 */
#ifndef SYMBOLS_FINDER_H
#define SYMBOLS_FINDER_H

#include "symbols/symbols.h"

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

/* 0 or -ENOMEM. */
int finder_init(struct finder *finder, const struct symbols_config *config);
void finder_fini(struct finder *finder); /* a zeroed one is legal */

enum finder_what {
	FINDER_BINARY, /* the file itself */
	FINDER_DEBUG, /* its separate debug file, by build-id */
	FINDER_LINK, /* the same by the name that the file itself tells: right only with the CRC-32 told as well */
	FINDER_KALLSYMS,
	FINDER_VDSO,
	FINDER_VMLINUX,
};

struct finder_query {
	enum finder_what what;
	const char *path; /* of a binary or a link, as it was mapped or recorded; or NULL */
	const char *link; /* of FINDER_LINK: a file's name, without any directory */
	const char *release; /* of FINDER_VMLINUX; or NULL */
	const char *module; /* of FINDER_DEBUG: RELEASE/kernel/....ko; or NULL */
	const uint8_t *build_id;
	size_t build_id_len; /* 0: unknown: by path alone */
	bool deleted; /* see symbols_source */
	uint64_t inode; /* the same; 0: unknown */
	int32_t pid; /* of a debug file: below this process's root first, where that is another than ours; 0: none */
	/* The finder's, begin with 0. */
	size_t dir, pattern;
};

struct finder_place {
	char dir[FINDER_PATH_MAX]; /* "/" for the root */
	char relative[FINDER_PATH_MAX];
	bool in_root; /* links in it are not to lead out of dir */
	bool by_path; /* the recorded path: a file there that is another is worth telling */
	bool foreign; /* others have chosen what lies there: nothing of it may fill the cache */
};

/* The next place to look at; false after the last. */
bool finder_next(const struct finder *finder, struct finder_query *query, struct finder_place *out);

#endif
