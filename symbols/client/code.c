/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code.c - the client's side of source lines and instructions: questions, answers, and the cache of
 * answers.
 *
 * The calling thread owns all of it; answers come in by symbols_collect() alone.
 */
#include "symbols/client/code.h"

#include "symbols/base/grow.h"
#include "symbols/client/again.h"
#include "symbols/client/code_client.h"
#include "symbols/client/code_lines.h"
#include "symbols/client/texts.h"
#include "symbols/loader/loader_code.h"
#include "symbols/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES (64u * 1024 * 1024) /* answers without a holder */
#define KEPT_MAX 256
#define SLICES 64 /* slices of one job; each unpacks 16 MB */

_Static_assert(SYMBOLS_CODE_BYTES_MAX == WIRE_CODE_BYTES_MAX, "limits differ");

struct symbols_code {
	struct symbols_code *next; /* most recently used first */
	struct symbols_code_question question;
	size_t refs;
	enum symbols_state state;
	int error, lines_error; /* positive errno */
	struct codetab table;
	bool has_lines, partial;
	bool stale; /* only its holders still use it */
};

struct code_client {
	struct loader_code *loader;
	struct symbols_code *codes;
	size_t n_waiting; /* pending codes */
	struct code_lines lines;
	struct texts *texts;
	/* rights of each image after its lines came */
	struct image_rights {
		uint32_t key;
		struct symbols_rights rights;
	} * rights;
	size_t n_rights;
	int lines_error; /* first one of loader_code_is_want(); 0: none */
	bool told_lines_error, recording;
};

int code_client_new(struct code_client **out, const struct symbols_config *config, int answers_fd)
{
	struct code_client *client = calloc(1, sizeof(*client));

	*out = NULL;
	if (!client)
		return -ENOMEM;
	client->recording = config->recording;
	int ret = texts_new(&client->texts, answers_fd);
	if (ret == 0)
		ret = loader_code_new(&client->loader, config, answers_fd);
	if (ret < 0) {
		texts_free(client->texts);
		free(client);
		return ret;
	}
	*out = client;
	return 0;
}

static void free_code(struct symbols_code *code)
{
	codetab_close(&code->table);
	free(code);
}

bool code_client_free(struct code_client *client)
{
	if (!client)
		return true;
	const bool stopped = loader_code_free(client->loader);
	while (client->codes) {
		struct symbols_code *next = client->codes->next;
		free_code(client->codes);
		client->codes = next;
	}
	code_lines_fini(&client->lines);
	texts_free(client->texts);
	free(client->rights);
	free(client);
	return stopped;
}

int code_client_recorded(struct code_client *client, const struct symbols_recorded *recorded)
{
	return loader_code_recorded(client->loader, recorded);
}

bool code_client_take_note(struct code_client *client, struct symbols_note *out)
{
	if (client->lines_error && !client->told_lines_error) {
		client->told_lines_error = true;
		*out = (struct symbols_note){
			.kind = SYMBOLS_NOTE_NO_LINES, .error = client->lines_error};
		return true;
	}
	return loader_code_take_note(client->loader, out);
}

struct texts *code_client_texts(const struct code_client *client)
{
	return client->texts;
}

int code_client_worker_pid(const struct code_client *client)
{
	return loader_code_worker_pid(client->loader);
}

bool code_client_is_waiting(const struct code_client *client)
{
	uint64_t since;

	return client->n_waiting || client->lines.n_pending ||
		loader_code_waiting(client->loader, &since);
}

/* Makes a job about an image; returns NULL if memory runs out.  Lines and instructions are read
 * from the file that gave the names. */
static struct loader_job *make_job(
	const struct symbols *symbols, uint32_t key, const struct symbols_source *source)
{
	struct loader_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->key = key;
	if (source_copy(&job->source, source) < 0) {
		free(job);
		return NULL;
	}
	if (!job->source.build_id_len && job->source.kind == SYMBOLS_FILE &&
		!symbols_code_client(symbols)->recording)
		job->source.build_id_len =
			(uint8_t)symbols_build_id(symbols, key, job->source.build_id);
	return job;
}

/* --- lines --- */

static void note_lines_error(struct code_client *client, int error)
{
	if (!client->lines_error && loader_code_is_want(error))
		client->lines_error = error;
}

static int post_lines(const struct symbols *symbols, uint32_t key,
	const struct symbols_source *source, const uint64_t *offsets, size_t n)
{
	struct code_client *client = symbols_code_client(symbols);
	size_t done = loader_code_append(client->loader, key, offsets, n);

	while (done < n) {
		const size_t part = n - done < WIRE_OFFSETS_MAX ? n - done : WIRE_OFFSETS_MAX;
		struct loader_job *job = make_job(symbols, key, source);
		if (!job)
			return -ENOMEM;
		job->lines = true;
		job->offsets = calloc(part, sizeof(*offsets));
		job->n_offsets = job->offsets_cap = part;
		int ret = job->offsets ? 0 : -ENOMEM;
		if (ret == 0) {
			memcpy(job->offsets, offsets + done, part * sizeof(*offsets));
			ret = loader_code_post(client->loader, job);
		}
		if (ret < 0) {
			loader_job_free(job);
			return ret;
		}
		done += part;
	}
	return 0;
}

