/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor.h - what this user may profile on this kernel, what each setting permits, and how to get more.
 *
 * Facts are gathered apart from the verdicts on them, so that tests bring their own.  Any thread.
 */
#ifndef TUI_DOCTOR_H
#define TUI_DOCTOR_H

#include "sampler/proc.h"

#include <stdbool.h>
#include <stdio.h>

enum doctor_kallsyms {
	KALLSYMS_SHOWN,
	KALLSYMS_HIDDEN, /* all addresses are 0 */
	KALLSYMS_NONE, /* cannot be read */
};

struct doctor_facts {
	struct proc_limits limits;
	char kernel[200]; /* of uname(2); raw bytes */
	char user[64]; /* raw bytes */
	char program[512]; /* path of strobe, for setcap; raw bytes */
	char pmus[256]; /* names of hardware PMUs, joined by blanks; raw bytes */
	size_t cpus; /* online; 0: unknown */
	/* Positive errno of opening the event, 0 where it is permitted. */
	int open_user; /* cpu-clock:u on strobe itself */
	int open_kernel; /* cpu-clock:k on strobe itself */
	int open_machine; /* cpu-clock on a whole CPU */
	int open_cycles; /* cycles:u on strobe itself */
	int open_branches; /* the same with its branch stack; told only where cycles open */
	enum doctor_kallsyms kallsyms;
	int tracefs; /* positive errno of reading the list of tracepoints */
	char cgroups
		[256]; /* where the hierarchy is that events use, "" where there is none; raw bytes */
	bool cgroups_v1; /* it is one of version 1 */
	int open_cgroup; /* cpu-clock of all of that hierarchy, on a CPU */
};

void doctor_gather(struct doctor_facts *facts);

/* Returns the number of lines that name something refused. */
unsigned int doctor_print(FILE *out, const struct doctor_facts *facts);

#endif
