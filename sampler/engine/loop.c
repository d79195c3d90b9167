/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop.c - the sampling thread: waits in epoll, drains, sweeps, executes commands.
 */
#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/control/status.h"
#include "sampler/engine/change.h"
#include "sampler/engine/group.h"
#include "sampler/engine/internal.h"
#include "sampler/engine/rate.h"
#include "sampler/engine/stack.h"
#include "sampler/engine/weaken.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EPOLL_BATCH 256

/* epoll data.ptr of sources that are not channels. */
static char wake_tag, timer_tag, command_tag;

void engine_fail(struct engine *engine, enum engine_failure_kind what, int error,
	const struct perf_event_attr *attr, const char *event, int32_t pid, int cpu)
{
	struct engine_failure *failure = &engine->status.failure;

	*failure = (struct engine_failure){.what = what, .error = error, .pid = pid, .cpu = cpu};
	if (attr)
		failure->attr = *attr;
	if (event)
		strncpy(failure->event, event, sizeof(failure->event) - 1);
	/* The events could be opened on the target; the kernel refused the ioctl. */
	if (engine->choices[0].ioctl_refused && (what == FAIL_OPEN || what == FAIL_TARGET)) {
		failure->what = FAIL_OPEN;
		failure->asked.ioctl = engine->choices[0].ioctl_refused;
	}
}

static int watch(struct engine *engine, int fd, void *tag)
{
	struct epoll_event interest = {.events = EPOLLIN, .data.ptr = tag};

	return epoll_ctl(engine->loop.epoll_fd, EPOLL_CTL_ADD, fd, &interest) ? -errno : 0;
}

static void set_timer(struct engine *engine, uint64_t after_ns)
{
	const struct itimerspec spec = {
		.it_value.tv_sec = (time_t)(after_ns / NS_PER_S),
		.it_value.tv_nsec = (long)(after_ns % NS_PER_S),
	};

	timerfd_settime(engine->loop.timer_fd, 0, &spec, NULL);
}

static int set_up(struct engine *engine)
{
	int ret;

	engine->loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	engine->loop.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (engine->loop.epoll_fd < 0 || engine->loop.timer_fd < 0)
		ret = -errno;
	else
		ret = watch(engine, engine->mailbox.wake_fd, &wake_tag);
	if (!ret)
		ret = watch(engine, engine->loop.timer_fd, &timer_tag);
	if (!ret && engine->launch.pid && engine->launch.pid_fd >= 0)
		ret = watch(engine, engine->launch.pid_fd, &command_tag);
	if (ret) {
		engine_fail(engine, FAIL_SYSTEM, -ret, NULL, NULL, -1, -1);
		return ret;
	}
	ret = sys_probe(&engine->features);
	if (ret) {
		struct perf_event_attr attr;

		sys_dummy(&attr);
		engine_fail(engine, FAIL_OPEN, -ret, &attr, "dummy", -1, -1);
		return ret;
	}
	sys_format(&engine->format, &engine->features, engine->config.callchain);
	return 0;
}

static void stop_sampling(struct engine *engine)
{
	uint64_t end_ns = sys_now_ns();

	engine->stopped = true;
	for (size_t i = 0; i < engine->n_points; i++)
		point_disarm(engine->points[i]);
	/* Waits for hits in flight, so that the last round includes them. */
	sys_wait_for_hits();
	engine_round(engine, true, true);
	pending_retry(engine, true);
	span_finish(engine, end_ns);
	/* The clocks of processes run on during the snapshot. */
	attach_settle_missed(engine);
	flight_snapshot(engine);
	engine_tick(engine, true);
	target_close_all(engine);
	store_finish(engine->ingest.store, engine->round.begun_ns);
	engine->news = true;
}

static void open_added(struct engine *engine, unsigned int index)
{
	bool opened = false, left_out = false;

	wake_settle(engine);
	for (size_t i = 0; i < engine->n_points && engine->choices[index].open; i++) {
		int ret = group_open(engine, engine->points[i], index, true);

		opened |= !ret;
		left_out |= opened && (ret == -EMFILE || ret == -ENFILE);
		if (!opened && (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM)) {
			choice_refuse(engine, index, -ret, engine->points[i]);
			choice_drop(engine, index);
		} else if (ret && ret != -ESRCH && engine->choices[index].open) {
			choice_refuse(engine, index, -ret, engine->points[i]);
		}
	}
	if (left_out && engine->status.scope == SCOPE_CPU)
		missing_note_fds(engine, EMFILE);
	else if (left_out)
		engine_note(engine, NOTE_FD_LIMIT, EMFILE, 0, engine->budget.fd_limit, NULL);
	missing_add(engine);
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].open && engine->choices[i].leader == index)
			engine_note(
				engine, NOTE_EVENT_ADDED, 0, 0, 0, engine->status.events[i].name);
}

