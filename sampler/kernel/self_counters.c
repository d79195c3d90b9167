// SPDX-License-Identifier: GPL-3.0-or-later
/* self_counters.c - opens and reads events on strobe's own threads; see self_counters.h. */
#include "sampler/kernel/self_counters.h"

#include "sampler/kernel/sys.h"
#include "sampler/machine/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TRIES 1000
#define THREADS_MAX 32

struct self_thread {
	int32_t tid;
	int clock_fd, instructions_fd; /* -1 if not opened */
	uint64_t cpu_ns, instructions; /* at the last reading */
	bool seen;
};

struct self_counters {
	int32_t own_tid;
	/* page of the thread's own instructions event, or NULL */
	const struct perf_event_mmap_page *page;
	struct self_thread threads[THREADS_MAX];
	unsigned int n_threads;
	uint64_t ended_cpu_ns, ended_instructions; /* sums of ended threads */
	bool has_instructions;
};

/* --- the seqlock --- */

#if defined(__x86_64__)
static uint64_t read_pmc(uint32_t counter, void *ctx)
{
	(void)ctx;
	return __builtin_ia32_rdpmc((int)counter);
}

static uint64_t read_tsc(void *ctx)
{
	(void)ctx;
	return __builtin_ia32_rdtsc();
}

static const struct self_hardware hardware = {read_pmc, read_tsc, NULL};
#define HAVE_RDPMC true
#else
static const struct self_hardware hardware;
#define HAVE_RDPMC false
#endif

static int64_t sign_extend(uint64_t value, unsigned int width)
{
	return width && width < 64 ? (int64_t)(value << (64 - width)) >> (64 - width)
				   : (int64_t)value;
}

/* Returns the ns since the kernel last wrote time_enabled. */
static uint64_t time_since(const struct perf_event_mmap_page *page, uint64_t cycles)
{
	unsigned int shift = page->time_shift & 63;
	uint64_t mult = page->time_mult;
	uint64_t rest = cycles & ((1ull << shift) - 1);

	return page->time_offset + (cycles >> shift) * mult + ((rest * mult) >> shift);
}

static void read_once(const struct perf_event_mmap_page *page, const struct self_hardware *with,
	uint32_t index, struct self_value *out)
{
	uint64_t delta = 0;

	out->enabled_ns = page->time_enabled;
	out->running_ns = page->time_running;
	if (page->cap_user_time && out->enabled_ns != out->running_ns)
		delta = time_since(page, with->tsc(with->ctx));
	out->count = (uint64_t)page->offset +
		(uint64_t)sign_extend(with->pmc(index - 1, with->ctx), page->pmc_width);
	out->enabled_ns += delta;
	out->running_ns += delta;
}

int self_page_read(const struct perf_event_mmap_page *page, const struct self_hardware *with,
	struct self_value *out)
{
	for (int i = 0; i < TRIES; i++) {
		uint32_t seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		uint32_t index;

		*out = (struct self_value){0};
		/* Odd while the kernel writes. */
		if (seq & 1)
			continue;
		index = __atomic_load_n(&page->index, __ATOMIC_RELAXED);
		if (page->cap_user_rdpmc && index)
			read_once(page, with, index, out);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != seq)
			continue;
		if (!page->cap_user_rdpmc || !index)
			return -ENODATA;
		out->scaled = out->count;
		if (out->running_ns && out->running_ns != out->enabled_ns)
			out->scaled = out->count / out->running_ns * out->enabled_ns +
				out->count % out->running_ns * out->enabled_ns / out->running_ns;
		return 0;
	}
	return -EAGAIN;
}

/* --- events --- */

static int open_event(uint32_t type, uint64_t config, int32_t tid)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_hv = 1,
	};
	int fd = sys_open(&attr, tid, -1);

	/* Without more rights, a user may count only user code. */
	if (fd == -EACCES || fd == -EPERM) {
		attr.exclude_kernel = 1;
		fd = sys_open(&attr, tid, -1);
	}
	return fd;
}

