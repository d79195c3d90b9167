/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run.h - the parts of a finished profile that are exported, and the export as `perf script` text.
 *
 * UI thread.
 */
#ifndef TUI_EXPORT_RUN_H
#define TUI_EXPORT_RUN_H

#include "sampler/control/config.h"
#include "tui/export/profile.h"
#include "tui/session/taking.h"

struct export_run {
	struct taking *taking;
	struct snapshot snapshot;
	struct profile_event events[ENGINE_EVENTS_TOLD];
	uint64_t untimed;
	struct profile profile;
};

/* Prepares the export of a profile: the requested events, the filters, the whole time.  single: the
 * format holds one event; the first is exported, and a message names it.  Returns 0, or -errno
 * after printing a message; in both cases the caller calls export_run_fini(). */
int export_run_init(struct export_run *run, struct taking *taking, bool single);
void export_run_fini(struct export_run *run);

/* Requests the names of all exported frames and waits for them, within the time limit for names.
 * Returns 0 or -ENOMEM. */
int export_run_names(struct export_run *run);

/* Writes the samples as `perf script` prints them.  Reads the recording a second time from fd,
 * since the store does not keep the order of samples.  Takes ownership of fd.  Returns 0, -EIO,
 * -ENOMEM, -EINTR, or an error of opening or loading the recording. */
int export_script(FILE *out, struct export_run *run, int fd);

#endif
