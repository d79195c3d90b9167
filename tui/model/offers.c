/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offers.c - see offers.h.
 *
 * The thread reads the catalogue and probes all of it in pieces.  Between pieces it answers
 * requests for single entries.  A tracepoint is opened by itself only after it has been requested
 * for a moment, not whenever the cursor passes it.
 */
#include "tui/model/offers.h"

#include "symbols/base/clock.h"
#include "tui/base/clean.h"
#include "tui/commands/list_events.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 64 /* number of entries in a piece */
#define REST_MS 250
#define NONE SIZE_MAX

struct offers {
	const struct system_dirs *system;
	struct proc_limits limits;
	pthread_t thread;
	int fd;

	pthread_mutex_t lock; /* protects all fields below */
	pthread_cond_t asked;
	bool stop;
	struct offers_list list;
	struct offer_state *states;
	struct offer_detail **details; /* NULL: unknown */
	size_t wanted; /* entry with requested details; or NONE */
	struct catalogue_target target;
	unsigned int target_serial; /* 0: no target yet */
};

/* The thread's own data. */
struct work {
	struct offers *offers;
	struct catalogue *catalogue;
	const struct catalogue_entry *entries;
	size_t n, next; /* next entry to probe */
	struct catalogue_target target;
	unsigned int target_serial;
};

static void tell(const struct offers *offers)
{
	const uint64_t one = 1;

	/* If the counter is full, it has not been read, and the news is signalled already. */
	if (write(offers->fd, &one, sizeof(one)) < 0)
		return;
}

static void publish(struct offers *offers, const struct work *work, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		offers->states[i] = (struct offer_state){
			work->entries[i].state, work->entries[i].error, work->entries[i].exactly};
}

static void forget_details(struct offers *offers)
{
	for (size_t i = 0; i < offers->list.n && offers->details; i++) {
		free(offers->details[i]);
		offers->details[i] = NULL;
	}
}

/* --- one entry --- */

static void join_fields(const struct work *work, size_t i, char *out, size_t size)
{
	struct catalogue_field *fields;
	size_t n, len = 0;

	out[0] = '\0';
	if (catalogue_fields(work->catalogue, i, &fields, &n))
		return;
	for (size_t k = 0; k < n; k++) {
		char text[128];
		int wrote = snprintf(out + len, size - len, "%s%s", len ? ", " : "",
			clean_string(text, sizeof(text), fields[k].declaration));

		if (wrote < 0 || (size_t)wrote >= size - len) {
			out[len] = '\0';
			break;
		}
		len += (size_t)wrote;
	}
	catalogue_fields_free(fields, n);
}

/* Waits for REST_MS.  Returns false if there is another request meanwhile.  Lock held. */
static bool rests(struct offers *offers, size_t i, unsigned int serial)
{
	const struct timespec until = clock_after(REST_MS);

	while (!offers->stop && offers->wanted == i && offers->target_serial == serial)
		if (pthread_cond_timedwait(&offers->asked, &offers->lock, &until) == ETIMEDOUT)
			return true;
	return false;
}

static void learn(struct work *work, size_t i, struct offer_detail *detail)
{
	const struct catalogue_entry *entry = &work->entries[i];

	if (entry->state == CATALOGUE_UNTRIED)
		catalogue_probe(work->catalogue, &work->target, i, i + 1);
	join_fields(work, i, detail->fields, sizeof(detail->fields));
	list_events_reason(entry, &work->offers->limits, detail->reason, sizeof(detail->reason));
}

/* Answers the current request.  Lock held, except while anything is opened or read. */
static void answer(struct work *work)
{
	struct offers *offers = work->offers;
	const size_t i = offers->wanted;
	struct offer_detail *detail = offers->details[i];
	bool known = detail != NULL;

	if (!detail)
		detail = calloc(1, sizeof(*detail));
	if (!detail) {
		offers->wanted = NONE;
		return;
	}
	if (!known) {
		pthread_mutex_unlock(&offers->lock);
		learn(work, i, detail);
		pthread_mutex_lock(&offers->lock);
		publish(offers, work, i, i + 1);
		offers->details[i] = detail;
		tell(offers);
	}
	if (!work->entries[i].exactly && rests(offers, i, work->target_serial)) {
		char reason[sizeof(detail->reason)];

		pthread_mutex_unlock(&offers->lock);
		catalogue_probe_exactly(work->catalogue, &work->target, i);
		list_events_reason(&work->entries[i], &offers->limits, reason, sizeof(reason));
		pthread_mutex_lock(&offers->lock);
		publish(offers, work, i, i + 1);
		memcpy(detail->reason, reason, sizeof(reason));
		tell(offers);
	}
	if (offers->wanted == i)
		offers->wanted = NONE;
}

/* --- all entries --- */

static void try_some(struct work *work)
{
	struct offers *offers = work->offers;
	const size_t from = work->next;
	const size_t to = from + AT_ONCE < work->n ? from + AT_ONCE : work->n;

	pthread_mutex_unlock(&offers->lock);
	catalogue_probe(work->catalogue, &work->target, from, to);
	pthread_mutex_lock(&offers->lock);
	publish(offers, work, from, to);
	work->next = offers->list.tried = to;
	/* Signal the first piece, which is on the screen, and then only the end. */
	if (!from || to == work->n)
		tell(offers);
}

