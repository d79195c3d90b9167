// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * flight.c - the flight recorder between snapshots.
 *
 * It has the rings that overwrite themselves, held side-band records, copies of rings of ended
 * threads, and the trigger.  Runs in the sampling thread.
 *
 * A side-band record is held until all samples before it are taken in or overwritten.  Samples
 * cannot use the tracker's ring: the kernel refuses to redirect an event that writes backward into
 * a forward ring (EINVAL), and side-band records must not be overwritten.  So each point has a
 * second ring, owned by a dummy.
 */
#include "sampler/engine/internal.h"
#include "sampler/kernel/attr.h"

#include "sampler/base/sysfile.h"
#include "sampler/control/config.h"
#include "sampler/control/note.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDER_MAX 14u
#define UNKNOWN_HZ 1000.0 /* assumed rate of events without a frequency */
#define HELD_BYTES_MAX ((size_t)64 << 20)
#define DAY_S 86400.0

bool flight_is_valid(const struct engine_config *config)
{
	if (!(config->flight_s >= 0) || config->flight_s > DAY_S)
		return false;
	if (config->flight_s > 0)
		return config->scope != SCOPE_INHERIT;
	return config->flight_trigger.percent <= 0;
}

void flight_init(struct engine *engine)
{
	struct flight *flight = &engine->flight;

	flight->held_end = &flight->held;
	flight->on = engine->config.flight_s > 0;
	flight->ns = (uint64_t)(engine->config.flight_s * (double)NS_PER_S);
	flight->holds_s = engine->config.flight_s;
	flight->noted_holds_s = flight->holds_s;
	flight->trigger.spec = engine->config.flight_trigger;
}

uint64_t flight_begin_ns(const struct engine *engine, uint64_t now_ns)
{
	/* CLOCK_MONOTONIC starts at boot, which may be more recent than the recorder's length. */
	return now_ns > engine->flight.ns ? now_ns - engine->flight.ns : 0;
}

static void free_kept(struct engine *engine, struct flight_kept **link)
{
	struct flight_kept *kept = *link;

	*link = kept->next;
	engine->flight.kept_bytes -= kept->copy.len;
	free(kept->copy.bytes);
	free(kept);
}

void flight_forget_kept(struct engine *engine)
{
	while (engine->flight.kept)
		free_kept(engine, &engine->flight.kept);
}

void flight_fini(struct engine *engine)
{
	struct flight *flight = &engine->flight;
	struct flight_held *next;

	for (; flight->held; flight->held = next) {
		next = flight->held->next;
		free(flight->held);
	}
	flight->held_end = &flight->held;
	flight->held_bytes = 0;
	flight_forget_kept(engine);
	flight->on = false;
}

