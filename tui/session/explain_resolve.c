/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_resolve.c - explains why the symbol of an event cannot be located, and the remedy.
 *
 * A pure function; any thread.
 */
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/explain/text.h"
#include "tui/session/resolve.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PATH_BYTES 200

static void add_no_symbol(struct text *text, const struct resolve_error *error)
{
	const bool kernel = !strcmp(error->binary, "[kernel]");

	text_add(text, "there is no symbol '%s' in ", error->symbol);
	if (kernel)
		text_add(text, "the kernel (a variable of a program needs -p)");
	else if (error->binary[0])
		text_add(text, "%.*s", PATH_BYTES, error->binary);
	else
		text_add(text, "the program or its libraries");
	if (error->near[0])
		text_add(text, "; nearly the same: %s", error->near);
	else if (error->stripped)
		text_add(text,
			"; it was stripped of its symbols: the package with its debug information "
			"has them, or --debug-dir tells where they are");
}

void explain_resolve(const struct resolve_error *error, char *out, size_t size)
{
	struct text text = {.len = 0};

	text_add(&text, "event '%s': ", error->event_name);
	switch (error->kind) {
	case RESOLVE_NO_BINARY:
		text_add(&text,
			"there is no file '%.*s' among what the target has mapped, in $PATH or "
			"where "
			"the linker looks: a path is clear",
			PATH_BYTES, error->binary);
		break;
	case RESOLVE_UNREADABLE:
		text_add(&text, "the symbols of %.*s cannot be read: %s", PATH_BYTES, error->binary,
			error->error == ENOEXEC ? "it is no ELF file"
				: error->error == EOWNERDEAD
				? "the process that read it was killed by it"
				: explain_errno(error->error));
		break;
	case RESOLVE_NO_SYMBOL:
		add_no_symbol(&text, error);
		break;
	case RESOLVE_NO_FUNCTION:
		text_add(&text, "'%s' in %.*s is no function: mem:%s watches data", error->symbol,
			PATH_BYTES, error->binary, error->symbol);
		break;
	case RESOLVE_AMBIGUOUS:
		text_add(&text,
			"there are several '%s' in %.*s, at %s: give the number in place of the "
			"name",
			error->symbol, PATH_BYTES, error->binary, error->near);
		break;
	case RESOLVE_NOT_STARTED:
		text_add(&text,
			"%.*s is position-independent: where it will have '%s' is not known before "
			"it runs. Start it first and take it with -p, or link it with -no-pie",
			PATH_BYTES, error->binary, error->symbol);
		break;
	case RESOLVE_DIFFERS:
		text_add(&text,
			"process %d has '%s' at another address than the first one: watch one "
			"process at a time",
			error->pid, error->symbol);
		break;
	case RESOLVE_HIDDEN:
		text_add(&text,
			"the kernel shows no addresses to this user: as root, sysctl "
			"kernel.kptr_restrict=0, or run as root");
		break;
	case RESOLVE_UNWOUND:
		text_add(&text,
			"a return probe changes return addresses on the stack, and a program in "
			"C++, Rust or Go dies when it meets one as it throws, panics or moves its "
			"stack. Probe the entry: uprobe:%.*s:%s; or, where nothing is thrown "
			"through it, give the number in place of the name: 0x%" PRIx64,
			PATH_BYTES, error->binary, error->symbol, error->offset);
		break;
	case RESOLVE_NO_PROCESS:
		text_add(&text, "what process %d has mapped cannot be read: %s", error->pid,
			error->error == ESRCH ? "it has ended" : explain_errno(error->error));
		break;
	case RESOLVE_FAILED:
		text_add(&text, "the search for '%s' in %.*s %s", error->symbol, PATH_BYTES,
			error->binary,
			error->error == EINTR		? "was interrupted"
				: error->error == ETIME ? "took too long"
							: "ran out of memory");
		break;
	case RESOLVE_OK:
	case RESOLVE_NO_TARGET:
	default:
		text_add(&text, "it names no symbol");
		break;
	}
	clean_string(out, size, text.bytes);
}
