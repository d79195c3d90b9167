/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pretty.h - readable names by raw name: what the loader has answered, and what it still owes.
 *
 * All of it is symbols.c's, and runs in its caller's thread.
 */
#ifndef SYMBOLS_PRETTY_H
#define SYMBOLS_PRETTY_H

#include "symbols/loader.h"

struct pretty_names {
	/* Open addressing, at most half full; cap is a power of two. */
	struct pretty *slots;
	size_t n, cap;
	size_t pending;
};

/* The readable name, or name itself while the loader is asked and if it is not mangled.  NULL:
 * no memory. */
const char *pretty_find(struct pretty_names *names, struct loader *loader, const char *name);

/* Take in a list of answers.  True if some name differs from its raw form. */
bool pretty_take(struct pretty_names *names, struct loader_name *answers);

/* Those that are pending belong to the loader, and go with it. */
void pretty_fini(struct pretty_names *names);

#endif
