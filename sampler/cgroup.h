/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cgroup.h - cgroups by name: where their hierarchies are mounted, and the directory of a path or a container's id.
 *
 * perf_event_open(2) takes a directory of the hierarchy that has the perf_event controller (version 1), else of the
 * unified one (version 2).  An event of a cgroup is also of those below it.  No state; any thread.
 */
#ifndef SAMPLER_CGROUP_H
#define SAMPLER_CGROUP_H

#include "sampler/event.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_ID_MIN 12 /* digits of a container's id that are enough */
#define CGROUP_LABEL_MAX 40

/* Mounted hierarchies; a path is empty where there is none. */
struct cgroup_mounts {
	char perf_event[PATH_MAX]; /* version 1, with the controller */
	char unified[PATH_MAX]; /* version 2 */
	char memory[PATH_MAX]; /* version 1, with the controller of memory */
	char other[PATH_MAX]; /* version 1, with other controllers alone: of no use to events */
};

/* From the text of /proc/self/mounts, and from the file itself: 0 or -errno. */
void cgroup_parse_mounts(const char *text, struct cgroup_mounts *out);
int cgroup_mounts(struct cgroup_mounts *out);

/* The hierarchy that events are opened on; NULL: none is mounted. */
const char *cgroup_root(const struct cgroup_mounts *mounts);

/*
 * The directory of what -G names: an absolute path of a directory in the hierarchy, a path below the hierarchy's mount
 * ("system.slice/ssh.service", "/" is all of it), or the id of a container (12 to 64 hexadecimal digits) that is
 * part of a directory's name ("docker-ID.scope", "docker/ID").
 * 0 and a path; -ENODEV: no hierarchy that events can use is mounted; -EXDEV: a directory of another hierarchy; -ENOENT:
 * no such cgroup; -EEXIST: an id that more than one directory has, none below the other; -ENAMETOOLONG, -ENOMEM.
 */
int cgroup_find(const struct cgroup_mounts *mounts, const char *name, char *out, size_t size);

/* The cgroup whose path below the mount, or the last part of it, is nearest to name; "" where none is near. */
void cgroup_near(const struct cgroup_mounts *mounts, const char *name, char *out, size_t size);

/* What a cgroup is called in a column: the last part of its path, an id of a container cut short.  Raw bytes. */
void cgroup_label(const struct cgroup_mounts *mounts, const char *path, char out[CGROUP_LABEL_MAX]);

/* The processes in it and below it, an array of *n for free().  -errno of the first directory; -ENOMEM. */
int cgroup_pids(const char *path, int32_t **pids, size_t *n);

/* Returns the lowest memory limit, in bytes, of a process's cgroups; 0 if none is known. own: the
 * text of its /proc/PID/cgroup.  Limits above the mounted hierarchy are not seen. */
uint64_t cgroup_memory_limit_of(const struct cgroup_mounts *mounts, const char *own);
uint64_t cgroup_memory_limit(void); /* of this process */

/* How many cgroups the hierarchy has, counting no further than max. */
size_t cgroup_count(const struct cgroup_mounts *mounts, size_t max);

/* Which directory a path is now: 0 and its inode's number, or -errno.  A cgroup that was made anew is another one. */
int cgroup_identity(const char *path, uint64_t *inode);

/* Each event once for each cgroup, groups staying together: events that have one already are left as they are.  An array of
 * *n_out for free(), or -ENOMEM, -E2BIG (more than max). */
int cgroup_spread(const struct event_spec *specs, size_t n, const struct event_cgroup *cgroups,
	size_t n_cgroups, size_t max, struct event_spec **out, size_t *n_out);

#endif
