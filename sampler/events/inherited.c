// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * inherited.c - creates and removes the probes of inherited events, as tracepoints; see
 * inherited.h.
 */
#include "sampler/events/inherited.h"

#include "sampler/base/grow.h"
#include "sampler/events/event.h"
#include "sampler/machine/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUSY_ROUNDS 100
#define BUSY_PAUSE_NS 5000000 /* an ending task still holds its copy of an event */
#define RETURNS_MAX 4096 /* kernel limit: returns of one function awaited at a time */

static const struct inherited_kind {
	const char *pmu, *file;
} kinds[] = {
	{"uprobe", "uprobe_events"},
	{"kprobe", "kprobe_events"},
};

/* The key of a probe.  Pointers can be compared, since event_text() keeps each text once. */
struct inherited_probe {
	const char *probe, *bpf;
	uint64_t config, offset;
	size_t kind, number;
	uint64_t id; /* tracepoint id */
};

static size_t find_kind(const struct event_spec *spec)
{
	return !strcmp(spec->pmu, kinds[0].pmu) ? 0 : 1;
}

static int open_file(size_t kind)
{
	const char *tracefs = system_dirs()->tracefs;
	char path[PATH_MAX];
	int fd;

	/* O_TRUNC would remove all probes of the system. */
	snprintf(path, sizeof(path), "%s/%s", tracefs ? tracefs : "/sys/kernel/tracing",
		kinds[kind].file);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

__attribute__((format(printf, 2, 3))) static int write_line(int fd, const char *format, ...)
{
	char line[EVENT_NAME_MAX + PATH_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(line))
		return -ENAMETOOLONG;
	return write(fd, line, (size_t)len) < 0 ? -errno : 0;
}

/* --- leftovers --- */

static struct flock mark_lock(uint64_t mark)
{
	return (struct flock){
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)mark,
		.l_len = 1,
	};
}

static bool is_alive(int fd, uint64_t mark)
{
	struct flock lock = mark_lock(mark);

	return fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type != F_UNLCK;
}

/* Removes the probe in a line if its strobe has ended.  Line: "p:strobe_12_18a1b2c3d4e5f678/p0
 * /bin/true:0x1000"; a return probe begins with r and a number. */
static void remove_leftover(int fd, const char *line)
{
	const char *name = strchr(line, ':');
	size_t len = name ? strcspn(++name, " \n") : 0;
	char event[EVENT_NAME_MAX];
	uint64_t mark;
	int end = 0;

	if (!len || len >= sizeof(event))
		return;
	memcpy(event, name, len);
	event[len] = 0;
	if (sscanf(event, "strobe_%*u_%" SCNx64 "/p%*u%n", &mark, &end) != 1 ||
		(size_t)end != len || mark > INT64_MAX || is_alive(fd, mark))
		return;
	(void)write_line(fd, "-:%s\n", event);
}

static void remove_leftovers(size_t kind)
{
	int fd = open_file(kind);
	char *text, *rest, *line;

	if (fd < 0)
		return;
	if (!sysfile_read(&text, NULL, "/proc/self/fd/%d", fd)) {
		rest = text;
		while ((line = strsep(&rest, "\n")))
			remove_leftover(fd, line);
		free(text);
	}
	close(fd);
}

void inherited_init(struct inherited *inherited)
{
	struct timespec now;

	/* CLOCK_REALTIME has one value in all namespaces, unlike other clocks. */
	clock_gettime(CLOCK_REALTIME, &now);
	*inherited = (struct inherited){
		.files = {{.fd = -1}, {.fd = -1}},
		.mark = ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) & INT64_MAX,
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		remove_leftovers(i);
}

/* --- probes --- */

static int lock_file(struct inherited *inherited, size_t kind)
{
	struct inherited_file *file = &inherited->files[kind];

	if (file->fd < 0) {
		int fd = open_file(kind);

		if (fd < 0)
			return fd;
		file->fd = fd;
	}
	while (!file->locked) {
		struct flock lock = mark_lock(inherited->mark);

		if (!fcntl(file->fd, F_OFD_SETLK, &lock))
			file->locked = true;
		/* Another strobe or engine began in the very same nanosecond. */
		else if (errno == EAGAIN && !inherited->n)
			inherited->mark++;
		else
			return -errno;
	}
	return 0;
}

/* A uprobe's path may contain blanks or colons, which the file's syntax excludes.  The path of its
 * descriptor replaces it. */
static int create_uprobe(
	const struct inherited *inherited, const struct inherited_probe *probe, const char *name)
{
	int fd = open(probe->probe, O_PATH | O_CLOEXEC), ret;
	uint64_t counter = probe->config >> 32;
	char counted[32] = "";

	if (fd < 0)
		return -errno;
	if (counter)
		snprintf(counted, sizeof(counted), "(0x%" PRIx64 ")", counter);
	ret = write_line(inherited->files[probe->kind].fd,
		"%c:%s /proc/self/fd/%d:0x%" PRIx64 "%s\n", probe->config & 1 ? 'r' : 'p', name, fd,
		probe->offset, counted);
	close(fd);
	return ret;
}

