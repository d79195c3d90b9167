/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * engine.c - creates and frees the engine; calls from other threads, which get copies.
 */
#include "sampler/engine/internal.h"

#include "sampler/control/config.h"
#include "sampler/engine/engine.h"
#include "sampler/events/cgroup.h"
#include "sampler/events/event.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

static int copy_array(void *to, const void *from, size_t n, size_t size)
{
	void **out = to;

	*out = NULL;
	if (!n)
		return 0;
	*out = calloc(n, size);
	if (!*out)
		return -ENOMEM;
	memcpy(*out, from, n * size);
	return 0;
}

static int copy_command(char *const **out, char *const *command)
{
	size_t n = 0;
	char **copy;

	while (command[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	*out = copy;
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copy[i] = strdup(command[i]);
		if (!copy[i])
			return -ENOMEM;
	}
	return 0;
}

static int spread_events(const struct engine_target *from, const struct engine_config *config,
	struct engine_config *out)
{
	struct event_spec *events = NULL;
	int ret = cgroup_spread(config->events, config->n_events, config->target.cgroups,
		from->n_cgroups, ENGINE_EVENTS_MAX, &events, &out->n_events);

	out->events = events;
	return ret == -E2BIG ? -EINVAL : ret;
}

static int copy_cgroups(struct engine *engine, const struct engine_target *from)
{
	size_t n = from->n_cgroups;
	int ret = copy_array(
		&engine->config.target.cgroups, from->cgroups, n, sizeof(*from->cgroups));

	if (ret || !n)
		return ret;
	engine->targets.cgroups = calloc(n, sizeof(*engine->targets.cgroups));
	if (!engine->targets.cgroups)
		return -ENOMEM;
	/* A cgroup that is missing when sampling begins counts as gone at the first check. */
	for (size_t i = 0; i < n; i++)
		(void)cgroup_identity(from->cgroups[i].path, &engine->targets.cgroups[i].inode);
	return 0;
}

static int copy_config(struct engine *engine, const struct engine_config *config)
{
	struct engine_target *target = &engine->config.target;
	const struct engine_target *from = &config->target;
	int ret;

	engine->config = *config;
	/* Other unwinders find unwind data through the mappings that contain it. */
	engine->scope.data_maps = config->keep_stacks || config->sample_more & PERF_SAMPLE_ADDR;
	engine->dwarf_bytes = config->stack_bytes ? config->stack_bytes : ENGINE_STACK_BYTES;
	target->command = NULL;
	engine->config.events = NULL;
	target->pids = target->tids = NULL;
	target->cpus = NULL;
	target->cgroups = NULL;
	ret = spread_events(target, config, &engine->config);
	if (!ret)
		ret = copy_cgroups(engine, from);
	if (!ret)
		ret = copy_array(&target->pids, from->pids, from->n_pids, sizeof(*from->pids));
	if (!ret)
		ret = copy_array(&target->tids, from->tids, from->n_tids, sizeof(*from->tids));
	if (!ret)
		ret = copy_array(&target->cpus, from->cpus, from->n_cpus, sizeof(*from->cpus));
	if (!ret && from->command)
		ret = copy_command(&target->command, from->command);
	return ret;
}

static void free_config(struct engine_config *config)
{
	struct engine_target *target = &config->target;

	free((void *)config->events);
	free((void *)target->pids);
	free((void *)target->tids);
	free((void *)target->cpus);
	free((void *)target->cgroups);
	if (target->command)
		for (size_t i = 0; target->command[i]; i++)
			free(target->command[i]);
	free((void *)target->command);
}

static bool only_cgroups(const struct engine_config *config)
{
	if (config->target.n_cgroups)
		return true;
	for (size_t i = 0; i < config->n_events; i++)
		if (!config->events[i].cgroup)
			return false;
	return true;
}

static bool is_valid(const struct engine_config *config)
{
	const struct engine_target *target = &config->target;

	if (!config->n_events || config->n_events > ENGINE_EVENTS_MAX || !config->events)
		return false;
	if (config->scope > SCOPE_INHERIT || (config->ring_pages & (config->ring_pages - 1)))
		return false;
	if (!flight_is_valid(config))
		return false;
	/* The kernel refuses enable_on_exec together with remove_on_exec, and CPU-wide events have
	 * no exec. */
	if (config->until_exec &&
		(engine_target_is_command(target) || target->system_wide ||
			config->scope == SCOPE_CPU || config->flight_s > 0))
		return false;
	if (config->inherit_stat && config->scope != SCOPE_INHERIT)
		return false;
	for (size_t i = 0; i < target->n_pids; i++)
		if (target->pids[i] <= 0)
			return false;
	for (size_t i = 0; i < target->n_tids; i++)
		if (target->tids[i] <= 0)
			return false;
	for (size_t i = 0; i < target->n_cpus; i++)
		if (target->cpus[i] < 0 || target->cpus[i] > UINT16_MAX)
			return false;
	if (target->command && !target->command[0])
		return false;
	if (target->system_wide)
		return !target->n_pids && !target->n_tids && !engine_target_is_command(target);
	return target->n_pids || target->n_tids || engine_target_is_command(target) ||
		target->n_cpus || only_cgroups(config);
}

/* Only CPUs given: the whole machine on those CPUs.  Only cgroups given: all CPUs. */
static int note_cpus(struct engine *engine)
{
	struct engine_target *target = &engine->config.target;

	if (!target->n_pids && !target->n_tids && !engine_target_is_command(target))
		target->system_wide = true;
	if (!target->n_cpus)
		return 0;
	for (size_t i = 0; i < target->n_cpus; i++)
		if ((size_t)target->cpus[i] >= engine->scope.cpu_wanted_len)
			engine->scope.cpu_wanted_len = (size_t)target->cpus[i] + 1;
	engine->scope.cpu_wanted = calloc(engine->scope.cpu_wanted_len, 1);
	if (!engine->scope.cpu_wanted)
		return -ENOMEM;
	for (size_t i = 0; i < target->n_cpus; i++)
		engine->scope.cpu_wanted[target->cpus[i]] = 1;
	return 0;
}

int engine_new(struct engine **out, const struct engine_config *config)
{
	struct tasks_reader reader;
	struct engine *engine;
	int ret;

	*out = NULL;
	if (!is_valid(config))
		return -EINVAL;
	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	engine->launch = (struct launch){.pid_fd = -1, .go_fd = -1, .error_fd = -1};
	engine->loop.epoll_fd = engine->loop.timer_fd = -1;
	engine->mailbox.wake_fd = -1;
	pthread_mutex_init(&engine->lock, NULL);
	engine->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = engine->notify_fd < 0 ? -errno : 0;
	if (!ret)
		ret = mailbox_init(&engine->mailbox);
	if (!ret)
		ret = notes_init(&engine->notes);
	if (!ret)
		ret = copy_config(engine, config);
	if (!ret)
		ret = note_cpus(engine);
	if (!ret) {
		tasks_reader_proc(&reader, "/proc");
		ret = ingest_init(&engine->ingest, &reader, config->memory_bytes);
		engine->has_store = !ret;
		if (!ret)
			ingest_set_changes(&engine->ingest, config->changes);
		if (!ret && config->unwind.find)
			ret = ingest_set_unwind(&engine->ingest, &config->unwind);
		engine->ingest.machine = unwind_machine();
		if (!ret && engine->scope.data_maps)
			tasks_keep_data(engine->ingest.tasks);
	}
	if (!ret)
		tap_init(engine, config->tap);
	if (ret) {
		engine_free(engine);
		return ret;
	}
	proc_limits(&engine->limits);
	if (engine->limits.pid_namespace)
		tasks_set_outside(engine->ingest.tasks);
	flight_init(engine);
	span_init(engine);
	follow_init(&engine->follow);
	engine->follow.own_threads = config->own_threads;
	idmap_init(&engine->ids);
	*out = engine;
	return 0;
}

/* The sampling thread blocks all signals, which belong to the front end. */
static int start_thread(struct engine *engine)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = -pthread_create(&engine->thread, NULL, engine_main, engine);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

int engine_start(struct engine *engine)
{
	const struct engine_target *target = &engine->config.target;
	int ret = 0;

	if (engine->has_thread)
		return -EALREADY;
	if (target->command) {
		ret = launch_fork(&engine->launch, target->command, target->command_output_fd);
		if (ret)
			return ret;
		engine->status.command_pid = engine->launch.pid;
	}
	engine->status.started_ns = engine->status.now_ns = sys_now_ns();
	engine->shared = engine->status;
	tap_time(engine, engine->status.started_ns);
	ret = start_thread(engine);
	if (!ret)
		engine->has_thread = true;
	return ret;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	if (engine->has_thread) {
		atomic_store(&engine->quit, true);
		mailbox_wake(&engine->mailbox);
		pthread_join(engine->thread, NULL);
	}
	launch_close(&engine->launch);
	span_fini(engine);
	pending_fini(engine);
	if (engine->has_store)
		ingest_fini(&engine->ingest);
	engine_free_fields(engine);
	free_config(&engine->config);
	free(engine->scope.cpu_wanted);
	idmap_fini(&engine->scope.refused);
	free(engine->targets.cgroups);
	free(engine->followed);
	notes_fini(&engine->notes);
	mailbox_fini(&engine->mailbox);
	if (engine->notify_fd >= 0)
		close(engine->notify_fd);
	pthread_mutex_destroy(&engine->lock);
	free(engine);
}

int engine_notify_fd(const struct engine *engine)
{
	return engine->notify_fd;
}

void engine_status(struct engine *engine, struct engine_status *out)
{
	pthread_mutex_lock(&engine->lock);
	*out = engine->shared;
	pthread_mutex_unlock(&engine->lock);
}

size_t engine_notes(struct engine *engine, uint64_t after, struct engine_note *out, size_t max)
{
	return notes_read(&engine->notes, after, out, max);
}

int engine_followed(struct engine *engine, int32_t **pids, size_t *n)
{
	int ret;

	pthread_mutex_lock(&engine->lock);
	*n = engine->n_followed;
	ret = copy_array(pids, engine->followed, *n, sizeof(**pids));
	pthread_mutex_unlock(&engine->lock);
	if (ret)
		*n = 0;
	return ret;
}

int engine_attach(struct engine *engine, int32_t pid)
{
	const struct mail mail = {.kind = MAIL_ATTACH, .pid = pid};

	return pid > 0 ? mailbox_post(&engine->mailbox, &mail) : -EINVAL;
}

int engine_detach(struct engine *engine, int32_t pid)
{
	const struct mail mail = {.kind = MAIL_DETACH, .pid = pid};

	return pid > 0 ? mailbox_post(&engine->mailbox, &mail) : -EINVAL;
}

int engine_event_add(struct engine *engine, const struct event_spec *spec)
{
	return engine_events_add(engine, spec, 1);
}

int engine_events_add(struct engine *engine, const struct event_spec *specs, size_t n)
{
	const struct engine_target *target = &engine->config.target;
	struct mail mail = {.kind = MAIL_EVENT_ADD};
	struct event_spec *spread;
	int ret;

	if (!n || n > ENGINE_EVENTS_MAX)
		return -EINVAL;
	ret = cgroup_spread(specs, n, target->cgroups, target->n_cgroups, ENGINE_EVENTS_MAX,
		&spread, &mail.n_specs);
	if (ret)
		return ret == -E2BIG ? -EINVAL : ret;
	mail.specs = spread;
	ret = mailbox_post(&engine->mailbox, &mail);
	free(spread);
	return ret;
}

int engine_set_call_graph(struct engine *engine, enum engine_call_graph mode)
{
	const struct mail mail = {.kind = MAIL_CALL_GRAPH, .value = mode};

	return mode < CALL_GRAPH_LBR ? mailbox_post(&engine->mailbox, &mail) : -EINVAL;
}

int engine_event_drop(struct engine *engine, uint8_t id)
{
	const struct mail mail = {.kind = MAIL_EVENT_DROP, .event = id};

	return mailbox_post(&engine->mailbox, &mail);
}

int engine_set_freq(struct engine *engine, uint8_t id, uint64_t hz)
{
	const struct mail mail = {.kind = MAIL_SET_FREQ, .event = id, .value = hz};

	return hz ? mailbox_post(&engine->mailbox, &mail) : -EINVAL;
}

int engine_set_period(struct engine *engine, uint8_t id, uint64_t period)
{
	const struct mail mail = {.kind = MAIL_SET_PERIOD, .event = id, .value = period};

	return period && period <= INT64_MAX ? mailbox_post(&engine->mailbox, &mail) : -EINVAL;
}

int engine_event_enable(struct engine *engine, uint8_t id, bool enable)
{
	const struct mail mail = {.kind = MAIL_ENABLE, .event = id, .value = enable};

	return mailbox_post(&engine->mailbox, &mail);
}

int engine_set_filter(struct engine *engine, uint8_t id, const char *filter)
{
	struct mail mail = {.kind = MAIL_FILTER, .event = id};

	if (filter && *filter) {
		mail.text = event_text(filter, strlen(filter));
		if (!mail.text)
			return -ENOMEM;
	}
	return mailbox_post(&engine->mailbox, &mail);
}

int engine_move_breakpoint(struct engine *engine, uint8_t id, uint64_t address)
{
	const struct mail mail = {.kind = MAIL_MOVE, .event = id, .value = address};

	return mailbox_post(&engine->mailbox, &mail);
}

int engine_pause(struct engine *engine, bool pause)
{
	const struct mail mail = {.kind = MAIL_PAUSE, .value = pause};

	return mailbox_post(&engine->mailbox, &mail);
}

int engine_snapshot(struct engine *engine)
{
	const struct mail mail = {.kind = MAIL_SNAPSHOT};

	return engine->config.flight_s > 0 ? mailbox_post(&engine->mailbox, &mail) : -EINVAL;
}

int engine_stop(struct engine *engine)
{
	atomic_store(&engine->stop, true);
	mailbox_wake(&engine->mailbox);
	return 0;
}

int engine_signal_command(struct engine *engine, int signal)
{
	int ret = -ESRCH;

	/* No thread reaps the command while the lock is held, so the pid is still its own. */
	pthread_mutex_lock(&engine->lock);
	if (engine->command_runs)
		ret = launch_signal(&engine->launch, signal);
	pthread_mutex_unlock(&engine->lock);
	return ret;
}

struct store *engine_store(struct engine *engine)
{
	return engine->ingest.store;
}

const struct stacks *engine_stacks(const struct engine *engine)
{
	return engine->ingest.stacks;
}

const struct tasks *engine_tasks(const struct engine *engine)
{
	return engine->ingest.tasks;
}

struct images *engine_images(struct engine *engine)
{
	return engine->ingest.images;
}