int symbols_lines_ask(struct symbols *symbols, uint32_t key, const uint64_t *offsets, size_t n)
{
	struct code_client *client = symbols_code_client(symbols);
	const struct symbols_source *source;
	uint64_t *fresh;
	size_t n_fresh = 0;

	key = symbols_twin(symbols, key);
	source = symbols_source_of(symbols, key);
	if (!source || n == 0 || code_lines_given_up(&client->lines, key))
		return 0;
	fresh = calloc(n, sizeof(*fresh));
	if (!fresh) {
		note_lines_error(client, ENOMEM);
		return -ENOMEM;
	}
	int ret = 0;
	for (size_t i = 0; i < n && ret >= 0; i++) {
		ret = code_lines_add(&client->lines, key, offsets[i]);
		if (ret == 1)
			fresh[n_fresh++] = offsets[i];
	}
	int posted = n_fresh ? post_lines(symbols, key, source, fresh, n_fresh) : 0;
	/* Offsets that were not posted may be asked for again. */
	if (posted < 0)
		code_lines_unask(&client->lines);
	free(fresh);
	ret = ret < 0 ? ret : posted;
	note_lines_error(client, -ret);
	return ret;
}

size_t symbols_lines(const struct symbols *symbols, uint32_t key, uint64_t offset,
	struct symbols_frame *out, size_t max, enum symbols_state *state)
{
	return code_lines_find(&symbols_code_client(symbols)->lines, symbols_twin(symbols, key),
		offset, out, max, state);
}

/* --- instructions --- */

static bool is_same(const struct symbols_code_question *a, const struct symbols_code_question *b)
{
	return a->key == b->key && a->start == b->start && a->end == b->end &&
		a->syntax == b->syntax && a->lines == b->lines && a->quick == b->quick &&
		a->pid == b->pid;
}

/* Returns the link to that answer; it points to NULL if there is none. */
static struct symbols_code **find_code(
	struct code_client *client, const struct symbols_code_question *question)
{
	struct symbols_code **at = &client->codes;

	while (*at && ((*at)->stale || !is_same(&(*at)->question, question)))
		at = &(*at)->next;
	return at;
}

/* Frees the oldest answers without a holder. */
static void trim(struct code_client *client)
{
	size_t bytes = 0, n = 0;

	for (struct symbols_code **at = &client->codes; *at;) {
		struct symbols_code *code = *at;
		bytes += code->table.len;
		n++;
		const bool kept = !code->stale && bytes <= KEPT_BYTES && n <= KEPT_MAX;
		if (code->refs || code->state == SYMBOLS_PENDING || kept) {
			at = &code->next;
			continue;
		}
		bytes -= code->table.len;
		n--;
		*at = code->next;
		free_code(code);
	}
}

/* Returns true if a quick answer shows the lines meanwhile. */
static bool is_known_in_part(
	struct code_client *client, const struct symbols_code_question *question)
{
	struct symbols_code_question quick = *question;

	quick.quick = true;
	return !question->quick && *find_code(client, &quick);
}

static int post_code(const struct symbols *symbols, const struct symbols_source *source,
	struct symbols_code *code)
{
	struct code_client *client = symbols_code_client(symbols);
	const struct symbols_code_question *question = &code->question;
	struct loader_job *job = make_job(symbols, question->key, source);

	if (!job)
		return -ENOMEM;
	job->owner = code;
	job->start = question->start;
	job->end = question->end;
	job->syntax = question->syntax;
	job->lines = question->lines;
	job->quick = question->quick;
	job->slices = is_known_in_part(client, question) ? SLICES : 0;
	job->pid = question->pid;
	int ret = loader_code_post(client->loader, job);
	if (ret < 0) {
		loader_job_free(job);
		return ret;
	}
	code->state = SYMBOLS_PENDING;
	client->n_waiting++;
	return 0;
}

int symbols_code_ask(struct symbols *symbols, const struct symbols_code_question *question,
	struct symbols_code **out)
{
	static const struct symbols_source memory = {.path = "[memory]"};
	struct code_client *client = symbols_code_client(symbols);
	struct symbols_code_question asked = *question;

	*out = NULL;
	asked.key = symbols_twin(symbols, question->key);
	if (asked.start >= asked.end || asked.end - asked.start > SYMBOLS_CODE_BYTES_MAX)
		return -EINVAL;
	const struct symbols_source *source = symbols_source_of(symbols, asked.key);
	if (!source && asked.pid > 0)
		source = &memory;
	struct symbols_code **at = find_code(client, &asked), *code = *at;
	if (code) {
		*at = code->next;
	} else {
		code = calloc(1, sizeof(*code));
		if (!code)
			return -ENOMEM;
		code->question = asked;
	}
	code->next = client->codes;
	client->codes = code;
	code->refs++;
	int ret = 0;
	if (!source) {
		code->state = SYMBOLS_UNREADABLE;
		code->error = ENOENT;
	} else if (code->state == SYMBOLS_UNASKED) {
		ret = post_code(symbols, source, code);
	}
	if (ret < 0)
		symbols_code_release(symbols, code);
	else
		*out = code;
	return ret;
}

