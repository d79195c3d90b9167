/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bpf.h - BPF programs that decide about an event: PERF_EVENT_IOC_SET_BPF and PERF_EVENT_IOC_QUERY_BPF.
 *
 * Programs are loaded by others (bpftool(8)); here they are found, attached and listed.  No state; any thread.
 */
#ifndef SAMPLER_BPF_H
#define SAMPLER_BPF_H

#include <stddef.h>
#include <stdint.h>

/* BPF_TRACE_MAX_PROGS of the kernel: as many can be attached to one tracepoint. */
#define BPF_PROGRAMS_MAX 64

/* The program that "id:12" or the path of a pinned one names.  A descriptor, or -errno; -EINVAL: no number. */
int bpf_program_open(const char *text);

/* What it returns decides from now on whether the event happens: 0 leaves it out.  Of a tracepoint that is so for all who
 * have it open, and -EEXIST tells that the program is attached there already.  0 or -errno. */
int bpf_attach(int event_fd, int program_fd);

/* The ids of programs attached to a tracepoint's event, at most BPF_PROGRAMS_MAX.  0 or -errno. */
int bpf_attached(int event_fd, uint32_t *ids, size_t *n);

#endif
