/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.h - strobe archive: packs a recording with the binaries that its symbols need.
 * session/unpacked.h has the format.
 *
 * UI thread.
 */
#ifndef TUI_COMMANDS_ARCHIVE_H
#define TUI_COMMANDS_ARCHIVE_H

struct request;

/* Packs request->files[0], a perf.data file, into request->output.  "-" is standard output; NULL is
 * the recording's path with .strobe.tar.zst.  Looks for binaries below request->symfs first.
 * Reports errors to standard error.  Returns the exit status. */
int archive_run(const struct request *request);

#endif
