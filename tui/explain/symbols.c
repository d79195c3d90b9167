// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * symbols.c - notes of symbols/ as sentences for the log and reports.
 *
 * Pure functions of their arguments; any thread.
 */
#include "tui/explain/explain.h"

#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/explain/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add_not_fetched(struct text *text, const struct symbols_note *note, int path_max)
{
	const char *what = note->value ? "file" : "debug file";

	switch (note->error) {
	case ENOENT:
		text_add(text, "no debuginfod server has the %s of '%.*s'", what, path_max,
			note->path);
		break;
	case ECANCELED:
		text_add(text, "the %s of '%.*s' is not fetched: it was given up", what, path_max,
			note->path);
		break;
	case ENOPKG:
		text_add(text,
			"the %s of '%.*s' cannot be fetched without the library libdebuginfod "
			"(Debian: libdebuginfod1)",
			what, path_max, note->path);
		break;
	default:
		text_add(text, "no debuginfod server sent the %s of '%.*s'", what, path_max,
			note->path);
		explain_add_error(text, note->error);
	}
}

static void add_elsewhere(struct text *text, unsigned int differs)
{
	static const char *const what[] = {"host", "kernel", "processor"};
	const char *before = "";

	text_add(text, "the recording is of another ");
	for (unsigned int i = 0; i < 3; i++) {
		if (!(differs & 1u << i))
			continue;
		text_add(text, "%s%s", before, what[i]);
		before = i == 0 && differs >> 1 == 3 ? ", " : " and ";
	}
	text_add(text,
		": what it has no build-ids of is shown as addresses. Name a directory with its "
		"files "
		"by --symfs, or take those of this machine by --trust-local-files");
}

void explain_nameless(const struct symref *symbol, char *out, size_t size)
{
	if (symbol->pending)
		snprintf(out, size, "The names of %s are still being read", symbol->image);
	else if (strcmp(symbol->image, "[anon]") == 0)
		snprintf(out, size,
			"Code made at run time, by a program that does not tell its names: node "
			"--perf-basic-prof does, java by jcmd PID Compiler.perfmap (man strobe)");
	else if (symbol->unproven)
		snprintf(out, size,
			"The recording is of another machine and has no build-id of %s, so no file "
			"here names it (--trust-local-files)",
			symbol->image);
	else if (symbol->kernel)
		snprintf(out, size,
			"The kernel tells no name for this address to this user: strobe doctor "
			"says how to see them");
	else if (symbol->mismatch)
		snprintf(out, size,
			"The file at %s is not the one that was profiled, so it names nothing",
			symbol->path);
	else if (symbol->image[0] == '[')
		snprintf(out, size,
			"No function is known here, only an address: there is no code to show");
	else
		snprintf(out, size,
			"%s has no name for this address: its debug package has, or a debuginfod "
			"server (key D)",
			symbol->image);
}

void explain_fetch(int ret, const char *image, char *out, size_t size)
{
	switch (ret) {
	case 0:
		out[0] = '\0';
		break;
	case -EALREADY:
		snprintf(out, size, "The debug file of %s was asked for already", image);
		break;
	case -EINVAL:
	case -ENODATA:
		snprintf(out, size, "%s has no build-id by which a server could know it", image);
		break;
	case -EDESTADDRREQ:
		snprintf(out, size,
			"The environment variable DEBUGINFOD_URLS names no server to ask, such as "
			"https://debuginfod.debian.net");
		break;
	default:
		snprintf(out, size, "The debug file of %s cannot be asked for: %s", image,
			explain_errno(ret));
	}
}

