/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_write.c - a gathered report in the format asked for.
 */
#include "tui/report_private.h"

#include <errno.h>

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