static const struct perf_event_mmap_page *map_page(int fd)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static int add_thread(struct self_counters *counters, int32_t tid)
{
	struct self_thread *thread = &counters->threads[counters->n_threads];
	int fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, tid);

	if (fd < 0)
		return fd;
	*thread = (struct self_thread){.tid = tid, .clock_fd = fd, .seen = true};
	thread->instructions_fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, tid);
	if (thread->instructions_fd >= 0) {
		counters->has_instructions = true;
		if (HAVE_RDPMC && tid == counters->own_tid)
			counters->page = map_page(thread->instructions_fd);
	}
	counters->n_threads++;
	return 0;
}

static void close_thread(struct self_counters *counters, struct self_thread *thread)
{
	counters->ended_cpu_ns += thread->cpu_ns;
	counters->ended_instructions += thread->instructions;
	close(thread->clock_fd);
	if (thread->instructions_fd >= 0)
		close(thread->instructions_fd);
	*thread = counters->threads[--counters->n_threads];
}

static bool is_known(struct self_counters *counters, int32_t tid)
{
	for (unsigned int i = 0; i < counters->n_threads; i++) {
		if (counters->threads[i].tid != tid)
			continue;
		counters->threads[i].seen = true;
		return true;
	}
	return false;
}

/* Adds new threads.  Returns 0, or -errno if no thread can be counted. */
static int look_for_threads(struct self_counters *counters)
{
	unsigned int before = counters->n_threads;
	int32_t *tids;
	size_t n;
	int error = 0, ret = proc_threads(getpid(), &tids, &n);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < before; i++)
		counters->threads[i].seen = false;
	for (size_t i = 0; i < n && counters->n_threads < THREADS_MAX; i++) {
		ret = is_known(counters, tids[i]) ? 0 : add_thread(counters, tids[i]);
		if (ret && ret != -ESRCH)
			error = ret;
	}
	free(tids);
	/* Starts all new events together. */
	if (counters->n_threads > before && prctl(PR_TASK_PERF_EVENTS_ENABLE))
		error = -errno;
	return counters->n_threads ? 0 : error ? error : -ESRCH;
}

int self_counters_open(struct self_counters **out)
{
	struct self_counters *counters = calloc(1, sizeof(*counters));
	int ret;

	*out = NULL;
	if (!counters)
		return -ENOMEM;
	counters->own_tid = gettid();
	ret = look_for_threads(counters);
	if (ret) {
		self_counters_close(counters);
		return ret;
	}
	*out = counters;
	return 0;
}

void self_counters_close(struct self_counters *counters)
{
	if (!counters)
		return;
	/* Only events opened by this thread; the sampling thread has its own. */
	if (counters->n_threads)
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
	if (counters->page)
		munmap((void *)counters->page, (size_t)sysconf(_SC_PAGESIZE));
	while (counters->n_threads)
		close_thread(counters, &counters->threads[0]);
	free(counters);
}

static void read_value(int fd, uint64_t *value)
{
	uint64_t words[3];

	if (fd < 0 || read(fd, words, sizeof(words)) != (ssize_t)sizeof(words))
		return;
	/* If events shared the hardware, estimate the full count. */
	*value = words[2] && words[2] != words[1]
		? (uint64_t)((double)words[0] * (double)words[1] / (double)words[2])
		: words[0];
}

static void read_instructions(
	struct self_counters *counters, struct self_thread *thread, struct self_counts *out)
{
	struct self_value value;

	if (counters->page && thread->tid == counters->own_tid &&
		!self_page_read(counters->page, &hardware, &value)) {
		thread->instructions = value.scaled;
		out->by_rdpmc = true;
		return;
	}
	read_value(thread->instructions_fd, &thread->instructions);
}

int self_counters_read(struct self_counters *counters, struct self_counts *out)
{
	int ret = look_for_threads(counters);

	*out = (struct self_counts){0};
	if (ret)
		return ret;
	for (unsigned int i = counters->n_threads; i-- > 0;) {
		struct self_thread *thread = &counters->threads[i];

		read_value(thread->clock_fd, &thread->cpu_ns);
		read_instructions(counters, thread, out);
		if (!thread->seen)
			close_thread(counters, thread);
	}
	for (unsigned int i = 0; i < counters->n_threads; i++) {
		out->cpu_ns += counters->threads[i].cpu_ns;
		out->instructions += counters->threads[i].instructions;
	}
	out->cpu_ns += counters->ended_cpu_ns;
	out->instructions += counters->ended_instructions;
	out->has_instructions = counters->has_instructions;
	out->threads = counters->n_threads;
	return 0;
}
