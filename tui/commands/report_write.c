/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_write.c - writes a gathered report in the requested format.
 */
#include "tui/commands/report_private.h"
#include "tui/options/args.h"
#include "tui/session/request.h"

#include <errno.h>
#include <string.h>

/* True for names of other members of a row's JSON object, or of other CSV columns. */
static bool is_taken(const char *name)
{
	static const char *const taken[] = {"event", "self_percent", "total_percent", "samples",
		"weight", "self_weight", "total_weight", "columns"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (!strcmp(name, taken[i]))
			return true;
	for (int i = 0; i < GROUP_KEYS; i++)
		if (!strcmp(name, args_group_name((enum query_group)i)))
			return true;
	return false;
}

const char *report_key_name(const struct report *report, size_t key, char room[REPORT_NAME_MAX])
{
	enum query_group group = report->keys[key];
	const char *field;

	if (group < GROUP_KEYS)
		return args_group_name(group);
	field = report->fields[group - GROUP_FIELD];
	if (!is_taken(field))
		return field;
	snprintf(room, REPORT_NAME_MAX, FIELD_PREFIX "%s", field);
	return room;
}

int report_write(
	FILE *out, const struct report *report, enum report_format format, unsigned int columns)
{
	int ret = 0;

	if (format == REPORT_JSON)
		ret = report_put_json(out, report);
	else if (format == REPORT_CSV)
		ret = report_put_csv(out, report);
	else
		report_put_text(out, report, columns);
	if (ret)
		return ret;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
