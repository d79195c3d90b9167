/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_asked.c - attribute bits with options of their own, checked by the kernel's
 * behaviour.
 *
 * Call chains of one side, threads without children, sampling until an exec, counts of ending
 * threads, and one CPU.  Also checks that each sample belongs to its event.
 */
#include "tests/live/engine_fixture.h"
#include "tests/live/engine_orders.h"

#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/kernel/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define PAGES 300
#define CHILD_PAGES 700

/* everything that a recording would get */
struct seen {
	struct record_format format;
	struct perf_event_attr attr;
	uint64_t samples, chains, kernel_parts, user_parts;
	uint64_t reads, read_value;
	bool every; /* counts all events, not only the first; all have one format */
};

static void see_begin(const struct event_spec *events, size_t n, void *ctx)
{
	struct seen *seen = ctx;

	seen->attr = events[0].attr;
	for (size_t i = 0; i + 1 < n; i++)
		assert_int_equal(events[i].attr.sample_type, seen->attr.sample_type);
	sys_format_of(&seen->format, &seen->attr);
}

static void see_record(const struct perf_event_header *header, size_t event, void *ctx)
{
	struct seen *seen = ctx;
	struct record record;

	if (event == ENGINE_TAP_TRACKER || (event && !seen->every))
		return;
	assert_int_equal(record_decode(&record, header, &seen->format), 0);
	if (header->type == PERF_RECORD_READ) {
		seen->reads++;
		seen->read_value += record.read.read.values[0];
	}
	if (header->type != PERF_RECORD_SAMPLE)
		return;
	seen->samples++;
	seen->chains += record.sample.chain_len > 0;
	for (uint64_t i = 0; i < record.sample.chain_len; i++) {
		seen->kernel_parts += record.sample.chain[i] == (uint64_t)PERF_CONTEXT_KERNEL;
		seen->user_parts += record.sample.chain[i] == (uint64_t)PERF_CONTEXT_USER;
	}
}

static void see_mapping(int32_t pid, const struct record_mmap *mmap, uint64_t time_ns, void *ctx)
{
	(void)pid;
	(void)mmap;
	(void)time_ns;
	(void)ctx;
}

static void see_comm(int32_t pid, int32_t tid, const char *comm, uint64_t time_ns, void *ctx)
{
	(void)pid;
	(void)tid;
	(void)comm;
	(void)time_ns;
	(void)ctx;
}

static void see_round(void *ctx)
{
	(void)ctx;
}

static struct seen seen;
static const struct engine_tap tap = {
	see_begin, see_record, see_mapping, see_comm, see_round, &seen};

static struct rig *rig_seen(const char *events)
{
	struct rig *rig = rig_new(events, 0, 1);

	seen = (struct seen){0};
	rig->config.tap = &tap;
	return rig;
}

/* Makes system calls; their samples are in the kernel. */
static void body_calls(void *arg)
{
	(void)arg;
	for (;;) {
		touch_pages(1);
		usleep(100);
	}
}

static void check_chains(bool kernel, bool user)
{
	struct rig *rig = rig_seen("context-switches");
	pid_t pid = start_child(body_calls, NULL);

	rig->config.no_kernel_chain = !kernel;
	rig->config.no_user_chain = !user;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 50));
	rig_stop(rig);
	end_child(pid);
	assert_int_equal(seen.attr.exclude_callchain_kernel, !kernel);
	assert_int_equal(seen.attr.exclude_callchain_user, !user);
	assert_true(seen.samples >= 50);
	assert_true(kernel ? seen.kernel_parts > 0 : !seen.kernel_parts);
	assert_true(user ? seen.user_parts > 0 : !seen.user_parts);
	rig_free(rig);
}

static void test_chains_of_one_side(void **state)
{
	(void)state;
	need_cpu_wide();
	check_chains(true, true);
	check_chains(true, false);
	check_chains(false, true);
}

static void *thread_faults(void *arg)
{
	(void)arg;
	wait_order();
	touch_pages(PAGES);
	return NULL;
}

/* Skips under ThreadSanitizer, where the child of a process cannot start threads. */
static void need_threads_of_children(void)
{
#ifdef __SANITIZE_THREAD__
	print_message("skipped: a child cannot begin threads under ThreadSanitizer\n");
	skip();
#endif
}

