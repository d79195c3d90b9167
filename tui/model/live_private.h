/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live_private.h - internals of the live model, for live.c, live_commands.c,
 * live_groups.c and export.c.
 */
#ifndef TUI_MODEL_LIVE_PRIVATE_H
#define TUI_MODEL_LIVE_PRIVATE_H

#include "sampler/control/config.h"
#include "sampler/events/parse.h"
#include "tui/base/cost.h"
#include "tui/export/save.h"
#include "tui/model/activity.h"
#include "tui/model/baseline.h"
#include "tui/model/breakdown.h"
#include "tui/model/calls.h"
#include "tui/model/crumbs.h"
#include "tui/model/events.h"
#include "tui/model/groups.h"
#include "tui/model/heat.h"
#include "tui/model/lanes.h"
#include "tui/model/live.h"
#include "tui/model/queries.h"
#include "tui/session/chain_notes.h"
#include "tui/session/chosen.h"
#include "tui/session/export_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USERS_MAX 64

struct user {
	uint32_t uid;
	bool known;
	char name[24];
};

struct model_live {
	struct model model; /* must be first: ops cast it to struct model_live */
	struct session *session;
	struct hot *hot;
	struct model_crumbs crumbs;
	struct model_baseline baseline;
	struct cost cost;
	bool hangs; /* a writing thread hangs, so the session must stay */
	uint64_t started_ns;
	uint64_t memory_told_bytes,
		memory_measured_ns; /* resident bytes last logged; time of the help's account */
	uint64_t note_seen;
	struct chain_notes chain_notes;
	/* The query of the hot table's sums. */
	uint64_t hot_from_ns, hot_to_ns, hot_epoch;
	unsigned int hot_hide_idle; /* model_idle() */
	uint64_t names_at_ns; /* earliest time to take in new names */
	struct activity activity;
	struct model_calls calls;
	struct model_lanes lanes;
	struct model_groups groups;
	struct model_breakdown_sums breakdown;
	struct heat heat;
	/* The processes that the user chose in the picker.  has_chosen false: the session's
	 * target. */
	bool has_chosen;
	struct chosen chosen;
	struct save *save; /* current recording, or NULL */
	struct export_job *export_job; /* current export, or NULL */
	struct model_events events;
	uint64_t described_ns; /* time of the last update of model.target; 0: none */
	struct user users[USERS_MAX];
};

static inline struct model_live *model_live_of(struct model *model)
{
	return (struct model_live *)model;
}

extern const struct model_group_ops model_live_groups; /* live_groups.c */

void model_live_describe_chosen(struct model_live *live);
void model_live_take_fetching(struct model_live *live);

/* Implement model_queries. */
int model_live_export(struct model *model, const char *path, enum export_format format,
	char *message, size_t size); /* export.c */
void model_live_export_stop(struct model *model);
void model_live_take_export(struct model_live *live); /* called at every refresh */
void model_live_export_end(struct model_live *live); /* stops it and waits for its end */
int model_live_attach(struct model *model, int32_t pid);
int model_live_detach(struct model *model, int32_t pid);
int model_live_event_add(struct model *model, const char *text, struct event_error *error);
void model_live_look_cancel(struct model *model);
int model_live_event_drop(struct model *model, uint8_t event);
int model_live_move_breakpoint(
	struct model *model, uint8_t event, const char *where, char *message, size_t size);
int model_live_event_enable(struct model *model, uint8_t event, bool enable);
int model_live_set_filter(struct model *model, uint8_t event, const char *filter);
int model_live_pause(struct model *model, bool pause);
int model_live_snapshot(struct model *model);
int model_live_set_period(struct model *model, uint8_t event, uint64_t period);
int model_live_set_call_graph(struct model *model, enum engine_call_graph mode);
int model_live_set_freq(struct model *model, uint8_t event, uint64_t value);
int model_live_save(struct model *model, const char *path, char *message, size_t size);
int model_live_fetch(struct model *model, uint32_t symref, char *message, size_t size);
void model_live_fetch_cancel(struct model *model);
void model_live_save_stop(struct model *model);

#endif
