/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_programs.h - how call chains of the programs that run now can be found, and whether their
 * functions have names.
 *
 * The confined worker reads the programs' files.  One thread; it starts the worker, so no other
 * thread may run before.
 */
#ifndef TUI_DOCTOR_PROGRAMS_H
#define TUI_DOCTOR_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DOCTOR_PROGRAMS 20 /* are examined, those that used most CPU time */

enum doctor_has {
	DOCTOR_NO,
	DOCTOR_YES,
	DOCTOR_FEW, /* most have none */
	DOCTOR_UNKNOWN,
};

/* One file that processes execute; without its name, the processes of one command. */
struct doctor_program {
	char path[512]; /* raw bytes; a command's name if the path cannot be read */
	uint32_t processes;
	uint64_t cpu_ms; /* used by them since they began */
	enum doctor_has unwind_data, frame_pointers;
	enum doctor_has names; /* of its functions */
	int error; /* positive errno: the file was not read */
	bool deleted; /* while it runs */
	bool is_32_bits; /* no use is made of its unwind data */
};

struct doctor_programs {
	struct doctor_program list[DOCTOR_PROGRAMS]; /* by falling CPU time */
	size_t n, more; /* more: further ones */
	int error; /* positive errno: processes cannot be listed */
};

void doctor_programs_gather(struct doctor_programs *out);

/* Returns the number of programs with neither. */
unsigned int doctor_programs_print(FILE *out, const struct doctor_programs *programs);

#endif