/* Starts a thread that faults and a child that faults more; orders start each step. */
static void body_family(void *arg)
{
	pthread_t thread;
	pid_t child;

	(void)arg;
	wait_order();
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_order();
		touch_pages(CHILD_PAGES);
		_exit(0);
	}
	if (child < 0 || pthread_create(&thread, NULL, thread_faults, NULL))
		_exit(2);
	pthread_join(thread, NULL);
	waitpid(child, NULL, 0);
	tell_done();
	pause();
}

static bool has_threads(struct rig *rig, uint64_t n)
{
	return rig->status.threads == n && !rig->status.attaching_total;
}

static uint64_t count_family(enum engine_scope scope, bool own_threads)
{
	struct rig *rig = rig_seen("page-faults:u");
	uint64_t count;
	pid_t pid;

	open_pipes();
	pid = start_child(body_family, NULL);
	rig->config.own_threads = own_threads;
	rig->config.no_credit = true; /* no credit, so no hit is left out */
	rig->config.scope = scope;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	give_order();
	assert_true(rig_wait(rig, has_threads, own_threads ? 2 : 3));
	give_order();
	give_order();
	wait_done();
	rig_stop(rig);
	assert_int_equal(rig->status.tasks_missed, 0);
	count = rig->status.events[0].count;
	assert_int_equal(seen.attr.inherit_thread, own_threads && scope == SCOPE_INHERIT);
	/* The child's time belongs to no event, and must not count as time that an event missed. */
	if (own_threads && scope == SCOPE_INHERIT)
		assert_true((double)rig->status.events[0].running_ns >
			0.9 * (double)rig->status.events[0].enabled_ns);
	end_child(pid);
	close_pipes();
	rig_free(rig);
	return count;
}

static void test_own_threads(void **state)
{
	(void)state;
	need_events();
	need_threads_of_children();
	for (enum engine_scope scope = SCOPE_TASK; scope <= SCOPE_INHERIT; scope++) {
		uint64_t all, own;

		if (scope == SCOPE_CPU)
			continue;
		all = count_family(scope, false);
		own = count_family(scope, true);
		print_message("scope %d: %lu faults, %lu without children\n", (int)scope,
			(unsigned long)all, (unsigned long)own);
		assert_true(all >= PAGES + CHILD_PAGES);
		assert_true(own >= PAGES);
		/* Sanitizers cause faults of their own. */
		if (amounts_count())
			assert_true(own + CHILD_PAGES / 2 < all);
	}
}

/* Faults, then executes a program that faults, reports that, and waits. */
static void body_exec(void *arg)
{
	/* The text grows to 4 MB, so that its faults exceed any difference by a sanitizer's
	 * faults. */
	static const char script[] =
		"i=0; t=0123456789abcdef; while [ $i -lt 18 ]; do i=$((i+1)); t=$t$t; /bin/true; "
		"done; echo d; read x";

	(void)arg;
	wait_order();
	touch_pages(PAGES);
	dup2(go[0], 0);
	dup2(done[1], 1);
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(5);
}

static bool has_ended(struct rig *rig, uint64_t arg)
{
	(void)arg;
	return rig->status.state == ENGINE_ENDED;
}

static uint64_t count_to_exec(enum engine_scope scope, bool until_exec)
{
	struct rig *rig = rig_seen("page-faults:u");
	const struct engine_event_status *event = &rig->status.events[0];
	uint64_t count;
	pid_t pid;

	open_pipes();
	pid = start_child(body_exec, NULL);
	rig->config.until_exec = until_exec;
	rig->config.no_credit = true;
	rig->config.scope = scope;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	give_order();
	wait_done();
	/* The program runs on, but sampling has ended. */
	if (until_exec)
		assert_true(rig_wait(rig, has_ended, 0));
	else
		rig_stop(rig);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(seen.attr.remove_on_exec, until_exec);
	count = event->count;
	end_child(pid);
	close_pipes();
	rig_free(rig);
	return count;
}

static void check_until_exec(enum engine_scope scope)
{
	uint64_t before = count_to_exec(scope, true), all = count_to_exec(scope, false);

	print_message("%lu faults before the exec, %lu in all\n", (unsigned long)before,
		(unsigned long)all);
	assert_true(before >= PAGES);
	if (amounts_count())
		assert_true(before + PAGES / 3 < all);
}

