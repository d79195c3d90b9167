/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue_private.h - what catalogue.c reads and catalogue_probe.c tries.
 */
#ifndef SAMPLER_CATALOGUE_PRIVATE_H
#define SAMPLER_CATALOGUE_PRIVATE_H

#include "sampler/catalogue.h"

/* What all tracepoints of a class share. */
enum catalogue_class {
	CLASS_SYSCALLS, /* allowed for own tasks */
	CLASS_OTHERS,
	CLASSES
};

struct catalogue {
	const struct event_system *system;
	struct catalogue_entry *entries;
	size_t n, room;
	char **texts; /* that names and descriptions lie in */
	size_t n_texts;
	int tracepoints_error;
	/* By class, the tracepoint that was tried. */
	struct catalogue_entry classes[CLASSES];
};

#endif
