/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_ingest.c - the engine alone: prepared ring bytes -> record -> label, stack -> store.
 *
 *   bench_ingest             every table below, up to 10^7 samples
 *   bench_ingest --long      up to 10^8 samples
 *   bench_ingest --hour      one hour at 4,000 Hz in simulated time, in the default budget
 *   bench_ingest --steady [N] 10^7 and 10^8 samples in turns, medians and their ratio;
 *                            N: only this row of the table of depths, chains and tasks
 *
 * The ratio of --steady shows whether the cost of a sample grows after the budget is spent.
 * Figures are printed and never judged, because machines differ.
 */
#include "sampler/kernel/record.h"
#include "sampler/kernel/ring.h"
#include "sampler/store/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CODE_START 0x400000ull
#define CODE_LEN 0x40000000ull
#define BUDGET ((size_t)256 << 20)

struct load {
	unsigned int depth; /* 0: no chains */
	unsigned int chains; /* number of distinct chains */
	unsigned int symbols; /* number of functions of the frames */
	unsigned int tasks;
	unsigned int cpus;
	/* 0: all chains about equally hot; higher values make some much hotter */
	unsigned int skew;
	size_t ring_bytes;
	uint64_t rate_hz; /* samples per second of record time */
};

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct record_format format_of(const struct load *load)
{
	struct record_format format = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.sample_id_all = true,
	};

	if (load->depth)
		format.sample_type |= PERF_SAMPLE_CALLCHAIN;
	return format;
}

/* CPU time of this process, since other processes may be running. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *need(void *memory)
{
	if (!memory) {
		fprintf(stderr, "bench_ingest: out of memory\n");
		exit(1);
	}
	return memory;
}

/* --- the ring --- */

struct bytes {
	size_t size;
	struct perf_event_mmap_page *page;
	uint64_t *data;
	size_t used; /* words */
	size_t *times; /* index in data of each record's time, in words */
	size_t n;
	struct ring *ring;
};

/* Outer frames are shared by many chains, as in a program; leaves differ. */
static uint64_t frame_address(const struct load *load, uint64_t chain, unsigned int depth)
{
	uint64_t choice = depth + 1 < load->depth ? chain / (1u + depth * depth * 8u) : chain;
	uint64_t symbol = (choice * 2654435761u + depth * 40503u) % load->symbols;

	return CODE_START + (symbol * 64 + choice % 60) % CODE_LEN;
}

static bool put_sample(struct bytes *bytes, const struct load *load)
{
	uint64_t which = random_word() % load->chains;
	uint32_t pid;
	bool with_chain = load->depth != 0;
	size_t words = 1 + 6 + (with_chain ? 2 + load->depth : 0);
	uint64_t *word = bytes->data + bytes->used;
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.size = (uint16_t)(words * sizeof(uint64_t))};

	/* The chance of chain n falls about as 1 / n. */
	for (unsigned int i = 0; i < load->skew; i++)
		which = random_word() % (which + 1);
	pid = 1000 + (uint32_t)(load->tasks == 8 ? which % 8 : random_word() % load->tasks);
	if ((bytes->used + words) * sizeof(uint64_t) > bytes->size)
		return false;
	memcpy(word++, &header, sizeof(header));
	*word++ = 1; /* identifier */
	*word++ = frame_address(load, which, with_chain ? load->depth - 1 : 0);
	*word++ = (uint64_t)pid << 32 | pid;
	bytes->times[bytes->n++] = (size_t)(word - bytes->data);
	*word++ = 0;
	*word++ = random_word() % load->cpus;
	*word++ = 250000; /* period */
	if (with_chain) {
		*word++ = load->depth + 1;
		*word++ = (uint64_t)PERF_CONTEXT_USER;
		for (unsigned int depth = load->depth; depth-- > 0;)
			*word++ = frame_address(load, which, depth);
	}
	bytes->used += words;
	return true;
}

