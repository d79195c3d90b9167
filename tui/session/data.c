/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.c - accessors that serve an engine or a recording.
 */
#include "sampler/control/status.h"
#include "sampler/engine/engine.h"
#include "sampler/events/event.h"
#include "sampler/recording/recording.h"
#include "tui/session/request.h"
#include "tui/session/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

void session_status(const struct session *session, struct engine_status *out)
{
	if (session->recording)
		recording_status(session->recording, out);
	else
		engine_status(session->engine, out);
}

uint64_t session_covered_ns(const struct session *session, const struct engine_status *status)
{
	const struct request *request = session->request;
	const double length = (double)(status->now_ns - status->started_ns);
	double from = request->time_from_s * 1e9, to = request->time_to_s * 1e9;

	if (to <= 0 || to > length)
		to = length;
	return to > from ? (uint64_t)(to - from) : 0;
}

bool session_has_times(const struct session *session)
{
	return !session->recording || recording_has_times(session->recording);
}

size_t session_notes(
	const struct session *session, uint64_t after, struct engine_note *out, size_t max)
{
	if (session->recording)
		return recording_notes(session->recording, after, out, max);
	return engine_notes(session->engine, after, out, max);
}

int session_notify_fd(const struct session *session)
{
	if (session->recording)
		return recording_notify_fd(session->recording);
	return engine_notify_fd(session->engine);
}

struct store *session_store(const struct session *session)
{
	if (session->recording)
		return recording_store(session->recording);
	return engine_store(session->engine);
}

const struct stacks *session_stacks(const struct session *session)
{
	if (session->recording)
		return recording_stacks(session->recording);
	return engine_stacks(session->engine);
}

const struct tasks *session_tasks(const struct session *session)
{
	if (session->recording)
		return recording_tasks(session->recording);
	return engine_tasks(session->engine);
}

struct images *session_images(const struct session *session)
{
	if (session->recording)
		return recording_images(session->recording);
	return engine_images(session->engine);
}

const struct fields *session_fields(const struct session *session, uint8_t event)
{
	return session->recording ? recording_fields(session->recording, event)
				  : engine_fields(session->engine, event);
}

const struct values *session_values(const struct session *session)
{
	return session->recording ? recording_values(session->recording)
				  : engine_values(session->engine);
}

void session_schemas(const struct session *session, const struct engine_status *status,
	struct field_schemas *out)
{
	*out = (struct field_schemas){.values = session_values(session)};
	for (size_t i = 0; i < status->n_events; i++)
		out->of[status->events[i].id] = session_fields(session, status->events[i].id);
}

/* True if all times are CLOCK_MONOTONIC, which runtimes use in jitdumps. */
static bool is_monotonic(const struct recording *recording)
{
	const size_t n = recording_attr_count(recording);

	for (size_t i = 0; i < n; i++) {
		const struct perf_event_attr *attr = &recording_attr(recording, i)->attr;

		if (!attr->use_clockid || attr->clockid != CLOCK_MONOTONIC)
			return false;
	}
	return n;
}

bool session_event_asked(const struct session *session, const char *name, const char *asked)
{
	char user[EVENT_NAME_MAX] = "";
	uint32_t type = PERF_TYPE_SOFTWARE;

	if (event_is_called(name, asked))
		return true;
	if (!session->recording || strlen(asked) >= sizeof(user))
		return false;
	for (size_t i = 0; i < recording_attr_count(session->recording); i++) {
		const struct reader_attr *attr = recording_attr(session->recording, i);

		if (event_is_called(attr->name, asked))
			return false;
		if (!strcmp(attr->name, name))
			type = attr->attr.type;
	}
	memcpy(user, asked, strlen(asked));
	event_name_user_only(user, type);
	return !strcmp(name, user);
}

void session_missing_event(const struct session *session, const char *name, char *out, size_t size)
{
	bool is_there = false, has_place = false;

	for (size_t i = 0; session->recording && i < recording_attr_count(session->recording);
		i++) {
		if (!event_is_called(recording_attr(session->recording, i)->name, name))
			continue;
		is_there = true;
		has_place |= recording_event_of(session->recording, i) != RECORDING_NO_EVENT;
	}
	snprintf(out, size, "the recording has %s '%.100s'%s",
		!is_there	    ? "no event"
			: has_place ? "so many events that"
				    : "no sample of",
		name, has_place ? " is counted with others" : "");
}

void session_settle(struct session *session, unsigned int timeout_ms)
{
	if (session->recording)
		recording_settle(session->recording);
	else
		changes_wait(session->changes, timeout_ms);
}

/* For free(3).  NULL if memory runs out, or if the recording has no names. */
static struct symbols_told *take_names(const struct reader_info *info)
{
	struct symbols_told *told = info->n_told ? calloc(info->n_told, sizeof(*told)) : NULL;

	for (size_t i = 0; told && i < info->n_told; i++) {
		const struct reader_told *file = &info->told[i];

		told[i] = (struct symbols_told){
			.path = file->kind == READER_TOLD_KERNEL ? NULL : file->path,
			.names = file->names,
			.len = file->len};
	}
	return told;
}

void session_tell_symbols(const struct session *session)
{
	const struct reader_info *info = recording_info(session->recording);
	struct symbols_told *told = take_names(info);
	struct utsname here;
	struct symbols_recorded recorded = {
		.release = info->release,
		.end_s = session->recorded_at,
		.kept_fd = info->kept_fd,
	};

	if (!uname(&here)) {
		if (info->hostname && strcmp(info->hostname, here.nodename) != 0)
			recorded.elsewhere |= SYMBOLS_OTHER_HOST;
		if (info->release && strcmp(info->release, here.release) != 0)
			recorded.elsewhere |= SYMBOLS_OTHER_RELEASE;
		if (info->arch && strcmp(info->arch, here.machine) != 0)
			recorded.elsewhere |= SYMBOLS_OTHER_ARCH;
	}
	/* simpleperf records on phones, and its files lack a host name. */
	if (info->recorder && !info->hostname)
		recorded.elsewhere |= SYMBOLS_OTHER_HOST;
	recorded.monotonic = is_monotonic(session->recording);
	recorded.told = told;
	recorded.n_told = told ? info->n_told : 0;
	/* If memory runs out, symbols/ decides without these facts, and a note says so. */
	if (symbols_recorded(session->symbols, &recorded) || (info->n_told && !told))
		symbols_lack_memory(session->symbols);
	free(told);
}

const char *request_file_name(const struct request *request)
{
	if (request->file_name)
		return request->file_name;
	return strcmp(request->files[0], "-") ? request->files[0] : "standard input";
}
