/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_rates.c - sums of weights match the kernel's count while an event's rate changes.
 */
#include "sampler/control/config.h"
#include "sampler/control/note.h"
#include "sampler/events/parse.h"
#include "tests/live/engine_fixture.h"
#include "tests/live/engine_orders.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define ENOUGH 100 /* samples at each rate */
/* Poisson: a count with mean n exceeds n + CHANCE * sqrt(n) less than once in a million times. */
#define CHANCE 5.0
#define CLOCK_LEAST 0.8 /* the kernel drops the periods that a late timer missed */

static uint64_t sum_weights(struct rig *rig)
{
	struct snapshot snapshot;
	uint64_t sum = 0;

	assert_int_equal(store_snapshot(engine_store(rig->engine), 0, UINT64_MAX, &snapshot), 0);
	for (size_t i = 0; i < snapshot.n; i++)
		for (uint32_t c = 0; c < snapshot.slices[i]->cells; c++)
			sum += snapshot.slices[i]->weight[c];
	snapshot_release(engine_store(rig->engine), &snapshot);
	return sum;
}

static bool has_rate(struct rig *rig, uint64_t rate)
{
	const struct engine_event_status *event = &rig->status.events[0];

	return event->freq_hz == rate || event->period == rate;
}

/* Returns the steal time of the machine in ns.  Neither a task's CPU time nor a timer includes
 * it. */
