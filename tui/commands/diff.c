/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.c - strobe diff: loads recordings one after the other, keeps their rows, and prints them
 * side by side.
 *
 * Each recording is closed before the next is opened, so only one is in memory.  UI thread.
 */
#include "tui/commands/diff.h"

#include "sampler/control/status.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/giveup.h"
#include "tui/commands/diff_table.h"
#include "tui/export/outfile.h"
#include "tui/session/request.h"
#include "tui/session/taking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the event by name: the report has the event's own name, cleaned. */
static bool is_clock(const struct engine_status *status, const char *name)
{
	char clean[EVENT_NAME_MAX];

	for (size_t i = 0; i < status->n_events; i++)
		if (!strcmp(clean_string(clean, sizeof(clean), status->events[i].name), name))
			return status->events[i].is_clock;
	return false;
}

static int add_report(
	struct diff_table *table, struct taking *taking, const char *path, struct report *report)
{
	bool *clocks = calloc(report->n_events + 1, sizeof(*clocks));
	char name[256], sentence[1024];
	const char *slash = strrchr(path, '/');
	int ret;

	if (!clocks)
		return -ENOMEM;
	for (size_t i = 0; i < report->n_events; i++)
		clocks[i] = is_clock(&taking->status, report->events[i].name);
	if (!strcmp(path, "-"))
		path = "standard input";
	else if (slash && slash[1])
		path = slash + 1;
	clean_string(name, sizeof(name), path);
	if (table->normal == DIFF_SECOND && (report->no_times || report->covered_s <= 0)) {
		snprintf(sentence, sizeof(sentence), "%s: nothing per second is known: %s", name,
			report->no_times ? "its samples have no times"
					 : "it has no time within --time");
		taking_complain(sentence);
		if (report->no_times) {
			free(clocks);
			return -ENODATA;
		}
	}
	ret = report_gather_notes(report, &taking->session);
	for (size_t i = 0; i < report->n_notes && !ret; i++) {
		snprintf(sentence, sizeof(sentence), "%s: %s", name, report->notes[i]);
		taking_complain(sentence);
	}
	if (!ret)
		ret = diff_table_add(table, name, report, clocks);
	free(clocks);
	return ret;
}

/* Loads one recording, adds its rows, and closes it.  Returns 0, or nonzero after reporting an
 * error. */
static int add_file(struct diff_table *table, const struct request *request, char *path)
{
	struct taking *taking = malloc(sizeof(*taking));
	struct request one = *request;
	struct report report;
	int ret;

	one.files = &path;
	one.n_files = 1;
	one.view = REPORT_FLAT;
	one.columns = COLUMNS_NONE;
	one.rows = 0;
	one.percent_limit = -1;
	if (!taking) {
		taking_complain("out of memory");
		return -ENOMEM;
	}
	ret = taking_open(taking, &one);
	if (!ret)
		ret = taking_run(taking, true);
	if (!ret && taking->status.state == ENGINE_STOPPED) {
		taking_complain("interrupted");
		ret = -EINTR;
	}
	if (!ret) {
		ret = report_take(&report, taking);
		if (!ret) {
			ret = add_report(table, taking, path, &report);
			report_fini(&report);
		}
		if (ret == -ENOMEM)
			taking_complain("out of memory");
	}
	taking_close(taking);
	free(taking);
	return ret;
}

static int write_out(const struct diff_table *table, const struct request *request)
{
	struct outfile out;
	int ret = outfile_open(&out, NULL, OUTFILE_PUBLIC);

	if (ret)
		return ret;
	giveup_watch(STDOUT_FILENO);
	switch (request->format) {
	case REPORT_CSV:
		diff_put_csv(out.file, table, request->csv);
		break;
	case REPORT_JSON:
		diff_put_json(out.file, table);
		break;
	default:
		diff_put_text(out.file, table, report_columns(), report_wants_color(request));
	}
	return outfile_commit(&out);
}

static int print(const struct diff_table *table, const struct request *request)
{
	int ret = giveup_begin();

	if (!ret)
		ret = write_out(table, request);
	if (ret && giveup_came())
		taking_complain("interrupted: what was printed is not whole");
	else if (ret && ret != -EPIPE) /* a reader such as head(1) left: no error */
		taking_complainf("cannot write the comparison: %s", explain_errno(ret));
	giveup_end();
	return ret;
}

int diff_run(const struct request *request)
{
	struct diff_table table;
	int ret = diff_table_init(&table, request->n_files, request->normal);

	for (size_t i = 0; i < request->n_files && !ret; i++) {
		ret = add_file(&table, request, request->files[i]);
		if (ret)
			goto out;
	}
	if (!ret)
		ret = diff_table_finish(&table, request->percent_limit, request->rows);
	if (ret)
		taking_complain("out of memory");
	else
		ret = print(&table, request);
out:
	diff_table_fini(&table);
	return ret ? 1 : 0;
}