void flight_begin(struct engine *engine)
{
	struct proc_process *processes;
	size_t n;

	if (!engine->flight.on || engine->filter || proc_list(&processes, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (!processes[i].kernel_thread)
			tasks_load_process(engine->ingest.tasks, processes[i].pid);
	free(processes);
}

/* --- rings --- */

/* Returns the bytes that a busy CPU or thread writes per second. */
static double bytes_per_second(const struct engine *engine)
{
	double bytes = 0;

	for (size_t i = 0; i < engine->status.n_events; i++) {
		const struct choice *choice = &engine->choices[i];
		const struct perf_event_attr *attr = &choice->attr;
		double hz = UNKNOWN_HZ;

		if (!choice->open || choice->counts_only)
			continue;
		if (attr->freq)
			hz = (double)attr->sample_freq;
		else if (attr_is_clock(attr) && attr->sample_period)
			hz = (double)NS_PER_S / (double)attr->sample_period;
		bytes += hz * choice->record_bytes;
	}
	return bytes > 1 ? bytes : 1;
}

/* Returns the number of points still to be opened, including this one. */
static uint64_t points_to_come(const struct engine *engine)
{
	uint64_t n = 1 + engine->attach.queue.n - engine->attach.queue.head +
		engine->attach.born.n - engine->attach.born.head;

	if (engine->status.scope == SCOPE_CPU)
		n = engine->n_points < engine->scope.n_cpus
			? engine->scope.n_cpus - engine->n_points
			: 1;
	return n;
}

/* Returns the ring order that holds flight_s seconds, rounded up, limited by the room for all
 * points.  With one ring per thread, half the room stays free for later threads. */
static unsigned int choose_order(const struct engine *engine)
{
	double wanted = bytes_per_second(engine) * engine->config.flight_s / PAGE_BYTES;
	uint64_t room = engine->config.memory_bytes / PAGE_BYTES;
	uint64_t lockable = engine_lockable_pages(engine), n = points_to_come(engine);
	unsigned int order = 0;

	room = room > engine->flight.ring_pages ? room - engine->flight.ring_pages : 0;
	if (lockable < room)
		room = lockable;
	if (engine->status.scope == SCOPE_TASK)
		room /= 2;
	room /= n;
	while (order < ORDER_MAX && (double)(1u << order) < wanted && (2ull << order) + 1 <= room)
		order++;
	return order;
}

static void note_length(struct engine *engine, double seconds, int error)
{
	struct flight *flight = &engine->flight;

	if (seconds >= flight->holds_s)
		return;
	flight->holds_s = seconds;
	/* Each new thread leaves less room for the next.  Reported again when the length falls to
	 * half of the last report. */
	if (flight->noted_holds_s < engine->config.flight_s && seconds > flight->noted_holds_s / 2)
		return;
	flight->noted_holds_s = seconds;
	engine_note(engine, NOTE_FLIGHT_SHORT, error, 0, (uint64_t)(seconds * 1000 + 0.5), NULL);
}

static int map_ring(struct engine *engine, struct flight_ring *flight, unsigned int order)
{
	int ret = backward_open(&flight->ring, flight->fd, order);
	bool limited = engine_lockable_pages(engine) != UINT64_MAX;

	while ((ret == -EPERM || ret == -ENOMEM) && order) {
		limited |= ret == -EPERM;
		ret = backward_open(&flight->ring, flight->fd, --order);
	}
	if (ret)
		return ret == -EPERM ? -ENOBUFS : ret;
	note_length(engine, (double)backward_size(flight->ring) / bytes_per_second(engine),
		limited ? EPERM : 0);
	return 0;
}

int flight_open_ring(struct engine *engine, struct point *point)
{
	unsigned int order = choose_order(engine);
	const struct sys_setup setup = {
		.callchain = engine->config.callchain,
		.backward = true,
		/* A wakeup per ring length; no thread waits for it. */
		.wakeup_bytes = PAGE_BYTES << order,
	};
	struct flight_ring *flight = calloc(1, sizeof(*flight));
	struct perf_event_attr attr;
	int ret;

	if (!flight)
		return -ENOMEM;
	sys_dummy(&attr);
	sys_setup(&attr, &engine->features, &setup);
	flight->fd = engine_open_event(engine, &attr, point->tid, point->cpu);
	if (flight->fd < 0) {
		ret = flight->fd;
		free(flight);
		return ret;
	}
	ret = map_ring(engine, flight, order);
	if (ret) {
		engine_close_event(engine, &flight->fd);
		free(flight);
		return ret;
	}
	engine->flight.ring_pages += backward_size(flight->ring) / PAGE_BYTES;
	engine->budget.locked_pages += backward_size(flight->ring) / PAGE_BYTES + 1;
	if (engine->paused)
		sys_pause(flight->fd, true);
	point->flight = flight;
	return 0;
}

void flight_close_ring(struct engine *engine, struct point *point)
{
	struct flight_ring *flight = point->flight;

	if (!flight)
		return;
	engine->flight.ring_pages -= backward_size(flight->ring) / PAGE_BYTES;
	engine->budget.locked_pages -= backward_size(flight->ring) / PAGE_BYTES + 1;
	backward_close(flight->ring);
	engine_close_event(engine, &flight->fd);
	free(flight);
	point->flight = NULL;
}

void flight_pause(struct engine *engine, bool pause)
{
	for (size_t i = 0; i < engine->n_points; i++)
		if (engine->points[i]->flight)
			sys_pause(engine->points[i]->flight->fd, pause);
}

/* --- copies of rings --- */

struct flight_kept *flight_copy(struct engine *engine, struct point *point)
{
	struct flight_ring *flight = point->flight;
	struct flight_kept *kept;
	size_t n = 0;

	for (const struct point_event *event = point->events; event; event = event->next)
		n++;
	kept = calloc(1, sizeof(*kept) + n * sizeof(kept->events[0]));
	if (!kept || backward_copy(flight->ring, flight->taken, &kept->copy) || !kept->copy.len) {
		free(kept);
		return NULL;
	}
	flight->taken = kept->copy.written;
	kept->time_ns = sys_now_ns();
	kept->of_task = point->tid >= 0;
	for (const struct point_event *event = point->events; event; event = event->next)
		kept->events[kept->n_events++] = (struct flight_event){
			.id = event->id,
			.choice = event->choice,
			.event = engine->status.events[event->choice].id,
			.sample_type = engine->choices[event->choice].format.sample_type,
			.may_share = round_may_share_id(engine, event->choice),
		};
	return kept;
}

void flight_keep(struct engine *engine, struct point *point)
{
	struct flight *flight = &engine->flight;
	struct flight_kept *kept;
	size_t room = engine->config.memory_bytes;

	if (!flight->on || !point->flight || engine->stopped)
		return;
	sys_pause(point->flight->fd, true);
	kept = flight_copy(engine, point);
	if (!kept)
		return;
	kept->next = flight->kept;
	flight->kept = kept;
	flight->kept_bytes += kept->copy.len;
	for (struct flight_kept **link = &kept->next; flight->kept_bytes > room && *link;) {
		while ((*link)->next)
			link = &(*link)->next;
		free_kept(engine, link);
		link = &kept->next;
	}
}

/* --- side-band records --- */

static void let_in_oldest(struct engine *engine)
{
	struct flight *flight = &engine->flight;
	struct flight_held *held = flight->held;
	const struct perf_event_header *header = (const void *)held->record;
	struct record record;

	if (!record_decode(&record, header, &engine->format)) {
		tap_time(engine, held->time_ns);
		if (round_take_in(engine, header, &record, held->tap) == -ENOMEM)
			engine->status.records_dropped++;
	}
	flight->held = held->next;
	if (!flight->held)
		flight->held_end = &flight->held;
	flight->held_bytes -= sizeof(*held) + header->size;
	free(held);
}

int flight_hold(struct engine *engine, const struct perf_event_header *header,
	const struct record *record, bool tap)
{
	struct flight *flight = &engine->flight;
	struct flight_held *held = malloc(sizeof(*held) + header->size);

	if (!held)
		return -ENOMEM;
	held->next = NULL;
	held->time_ns = record->id.time_ns;
	held->tap = tap;
	memcpy(held->record, header, header->size);
	*flight->held_end = held;
	flight->held_end = &held->next;
	flight->held_bytes += sizeof(*held) + header->size;
	while (flight->held_bytes > HELD_BYTES_MAX)
		let_in_oldest(engine);
	return 0;
}

void flight_let_in(struct engine *engine, uint64_t time_ns)
{
	while (engine->flight.held && engine->flight.held->time_ns <= time_ns)
		let_in_oldest(engine);
}

void flight_sweep(struct engine *engine)
{
	struct flight *flight = &engine->flight;
	uint64_t begin_ns;

	if (!flight->on)
		return;
	begin_ns = flight_begin_ns(engine, engine->round.begun_ns);
	flight_let_in(engine, begin_ns);
	for (struct flight_kept **link = &flight->kept; *link;) {
		if ((*link)->time_ns < begin_ns)
			free_kept(engine, link);
		else
			link = &(*link)->next;
	}
}

/* --- the trigger --- */

static uint64_t process_ticks(int32_t pid)
{
	struct proc_process info;
	char *text;
	size_t len;
	uint64_t ticks = 0;

	if (sysfile_read(&text, &len, "/proc/%d/stat", (int)pid))
		return 0;
	if (!proc_parse_stat(text, len, &info))
		ticks = info.cpu_ticks;
	free(text);
	return ticks;
}

static uint64_t machine_ticks(void)
{
	uint64_t ticks = 0;
	char *text;

	if (sysfile_read(&text, NULL, "/proc/stat"))
		return 0;
	(void)trigger_parse_busy(text, &ticks);
	free(text);
	return ticks;
}

/* Returns the CPU ticks since the last look.  A process met since then counts from the next look
 * on. */
static uint64_t ticks_since(struct engine *engine, bool first)
{
	struct follow_process *process;
	uint64_t sum = 0, now;
	size_t position = 0;

	if (!engine->filter) {
		now = machine_ticks();
		sum = now > engine->flight.machine_ticks ? now - engine->flight.machine_ticks : 0;
		engine->flight.machine_ticks = now;
		return first ? 0 : sum;
	}
	while ((process = idmap_next(&engine->follow.processes, &position))) {
		if (process->ended_ns)
			continue;
		now = process_ticks(process->pid);
		if (process->cpu_ticks && now > process->cpu_ticks)
			sum += now - process->cpu_ticks;
		process->cpu_ticks = now;
	}
	return first ? 0 : sum;
}

void flight_tick(struct engine *engine)
{
	struct flight *flight = &engine->flight;
	uint64_t looked_ns = flight->looked_ns, now = sys_now_ns(), ticks;
	double percent;

	if (!flight->on || flight->trigger.spec.percent <= 0 || engine->stopped)
		return;
	flight->looked_ns = now;
	ticks = ticks_since(engine, !looked_ns);
	if (!looked_ns || now <= looked_ns)
		return;
	percent = 100.0 * (double)ticks / (double)sysconf(_SC_CLK_TCK) /
		((double)(now - looked_ns) / (double)NS_PER_S);
	if (!trigger_feed(&flight->trigger, percent, now - looked_ns))
		return;
	engine->status.triggered++;
	engine_note(engine, NOTE_FLIGHT_TRIGGER, 0, 0, (uint64_t)(percent + 0.5), NULL);
	flight_snapshot(engine);
}