static void bytes_new(struct bytes *bytes, const struct load *load)
{
	bytes->size = load->ring_bytes;
	bytes->page = need(calloc(1, sizeof(*bytes->page) + bytes->size));
	bytes->data = (uint64_t *)(void *)(bytes->page + 1);
	bytes->times = need(calloc(bytes->size / 56, sizeof(*bytes->times)));
	bytes->used = bytes->n = 0;
	while (put_sample(bytes, load))
		;
	if (ring_open_memory(&bytes->ring, bytes->page, bytes->size))
		need(NULL);
}

static void bytes_free(struct bytes *bytes)
{
	ring_close(bytes->ring);
	free(bytes->page);
	free(bytes->times);
}

/* --- one run --- */

struct run {
	struct ingest ingest;
	struct record_format format;
	struct bytes bytes;
	uint64_t time_ns, step_ns;
	uint64_t spent_ns; /* CPU time of draining; excludes writing new times */
	uint64_t samples;
	uint64_t longest_ns; /* longest CPU time of sealing one slice and enforcing the budget */
};

static void make_processes(struct ingest *ingest, const struct load *load)
{
	for (uint32_t pid = 1000; pid < 1000 + load->tasks; pid++) {
		const struct record exec = {.type = PERF_RECORD_COMM,
			.comm = {.pid = pid, .tid = pid, .exec = true, .comm = "app"}};
		const struct record map = {.type = PERF_RECORD_MMAP2,
			.mmap = {.pid = pid,
				.tid = pid,
				.start = CODE_START,
				.len = CODE_LEN,
				.executable = true,
				.has_inode = true,
				.inode = 5,
				.filename = "/bin/app"}};

		if (ingest_record(ingest, &exec, 0) || ingest_record(ingest, &map, 0))
			need(NULL);
	}
}

/* Rewinds the ring to offset 0, as if the kernel had written the same records with new times. */
static void rewind_ring(struct run *run)
{
	struct bytes *bytes = &run->bytes;
	uint64_t head = __atomic_load_n(&bytes->page->data_head, __ATOMIC_RELAXED);

	for (size_t i = 0; i < bytes->n; i++) {
		bytes->data[bytes->times[i]] = run->time_ns;
		run->time_ns += run->step_ns;
	}
	/* A filler to the end of the ring keeps the records where they are. */
	if (bytes->used * sizeof(uint64_t) < bytes->size) {
		size_t left = bytes->size - bytes->used * sizeof(uint64_t);
		struct perf_event_header filler = {.type = 999, .size = (uint16_t)left};

		memcpy(bytes->data + bytes->used, &filler, sizeof(filler));
	}
	__atomic_store_n(&bytes->page->data_head, head + bytes->size, __ATOMIC_RELEASE);
}

/* Drains like the engine: seals slices and enforces the budget every 100 ms of record time. */
static void drain(struct run *run)
{
	const struct perf_event_header *header;
	struct record record;
	uint64_t next_ns = 0;

	ring_refresh(run->bytes.ring);
	while ((header = ring_peek(run->bytes.ring))) {
		if (!record_decode(&record, header, &run->format)) {
			if (record.id.time_ns >= next_ns) {
				uint64_t start_ns = cpu_ns(), took_ns;

				ring_release(run->bytes.ring);
				store_seal(run->ingest.store, record.id.time_ns, false);
				store_maintain(run->ingest.store);
				took_ns = cpu_ns() - start_ns;
				if (took_ns > run->longest_ns)
					run->longest_ns = took_ns;
				next_ns = record.id.time_ns + STORE_SLICE_NS;
			}
			if (ingest_record(&run->ingest, &record, 0))
				need(NULL);
		}
		ring_consume(run->bytes.ring);
	}
	ring_release(run->bytes.ring);
}

