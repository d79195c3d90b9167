/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commands.h - commands of views: about the target, its events, and the samples that are shown.
 *
 * UI thread.
 */
#ifndef TUI_MODEL_COMMANDS_H
#define TUI_MODEL_COMMANDS_H

#include "sampler/control/config.h"
#include "sampler/events/parse.h"
#include "tui/session/export_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* Return 0 or -errno; status and log report the result. */
struct model_commands {
	/* set: the current window becomes the baseline; else there is none.  Returns 0 or
	 * -ENOMEM. */
	int (*baseline)(struct model *model, bool set);
	/* Starts reading a recording, which becomes the baseline when it has been read.  The log
	 * reports the result.  Returns 0, or -errno and a sentence. */
	int (*baseline_file)(struct model *model, const char *path, char *message, size_t size);
	void (*baseline_stop)(struct model *model); /* stops reading */
	/* Adds a filter expression; samples must pass all.  Returns 0, or -errno, a sentence and
	 * the offset of the error. */
	int (*crumb_add)(
		struct model *model, const char *text, size_t *at, char *message, size_t size);
	void (*crumb_drop)(struct model *model, size_t i); /* removes expression i */
	int (*attach)(struct model *model, int32_t pid);
	int (*detach)(struct model *model, int32_t pid);
	/* Adds events by the grammar of -e.  If a symbol must be found first, model.looking is set.
	 * Returns -EINVAL and *error for wrong syntax; for other errors its kind is
	 * EVENT_ERROR_NONE. */
	int (*event_add)(struct model *model, const char *text, struct event_error *error);
	void (*look_cancel)(struct model *model);
	int (*event_drop)(struct model *model, uint8_t event);
	int (*set_freq)(struct model *model, uint8_t event, uint64_t value); /* Hz, or the period */
	int (*set_period)(struct model *model, uint8_t event, uint64_t period);
	int (*event_enable)(struct model *model, uint8_t event, bool enable);
	/* "": removes it */
	int (*set_filter)(struct model *model, uint8_t event, const char *filter);
	/* Moves it to an address (0x...) or a symbol of the target.  Returns 0, or -errno and a
	 * sentence. */
	int (*move_breakpoint)(
		struct model *model, uint8_t event, const char *where, char *message, size_t size);
	int (*pause)(struct model *model, bool pause);
	int (*set_call_graph)(struct model *model, enum engine_call_graph mode);
	int (*snapshot)(struct model *model); /* flight recorder; -EINVAL if there is none */
	/* Starts writing a recording: all samples since zero_ns, up to to_ns if frozen.  The log
	 * reports the result.  Returns 0, or -errno and a sentence. */
	int (*save)(struct model *model, const char *path, char *message, size_t size);
	void (*save_stop)(struct model *model);
	/* Starts exporting the window's samples of `event` that pass the filters.  The log reports
	 * the result.  Returns 0, or -errno and a sentence. */
	int (*export_window)(struct model *model, const char *path, enum export_format format,
		char *message, size_t size);
	void (*export_stop)(struct model *model); /* an existing file is kept */
	/* Requests the missing files of a symbol's image from debuginfod servers.  The log reports
	 * the result.  Returns 0, or -errno and a sentence. */
	int (*fetch)(struct model *model, uint32_t symref, char *message, size_t size);
	void (*fetch_cancel)(struct model *model);
};

#endif