static void test_until_exec(void **state)
{
	struct engine_config wrong = {.until_exec = true, .target.system_wide = true};
	struct rig *rig = rig_new("page-faults", 0, 1);
	struct engine *engine;

	(void)state;
	need_events();
	check_until_exec(SCOPE_TASK);
	check_until_exec(SCOPE_INHERIT);
	wrong.events = rig->events;
	wrong.n_events = 1;
	assert_int_equal(engine_new(&engine, &wrong), -EINVAL);
	wrong.until_exec = false;
	assert_int_equal(engine_new(&engine, &wrong), 0);
	engine_free(engine);
	rig_free(rig);
}

/* Ending threads report their counts.  A thread's time on other CPUs must not count as time without
 * a counter. */
static void test_counts_of_threads(void **state)
{
	struct rig *rig = rig_seen("page-faults:u");
	const struct engine_event_status *event = &rig->status.events[0];
	pid_t pid;

	(void)state;
	need_events();
	need_threads_of_children();
	open_pipes();
	pid = start_child(body_family, NULL);
	rig->config.inherit_stat = true;
	rig->config.scope = SCOPE_INHERIT;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	for (int i = 0; i < 3; i++)
		give_order();
	wait_done();
	rig_stop(rig);
	print_message("%lu records of threads' counts: %lu faults of %lu; running %.1f%%\n",
		(unsigned long)seen.reads, (unsigned long)seen.read_value,
		(unsigned long)event->count,
		100.0 * (double)event->running_ns / (double)event->enabled_ns);
	assert_int_equal(seen.attr.inherit_stat, 1);
	/* Linux 6.18 omits tasks that end while their context is taken apart: at least one of the
	 * thread and the child reports. */
	assert_true(seen.reads >= 1);
	assert_true(seen.read_value >= PAGES);
	assert_true(seen.read_value <= event->count);
	if (amounts_count())
		assert_true((double)event->running_ns > 0.75 * (double)event->enabled_ns);
	end_child(pid);
	close_pipes();
	rig_free(rig);
}

/* --- the event of a sample --- */

static int open_foreign(uint64_t config, pid_t pid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME,
		.inherit = 1};
	int fd = sys_open(&attr, pid, -1);

	assert_true(fd >= 0);
	return fd;
}

static bool each_has_samples(struct rig *rig, uint64_t n)
{
	for (size_t i = 0; i < rig->status.n_events; i++)
		if (rig->status.events[i].samples < n)
			return false;
	return rig->status.n_events == rig->config.n_events;
}

static void check_ids(enum engine_scope scope)
{
	static const char events[] = "page-faults:u,context-switches,page-faults,minor-faults";
	struct rig *rig = rig_new(events, 0, 1);
	pid_t pid = start_child(body_calls, NULL);
	int others[2];

	rig->config.scope = scope;
	rig->config.no_credit = true;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	/* Later events precede ours in the kernel's list, and our samples carry their ids. */
	others[0] = open_foreign(PERF_COUNT_SW_PAGE_FAULTS, pid);
	others[1] = open_foreign(PERF_COUNT_SW_CONTEXT_SWITCHES, pid);
	assert_true(rig_wait(rig, has_samples, 300));
	assert_true(rig_wait(rig, each_has_samples, 50));
	stop_child(pid);
	rig_stop(rig);
	end_child(pid);
	assert_int_equal(rig->status.unknown_records, 0);
	for (size_t i = 0; i < rig->status.n_events; i++) {
		const struct engine_event_status *event = &rig->status.events[i];
		uint64_t least;

		print_message("%s: %lu samples of %lu, %lu filtered\n", event->name,
			(unsigned long)event->samples, (unsigned long)event->count,
			(unsigned long)event->filtered);
		assert_true(event->samples >= 50);
		least = event->count - CAUGHT_AT_END;
		/* CPU events may count some hits without a sample when sampling ends; see
		 * doc/decisions/023-*.  On a CPU that is idle in between, Linux 6.18 counts more
		 * switches than it samples, also for perf record. */
		if (scope == SCOPE_CPU) {
			const bool most =
				amounts_count() && strcmp(event->name, "context-switches");

			least = most ? least - least / 10 : 50;
		}
		assert_in_range(
			event->samples + event->lost + event->filtered, least, event->count);
	}
	close(others[0]);
	close(others[1]);
	rig_free(rig);
}

/* Several events fire together, next to a profiler with equal events: each sample belongs to its
 * own event. */
static void test_samples_tell_their_event(void **state)
{
	(void)state;
	need_cpu_wide();
	check_ids(SCOPE_TASK);
	check_ids(SCOPE_CPU);
}

/* Recorded samples carry no PERF_SAMPLE_READ, which only serves to find the event of a live
 * sample. */
