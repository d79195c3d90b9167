/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_file.h - parts of strobe record besides sampling: the file, messages, build-ids.
 *
 * UI thread.
 */
#ifndef TUI_EXPORT_RECORD_FILE_H
#define TUI_EXPORT_RECORD_FILE_H

#include "sampler/recording/recorder.h"
#include "tui/export/outpath.h"

#include <stdbool.h>
#include <stddef.h>

#define RECORD_DEFAULT_FILE "strobe.data"

#define RECORD_TEXT_MAX 1024

struct session;

struct record_file {
	const char *path; /* borrowed; "-" is standard output */
	struct outpath place;
	char old[NAME_MAX + 1]; /* current name of the replaced file; "": none */
	char older[NAME_MAX + 1]; /* current name of the former FILE.old; "": none */
	int fd; /* -1: none */
	bool pipe; /* cannot seek: use the pipe format */
	bool standard;
	bool created;
	bool keeps_failed; /* record_file_open() could not rename the existing file */
};

/* Opens the file.  output: see struct request.  An existing file is renamed to FILE.old.  A
 * previous FILE.old is deleted when the file is settled or closed.  Returns 0, or -errno and a
 * cleaned sentence. */
int record_file_open(struct record_file *file, const char *output, char *message, size_t size);
/* Marks that something has been recorded: the changes stay, even if this program is killed. */
void record_file_settle(struct record_file *file);
/* Restores all files as they were, if nothing was recorded. */
void record_file_undo(struct record_file *file);
/* Closes the file.  Returns 0, or -errno and a cleaned sentence if a late write error is
 * reported. */
int record_file_close(struct record_file *file, char *message, size_t size);

/* Returns this program's command line in *words, for record_cmdline_free().  Returns 0 or
 * -ENOMEM. */
int record_cmdline(char ***words, size_t *n);
void record_cmdline_free(char **words, size_t n);

/* Write cleaned sentences. */
void record_progress(char *out, size_t size, const char *target, const struct engine_status *status,
	const struct recorder_status *recorded);
void record_summary(char *out, size_t size, const char *path, const struct engine_status *status,
	const struct recorder_status *recorded);
/* error: the result of recorder_finish(). */
void record_explain(char *out, size_t size, const char *path, int error,
	const struct recorder_status *recorded);

/* The images with requested symbols.  Zero-initialized: none. */
struct record_asked {
	uint8_t *images;
	uint32_t room;
	uint64_t upto_ns; /* end of the latest slice examined */
};

/* While sampling, requests the symbols of files with new samples.  Readers of the recording can
 * then name deleted files from the cache.  Returns 0, or -ENOMEM; the rest is requested at the
 * end. */
int record_ask_files(struct record_asked *asked, const struct session *session);
void record_asked_fini(struct record_asked *asked);

struct record_build_ids {
	struct reader_build_id *list;
	size_t n, capacity;
};

/* Finds the build-ids of all images with samples, after sampling.  Requests those of files from
 * symbols/ and waits at most timeout_ms.  Returns 0 or -ENOMEM; in both cases ids has the known
 * ones and must be released. */
int record_build_ids(
	struct record_build_ids *ids, const struct session *session, unsigned int timeout_ms);
void record_build_ids_fini(struct record_build_ids *ids);

/* Copies of files that name code and that a reader may not find, for recorder_keep(). */
struct record_kept {
	char *bytes; /* NULL: nothing */
	size_t len;
	size_t left_out; /* number of files that did not fit */
};

/* Makes the copies.  Call it after record_build_ids(), while the session is open.  Returns 0 or
 * -ENOMEM. */
int record_copy_kept(struct record_kept *kept, const struct session *session);
void record_kept_fini(struct record_kept *kept);
/* Writes a cleaned sentence about files left out.  Returns false if there are none. */
bool record_explain_kept(const struct record_kept *kept, char *out, size_t size);

#endif
