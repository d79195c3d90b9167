/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offers.h - the catalogue for a screen, read and probed by a thread of its own.
 *
 * The thread owns the catalogue (events/catalogue.h).  Results are copied under a mutex and kept
 * until the target changes.  All functions are for the UI thread.
 */
#ifndef TUI_MODEL_OFFERS_H
#define TUI_MODEL_OFFERS_H

#include "sampler/events/catalogue.h"
#include "sampler/machine/proc.h"

#include <stdbool.h>
#include <stddef.h>

struct offers;

/* Texts of entries are valid until offers_free().  Their state is valid only from
 * offers_state(). */
struct offers_list {
	const struct catalogue_entry *entries; /* NULL: being read */
	size_t n;
	size_t tried; /* number of entries probed for this target */
	int tracepoints_error; /* positive errno if there are none; else 0 */
	int error; /* positive errno if nothing could be read; else 0 */
};

struct offer_state {
	enum catalogue_state state;
	int error; /* positive errno, as in the entry */
	bool exactly;
};

struct offer_detail {
	char reason[512]; /* cleaned sentence: why it does not open; or "" */
	/* cleaned fields of a tracepoint's samples, "char comm[16], pid_t pid"; or "" */
	char fields[1024];
};

/* Starts the thread.  Borrows system, copies limits.  Returns 0, or -ENOMEM or -errno with *out
 * NULL. */
int offers_new(
	struct offers **out, const struct system_dirs *system, const struct proc_limits *limits);
/* Waits for an open() in progress.  NULL is a no-op. */
void offers_free(struct offers *offers);

/* Returns an eventfd that signals news; the caller reads it. */
int offers_fd(const struct offers *offers);

/* Sets the target for probing.  If it has changed, all events are probed again. */
void offers_set_target(struct offers *offers, const struct catalogue_target *target);

void offers_list(struct offers *offers, struct offers_list *out);
void offers_state(struct offers *offers, size_t i, struct offer_state *out);
/* Returns the details of an entry.  If more are needed, they are requested; only the last of
 * several requests is answered.  Returns false if they are not known yet. */
bool offers_detail(struct offers *offers, size_t i, struct offer_detail *out);

#endif
