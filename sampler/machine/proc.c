// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * proc.c - reads processes and threads from /proc.
 *
 * Any entry of /proc may vanish between two calls.  Lists skip a missing entry; for one process it
 * is -ESRCH.
 */
#include "sampler/machine/proc.h"

#include "sampler/base/grow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000u

/* Reads the first bytes of a file and terminates them.  Returns their number or -errno. */
static ssize_t read_at(int dirfd, const char *path, char *buf, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;
	int err = 0;

	if (fd < 0)
		return -errno;
	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (!n || errno != EINTR)
			break;
	}
	if (n < 0)
		err = errno;
	close(fd);
	buf[len] = 0;
	return err ? -err : (ssize_t)len;
}

static int gone(int err)
{
	return err == -ENOENT ? -ESRCH : err;
}

/* Parses one decimal number.  Returns false if there is none or it is too large. */
static bool parse_number(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;
	uint64_t v = 0;

	while (p < end && *p >= '0' && *p <= '9')
		if (__builtin_mul_overflow(v, 10u, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p++ - '0'), &v))
			return false;
	if (p == *at)
		return false;
	*at = p;
	*value = v;
	return true;
}

static bool parse_id(const char *text, int32_t *id)
{
	const char *end = text + strlen(text);
	uint64_t value;

	if (!parse_number(&text, end, &value) || text != end || !value || value > INT32_MAX)
		return false;
	*id = (int32_t)value;
	return true;
}

bool proc_parse_own(const char *status, size_t len, int32_t pid)
{
	static const char nspid[] = "\nNSpid:\t", plain[] = "\nPid:\t";
	const char *at = memmem(status, len, nspid, sizeof(nspid) - 1);
	uint64_t number;

	/* Linux before 4.1 has no NSpid.  The name before Pid is escaped, so it cannot fake a
	 * line. */
	if (at)
		at += sizeof(nspid) - 1;
	else if ((at = memmem(status, len, plain, sizeof(plain) - 1)))
		at += sizeof(plain) - 1;
	/* The first number belongs to the namespace of /proc.  One number follows for each
	 * namespace down to ours. */
	return at && parse_number(&at, status + len, &number) && number == (uint64_t)pid &&
		at < status + len && *at == '\n';
}

/* Returns 1, 0, or -1 if not known now. */
static int look_whose(void)
{
	char text[4096];
	ssize_t len = read_at(AT_FDCWD, "/proc/self/status", text, sizeof(text));

	if (len > 0)
		return proc_parse_own(text, (size_t)len, (int32_t)getpid());
	/* This /proc has no "self" link for a process without a number in it. */
	return len == -ENOENT && !access("/proc/sys", F_OK) ? 0 : -1;
}

bool proc_is_own(void)
{
	static _Atomic int known = -1;
	int own = atomic_load(&known);

	if (own < 0) {
		own = look_whose();
		atomic_store(&known, own);
	}
	return own != 0;
}

int proc_parse_stat(const char *text, size_t len, struct proc_process *out)
{
	const char *end = text + len, *at = text;
	const char *open = memchr(text, '(', len);
	/* The last ")" ends the name.  The name may contain any; no later field does. */
	const char *close = memrchr(text, ')', len);
	uint64_t fields[23] = {0}; /* by field number of proc(5) */
	uint64_t pid;
	size_t comm_len;

	memset(out, 0, sizeof(*out));
	if (!open || !close || close < open || !parse_number(&at, open, &pid) || pid > INT32_MAX)
		return -EBADMSG;
	comm_len = (size_t)(close - open - 1);
	if (comm_len >= sizeof(out->comm))
		comm_len = sizeof(out->comm) - 1;
	memcpy(out->comm, open + 1, comm_len);
	at = close + 1;
	if (end - at < 2 || at[0] != ' ')
		return -EBADMSG;
	out->state = at[1];
	at += 2;
	for (unsigned int i = 4; i <= 22; i++) {
		if (at == end || *at++ != ' ')
			return -EBADMSG;
		if (at < end && *at == '-') /* no field used below is negative */
			at++;
		if (!parse_number(&at, end, &fields[i]))
			return -EBADMSG;
	}
	out->pid = (int32_t)pid;
	out->ppid = (int32_t)fields[4];
	out->kernel_thread = fields[9] & PF_KTHREAD;
	out->cpu_ticks = fields[14] + fields[15];
	out->threads = (uint32_t)fields[20];
	out->start_ticks = fields[22];
	return 0;
}

