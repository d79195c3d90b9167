/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_report.c - see annotate_report.h: takes the profile, chooses functions, waits for their
 * code, prints them.
 *
 * UI thread.
 */
#include "tui/commands/annotate_report.h"

#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/giveup.h"
#include "tui/base/grow.h"
#include "tui/commands/annotate_tree.h"
#include "tui/commands/report_private.h"
#include "tui/export/outfile.h"
#include "tui/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CANDIDATES_MAX 12
#define NAMES_ROUNDS 4

/* --- waiting --- */

void annotate_tell_wait(const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (what)
		fprintf(stderr, "\r\033[Kstrobe: %s ... ", what);
	else
		fputs("\r\033[K", stderr);
}

bool annotate_wait(struct annotate_report *report)
{
	taking_wait(report->taking);
	return !taking_was_interrupted(report->taking);
}

/* --- profile and functions --- */

static int take_events(struct annotate_report *report)
{
	const struct engine_status *status = &report->taking->status;
	size_t n = report_choose_events(&report->taking->session, status, report->ids);

	report->events = calloc(n + 1, sizeof(*report->events));
	if (!report->events)
		return -ENOMEM;
	report->n_events = n;
	for (size_t i = 0; i < n; i++) {
		struct annotate_event *event = &report->events[i];

		event->id = report->ids[i];
		for (size_t j = 0; j < status->n_events; j++) {
			if (status->events[j].id != event->id)
				continue;
			clean_string(event->name, sizeof(event->name), status->events[j].name);
			event->freq_hz = status->events[j].freq_hz;
			event->rate_varies = status->events[j].rate_varies;
			event->period = status->events[j].period;
			event->lost = status->events[j].lost;
			event->exact_percent = -1;
			if (status->events[j].precise || status->events[j].exact)
				event->exact_percent = report_percent(
					status->events[j].exact, status->events[j].samples);
		}
	}
	return 0;
}

struct scan_question annotate_question(const struct annotate_report *report)
{
	const struct session *session = &report->taking->session;

	return (struct scan_question){
		.snapshot = &report->snapshot,
		.from_ns = report->from_ns,
		.to_ns = report->to_ns,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = session->names,
		.filter = report->filter,
		.hide_idle = session->request->hide_idle,
		/* In a pid namespace pid 0 does not identify the idle task. */
		.idle_by_name = session->limits.pid_namespace,
	};
}

static int pick_functions(struct annotate_report *report)
{
	struct session *session = &report->taking->session;
	const struct scan_question question = annotate_question(report);
	uint64_t changes;
	int ret = 0;

	/* The order depends on names, which pick_make() requests. */
	for (int round = 0; round < NAMES_ROUNDS; round++) {
		changes = names_changes(session->names);
		pick_fini(&report->pick);
		ret = pick_make(&report->pick, &question, report->ids, report->n_events);
		if (ret || report->taking->interrupted)
			return ret;
		for (size_t i = 0; i < report->pick.n; i++)
			(void)names_get(session->names, report->pick.functions[i].symref);
		taking_wait_names(report->taking);
		if (names_changes(session->names) == changes)
			break;
	}
	for (size_t i = 0; i < report->n_events; i++) {
		report->events[i].weight = report->pick.weight[i];
		report->events[i].samples = report->pick.samples[i];
	}
	return ret;
}

/* Collects the basis of the report: events, range, filter, sums. */
static int gather(struct annotate_report *report)
{
	struct session *session = &report->taking->session;
	int ret;

	taking_ask_names(report->taking);
	taking_wait_names(report->taking);
	session_status(session, &report->taking->status);
	session_describe(session);
	report_range(session, &report->taking->status, &report->from_ns, &report->to_ns);
	ret = take_events(report);
	if (!ret)
		ret = session_filter(session, &report->filter);
	if (!ret)
		ret = store_snapshot(session_store(session), 0, UINT64_MAX, &report->snapshot);
	return ret ? ret : pick_functions(report);
}

static void fini(struct annotate_report *report)
{
	for (size_t i = 0; i < report->n_functions; i++)
		annotate_free(report->functions[i]);
	free(report->functions);
	pick_fini(&report->pick);
	if (report->snapshot.slices)
		snapshot_release(session_store(&report->taking->session), &report->snapshot);
	filter_free(report->filter);
	free(report->events);
	report_fini(&report->notes);
}

