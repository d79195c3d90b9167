/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_file.h - what strobe record needs besides sampling: the file, its sentences, its build-ids.
 *
 * UI thread.
 */
#ifndef TUI_RECORD_FILE_H
#define TUI_RECORD_FILE_H

#include "sampler/recording/recorder.h"
#include "tui/export/outpath.h"

#include <stdbool.h>
#include <stddef.h>

#define RECORD_TEXT_MAX 1024

struct session;

struct record_file {
	const char *path; /* borrowed; "-" is standard output */
	struct outpath place;
	char old[NAME_MAX + 1]; /* current name of the replaced file; "": none */
	char older[NAME_MAX + 1]; /* current name of the former FILE.old; "": none */
	int fd; /* -1: none */
	bool pipe; /* it cannot seek: the pipe format */
	bool standard;
	bool created;
	bool keeps_failed; /* record_file_open() could not rename the existing file */
};

/* output as in struct request; what is there already is renamed to FILE.old, and what has that name is gone once
 * this is settled or closed.  0, or -errno and a cleaned sentence. */
int record_file_open(struct record_file *file, const char *output, char *message, size_t size);
/* Something is being recorded: what is done is not undone, even if this program is killed. */
void record_file_settle(struct record_file *file);
/* Nothing was recorded: everything as it was before. */
void record_file_undo(struct record_file *file);
/* 0, or -errno and a cleaned sentence where it turns out only now that something was not written. */
int record_file_close(struct record_file *file, char *message, size_t size);

/* This program's command line, as it was started. */
int record_cmdline(char ***words, size_t *n);
void record_cmdline_free(char **words, size_t n);

/* Sentences, cleaned. */
void record_progress(char *out, size_t size, const char *target, const struct engine_status *status,
	const struct recorder_status *recorded);
void record_summary(char *out, size_t size, const char *path, const struct engine_status *status,
	const struct recorder_status *recorded);
/* error: what recorder_finish() returned. */
void record_explain(char *out, size_t size, const char *path, int error,
	const struct recorder_status *recorded);

/* The images whose symbols were requested.  All zeros: none. */
struct record_asked {
	uint8_t *images;
	uint32_t room;
	uint64_t upto_ns; /* end of the latest slice that was examined */
};

/* While sampling, requests the symbols of files with new samples.  Readers of the recording can
 * then name deleted files from the cache.  Returns 0, or -ENOMEM; the rest is
 * requested at the end. */
int record_ask_files(struct record_asked *asked, const struct session *session);
void record_asked_fini(struct record_asked *asked);

struct record_build_ids {
	struct reader_build_id *list;
	size_t n, capacity;
};

/* Of every image that samples fell into, after the end of sampling: asks symbols/ for those of files and waits for
 * at most so long.  0 or -ENOMEM, with what is known in any case. */
int record_build_ids(
	struct record_build_ids *ids, const struct session *session, unsigned int timeout_ms);
void record_build_ids_fini(struct record_build_ids *ids);

/* Copies of what names code that a reader may not find, for recorder_keep(). */
struct record_kept {
	char *bytes; /* NULL: nothing */
	size_t len;
	size_t left_out; /* files that had no room */
};

/* After record_build_ids(), while the session is open.  0 or -ENOMEM. */
int record_copy_kept(struct record_kept *kept, const struct session *session);
void record_kept_fini(struct record_kept *kept);
/* A sentence, cleaned; false: nothing was left out. */
bool record_explain_kept(const struct record_kept *kept, char *out, size_t size);

#endif
