/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cgroups.h - cgroups that were named with -G: their directories, and what to say where there is none.
 *
 * UI thread.
 */
#ifndef TUI_CGROUPS_H
#define TUI_CGROUPS_H

#include "sampler/cgroup.h"
#include "sampler/engine.h"
#include "sampler/proc.h"

#include <stddef.h>

#define CGROUPS_MAX 64

/* Directories and labels of what was named, each once; labels differ.  0; or -errno after one sentence (cleaned). */
int cgroups_find(const struct cgroup_mounts *mounts, char *const *names, size_t n,
	struct event_cgroup out[CGROUPS_MAX], size_t *n_out, char *message, size_t size);

/* Why a name is refused (positive errno of cgroup_find()): a sentence, cleaned. */
void cgroups_explain(
	const struct cgroup_mounts *mounts, const char *name, int error, char *out, size_t size);

/* Which of them have no task now: a sentence, cleaned; "" where all have one. */
void cgroups_empty(const struct event_cgroup *cgroups, size_t n, char *out, size_t size);

/* The processes in all of them, for free(): what a user may sample who may not sample whole CPUs.  0 or -errno. */
int cgroups_pids(const struct event_cgroup *cgroups, size_t n, int32_t **pids, size_t *n_pids);

/* By number the event that stands for each: the first of those that differ in their cgroup alone.  False: none has one. */
bool cgroups_stand_for(const struct engine_status *status, uint8_t stands_for[STORE_EVENTS_MAX]);

/* Labels of events' cgroups by the events' numbers, cleaned; NULL where there is none. */
struct cgroup_labels {
	const char *of[STORE_EVENTS_MAX];
	char bytes[STORE_EVENTS_MAX][2 * CGROUP_LABEL_MAX]; /* private */
};
void cgroups_label(const struct engine_status *status, struct cgroup_labels *labels);

/* "cgroup web", "3 cgroups: web, db, cache": raw. */
void cgroups_describe(const struct event_cgroup *cgroups, size_t n, char *out, size_t size);

#endif
