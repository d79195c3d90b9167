/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * settings.h - the user's configuration and the layout that was left last: files, and what they set.
 *
 * The command line goes before the configuration, that before the layout.  Nothing in them stops strobe: what is
 * not understood is told.  UI thread.
 */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include "tui/config.h"
#include "tui/model.h"
#include "tui/session.h"

#include <stdio.h>

struct settings;

/* Reads the files of the request (config, no_config) and the environment, sets what of it the request holds, and binds
 * keys.  *out is for settings_free(); 0, or -ENOMEM and NULL. */
int settings_load(struct settings **out, struct request *request);
void settings_free(struct settings *settings); /* NULL is a no-op */

/* What was complained of in the configuration: as lines "strobe: ...", and all into a log. */
void settings_tell(const struct settings *settings, FILE *out);
void settings_log(const struct settings *settings, struct logbook *log, uint64_t now_ns);

/* What is the model's; and the theme, which borrows the settings. */
void settings_apply(const struct settings *settings, struct model *model);
struct theme settings_theme(const struct settings *settings);

/* Keeps the layout for the next time, where there is a place for it that is the user's own.  0, or -errno: there is none
 * (EPERM), or it cannot be written. */
int settings_remember(
	const struct settings *settings, const struct model *model, enum theme_kind theme);

/* Read a whole file of at most max bytes: *out, of *len bytes and a zero, for free().  0 or -errno (EFBIG). */
int settings_read(const char *path, size_t max, char **out, size_t *len);

#endif