void explain_symbols_note(const struct symbols_note *note, char *out, size_t size)
{
	struct text text = {0};
	int path_max = (int)sizeof(note->path);
	char how[64];

	switch (note->kind) {
	case SYMBOLS_NOTE_WORKER_DIED:
		explain_wait_status(note->value, how, sizeof(how));
		text_add(&text,
			"the symbol worker ended %s while it read '%.*s'; the file is tried once "
			"more",
			how, path_max, note->path);
		break;
	case SYMBOLS_NOTE_FILE_BANNED:
		text_add(&text,
			"'%.*s' %s and is not read again: its functions are shown as offsets",
			path_max, note->path,
			note->error == ETIME ? "takes too long to read"
					     : "ended the symbol worker twice");
		break;
	case SYMBOLS_NOTE_CODE_BANNED:
		text_add(&text, "'%.*s' %s and is not read again: %s", path_max, note->path,
			note->error == ETIME ? "takes too long to read"
					     : "ended the process that reads code twice",
			note->value ? "its code is shown without source lines"
				    : "its code is not shown");
		break;
	case SYMBOLS_NOTE_UNREADABLE:
		text_add(&text, "cannot read the symbols of '%.*s'%s", path_max, note->path,
			note->value ? ", which was deleted" : "");
		if (note->error == ETIMEDOUT)
			text_add(&text, " (its file system does not answer)");
		else
			explain_add_error(&text, note->error);
		text_add(&text, ": its functions are shown as offsets");
		if (note->error == EMFILE)
			text_add(&text, ". Raise the limit of open files with: ulimit -n %d",
				EXPLAIN_NOFILE_ENOUGH);
		else if (note->value)
			text_add(&text, ". Restart its program%s",
				note->error == EPERM || note->error == EACCES
					? ", or let root look, or a strobe with "
					  "cap_checkpoint_restore"
					: "");
		break;
	case SYMBOLS_NOTE_OTHERS_FUSE:
		text_add(&text,
			"'%.*s' lies in a FUSE mount of user %u, which lets nobody else in, not "
			"even "
			"root, without the mount option allow_other: its functions are shown as "
			"offsets. The strobe of that user sees names",
			path_max, note->path, (unsigned int)note->value);
		break;
	case SYMBOLS_NOTE_KERNEL_HIDDEN:
		text_add(&text,
			"the kernel hides its symbols' addresses from this user. To see kernel "
			"names: "
			"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or give "
			"strobe cap_syslog");
		break;
	case SYMBOLS_NOTE_ELSEWHERE:
		add_elsewhere(&text, (unsigned int)note->value);
		break;
	case SYMBOLS_NOTE_WRONG_FILE:
		if (note->value) {
			text_add(&text,
				"'%.*s' was deleted before it was profiled, and nothing proves "
				"that "
				"the file there now is the same: its functions are shown as "
				"addresses",
				path_max, note->path);
			break;
		}
		text_add(&text,
			"the file at '%.*s' is not the one that was mapped (it was replaced, or "
			"the process had another root), so its symbols are not used",
			path_max, note->path);
		break;
	case SYMBOLS_NOTE_FETCHED:
		text_add(&text, "a debuginfod server has sent the %s of '%.*s'",
			note->value ? "file" : "debug file", path_max, note->path);
		break;
	case SYMBOLS_NOTE_NOT_FETCHED:
		add_not_fetched(&text, note, path_max);
		break;
	case SYMBOLS_NOTE_OTHER_DEBUG:
		text_add(&text, "the debug file '%.*s' %s, so it is not used", path_max, note->path,
			note->error == EFBIG
				? "is too large to tell whether it is the one that its program "
				  "names"
				: note->error == ETIMEDOUT
				? "cannot be read (its file system does not answer)"
				: "is not the one that its program names (another CRC-32)");
		break;
	case SYMBOLS_NOTE_NO_COMMON:
		text_add(&text, "the common debug file '%.*s' (of dwz) ", path_max, note->path);
		if (note->error == ESTALE)
			text_add(&text, "is not the one that its programs name (another build-id)");
		else if (note->error == ENOEXEC)
			text_add(&text, "is no ELF file, or belongs to somebody else");
		else if (note->error == ENOENT || note->error == ENOTDIR)
			text_add(&text, "is not here");
		else {
			text_add(&text, "cannot be read");
			explain_add_error(&text, note->error);
		}
		text_add(&text, ": inlined functions and lines of its programs may be missing");
		break;
	case SYMBOLS_NOTE_UNCONFINED:
		text_add(&text, "the symbol worker could not be confined fully");
		explain_add_error(&text, note->error);
		break;
	case SYMBOLS_NOTE_NO_WORKER:
		if (note->error) {
			text_add(&text, "the process that reads symbols cannot be started");
			explain_add_error(&text, note->error);
			text_add(&text, ": files not read by now are shown as offsets");
			if (note->error == EAGAIN)
				text_add(&text,
					". The limit of processes is reached: see ulimit -u and "
					"pids.max of the cgroup");
			break;
		}
		text_add(&text,
			"the process that reads symbols was killed and cannot be started again: "
			"files not read by now are shown as offsets. Start strobe anew to see "
			"their names");
		break;
	case SYMBOLS_NOTE_NO_KERNEL:
		text_add(&text,
			"the kernel that was recorded is not the one that runs here, and its "
			"symbols are not kept here: its functions are shown as addresses. Where "
			"it was recorded, strobe archive packs them with the recording; or name "
			"a directory with its files by --symfs");
		break;
	case SYMBOLS_NOTE_JIT_OWNER:
		text_add(&text,
			"'%.*s' belongs neither to %s nor to root, so the names in it are not used",
			path_max, note->path, note->value ? "this user" : "the process's user");
		if (note->value)
			text_add(&text,
				": a recording does not tell whose process it was. --symfs / takes "
				"them all the same");
		break;
	case SYMBOLS_NOTE_JIT_GONE:
		text_add(&text,
			"the names of code made at run time were in '%.*s', which cannot be opened",
			path_max, note->path);
		explain_add_error(&text, note->error);
		text_add(&text, ": strobe archive packs such files while they are there");
		break;
	case SYMBOLS_NOTE_JIT_LEFT:
		text_add(&text,
			"'%.*s' was last changed before its process began, so it may be of another "
			"process that had the same number: the names in it are not used (touch it "
			"if "
			"they are right)",
			path_max, note->path);
		break;
	case SYMBOLS_NOTE_JIT_CUT:
		text_add(&text,
			"'%.*s' is too large, so only %d MB of it were read: some code made at run "
			"time may have no name",
			path_max, note->path, note->value);
		break;
	case SYMBOLS_NOTE_UNVERIFIED:
		if (note->value == 3) {
			text_add(&text,
				"names of code made at run time are those that '%.*s' has now: "
				"whether "
				"it is of the process that was recorded, nothing tells",
				path_max, note->path);
			break;
		}
		text_add(&text,
			"'%.*s' was recorded without a build-id%s: its names may be those of "
			"another build",
			path_max, note->path,
			note->value == 1	   ? ", and the file has changed since"
				: note->value == 2 ? " on another machine"
						   : "");
		break;
	case SYMBOLS_NOTE_NO_LINES:
		text_add(&text, "cannot read all source lines");
		explain_add_error(&text, note->error);
		text_add(&text, ": some lines and inlined functions are missing");
		break;
	case SYMBOLS_NOTE_NO_MEMORY:
		text_add(&text,
			"out of memory: some functions are shown without their names or callers");
		break;
	case SYMBOLS_NOTE_MOVED:
		text_add(&text,
			"memory without a file has the names of '%.*s' because of its place alone: "
			"it fills a hole in the code of that file, but its contents were not read",
			path_max, note->path);
		break;
	case SYMBOLS_NOTE_NAME_LEFT:
		explain_wait_status(note->value, how, sizeof(how));
		text_add(&text,
			"the symbol worker ended %s over the name '%.*s', which is shown as it is",
			how, path_max, note->path);
		break;
	default:
		text_add(&text, "symbols: note %d", (int)note->kind);
		break;
	}
	clean_string(out, size, text.bytes);
}
