/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate.c - annotations of a session, and the time of their next update.
 */
#include "tui/model/annotate.h"

#include "sampler/control/config.h"
#include "sampler/store/store.h"
#include "symbols/client/texts.h"
#include "tui/names/names.h"
#include "tui/session/request.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#define SPINNER_NS 100000000u
#define SOURCE_MS 30 /* longest wait of a key */

int model_annotate_open(struct session *session, uint32_t symref, enum disasm_syntax syntax,
	struct annotation **out)
{
	const struct annotate_question question = {
		.stacks = session_stacks(session),
		.images = session_images(session),
		.names = session->names,
		.symbols = session->symbols,
		.symref = symref,
		.syntax = syntax,
		.source_prefixes = session->request->source_prefixes,
		.recording = session->recording != NULL,
		.quick = true,
	};

	return annotate_new(out, &question);
}

int model_annotate_update(struct session *session, struct model *model, struct filter *filter,
	struct annotation *annotation, bool *changed)
{
	struct store *store = session_store(session);
	uint8_t events[ENGINE_EVENTS_TOLD];
	size_t n = model_tabs(model, events);
	struct snapshot snapshot;
	uint64_t since_ns;
	int ret;

	*changed = false;
	ret = store_snapshot(store, model->from_ns, model->to_ns, &snapshot);
	if (ret)
		return ret;
	ret = annotate_update(
		annotation, &snapshot, model->from_ns, model->to_ns, filter, events, n);
	snapshot_release(store, &snapshot);
	/* After the update, since new addresses become rows here. */
	*changed = annotate_collect(annotation);
	if (annotate_is_reading(annotation) || annotate_progress(annotation) == ANNOTATE_WAITS ||
		symbols_code_waiting(session->symbols, &since_ns))
		model->soon_ns = model->now_ns + SPINNER_NS;
	return ret;
}

enum annotate_progress model_annotate_progress(
	const struct annotation *annotation, const char **reason)
{
	*reason = annotate_reason(annotation);
	return annotate_progress(annotation);
}

uint64_t model_annotate_waiting_ns(const struct session *session, uint64_t now_ns)
{
	uint64_t since_ns = 0;

	if (!symbols_code_waiting(session->symbols, &since_ns))
		symbols_text_waiting(session->symbols, &since_ns);
	if (!since_ns || since_ns > now_ns)
		return 0;
	return now_ns - since_ns;
}

int model_annotate_source_path(
	struct session *session, uint32_t symref, const char *file, char *out, size_t size)
{
	const struct symref *symbol = names_get(session->names, symref);
	struct symbols_text *text;
	const struct symbols_text_question question = {
		.origin = names_source_origin(session->names, symbol->image_id, session->recording),
		.file = file,
		.prefixes = session->request->source_prefixes,
	};
	int ret = symbols_text_ask(session->symbols, &question, &text), error, n;

	if (ret)
		return ret;
	/* The source was requested when its rows were shown.  It is here at once, unless the disk
	 * hangs. */
	if (symbols_text_state(text, &error) == SYMBOLS_PENDING) {
		struct pollfd pfd = {.fd = symbols_fd(session->symbols), .events = POLLIN};

		if (poll(&pfd, 1, SOURCE_MS) > 0)
			names_update(session->names);
	}
	switch (symbols_text_state(text, &error)) {
	case SYMBOLS_PENDING:
		ret = -EAGAIN;
		break;
	case SYMBOLS_READY:
		n = snprintf(out, size, "%s", symbols_text_path(text));
		ret = n <= 0 ? -EPERM : (size_t)n >= size ? -ENAMETOOLONG : 0;
		break;
	default:
		ret = error ? -error : -ENOENT;
		break;
	}
	symbols_text_release(session->symbols, text);
	return ret;
}
