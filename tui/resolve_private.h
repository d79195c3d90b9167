/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve_private.h - where the files of an event that is named by a symbol are: resolve_binary.c, for resolve.c.
 */
#ifndef TUI_RESOLVE_PRIVATE_H
#define TUI_RESOLVE_PRIVATE_H

#include "tui/resolve.h"

/* The files that a process has mapped, its program first, then in the order of addresses. */
struct resolve_maps {
	struct resolve_file {
		char *path; /* as the process names it */
		uint64_t start; /* the lowest address */
	} * files;
	size_t n, cap;
};

/* 0 with maps for resolve_maps_fini(); -ESRCH, -EACCES, -ENOMEM. */
int resolve_maps_read(struct resolve_maps *maps, int32_t pid);
void resolve_maps_fini(struct resolve_maps *maps);

/* Is a path what a bare name, or that very path, means? */
bool resolve_is_named(const char *path, const char *name);

/* The program that execvp(3) would start.  0 or -ENOENT. */
int resolve_command(const char *command, char *out, size_t size);

/* A path as it is; a bare name among what the target has mapped, in $PATH, where the linker looks.  0 or -ENOENT. */
int resolve_binary(const char *name, const struct resolve_target *target, char *out, size_t size);

#endif
