/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.h - strobe archive: a recording packed with the binaries that its symbols need.
 *
 * UI thread; once per run of the program.
 */
#ifndef TUI_ARCHIVE_H
#define TUI_ARCHIVE_H

struct request;

/* request->files[0], a perf.data file, into request->output ("-": standard output; NULL: beside the recording, its
 * path with .strobe.tar.zst).  Binaries are looked for below request->symfs first.  Sentences go to standard
 * error.  Returns the exit status.  main.c: case CMD_ARCHIVE: return archive_run(request); */
int archive_run(const struct request *request);

#endif