/* Arguments end with NULs; those at the very end are padding. */
static void read_cmdline(int dirfd, const char *path, struct proc_process *out)
{
	ssize_t len = read_at(dirfd, path, out->cmdline, sizeof(out->cmdline));

	if (len < 0)
		len = 0;
	while (len && !out->cmdline[len - 1])
		len--;
	for (ssize_t i = 0; i < len; i++)
		if (!out->cmdline[i])
			out->cmdline[i] = ' ';
	out->cmdline[len] = 0;
}

static int read_process(int proc_fd, int32_t pid, struct proc_process *out)
{
	char path[32], text[1024];
	struct stat st;
	ssize_t len;
	int err;

	snprintf(path, sizeof(path), "%d/stat", pid);
	len = read_at(proc_fd, path, text, sizeof(text));
	if (len < 0)
		return gone((int)len);
	err = proc_parse_stat(text, (size_t)len, out);
	if (err)
		return err;
	/* The owner of the directory is the effective user.  The files belong to root if the
	 * process cannot be dumped. */
	snprintf(path, sizeof(path), "%d", pid);
	if (fstatat(proc_fd, path, &st, 0))
		return gone(-errno);
	out->uid = st.st_uid;
	if (!out->kernel_thread) {
		snprintf(path, sizeof(path), "%d/cmdline", pid);
		read_cmdline(proc_fd, path, out);
	}
	return 0;
}

static int read_times(int32_t tid, uint64_t *cpu_ns, uint64_t *wait_ns)
{
	char path[48], text[128];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	len = read_at(AT_FDCWD, path, text, sizeof(text));
	if (len < 0)
		return gone((int)len);
	return sscanf(text, "%" SCNu64 " %" SCNu64, cpu_ns, wait_ns) == 2 ? 0 : -ENODATA;
}

int proc_read_wait(int32_t tid, uint64_t *wait_ns)
{
	uint64_t cpu_ns;

	return proc_is_own() ? read_times(tid, &cpu_ns, wait_ns) : -EXDEV;
}

int proc_read_thread(int32_t tid, struct proc_thread *out)
{
	struct proc_process stat;
	char path[48], text[1024];
	ssize_t len;
	int err;

	*out = (struct proc_thread){0};
	if (!proc_is_own())
		return -EXDEV;
	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	len = read_at(AT_FDCWD, path, text, sizeof(text));
	if (len < 0)
		return gone((int)len);
	err = proc_parse_stat(text, (size_t)len, &stat);
	if (err)
		return err;
	out->state = stat.state;
	out->has_times = !read_times(tid, &out->cpu_ns, &out->wait_ns);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct proc_process *first = a, *second = b;

	return (first->pid > second->pid) - (first->pid < second->pid);
}

int proc_list(struct proc_process **out, size_t *n)
{
	struct proc_process *list = NULL;
	size_t count = 0, capacity = 0;
	struct dirent *entry;
	DIR *dir;
	int err = 0;

	*out = NULL;
	*n = 0;
	if (!proc_is_own())
		return -EXDEV;
	dir = opendir("/proc");
	if (!dir)
		return -errno;
	while ((errno = 0, entry = readdir(dir))) {
		int32_t pid;

		if (!parse_id(entry->d_name, &pid))
			continue;
		err = grow_items(&list, &capacity, count + 1, sizeof(*list));
		if (err)
			goto out;
		err = read_process(dirfd(dir), pid, &list[count]);
		if (err == -ENOMEM || err == -EMFILE || err == -ENFILE)
			goto out;
		if (!err)
			count++;
	}
	err = -errno;
	if (err)
		goto out;
	if (count)
		qsort(list, count, sizeof(*list), by_pid);
	*out = list;
	*n = count;
	list = NULL;
out:
	closedir(dir);
	free(list);
	return err;
}

