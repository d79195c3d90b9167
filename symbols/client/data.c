/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.c - tables of data symbols by image.  Runs in the thread of symbols.h.
 */
#include "symbols/client/data.h"

#include "symbols/base/grow.h"
#include "symbols/client/again.h"
#include "symbols/client/code_client.h"
#include "symbols/client/moved_pieces.h"
#include "symbols/client/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct data_table {
	uint32_t key;
	enum symbols_state state;
	struct symtab table;
};

struct data_tables {
	struct data_table *tables; /* sorted by key */
	size_t n, cap;
	struct moved_pieces moved;
};

int data_tables_new(struct data_tables **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void data_tables_free(struct data_tables *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < data->n; i++)
		symtab_close(&data->tables[i].table);
	free(data->tables);
	free(data->moved.at);
	free(data);
}

/* Returns the index of the key, or its place if it is missing. */
static size_t place_of(const struct data_tables *data, uint32_t key)
{
	size_t from = 0, to = data->n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		if (data->tables[middle].key < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct data_table *find_table(const struct data_tables *data, uint32_t key)
{
	const size_t at = place_of(data, key);

	return at < data->n && data->tables[at].key == key ? &data->tables[at] : NULL;
}

static int insert(struct data_tables *data, uint32_t key)
{
	const size_t at = place_of(data, key);

	if (array_grow(&data->tables, &data->cap, data->n + 1, sizeof(*data->tables)) < 0)
		return -ENOMEM;
	memmove(data->tables + at + 1, data->tables + at, (data->n - at) * sizeof(*data->tables));
	data->tables[at] = (struct data_table){.key = key, .state = SYMBOLS_PENDING};
	data->n++;
	return 0;
}

int symbols_data_request(struct symbols *symbols, uint32_t key)
{
	struct data_tables *data = symbols_data_tables(symbols);
	const struct symbols_source *source;

	key = symbols_twin(symbols, key);
	source = symbols_source_of(symbols, key);
	if (!source || (source->kind != SYMBOLS_FILE && source->kind != SYMBOLS_KERNEL))
		return -EINVAL;
	if (find_table(data, key))
		return 0;
	struct loader_image *job = calloc(1, sizeof(*job));
	if (!job || source_copy(&job->source, source) < 0 || insert(data, key) < 0) {
		loader_image_free(job);
		return -ENOMEM;
	}
	job->key = key;
	job->want = LOADER_DATA;
	loader_post_image(symbols_loader(symbols), job);
	return 0;
}

enum symbols_state symbols_data_state(const struct symbols *symbols, uint32_t key)
{
	const struct data_table *table =
		find_table(symbols_data_tables(symbols), symbols_twin(symbols, key));

	return table ? table->state : SYMBOLS_UNASKED;
}

bool symbols_data_find(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out)
{
	const struct data_table *data =
		find_table(symbols_data_tables(symbols), symbols_twin(symbols, key));
	const int64_t found =
		data && data->state == SYMBOLS_READY ? symtab_find(&data->table, offset) : -1;

	if (found < 0)
		return false;
	const struct symtab *table = &data->table;
	const uint32_t module = table->modules ? table->modules[found] : 0;
	*out = (struct symbol){
		.start = table->entries[found].start,
		.size = table->entries[found].size,
		.name = symtab_name(&data->table, found),
		.module = module ? table->pool + table->module_names[module - 1] : NULL,
		.index = (uint32_t)found,
	};
	return true;
}

struct moved_pieces *data_tables_moved(struct data_tables *data)
{
	return &data->moved;
}

bool moved_pending(const struct data_tables *data)
{
	return data->moved.pending;
}

void data_tables_take(struct data_tables *data, struct loader_image *answer)
{
	if (answer->want == LOADER_MOVED) {
		moved_pieces_take(&data->moved, answer);
		return;
	}
	struct data_table *table = find_table(data, answer->key);

	if (!table)
		return;
	table->state = answer->state;
	table->table = answer->table;
	memset(&answer->table, 0, sizeof(answer->table));
}
