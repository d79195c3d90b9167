/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * told.h - what simpleperf (Android) adds to perf's format: names of events and of functions.
 *
 * The layouts are those of simpleperf's own description, in Android's
 * system/extras/simpleperf/record_file_format.h, record_file.proto and record.h.  Numbers have the
 * byte order of the file, but those of protobuf.  Owned by a reader; one thread.
 */
#ifndef SAMPLER_RECORDING_TOLD_H
#define SAMPLER_RECORDING_TOLD_H

#include "sampler/recording/features.h"

#include <stdio.h>

/* Pairs of strings, each with its NUL: the version, the device, and the events' names.  0 or
 * -EBADMSG (what was understood is kept), -ENOMEM. */
int told_meta(struct features *features, struct attrs *attrs, const uint8_t *bytes, size_t len);

/* The section of files: PERFDATA_SIMPLEPERF_FILE or PERFDATA_SIMPLEPERF_FILE2.  0, -EBADMSG,
 * -ENOMEM. */
int told_files(struct features *features, unsigned int feature, const uint8_t *bytes, size_t len,
	bool swapped);

/* What is told of a mapped file; NULL if nothing is. */
const struct reader_told *told_find(const struct reader_info *info, const char *path);

void told_fini(struct reader_info *info);

/* Changes a mapping of such a recording, so that its offsets are those that the names have:
 * addresses for code made at run time, else places in the file.  path (READER_TOLD_PATH) holds its
 * name then. */
void told_map(const struct reader_info *info, struct record_mmap *mmap, char *path);

#endif
