/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - strobe report: takes a profile, gathers the data of the report, and prints it.
 *
 * UI thread.
 */
#include "tui/commands/report.h"

#include "sampler/control/config.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/giveup.h"
#include "tui/export/outfile.h"
#include "tui/query/field_names.h"
#include "tui/session/request.h"
#include "tui/session/taking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int note_pending_symbols(struct report *report, const struct taking *taking)
{
	char sentence[256];

	return taking_explain_pending(taking, sentence, sizeof(sentence))
		? report_add_note(report, sentence)
		: 0;
}

/* Gathering asks for names, and new names change the result.  Gathers again until no name changes,
 * at most four times. */
int report_take(struct report *report, struct taking *taking)
{
	struct names *names = taking->session.names;

	/* The first round asks for symbols, the second one for the demangled forms of their
	 * names. */
	for (int i = 0; i < 2; i++) {
		taking_ask_names(taking);
		taking_wait_names(taking);
	}
	for (int round = 0;; round++) {
		uint64_t changes = names_changes(names);
		int ret = report_gather(report, &taking->session);

		if (ret)
			return ret;
		if (round < 3 && !taking->interrupted)
			taking_wait_names(taking);
		if (round == 3 || taking->interrupted || names_changes(names) == changes)
			return note_pending_symbols(report, taking);
		report_fini(report);
	}
}

unsigned int report_columns(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

bool report_wants_color(const struct request *request)
{
	const char *no_color = getenv("NO_COLOR");

	if (request->mono || request->color != COLOR_AUTO)
		return request->color == COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

/* Checks the fields of --group against a recording.  Its fields are known only after loading. */
static bool has_fields(const struct taking *taking)
{
	const struct request *request = taking->request;
	const struct fields *schemas[ENGINE_EVENTS_TOLD];
	struct engine_status *status;
	char clause[1024], sentence[1200];
	bool ok = true;

	if (!request->n_fields || !request->n_files)
		return true;
	status = malloc(sizeof(*status));
	if (!status)
		return true;
	session_status(&taking->session, status);
	for (size_t i = 0; i < status->n_events; i++)
		schemas[i] = session_fields(&taking->session, status->events[i].id);
	for (size_t i = 0; i < request->n_fields && ok; i++) {
		ok = field_names_check(
			request->fields[i], schemas, status->n_events, clause, sizeof(clause));
		if (ok)
			continue;
		snprintf(sentence, sizeof(sentence), "--group '%.100s': %s", request->fields[i],
			clause);
		clean_string(clause, sizeof(clause), sentence);
		taking_complain(clause);
	}
	free(status);
	return ok;
}

static int print(struct taking *taking)
{
	enum report_format format = taking->request->format;
	struct outfile out;
	struct report report;
	int ret;

	if (!has_fields(taking))
		return 1;
	ret = report_take(&report, taking);
	if (!ret) {
		ret = report_gather_notes(&report, &taking->session);
		if (ret)
			report_fini(&report);
	}
	if (ret) {
		taking_complain("out of memory");
		return 1;
	}
	if (format == REPORT_CSV)
		for (size_t i = 0; i < report.n_notes; i++)
			taking_complain(report.notes[i]);
	ret = taking_begin_output(taking);
	if (!ret)
		ret = outfile_open(&out, NULL, OUTFILE_PUBLIC);
	giveup_watch(STDOUT_FILENO);
	if (!ret)
		ret = outfile_end(&out, report_write(out.file, &report, format, report_columns()));
	if (ret && giveup_came())
		taking_complain("interrupted: what was printed is not whole");
	else if (ret && ret != -EPIPE) /* the reader left, like head(1): no message */
		taking_complainf("cannot write the report: %s", explain_errno(ret));
	giveup_end();
	report_fini(&report);
	return ret ? 1 : 0;
}

int report_run(const struct request *request)
{
	struct taking *taking = malloc(sizeof(*taking));
	int status = 1;

	if (!taking) {
		taking_complain("out of memory");
		return 1;
	}
	if (!taking_open(taking, request) && !taking_run(taking, request->format == REPORT_CSV))
		status = print(taking);
	taking_close(taking);
	status = taking_exit_status(taking, status);
	free(taking);
	return status;
}
