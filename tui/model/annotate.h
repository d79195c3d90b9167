/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate.h - the part of a session's model for the code of a function.  UI thread.
 */
#ifndef TUI_MODEL_ANNOTATE_H
#define TUI_MODEL_ANNOTATE_H

#include "tui/model/model.h"
#include "tui/session/session.h"

/* Implement struct model_code_ops. */
int model_annotate_open(struct session *session, uint32_t symref, enum disasm_syntax syntax,
	struct annotation **out);
int model_annotate_update(struct session *session, struct model *model, struct filter *filter,
	struct annotation *annotation, bool *changed);
uint64_t model_annotate_waiting_ns(const struct session *session, uint64_t now_ns);
int model_annotate_source_path(
	struct session *session, uint32_t symref, const char *file, char *out, size_t size);
enum annotate_progress model_annotate_progress(
	const struct annotation *annotation, const char **reason);

#endif