/* --- choosing functions --- */

static const struct symref *name_of(const struct annotate_report *report, size_t function)
{
	return names_get(report->taking->session.names, report->pick.functions[function].symref);
}

/* Lists candidates on standard error: "  12.3%  name  (image)". */
static void list_candidates(
	const struct annotate_report *report, const size_t *found, size_t n, const char *intro)
{
	taking_complain(intro);
	for (size_t i = 0; i < n && i < CANDIDATES_MAX; i++) {
		size_t at = found ? found[i] : i;
		const struct symref *name = name_of(report, at);

		fprintf(stderr, "  %6.2f%%  %s  (%s)\n", 100 * report->pick.functions[at].share,
			name->symbol, name->image);
	}
	if (n > CANDIDATES_MAX)
		fprintf(stderr, "  and %zu more\n", n - CANDIDATES_MAX);
}

static int no_such_function(const struct annotate_report *report, const char *text)
{
	char clean[256], intro[512];

	clean_string(clean, sizeof(clean), text);
	snprintf(intro, sizeof(intro),
		"no samples in a function called '%s'%s; the hottest functions are:", clean,
		report->request->n_terms + report->request->n_only ? " that pass the filters" : "");
	list_candidates(report, NULL, report->pick.n, intro);
	return -ENOENT;
}

/* Notes that other functions have the same name as the chosen one, found[0]. */
static int tell_others(struct annotate_report *report, const size_t *found, size_t n)
{
	const struct symref *taken = name_of(report, found[0]);
	char sentence[1024];
	int ret = 0;

	for (size_t i = 1; i < n && !ret; i++) {
		const struct symref *name = name_of(report, found[i]);

		if (name->image_id == taken->image_id)
			snprintf(sentence, sizeof(sentence),
				"%.200s: another function of this name in %.200s, at 0x%llx, has "
				"%llu samples",
				name->symbol, name->image, (unsigned long long)name->start,
				(unsigned long long)report->pick.functions[found[i]].samples);
		else
			snprintf(sentence, sizeof(sentence),
				"%.200s is also in %.300s, with %llu samples: --image chooses",
				name->symbol, name->path,
				(unsigned long long)report->pick.functions[found[i]].samples);
		ret = report_add_note(&report->notes, sentence);
	}
	return ret;
}

/* Adds the annotation of a function of the pick.  Returns 0; -ENODATA if it has no extent; or
 * -errno. */
static int add_function(struct annotate_report *report, size_t function)
{
	struct session *session = &report->taking->session;
	const struct request *request = report->request;
	const struct annotate_question question = {
		.stacks = session_stacks(session),
		.images = session_images(session),
		.names = session->names,
		.symbols = session->symbols,
		.symref = report->pick.functions[function].symref,
		.syntax = request->intel_syntax ? DISASM_INTEL : DISASM_ATT,
		.source_prefixes = request->source_prefixes,
		.recording = session->recording != NULL,
	};
	struct annotation *made;
	int ret =
		grow_exact(&report->functions, report->n_functions + 1, sizeof(*report->functions));

	if (ret)
		return ret;
	ret = annotate_new(&made, &question);
	if (ret)
		return ret;
	report->functions[report->n_functions++] = made;
	annotate_set_mode(made, (enum annotate_mode)request->annotate_mode);
	return annotate_update(made, &report->snapshot, report->from_ns, report->to_ns,
		report->filter, report->ids, report->n_events);
}

/* Adds the function that request->symbol selects.  Returns 0, or a negative value after reporting
 * why not. */
