/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_fixture.h - a machine's sysfs and tracefs, made of files in a directory of their own.
 *
 * The machine has an Intel core PMU and two memory controllers, an Arm and an AMD PMU, probes, and
 * some tracepoints.
 */
#ifndef TESTS_UNIT_EVENT_FIXTURE_H
#define TESTS_UNIT_EVENT_FIXTURE_H

#include "sampler/events/spec.h"
#include "tests/unit/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct event_fixture {
	char root[64], sysfs[80], tracefs[80];
	struct system_dirs system;
};

/* Writes a file such as "sys/.../type", and makes its directories.  text NULL: makes a
 * directory. */
static inline int fixture_file(struct event_fixture *fixture, const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", fixture->root, path);
	for (char *at = full + strlen(fixture->root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(full, 0755);
		*at = '/';
	}
	if (!text)
		return mkdir(full, 0755);
	file = fopen(full, "we");
	if (!file)
		return -1;
	fputs(text, file);
	return fclose(file);
}

#define FIXTURE_PMUS "sys/bus/event_source/devices/"

static const struct {
	const char *path, *text;
} fixture_files[] = {
	{FIXTURE_PMUS "cpu/type", "4\n"},
	{FIXTURE_PMUS "cpu/format/event", "config:0-7\n"},
	{FIXTURE_PMUS "cpu/format/umask", "config:8-15\n"},
	{FIXTURE_PMUS "cpu/format/edge", "config:18\n"},
	{FIXTURE_PMUS "cpu/format/ldlat", "config1:0-15\n"},
	{FIXTURE_PMUS "cpu/format/split", "config:0-7,32-35\n"},
	{FIXTURE_PMUS "cpu/format/third", "config3:4-7\n"},
	{FIXTURE_PMUS "cpu/format/broken", "no format\n"},
	{FIXTURE_PMUS "cpu/events/cache-misses", "event=0x2e,umask=0x41\n"},
	{FIXTURE_PMUS "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
	{FIXTURE_PMUS "cpu/events/topdown.slots", "event=0x00,umask=0x4\n"},
	{FIXTURE_PMUS "cpu/events/asks", "event=0x5,umask=?\n"},
	{FIXTURE_PMUS "cpu/events/strange", "nonsense=1\n"},
	{FIXTURE_PMUS "cpu/caps/max_precise", "3\n"},
	{FIXTURE_PMUS "uncore_imc_0/type", "20\n"},
	{FIXTURE_PMUS "uncore_imc_0/cpumask", "0,8\n"},
	{FIXTURE_PMUS "uncore_imc_0/format/event", "config:0-7\n"},
	{FIXTURE_PMUS "uncore_imc_0/format/umask", "config:8-15\n"},
	{FIXTURE_PMUS "uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03\n"},
	{FIXTURE_PMUS "uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5\n"},
	{FIXTURE_PMUS "uncore_imc_0/events/cas_count_read.unit", "MiB\n"},
	{FIXTURE_PMUS "uncore_imc_1/type", "21\n"},
	{FIXTURE_PMUS "uncore_imc_1/cpumask", "0,8\n"},
	{FIXTURE_PMUS "uncore_imc_1/format/event", "config:0-7\n"},
	{FIXTURE_PMUS "uncore_imc_1/format/umask", "config:8-15\n"},
	{FIXTURE_PMUS "uncore_imc_1/events/cas_count_read", "event=0x04,umask=0x03\n"},
	{FIXTURE_PMUS "armv8_pmuv3_0/type", "8\n"},
	{FIXTURE_PMUS "armv8_pmuv3_0/cpus", "0-3\n"},
	{FIXTURE_PMUS "armv8_pmuv3_0/format/event", "config:0-15\n"},
	{FIXTURE_PMUS "armv8_pmuv3_0/format/long", "config1:0\n"},
	{FIXTURE_PMUS "armv8_pmuv3_0/events/inst_retired", "event=0x0008\n"},
	{FIXTURE_PMUS "amd_l3/type", "11\n"},
	{FIXTURE_PMUS "amd_l3/cpumask", "0\n"},
	{FIXTURE_PMUS "amd_l3/format/event", "config:0-7\n"},
	{FIXTURE_PMUS "kprobe/type", "6\n"},
	{FIXTURE_PMUS "kprobe/format/retprobe", "config:0\n"},
	{FIXTURE_PMUS "uprobe/type", "7\n"},
	{FIXTURE_PMUS "uprobe/format/retprobe", "config:0\n"},
	{FIXTURE_PMUS "uprobe/format/ref_ctr_offset", "config:32-63\n"},
	{FIXTURE_PMUS "software/type", "1\n"},
	{"trace/events/enable", "0\n"},
	{"trace/events/sched/enable", "0\n"},
	{"trace/events/sched/sched_switch/id", "316\n"},
	{"trace/events/sched/sched_switch/format", "name: sched_switch\nID: 316\n"},
	{"trace/events/sched/sched_wakeup/id", "318\n"},
	{"trace/events/sched/sched_waking/id", "319\n"},
	{"trace/events/sched/bad/id", "x1\n"},
	{"trace/events/syscalls/sys_enter_read/id", "700\n"},
	{"trace/events/syscalls/sys_exit_read/id", "699\n"},
	{"trace/events/ftrace/function/format", "name: function\n"},
};

static inline void fixture_make(struct event_fixture *fixture)
{
	strcpy(fixture->root, "/tmp/strobe-events-XXXXXX");
	if (!mkdtemp(fixture->root))
		abort();
	for (size_t i = 0; i < sizeof(fixture_files) / sizeof(*fixture_files); i++)
		if (fixture_file(fixture, fixture_files[i].path, fixture_files[i].text))
			abort();
	snprintf(fixture->sysfs, sizeof(fixture->sysfs), "%s/sys", fixture->root);
	snprintf(fixture->tracefs, sizeof(fixture->tracefs), "%s/trace", fixture->root);
	fixture->system =
		(struct system_dirs){.sysfs = fixture->sysfs, .tracefs = fixture->tracefs};
}

static inline void fixture_remove(struct event_fixture *fixture)
{
	scratch_remove_tree(fixture->root);
}

#endif
