/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor.h - reports what this user may profile on this kernel, which setting permits it, and how
 * to get more.
 *
 * Facts are gathered separately from their evaluation, so tests can supply their own.  Any thread.
 */
#ifndef TUI_COMMANDS_DOCTOR_H
#define TUI_COMMANDS_DOCTOR_H

#include "sampler/machine/proc.h"

#include <stdbool.h>
#include <stdio.h>

enum doctor_kallsyms {
	KALLSYMS_SHOWN,
	KALLSYMS_HIDDEN, /* all addresses are 0 */
	KALLSYMS_NONE, /* cannot be read */
};

struct doctor_facts {
	struct proc_limits limits;
	char kernel[200]; /* from uname(2); raw bytes */
	char user[64]; /* raw bytes */
	char program[512]; /* path of strobe, for setcap; raw bytes */
	char pmus[256]; /* names of hardware PMUs, joined by blanks; raw bytes */
	size_t cpus; /* online; 0: unknown */
	/* positive errno of opening the event; 0 if it is permitted */
	int open_user; /* cpu-clock:u on strobe itself */
	int open_kernel; /* cpu-clock:k on strobe itself */
	int open_machine; /* cpu-clock on a whole CPU */
	int open_cycles; /* cycles:u on strobe itself */
	int open_branches; /* cycles:u with its branch stack; valid if cycles open */
	enum doctor_kallsyms kallsyms;
	int tracefs; /* positive errno of reading the list of tracepoints */
	char cgroups[256]; /* directory of the hierarchy that events use; "" if none; raw bytes */
	bool cgroups_v1; /* that hierarchy is version 1 */
	int open_cgroup; /* cpu-clock on one CPU, for the root of that hierarchy */
};

void doctor_gather(struct doctor_facts *facts);

/* Prints the results.  Returns the number of lines that report something refused. */
unsigned int doctor_print(FILE *out, const struct doctor_facts *facts);

#endif