static int choose_named(struct annotate_report *report)
{
	struct session *session = &report->taking->session;
	const char *text = report->request->symbol;
	enum pick_match match;
	char intro[512], clean[256];
	size_t *found, n;
	int ret = pick_find(
		&report->pick, session->names, session->symbols, text, &match, &found, &n);

	if (ret) {
		taking_complain("out of memory");
		return ret;
	}
	switch (match) {
	case PICK_NONE:
		ret = no_such_function(report, text);
		break;
	case PICK_SEVERAL:
		clean_string(clean, sizeof(clean), text);
		snprintf(intro, sizeof(intro), "'%s' may be one of %zu functions:", clean, n);
		list_candidates(report, found, n, intro);
		ret = -EEXIST;
		break;
	default:
		ret = tell_others(report, found, n);
		if (!ret)
			ret = add_function(report, found[0]);
		if (ret == -ENODATA)
			taking_complainf("'%s' has no known extent", text);
		else if (ret)
			taking_complainf("cannot annotate '%s': %s", text, explain_errno(ret));
		break;
	}
	free(found);
	return ret;
}

/* Notes if code without function names is hotter than every function that can be shown. */
static int tell_nameless(struct annotate_report *report)
{
	struct annotate_head head;
	const struct symref *hottest = NULL;
	double nameless = 0, shown = 0;
	char sentence[1200];

	annotate_head(report->functions[0], &head);
	for (size_t i = 0; i < report->pick.n; i++) {
		const struct symref *name = name_of(report, i);

		if (!name->bounded) {
			nameless += report->pick.functions[i].share;
			hottest = hottest ? hottest : name;
		} else if (report->pick.functions[i].share > shown) {
			shown = report->pick.functions[i].share;
		}
	}
	if (nameless <= shown || !hottest)
		return 0;
	snprintf(sentence, sizeof(sentence),
		"%.300s, with %.2f%% of the samples, is the hottest function that can be shown: "
		"%.2f%% lie in code whose functions are not known, such as %.250s in %.250s",
		head.symbol, 100 * shown, 100 * nameless, hottest->symbol, hottest->image);
	return report_add_note(&report->notes, sentence);
}

/* Adds the hottest function, or as many as request->rows or the share limit allow. */
static int choose_hottest(struct annotate_report *report)
{
	const struct request *request = report->request;
	double least = request->percent_limit > 0 ? request->percent_limit / 100 : 0;
	size_t most = request->rows;

	if (most == SIZE_MAX)
		most = request->percent_limit < 0;
	for (size_t i = 0; i < report->pick.n && (!most || report->n_functions < most); i++) {
		int ret;

		if (report->pick.functions[i].share < least)
			break;
		ret = add_function(report, i);
		if (ret && ret != -ENODATA) {
			taking_complainf("cannot annotate: %s", explain_errno(ret));
			return ret;
		}
	}
	if (report->n_functions)
		return tell_nameless(report);
	if (least > 0 && report->pick.functions[0].share < least)
		taking_complainf("no function has %g%% of the samples", request->percent_limit);
	else
		list_candidates(report, NULL, report->pick.n,
			"no function has a name that tells where it begins and ends; what was "
			"sampled is:");
	return -ENOENT;
}

/* --- reading --- */

/* Waits for the function's code and source.  Returns 0, or -EINTR after reporting it. */
static int read_function(struct annotate_report *report, struct annotation *function)
{
	struct names *names = report->taking->session.names;
	struct annotate_head head;
	char what[512];

	annotate_head(function, &head);
	snprintf(what, sizeof(what), "reading the code of %.200s", head.symbol);
	annotate_tell_wait(what);
	for (annotate_collect(function);
		annotate_progress(function) == ANNOTATE_WAITS || annotate_is_reading(function);
		annotate_collect(function)) {
		if (annotate_wait(report))
			continue;
		annotate_tell_wait(NULL);
		taking_complain("interrupted");
		return -EINTR;
	}
	/* Names of inlined and called functions are requested only now. */
	for (int round = 0; round < NAMES_ROUNDS && !report->taking->interrupted; round++) {
		(void)names_wait(names, 1000);
		if (!annotate_collect(function))
			break;
	}
	annotate_tell_wait(NULL);
	return 0;
}

static int add_reasons(struct annotate_report *report)
{
	struct annotate_head head;
	char sentence[1024];
	int ret = 0;

	for (size_t i = 0; i < report->n_functions && !ret; i++) {
		const char *reason = annotate_reason(report->functions[i]);

		if (!*reason)
			continue;
		annotate_head(report->functions[i], &head);
		snprintf(sentence, sizeof(sentence), "%.300s: %s", head.symbol, reason);
		ret = report_add_note(&report->notes, sentence);
	}
	return ret;
}

