/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve.c - see resolve.h; resolve_binary.c finds the files.
 */
#include "tui/session/resolve.h"

#include "sampler/events/event.h"
#include "symbols/client/by_name.h"
#include "tui/base/grow.h"
#include "tui/session/resolve_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 30000
#define TELL_MS 300 /* shorter waits are not reported */

/* A question to symbols/, with its answer. */
struct answer {
	enum symbols_kind kind;
	char *path;
	int32_t pid;
	const char *symbol; /* from event_text() */
	struct symbols_named *named;
};

/* Answers are kept.  Each step resolves all events again from the start, until one answer is
 * missing. */
struct resolve_job {
	struct symbols *symbols;
	struct resolve_target target;
	int32_t *pids;
	char *command;
	struct event_spec *specs;
	size_t n;
	struct answer *answers;
	size_t n_answers;
	const struct answer *awaited; /* set by a step that returned -EAGAIN */
};

struct resolving {
	struct resolve_job *job;
	const struct resolve_target *target;
	struct event_spec *spec;
	struct resolve_error *error;
};

static int fail(struct resolving *at, enum resolve_error_kind kind, int error, const char *binary)
{
	at->error->kind = kind;
	at->error->error = error;
	snprintf(at->error->binary, sizeof(at->error->binary), "%s", binary);
	return error ? -error : -ENOENT;
}

static void add_near(struct resolve_error *error, const char *name)
{
	const size_t len = strlen(error->near);

	if (len + strlen(name) + 3 < sizeof(error->near))
		snprintf(error->near + len, sizeof(error->near) - len, "%s%s", len ? ", " : "",
			name);
}

/* --- one file --- */

/* Returns the symbol's place among several: a single global symbol is preferred to local ones.
 * SIZE_MAX if ambiguous or none. */
static size_t choose(const struct symbols_place *places, size_t n, bool only_functions)
{
	size_t found = SIZE_MAX, global = SIZE_MAX, n_found = 0, n_global = 0;

	for (size_t i = 0; i < n; i++) {
		if (only_functions && places[i].data)
			continue;
		n_found++;
		found = i;
		if (!places[i].local) {
			n_global++;
			global = i;
		}
	}
	return n_global == 1 ? global : n_found == 1 ? found : SIZE_MAX;
}

static int tell_places(struct resolving *at, const struct symbols_place *places, size_t n,
	bool only_functions, const char *binary)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		char text[32];

		if (only_functions && places[i].data)
			continue;
		any = true;
		snprintf(text, sizeof(text), "0x%" PRIx64,
			only_functions ? places[i].offset : places[i].address);
		add_near(at->error, text);
	}
	return fail(at, any ? RESOLVE_AMBIGUOUS : RESOLVE_NO_FUNCTION, 0, binary);
}

struct found {
	struct symbols_place place;
	uint64_t base;
	bool is_fixed;
};

/* Finds the answer, or asks the question if it is new.  Returns -EAGAIN while there is no
 * answer. */
static int ask(struct resolving *at, const struct symbols_source *source, struct answer **out)
{
	struct resolve_job *job = at->job;
	const char *symbol = at->spec->needs.symbol;
	struct answer *answer = NULL;
	int error, ret = 0;

	for (size_t i = 0; i < job->n_answers && !answer; i++) {
		struct answer *one = &job->answers[i];

		if (one->kind == source->kind && one->pid == source->pid &&
			!strcmp(one->symbol, symbol) && !strcmp(one->path, source->path))
			answer = one;
	}
	if (!answer) {
		if (grow_exact(&job->answers, job->n_answers + 1, sizeof(*job->answers)))
			return -ENOMEM;
		answer = &job->answers[job->n_answers];
		*answer = (struct answer){.kind = source->kind,
			.path = strdup(source->path),
			.pid = source->pid,
			.symbol = symbol};
		if (!answer->path)
			return -ENOMEM;
		ret = symbols_named_ask(job->symbols, source, symbol, &answer->named);
		if (ret) {
			free(answer->path);
			return ret;
		}
		job->n_answers++;
	}
	*out = answer;
	if (symbols_named_state(answer->named, &error) != SYMBOLS_PENDING)
		return 0;
	job->awaited = answer;
	return -EAGAIN;
}

/* Returns 1 if found; 0 if not there, with similar names added; or negative with the error.
 * -EAGAIN: not known yet. */
static int find(struct resolving *at, const struct symbols_source *source, bool only_functions,
	struct found *out)
{
	struct symbols_named *named;
	struct answer *answer;
	const char *near;
	size_t n;
	int error, ret = ask(at, source, &answer);