static void run_new(struct run *run, const struct load *load)
{
	struct tasks_reader none = {0};

	memset(run, 0, sizeof(*run));
	run->format = format_of(load);
	if (ingest_init(&run->ingest, &none, BUDGET))
		need(NULL);
	make_processes(&run->ingest, load);
	bytes_new(&run->bytes, load);
	run->time_ns = 1000000000;
	run->step_ns = 1000000000 / load->rate_hz;
}

static void run_to(struct run *run, uint64_t samples)
{
	while (run->samples < samples) {
		uint64_t start_ns;

		rewind_ring(run);
		start_ns = cpu_ns();
		drain(run);
		run->spent_ns += cpu_ns() - start_ns;
		run->samples += run->bytes.n;
	}
}

static void run_free(struct run *run)
{
	bytes_free(&run->bytes);
	ingest_fini(&run->ingest);
}

static long resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0, all;

	if (file && fscanf(file, "%ld %ld", &all, &pages) != 2)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

struct result {
	struct store_status status;
	uint64_t longest_ns;
	long rss_kb;
};

/* Returns the cost of a sample in ns, measured after every chain was seen. */
static double cost(const struct load *load, uint64_t samples, struct result *result)
{
	uint64_t warm_ns, warm;
	struct run run;
	double each;

	run_new(&run, load);
	run_to(&run, 4ull * load->chains);
	warm_ns = run.spent_ns;
	warm = run.samples;
	run_to(&run, warm + samples);
	each = (double)(run.spent_ns - warm_ns) / (double)(run.samples - warm);
	store_status(run.ingest.store, &result->status);
	result->longest_ns = run.longest_ns;
	result->rss_kb = resident_kb();
	run_free(&run);
	return each;
}

static void measure(const struct load *load, uint64_t samples)
{
	struct result result;
	double best = 1e9;

	/* Takes the best of three runs, since the machine may be busy. */
	for (int i = 0; i < (samples > 10000000 ? 1 : 3); i++) {
		double each = cost(load, samples, &result);

		best = each < best ? each : best;
	}
	printf("%6u %8u %8u %10llu %9.1f %10.2f %7zu %8.1f %7llu\n", load->depth, load->chains,
		load->symbols, (unsigned long long)samples, best, 1000 / best, result.status.slices,
		(double)result.status.memory_bytes / 1048576,
		(unsigned long long)result.status.merges);
	fflush(stdout);
}

static void heading(const char *what)
{
	printf("\n%s\n depth   chains  symbols    samples ns/sample  million/s slices MiB-used  "
	       "merges\n",
		what);
}

static void hour(void)
{
	const struct load load = {.depth = 24,
		.chains = 40000,
		.symbols = 20000,
		.tasks = 8,
		.cpus = 4,
		.skew = 3,
		.ring_bytes = (size_t)64 << 20,
		.rate_hz = 4000};
	struct store_status status;
	struct snapshot snapshot;
	struct run run;
	uint64_t step = 4000 * 300; /* samples of five minutes */

	run_new(&run, &load);
	printf("\none hour at 4,000 Hz, 24 frames deep, 40,000 distinct chains, some hot, 4 CPUs\n"
	       "minute  slices  MiB-used  MiB-rss  merges  ns/sample\n");
	for (uint64_t samples = step; samples <= 12 * step; samples += step) {
		run_to(&run, samples);
		store_status(run.ingest.store, &status);
		printf("%6.1f %7zu %9.1f %8.1f %7llu %10.1f\n", (double)run.time_ns / 60e9,
			status.slices, (double)status.memory_bytes / 1048576,
			(double)resident_kb() / 1024, (unsigned long long)status.merges,
			(double)run.spent_ns / (double)run.samples);
		fflush(stdout);
	}
	if (store_snapshot(run.ingest.store, 0, UINT64_MAX, &snapshot))
		need(NULL);
	uint64_t counted = 0;

	for (size_t i = 0; i < snapshot.n; i++)
		counted += snapshot.slices[i]->totals[0].count;
	printf("history from %.1f s, the oldest slice is %.1f s long, the newest %.1f s; %llu of "
	       "%llu samples "
	       "sealed\n",
		(double)snapshot.slices[0]->start_ns / 1e9,
		(double)(snapshot.slices[0]->end_ns - snapshot.slices[0]->start_ns) / 1e9,
		(double)(snapshot.slices[snapshot.n - 1]->end_ns -
			snapshot.slices[snapshot.n - 1]->start_ns) /
			1e9,
		(unsigned long long)counted, (unsigned long long)run.samples);
	snapshot_release(run.ingest.store, &snapshot);
	run_free(&run);
}

