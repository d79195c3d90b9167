/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.c - strobe export: takes the profile, waits for names, and writes it in the requested
 * format.
 *
 * UI thread.
 */
#include "tui/commands/export.h"

#include "sampler/control/status.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/giveup.h"
#include "tui/commands/report.h"
#include "tui/explain/explain.h"
#include "tui/export/outfile.h"
#include "tui/export/run.h"
#include "tui/export/spool.h"
#include "tui/session/request.h"
#include "tui/session/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct form {
	const char *name;
	int (*write)(FILE *out, const struct profile *profile); /* NULL for the script format */
	bool single; /* holds only one event */
	bool for_eyes; /* readable on a terminal */
} forms[EXPORT_FORMATS] = {
	[EXPORT_FOLDED] = {"folded", export_folded, true, true},
	[EXPORT_SPEEDSCOPE] = {"speedscope", export_speedscope, false, false},
	[EXPORT_PPROF] = {"pprof", export_pprof, false, false},
	[EXPORT_CALLGRIND] = {"callgrind", export_callgrind, false, true},
	[EXPORT_SVG] = {"svg", export_svg, true, false},
	[EXPORT_SCRIPT] = {"script", NULL, false, true},
	[EXPORT_GECKO] = {"gecko", export_gecko, true, false},
};

static const char *output_name(const struct request *request)
{
	return request->output && strcmp(request->output, "-") ? request->output
							       : "standard output";
}

/* Checks for errors that are known before sampling or loading. */
static bool is_possible(const struct request *request, const struct form *form)
{
	bool to_stdout = !request->output || !strcmp(request->output, "-");

	if (!form->write && !request->n_files) {
		taking_complainf(
			"the script format tells every sample in its order, which a live profile "
			"does "
			"not keep: strobe record it first, then strobe export FILE --format "
			"script");
		return false;
	}
	if (form->for_eyes || !to_stdout || !isatty(STDOUT_FILENO) ||
		(request->output && request->export_format != EXPORT_PPROF))
		return true;
	taking_complainf("the %s format is %s: name a file with -o, or redirect the output",
		form->name,
		request->export_format == EXPORT_PPROF ? "binary" : "not for a terminal");
	return false;
}

static void explain_write(const struct request *request, int error)
{
	if (error == -EINTR)
		taking_complainf("interrupted: %s",
			request->output && strcmp(request->output, "-")
				? "the file was not written"
				: "what was written is not whole");
	else if (error == -ENOMEM)
		taking_complainf("out of memory");
	else if (error != -EPIPE || (request->output && strcmp(request->output, "-")))
		/* -EPIPE on standard output: a reader such as head(1) left, which is no error. */
		taking_complainf(
			"cannot write to %s: %s", output_name(request), explain_errno(error));
}

/* Reports the notes of a report, so that an incomplete profile is recognized. */
static void tell_notes(struct taking *taking)
{
	struct report report = {0};

	taking->session.notice[0] = '\0'; /* reported already */
	if (report_gather_notes(&report, &taking->session))
		taking_complain("out of memory: notes on what is exported are missing");
	for (size_t i = 0; i < report.n_notes; i++)
		taking_complain(report.notes[i]);
	report_fini(&report);
}

/* Reports names that were given up while writing. */
static void tell_late_notes(struct taking *taking)
{
	struct symbols_note note;
	char sentence[512];

	while (symbols_take_note(taking->session.symbols, &note)) {
		if (note.kind != SYMBOLS_NOTE_NO_MEMORY)
			continue;
		explain_symbols_note(&note, sentence, sizeof(sentence));
		taking_complain(sentence);
	}
}

static int write_form(FILE *out, const struct form *form, struct export_run *run, int again_fd)
{
	return form->write ? form->write(out, &run->profile) : export_script(out, run, again_fd);
}

/* Warns here, since the file cannot contain a warning. */
static void tell_untimed(const struct export_run *run)
{
	if (run->untimed)
		taking_complainf("%" PRIu64 " samples have no exact time: they are spread evenly "
				 "over the tenth of a second, or longer time, that they were "
				 "counted in%s",
			run->untimed,
			run->taking->request->n_files ? "" : " (strobe record keeps their times)");
}

