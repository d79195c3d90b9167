/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mailbox.h - queue of commands to the sampling thread, in order.
 *
 * Any thread posts; the sampling thread takes.  An internal mutex is held for list operations only.
 */
#ifndef SAMPLER_CONTROL_MAILBOX_H
#define SAMPLER_CONTROL_MAILBOX_H

#include "sampler/events/spec.h"

#include <pthread.h>

enum mail_kind {
	MAIL_ATTACH,
	MAIL_DETACH,
	MAIL_EVENT_ADD,
	MAIL_EVENT_DROP,
	MAIL_SET_FREQ,
	MAIL_SET_PERIOD,
	MAIL_ENABLE, /* value: 1 or 0 */
	MAIL_FILTER,
	MAIL_MOVE, /* value: the address */
	MAIL_PAUSE, /* value: 1 or 0 */
	MAIL_SNAPSHOT,
	MAIL_CALL_GRAPH, /* value: enum engine_call_graph */
};

struct mail {
	enum mail_kind kind;
	int32_t pid;
	uint8_t event;
	uint64_t value; /* by kind: Hz, a period, ... */
	const char *text; /* MAIL_FILTER: event_text(), or NULL */
	const struct event_spec *specs; /* MAIL_EVENT_ADD; in a taken mail: owned by the mail */
	size_t n_specs;
	struct mail *next;
};

struct mailbox {
	pthread_mutex_t lock;
	struct mail *first, **end; /* guarded */
	int wake_fd; /* eventfd, written after each post */
};

int mailbox_init(struct mailbox *box);
void mailbox_fini(struct mailbox *box); /* also for a mailbox that is all zero or failed to init */

/* Posts a copy, including the specs.  Returns 0 or -ENOMEM. */
int mailbox_post(struct mailbox *box, const struct mail *mail);

/* Wakes the taker without mail. */
void mailbox_wake(struct mailbox *box);

/* Returns the oldest mail; NULL if none.  The caller frees it with free(). */
struct mail *mailbox_take(struct mailbox *box);

#endif