static void take_target(struct work *work)
{
	struct offers *offers = work->offers;

	work->target = offers->target;
	work->target_serial = offers->target_serial;
	work->next = offers->list.tried = 0;
	forget_details(offers);
	memset(offers->states, 0, work->n * sizeof(*offers->states));
}

static int read_all(struct work *work)
{
	struct offers *offers = work->offers;
	int err = catalogue_new(&work->catalogue, offers->system);
	struct offer_state *states = NULL;
	struct offer_detail **details = NULL;

	if (!err) {
		work->entries = catalogue_entries(work->catalogue, &work->n);
		states = calloc(work->n + 1, sizeof(*states));
		details = calloc(work->n + 1, sizeof(struct offer_detail *));
		if (!states || !details)
			err = -ENOMEM;
	}
	if (err) {
		free(states);
		free(details);
	}
	pthread_mutex_lock(&offers->lock);
	offers->list.error = -err;
	if (!err) {
		offers->states = states;
		offers->details = details;
		offers->list.n = work->n;
		offers->list.tracepoints_error = catalogue_tracepoints_error(work->catalogue);
		offers->list.entries = work->entries;
	}
	tell(offers);
	pthread_mutex_unlock(&offers->lock);
	return err;
}

static void *run(void *ctx)
{
	struct offers *offers = ctx;
	struct work work = {.offers = offers};
	int err = read_all(&work);

	pthread_mutex_lock(&offers->lock);
	while (!offers->stop) {
		if (err || !offers->target_serial)
			pthread_cond_wait(&offers->asked, &offers->lock);
		else if (work.target_serial != offers->target_serial)
			take_target(&work);
		else if (offers->wanted < work.n)
			answer(&work);
		else if (work.next < work.n)
			try_some(&work);
		else
			pthread_cond_wait(&offers->asked, &offers->lock);
	}
	/* The screen uses the texts of the catalogue until offers_free(). */
	forget_details(offers);
	pthread_mutex_unlock(&offers->lock);
	catalogue_free(work.catalogue);
	return NULL;
}

/* --- the UI thread --- */

static int init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int err = pthread_condattr_init(&attr);

	if (err)
		return -err;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	err = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return -err;
}

int offers_new(
	struct offers **out, const struct system_dirs *system, const struct proc_limits *limits)
{
	struct offers *offers = calloc(1, sizeof(*offers));
	int ret;

	*out = NULL;
	if (!offers)
		return -ENOMEM;
	offers->system = system;
	offers->limits = *limits;
	offers->wanted = NONE;
	offers->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = offers->fd < 0 ? -errno : init_cond(&offers->asked);
	if (ret)
		goto out_fd;
	pthread_mutex_init(&offers->lock, NULL);
	ret = -pthread_create(&offers->thread, NULL, run, offers);
	if (!ret) {
		*out = offers;
		return 0;
	}
	pthread_mutex_destroy(&offers->lock);
	pthread_cond_destroy(&offers->asked);
out_fd:
	if (offers->fd >= 0)
		close(offers->fd);
	free(offers);
	return ret;
}

void offers_free(struct offers *offers)
{
	if (!offers)
		return;
	pthread_mutex_lock(&offers->lock);
	offers->stop = true;
	pthread_cond_signal(&offers->asked);
	pthread_mutex_unlock(&offers->lock);
	pthread_join(offers->thread, NULL);
	pthread_mutex_destroy(&offers->lock);
	pthread_cond_destroy(&offers->asked);
	close(offers->fd);
	free(offers->states);
	free(offers->details);
	free(offers);
}

int offers_fd(const struct offers *offers)
{
	return offers->fd;
}

void offers_set_target(struct offers *offers, const struct catalogue_target *target)
{
	pthread_mutex_lock(&offers->lock);
	if (!offers->target_serial || offers->target.pid != target->pid ||
		offers->target.cpu != target->cpu) {
		offers->target = *target;
		offers->target_serial++;
		pthread_cond_signal(&offers->asked);
	}
	pthread_mutex_unlock(&offers->lock);
}

void offers_list(struct offers *offers, struct offers_list *out)
{
	pthread_mutex_lock(&offers->lock);
	*out = offers->list;
	pthread_mutex_unlock(&offers->lock);
}

void offers_state(struct offers *offers, size_t i, struct offer_state *out)
{
	*out = (struct offer_state){CATALOGUE_UNTRIED, 0, false};
	pthread_mutex_lock(&offers->lock);
	if (i < offers->list.n)
		*out = offers->states[i];
	pthread_mutex_unlock(&offers->lock);
}

bool offers_detail(struct offers *offers, size_t i, struct offer_detail *out)
{
	bool known = false, enough = false;

	pthread_mutex_lock(&offers->lock);
	if (i < offers->list.n && offers->details[i]) {
		*out = *offers->details[i];
		known = true;
		enough = offers->states[i].exactly || offers->states[i].state == CATALOGUE_UNTRIED;
	}
	if (i < offers->list.n && !enough && offers->wanted != i) {
		offers->wanted = i;
		pthread_cond_signal(&offers->asked);
	}
	pthread_mutex_unlock(&offers->lock);
	return known;
}
