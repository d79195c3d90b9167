/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * system_dirs.h - the directories in which the kernel describes its events.
 */
#ifndef SAMPLER_MACHINE_SYSTEM_DIRS_H
#define SAMPLER_MACHINE_SYSTEM_DIRS_H

/* Roots of the event descriptions; tests use others. */
struct system_dirs {
	const char *sysfs;
	const char *tracefs; /* NULL: not mounted or unreadable */
	const char *proc; /* NULL: settings are not read */
};

/* Returns this machine's roots; found once.  Any thread. */
const struct system_dirs *system_dirs(void);

#endif