/* --- steady cost over long runs --- */

#define TURNS 3u

static double median(double *of)
{
	double low = of[0] < of[1] ? of[0] : of[1], high = of[0] < of[1] ? of[1] : of[0];

	return of[2] < low ? low : of[2] > high ? high : of[2];
}

static void steady_one(const struct load *load)
{
	double brief[TURNS], lasting[TURNS];
	struct result result;

	for (unsigned int i = 0; i < TURNS; i++) {
		brief[i] = cost(load, 10000000, &result);
		lasting[i] = cost(load, 100000000, &result);
	}
	printf("%6u %8u %6u %12.2f %12.2f %6.2f %7zu %8.1f %8.1f %7llu %9.2f\n", load->depth,
		load->chains, load->tasks, 1000 / median(brief), 1000 / median(lasting),
		median(brief) / median(lasting), result.status.slices,
		(double)result.status.memory_bytes / 1048576, (double)result.rss_kb / 1024,
		(unsigned long long)result.status.merges, (double)result.longest_ns / 1e6);
	fflush(stdout);
}

static void steady(struct load load, int only)
{
	static const struct {
		unsigned int depth, chains, tasks;
	} with[] = {
		{16, 1000, 8}, {0, 1000, 8}, {16, 50000, 8}, {16, 1000, 1000}, {0, 50000, 1000}};

	printf("\nmillion samples/s, medians of %u in turns\n"
	       " depth   chains  tasks    at 10^7      at 10^8  ratio  slices MiB-used  MiB-rss  "
	       "merges "
	       "ms-longest\n",
		TURNS);
	for (unsigned int i = 0; i < sizeof(with) / sizeof(*with); i++) {
		if (only >= 0 && only != (int)i)
			continue;
		load.depth = with[i].depth;
		load.chains = with[i].chains;
		load.tasks = with[i].tasks;
		load.ring_bytes = (size_t)(load.chains > 1000 ? 8 : 1) << 19;
		steady_one(&load);
	}
}

int main(int argc, char **argv)
{
	static const unsigned int symbols[] = {100, 1000, 10000, 100000, 1000000};
	bool is_long = argc > 1 && !strcmp(argv[1], "--long");
	struct load load = {.depth = 16,
		.chains = 1000,
		.symbols = 10000,
		.tasks = 8,
		.cpus = 2,
		.skew = 1,
		.ring_bytes = (size_t)1 << 19,
		.rate_hz = 20000};

	if (argc > 1 && !strcmp(argv[1], "--hour")) {
		hour();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "--steady")) {
		steady(load, argc > 2 ? atoi(argv[2]) : -1);
		return 0;
	}
	heading("16-frame chains already seen: length of the run");
	for (uint64_t samples = 100000; samples <= (is_long ? 100000000u : 10000000u);
		samples *= 10)
		measure(&load, samples);
	load.depth = 0;
	heading("no chains: length of the run");
	for (uint64_t samples = 100000; samples <= (is_long ? 100000000u : 10000000u);
		samples *= 10)
		measure(&load, samples);
	load.depth = 16;
	heading("number of symbols");
	for (unsigned int i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		load.symbols = symbols[i];
		measure(&load, 2000000);
	}
	load.symbols = 100000;
	heading("number of distinct chains");
	for (load.chains = 10; load.chains <= 10000; load.chains *= 10)
		measure(&load, 2000000);
	hour();
	return 0;
}
