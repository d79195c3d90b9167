/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chosen.c - the processes that the user chose.
 */
#include "tui/session/chosen.h"

#include "tui/base/clean.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void chosen_add(struct chosen *chosen, int32_t pid, bool followed, uint64_t now_ns)
{
	size_t at = 0;

	while (at < chosen->n && chosen->processes[at].name.pid != pid)
		at++;
	if (at == CHOSEN_MAX)
		return;
	if (at == chosen->n)
		chosen->n++;
	chosen->processes[at].name = (struct proc_name){.pid = pid};
	chosen->processes[at].followed = followed;
	chosen->processes[at].asked_ns = now_ns;
}

void chosen_remove(struct chosen *chosen, int32_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < chosen->n; i++) {
		if (chosen->processes[i].name.pid != pid)
			chosen->processes[kept++] = chosen->processes[i];
	}
	chosen->n = kept;
}

static bool contains(const int32_t *pids, size_t n, int32_t pid)
{
	for (size_t i = 0; i < n; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

bool chosen_prune(struct chosen *chosen, const int32_t *pids, size_t n, uint64_t now_ns)
{
	struct chosen kept = {.n = 0};

	for (size_t i = 0; i < chosen->n; i++) {
		bool followed = contains(pids, n, chosen->processes[i].name.pid);

		chosen->processes[i].followed |= followed;
		if (followed ||
			(!chosen->processes[i].followed &&
				now_ns - chosen->processes[i].asked_ns < CHOSEN_ATTACH_NS))
			kept.processes[kept.n++] = chosen->processes[i];
	}
	if (!kept.n || kept.n == chosen->n)
		return false;
	*chosen = kept;
	return true;
}

void chosen_executed(struct chosen *chosen, int32_t pid, const char *comm)
{
	for (size_t i = 0; i < chosen->n; i++) {
		struct proc_name *name = &chosen->processes[i].name;

		if (name->pid == pid)
			snprintf(name->comm, sizeof(name->comm), "%.63s", comm);
	}
}

void chosen_describe(struct chosen *chosen, char *out, size_t size)
{
	struct proc_name *name = &chosen->processes[0].name;
	char comm[80], more[32] = "";

	if (!chosen->n) {
		snprintf(out, size, "nothing");
		return;
	}
	if (chosen->n > 1)
		snprintf(more, sizeof(more), " and %zu more", chosen->n - 1);
	proc_name_update(name);
	if (name->comm[0])
		snprintf(out, size, "%s (%" PRId32 ")%s",
			clean_string(comm, sizeof(comm), name->comm), name->pid, more);
	else
		snprintf(out, size, "pid %" PRId32 "%s", name->pid, more);
}
