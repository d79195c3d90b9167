/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_model.h - the expected contents of a table, by a naive model.
 *
 * It walks every sample's stack and keeps its rows as texts in a list.  Fields of samples are
 * random.  Included once in a program.
 */
#ifndef TESTS_TABLE_MODEL_H
#define TESTS_TABLE_MODEL_H

#include "tests/unit/lines_fixture.h"
#include "tests/unit/samples_fixture.h"
#include "tui/base/clean.h"
#include "tui/query/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_ROWS 20000
#define TEXT 256

struct model_row {
	char text[TEXT]; /* event, keys, column */
	uint64_t self, total, samples;
	bool met; /* the table has this row */
};

/* Event 0 has three fields, event 5 has two of the same names in another order, event 10 has
 * none. */
#define ASKED 4

static const char *const asked[ASKED] = {"pid", "comm", "caller", "nobody"};

static struct made_up {
	struct values *values;
	struct fields *fields[2];
	struct field_schemas schemas;
	uint32_t tuples[FIXTURE_SLICES][FIXTURE_CELLS];
	char texts[FIXTURE_SLICES][FIXTURE_CELLS][ASKED][32]; /* expected texts */
} * made_up;

struct model {
	struct model_row rows[MODEL_ROWS];
	size_t n;
};

static inline struct table_question ask(
	struct fixture *fixture, const enum query_group *keys, size_t n_keys)
{
	return (struct table_question){
		.scan = fixture_scan(fixture),
		.keys = keys,
		.n_keys = n_keys,
	};
}

static inline size_t place_of(const char *name)
{
	size_t i = 0;

	while (strcmp(asked[i], name) != 0)
		i++;
	return i;
}

static inline struct fields *make_fields(const char *lines, const char *print)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct fields *fields;
	char format[1024];

	snprintf(format, sizeof(format), "name: made_up\nID: 1\nformat:\n%s\nprint fmt: %s\n",
		lines, print);
	assert_int_equal(fields_new(&fields, &attr, NULL, NULL, format), 0);
	assert_non_null(fields);
	return fields;
}

static inline int set_up_fields(void **state)
{
	int ret = fixture_setup(state);

	made_up = calloc(1, sizeof(*made_up));
	if (ret || !made_up || values_new(&made_up->values))
		return -1;
	made_up->fields[0] =
		make_fields("\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			    "\tfield:unsigned long caller;\toffset:32;\tsize:8;\tsigned:0;\n",
			"\"caller=%pS\", (void *)REC->caller");
	made_up->fields[1] = make_fields("\tfield:u32 pid;\toffset:8;\tsize:4;\tsigned:0;\n"
					 "\tfield:char comm[8];\toffset:12;\tsize:8;\tsigned:0;\n",
		"\"%d\", REC->pid");
	made_up->schemas.values = made_up->values;
	made_up->schemas.of[0] = made_up->fields[0];
	made_up->schemas.of[5] = made_up->fields[1];
	return 0;
}

static inline int tear_down_fields(void **state)
{
	fields_free(made_up->fields[0]);
	fields_free(made_up->fields[1]);
	values_free(made_up->values);
	free(made_up);
	made_up = NULL;
	return fixture_teardown(state);
}

static inline void make_up_cell(
	struct fixture *fixture, uint32_t *seed, uint32_t slice, uint32_t cell, bool given_up)
{
	static const char *const comms[][2] = {
		{"sh", "sh"}, {"we\033ird", "we?ird"}, {"", ""}, {"-", "-"}};
	uint8_t event = fixture->slices[slice].event[cell];
	uint32_t comm = fixture_random(seed, 4), at = fixture_random(seed, 6) * 8;
	bool stripped = fixture_random(seed, 2);
	struct value pid = {.number = (uint64_t)((int64_t)fixture_random(seed, 4) - 1)};
	struct value text = {.text = comms[comm][0], .text_len = strlen(comms[comm][0])};
	struct value caller = {.has_image = true,
		.image = stripped ? fixture->stripped : fixture->program,
		.number = at};
	char(*shown)[32] = made_up->texts[slice][cell];

	if (event == 5)
		pid.number &= UINT32_MAX;
	for (int i = 0; i < ASKED; i++)
		strcpy(shown[i], "none");
	made_up->tuples[slice][cell] = VALUES_NONE;
	if (event == 10 || given_up)
		return;
	const struct value first[] = {text, pid, caller}, second[] = {pid, text};

	assert_int_equal(values_intern(made_up->values, event ? second : first, event ? 2 : 3,
				 &made_up->tuples[slice][cell]),
		0);
	snprintf(shown[0], 32, "%lld", (long long)pid.number);
	snprintf(shown[1], 32, "'%s'", comms[comm][1]);
	if (event)
		return;
	if (stripped)
		snprintf(shown[2], 32, "'stripped.so+0x%x'", at);
	else if (at % 16)
		snprintf(shown[2], 32, "'f%u+0x8'", at / 16);
	else
		snprintf(shown[2], 32, "'f%u'", at / 16);
}

