/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session_data.c - what a session holds, be it of an engine or of a recording.
 */
#include "tui/session.h"

void session_status(const struct session *session, struct engine_status *out)
{
	if (session->recording)
		recording_status(session->recording, out);
	else
		engine_status(session->engine, out);
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