/* Notes the share of exact addresses, for events that can have them. */
static int add_exactness(struct annotate_report *report)
{
	char sentence[512];
	int ret = 0;

	for (size_t i = 0; i < report->n_events && !ret; i++) {
		const struct annotate_event *event = &report->events[i];

		if (event->exact_percent < 0)
			continue;
		snprintf(sentence, sizeof(sentence), "%.200s: %.1f%% of the addresses are exact%s",
			event->name, event->exact_percent,
			event->exact_percent < 100
				? "; the others may be of an instruction after the one that counted"
				: "");
		ret = report_add_note(&report->notes, sentence);
	}
	return ret;
}

/* --- printing --- */

static int print(struct annotate_report *report)
{
	enum report_format format = report->request->format;
	struct outfile out;
	int ret = 0;

	if (format == REPORT_CSV)
		for (size_t i = 0; i < report->notes.n_notes; i++)
			taking_complain(report->notes.notes[i]);
	ret = taking_begin_output(report->taking);
	if (!ret)
		ret = outfile_open(&out, NULL, OUTFILE_PUBLIC);
	giveup_watch(STDOUT_FILENO);
	if (!ret) {
		if (format == REPORT_CSV)
			annotate_put_csv(out.file, report);
		else if (format == REPORT_JSON)
			annotate_put_json(out.file, report);
		else
			annotate_put_text(out.file, report, report_wants_color(report->request));
		ret = outfile_commit(&out);
	}
	if (ret && giveup_came())
		taking_complain("interrupted: what was printed is not whole");
	else if (ret && ret != -EPIPE) /* a reader such as head(1) left: no error */
		taking_complainf("cannot write the annotation: %s", explain_errno(ret));
	giveup_end();
	return ret ? 1 : 0;
}

/* The notes may explain why no rows can be shown. */
static void complain_notes(struct annotate_report *report)
{
	if (report_gather_notes(&report->notes, &report->taking->session))
		taking_complain("out of memory");
	for (size_t i = 0; i < report->notes.n_notes; i++)
		taking_complain(report->notes.notes[i]);
}

static int show(struct annotate_report *report)
{
	const struct request *request = report->request;
	char sentence[256];
	int ret;

	if (!report->pick.n) {
		taking_complainf("there are no samples%s",
			request->n_terms + request->n_only ? " that pass the filters" : "");
		complain_notes(report);
		return 1;
	}
	if (request->source_tree)
		return annotate_tree_write(report);
	if (request->symbol ? choose_named(report) : choose_hottest(report)) {
		complain_notes(report);
		return 1;
	}
	for (size_t i = 0; i < report->n_functions; i++)
		if (read_function(report, report->functions[i]))
			return 1;
	ret = add_reasons(report);
	if (!ret)
		ret = add_exactness(report);
	if (!ret)
		ret = report_gather_notes(&report->notes, &report->taking->session);
	if (!ret && taking_explain_pending(report->taking, sentence, sizeof(sentence)))
		ret = report_add_note(&report->notes, sentence);
	if (ret) {
		taking_complain("out of memory");
		return 1;
	}
	return print(report);
}

static int run(struct taking *taking)
{
	struct annotate_report report = {.taking = taking, .request = taking->request};
	int status = 1;

	if (gather(&report))
		taking_complain("out of memory");
	else if (taking->interrupted)
		taking_complain("interrupted");
	else
		status = show(&report);
	fini(&report);
	return status;
}

int annotate_run(const struct request *request)
{
	struct taking *taking;
	int status = 1;

	/* Check now, before sampling, which may take an hour. */
	if (request->source_tree && annotate_tree_check(request->source_tree))
		return 1;
	taking = malloc(sizeof(*taking));
	if (!taking) {
		taking_complain("out of memory");
		return 1;
	}
	if (!taking_open(taking, request) && !taking_run(taking, request->format == REPORT_CSV))
		status = run(taking);
	taking_close(taking);
	status = taking_exit_status(taking, status);
	free(taking);
	return status;
}
