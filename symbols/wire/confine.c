/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * confine.c - privileges, limits and the seccomp filter of spawner and worker.
 */
#include "symbols/wire/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <locale.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOBODY 65534
/* No distribution, container manager or directory service assigns these ids by default. */
#define FIRST_ID 0x7f000000u
#define N_IDS 0xfd0000u
#define CONFINE_FDS 256 /* descriptors of a packet, and debug information that is kept open */
#define OUTPUT_BYTES (1024ull * 1024 * 1024)

static void default_signals(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU,
		SIGXFSZ, SIGUSR1, SIGUSR2, SIGWINCH};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* fails for KILL and STOP, which is harmless */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* If memory runs out, the kernel kills this process first, since strobe can start another one. */
static void offer_to_end_first(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	const ssize_t n = write(fd, "1000", 4);
	(void)n;
	close(fd);
}

int confine_detach(int keep_fd, const char *name)
{
	default_signals();
	offer_to_end_first();
	setsid(); /* keeps Ctrl-C and job control away; harmless for a session leader */
	prctl(PR_SET_NAME, name);
	setlocale(LC_ALL, "C"); /* no message catalogues: they could not be opened */

	if (keep_fd < 4) {
		int up = fcntl(keep_fd, F_DUPFD_CLOEXEC, 4);
		if (up < 0)
			return -errno;
		keep_fd = up;
	}
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		if (null < 0)
			close(fd);
		else if (null != fd)
			dup2(null, fd);
	if (dup3(keep_fd, 3, O_CLOEXEC) < 0)
		return -errno;
	closefrom(4);
	return 0;
}

static void note(int *first, int failed)
{
	if (failed && !*first)
		*first = -errno;
}

/* Changes to a user without other processes, since processes of one user may stop and kill each
 * other.  A user namespace may lack the id, but often has NOBODY. */
static void change_ids(int *ret)
{
	uint32_t id = 0;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = (uint32_t)getpid();
	id = FIRST_ID + id % N_IDS;
	note(ret, setgroups(0, NULL) < 0);
	note(ret, setresgid(id, id, id) < 0 && setresgid(NOBODY, NOBODY, NOBODY) < 0);
	note(ret, setresuid(id, id, id) < 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0);
}

int confine_privileges(void)
{
	int ret = 0;

	if (geteuid() == 0)
		change_ids(&ret);
	cap_t none = cap_init();
	note(&ret, !none || cap_set_proc(none) < 0);
	cap_free(none);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	note(&ret, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0);
	note(&ret, prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0);
	return ret;
}

/* Sets a limit; a lower existing one stays. */
static int limit_to(__rlimit_resource_t what, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(what, &limit))
		return -1;
	if (limit.rlim_max < value)
		value = limit.rlim_max;
	return setrlimit(what, &(struct rlimit){value, value});
}

void confine_allow_output(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_max < OUTPUT_BYTES)
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){OUTPUT_BYTES, OUTPUT_BYTES});
}

int confine_limits(unsigned int memory_mb)
{
	int ret = 0;
#ifndef CONFINE_SANITIZED
	note(&ret, limit_to(RLIMIT_AS, (rlim_t)memory_mb << 20) < 0);
#else
	(void)memory_mb;
#endif
	note(&ret, limit_to(RLIMIT_CORE, 0) < 0);
	note(&ret, limit_to(RLIMIT_NOFILE, CONFINE_FDS) < 0);
	note(&ret, limit_to(RLIMIT_NPROC, 0) < 0);
	note(&ret, limit_to(RLIMIT_FSIZE, OUTPUT_BYTES) < 0);
	return ret;
}

int confine_die_with_parent(int parent_pid)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return getppid() == parent_pid ? 0 : -ESRCH;
}

#ifndef CONFINE_SANITIZED
static int add_rules(scmp_filter_ctx filter)
{
	static const int allowed[] = {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(readv),
		SCMP_SYS(write), SCMP_SYS(pwrite64), SCMP_SYS(writev), SCMP_SYS(lseek),
		SCMP_SYS(_llseek), SCMP_SYS(fstat), SCMP_SYS(fstat64), SCMP_SYS(close),
		SCMP_SYS(ftruncate), SCMP_SYS(ftruncate64), SCMP_SYS(memfd_create),
		SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(brk), SCMP_SYS(munmap),
		SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(getrandom),
		SCMP_SYS(sysinfo), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction),
		SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn), SCMP_SYS(getpid), SCMP_SYS(gettid),
		SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64), SCMP_SYS(gettimeofday),
		SCMP_SYS(getrlimit), SCMP_SYS(ugetrlimit), SCMP_SYS(restart_syscall),
		SCMP_SYS(exit), SCMP_SYS(exit_group)};
	/* glibc tries them and works without: no reason to kill the process. */
	static const int refused[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(access),
		SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat),
		SCMP_SYS(statx), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(ioctl)};
	const scmp_datum_t self = (scmp_datum_t)getpid();
	const struct {
		uint32_t action;
		int syscall;
		struct scmp_arg_cmp args[2]; /* the second one is optional */
	} when[] = {
		/* glibc's fstat(3) is newfstatat(fd, "", AT_EMPTY_PATH). */
		{SCMP_ACT_ALLOW, SCMP_SYS(newfstatat),
			{SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)}},
		{SCMP_ACT_ERRNO(EACCES), SCMP_SYS(newfstatat),
			{SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, 0)}},
		/* Memory that is not executable. */
		{SCMP_ACT_ALLOW, SCMP_SYS(mmap), {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
		{SCMP_ACT_ALLOW, SCMP_SYS(mmap2), {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
		{SCMP_ACT_ALLOW, SCMP_SYS(mprotect), {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
		{SCMP_ACT_ALLOW, SCMP_SYS(fcntl), {SCMP_A1(SCMP_CMP_EQ, F_ADD_SEALS, 0)}},
		/* abort(3), so that it looks like one to other processes. */
		{SCMP_ACT_ALLOW, SCMP_SYS(tgkill), {SCMP_A0(SCMP_CMP_EQ, self, 0)}},
		/* Only on itself, for the memory limit of demangling.  RLIMIT_NPROC 0 prevents
		 * other processes. */
		{SCMP_ACT_ALLOW, SCMP_SYS(prlimit64),
			{SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A1(SCMP_CMP_EQ, RLIMIT_DATA, 0)}},
		{SCMP_ACT_ALLOW, SCMP_SYS(setrlimit), {SCMP_A0(SCMP_CMP_EQ, RLIMIT_DATA, 0)}},
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]) && ret == 0; i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && ret == 0; i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);

	for (size_t i = 0; i < sizeof(when) / sizeof(when[0]) && ret == 0; i++)
		ret = seccomp_rule_add_array(filter, when[i].action, when[i].syscall,
			when[i].args[1].op ? 2 : 1, when[i].args);
	return ret;
}

int confine_syscalls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);

	if (!filter)
		return -ENOMEM;
	int ret = add_rules(filter);
	if (ret == 0)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}
#else
int confine_syscalls(void)
{
	return 0;
}
#endif
