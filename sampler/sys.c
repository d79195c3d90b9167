/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sys.c - see sys.h.
 */
#include "sampler/sys.h"

#include "sampler/event.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

int sys_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

void sys_dummy(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

void sys_format(struct record_format *out, const struct sys_features *features, bool callchain)
{
	*out = (struct record_format){
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			PERF_FORMAT_ID,
		.sample_id_all = true,
	};
	if (callchain)
		out->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (features->lost)
		out->read_format |= PERF_FORMAT_LOST;
}

void sys_setup(struct perf_event_attr *attr, const struct sys_features *features,
	const struct sys_setup *setup)
{
	struct record_format format;

	sys_format(&format, features, setup->callchain);
	attr->size = sizeof(*attr);
	attr->sample_type = format.sample_type;
	if (!attr->freq)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	attr->read_format = format.read_format;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->disabled = 1;
	attr->inherit = setup->inherit;
	attr->enable_on_exec = setup->on_exec;
	attr->sample_max_stack = setup->callchain ? setup->max_stack : 0;
	if (setup->fork_records)
		attr->task = 1;
	if (setup->map_records) {
		attr->mmap = 1;
		attr->mmap2 = features->mmap2;
		attr->comm = 1;
		attr->comm_exec = features->comm_exec;
		attr->ksymbol = attr->bpf_event = features->ksymbol;
	}
	if (setup->wakeup_bytes) {
		attr->watermark = 1;
		attr->wakeup_watermark = setup->wakeup_bytes;
	}
}

int sys_probe(struct sys_features *out)
{
	/* From the newest kernel to the oldest that has a clock to share. */
	static const struct sys_features known[] = {
		{.mmap2 = true, .comm_exec = true, .ksymbol = true, .lost = true},
		{.mmap2 = true, .comm_exec = true, .ksymbol = true},
		{.mmap2 = true, .comm_exec = true},
		{0},
	};
	const struct sys_setup setup = {.fork_records = true, .map_records = true};
	int fd = -EINVAL;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && fd == -EINVAL; i++) {
		struct perf_event_attr attr;

		sys_dummy(&attr);
		sys_setup(&attr, &known[i], &setup);
		fd = sys_open(&attr, 0, -1);
		*out = known[i];
	}
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int sys_read(int fd, const struct sys_features *features, struct sys_counts *out)
{
	uint64_t words[5] = {0};
	/* The kernel refuses a buffer that is too small and leaves what is beyond its format. */
	ssize_t len = read(fd, words, features->lost ? 40 : 32);

	*out = (struct sys_counts){0};
	if (len < 0)
		return -errno;
	if (len < 32)
		return -EIO; /* a pinned event in error state reads as end of file */
	*out = (struct sys_counts){
		.value = words[0],
		.enabled_ns = words[1],
		.running_ns = words[2],
		.id = words[3],
		.lost = words[4],
	};
	return 0;
}

int sys_id(int fd, uint64_t *id)
{
	return ioctl(fd, PERF_EVENT_IOC_ID, id) ? -errno : 0;
}

int sys_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int sys_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int sys_refresh(int fd, uint32_t overflows)
{
	return ioctl(fd, PERF_EVENT_IOC_REFRESH, (unsigned long)overflows) ? -errno : 0;
}

int sys_set_output(int fd, int ring_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (long)ring_fd) ? -errno : 0;
}

int sys_set_period(int fd, const struct perf_event_attr *attr)
{
	uint64_t value = attr->freq ? attr->sample_freq : attr->sample_period;

	if (attr->freq && event_is_clock(attr) && value)
		value = NS_PER_S / value;
	if (!value)
		return -EINVAL;
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &value) ? -errno : 0;
}

uint64_t sys_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t sys_raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1024;
	if (limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};

		if (!setrlimit(RLIMIT_NOFILE, &raised))
			limit = raised;
	}
	return limit.rlim_cur;
}
