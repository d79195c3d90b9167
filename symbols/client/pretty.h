/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pretty.h - demangled names by raw name: the loader's answers, and names still pending.
 *
 * For symbols.c alone; runs in its caller's thread.
 */
#ifndef SYMBOLS_CLIENT_PRETTY_H
#define SYMBOLS_CLIENT_PRETTY_H

#include "symbols/loader/loader.h"

struct pretty_names {
	/* Open addressing, at most half full; cap is a power of two. */
	struct pretty *slots;
	size_t n, cap;
	size_t pending;
};

/* Returns the demangled name; name itself while the loader is asked, or if it is not mangled; NULL
 * if memory runs out. */
const char *pretty_find(struct pretty_names *names, struct loader *loader, const char *name);

/* Takes in a list of answers.  Returns whether some name differs from its raw form. */
bool pretty_take(struct pretty_names *names, struct loader_name *answers);

/* Pending names belong to the loader, which frees them. */
void pretty_fini(struct pretty_names *names);

#endif
