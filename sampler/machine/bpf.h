/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bpf.h - BPF programs that filter an event: PERF_EVENT_IOC_SET_BPF and PERF_EVENT_IOC_QUERY_BPF.
 *
 * Other tools load the programs (bpftool(8)); this module finds, attaches and lists them.  No
 * state; any thread.
 */
#ifndef SAMPLER_MACHINE_BPF_H
#define SAMPLER_MACHINE_BPF_H

#include <stddef.h>
#include <stdint.h>

/* the kernel's BPF_TRACE_MAX_PROGS: most programs attached to one tracepoint */
#define BPF_PROGRAMS_MAX 64

/* Opens the program given as "id:12" or as the path of a pinned program.  Returns a descriptor, or
 * -errno (-EINVAL: the id is not a number). */
int bpf_program_open(const char *text);

/* Attaches a program: the event is dropped from now on when the program returns 0.  On a tracepoint
 * this affects every process that has it open; -EEXIST means that the program is already attached.
 * Returns 0 or -errno. */
int bpf_attach(int event_fd, int program_fd);

/* Reads the ids of the programs attached to a tracepoint's event, at most BPF_PROGRAMS_MAX.
 * Returns 0 or -errno. */
int bpf_attached(int event_fd, uint32_t *ids, size_t *n);

#endif
