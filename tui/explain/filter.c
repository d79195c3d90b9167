// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * filter.c - explains why the kernel refused an event's filter or a BPF program.
 *
 * For a filter the kernel returns EINVAL only, so its names are compared with the event's fields
 * here.  Pure functions of their arguments; any thread.
 */
#include "tui/explain/refusal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* Returns true if names, a list "a, b, c", contains the name. */
static bool is_among(const char *names, const char *name, size_t len)
{
	while (*names) {
		size_t its = strcspn(names, ",");

		if (its == len && !memcmp(names, name, len))
			return true;
		names += its;
		names += strspn(names, ", ");
	}
	return false;
}

/* Returns true for the fields of every event, including those that the kernel computes. */
static bool is_general(const char *name, size_t len)
{
	static const char general[] = "common_type, common_flags, common_preempt_count, "
				      "common_pid, CPU, cpu, COMM, comm, "
				      "stacktrace, STACKTRACE";

	return is_among(general, name, len);
}

/* Returns the first name before an operator that is no field; NULL if none. */
static const char *stranger(const char *filter, const char *fields, size_t *len)
{
	const char *at = filter;

	while (*at) {
		if (*at == '"' || *at == '\'') {
			const char *end = strchr(at + 1, *at);

			at = end ? end + 1 : at + strlen(at);
		} else if (is_name_byte(*at)) {
			const char *name = at, *after;

			while (is_name_byte(*at))
				at++;
			after = at + strspn(at, " \t");
			*len = (size_t)(at - name);
			if (isdigit((unsigned char)*name) || !strchr("=!<>&~.", *after) ||
				!*after || (*after == '&' && after[1] == '&'))
				continue;
			if (!is_among(fields, name, *len) && !is_general(name, *len))
				return name;
			at = after;
			at += strspn(at, "=!<>&~. \t");
			if (is_name_byte(*at)) /* the value of the comparison */
				at += strcspn(at, " \t()&|");
		} else {
			at++;
		}
	}
	return NULL;
}

void explain_filter(struct text *text, const struct explain_request *request, int error,
	const struct explain_system *system)
{
	const char *name;
	size_t len = 0;

	text_add(text, "the filter '%.200s' of '%s' is refused: ", request->filter, request->event);
	switch (error) {
	case EINVAL:
	case ENOENT:
		break;
	case EEXIST:
		text_add(text, "the event has one already, and the kernel changes none that runs");
		return;
	default:
		explain_ioctl(text, "PERF_EVENT_IOC_SET_FILTER", error, system);
		return;
	}
	if (request->attr->type >= PERF_TYPE_MAX && error == EINVAL && !system->fields[0]) {
		text_add(text,
			"it is no address filter that this PMU takes: filter, start or stop, then "
			"START[/LENGTH] and, of a program, @FILE, joined by commas");
		return;
	}
	if (request->attr->type != PERF_TYPE_TRACEPOINT) {
		text_add(text, "only tracepoints and probes can be filtered, by their fields");
		return;
	}
	name = stranger(request->filter, system->fields, &len);
	if (name && system->fields[0])
		text_add(text, "the event has no field '%.*s'", (int)len, name);
	else
		text_add(text,
			"it is no expression that the kernel takes. One is such as 'FIELD != 0 && "
			"NAME "
			"== \"text\"', with == != < <= > >= & for numbers, == != ~ for texts");
	if (system->fields[0])
		text_add(text, ". Its fields are: %s", system->fields);
	else
		text_add(text, ". Its fields are shown by: strobe list %s", request->event);
}

void explain_bpf(struct text *text, const struct explain_request *request, int error,
	const struct explain_system *system)
{
	text_add(text, "the BPF program '%.200s' for '%s' is refused: ", request->bpf,
		request->event);
	switch (error) {
	case ENOENT:
		text_add(text,
			"there is no such program. Those that are loaded are told by: sudo bpftool "
			"prog");
		break;
	case EPERM:
	case EACCES:
		text_add(text,
			"%sthis user may not use it, or it reads more than the event has. Run "
			"strobe as root%s",
			system->seccomp ? "a seccomp filter forbids it, " : "",
			system->seccomp ? ", outside of the container" : "");
		break;
	case E2BIG:
		text_add(text, "the tracepoint has as many programs as the kernel allows (64)");
		break;
	case EEXIST:
		text_add(text, "the event has a program already");
		break;
	case ENOSYS:
		text_add(text, "this kernel has no bpf(2), or a seccomp filter hides it");
		break;
	case EINVAL:
	case EBADF:
		text_add(text,
			"it is not of the kind that such an event takes: tracepoint for "
			"tracepoints, kprobe for probes, perf_event for others that sample. sudo "
			"bpftool prog tells its kind");
		break;
	default:
		text_add(text, "%s",
			strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error");
		break;
	}
}