static void test_ids_are_not_recorded(void **state)
{
	static const char events[] = "page-faults:u,page-faults";
	struct rig *rig = rig_new(events, 0, 1);
	pid_t pid = start_child(body_calls, NULL);

	(void)state;
	need_cpu_wide();
	seen = (struct seen){.every = true};
	rig->config.tap = &tap;
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, each_has_samples, 100));
	rig_stop(rig);
	end_child(pid);
	assert_true(seen.samples >= 200 && seen.chains == seen.samples);
	assert_int_equal(seen.attr.sample_type & PERF_SAMPLE_READ, 0);
	rig_free(rig);
}

/* --- a task on one CPU --- */

/* Sets the first and the last CPU that this process may use; skips if they are the same. */
static void two_cpus(int cpus[2])
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	cpus[0] = -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		cpus[1] = cpu;
		if (cpus[0] < 0)
			cpus[0] = cpu;
	}
	if (cpus[0] != cpus[1])
		return;
	print_message("skipped: there is one CPU\n");
	skip();
}

static void body_there(void *arg)
{
	const int *cpus = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpus[1], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(6);
	tell_done();
	wait_order();
	touch_pages(PAGES);
	tell_done();
	pause();
}

static void test_task_on_a_cpu(void **state)
{
	int cpus[2];

	(void)state;
	need_events();
	two_cpus(cpus);
	for (int i = 0; i < 4; i++) {
		struct rig *rig = rig_new("page-faults:u", 0, 1);
		const struct engine_event_status *event = &rig->status.events[0];
		pid_t pid;

		open_pipes();
		pid = start_child(body_there, cpus);
		wait_done(); /* the child runs on its CPU */
		rig->config.scope = i < 2 ? SCOPE_TASK : SCOPE_INHERIT;
		rig->config.no_credit = true;
		rig->config.target.cpus = &cpus[i % 2];
		rig->config.target.n_cpus = 1;
		rig_target(rig, &pid);
		rig_start(rig);
		assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
		give_order();
		wait_done();
		rig_stop(rig);
		print_message("CPU %d, runs on %d: %lu samples\n", cpus[i % 2], cpus[1],
			(unsigned long)event->samples);
		if (i % 2)
			assert_true(event->samples + event->lost >= PAGES);
		else
			assert_true(event->samples + event->lost < PAGES);
		end_child(pid);
		close_pipes();
		rig_free(rig);
	}
}

/* --- ioctls that the engine does not use --- */

static struct sys_counts counts_of(int fd)
{
	const struct sys_features plain = {0};
	struct sys_counts counts;

	assert_int_equal(sys_read(fd, &plain, &counts), 0);
	return counts;
}

/* RESET clears the value but not its times; FLAG_GROUP reaches members too, even those without
 * credit. */
static void test_ioctls_not_used(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.size = sizeof(attr),
		.disabled = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			PERF_FORMAT_ID};
	struct sys_place place = {.cpu = -1, .group_fd = -1};
	struct sys_counts before, after;
	int leader, member;

	(void)state;
	need_events();
	leader = sys_open_at(&attr, &place);
	place.group_fd = leader;
	member = sys_open_at(&attr, &place);
	assert_true(leader >= 0 && member >= 0);
	/* The engine needs this flag on every event. */
	assert_int_equal(fcntl(leader, F_GETFD), FD_CLOEXEC);
	assert_int_equal(sys_enable(leader), 0);
	touch_pages(PAGES);
	assert_true(counts_of(leader).value >= PAGES);
	assert_int_equal(counts_of(member).value, 0);
	assert_int_equal(ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	touch_pages(PAGES);
	assert_true(counts_of(member).value >= PAGES);
	assert_int_equal(ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	before = counts_of(leader);
	assert_int_equal(ioctl(leader, PERF_EVENT_IOC_RESET, 0), 0);
	after = counts_of(leader);
	assert_int_equal(after.value, 0);
	assert_true(after.enabled_ns >= before.enabled_ns && before.enabled_ns > 0);
	assert_true(counts_of(member).value >= PAGES);
	close(member);
	close(leader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains_of_one_side),
		cmocka_unit_test(test_own_threads),
		cmocka_unit_test(test_until_exec),
		cmocka_unit_test(test_counts_of_threads),
		cmocka_unit_test(test_samples_tell_their_event),
		cmocka_unit_test(test_ids_are_not_recorded),
		cmocka_unit_test(test_task_on_a_cpu),
		cmocka_unit_test(test_ioctls_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
