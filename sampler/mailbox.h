/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mailbox.h - commands on their way to the sampling thread, in order.
 *
 * Any thread posts; the sampling thread takes.  A mutex inside is held for list operations only.
 */
#ifndef SAMPLER_MAILBOX_H
#define SAMPLER_MAILBOX_H

#include "sampler/event.h"

#include <pthread.h>

enum mail_kind {
	MAIL_ATTACH,
	MAIL_DETACH,
	MAIL_EVENT_ADD,
	MAIL_EVENT_DROP,
	MAIL_SET_FREQ,
	MAIL_SET_PERIOD,
	MAIL_ENABLE, /* value: 1, 0 */
	MAIL_FILTER,
	MAIL_MOVE, /* value: the address */
	MAIL_PAUSE, /* value: 1, 0 */
	MAIL_SNAPSHOT,
	MAIL_CALL_GRAPH, /* value: enum engine_call_graph */
};

struct mail {
	enum mail_kind kind;
	int32_t pid;
	uint8_t event;
	uint64_t value; /* Hz, a period and the like */
	const char *text; /* of MAIL_FILTER: event_text(), or NULL */
	const struct event_spec *specs; /* of MAIL_EVENT_ADD; of a mail taken, its own */
	size_t n_specs;
	struct mail *next;
};

struct mailbox {
	pthread_mutex_t lock;
	struct mail *first, **end; /* guarded */
	int wake_fd; /* eventfd, written after each post */
};

int mailbox_init(struct mailbox *box);
void mailbox_fini(struct mailbox *box); /* a mailbox whose init failed, or all zero, is legal */

/* Posts a copy, of the specs too.  0 or -ENOMEM. */
int mailbox_post(struct mailbox *box, const struct mail *mail);

/* Wake the taker without mail. */
void mailbox_wake(struct mailbox *box);

/* The oldest mail, for free(); NULL when there is none. */
struct mail *mailbox_take(struct mailbox *box);

#endif
