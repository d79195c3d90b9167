/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cgroups.h - the cgroups given with -G: their directories and labels, and error messages for
 * unknown ones.
 *
 * UI thread.
 */
#ifndef TUI_SESSION_CGROUPS_H
#define TUI_SESSION_CGROUPS_H

#include "sampler/events/cgroup.h"
#include "sampler/machine/proc.h"
#include "sampler/store/store.h"

#include <stddef.h>

struct engine_status;

#define CGROUPS_MAX 64

/* Finds directories and unique labels for the names; repeated cgroups are stored once.  Returns 0,
 * or -errno after writing a cleaned message. */
int cgroups_find(const struct cgroup_mounts *mounts, char *const *names, size_t n,
	struct event_cgroup out[CGROUPS_MAX], size_t *n_out, char *message, size_t size);

/* Explains why a name is refused.  error: positive errno of cgroup_find().  Writes a cleaned
 * sentence. */
void cgroups_explain(
	const struct cgroup_mounts *mounts, const char *name, int error, char *out, size_t size);

/* Reports the cgroups without tasks in a cleaned sentence; "" if all have tasks. */
void cgroups_empty(const struct event_cgroup *cgroups, size_t n, char *out, size_t size);

/* Returns the processes in all cgroups, for a user who may not sample whole CPUs.  The caller frees
 * *pids.  Returns 0 or -errno. */
int cgroups_pids(const struct event_cgroup *cgroups, size_t n, int32_t **pids, size_t *n_pids);

/* Stores by event number the first event that differs in its cgroup alone.  Returns false if no
 * event has a cgroup. */
bool cgroups_stand_for(const struct engine_status *status, uint8_t stands_for[STORE_EVENTS_MAX]);

/* Cleaned cgroup labels by event number; NULL if the event has no cgroup. */
struct cgroup_labels {
	const char *of[STORE_EVENTS_MAX];
	char bytes[STORE_EVENTS_MAX][2 * CGROUP_LABEL_MAX]; /* private */
};
void cgroups_label(const struct engine_status *status, struct cgroup_labels *labels);

/* Formats "cgroup web", "3 cgroups: web, db, cache"; not cleaned. */
void cgroups_describe(const struct event_cgroup *cgroups, size_t n, char *out, size_t size);

#endif
