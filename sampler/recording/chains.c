// SPDX-License-Identifier: GPL-3.0-or-later
/* chains.c - queues samples until their deferred chains arrive; see chains.h. */
#include "sampler/recording/chains.h"

#include "sampler/store/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_WORDS_MAX (UINT16_MAX / 8)
#define DEFER_CALLCHAIN 38 /* bit of attr.defer_callchain, unknown to older headers */
#define BUCKETS 1024u
/* A marker, and one address more than a stack can have.  With that address, ingest counts the chain
 * as truncated. */
#define USER_WORDS_MAX (STACK_DEPTH_MAX + 2u)

/* A record in the queue. */
struct held {
	struct held *next;
	struct held *next_waiting, **waiting_link; /* bucket of its thread, while it waits */
	struct order_record record; /* owns its header */
	size_t nr_at; /* index of the word that counts its chain */
	uint64_t cookie;
	uint32_t tid;
	bool waits;
};

/* The last deferred chain of a thread.  Later samples in the same system call have its cookie
 * too. */
struct last_chain {
	uint64_t cookie;
	uint64_t *words; /* USER_WORDS_MAX words; NULL until first used */
	uint64_t n;
	uint32_t tid;
};

struct chains {
	order_fn *fn;
	void *ctx;
	struct held *first, **end; /* the queue; if not empty, a waiting sample is first */
	size_t bytes;
	unsigned int n_waiting;
	uint64_t latest_ns;
	struct held *waiting[BUCKETS];
	struct last_chain last[BUCKETS]; /* by thread; a collision overwrites */
	uint64_t room[RECORD_WORDS_MAX]; /* buffer for a record while it is built */
};

static unsigned int bucket_of(uint32_t tid)
{
	return (tid * 0x9e3779b1u) >> 22;
}

_Static_assert(BUCKETS == 1u << (32 - 22), "bucket_of() gives so many");

int chains_new(struct chains **out, order_fn *fn, void *ctx)
{
	struct chains *chains = calloc(1, sizeof(*chains));

	*out = chains;
	if (!chains)
		return -ENOMEM;
	chains->fn = fn;
	chains->ctx = ctx;
	chains->end = &chains->first;
	return 0;
}

static void free_held(struct held *held)
{
	free((void *)(uintptr_t)held->record.header);
	free(held);
}

void chains_free(struct chains *chains)
{
	struct held *next;

	if (!chains)
		return;
	for (; chains->first; chains->first = next) {
		next = chains->first->next;
		free_held(chains->first);
	}
	for (size_t i = 0; i < BUCKETS; i++)
		free(chains->last[i].words);
	free(chains);
}

/* --- replacing the chain of a sample --- */

/* Returns the index of the word that counts a chain; the chain follows it. */
static size_t find_nr(const struct perf_event_header *header, const struct record_sample *sample)
{
	return (size_t)(sample->chain - (const uint64_t *)(const void *)header) - 1;
}

/* A copy of a sample with another chain, built in chains->room. */
struct build {
	const uint64_t *from;
	uint64_t *words;
	size_t nr_at;
	size_t rest_at, n_rest; /* the words after the chain */
	size_t n, n_max; /* words so far; limit before the rest */
};

/* Copies the sample up to the first `kept` entries of its chain. */
static void begin_build(struct build *build, struct chains *chains,
	const struct perf_event_header *header, size_t nr_at, size_t kept)
{
	const uint64_t *from = (const uint64_t *)(const void *)header;
	size_t rest_at = nr_at + 1 + (size_t)from[nr_at];

	*build = (struct build){.from = from,
		.words = chains->room,
		.nr_at = nr_at,
		.rest_at = rest_at,
		.n_rest = header->size / 8 - rest_at,
		.n = nr_at + 1 + kept};
	build->n_max = RECORD_WORDS_MAX - build->n_rest;
	memcpy(build->words, from, build->n * sizeof(*from));
}

/* Appends a chain entry.  Leaves out outermost frames that do not fit into the record. */
static void add_word(struct build *build, uint64_t word)
{
	if (build->n < build->n_max)
		build->words[build->n++] = word;
}

static const struct perf_event_header *end_build(struct build *build)
{
	struct perf_event_header *header = (struct perf_event_header *)(void *)build->words;

	build->words[build->nr_at] = build->n - build->nr_at - 1;
	memcpy(&build->words[build->n], build->from + build->rest_at,
		build->n_rest * sizeof(*build->words));
	header->size = (uint16_t)((build->n + build->n_rest) * 8);
	return header;
}

