/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue_private.h - struct catalogue, shared by catalogue.c and catalogue_probe.c.
 */
#ifndef SAMPLER_EVENTS_CATALOGUE_PRIVATE_H
#define SAMPLER_EVENTS_CATALOGUE_PRIVATE_H

#include "sampler/events/catalogue.h"

/* Tracepoints of one class need the same right. */
enum catalogue_class {
	CLASS_SYSCALLS, /* allowed for own tasks */
	CLASS_OTHERS,
	CLASSES
};

struct catalogue {
	const struct system_dirs *system;
	struct catalogue_entry *entries;
	size_t n, room;
	char **texts; /* storage of names and descriptions */
	size_t n_texts;
	int tracepoints_error;
	/* The probed tracepoint of each class. */
	struct catalogue_entry classes[CLASSES];
};

#endif
