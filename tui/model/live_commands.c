/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live_commands.c - commands of the screen to the engine: targets, events, saving, fetching.
 */
#include "tui/model/live_private.h"

#include "sampler/control/config.h"
#include "sampler/engine/engine.h"
#include "sampler/events/parse.h"
#include "tui/names/names.h"

#include <errno.h>
#include <stdlib.h>

/* Starts the user's choice of processes with those followed now. */
static void begin_choice(struct model_live *live)
{
	int32_t *pids = NULL;
	size_t n = 0;

	if (live->has_chosen || engine_followed(live->session->engine, &pids, &n))
		return;
	live->has_chosen = true;
	for (size_t i = 0; i < n; i++)
		chosen_add(&live->chosen, pids[i], true, live->model.now_ns);
	free(pids);
}

int model_live_attach(struct model *model, int32_t pid)
{
	struct model_live *live = model_live_of(model);
	int ret = model->recorded ? -EROFS : engine_attach(live->session->engine, pid);

	if (ret)
		return ret;
	begin_choice(live);
	/* If the whole machine was sampled, the engine drops all other processes. */
	model->system_wide = false;
	chosen_add(&live->chosen, pid, false, model->now_ns);
	model_live_describe_chosen(live);
	return 0;
}

int model_live_detach(struct model *model, int32_t pid)
{
	struct model_live *live = model_live_of(model);
	int ret = model->recorded ? -EROFS : engine_detach(live->session->engine, pid);

	if (ret)
		return ret;
	begin_choice(live);
	chosen_remove(&live->chosen, pid);
	model_live_describe_chosen(live);
	return 0;
}

int model_live_event_add(struct model *model, const char *text, struct event_error *error)
{
	return model_events_add(&model_live_of(model)->events, model, text, error);
}

void model_live_look_cancel(struct model *model)
{
	model_events_cancel(&model_live_of(model)->events, model);
}

int model_live_event_drop(struct model *model, uint8_t event)
{
	return model->recorded ? -EROFS
			       : engine_event_drop(model_live_of(model)->session->engine, event);
}

int model_live_move_breakpoint(
	struct model *model, uint8_t event, const char *where, char *message, size_t size)
{
	return model_events_move(&model_live_of(model)->events, model, event, where, message, size);
}

int model_live_event_enable(struct model *model, uint8_t event, bool enable)
{
	return model->recorded
		? -EROFS
		: engine_event_enable(model_live_of(model)->session->engine, event, enable);
}

int model_live_set_filter(struct model *model, uint8_t event, const char *filter)
{
	return model->recorded
		? -EROFS
		: engine_set_filter(model_live_of(model)->session->engine, event, filter);
}

int model_live_pause(struct model *model, bool pause)
{
	return model->recorded ? -EROFS
			       : engine_pause(model_live_of(model)->session->engine, pause);
}

int model_live_snapshot(struct model *model)
{
	return model->recorded ? -EROFS : engine_snapshot(model_live_of(model)->session->engine);
}

int model_live_set_call_graph(struct model *model, enum engine_call_graph mode)
{
	return model->recorded ? -EROFS
			       : engine_set_call_graph(model_live_of(model)->session->engine, mode);
}

int model_live_set_period(struct model *model, uint8_t event, uint64_t period)
{
	return model->recorded
		? -EROFS
		: engine_set_period(model_live_of(model)->session->engine, event, period);
}

int model_live_set_freq(struct model *model, uint8_t event, uint64_t value)
{
	return model->recorded
		? -EROFS
		: engine_set_freq(model_live_of(model)->session->engine, event, value);
}

int model_live_save(struct model *model, const char *path, char *message, size_t size)
{
	struct model_live *live = model_live_of(model);
	int ret;

	if (live->save)
		return -EALREADY;
	ret = save_start(&live->save, live->session, path, model->zero_ns,
		model->frozen ? model->strip_to_ns : UINT64_MAX, message, size);
	model->saving = !ret;
	model->saving_percent = 0;
	return ret;
}

int model_live_fetch(struct model *model, uint32_t symref, char *message, size_t size)
{
	const struct session *session = model_live_of(model)->session;
	const struct symref *symbol = names_get(session->names, symref);
	const int ret =
		symbol->foreign ? -ENOENT : symbols_fetch(session->symbols, symbol->image_id);

	explain_fetch(ret, symbol->image, message, size);
	model_live_take_fetching(model_live_of(model));
	return ret == -EALREADY && model->fetching.waiting ? 0 : ret;
}

void model_live_fetch_cancel(struct model *model)
{
	symbols_fetch_cancel(model_live_of(model)->session->symbols);
	model_live_take_fetching(model_live_of(model));
}

void model_live_save_stop(struct model *model)
{
	struct model_live *live = model_live_of(model);

	live->hangs |= !save_free(live->save);
	live->save = NULL;
	model->saving = false;
}
