/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * told.h - the sections that simpleperf (Android) adds to perf's format: names of events and
 * functions.
 *
 * Their layouts are in Android's system/extras/simpleperf/record_file_format.h, record_file.proto
 * and record.h.  Numbers have the file's byte order, except those of protobuf.  Owned by a reader;
 * one thread.
 */
#ifndef SAMPLER_PERFDATA_TOLD_H
#define SAMPLER_PERFDATA_TOLD_H

#include "sampler/perfdata/features.h"

#include <stdio.h>

/* Takes the META_INFO section: pairs of strings, each with its NUL.  Keeps the version, the device
 * and the events' names.  Returns 0; -EBADMSG (the parts read before are kept); -ENOMEM. */
int told_meta(struct features *features, struct attrs *attrs, const uint8_t *bytes, size_t len);

/* Takes the section of files: PERFDATA_SIMPLEPERF_FILE or PERFDATA_SIMPLEPERF_FILE2.  Returns 0,
 * -EBADMSG or -ENOMEM. */
int told_files(struct features *features, unsigned int feature, const uint8_t *bytes, size_t len,
	bool swapped);

/* Returns the recorded names of a mapped file; NULL if none. */
const struct reader_told *told_find(const struct reader_info *info, const char *path);

void told_fini(struct reader_info *info);

/* Changes a mapping so that its offsets match those of the recorded names.  These are addresses for
 * code generated at run time, file offsets otherwise.  If the file has names, path
 * (READER_TOLD_PATH bytes) then holds the mapping's name. */
void told_map(const struct reader_info *info, struct record_mmap *mmap, char *path);

#endif
