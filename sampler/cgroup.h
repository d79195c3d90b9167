/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cgroup.h - cgroups by name: where their hierarchies are mounted, and the directory of a path or a container's id.
 *
 * perf_event_open(2) takes a directory of the hierarchy that has the perf_event controller (version 1), else of the
 * unified one (version 2).  No state; any thread.
 */
#ifndef SAMPLER_CGROUP_H
#define SAMPLER_CGROUP_H

#include <stddef.h>

/* Mounted hierarchies; a path is empty where there is none. */
struct cgroup_mounts {
	char perf_event[4096]; /* version 1, with the controller */
	char unified[4096]; /* version 2 */
};

/* From the text of /proc/self/mounts, and from the file itself: 0 or -errno. */
void cgroup_parse_mounts(const char *text, struct cgroup_mounts *out);
int cgroup_mounts(struct cgroup_mounts *out);

/*
 * The directory of what -G names: an absolute path of a directory in a hierarchy, a path below the hierarchy's mount
 * ("system.slice/ssh.service", "/" is all of it), or the id of a container (12 to 64 hexadecimal digits) that is
 * part of a directory's name ("docker-ID.scope", "docker/ID").
 * 0 and a path; -ENODEV: no hierarchy that events can use is mounted; -ENOENT: no such cgroup; -EEXIST: an id that more
 * than one directory has, none below the other; -ENAMETOOLONG, -ENOMEM.
 */
int cgroup_find(const struct cgroup_mounts *mounts, const char *name, char *out, size_t size);

#endif
