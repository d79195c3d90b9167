/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_name.c - questions about the places of a name, and their answers.  Runs in the thread of
 * symbols.h.
 */
#include "symbols/client/by_name.h"

#include "symbols/base/clock.h"
#include "symbols/client/again.h"
#include "symbols/client/private.h"
#include "symbols/wire/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct symbols_named {
	struct loader_image *job; /* owned by the loader while pending, then NULL */
	enum symbols_state state;
	int error; /* positive errno */
	uint64_t base;
	bool is_fixed, stripped, hidden;
	struct symbols_place *places;
	size_t n_places;
	char *near; /* names, each followed by NUL */
	size_t n_near;
};

int symbols_named_ask(struct symbols *symbols, const struct symbols_source *source,
	const char *name, struct symbols_named **out)
{
	struct symbols_named *named = calloc(1, sizeof(*named));
	struct loader_image *job = calloc(1, sizeof(*job));

	*out = NULL;
	if (job)
		job->wanted = strdup(name);
	if (!named || !job || !job->wanted || source_copy(&job->source, source) < 0) {
		free(named);
		loader_image_free(job);
		return -ENOMEM;
	}
	job->want = LOADER_NAMED;
	job->owner = named;
	named->job = job;
	named->state = SYMBOLS_PENDING;
	loader_post_image(symbols_loader(symbols), job);
	*out = named;
	return 0;
}

void symbols_named_release(struct symbols_named *named)
{
	if (!named)
		return;
	/* The loader does not read `owner`. */
	if (named->job)
		named->job->owner = NULL;
	free(named->places);
	free(named->near);
	free(named);
}

static int take_places(struct symbols_named *named, const struct loader_image *answer)
{
	struct wire_named head;
	const char *places = answer->found + sizeof(head);

	memcpy(&head, answer->found, sizeof(head));
	const size_t at = sizeof(head) + head.n_places * sizeof(struct wire_place);
	named->places = calloc(head.n_places + 1, sizeof(*named->places));
	named->near = malloc(answer->found_len - at + 1);
	if (!named->places || !named->near)
		return -ENOMEM;
	for (uint32_t i = 0; i < head.n_places; i++) {
		struct wire_place place;

		memcpy(&place, places + i * sizeof(place), sizeof(place));
		named->places[i] = (struct symbols_place){
			.address = place.address,
			.offset = place.offset,
			.size = place.size,
			.data = place.kind & WIRE_PLACE_DATA,
			.weak = place.kind & WIRE_PLACE_WEAK,
			.local = place.kind & WIRE_PLACE_LOCAL,
			.unwound = place.kind & WIRE_PLACE_UNWOUND,
		};
	}
	memcpy(named->near, answer->found + at, answer->found_len - at);
	named->n_places = head.n_places;
	named->n_near = head.n_near;
	named->base = head.base;
	named->is_fixed = head.is_fixed;
	return 0;
}

void by_name_take(struct loader_image *answer)
{
	struct symbols_named *named = answer->owner;

	if (!named)
		return;
	named->job = NULL;
	named->error = answer->error;
	named->stripped = answer->stripped;
	named->hidden = answer->hidden;
	if (!named->error && !answer->found)
		named->error = EIO;
	if (!named->error)
		named->error = -take_places(named, answer);
	named->state = named->error ? SYMBOLS_UNREADABLE
		: named->n_places   ? SYMBOLS_READY
				    : SYMBOLS_NONE;
}

enum symbols_state symbols_named_state(const struct symbols_named *named, int *error)
{
	*error = named->error;
	return named->state;
}

const struct symbols_place *symbols_named_places(const struct symbols_named *named, size_t *n)
{
	*n = named->n_places;
	return named->places;
}

uint64_t symbols_named_base(const struct symbols_named *named)
{
	return named->base;
}

bool symbols_named_is_fixed(const struct symbols_named *named)
{
	return named->is_fixed;
}

const char *symbols_named_near(const struct symbols_named *named, size_t i)
{
	const char *name = named->near;

	if (i >= named->n_near)
		return NULL;
	while (i--)
		name += strlen(name) + 1;
	return name;
}

bool symbols_named_is_stripped(const struct symbols_named *named)
{
	return named->stripped;
}

bool symbols_named_is_hidden(const struct symbols_named *named)
{
	return named->hidden;
}

int symbols_named_wait(struct symbols *symbols, const struct symbols_named *named, int stop_fd,
	unsigned int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = symbols_fd(symbols), .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
	const int64_t end_ms = clock_now_ms() + timeout_ms;

	int ret;

	for (;;) {
		symbols_collect_meanwhile(symbols);
		ret = 0;
		if (named->state != SYMBOLS_PENDING)
			break;
		const int64_t rest = end_ms - clock_now_ms();
		ret = -ETIME;
		if (rest <= 0)
			break;
		ret = -EINTR;
		if (poll(fds, 2, (int)rest) > 0 && fds[1].revents)
			break;
	}
	symbols_tell_untold(symbols);
	return ret;
}
