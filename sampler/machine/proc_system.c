// SPDX-License-Identifier: GPL-3.0-or-later
/* proc_system.c - the system part of proc.h: CPUs, and the rights and limits of this user. */
#include "sampler/base/grow.h"
#include "sampler/machine/proc.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPU_MAX 65536u /* eight times the Linux maximum */

/* Parses a CPU number at *at. */
static bool parse_cpu(const char **at, unsigned int *cpu)
{
	unsigned int value = 0;
	const char *p = *at;

	while (*p >= '0' && *p <= '9' && value < CPU_MAX)
		value = value * 10 + (unsigned int)(*p++ - '0');
	if (p == *at || value >= CPU_MAX)
		return false;
	*at = p;
	*cpu = value;
	return true;
}

int proc_parse_cpu_list(const char *text, int **cpus, size_t *n, size_t *bad_offset)
{
	const char *at = text, *number;
	uint8_t *named = NULL; /* a flag per CPU */
	uint32_t room = 0;
	size_t count = 0, filled = 0;
	int err = -EINVAL;

	*cpus = NULL;
	*n = 0;
	*bad_offset = 0;
	for (;;) {
		unsigned int first, last;

		number = at;
		if (!parse_cpu(&at, &first))
			goto out;
		last = first;
		if (*at == '-') {
			number = ++at;
			if (!parse_cpu(&at, &last) || last < first)
				goto out;
		}
		if (grow_zeroed(&named, last, &room, sizeof(*named))) {
			err = -ENOMEM;
			goto out;
		}
		memset(named + first, 1, last + 1 - first);
		number = at;
		if (*at != ',')
			break;
		at++;
	}
	if (*at == '\n') /* files in /sys end with a newline */
		at++;
	if (*at)
		goto out;
	for (size_t cpu = 0; cpu < room; cpu++)
		count += named[cpu];
	err = -ENOMEM;
	*cpus = calloc(count, sizeof(**cpus));
	if (!*cpus)
		goto out;
	for (size_t cpu = 0; cpu < room; cpu++)
		if (named[cpu])
			(*cpus)[filled++] = (int)cpu;
	*n = count;
	err = 0;
out:
	if (err == -EINVAL)
		*bad_offset = (size_t)(number - text);
	free(named);
	return err;
}

/* Reads a short file's text, without its last newline. */
static int read_text(const char *path, char *buf, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file)
		return -errno;
	len = fread(buf, 1, size - 1, file);
	fclose(file);
	if (len && buf[len - 1] == '\n')
		len--;
	buf[len] = 0;
	return 0;
}

int proc_online_cpus(int **cpus, size_t *n)
{
	char text[4096];
	size_t bad;
	int err = read_text("/sys/devices/system/cpu/online", text, sizeof(text));

	if (!err) {
		err = proc_parse_cpu_list(text, cpus, n, &bad);
		return err == -EINVAL ? -EBADMSG : err;
	}
	/* No /sys in this container: assume that CPUs are numbered from 0 without gaps. */
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	*cpus = NULL;
	*n = 0;
	if (online < 1)
		return err;
	*cpus = calloc((size_t)online, sizeof(**cpus));
	if (!*cpus)
		return -ENOMEM;
	for (long i = 0; i < online; i++)
		(*cpus)[i] = (int)i;
	*n = (size_t)online;
	return 0;
}

bool proc_is_offline(int cpu)
{
	bool found = cpu < 0;
	int *cpus;
	size_t n;

	if (proc_online_cpus(&cpus, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		found |= cpus[i] == cpu;
	free(cpus);
	return !found;
}

/* Reads a kernel setting; -1 if it cannot be read.  perf_event_paranoid itself may be -1, which
 * allows everything.  Callers treat an unreadable one the same way until the kernel refuses an
 * event. */
static int64_t setting(const char *name)
{
	char path[96], text[32], *end;
	long long value;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (read_text(path, text, sizeof(text)))
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	return errno || end == text || *end ? -1 : value;
}

static bool has_cap(const struct __user_cap_data_struct *data, unsigned int cap)
{
	return data[cap / 32].effective >> (cap % 32) & 1;
}

/* PROC_PID_INIT_INO and PROC_USER_INIT_INO of linux/proc_ns.h, a kernel-internal header. */
#define INIT_PID_NAMESPACE 0xEFFFFFFCu
#define INIT_USER_NAMESPACE 0xEFFFFFFDu

static bool in_namespace(const char *path, ino_t initial)
{
	struct stat ns;

	return !stat(path, &ns) && ns.st_ino != initial;
}

void proc_limits(struct proc_limits *out)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {0};
	struct rlimit limit;

	memset(out, 0, sizeof(*out));
	out->paranoid = (int)setting("perf_event_paranoid");
	out->max_sample_rate = setting("perf_event_max_sample_rate");
	out->mlock_kb = setting("perf_event_mlock_kb");
	out->max_stack = setting("perf_event_max_stack");
	out->cpu_time_max_percent = setting("perf_cpu_time_max_percent");
	out->kptr_restrict = (int)setting("kptr_restrict");
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		out->nofile_soft = limit.rlim_cur;
		out->nofile_hard = limit.rlim_max;
	}
	if (!getrlimit(RLIMIT_MEMLOCK, &limit)) {
		out->memlock_soft = limit.rlim_cur;
		out->memlock_hard = limit.rlim_max;
	}
	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		out->memory_max = limit.rlim_cur;
	if (!syscall(SYS_capget, &header, caps)) {
		out->cap_perfmon = has_cap(caps, CAP_PERFMON);
		out->cap_sys_admin = has_cap(caps, CAP_SYS_ADMIN);
		out->cap_ipc_lock = has_cap(caps, CAP_IPC_LOCK);
		out->cap_sys_ptrace = has_cap(caps, CAP_SYS_PTRACE);
		out->cap_syslog = has_cap(caps, CAP_SYSLOG);
	}
	out->euid = geteuid();
	out->foreign_proc = !proc_is_own();
	out->pid_namespace = in_namespace("/proc/self/ns/pid", INIT_PID_NAMESPACE);
	out->user_namespace = in_namespace("/proc/self/ns/user", INIT_USER_NAMESPACE);
	if (out->user_namespace)
		out->cap_perfmon = out->cap_sys_admin = out->cap_ipc_lock = out->cap_syslog = false;
}