/* --- the queue --- */

static size_t cost_of(const struct order_record *record)
{
	return record->header->size + sizeof(struct held);
}

static void stop_waiting(struct chains *chains, struct held *held)
{
	if (!held->waits)
		return;
	held->waits = false;
	*held->waiting_link = held->next_waiting;
	if (held->next_waiting)
		held->next_waiting->waiting_link = held->waiting_link;
	chains->n_waiting--;
}

static void start_waiting(struct chains *chains, struct held *held, uint32_t tid, uint64_t cookie)
{
	struct held **bucket = &chains->waiting[bucket_of(tid)];

	held->tid = tid;
	held->cookie = cookie;
	held->waits = true;
	held->next_waiting = *bucket;
	held->waiting_link = bucket;
	if (*bucket)
		(*bucket)->waiting_link = &held->next_waiting;
	*bucket = held;
	chains->n_waiting++;
}

static struct perf_event_header *copy_header(const struct perf_event_header *header)
{
	struct perf_event_header *copy = malloc(header->size);

	if (copy)
		memcpy(copy, header, header->size);
	return copy;
}

static struct held *hold(struct chains *chains, const struct order_record *record)
{
	struct held *held = calloc(1, sizeof(*held));

	if (!held)
		return NULL;
	held->record = *record;
	held->record.header = copy_header(record->header);
	if (!held->record.header) {
		free(held);
		return NULL;
	}
	*chains->end = held;
	chains->end = &held->next;
	chains->bytes += cost_of(&held->record);
	return held;
}

static int give_first(struct chains *chains)
{
	struct held *held = chains->first;
	int err;

	stop_waiting(chains, held);
	chains->first = held->next;
	if (!chains->first)
		chains->end = &chains->first;
	chains->bytes -= cost_of(&held->record);
	err = chains->fn(&held->record, chains->ctx);
	free_held(held);
	return err;
}

static bool must_wait(const struct chains *chains)
{
	return chains->first->waits && chains->bytes <= CHAINS_BYTES_MAX &&
		chains->n_waiting <= CHAINS_WAITING_MAX &&
		chains->latest_ns - chains->first->record.time_ns <= CHAINS_WAIT_NS;
}

static int give_ready(struct chains *chains)
{
	int err = 0;

	while (chains->first && !must_wait(chains) && !err)
		err = give_first(chains);
	return err;
}

/* Passes on a record after all that wait, if any. */
static int pass(struct chains *chains, const struct order_record *record)
{
	if (!chains->first)
		return chains->fn(record, chains->ctx);
	return hold(chains, record) ? give_ready(chains) : -ENOMEM;
}

int chains_flush(struct chains *chains)
{
	int err = 0;

	while (chains->first && !err)
		err = give_first(chains);
	return err;
}

/* --- deferred chains --- */

/* Reads the bit from the flags as a number: compilers for big-endian machines assign bits from the
 * top. */
static bool is_deferring(const struct perf_event_attr *attr)
{
	const unsigned int bit =
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 63 - DEFER_CALLCHAIN : DEFER_CALLCHAIN;
	uint64_t flags;

	memcpy(&flags, &attr->read_format + 1, sizeof(flags));
	return flags >> bit & 1;
}

static bool has_cookie(const struct record_sample *sample)
{
	return sample->chain_len >= 2 &&
		sample->chain[sample->chain_len - 2] == RECORD_CONTEXT_USER_DEFERRED;
}

static const struct perf_event_header *build_joined(struct chains *chains,
	const struct perf_event_header *header, size_t nr_at, const struct last_chain *chain)
{
	const uint64_t nr = ((const uint64_t *)(const void *)header)[nr_at];
	struct build build;

	begin_build(&build, chains, header, nr_at, (size_t)nr - 2);
	if (!chain->n || chain->words[0] < (uint64_t)PERF_CONTEXT_MAX)
		add_word(&build, (uint64_t)PERF_CONTEXT_USER);
	for (uint64_t i = 0; i < chain->n; i++)
		add_word(&build, chain->words[i]);
	return end_build(&build);
}

static int wait_for_chain(struct chains *chains, const struct order_record *record, size_t nr_at,
	uint32_t tid, uint64_t cookie)
{
	struct held *held = hold(chains, record);

	if (!held)
		return -ENOMEM;
	held->nr_at = nr_at;
	start_waiting(chains, held, tid, cookie);
	return give_ready(chains);
}

