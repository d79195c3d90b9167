/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filter.c - the filter of the command line: its terms and expressions.
 *
 * UI thread.
 */
#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "tui/session/request.h"
#include "tui/session/session.h"

#include <errno.h>
#include <stdlib.h>

int session_filter(struct session *session, struct filter **out)
{
	const struct request *request = session->request;
	const struct stacks *stacks = session_stacks(session);
	const struct tasks *tasks = session_tasks(session);
	struct engine_status *status = malloc(sizeof(*status));
	struct filter *more;
	int ret = status ? 0 : -ENOMEM;

	*out = NULL;
	if (!ret) {
		session_status(session, status);
		session_schemas(session, status, &session->schemas);
		ret = filter_new(
			out, request->terms, request->n_terms, stacks, tasks, session->names);
	}
	for (size_t i = 0; i < request->n_only && !ret; i++) {
		ret = expr_filter(&request->only[i], stacks, tasks, session->names, &more);
		if (!ret)
			*out = filter_and(*out, more);
	}
	free(status);
	if (ret) {
		filter_free(*out);
		*out = NULL;
	}
	filter_set_schemas(*out, &session->schemas);
	return ret;
}

bool session_only_fields(const struct request *request)
{
	for (size_t i = 0; i < request->n_only; i++)
		for (size_t j = 0; j < request->only[i].n; j++)
			if (request->only[i].terms[j].field_name)
				return true;
	return false;
}

int session_check_expr(const struct session *session, const struct engine_status *status,
	const struct expr *expr, struct expr_error *error)
{
	const struct fields *schemas[ENGINE_EVENTS_TOLD];

	for (size_t i = 0; i < status->n_events; i++)
		schemas[i] = session_fields(session, status->events[i].id);
	return expr_check_fields(expr, schemas, status->n_events, error);
}

bool session_check_only(struct session *session, size_t *which, struct expr_error *error)
{
	const struct request *request = session->request;
	struct engine_status *status = request->n_only ? malloc(sizeof(*status)) : NULL;
	bool ok = true;

	/* If memory runs out, later steps report it. */
	if (!status)
		return true;
	session_status(session, status);
	for (size_t i = 0; i < request->n_only && ok; i++) {
		*which = i;
		ok = !session_check_expr(session, status, &request->only[i], error);
	}
	free(status);
	return ok;
}
