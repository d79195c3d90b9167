/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cgroup.h - cgroups by name: mounted hierarchies, and the directory of a path or a container's id.
 *
 * perf_event_open(2) takes a directory of the version 1 hierarchy with the perf_event controller,
 * else of the unified hierarchy (version 2).  An event of a cgroup also covers the cgroups below
 * it.  No state; any thread.
 */
#ifndef SAMPLER_EVENTS_CGROUP_H
#define SAMPLER_EVENTS_CGROUP_H

#include "sampler/events/spec.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_ID_MIN 12 /* fewest digits that identify a container */
#define CGROUP_LABEL_MAX 40

/* Mount points of the hierarchies; empty if not mounted. */
struct cgroup_mounts {
	char perf_event[PATH_MAX]; /* version 1, with the perf_event controller */
	char unified[PATH_MAX]; /* version 2 */
	char memory[PATH_MAX]; /* version 1, with the memory controller */
	char other[PATH_MAX]; /* version 1, without perf_event: unusable for events */
};

/* Fills in the mounts from the text of /proc/self/mounts, or from the file itself (0 or -errno). */
void cgroup_parse_mounts(const char *text, struct cgroup_mounts *out);
int cgroup_mounts(struct cgroup_mounts *out);

/* Returns the mount point of the hierarchy for events; NULL if none is mounted. */
const char *cgroup_root(const struct cgroup_mounts *mounts);

/*
 * Finds the directory of a name given to -G.  The name is one of:
 * - an absolute path of a directory in the hierarchy;
 * - a path below the hierarchy's mount ("system.slice/ssh.service"; "/" is the root);
 * - a container id (12 to 64 hexadecimal digits) in a directory's name ("docker-ID.scope",
 *   "docker/ID").
 *
 * Returns 0 and the path in out.  Errors: -ENODEV: no hierarchy usable for events is mounted;
 * -EXDEV: a directory of another hierarchy; -ENOENT: no such cgroup; -EEXIST: several directories
 * have the id, none below the other; -ENAMETOOLONG; -ENOMEM.
 */
int cgroup_find(const struct cgroup_mounts *mounts, const char *name, char *out, size_t size);

/* Finds the cgroup whose path below the mount, or the last part of it, is nearest to name; "" if
 * none is near. */
void cgroup_near(const struct cgroup_mounts *mounts, const char *name, char *out, size_t size);

/* Writes a short label for a cgroup: the last part of its path, with a container id shortened.  Raw
 * bytes. */
void cgroup_label(const struct cgroup_mounts *mounts, const char *path, char out[CGROUP_LABEL_MAX]);

/* Lists the processes in a cgroup and below it: an array of *n for free().  Returns 0, -errno of
 * the top directory, or -ENOMEM. */
int cgroup_pids(const char *path, int32_t **pids, size_t *n);

/* Returns the lowest memory limit in bytes of a process's cgroups, or 0 if none is known.  own: the
 * text of its /proc/PID/cgroup.  Limits above the mounted hierarchy are invisible. */
uint64_t cgroup_memory_limit_of(const struct cgroup_mounts *mounts, const char *own);
uint64_t cgroup_memory_limit(void); /* limit of this process */

/* Counts the cgroups of the hierarchy, up to max. */
size_t cgroup_count(const struct cgroup_mounts *mounts, size_t max);

/* Identifies the current directory of a path: 0 and its inode number, or -errno.  A recreated
 * cgroup has another inode. */
int cgroup_identity(const char *path, uint64_t *inode);

/* Copies each event once per cgroup and keeps groups together.  Events that already have a cgroup
 * are copied once.  Returns 0 and an array of *n_out for free(); -ENOMEM; -E2BIG (more than
 * max). */
int cgroup_spread(const struct event_spec *specs, size_t n, const struct event_cgroup *cgroups,
	size_t n_cgroups, size_t max, struct event_spec **out, size_t *n_out);

#endif
