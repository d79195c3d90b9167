/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crumbs.c - see crumbs.h.
 */
#include "tui/model/crumbs.h"

#include "tui/base/clean.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Makes the filter of the command line and of the first n expressions. */
static int make(struct model_crumbs *crumbs, struct session *session, size_t n)
{
	const struct stacks *stacks = session_stacks(session);
	const struct tasks *tasks = session_tasks(session);
	struct filter *filter, *more;
	int ret = session_filter(session, &filter);

	for (size_t i = 0; !ret && i < n; i++) {
		ret = expr_filter(&crumbs->exprs[i], stacks, tasks, session->names, &more);
		if (!ret)
			filter = filter_and(filter, more);
	}
	if (ret) {
		filter_free(filter);
		return ret;
	}
	filter_set_schemas(filter, &session->schemas);
	filter_free(crumbs->filter);
	crumbs->filter = filter;
	return 0;
}

int model_crumbs_init(struct model_crumbs *crumbs, struct session *session)
{
	memset(crumbs, 0, sizeof(*crumbs));
	return make(crumbs, session, 0);
}

void model_crumbs_fini(struct model_crumbs *crumbs)
{
	filter_free(crumbs->filter);
	for (size_t i = 0; i < MODEL_CRUMBS_MAX; i++)
		expr_fini(&crumbs->exprs[i]);
	memset(crumbs, 0, sizeof(*crumbs));
}

int model_crumbs_add(struct model_crumbs *crumbs, struct session *session, struct model *model,
	const char *text, size_t *at, char *message, size_t size)
{
	size_t n = model->n_crumbs;
	struct expr_error error;
	int ret;

	*at = 0;
	if (n == MODEL_CRUMBS_MAX) {
		snprintf(message, size, "There are %d filters already: remove one first", (int)n);
		return -ENOSPC;
	}
	ret = expr_parse(&crumbs->exprs[n], text, &error);
	if (!ret) {
		ret = session_check_expr(session, &model->status, &crumbs->exprs[n], &error);
		if (ret)
			expr_fini(&crumbs->exprs[n]);
	}
	if (ret == -EINVAL) {
		*at = error.at;
		clean_string(message, size, error.what);
	} else if (!ret) {
		ret = make(crumbs, session, n + 1);
		if (ret)
			expr_fini(&crumbs->exprs[n]);
	}
	if (ret == -ENOMEM)
		snprintf(message, size, "Out of memory");
	if (ret)
		return ret;
	clean_string(model->crumbs[n], sizeof(model->crumbs[n]), text);
	model->n_crumbs++;
	return 0;
}

int model_crumbs_drop(
	struct model_crumbs *crumbs, struct session *session, struct model *model, size_t i)
{
	struct expr gone;
	int ret;

	if (i >= model->n_crumbs)
		return -EINVAL;
	gone = crumbs->exprs[i];
	memmove(&crumbs->exprs[i], &crumbs->exprs[i + 1],
		(model->n_crumbs - 1 - i) * sizeof(*crumbs->exprs));
	crumbs->exprs[model->n_crumbs - 1] = gone;
	ret = make(crumbs, session, model->n_crumbs - 1);
	if (ret) {
		/* The old filter stays in use, so put its expression back. */
		memmove(&crumbs->exprs[i + 1], &crumbs->exprs[i],
			(model->n_crumbs - 1 - i) * sizeof(*crumbs->exprs));
		crumbs->exprs[i] = gone;
		return ret;
	}
	expr_fini(&crumbs->exprs[model->n_crumbs - 1]);
	memmove(&model->crumbs[i], &model->crumbs[i + 1],
		(model->n_crumbs - 1 - i) * sizeof(*model->crumbs));
	model->n_crumbs--;
	return 0;
}