static double stolen_ns(void)
{
	FILE *stat = fopen("/proc/stat", "r");
	unsigned long ticks = 0;

	assert_non_null(stat);
	(void)!fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %lu", &ticks);
	fclose(stat);
	return (double)ticks * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

/* Returns the longest time in ns between two samples at any of the rates. */
static double longest_ns(const uint64_t *rates, size_t n, bool by_freq)
{
	double longest = 0;

	for (size_t i = 0; i < n; i++) {
		double ns = !rates[i] ? 0 : by_freq ? 1e9 / (double)rates[i] : (double)rates[i];

		longest = ns > longest ? ns : longest;
	}
	return longest;
}

/* A timer never fires early: the weights exceed the time by at most the last period of each
 * rate.  On a CPU that tasks share, the excess also varies by chance. */
static void check_clock(
	struct rig *rig, double counted_ns, double stolen, double longest, bool shared)
{
	const double weight = (double)sum_weights(rig);
	const double over = weight - counted_ns - 4 * longest - (shared ? stolen : 0);

	print_message("%s: weight %.3f of %.3f s, %.3f s stolen\n", rig->status.events[0].name,
		weight / 1e9, counted_ns / 1e9, stolen / 1e9);
	assert_true(weight > 0);
	if (!amounts_count())
		return;
	assert_true(weight >= CLOCK_LEAST * (counted_ns - stolen));
	assert_true(over <= 0 || (shared && over * over <= CHANCE * CHANCE * longest * weight));
}

/* The child is stopped meanwhile.  Otherwise its work just before the time of the new rate is
 * known would have the old weight. */
static void set_rate(struct rig *rig, pid_t pid, uint64_t rate)
{
	stop_child(pid);
	assert_int_equal(engine_set_freq(rig->engine, rig->status.events[0].id, rate), 0);
	assert_true(rig_wait(rig, has_rate, rate));
	assert_int_equal(kill(pid, SIGCONT), 0);
}

static bool is_attached(struct rig *rig, uint64_t arg)
{
	(void)arg;
	return has_samples(rig, ENOUGH) && has_note(rig, NOTE_ATTACHED);
}

static uint64_t cpu_time_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

struct rates {
	const char *event;
	uint64_t freq_hz, period; /* first rate; one of them is 0 */
	uint64_t next[3]; /* later rates; 0: no more */
};

static void body_burn_when_told(void *arg)
{
	wait_order();
	body_burn(arg);
}

/* Compares the weights with the event's counter.  CPU events count other tasks, too, so their
 * weights are compared with the child's CPU time. */
static void check_rates(const struct rates *rates, enum engine_scope scope)
{
	struct rig *rig = rig_new(rates->event, rates->freq_hz, rates->period);
	const uint64_t all[] = {rates->freq_hz ? rates->freq_hz : rates->period, rates->next[0],
		rates->next[1], rates->next[2]};
	double before_ns, counted_ns, stolen = stolen_ns();
	pid_t pid;

	open_pipes();
	pid = start_child(body_burn_when_told, NULL);
	rig_target(rig, &pid);
	rig->config.scope = scope;
	rig->config.callchain = false;
	rig->config.ring_pages = 64;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	before_ns = (double)cpu_time_ns(pid);
	give_order();
	assert_true(rig_wait(rig, has_samples, ENOUGH));
	for (size_t i = 0; i < 3 && rates->next[i]; i++) {
		set_rate(rig, pid, rates->next[i]);
		assert_true(rig_wait(rig, has_samples, rig->status.events[0].samples + ENOUGH));
	}
	stop_child(pid);
	rig_stop(rig);
	counted_ns = scope == SCOPE_CPU ? (double)cpu_time_ns(pid) - before_ns
					: (double)rig->status.events[0].count;
	check_clock(rig, counted_ns, stolen_ns() - stolen, longest_ns(all, 4, rates->freq_hz),
		scope == SCOPE_CPU);
	end_child(pid);
	close_pipes();
	rig_free(rig);
}

static bool has_used(struct rig *rig, uint64_t ns)
{
	return cpu_time_ns(rig->config.target.pids[0]) >= ns;
}

/* The snapshot's rings contain samples of both rates. */
static void test_flight(void **state)
{
	static const uint64_t rates[] = {2000, 100, 4000, 500};
	struct rig *rig = rig_new("task-clock", rates[0], 0);
	pid_t pid = start_child(body_burn, NULL);
	double stolen = stolen_ns();

	(void)state;
	need_events();
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_TASK;
	rig->config.callchain = false;
	rig->config.flight_s = 60;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	for (size_t i = 1; i < 4; i++) {
		assert_true(rig_wait(rig, has_used, cpu_time_ns(pid) + NS_PER_S / 4));
		set_rate(rig, pid, rates[i]);
	}
	assert_true(rig_wait(rig, has_used, cpu_time_ns(pid) + NS_PER_S / 4));
	rig_stop(rig);
	check_clock(rig, (double)rig->status.events[0].count, stolen_ns() - stolen,
		longest_ns(rates, 4, true), false);
	end_child(pid);
	rig_free(rig);
}

static const struct rates clocks[] = {
	{.event = "cpu-clock", .freq_hz = 997, .next = {3989, 499, 1999}},
	{.event = "task-clock", .freq_hz = 4999, .next = {499}},
	{.event = "cpu-clock", .period = 1000000, .next = {250000, 2000000}},
	{.event = "task-clock", .period = 250000, .next = {1000000, 125000}},
};

#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static void test_task(void **state)
{
	(void)state;
	need_events();
	for (size_t i = 0; i < CLOCKS; i++)
		check_rates(&clocks[i], SCOPE_TASK);
}

static void test_cpu(void **state)
{
	(void)state;
	need_cpu_wide();
	for (size_t i = 0; i < CLOCKS; i++)
		check_rates(&clocks[i], SCOPE_CPU);
}

static void body_touch(void *arg)
{
	for (;;) {
		wait_order();
		touch_pages(*(const size_t *)arg);
		tell_done();
	}
}

static struct rig *start_touching(uint64_t period, size_t *pages, pid_t *pid)
{
	struct rig *rig = rig_new("page-faults:u", 0, period);

	open_pipes();
	*pid = start_child(body_touch, pages);
	/* Room for all samples, even while the sampler does not get the CPU. */
	rig->config.callchain = false;
	rig->config.ring_pages = 512;
	rig_target(rig, pid);
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	return rig;
}

static void touch_once(void)
{
	give_order();
	wait_done();
}

static void stop_touching(struct rig *rig, pid_t pid)
{
	rig_stop(rig);
	end_child(pid);
	close_pipes();
}

/* Faults are counted without a timer: the weights miss less than one period of each rate. */
static void test_weights_of_hits(void **state)
{
	static const uint64_t periods[] = {100, 7, 1000, 10};
	size_t pages = 50000;
	uint64_t weight, most = 0;
	pid_t pid;
	struct rig *rig;

	(void)state;
	need_events();
	rig = start_touching(periods[0], &pages, &pid);
	for (size_t i = 0; i < 4; i++) {
		if (i > 0)
			assert_int_equal(engine_set_period(
						 rig->engine, rig->status.events[0].id, periods[i]),
				0);
		assert_true(rig_wait(rig, has_rate, periods[i]));
		touch_once();
		most += periods[i];
	}
	stop_touching(rig, pid);
	weight = sum_weights(rig);
	print_message("weight %lu of %lu, %lu lost\n", (unsigned long)weight,
		(unsigned long)rig->status.events[0].count,
		(unsigned long)rig->status.events[0].lost);
	assert_true(rig->status.events[0].count >= 4 * pages);
	assert_int_equal(rig->status.events[0].lost, 0);
	/* Each thread of a sanitizer has a last period of its own. */
	if (amounts_count())
		assert_in_range(rig->status.events[0].count - weight, 0, most);
	rig_free(rig);
}

/* Hits with the old period must not count for the new one. */
static void test_hits_before_a_change(void **state)
{
	size_t pages = 50000;
	pid_t pid;
	struct rig *rig;

	(void)state;
	need_events();
	rig = start_touching(20000, &pages, &pid);
	touch_once();
	assert_int_equal(engine_set_period(rig->engine, rig->status.events[0].id, 1000), 0);
	assert_true(rig_wait(rig, has_rate, 1000));
	stop_touching(rig, pid);
	assert_int_equal(rig->status.events[0].held_back, 0);
	assert_true(rig->status.events[0].covered == rig->status.events[0].coverable);
	rig_free(rig);
}

static bool is_paused(struct rig *rig, uint64_t paused)
{
	return rig->status.paused == paused;
}

/* A pause is no loss, since the user asked for it. */
static void test_pause(void **state)
{
	const struct engine_event_status *event;
	size_t pages = 20500;
	pid_t pid;
	struct rig *rig;

	(void)state;
	need_events();
	rig = start_touching(1000, &pages, &pid);
	event = &rig->status.events[0];
	touch_once();
	assert_true(rig_wait(rig, has_samples, 20));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(engine_pause(rig->engine, true), 0);
		assert_true(rig_wait(rig, is_paused, true));
		touch_once();
		assert_int_equal(engine_pause(rig->engine, false), 0);
		assert_true(rig_wait(rig, is_paused, false));
		touch_once();
	}
	stop_touching(rig, pid);
	assert_true(event->count >= 5 * pages);
	/* Three of the five passes are sampled.  Sanitizers touch new memory, too. */
	const uint64_t expected = event->count * 3 / 5 / 1000;
	if (amounts_count())
		assert_in_range(event->samples, expected - 2, expected + 2);
	assert_int_equal(event->lost, 0);
	assert_int_equal(event->held_back, 0);
	assert_true(event->covered == event->coverable);
	assert_false(has_note(rig, NOTE_LOST));
	rig_free(rig);
}