/* One slice has given up its fields. */
static inline void make_up(struct fixture *fixture, uint32_t seed)
{
	for (uint32_t i = 0; i < FIXTURE_SLICES; i++) {
		fixture->slices[i].values = i == 3 ? NULL : made_up->tuples[i];
		for (uint32_t j = 0; j < fixture->slices[i].cells; j++)
			make_up_cell(fixture, &seed, i, j, i == 3);
	}
}

/* Writes the row of a cell and a frame (FRAME_NONE: none) in the answer to a question. */
static inline void tell(const struct table_question *question, struct fixture *fixture,
	const struct slice *slice, uint32_t cell, uint32_t frame, char out[TEXT])
{
	const struct task_label *label = tasks_label_get(fixture->tasks, slice->task[cell]);
	uint32_t symref = frame == FRAME_NONE ? 0 : names_symref(fixture->names, frame);
	const struct symref *name = names_get(fixture->names, symref);
	uint8_t event = question->scan.stands_for ? question->scan.stands_for[slice->event[cell]]
						  : slice->event[cell];
	size_t len = 0;
	char comm[TASK_COMM_MAX];

	if (question->scan.column != GROUP_EVENT)
		len += (size_t)snprintf(out, TEXT, "event %u", event);
	out[len] = '\0';
	for (size_t i = 0; i < question->n_keys; i++) {
		char *at = out + len;
		size_t room = TEXT - len;

		switch (question->keys[i]) {
		case GROUP_PROCESS:
			len += (size_t)snprintf(at, room, " pid %d", label->pid);
			break;
		case GROUP_THREAD:
			len += (size_t)snprintf(at, room, " tid %d", label->tid);
			break;
		case GROUP_CPU:
			len += (size_t)snprintf(at, room, " cpu %u", slice->cpu[cell]);
			break;
		case GROUP_CGROUP:
			len += (size_t)snprintf(at, room, " of %u", slice->event[cell]);
			break;
		case GROUP_COMMAND:
			clean_string(comm, sizeof(comm), label->comm);
			len += (size_t)snprintf(at, room, " %s", comm);
			break;
		case GROUP_SYMBOL:
			len += (size_t)snprintf(at, room, " %s", name->symbol);
			break;
		case GROUP_IMAGE:
			len += (size_t)snprintf(at, room, " %s", name->image);
			break;
		case GROUP_LINE:
			len += (size_t)snprintf(at, room, " %s", tell_line(fixture, frame, name));
			break;
		case GROUP_ADDRESS:
			len += (size_t)snprintf(at, room, " %s+0x%llx", name->image,
				frame == FRAME_NONE ? 0ull
						    : (unsigned long long)stacks_frame_get(
							      fixture->stacks, frame)
							      ->offset);
			break;
		default:
			if (question->keys[i] >= GROUP_FIELD)
				len += (size_t)snprintf(at, room, " %s",
					made_up->texts[slice - fixture->slices][cell][place_of(
						question->scan
							.fields[question->keys[i] - GROUP_FIELD])]);
			break;
		}
	}
	if (question->scan.column == GROUP_CPU)
		snprintf(out + len, TEXT - len, " | %u", slice->cpu[cell]);
	else if (question->scan.column == GROUP_THREAD)
		snprintf(out + len, TEXT - len, " | %d", label->tid);
	else if (question->scan.column == GROUP_EVENT)
		snprintf(out + len, TEXT - len, " | %u", event);
}

static inline struct model_row *model_row(struct model *model, const char *text)
{
	for (size_t i = 0; i < model->n; i++)
		if (!strcmp(model->rows[i].text, text))
			return &model->rows[i];
	assert_true(model->n < MODEL_ROWS);
	strcpy(model->rows[model->n].text, text);
	return &model->rows[model->n++];
}

static inline void model_cell(struct model *model, const struct table_question *question,
	struct fixture *fixture, const struct slice *slice, uint32_t i)
{
	char seen[128][TEXT], text[TEXT];
	size_t n_seen = 0;
	uint32_t node = slice->stack[i];
	bool leaf = true;

	do {
		const struct stack_node *at = stacks_node(fixture->stacks, node);
		uint32_t frame = node ? at->frame : FRAME_NONE;
		bool again = false, counts = true;

		tell(question, fixture, slice, i, frame, text);
		if (question->only)
			counts = (node ? names_symref(fixture->names, frame) : 0) ==
				question->symref;
		for (size_t j = 0; j < n_seen; j++)
			again |= !strcmp(seen[j], text);
		if (counts) {
			struct model_row *row = model_row(model, text);

			if (!again) {
				assert_true(n_seen < 128);
				strcpy(seen[n_seen++], text);
				row->total += slice->weight[i];
			}
			if (leaf) {
				row->self += slice->weight[i];
				row->samples += slice->count[i];
			}
		}
		leaf = false;
		node = node ? at->parent : STACK_ROOT;
	} while (node != STACK_ROOT);
}

