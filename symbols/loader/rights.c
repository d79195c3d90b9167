/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rights.c - see rights.h.
 *
 * The kernel keeps credentials per thread.  Changing the file system user from root to another user
 * drops the capabilities that override permissions.  So the kernel itself judges links, directories
 * and access lists.
 */
#include "symbols/loader/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct symbols_rights rights_join(struct symbols_rights a, struct symbols_rights b)
{
	const struct symbols_rights none = {.kind = SYMBOLS_RIGHTS_NONE};

	if (a.kind == SYMBOLS_RIGHTS_USER && b.kind == SYMBOLS_RIGHTS_USER &&
		(a.user != b.user || a.here != b.here))
		return none;
	return a.kind < b.kind ? a : b;
}

/* Changes this thread alone, unlike setgroups(3). */
static int set_groups(int n, const gid_t *groups)
{
	return syscall(SYS_setgroups, n, groups) < 0 ? -errno : 0;
}

/* The value before the first change, since the kernel clears it for the whole process at each
 * change. */
static atomic_int dumpable = -1;

static void keep_dumpable(void)
{
	int unknown = -1;

	atomic_compare_exchange_strong(&dumpable, &unknown, prctl(PR_GET_DUMPABLE));
}

/* True if this thread could read files that its user may not. */
static bool overrides_permissions(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	const uint32_t mask = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;

	return syscall(SYS_capget, &header, data) < 0 || data[0].effective & mask;
}

int rights_become(uid_t user, struct rights_before *before)
{
	*before = (struct rights_before){.user = geteuid(), .group = getegid()};
	if (user == before->user)
		return 0;
	if (before->user != 0 && !overrides_permissions())
		return 0;
	if (before->user != 0 || prctl(PR_GET_SECUREBITS) & SECBIT_NO_SETUID_FIXUP)
		return -EACCES;
	keep_dumpable();
	before->n_groups = getgroups(0, NULL);
	if (before->n_groups < 0)
		return -EACCES;
	before->groups = calloc((size_t)before->n_groups + 1, sizeof(*before->groups));
	if (!before->groups)
		return -ENOMEM;
	before->changed = getgroups(before->n_groups, before->groups) == before->n_groups &&
		set_groups(0, NULL) == 0;
	if (before->changed) {
		setfsgid(RIGHTS_NOBODY);
		setfsuid(user);
		if ((uid_t)setfsuid((uid_t)-1) == user &&
			(gid_t)setfsgid((gid_t)-1) == RIGHTS_NOBODY)
			return 0;
	}
	rights_restore(before);
	return -EACCES;
}

void rights_restore(struct rights_before *before)
{
	if (before->changed) {
		setfsuid(before->user);
		setfsgid(before->group);
		(void)set_groups(before->n_groups, before->groups);
		if (dumpable == 1)
			prctl(PR_SET_DUMPABLE, 1);
	}
	free(before->groups);
	*before = (struct rights_before){.changed = false};
}