static int write_all(struct export_run *run, const struct form *form, int again_fd)
{
	const struct request *request = run->taking->request;
	struct outfile out;
	int ret = taking_begin_output(run->taking);

	if (!ret)
		ret = outfile_open(&out, request->output, OUTFILE_PUBLIC);
	if (ret && !form->write)
		close(again_fd);
	if (!ret) {
		giveup_watch(out.fd);
		ret = outfile_end(&out, write_form(out.file, form, run, again_fd));
	}
	if (ret)
		explain_write(request, giveup_came() ? -EINTR : ret);
	else
		tell_untimed(run);
	giveup_end();
	return ret;
}

/* Opens the recording inside an archive, to read that one again. */
static int open_inside(const struct session *session, int *again_fd)
{
	if (!session->unpacked)
		return 0;
	close(*again_fd);
	*again_fd = open(unpacked_recording(session->unpacked), O_RDONLY | O_CLOEXEC);
	return *again_fd < 0 ? -errno : 0;
}

static int export_taken(struct taking *taking, const struct form *form, int *again_fd)
{
	struct export_run *run = calloc(1, sizeof(*run));
	int ret = -ENOMEM;

	if (!run) {
		explain_write(taking->request, ret);
		return ret;
	}
	ret = form->write ? 0 : open_inside(&taking->session, again_fd);
	if (ret)
		explain_write(taking->request, ret);
	else
		ret = export_run_init(run, taking, form->single);
	if (!ret) {
		ret = export_run_names(run);
		/* A signal during the wait for names ends only the wait. */
		taking->interrupted = false;
		if (ret)
			explain_write(taking->request, ret);
	}
	if (!ret) {
		tell_notes(taking);
		ret = write_all(run, form, *again_fd);
		*again_fd = -1;
		tell_late_notes(taking);
	}
	export_run_fini(run);
	free(run);
	return ret;
}

/* Opens the recording for a second reading.  It is opened before it is loaded, since its name may
 * refer to another file later.  A stream is copied to an unnamed file first. */
static int open_again(struct request *request, char *path, size_t size, int *fd)
{
	bool stream = !strcmp(request->files[0], "-");
	int ret = 0;

	*fd = stream ? -1 : open(request->files[0], O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (stream)
		ret = spool_stream(STDIN_FILENO, fd);
	else if (*fd < 0)
		ret = -errno;
	if (!ret && (stream || lseek(*fd, 0, SEEK_CUR) < 0)) {
		if (!stream) {
			int pipe_fd = *fd;

			ret = spool_stream(pipe_fd, fd);
			close(pipe_fd);
		}
		/* the session opens its input by name */
		request->file_name = stream ? "standard input" : request->files[0];
		snprintf(path, size, "/proc/self/fd/%d", *fd);
		request->files[0] = path;
	}
	if (ret)
		taking_complainf("cannot read '%s': %s",
			stream ? "standard input" : request->files[0], explain_errno(ret));
	return ret;
}

int export_run(const struct request *request)
{
	const struct form *form = &forms[request->export_format];
	struct taking *taking = malloc(sizeof(*taking));
	struct request changed = *request;
	char path[64], *files[] = {NULL};
	int again_fd = -1, ret = 0, status;

	if (!taking) {
		taking_complainf("out of memory");
		return 1;
	}
	if (!is_possible(request, form)) {
		free(taking);
		return 2;
	}
	if (!form->write) {
		files[0] = request->files[0];
		changed.files = files;
		ret = open_again(&changed, path, sizeof(path), &again_fd);
	}
	if (!ret) {
		ret = taking_open(taking, &changed);
		if (!ret)
			ret = taking_run(taking, false);
		if (!ret && request->n_files && taking->status.state == ENGINE_STOPPED) {
			explain_write(request, -EINTR);
			ret = -EINTR;
		}
		if (!ret)
			ret = export_taken(taking, form, &again_fd);
		taking_close(taking);
		status = taking_exit_status(taking, ret ? 1 : 0);
	} else {
		status = 1;
	}
	if (again_fd >= 0)
		close(again_fd);
	free(taking);
	return status;
}
