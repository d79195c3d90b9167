/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * events.c - see events.h.
 */
#include "tui/model/events.h"
#include "sampler/engine/engine.h"

#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/commands/list_events.h"
#include "tui/explain/explain.h"
#include "tui/model/offers.h"
#include "tui/session/resolve.h"
#include "tui/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_events_fini(struct model_events *events)
{
	resolve_end(events->job);
	offers_free(events->offers);
	events->job = NULL;
	events->offers = NULL;
}

/* --- offered events --- */

static void choose_target(const struct model_events *events, const struct model *model,
	struct catalogue_target *target)
{
	struct session *session = events->session;
	int32_t *pids = NULL;
	size_t n = 0;

	list_events_target(session->request, &session->limits, target);
	if (model->system_wide || engine_followed(session->engine, &pids, &n))
		return;
	if (n)
		*target = (struct catalogue_target){.pid = pids[0], .cpu = -1};
	free(pids);
}

int model_events_begin(struct model_events *events, struct model *model)
{
	struct catalogue_target target;
	int ret = 0;

	if (model->recorded)
		return -EROFS;
	if (!events->offers)
		ret = offers_new(&events->offers, system_dirs(), &events->session->limits);
	if (ret)
		return ret;
	choose_target(events, model, &target);
	offers_set_target(events->offers, &target);
	return 0;
}

/* --- symbols --- */

/* Searches the followed processes; for the whole machine, the kernel. */
static int begin_looking(struct model_events *events, const struct model *model,
	const struct event_spec *specs, size_t n)
{
	struct session *session = events->session;
	struct resolve_target target = {.n_pids = 0};
	int32_t *pids = NULL;
	int ret = 0;

	if (events->job)
		return -EBUSY;
	if (!model->system_wide)
		ret = engine_followed(session->engine, &pids, &target.n_pids);
	target.pids = pids;
	if (!ret)
		ret = resolve_begin(&events->job, session->symbols, &target, specs, n);
	free(pids);
	return ret;
}

static void end_looking(struct model_events *events, struct model *model)
{
	resolve_end(events->job);
	events->job = NULL;
	model->looking.active = false;
}

static void tell(struct model *model, enum explain_level level, const char *text)
{
	logbook_add(&model->log, model->now_ns, level, false, text);
}

/* Continues with the addresses of the symbols. */
static int go_on(struct model_events *events)
{
	size_t n;
	const struct event_spec *specs = resolve_specs(events->job, &n);
	struct engine *engine = events->session->engine;

	if (events->moves)
		return engine_move_breakpoint(engine, events->event, specs[0].attr.bp_addr);
	return engine_events_add(engine, specs, n);
}

void model_events_update(struct model_events *events, struct model *model)
{
	const char *symbol, *path, *slash;
	struct resolve_error error;
	char text[1024];
	int ret;

	if (!events->job)
		return;
	ret = resolve_step(events->job, &error);
	if (ret == -EAGAIN) {
		resolve_describe(events->job, &symbol, &path);
		slash = strrchr(path, '/');
		model->looking.active = true;
		clean_string(model->looking.symbol, sizeof(model->looking.symbol), symbol);
		clean_string(model->looking.file, sizeof(model->looking.file),
			slash && slash[1] ? slash + 1 : path);
		return;
	}
	if (ret) {
		explain_resolve(&error, text, sizeof(text));
		tell(model, EXPLAIN_ERROR, text);
	} else {
		ret = go_on(events);
		if (ret) {
			explain_error(events->moves ? "the breakpoint cannot be moved"
						    : "the events cannot be added",
				-ret, &events->session->limits, text, sizeof(text));
			tell(model, EXPLAIN_ERROR, text);
		}
	}
	end_looking(events, model);
}

void model_events_cancel(struct model_events *events, struct model *model)
{
	char text[160];

	if (!events->job)
		return;
	snprintf(text, sizeof(text), "no longer looking for %s: nothing was %s",
		model->looking.symbol, events->moves ? "moved" : "added");
	tell(model, EXPLAIN_WARNING, text);
	end_looking(events, model);
}

/* --- events --- */

int model_events_add(struct model_events *events, struct model *model, const char *text,
	struct event_error *error)
{
	const struct engine_event_status *current = model_event(model, model->event);
	struct event_spec *specs;
	size_t n;
	int ret;

	*error = (struct event_error){.kind = EVENT_ERROR_NONE};
	if (model->recorded)
		return -EROFS;
	ret = event_parse_list(text, &specs, &n, error);
	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++)
		event_set_freq(&specs[i],
			current && current->freq_hz ? current->freq_hz : EVENT_DEFAULT_FREQ_HZ);
	if (!resolve_is_needed(specs, n)) {
		ret = engine_events_add(events->session->engine, specs, n);
	} else {
		ret = begin_looking(events, model, specs, n);
		if (!ret) {
			events->moves = false;
			model_events_update(events, model);
		}
	}
	free(specs);
	return ret;
}

int model_events_move(struct model_events *events, struct model *model, uint8_t event,
	const char *where, char *message, size_t size)
{
	struct event_spec *specs = NULL;
	struct event_error error;
	char text[512], about[128];
	size_t n = 0;
	int ret = -EINVAL;

	if (model->recorded) {
		snprintf(message, size, "A recording has no breakpoints");
		return -EROFS;
	}
	snprintf(text, sizeof(text), "mem:%s", where);
	/* The event keeps its length and access. */
	if (!strpbrk(where, "/,{}"))
		ret = event_parse_list(text, &specs, &n, &error);
	if (ret || n != 1) {
		snprintf(message, size,
			"'%s' is neither an address, such as 0x7f1234567890, nor a symbol",
			clean_string(about, sizeof(about), where));
		free(specs);
		return ret ? ret : -EINVAL;
	}
	if (!resolve_is_needed(specs, n)) {
		ret = engine_move_breakpoint(events->session->engine, event, specs[0].attr.bp_addr);
	} else {
		ret = begin_looking(events, model, specs, n);
		if (!ret) {
			events->moves = true;
			events->event = event;
			model_events_update(events, model);
		}
	}
	if (ret)
		snprintf(message, size, "The breakpoint cannot be moved: %s",
			ret == -EBUSY ? "another symbol is being looked for" : explain_errno(ret));
	free(specs);
	return ret;
}
