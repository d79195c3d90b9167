/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sys.c - perf_event_open(2), its ioctls, and attributes; see sys.h. */
#include "sampler/kernel/sys.h"

#include "sampler/kernel/attr.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

/* PERF_ATTR_SIZE_VER8, which not every header has. */
struct long_attr {
	struct perf_event_attr attr;
	uint64_t config3;
};

#define LONG_ATTR_BYTES 136u
#define CONFIG3_OFFSET 128u

/* Not allowed, so that ids and times are at the same place in all records. */
#define SAMPLE_FORBIDDEN ((uint64_t)(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID))

#define GROUP_MAX 64

int sys_open_at(const struct perf_event_attr *attr, const struct sys_place *place)
{
	struct long_attr longer;
	const void *request = attr;
	long fd;

	if (place->config3) {
		memset(&longer, 0, sizeof(longer));
		longer.attr = *attr;
		longer.attr.size = LONG_ATTR_BYTES;
		memcpy((char *)&longer + CONFIG3_OFFSET, &place->config3, sizeof(place->config3));
		request = &longer;
	}
	fd = syscall(SYS_perf_event_open, request, place->pid, place->cpu, place->group_fd,
		place->flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int sys_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	const struct sys_place place = {.pid = pid, .cpu = cpu, .group_fd = -1};

	return sys_open_at(attr, &place);
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
		.no_build_ids = true,
	};
	if (callchain)
		out->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (features->lost)
		out->read_format |= PERF_FORMAT_LOST;
}

void sys_format_of(struct record_format *out, const struct perf_event_attr *attr)
{
	*out = (struct record_format){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user = attr->sample_regs_user,
		.regs_intr = attr->sample_regs_intr,
		.sample_id_all = attr->sample_id_all,
		.no_user_chain = attr->exclude_callchain_user,
		.no_build_ids = true,
	};
}

static void set_up_samples(struct perf_event_attr *attr, const struct record_format *format,
	const struct sys_setup *setup)
{
	attr->sample_type = (attr->sample_type | setup->sample_more) & ~SAMPLE_FORBIDDEN;
	attr->sample_type |= format->sample_type;
	attr->read_format = format->read_format;
	if (!attr->freq)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (setup->read_group) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format |= PERF_FORMAT_GROUP;
	}
	if (setup->read_self)
		attr->sample_type |= PERF_SAMPLE_READ;
	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		attr->branch_sample_type = 0;
	else if (!attr->branch_sample_type)
		attr->branch_sample_type = setup->branch_sample_type ? setup->branch_sample_type
								     : PERF_SAMPLE_BRANCH_ANY;
	if (!setup->callchain)
		attr->sample_max_stack = 0;
	if (setup->stack_bytes) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = setup->stack_registers;
		attr->sample_stack_user = setup->stack_bytes;
	}
}

void sys_setup(struct perf_event_attr *attr, const struct sys_features *features,
	const struct sys_setup *setup)
{
	struct record_format format;

	sys_format(&format, features, setup->callchain);
	attr->size = sizeof(*attr);
	set_up_samples(attr, &format, setup);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->disabled = 1;
	attr->inherit = setup->inherit;
	attr->inherit_thread = setup->inherit && setup->inherit_thread;
	attr->inherit_stat = setup->inherit && setup->inherit_stat;
	attr->enable_on_exec = setup->on_exec;
	attr->remove_on_exec = setup->until_exec;
	if (setup->no_kernel_chain)
		attr->exclude_callchain_kernel = 1;
	if (setup->no_user_chain)
		attr->exclude_callchain_user = 1;
	attr->write_backward = setup->backward;
	if (setup->fork_records)
		attr->task = 1;
	if (setup->map_records) {
		attr->mmap = 1;
		attr->mmap2 = features->mmap2;
		attr->mmap_data = setup->data_maps;
		attr->comm = 1;
		attr->comm_exec = features->comm_exec;
		attr->ksymbol = attr->bpf_event = features->ksymbol;
	}
	if (setup->wakeup_events) {
		attr->wakeup_events = setup->wakeup_events;
	} else if (setup->wakeup_bytes) {
		attr->watermark = 1;
		attr->wakeup_watermark = setup->wakeup_bytes;
	}
}

int sys_probe(struct sys_features *out)
{
	/* From the newest kernel to the oldest with use_clockid. */
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
	/* The kernel refuses a buffer that is too small, and leaves bytes beyond its format
	 * unchanged. */
	ssize_t len = read(fd, words, features->lost ? 40 : 32);

	*out = (struct sys_counts){0};
	if (len < 0)
		return -errno;
	if (len < 32)
		return len ? -EIO : -ENODATA;
	*out = (struct sys_counts){
		.value = words[0],
		.enabled_ns = words[1],
		.running_ns = words[2],
		.id = words[3],
		.lost = words[4],
	};
	return 0;
}

int sys_read_leader(int fd, const struct sys_features *features, struct sys_counts *out)
{
	uint64_t words[3 + 3 * GROUP_MAX] = {0};
	ssize_t len = read(fd, words, sizeof(words));

	*out = (struct sys_counts){0};
	if (len < 0)
		return -errno;
	if (len < 40)
		return len ? -EIO : -ENODATA;
	*out = (struct sys_counts){
		.value = words[3],
		.enabled_ns = words[1],
		.running_ns = words[2],
		.id = words[4],
		.lost = features->lost ? words[5] : 0,
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

	if (attr->freq && attr_is_clock(attr) && value)
		value = NS_PER_S / value;
	if (!value)
		return -EINVAL;
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &value) ? -errno : 0;
}

int sys_set_filter(int fd, const char *filter)
{
	if (!ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		return 0;
	/* ESRCH means a bad expression, such as an open quote.  Callers would take it for a task
	 * that is gone. */
	return errno == ESRCH ? -EINVAL : -errno;
}

int sys_pause(int ring_fd, bool pause)
{
	return ioctl(ring_fd, PERF_EVENT_IOC_PAUSE_OUTPUT, (unsigned long)pause) ? -errno : 0;
}

int sys_modify(int fd, const struct perf_event_attr *attr)
{
	return ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, attr) ? -errno : 0;
}

void sys_wait_for_hits(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

bool sys_breakpoints_fire(void)
{
	volatile uint64_t watched = 0;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = sys_open(&attr, 0, -1);
	uint64_t count = 1;
	ssize_t len;

	if (fd < 0)
		return true;
	watched++;
	len = read(fd, &count, sizeof(count));
	close(fd);
	return len != sizeof(count) || count;
}

uint64_t sys_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t sys_cpu_ns(int32_t pid)
{
	struct timespec ran;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ran))
		return 0;
	return (uint64_t)ran.tv_sec * NS_PER_S + (uint64_t)ran.tv_nsec;
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