void symbols_code_release(struct symbols *symbols, struct symbols_code *code)
{
	struct code_client *client = symbols_code_client(symbols);

	if (!code)
		return;
	code->refs--;
	/* Memory changes, and so may the error that kept a file from being read. */
	if (code->refs == 0 && code->state != SYMBOLS_PENDING &&
		(code->state != SYMBOLS_READY || code->question.pid > 0))
		code->stale = true;
	trim(client);
}

enum symbols_state symbols_code_state(const struct symbols_code *code, int *error)
{
	*error = code->error;
	return code->state;
}

const struct codetab *symbols_code_table(const struct symbols_code *code)
{
	return &code->table;
}

int symbols_code_lines_error(const struct symbols_code *code)
{
	return code->lines_error;
}

bool symbols_code_has_lines(const struct symbols_code *code)
{
	return code->has_lines;
}

bool symbols_code_is_partial(const struct symbols_code *code)
{
	return code->partial;
}

static void take_code(struct code_client *client, struct loader_job *job)
{
	struct symbols_code *code = job->owner;

	client->n_waiting--;
	code->table = job->table;
	memset(&job->table, 0, sizeof(job->table));
	code->has_lines = job->has_lines;
	code->partial = job->partial;
	code->error = job->error;
	code->lines_error = job->lines_error;
	code->state = job->error == ENXIO    ? SYMBOLS_NONE
		: job->error		     ? SYMBOLS_UNREADABLE
		: code->table.n_entries == 0 ? SYMBOLS_NONE
					     : SYMBOLS_READY;
}

/* --- rights --- */

static struct image_rights *find_rights(const struct code_client *client, uint32_t key)
{
	for (size_t i = 0; i < client->n_rights; i++)
		if (client->rights[i].key == key)
			return &client->rights[i];
	return NULL;
}

/* Keeps only rights common to all answers, since names of earlier ones are still shown.  Returns 0;
 * or -ENOMEM: the image then has no rights. */
static int take_rights(struct code_client *client, const struct loader_job *job)
{
	struct image_rights *known = find_rights(client, job->key);

	if (!job->has_lines)
		return 0;
	if (known) {
		known->rights = rights_join(known->rights, job->rights);
		return 0;
	}
	if (array_resize(&client->rights, client->n_rights + 1, sizeof(*client->rights)) < 0)
		return -ENOMEM;
	client->rights[client->n_rights++] = (struct image_rights){job->key, job->rights};
	return 0;
}

struct symbols_rights symbols_source_rights(const struct symbols *symbols, uint32_t key)
{
	const struct image_rights *known =
		find_rights(symbols_code_client(symbols), symbols_twin(symbols, key));

	return known ? known->rights : (struct symbols_rights){.kind = SYMBOLS_RIGHTS_NONE};
}

/* --- both --- */

bool code_client_collect(struct code_client *client)
{
	struct loader_job *jobs = loader_code_collect(client->loader);
	const bool any = jobs;

	while (jobs) {
		struct loader_job *next = jobs->next;
		note_lines_error(client, -take_rights(client, jobs));
		if (jobs->offsets) {
			note_lines_error(client, jobs->error);
			note_lines_error(client, -code_lines_take(&client->lines, jobs));
		} else {
			take_code(client, jobs);
		}
		loader_job_free(jobs);
		jobs = next;
	}
	if (any)
		trim(client);
	return texts_collect(client->texts) || any;
}

void symbols_code_refresh(struct symbols *symbols, uint32_t key)
{
	struct code_client *client = symbols_code_client(symbols);

	key = symbols_twin(symbols, key);
	for (struct symbols_code *code = client->codes; code; code = code->next)
		if (code->question.key == key)
			code->stale = true;
	code_lines_refresh(&client->lines, key);
	trim(client);
}

size_t symbols_code_waiting(const struct symbols *symbols, uint64_t *since_ns)
{
	return loader_code_waiting(symbols_code_client(symbols)->loader, since_ns);
}

void symbols_code_abandon(struct symbols *symbols)
{
	struct code_client *client = symbols_code_client(symbols);

	loader_code_abandon(client->loader);
	for (struct symbols_code **at = &client->codes; *at;) {
		struct symbols_code *code = *at;
		if (code->state == SYMBOLS_PENDING)
			code->state = SYMBOLS_UNASKED;
		if (code->refs || code->state != SYMBOLS_UNASKED) {
			at = &code->next;
			continue;
		}
		*at = code->next;
		free_code(code);
	}
	client->n_waiting = 0;
	code_lines_unask(&client->lines);
	texts_abandon(client->texts);
}