static void drop_event(struct engine *engine, unsigned int index)
{
	/* Its last counts and coverage are kept. */
	choice_disarm(engine, index);
	sys_wait_for_hits();
	engine_round(engine, true, true);
	engine_tick(engine, true);
	for (unsigned int i = 0; i < engine->status.n_events; i++)
		if (engine->choices[i].open && (i == index || engine->choices[i].leader == index))
			engine_note(
				engine, NOTE_EVENT_DROPPED, 0, 0, 0, engine->status.events[i].name);
	choice_drop(engine, index);
}

static void change_event(struct engine *engine, const struct mail *mail)
{
	int found = choice_find(engine, mail->event);
	unsigned int index = (unsigned int)found;

	if (found < 0 || !engine->choices[index].open)
		return;
	switch (mail->kind) {
	case MAIL_EVENT_DROP:
		drop_event(engine, index);
		break;
	case MAIL_SET_FREQ:
		change_rate(engine, index, mail->value);
		break;
	case MAIL_SET_PERIOD:
		change_period(engine, index, mail->value);
		break;
	case MAIL_ENABLE:
		change_enabled(engine, index, mail->value != 0);
		break;
	case MAIL_FILTER:
		change_filter(engine, index, mail->text);
		break;
	case MAIL_MOVE:
		change_breakpoint(engine, index, mail->value);
		break;
	default:
		break;
	}
}

static void carry_out(struct engine *engine, const struct mail *mail)
{
	switch (mail->kind) {
	case MAIL_ATTACH:
		target_attach(engine, mail->pid, -1);
		break;
	case MAIL_DETACH:
		target_detach(engine, mail->pid);
		break;
	case MAIL_EVENT_ADD:
		choice_add_all(engine, mail->specs, mail->n_specs, open_added);
		break;
	case MAIL_PAUSE:
		change_paused(engine, mail->value != 0);
		break;
	case MAIL_CALL_GRAPH:
		change_call_graph(engine, (enum engine_call_graph)mail->value);
		break;
	case MAIL_SNAPSHOT:
		flight_snapshot(engine);
		break;
	default:
		change_event(engine, mail);
		break;
	}
}

static void take_mail(struct engine *engine)
{
	struct mail *mail;

	while (!atomic_load(&engine->quit) && (mail = mailbox_take(&engine->mailbox))) {
		if (!engine->stopped)
			carry_out(engine, mail);
		free(mail);
	}
	/* The stop follows the commands that were sent before it. */
	if (!atomic_exchange(&engine->stop, false) || engine->status.state == ENGINE_FAILED)
		return;
	if (!engine->stopped)
		stop_sampling(engine);
	engine->status.state = ENGINE_STOPPED;
	engine->news = true;
}

static bool command_ended(struct engine *engine, int *status)
{
	bool ended;

	pthread_mutex_lock(&engine->lock);
	ended = launch_ended(&engine->launch, status);
	if (ended)
		engine->command_runs = false;
	pthread_mutex_unlock(&engine->lock);
	return ended;
}

static void look_for_end(struct engine *engine)
{
	int status = 0;

	if (engine->status.command_pid && !engine->status.command_ended &&
		command_ended(engine, &status)) {
		engine->status.command_ended = true;
		engine->status.command_status = status;
		engine_note(engine, NOTE_COMMAND_ENDED, 0, engine->status.command_pid,
			(uint64_t)(unsigned int)status, NULL);
	}
	switch (engine->status.state) {
	case ENGINE_STARTING:
		if (engine->filter && !engine->targets.had_any && !engine->attach.jobs) {
			engine->status.state = ENGINE_FAILED;
			engine->news = true;
		} else if (engine->targets.had_any || !engine->filter) {
			engine->status.state = ENGINE_RUNNING;
			engine->news = true;
		}
		break;
	case ENGINE_RUNNING:
		if (target_start_stopwatch(engine)) {
			engine->status.state = ENGINE_FAILED;
			engine->news = true;
			break;
		}
		if (!target_all_gone(engine))
			break;
		/* The targets are alive, but sampling ends with the command. */
		if (engine->config.target.stopwatch && engine->status.command_ended) {
			stop_sampling(engine);
			engine->status.state = ENGINE_ENDED;
			break;
		}
		engine_round(engine, true, true);
		pending_retry(engine, false);
		if (engine->pending.len)
			break;
		flight_snapshot(engine);
		engine_tick(engine, true);
		store_finish(engine->ingest.store, engine->round.begun_ns);
		engine->status.state = ENGINE_ENDED;
		engine_note(engine, NOTE_ALL_ENDED, 0, 0, 0, NULL);
		break;
	case ENGINE_ENDED:
		if (!target_all_gone(engine))
			engine->status.state = ENGINE_RUNNING;
		break;
	case ENGINE_FAILED:
	case ENGINE_STOPPED:
		break;
	}
}