static int create_kprobe(
	const struct inherited *inherited, const struct inherited_probe *probe, const char *name)
{
	int fd = inherited->files[probe->kind].fd;
	char type[16] = "p";

	if (probe->config & 1)
		snprintf(type, sizeof(type), "r%d", RETURNS_MAX);
	if (!probe->probe)
		return write_line(fd, "%s:%s 0x%" PRIx64 "\n", type, name, probe->offset);
	return write_line(fd, "%s:%s %s+%" PRIu64 "\n", type, name, probe->probe, probe->offset);
}

static void set_group(const struct inherited *inherited, char *out, size_t size)
{
	snprintf(out, size, "strobe_%d_%" PRIx64, (int)getpid(), inherited->mark);
}

/* *rounds: the remaining waits of all probes. */
static void remove_probe(
	const struct inherited *inherited, const struct inherited_probe *probe, int *rounds)
{
	const struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
	char group[EVENT_NAME_MAX];

	set_group(inherited, group, sizeof(group));
	while (write_line(inherited->files[probe->kind].fd, "-:%s/p%zu\n", group, probe->number) ==
			-EBUSY &&
		*rounds > 0) {
		--*rounds;
		nanosleep(&pause, NULL);
	}
}

static int create_probe(struct inherited *inherited, struct inherited_probe *probe)
{
	char group[EVENT_NAME_MAX], name[EVENT_NAME_MAX + 32], number[32];
	int ret = lock_file(inherited, probe->kind), rounds = BUSY_ROUNDS;

	if (ret)
		return ret;
	set_group(inherited, group, sizeof(group));
	snprintf(number, sizeof(number), "p%zu", probe->number);
	snprintf(name, sizeof(name), "%s/%s", group, number);
	ret = probe->kind ? create_kprobe(inherited, probe, name)
			  : create_uprobe(inherited, probe, name);
	if (ret)
		return ret;
	ret = tracefs_id(system_dirs(), group, number, &probe->id);
	if (ret)
		remove_probe(inherited, probe, &rounds);
	return ret;
}

static struct inherited_probe *find_probe(
	struct inherited *inherited, const struct event_spec *spec)
{
	for (size_t i = 0; i < inherited->n; i++) {
		struct inherited_probe *probe = &inherited->probes[i];

		if (probe->kind == find_kind(spec) && probe->probe == spec->probe &&
			probe->bpf == spec->bpf && probe->config == spec->attr.config &&
			probe->offset == spec->attr.config2)
			return probe;
	}
	return NULL;
}

static int add_probe(
	struct inherited *inherited, const struct event_spec *spec, struct inherited_probe **out)
{
	int ret = grow_exact(&inherited->probes, inherited->n + 1, sizeof(*inherited->probes));

	if (ret)
		return ret;
	*out = &inherited->probes[inherited->n];
	**out = (struct inherited_probe){
		.probe = spec->probe,
		.bpf = spec->bpf,
		.config = spec->attr.config,
		.offset = spec->attr.config2,
		.kind = find_kind(spec),
		.number = inherited->n,
	};
	ret = create_probe(inherited, *out);
	if (!ret)
		inherited->n++;
	return ret;
}

/* With perf_event_open() alone, the kernel awaits 10 returns at a time, or twice the number of
 * CPUs.  It skips further calls without a record. */
static bool is_kernel_return(const struct event_spec *spec)
{
	return event_is_probe(spec) && find_kind(spec) == 1 && spec->attr.config & 1;
}

int inherited_prepare(struct inherited *inherited, const struct event_spec *spec,
	struct perf_event_attr *attr, bool *refused)
{
	struct inherited_probe *probe;
	int ret;

	*refused = false;
	if (!attr->inherit && !is_kernel_return(spec))
		return 0;
	if (attr->inherit && event_is_in_kernel(attr)) {
		*refused = true;
		return -EPERM;
	}
	if (!event_is_probe(spec))
		return 0;
	probe = find_probe(inherited, spec);
	if (!probe) {
		ret = add_probe(inherited, spec, &probe);
		if (ret && !attr->inherit)
			return 0;
		/* Unless the file was locked, the kernel has not seen the probe itself. */
		*refused = ret && !inherited->files[find_kind(spec)].locked;
		if (ret)
			return ret;
	}
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = probe->id;
	attr->config1 = attr->config2 = 0;
	return 0;
}

void inherited_fini(struct inherited *inherited)
{
	int rounds = BUSY_ROUNDS;

	for (size_t i = 0; i < inherited->n; i++)
		remove_probe(inherited, &inherited->probes[i], &rounds);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (inherited->files[i].fd >= 0)
			close(inherited->files[i].fd);
	free(inherited->probes);
	*inherited = (struct inherited){.files = {{.fd = -1}, {.fd = -1}}};
}
