/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bpf.c - see bpf.h.
 */
#include "sampler/machine/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ID_PREFIX "id:"

int bpf_program_open(const char *text)
{
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	if (!strncmp(text, ID_PREFIX, strlen(ID_PREFIX))) {
		const char *digits = text + strlen(ID_PREFIX);
		unsigned long id;
		char *end;

		errno = 0;
		id = strtoul(digits, &end, 10);
		if (errno || *end || end == digits || !id || id > UINT32_MAX)
			return -EINVAL;
		attr.prog_id = (uint32_t)id;
		fd = syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
	} else {
		attr.pathname = (uintptr_t)text;
		fd = syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
	}
	return fd < 0 ? -errno : (int)fd;
}

int bpf_attach(int event_fd, int program_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, program_fd) ? -errno : 0;
}

int bpf_attached(int event_fd, uint32_t *ids, size_t *n)
{
	union {
		struct perf_event_query_bpf query;
		uint32_t room[2 + BPF_PROGRAMS_MAX];
	} buffer;

	memset(&buffer, 0, sizeof(buffer));
	buffer.query.ids_len = BPF_PROGRAMS_MAX;
	*n = 0;
	if (ioctl(event_fd, PERF_EVENT_IOC_QUERY_BPF, &buffer.query))
		return -errno;
	*n = buffer.query.prog_cnt < BPF_PROGRAMS_MAX ? buffer.query.prog_cnt : BPF_PROGRAMS_MAX;
	memcpy(ids, buffer.room + 2, *n * sizeof(*ids));
	return 0;
}