int proc_tgid(int32_t tid, int32_t *pid)
{
	char path[48], text[1024];
	const char *at;
	uint64_t value;
	ssize_t len;

	*pid = 0;
	if (!proc_is_own())
		return -EXDEV;
	if (tid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	len = read_at(AT_FDCWD, path, text, sizeof(text));
	if (len < 0)
		return gone((int)len);
	/* The name before it is escaped, so it cannot fake this line. */
	at = strstr(text, "\nTgid:\t");
	if (!at)
		return -EBADMSG;
	at += strlen("\nTgid:\t");
	if (!parse_number(&at, text + len, &value) || value > INT32_MAX)
		return -EBADMSG;
	if (!value) /* just reaped */
		return -ESRCH;
	*pid = (int32_t)value;
	return 0;
}

int proc_read(int32_t pid, struct proc_process *out)
{
	int32_t leader;
	int proc_fd, err;

	memset(out, 0, sizeof(*out));
	err = proc_tgid(pid, &leader);
	if (err)
		return err;
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return -errno;
	err = read_process(proc_fd, leader, out);
	close(proc_fd);
	return err;
}

bool proc_name_update(struct proc_name *name)
{
	struct proc_process process;

	if (proc_read(name->pid, &process) ||
		(name->start_ticks && name->start_ticks != process.start_ticks))
		return false;
	name->start_ticks = process.start_ticks;
	memcpy(name->comm, process.comm, sizeof(name->comm));
	return true;
}

int proc_threads(int32_t pid, int32_t **tids, size_t *n)
{
	char path[48];
	int32_t *list = NULL;
	size_t count = 0, capacity = 0;
	struct dirent *entry;
	DIR *dir;
	int err = 0;

	*tids = NULL;
	*n = 0;
	if (!proc_is_own())
		return -EXDEV;
	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return gone(-errno);
	while ((errno = 0, entry = readdir(dir))) {
		int32_t tid;

		if (!parse_id(entry->d_name, &tid))
			continue;
		err = grow_items(&list, &capacity, count + 1, sizeof(*list));
		if (err)
			goto out;
		list[count++] = tid;
	}
	err = gone(-errno);
	if (!err && !count)
		err = -ESRCH;
	if (err)
		goto out;
	*tids = list;
	*n = count;
	list = NULL;
out:
	closedir(dir);
	free(list);
	return err;
}

/* Appends the pids of one children file, which may have any length. */
static int add_children(const char *path, int32_t **list, size_t *count, size_t *capacity)
{
	FILE *file = fopen(path, "re");
	int32_t pid;
	int err = 0;

	if (!file)
		return -errno;
	while (!err && fscanf(file, "%" SCNd32, &pid) == 1) {
		err = grow_items(list, capacity, *count + 1, sizeof(**list));
		if (!err)
			(*list)[(*count)++] = pid;
	}
	fclose(file);
	return err;
}

int proc_children(int32_t pid, int32_t **pids, size_t *n)
{
	int32_t *tids, *list = NULL;
	size_t n_tids, count = 0, capacity = 0, missing = 0;
	int err;

	*pids = NULL;
	*n = 0;
	err = proc_threads(pid, &tids, &n_tids);
	if (err)
		return err;
	for (size_t i = 0; i < n_tids; i++) {
		char path[80];

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tids[i]);
		err = add_children(path, &list, &count, &capacity);
		if (err == -ENOENT)
			missing++;
		else if (err && err != -ESRCH)
			goto out;
	}
	err = 0;
	if (missing == n_tids) {
		char path[48];

		snprintf(path, sizeof(path), "/proc/%d/task", pid);
		err = access(path, F_OK) ? -ESRCH : -ENOENT;
		goto out;
	}
	*pids = list;
	*n = count;
	list = NULL;
out:
	free(tids);
	free(list);
	return err;
}