	if (ret == -EAGAIN)
		return ret;
	if (ret)
		return fail(at, RESOLVE_FAILED, -ret, source->path);
	named = answer->named;
	switch (symbols_named_state(named, &error)) {
	case SYMBOLS_READY: {
		const struct symbols_place *places = symbols_named_places(named, &n);
		const size_t chosen = choose(places, n, only_functions);

		ret = 1;
		if (chosen == SIZE_MAX)
			ret = tell_places(at, places, n, only_functions, source->path);
		else
			*out = (struct found){places[chosen], symbols_named_base(named),
				symbols_named_is_fixed(named)};
		break;
	}
	case SYMBOLS_NONE:
		ret = 0;
		for (size_t i = 0; i < 3 && (near = symbols_named_near(named, i)); i++)
			add_near(at->error, near);
		at->error->stripped |= symbols_named_is_stripped(named);
		if (symbols_named_is_hidden(named))
			ret = fail(at, RESOLVE_HIDDEN, 0, source->path);
		break;
	default:
		ret = fail(at, RESOLVE_UNREADABLE, error ? error : EIO, source->path);
		break;
	}
	return ret;
}

/* --- addresses --- */

/* Searches one process: its program, then its other mapped files. */
static int find_in_process(struct resolving *at, int32_t pid, uint64_t *address)
{
	struct resolve_maps maps;
	struct found found;
	int ret = resolve_maps_read(&maps, pid);

	if (ret) {
		at->error->pid = pid;
		return fail(at, RESOLVE_NO_PROCESS, -ret, "");
	}
	ret = 0;
	for (size_t i = 0; i < maps.n && !ret; i++) {
		const struct symbols_source source = {
			.kind = SYMBOLS_FILE, .path = maps.files[i].path, .pid = pid};

		if (at->spec->needs.binary &&
			!resolve_is_named(maps.files[i].path, at->spec->needs.binary))
			continue;
		ret = find(at, &source, false, &found);
		/* A mapped file may be a font, or deleted.  Another file may have the symbol. */
		if (ret < 0 && ret != -EAGAIN && at->error->kind == RESOLVE_UNREADABLE && i > 0)
			ret = 0;
		if (ret == 1)
			*address = maps.files[i].start + (found.place.address - found.base);
	}
	if (!ret)
		ret = fail(at, RESOLVE_NO_SYMBOL, 0, maps.n == 1 ? maps.files[0].path : "");
	resolve_maps_fini(&maps);
	return ret == 1 ? 0 : ret;
}

static int find_in_processes(struct resolving *at, uint64_t *address)
{
	uint64_t other;
	int ret = find_in_process(at, at->target->pids[0], address);

	for (size_t i = 1; i < at->target->n_pids && !ret; i++) {
		ret = find_in_process(at, at->target->pids[i], &other);
		if (!ret && other != *address) {
			at->error->pid = at->target->pids[i];
			ret = fail(at, RESOLVE_DIFFERS, 0, "");
		}
	}
	return ret;
}

static int find_in_command(struct resolving *at, uint64_t *address)
{
	char path[PATH_MAX];
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = path};
	struct found found;

	if (resolve_command(at->target->command, path, sizeof(path)))
		return fail(at, RESOLVE_NO_BINARY, 0, at->target->command);
	int ret = find(at, &source, false, &found);
	if (ret == 0)
		return fail(at, RESOLVE_NO_SYMBOL, 0, path);
	if (ret < 0)
		return ret;
	if (!found.is_fixed)
		return fail(at, RESOLVE_NOT_STARTED, 0, path);
	*address = found.place.address;
	return 0;
}

static int find_in_kernel(struct resolving *at, uint64_t *address)
{
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};
	struct found found;
	int ret = find(at, &source, false, &found);

	if (ret == 0)
		return fail(at, RESOLVE_NO_SYMBOL, 0, source.path);
	if (ret < 0)
		return ret;
	*address = found.place.address;
	return 0;
}

static int resolve_address(struct resolving *at)
{
	struct event_spec *spec = at->spec;
	uint64_t address = 0;
	int ret;

	if (!spec->needs.symbol)
		return fail(at, RESOLVE_NO_TARGET, EINVAL, "");
	if (at->target->command)
		ret = find_in_command(at, &address);
	else if (at->target->n_pids)
		ret = find_in_processes(at, &address);
	else
		ret = find_in_kernel(at, &address);
	if (!ret)
		spec->attr.bp_addr = address + spec->needs.offset;
	return ret;
}

/* --- offsets --- */

static int resolve_offset(struct resolving *at)
{
	struct event_spec *spec = at->spec;
	const char *binary = spec->needs.binary ? spec->needs.binary : "";
	char path[PATH_MAX];
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = path};
	uint64_t offset = 0;

	if (resolve_binary(binary, at->target, path, sizeof(path)))
		return fail(at, RESOLVE_NO_BINARY, 0, binary);
	if (spec->needs.symbol) {
		struct found found;
		int ret = find(at, &source, true, &found);

		if (ret == 0)
			return fail(at, RESOLVE_NO_SYMBOL, 0, path);
		if (ret < 0)
			return ret;
		if (found.place.offset == UINT64_MAX)
			return fail(at, RESOLVE_NO_FUNCTION, 0, path);
		offset = found.place.offset;
		if (event_is_return_probe(spec) && found.place.unwound) {
			at->error->offset = offset;
			return fail(at, RESOLVE_UNWOUND, 0, path);
		}
	}
	spec->probe = event_text(path, strlen(path));
	if (!spec->probe)
		return fail(at, RESOLVE_FAILED, ENOMEM, path);
	spec->attr.config2 = offset + spec->needs.offset;
	return 0;
}