/* Hits below a whole period do not change coverage. */
static void test_period_never_reached(void **state)
{
	size_t pages = 1000;
	pid_t pid;
	struct rig *rig;

	(void)state;
	need_events();
	rig = start_touching(100000000, &pages, &pid);
	touch_once();
	stop_touching(rig, pid);
	assert_true(rig->status.events[0].count >= pages);
	assert_true(rig->status.events[0].coverable == 0);
	rig_free(rig);
}

/* Linux skips timer periods if the timer is too fast for the machine.  Their time has no
 * samples. */
static void test_skipped_periods(void **state)
{
	const struct engine_event_status *event;
	double weight, counted, share;
	struct rig *rig;
	pid_t pid;

	(void)state;
	need_events();
	rig = rig_new("cpu-clock", 100000, 0);
	event = &rig->status.events[0];
	pid = start_child(body_burn, NULL);
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_samples, 10000));
	stop_child(pid);
	rig_stop(rig);
	end_child(pid);
	weight = (double)sum_weights(rig) + (double)event->lost * 1e4;
	counted = (double)event->count;
	share = event->covered / event->coverable;
	print_message("weight %.3f of %.3f s, coverage %.1f%%\n", weight / 1e9, counted / 1e9,
		100 * share);
	if (!event->user_only) {
		assert_true(event->coverable > 0);
		assert_true(share <= weight / counted + 0.03);
	}
	rig_free(rig);
}

