/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve_private.h - finds the files of events that are named by a symbol.
 *
 * resolve_binary.c has the code, resolve.c calls it.
 */
#ifndef TUI_SESSION_RESOLVE_PRIVATE_H
#define TUI_SESSION_RESOLVE_PRIVATE_H

#include "tui/session/resolve.h"

/* The files that a process has mapped: its program first, then in the order of addresses. */
struct resolve_maps {
	struct resolve_file {
		char *path; /* path within the process */
		uint64_t start; /* lowest address */
	} * files;
	size_t n, cap;
};

/* Reads a process's mapped files.  Returns 0 with maps for resolve_maps_fini(), or -ESRCH, -EACCES,
 * -ENOMEM. */
int resolve_maps_read(struct resolve_maps *maps, int32_t pid);
void resolve_maps_fini(struct resolve_maps *maps);

/* Returns whether a name is the path itself or, as a bare name, its last component. */
bool resolve_is_named(const char *path, const char *name);

/* Finds the program that execvp(3) would start.  Returns 0 or -ENOENT. */
int resolve_command(const char *command, char *out, size_t size);

/* Finds a binary.  A path is used directly.  A bare name is searched in the target's mapped files,
 * $PATH and the linker's directories.  Returns 0 or -ENOENT. */
int resolve_binary(const char *name, const struct resolve_target *target, char *out, size_t size);

#endif
