/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_programs.h - checks how the running programs can be unwound and whether their functions
 * have names.
 *
 * The confined worker reads the programs' files.  It is started here, so the process must not have
 * other threads yet.
 */
#ifndef TUI_COMMANDS_DOCTOR_PROGRAMS_H
#define TUI_COMMANDS_DOCTOR_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DOCTOR_PROGRAMS 20 /* most to examine; those with the most CPU time */

enum doctor_has {
	DOCTOR_NO,
	DOCTOR_YES,
	DOCTOR_FEW, /* most are missing */
	DOCTOR_UNKNOWN,
};

/* One executable file; if its path cannot be read, one command name. */
struct doctor_program {
	char path[512]; /* raw bytes; a command's name if the path cannot be read */
	uint32_t processes;
	uint64_t cpu_ms; /* CPU time of these processes since their start */
	enum doctor_has unwind_data, frame_pointers;
	enum doctor_has names; /* names of functions */
	int error; /* positive errno: the file was not read */
	bool deleted; /* deleted while it runs */
	bool is_32_bits; /* its unwind data is not used */
};

struct doctor_programs {
	struct doctor_program list[DOCTOR_PROGRAMS]; /* by falling CPU time */
	size_t n, more; /* more: number not examined */
	int error; /* positive errno: processes cannot be listed */
};

void doctor_programs_gather(struct doctor_programs *out);

/* Prints the table.  Returns the number of programs that have neither unwind data nor frame
 * pointers. */
unsigned int doctor_programs_print(FILE *out, const struct doctor_programs *programs);

#endif