/* Idle CPUs do not lower the coverage of a busy one, even where their timers sleep. */
static void test_idle_cpus(void **state)
{
	const struct engine_event_status *event;
	double weight, used, share;
	struct rig *rig;
	pid_t pid;

	(void)state;
	need_cpu_wide();
	rig = rig_new("cpu-clock", 997, 0);
	event = &rig->status.events[0];
	pid = start_child(body_burn, NULL);
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_CPU;
	rig_start(rig);
	assert_true(rig_wait(rig, is_attached, 0));
	assert_true(rig_wait(rig, has_used, cpu_time_ns(pid) + 3 * NS_PER_S));
	stop_child(pid);
	rig_stop(rig);
	used = (double)cpu_time_ns(pid);
	end_child(pid);
	weight = (double)sum_weights(rig);
	share = event->covered / event->coverable;
	print_message(
		"weight %.3f of %.3f s, coverage %.1f%%\n", weight / 1e9, used / 1e9, 100 * share);
	if (amounts_count())
		assert_true(share >= weight / used - 0.05);
	rig_free(rig);
}

static void *burn_short(void *arg)
{
	struct timespec used;

	do {
		burn(1000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (used.tv_nsec < 3000000);
	return arg;
}

static void body_short_threads(void *arg)
{
	pthread_t thread;

	while (!pthread_create(&thread, NULL, burn_short, arg))
		pthread_join(thread, NULL);
}

/* Threads that end within one period have no sample.  Events of their own do not change that. */
static void test_short_threads(void **state)
{
	const struct engine_event_status *event;
	double weight, counted, share;
	struct rig *rig;
	pid_t pid;

	(void)state;
	need_events();
	rig = rig_new("cpu-clock", 100, 0);
	event = &rig->status.events[0];
	pid = start_child(body_short_threads, NULL);
	rig_target(rig, &pid);
	rig->config.scope = SCOPE_TASK;
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	if (event->user_only)
		assert_true(rig_wait(rig, has_used, cpu_time_ns(pid) + NS_PER_S));
	else
		assert_true(rig_wait(rig, has_note, NOTE_SHORT_LIVED));
	stop_child(pid);
	rig_stop(rig);
	end_child(pid);
	weight = (double)sum_weights(rig) + (double)event->lost * 1e7;
	counted = (double)event->count;
	share = event->covered / event->coverable;
	print_message("short-lived: weight %.3f of %.3f s, coverage %.1f%%\n", weight / 1e9,
		counted / 1e9, 100 * share);
	if (!event->user_only)
		assert_true(event->coverable > 0 && share <= weight / counted + 0.03);
	rig_free(rig);
}

static struct rig *start_inherited(
	const char *event, uint64_t freq_hz, void (*body)(void *), pid_t *pid)
{
	struct rig *rig = rig_new(event, freq_hz, 0);

	*pid = start_child(body, NULL);
	rig_target(rig, pid);
	rig->config.scope = SCOPE_INHERIT;
	rig_start(rig);
	return rig;
}

/* Children would keep the old rate, so a change is refused. */
static void test_inherit(void **state)
{
	struct rig *rig;
	pid_t pid;

	(void)state;
	need_events();
	rig = start_inherited("cpu-clock", 997, body_burn, &pid);
	assert_true(rig_wait(rig, is_attached, 0));
	assert_int_equal(engine_set_freq(rig->engine, rig->status.events[0].id, 1999), 0);
	assert_true(rig_wait(rig, has_note, NOTE_EVENT_REFUSED));
	assert_int_equal(rig->status.events[0].freq_hz, 997);
	rig_stop(rig);
	end_child(pid);
	rig_free(rig);
}

static void body_short_lived(void *arg)
{
	(void)arg;
	wait_order();
	execl("/bin/sh", "sh", "-c", "while :; do (:); done", (char *)NULL);
	_exit(127);
}

/* Coverage is the share of the process tree's time that has samples, including short-lived
 * tasks. */
static void test_inherited_clock(void **state)
{
	double weight, used, stolen = stolen_ns();
	const struct engine_event_status *event;
	struct rusage usage;
	struct rig *rig;
	pid_t pid;

	(void)state;
	need_events();
	open_pipes();
	rig = start_inherited("cpu-clock", 499, body_short_lived, &pid);
	event = &rig->status.events[0];
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	give_order();
	if (!event->user_only) {
		assert_true(rig_wait(rig, has_note, NOTE_SHORT_LIVED));
		assert_true(rig_wait(rig, has_used, cpu_time_ns(pid) + NS_PER_S / 4));
	}
	stop_child(pid);
	rig_stop(rig);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(wait4(pid, NULL, 0, &usage), pid);
	close_pipes();
	used = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
	weight = (double)sum_weights(rig);
	stolen = stolen_ns() - stolen;
	print_message("inherited: weight %.3f of %.3f s, rusage %.3f s, stolen %.3f s\n",
		weight / 1e9, event->coverable / 1e9, used / 1e9, stolen / 1e9);
	if (event->user_only) {
		assert_true(event->coverable == 0);
	} else {
		assert_true(event->covered <= weight && event->covered >= 0.9 * weight);
		if (amounts_count()) {
			assert_true(event->coverable <= 1.1 * used + stolen);
			/* A task's first and last steps, here 30 % of its time, have no events. */
			assert_true(event->coverable >= 0.5 * used);
		}
	}
	rig_free(rig);
}

/* A clock event limited to user space counts kernel time, too: its coverage is unknown. */
static void test_inherited_clock_of_one_side(void **state)
{
	struct rig *rig;
	pid_t pid;

	(void)state;
	need_events();
	rig = start_inherited("cpu-clock:u", 997, body_burn, &pid);
	assert_true(rig_wait(rig, has_samples, ENOUGH));
	rig_stop(rig);
	assert_true(rig->status.events[0].coverable == 0);
	end_child(pid);
	rig_free(rig);
}

static bool late_has(struct rig *rig, uint64_t n)
{
	return rig->status.n_events == 2 && rig->status.events[1].samples >= n;
}

/* An inherited event is not enabled while it is switched off or before it is added.  Here this
 * is most of the time. */
static void test_inherited_times(void **state)
{
	struct event_error error;
	struct event_spec *late;
	struct rig *rig;
	uint8_t id;
	pid_t pid;
	size_t n;

	(void)state;
	need_events();
	assert_int_equal(event_parse_list("cpu-clock", &late, &n, &error), 0);
	rig = start_inherited("task-clock", 997, body_burn, &pid);
	assert_true(rig_wait(rig, is_attached, 0));
	id = rig->status.events[0].id;
	assert_int_equal(engine_event_enable(rig->engine, id, false), 0);
	assert_true(rig_wait(rig, has_used, cpu_time_ns(pid) + 2 * NS_PER_S));
	assert_int_equal(engine_event_enable(rig->engine, id, true), 0);
	assert_int_equal(engine_event_add(rig->engine, late), 0);
	assert_true(rig_wait(rig, late_has, ENOUGH));
	rig_stop(rig);
	assert_false(has_note(rig, NOTE_SHORT_LIVED));
	for (size_t i = 0; i < 2; i++) {
		const struct engine_event_status *event = &rig->status.events[i];

		print_message("%s: running %.3f of %.3f s\n", event->name,
			(double)event->running_ns / 1e9, (double)event->enabled_ns / 1e9);
		assert_true(event->running_ns > 0);
		if (amounts_count()) {
			assert_true((double)event->running_ns > 0.6 * (double)event->enabled_ns);
			assert_true(event->covered > 0.6 * event->coverable);
		}
	}
	free(late);
	end_child(pid);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_skipped_periods),
		cmocka_unit_test(test_idle_cpus),
		cmocka_unit_test(test_short_threads),
		cmocka_unit_test(test_inherit),
		cmocka_unit_test(test_weights_of_hits),
		cmocka_unit_test(test_hits_before_a_change),
		cmocka_unit_test(test_period_never_reached),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_inherited_clock),
		cmocka_unit_test(test_inherited_clock_of_one_side),
		cmocka_unit_test(test_inherited_times),
		cmocka_unit_test(test_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
