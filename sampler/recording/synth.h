/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * synth.h - side-band records made up from what is known, where the kernel tells of changes only.
 *
 * Their trailers are those of sys_format(): pid and tid, time, CPU, id.  Ids are left 0, the writer sets them.
 * Pure functions into a caller's buffer, and thin wrappers that read files.
 */
#ifndef SAMPLER_RECORDING_SYNTH_H
#define SAMPLER_RECORDING_SYNTH_H

#include "sampler/record.h"
#include "sampler/recording/reader.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SYNTH_NAME_MAX 4096

/* Room for any of them. */
union synth_record {
	struct perf_event_header header;
	uint64_t words[(SYNTH_NAME_MAX + 256) / 8];
};

/* Longer names are cut. */
void synth_comm(
	union synth_record *out, int32_t pid, int32_t tid, const char *comm, uint64_t time_ns);
/* MMAP2 of code or of data, with the protection and flags that mmap has. */
void synth_mapping(
	union synth_record *out, int32_t pid, const struct record_mmap *mmap, uint64_t time_ns);
/* LOST_SAMPLES, of the event that it will be written as. */
void synth_lost_samples(union synth_record *out, uint64_t lost, uint64_t time_ns);
/* LOST: of records that were no samples. */
void synth_lost(union synth_record *out, uint64_t lost, uint64_t time_ns);
/* MMAP of kernel code. */
void synth_kernel_map(
	union synth_record *out, uint64_t start, uint64_t len, uint64_t pgoff, const char *name);

/* KSYMBOL: a function that the kernel made. */
void synth_ksymbol(union synth_record *out, uint64_t start, uint64_t len, const char *name);

typedef int synth_fn(const struct perf_event_header *record, void *ctx);

/* The kernel's code, as perf names and places it, from the text of /proc/kallsyms: one record, or none where
 * addresses are hidden.  0 or what fn returned. */
int synth_kernel(FILE *kallsyms, synth_fn *fn, void *ctx);
/* Its modules, from the text of /proc/modules; modules_dep, the text of modules.dep in modules_dir, tells their
 * files and may be NULL. */
int synth_modules(
	FILE *modules, FILE *modules_dep, const char *modules_dir, synth_fn *fn, void *ctx);
/* Both, of this machine. */
int synth_machine(synth_fn *fn, void *ctx);

/* The build-id among ELF notes; its length, or 0. */
uint8_t synth_note_build_id(const void *notes, size_t len, uint8_t out[RECORD_BUILD_ID_MAX]);
/* Of the running kernel, of its module (name without brackets), of this process's vdso. */
uint8_t synth_kernel_build_id(uint8_t out[RECORD_BUILD_ID_MAX]);
uint8_t synth_module_build_id(const char *module, uint8_t out[RECORD_BUILD_ID_MAX]);
uint8_t synth_vdso_build_id(uint8_t out[RECORD_BUILD_ID_MAX]);

#endif