/* --- all --- */

bool resolve_is_needed(const struct event_spec *specs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (specs[i].needs.kind != NEEDS_NOTHING)
			return true;
	return false;
}

int resolve_begin(struct resolve_job **out, struct symbols *symbols,
	const struct resolve_target *target, const struct event_spec *specs, size_t n)
{
	struct resolve_job *job = calloc(1, sizeof(*job));

	*out = NULL;
	if (!job)
		return -ENOMEM;
	job->symbols = symbols;
	job->target = *target;
	job->pids = calloc(target->n_pids + 1, sizeof(*job->pids));
	job->specs = calloc(n + 1, sizeof(*job->specs));
	if (target->command)
		job->command = strdup(target->command);
	if (!job->pids || !job->specs || (target->command && !job->command)) {
		resolve_end(job);
		return -ENOMEM;
	}
	if (target->n_pids)
		memcpy(job->pids, target->pids, target->n_pids * sizeof(*job->pids));
	if (n)
		memcpy(job->specs, specs, n * sizeof(*job->specs));
	job->n = n;
	job->target.pids = job->pids;
	job->target.command = job->command;
	*out = job;
	return 0;
}

int resolve_step(struct resolve_job *job, struct resolve_error *error)
{
	int ret = 0;

	memset(error, 0, sizeof(*error));
	/* Takes in answers that have arrived; does not wait. */
	if (job->awaited)
		symbols_named_wait(job->symbols, job->awaited->named, -1, 0);
	job->awaited = NULL;
	for (size_t i = 0; i < job->n && !ret; i++) {
		struct event_spec *spec = &job->specs[i];
		struct resolving at = {job, &job->target, spec, error};

		if (spec->needs.kind == NEEDS_NOTHING)
			continue;
		*error = (struct resolve_error){.event = i};
		snprintf(error->event_name, sizeof(error->event_name), "%s", spec->name);
		snprintf(error->symbol, sizeof(error->symbol), "%s",
			spec->needs.symbol ? spec->needs.symbol : "");
		ret = spec->needs.kind == NEEDS_DATA_ADDRESS ? resolve_address(&at)
							     : resolve_offset(&at);
		if (!ret)
			spec->needs = (struct event_needs){.kind = NEEDS_NOTHING};
	}
	if (!ret)
		error->kind = RESOLVE_OK;
	return ret;
}

const struct event_spec *resolve_specs(const struct resolve_job *job, size_t *n)
{
	*n = job->n;
	return job->specs;
}

void resolve_describe(const struct resolve_job *job, const char **symbol, const char **path)
{
	*symbol = job->awaited ? job->awaited->symbol : "";
	*path = job->awaited ? job->awaited->path : "";
}

void resolve_end(struct resolve_job *job)
{
	if (!job)
		return;
	for (size_t i = 0; i < job->n_answers; i++) {
		symbols_named_release(job->answers[i].named);
		free(job->answers[i].path);
	}
	free(job->answers);
	free(job->command);
	free(job->pids);
	free(job->specs);
	free(job);
}

/* Waits for the answer that stopped the last step.  Reports the file if the wait takes long. */
static int wait_for_answer(struct resolve_job *job, const struct resolve_wait *wait)
{
	const struct answer *answer = job->awaited;
	const int stop_fd = wait ? wait->stop_fd : -1;
	int ret = symbols_named_wait(job->symbols, answer->named, stop_fd, TELL_MS);

	if (ret != -ETIME)
		return ret;
	if (wait && wait->tell)
		wait->tell(answer->symbol, answer->path, wait->ctx);
	return symbols_named_wait(job->symbols, answer->named, stop_fd, WAIT_MS);
}

int resolve_events(struct symbols *symbols, const struct resolve_target *target,
	const struct resolve_wait *wait, struct event_spec *specs, size_t n,
	struct resolve_error *error)
{
	struct resolve_job *job;
	int ret = resolve_begin(&job, symbols, target, specs, n), failed;

	memset(error, 0, sizeof(*error));
	if (ret) {
		error->kind = RESOLVE_FAILED;
		error->error = -ret;
		return ret;
	}
	while ((ret = resolve_step(job, error)) == -EAGAIN) {
		failed = wait_for_answer(job, wait);
		if (!failed)
			continue;
		error->kind = RESOLVE_FAILED;
		error->error = -failed;
		snprintf(error->binary, sizeof(error->binary), "%s", job->awaited->path);
		ret = failed;
		break;
	}
	if (n)
		memcpy(specs, job->specs, n * sizeof(*specs));
	resolve_end(job);
	return ret;
}
