/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run.h - what of a finished profile is exported; and the format that needs the samples one by one.
 *
 * UI thread.
 */
#ifndef TUI_EXPORT_RUN_H
#define TUI_EXPORT_RUN_H

#include "tui/export/profile.h"
#include "tui/taking.h"

struct export_run {
	struct taking *taking;
	struct snapshot snapshot;
	struct profile_event events[ENGINE_EVENTS_TOLD];
	uint64_t untimed;
	struct profile profile;
};

/* From a profile that was taken: the events asked for, the filters, the whole time.  single: the format holds one event, so
 * that the first is taken and the others are told.  0, or nonzero after a sentence; export_run_fini() is legal then. */
int export_run_init(struct export_run *run, struct taking *taking, bool single);
void export_run_fini(struct export_run *run);

/* The names of all frames that are exported, as far as they come in time.  0 or -ENOMEM. */
int export_run_names(struct export_run *run);

/* As `perf script` would print it: reads the recording a second time (fd, taken), for the order of the samples.  0, -EIO,
 * -ENOMEM, -EINTR, or an error of recording_new(). */
int export_script(FILE *out, struct export_run *run, int fd);

#endif
