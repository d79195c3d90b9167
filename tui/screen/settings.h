/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * settings.h - the user's configuration and the layout saved last: their files, and what they set.
 *
 * The command line overrides the configuration, which overrides the layout.  Errors in the files
 * are reported but never stop strobe.  UI thread.
 */
#ifndef TUI_SCREEN_SETTINGS_H
#define TUI_SCREEN_SETTINGS_H

#include "tui/model/model.h"
#include "tui/options/config.h"
#include "tui/session/session.h"

#include <stdio.h>

struct settings;

/* Reads the files of the request (config, no_config) and of the environment.  Applies settings to
 * the request and binds keys.  Returns 0 with *out for settings_free(), or -ENOMEM with NULL. */
int settings_load(struct settings **out, struct request *request);
void settings_free(struct settings *settings); /* NULL is a no-op */

/* Report problems of the configuration: settings_tell() as lines "strobe: ...", settings_log() in a
 * log, which also gets problems of the layout. */
void settings_tell(const struct settings *settings, FILE *out);
void settings_log(const struct settings *settings, struct logbook *log, uint64_t now_ns);

/* Apply settings to the model; return the theme, which borrows the settings. */
void settings_apply(const struct settings *settings, struct model *model);
struct theme settings_theme(const struct settings *settings);

/* Saves the layout.  Returns 0, -EPERM if there is no directory that belongs to the user, or -errno
 * if writing fails. */
int settings_remember(
	const struct settings *settings, const struct model *model, enum theme_kind theme);

/* Reads a whole file of at most max bytes.  *out gets *len bytes and a NUL, for free().  Returns 0
 * or -errno (-EFBIG if too long). */
int settings_read(const char *path, size_t max, char **out, size_t *len);

#endif