static void sweep(struct engine *engine)
{
	bool early = engine->loop.sweeps++ < EARLY_SWEEPS;

	engine_round(engine, true, false);
	pending_retry(engine, false);
	span_sweep(engine);
	span_pass(engine, engine->round.begun_ns);
	flight_sweep(engine);
	if (engine->round.begun_ns >= engine->loop.next_tick_ns) {
		target_tick(engine);
		engine_tick(engine, false);
		flight_tick(engine);
		engine->loop.next_tick_ns = engine->round.begun_ns + NS_PER_S;
	}
	stack_sweep(engine);
	if (store_seal(
		    engine->ingest.store, engine->round.begun_ns, early && !span_is_on(engine))) {
		engine->news = true;
		store_maintain(engine->ingest.store);
	}
	set_timer(engine, early ? EARLY_SWEEP_NS : engine->flight.on ? FLIGHT_SWEEP_NS : SWEEP_NS);
}

/* Marks the channels that epoll reported; returns true if the timer fired. */
static bool note_events(struct engine *engine, const struct epoll_event *events, int n)
{
	bool timer = false;
	eventfd_t woken;
	uint64_t expired;

	for (int i = 0; i < n; i++) {
		void *tag = events[i].data.ptr;
		struct channel *channel = tag;

		if (tag == &wake_tag) {
			eventfd_read(engine->mailbox.wake_fd, &woken);
		} else if (tag == &timer_tag) {
			timer |= read(engine->loop.timer_fd, &expired, sizeof(expired)) > 0;
		} else if (tag != &command_tag) {
			channel->active = true;
			if (events[i].events & (EPOLLHUP | EPOLLERR))
				channel->hup = true;
		}
	}
	return timer;
}

static void handle_hangups(struct engine *engine)
{
	for (size_t i = 0; i < engine->n_channels; i++) {
		struct channel *channel = engine->channels[i];

		if (!channel->hup || !channel->in_epoll)
			continue;
		/* A hang-up is a persistent state; epoll would report it forever. */
		epoll_ctl(engine->loop.epoll_fd, EPOLL_CTL_DEL, channel->fd, NULL);
		channel->in_epoll = false;
		if (channel->point)
			target_hup(engine, channel->point);
	}
	round_close_doomed(engine);
}

static void loop(struct engine *engine)
{
	struct epoll_event events[EPOLL_BATCH];
	bool more = true;

	set_timer(engine, EARLY_SWEEP_NS);
	while (!atomic_load(&engine->quit) && engine->status.state != ENGINE_FAILED) {
		int n = epoll_wait(engine->loop.epoll_fd, events, EPOLL_BATCH, more ? 0 : -1);
		bool hung_up = false, timer;

		if (n < 0 && errno != EINTR) {
			engine_fail(engine, FAIL_SYSTEM, errno, NULL, NULL, -1, -1);
			engine->status.state = ENGINE_FAILED;
			break;
		}
		timer = note_events(engine, events, n);
		for (int i = 0; i < n; i++)
			hung_up |= (events[i].events & (EPOLLHUP | EPOLLERR)) != 0;
		if (timer)
			sweep(engine);
		else if (n > 0)
			engine_round(engine, span_is_on(engine), false);
		if (hung_up)
			handle_hangups(engine);
		take_mail(engine);
		engine->news |= ingest_settle(&engine->ingest);
		more = target_work(engine);
		look_for_end(engine);
		if (timer || engine->news)
			engine_publish(engine);
	}
}

void *engine_main(void *arg)
{
	struct engine *engine = arg;
	int ret;

	inherited_init(&engine->inherited);
	ret = set_up(engine);
	if (!ret)
		ret = target_open_initial(engine);
	engine->round.begun_ns = sys_now_ns();
	if (ret)
		engine->status.state = ENGINE_FAILED;
	else
		look_for_end(engine);
	engine->loop.next_tick_ns = engine->round.begun_ns + NS_PER_S;
	engine->news = true;
	engine_publish(engine);
	if (!ret)
		loop(engine);
	if (engine->status.state == ENGINE_FAILED) {
		engine->news = true;
		engine_publish(engine);
	}
	target_fini(engine);
	inherited_fini(&engine->inherited);
	if (engine->loop.epoll_fd >= 0)
		close(engine->loop.epoll_fd);
	if (engine->loop.timer_fd >= 0)
		close(engine->loop.timer_fd);
	return NULL;
}
