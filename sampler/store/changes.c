/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * changes.c - see changes.h.
 */
#include "sampler/store/changes.h"

#include "sampler/base/grow.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOVES_MAX 1000u

struct changes_of {
	uint32_t image;
	struct code_change *at;
	size_t n;
};

struct changes {
	pthread_mutex_t lock; /* guards all fields */
	pthread_cond_t news; /* a change was settled or a request answered */
	uint32_t asked_image;
	bool asked; /* changes_ask() waits for asked_image */
	struct changes_of *images;
	size_t n_images;
	struct code_move *moves;
	size_t n_moves;
	uint64_t serial; /* incremented by each change; written atomically, under the lock */
	uint64_t settled_serial;
};

int changes_new(struct changes **out)
{
	pthread_condattr_t attr;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	pthread_mutex_init(&(*out)->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&(*out)->news, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static void free_images(struct changes_of *images, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(images[i].at);
	free(images);
}

void changes_free(struct changes *changes)
{
	if (!changes)
		return;
	free_images(changes->images, changes->n_images);
	free(changes->moves);
	pthread_cond_destroy(&changes->news);
	pthread_mutex_destroy(&changes->lock);
	free(changes);
}

static struct changes_of *find_image(struct changes_of *images, size_t n, uint32_t image)
{
	for (size_t i = 0; i < n; i++)
		if (images[i].image == image)
			return &images[i];
	return NULL;
}

static bool is_same(const struct changes_of *of, const struct code_change *at, size_t n)
{
	if (of->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (of->at[i].start != at[i].start || of->at[i].size != at[i].size ||
			of->at[i].since_ns != at[i].since_ns)
			return false;
	return true;
}

static int make(struct changes_of *of, uint32_t image, const struct code_change *at, size_t n)
{
	*of = (struct changes_of){.image = image, .n = n};
	of->at = malloc((n ? n : 1) * sizeof(*at));
	if (!of->at)
		return -ENOMEM;
	if (n)
		memcpy(of->at, at, n * sizeof(*at));
	return 0;
}

/* Called with the lock held. */
static void answer(struct changes *changes, uint32_t image)
{
	if (!changes->asked || changes->asked_image != image)
		return;
	changes->asked = false;
	pthread_cond_broadcast(&changes->news);
}

int changes_tell(struct changes *changes, uint32_t image, const struct code_change *at, size_t n)
{
	struct changes_of of, *known;
	int ret = 0;

	pthread_mutex_lock(&changes->lock);
	known = find_image(changes->images, changes->n_images, image);
	if (known && is_same(known, at, n))
		goto out;
	ret = make(&of, image, at, n);
	if (ret)
		goto out;
	if (!known) {
		ret = grow_exact(&changes->images, changes->n_images + 1, sizeof(*changes->images));
		if (ret) {
			free(of.at);
			goto out;
		}
		known = &changes->images[changes->n_images++];
		known->at = NULL;
	}
	free(known->at);
	*known = of;
	__atomic_store_n(&changes->serial, changes->serial + 1, __ATOMIC_RELEASE);
out:
	answer(changes, image);
	pthread_mutex_unlock(&changes->lock);
	return ret;
}

int changes_move(struct changes *changes, const struct code_move *move)
{
	int ret;

	pthread_mutex_lock(&changes->lock);
	for (size_t i = 0; i < changes->n_moves; i++) {
		const struct code_move *known = &changes->moves[i];

		if (known->image != move->image || known->start != move->start ||
			known->end != move->end || known->until_ns != move->until_ns)
			continue;
		pthread_mutex_unlock(&changes->lock);
		return 0;
	}
	/* Each frame scans all moves, so their number is limited. */
	if (changes->n_moves == MOVES_MAX) {
		pthread_mutex_unlock(&changes->lock);
		return 0;
	}
	ret = grow_exact(&changes->moves, changes->n_moves + 1, sizeof(*changes->moves));
	if (!ret) {
		changes->moves[changes->n_moves++] = *move;
		__atomic_store_n(&changes->serial, changes->serial + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&changes->lock);
	return ret;
}

static bool is_moved(const struct code_move *moves, size_t n, uint32_t image)
{
	for (size_t i = 0; i < n; i++)
		if (moves[i].image == image)
			return true;
	return false;
}

bool changes_moved(struct changes *changes, uint32_t image)
{
	pthread_mutex_lock(&changes->lock);
	const bool moved = is_moved(changes->moves, changes->n_moves, image);
	pthread_mutex_unlock(&changes->lock);
	return moved;
}

static struct timespec in_ms(unsigned int ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += (long)(ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

void changes_wait(struct changes *changes, unsigned int timeout_ms)
{
	const struct timespec until = in_ms(timeout_ms);

	pthread_mutex_lock(&changes->lock);
	while (changes->settled_serial != changes->serial &&
		!pthread_cond_timedwait(&changes->news, &changes->lock, &until))
		continue;
	pthread_mutex_unlock(&changes->lock);
}

int changes_ask(struct changes *changes, uint32_t image, void (*wake)(void *ctx), void *ctx,
	unsigned int timeout_ms)
{
	const struct timespec until = in_ms(timeout_ms);
	int ret = -ENODATA;

	pthread_mutex_lock(&changes->lock);
	if (!find_image(changes->images, changes->n_images, image)) {
		changes->asked = true;
		changes->asked_image = image;
		wake(ctx);
	}
	while (changes->asked && !pthread_cond_timedwait(&changes->news, &changes->lock, &until))
		continue;
	if (find_image(changes->images, changes->n_images, image))
		ret = 0;
	else if (changes->asked)
		ret = -ETIME;
	changes->asked = false;
	pthread_mutex_unlock(&changes->lock);
	return ret;
}

bool changes_asked(struct changes *changes, uint32_t *image)
{
	pthread_mutex_lock(&changes->lock);
	const bool asked = changes->asked;
	*image = changes->asked_image;
	pthread_mutex_unlock(&changes->lock);
	return asked;
}

void changes_decline(struct changes *changes, uint32_t image)
{
	pthread_mutex_lock(&changes->lock);
	answer(changes, image);
	pthread_mutex_unlock(&changes->lock);
}

void changes_known_init(struct changes_known *known, struct changes *from)
{
	*known = (struct changes_known){.from = from};
}

void changes_known_fini(struct changes_known *known)
{
	free_images(known->images, known->n_images);
	free(known->times);
	free(known->moves);
	*known = (struct changes_known){0};
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int make_times(struct changes_known *known)
{
	size_t n = 0;

	for (size_t i = 0; i < known->n_images; i++)
		n += known->images[i].n;
	known->times = malloc((n ? n : 1) * sizeof(*known->times));
	if (!known->times)
		return -ENOMEM;
	for (size_t i = 0; i < known->n_images; i++)
		for (size_t k = 0; k < known->images[i].n; k++)
			known->times[known->n_times++] = known->images[i].at[k].since_ns;
	qsort(known->times, n, sizeof(*known->times), by_time);
	return 0;
}

static uint64_t end_of(const struct code_change *change)
{
	return change->start + change->size;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the first time at which two lists, sorted by start, differ at any address. */
static uint64_t first_difference(const struct changes_of *a, const struct changes_of *b)
{
	const struct code_change *x = a->at, *y = b->at;
	const struct code_change *const x_end = x + a->n, *const y_end = y + b->n;
	uint64_t at = 0, first_ns = UINT64_MAX;

	while (x < x_end || y < y_end) {
		const uint64_t x_at = x == x_end ? UINT64_MAX : x->start > at ? x->start : at;
		const uint64_t y_at = y == y_end ? UINT64_MAX : y->start > at ? y->start : at;
		const bool in_x = x_at <= y_at, in_y = y_at <= x_at;

		if (!in_x || !in_y)
			first_ns = least(first_ns, in_x ? x->since_ns : y->since_ns);
		else if (x->since_ns != y->since_ns)
			first_ns = least(first_ns, least(x->since_ns, y->since_ns));
		at = least(in_x ? end_of(x) : x_at, in_y ? end_of(y) : y_at);
		while (x < x_end && end_of(x) <= at)
			x++;
		while (y < y_end && end_of(y) <= at)
			y++;
	}
	return first_ns;
}

/* Returns the time from which samples may have other code than before. */
static uint64_t new_from(const struct changes_known *old, const struct changes_known *new)
{
	static const struct changes_of none;
	uint64_t from_ns = UINT64_MAX;

	/* An image is never removed from the list. */
	for (size_t i = 0; i < new->n_images; i++) {
		const struct changes_of *before =
			find_image(old->images, old->n_images, new->images[i].image);

		from_ns =
			least(from_ns, first_difference(before ? before : &none, &new->images[i]));
	}
	return from_ns;
}

int changes_take(struct changes_known *known, uint64_t *from_ns)
{
	struct changes *from = known->from;
	struct changes_known new = {.from = from};
	int ret = 0;

	*from_ns = UINT64_MAX;
	if (!from || known->serial == __atomic_load_n(&from->serial, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&from->lock);
	new.serial = from->serial;
	new.images = calloc(from->n_images + 1, sizeof(*new.images));
	ret = new.images ? 0 : -ENOMEM;
	for (size_t i = 0; i < from->n_images && !ret; i++) {
		const struct changes_of *of = &from->images[i];

		ret = make(&new.images[i], of->image, of->at, of->n);
		new.n_images += !ret;
	}
	if (!ret && from->n_moves) {
		new.moves = reallocarray(NULL, from->n_moves, sizeof(*new.moves));
		ret = new.moves ? 0 : -ENOMEM;
	}
	if (new.moves) {
		memcpy(new.moves, from->moves, from->n_moves * sizeof(*new.moves));
		new.n_moves = from->n_moves;
	}
	pthread_mutex_unlock(&from->lock);
	if (!ret)
		ret = make_times(&new);
	if (ret) {
		changes_known_fini(&new);
		return ret;
	}
	*from_ns = new.n_moves > known->n_moves ? 0 : new_from(known, &new);
	changes_known_fini(known);
	*known = new;
	return 0;
}

void changes_settled(const struct changes_known *known)
{
	struct changes *from = known->from;

	pthread_mutex_lock(&from->lock);
	from->settled_serial = known->serial;
	pthread_cond_broadcast(&from->news);
	pthread_mutex_unlock(&from->lock);
}

void changes_follow(
	const struct changes_known *known, uint32_t *image, uint64_t *offset, uint64_t time_ns)
{
	const uint64_t plain = changes_plain(*offset);

	for (size_t i = 0; i < known->n_moves; i++) {
		const struct code_move *move = &known->moves[i];

		if (move->image != *image || plain < move->start || plain >= move->end ||
			time_ns > move->until_ns)
			continue;
		*image = move->to;
		*offset = plain + move->bias;
		return;
	}
}

bool changes_has(const struct changes_known *known, uint32_t image)
{
	return find_image(known->images, known->n_images, image);
}

/* Returns whether the code at an offset, including its number, existed at that time. */
static bool is_there(const struct changes_of *of, uint64_t offset, uint64_t time_ns)
{
	size_t low = 0, high = of->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (of->at[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset - of->at[low - 1].start < of->at[low - 1].size &&
		of->at[low - 1].since_ns <= time_ns;
}

uint64_t changes_offset(
	const struct changes_known *known, uint32_t image, uint64_t offset, uint64_t time_ns)
{
	const struct changes_of *of = find_image(known->images, known->n_images, image);
	const uint64_t plain = changes_plain(offset);
	uint64_t low = 0, high;

	if (!of || plain >> CHANGES_SHIFT)
		return offset;
	if (!of->n)
		return plain;
	/* Code with a higher number came later and covers no more addresses.  Bisection therefore
	 * finds the highest number that existed at that time. */
	high = of->at[of->n - 1].start >> CHANGES_SHIFT;
	while (low < high) {
		const uint64_t middle = high - (high - low) / 2;

		if (is_there(of, plain | middle << CHANGES_SHIFT, time_ns))
			low = middle;
		else
			high = middle - 1;
	}
	return plain | low << CHANGES_SHIFT;
}