static int put_sample(struct chains *chains, const struct order_record *record,
	const struct record *decoded, const struct reader_attr *attr)
{
	const struct record_sample *sample = &decoded->sample;
	const struct last_chain *last = &chains->last[bucket_of(decoded->id.tid)];
	struct order_record passed = *record;
	size_t nr_at;
	uint64_t cookie;

	if (!has_cookie(sample) || !(attr->format.sample_type & PERF_SAMPLE_TID))
		return pass(chains, record);
	nr_at = find_nr(record->header, sample);
	cookie = sample->chain[sample->chain_len - 1];
	if (!last->words || last->tid != decoded->id.tid || last->cookie != cookie)
		return wait_for_chain(chains, record, nr_at, decoded->id.tid, cookie);
	passed.header = build_joined(chains, record->header, nr_at, last);
	return pass(chains, &passed);
}

static int keep_last(struct chains *chains, const struct record *record)
{
	const struct record_deferred *deferred = &record->deferred;
	struct last_chain *last = &chains->last[bucket_of(record->id.tid)];

	if (!last->words)
		last->words = malloc(USER_WORDS_MAX * sizeof(*last->words));
	if (!last->words)
		return -ENOMEM;
	last->tid = record->id.tid;
	last->cookie = deferred->cookie;
	last->n = deferred->chain_len < USER_WORDS_MAX ? deferred->chain_len : USER_WORDS_MAX;
	memcpy(last->words, deferred->chain, (size_t)last->n * sizeof(*last->words));
	return 0;
}

static int join(struct chains *chains, struct held *held, const struct last_chain *chain)
{
	struct perf_event_header *joined =
		copy_header(build_joined(chains, held->record.header, held->nr_at, chain));

	if (!joined)
		return -ENOMEM;
	chains->bytes -= cost_of(&held->record);
	free((void *)(uintptr_t)held->record.header);
	held->record.header = joined;
	chains->bytes += cost_of(&held->record);
	return 0;
}

/* Ends the waits of a thread's samples, and joins them with the chain if the cookie matches.  A
 * chain with another cookie belongs to a later system call, so theirs was lost. */
static int end_waits(struct chains *chains, uint32_t tid, const struct last_chain *chain)
{
	struct held *held = chains->waiting[bucket_of(tid)], *next;
	int err = 0;

	for (; held && !err; held = next) {
		next = held->next_waiting;
		if (held->tid != tid)
			continue;
		if (chain && held->cookie == chain->cookie)
			err = join(chains, held, chain);
		stop_waiting(chains, held);
	}
	return err ? err : give_ready(chains);
}

static int put_deferred(
	struct chains *chains, const struct record *record, const struct record_format *format)
{
	int err;

	/* A chain without a thread belongs to no sample. */
	if (!format->sample_id_all || !(format->sample_type & PERF_SAMPLE_TID))
		return 0;
	err = keep_last(chains, record);
	return err ? err
		   : end_waits(chains, record->id.tid, &chains->last[bucket_of(record->id.tid)]);
}

/* Whether a record ends the waits of a thread without a chain: it exited, or executes another
 * program. */
static bool ends_waits(const struct record *record, uint32_t *tid)
{
	if (record->type == PERF_RECORD_EXIT)
		*tid = record->task.tid;
	else if (record->type == PERF_RECORD_COMM && record->comm.exec)
		*tid = record->comm.tid;
	else
		return false;
	return true;
}

/* --- records --- */

/* Whether the record can matter here. */
static bool must_decode(const struct chains *chains, const struct order_record *record,
	const struct reader_attr *attr)
{
	switch (record->header->type) {
	case PERF_RECORD_SAMPLE:
		return is_deferring(&attr->attr);
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM:
		return chains->n_waiting;
	default:
		return record->header->type == RECORD_CALLCHAIN_DEFERRED;
	}
}

int chains_put(
	struct chains *chains, const struct order_record *record, const struct reader_attr *attr)
{
	struct record decoded;
	uint32_t tid;
	int err = 0;

	if (record->time_ns > chains->latest_ns)
		chains->latest_ns = record->time_ns;
	if (!attr || !must_decode(chains, record, attr) ||
		record_decode(&decoded, record->header, &attr->format))
		return pass(chains, record);
	if (decoded.type == PERF_RECORD_SAMPLE)
		return put_sample(chains, record, &decoded, attr);
	if (decoded.type == RECORD_CALLCHAIN_DEFERRED)
		return put_deferred(chains, &decoded, &attr->format);
	if (ends_waits(&decoded, &tid))
		err = end_waits(chains, tid, NULL);
	return err ? err : pass(chains, record);
}