static inline void model_all(
	struct model *model, const struct table_question *question, struct fixture *fixture)
{
	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < FIXTURE_SLICES; i++) {
		const struct slice *slice = &fixture->slices[i];

		if (slice->start_ns + 50 < question->scan.from_ns ||
			slice->start_ns + 50 >= question->scan.to_ns)
			continue;
		for (uint32_t j = 0; j < slice->cells; j++) {
			if (question->scan.hide_idle && slice->task[j] == fixture->labels[0])
				continue;
			if (filter_pass(question->scan.filter, slice, j))
				model_cell(model, question, fixture, slice, j);
		}
	}
}

static inline void tell_row(const struct table_question *question, const struct table *table,
	const struct table_row *row, const struct table_cell *cell, char out[TEXT])
{
	size_t len = 0;

	if (question->scan.column != GROUP_EVENT)
		len += (size_t)snprintf(out, TEXT, "event %u", row->event);
	out[len] = '\0';
	for (size_t i = 0; i < question->n_keys; i++) {
		static const char *const words[GROUP_KEYS] = {
			[GROUP_PROCESS] = "pid ", [GROUP_THREAD] = "tid ", [GROUP_CPU] = "cpu "};
		const char *word = question->keys[i] < GROUP_KEYS ? words[question->keys[i]] : NULL;
		struct table_key key;

		table_key(table, row, i, &key);
		if (question->keys[i] >= GROUP_FIELD) {
			if (key.is_missing)
				assert_string_equal(key.text, FIELD_MISSING);
			len += (size_t)snprintf(out + len, TEXT - len,
				key.is_missing		? " none"
					: key.is_number ? " %s"
							: " '%s'",
				key.text);
			continue;
		}
		assert_int_equal(key.is_number, word != NULL);
		if (question->keys[i] == GROUP_EVENT)
			continue;
		if (question->keys[i] == GROUP_CGROUP) {
			assert_string_equal(key.text, "");
			len += (size_t)snprintf(out + len, TEXT - len, " of %d", (int)key.number);
			continue;
		}
		if (word)
			len += (size_t)snprintf(
				out + len, TEXT - len, " %s%d", word, (int)key.number);
		else
			len += (size_t)snprintf(out + len, TEXT - len, " %s", key.text);
	}
	if (cell) {
		const struct scan_column *column = &table->scan.columns[cell->column];

		snprintf(out + len, TEXT - len, " | %d",
			question->scan.column == GROUP_THREAD	       ? column->tid
				: question->scan.column == GROUP_EVENT ? column->event
								       : (int)column->number);
	}
}

static inline void compare_one(
	struct model *model, const char *text, uint64_t self, uint64_t total, uint64_t samples)
{
	struct model_row *row = model_row(model, text);

	if (row->met || row->self != self || row->total != total || row->samples != samples)
		fail_msg("%s: %llu %llu %llu, not %llu %llu %llu%s", text, (unsigned long long)self,
			(unsigned long long)total, (unsigned long long)samples,
			(unsigned long long)row->self, (unsigned long long)row->total,
			(unsigned long long)row->samples, row->met ? " (twice)" : "");
	row->met = true;
}

static inline void compare(struct fixture *fixture, const struct table_question *question)
{
	static struct model model;
	struct table *table;
	char text[TEXT];

	model_all(&model, question, fixture);
	assert_int_equal(table_new(&table, question), 0);
	assert_int_equal(table_sort(table, TABLE_SELF, SCAN_NONE), 0);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct table_row *row = &table->rows[i];
		uint64_t self = 0, total = 0, samples = 0;

		if (question->scan.column == GROUP_KEYS) {
			tell_row(question, table, row, NULL, text);
			compare_one(&model, text, row->self, row->total, row->samples);
			continue;
		}
		for (uint32_t at = row->cells; at; at = table->cells[at - 1].next) {
			const struct table_cell *cell = &table->cells[at - 1];

			tell_row(question, table, row, cell, text);
			compare_one(&model, text, cell->self, cell->total, cell->samples);
			self += cell->self;
			total += cell->total;
			samples += cell->samples;
			assert_ptr_equal(table_cell(table, row, cell->column), cell);
		}
		if (question->scan.column != GROUP_EVENT) {
			assert_int_equal(row->self, self);
			assert_int_equal(row->total, total);
			assert_int_equal(row->samples, samples);
		}
	}
	for (size_t i = 0; i < model.n; i++)
		if (!model.rows[i].met && (model.rows[i].total || model.rows[i].samples))
			fail_msg("missing: %s", model.rows[i].text);
	for (uint32_t i = 1; i < table->n_rows && question->scan.column != GROUP_EVENT; i++) {
		const struct table_row *a = &table->rows[i - 1], *b = &table->rows[i];

		assert_true(a->event < b->event || (a->event == b->event && a->self >= b->self));
	}
	table_free(table);
}

#endif
