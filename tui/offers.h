/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offers.h - the catalogue for a screen: read and tried by a thread of its own, so that nobody waits for it.
 *
 * The thread owns the catalogue (sampler/catalogue.h); what it found out is copied below a mutex.  What was found out is
 * kept until the target is another one.  All functions are the UI thread's.
 */
#ifndef TUI_OFFERS_H
#define TUI_OFFERS_H

#include "sampler/catalogue.h"
#include "sampler/proc.h"

#include <stdbool.h>
#include <stddef.h>

struct offers;

/* Texts of entries are good until offers_free(); their state is told by offers_state() alone. */
struct offers_list {
	const struct catalogue_entry *entries; /* NULL: being read */
	size_t n;
	size_t tried; /* of them, for this target */
	int tracepoints_error; /* positive errno why there are none; 0 */
	int error; /* positive errno: nothing could be read */
};

struct offer_state {
	enum catalogue_state state;
	int error; /* positive errno, as of the entry */
	bool exactly;
};

struct offer_detail {
	char reason[512]; /* cleaned: why it does not open, a sentence; "" */
	char fields[1024]; /* cleaned: of a tracepoint's samples, "char comm[16], pid_t pid"; "" */
};

/* Starts the thread.  system and limits: copied.  0, -ENOMEM or -errno and *out NULL. */
int offers_new(
	struct offers **out, const struct event_system *system, const struct proc_limits *limits);
/* Waits for the one open that is under way; NULL is a no-op. */
void offers_free(struct offers *offers);

/* An eventfd, which the caller reads: there is something new. */
int offers_fd(const struct offers *offers);

/* Where events are tried; another target than before makes all of it be tried anew. */
void offers_set_target(struct offers *offers, const struct catalogue_target *target);

void offers_list(struct offers *offers, struct offers_list *out);
void offers_state(struct offers *offers, size_t i, struct offer_state *out);
/* What is known of one entry; where that is not enough it is asked for, and of several such questions only the last is
 * answered.  False: not known yet. */
bool offers_detail(struct offers *offers, size_t i, struct offer_detail *out);

#endif
