/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * script.c - single samples in the order of time, as `perf script` prints them.
 *
 * The store does not keep the order, so the recording is read once more.  Its loading thread prints
 * each sample.  The calling thread waits meanwhile and uses neither names nor symbols.  The second
 * reading meets the same images in the same order, so the symbols loaded for the first reading have
 * the same keys.
 */
#include "tui/export/run.h"

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "sampler/fields/fields.h"
#include "tui/base/clean.h"
#include "tui/base/giveup.h"
#include "tui/export/script_text.h"
#include "tui/session/request.h"
#include "tui/session/unwinding.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 65536
#define MEMORY_BYTES ((size_t)32 << 20) /* for the second reading, whose store is not used */

struct script {
	struct export_run *run;
	FILE *out;
	struct recording *recording;
	struct names *names;
	struct filter *filter;
	bool with_cpu[ENGINE_EVENTS_TOLD]; /* by index in profile->events */
	const struct image *known; /* last image checked, if both readings have it */
	uint32_t known_id;
	char raw[LINE_MAX_BYTES], clean[LINE_MAX_BYTES]; /* line being printed */
	int failed; /* -errno of writing */
	bool takes_signals; /* the loading thread, which writes, has taken over the signals */
};

/* Whether an image of this reading had the same id in the first reading. */
static bool is_same_image(void *ctx, uint32_t id)
{
	struct script *script = ctx;
	const struct image *here, *there;

	if (script->known && script->known_id == id)
		return true;
	here = images_get(recording_images(script->recording), id);
	there = images_get(script->run->profile.images, id);
	if (!here || !there || here->kind != there->kind || here->inode != there->inode ||
		strcmp(here->path ? here->path : "", there->path ? there->path : ""))
		return false;
	script->known = here;
	script->known_id = id;
	return true;
}

/* Names an address of kernel code, which includes modules and functions generated at run time. */
static bool name_code(void *ctx, uint64_t address, bool with_offset, char *out, size_t size)
{
	struct script *script = ctx;
	const struct symref *symref =
		names_get(script->names, names_symref_at(script->names, IMAGE_ID_KERNEL, address));

	if (!symref->resolved)
		return false;
	if (with_offset)
		snprintf(out, size, "%s+0x%" PRIx64, symref->symbol, address - symref->start);
	else
		snprintf(out, size, "%s", symref->symbol);
	return true;
}

/* Prints the data of a tracepoint sample.  Returns false if there is none. */
static bool put_trace(struct script *script, const struct recording_sample *sample)
{
	const struct fields *fields = recording_fields(script->recording, sample->event);
	const struct fields_line_names names = {name_code, script};

	if (fields_line(fields, sample->record, &names, script->raw, sizeof(script->raw)) ==
		FIELDS_LINE_NONE)
		return false;
	/* Keep it one line. */
	for (char *at = script->raw; (at = strpbrk(at, "\t\n")); at++)
		*at = ' ';
	fputs(clean_string(script->clean, sizeof(script->clean), script->raw), script->out);
	return true;
}

static void put_sample(struct script *script, const struct recording_sample *sample,
	const struct profile_event *event, bool with_cpu)
{
	const struct record *record = sample->record;
	const struct task_label *label =
		tasks_label_get(recording_tasks(script->recording), sample->label);
	const struct script_text text = {.out = script->out,
		.stacks = recording_stacks(script->recording),
		.names = script->names,
		.inlines = script->run->profile.inlines,
		.knows_image = is_same_image,
		.ctx = script};
	bool chain = record->sample.chain_len || sample->is_span, trace;

	script_head(script->out,
		&(const struct script_head){.label = label,
			.event = event,
			.has_chain = chain,
			.cpu = with_cpu ? (int)record->id.cpu : -1,
			.time_ns = record->id.time_ns,
			.period = record->sample.period});
	trace = put_trace(script, sample);
	if (chain) {
		putc_unlocked('\n', script->out);
		script_stack(&text, sample->stack);
	} else if (trace) {
		putc_unlocked('\n', script->out);
	} else {
		putc_unlocked(' ', script->out);
		script_ip(&text, stacks_node(text.stacks, sample->stack)->frame, record->sample.ip);
	}
}

/* Applies the filters to a sample, as the only cell of a slice. */
static bool passes(struct script *script, const struct recording_sample *sample)
{
	const uint16_t cpu = (uint16_t)sample->record->id.cpu;
	const uint64_t weight = 1;
	const uint32_t count = 1;
	const struct slice slice = {.cells = 1,
		.stack = &sample->stack,
		.task = &sample->label,
		.cpu = &cpu,
		.event = &sample->event,
		.weight = &weight,
		.count = &count};
	const struct profile *profile = &script->run->profile;

	if (profile->hide_idle && profile_is_idle(profile, sample->label, sample->stack))
		return false;
	return !script->filter || filter_pass(script->filter, &slice, 0);
}

/* Whether samples of an event carry their CPU. */
static bool tells_cpu(const struct session *session, uint8_t id)
{
	for (size_t i = 0; i < recording_attr_count(session->recording); i++)
		if (recording_event_of(session->recording, i) == id)
			return recording_attr(session->recording, i)->format.sample_type &
				PERF_SAMPLE_CPU;
	return false;
}

static int tap(const struct recording_sample *sample, void *ctx)
{
	struct script *script = ctx;
	const struct profile *profile = &script->run->profile;
	int number = profile_event(profile, sample->event);

	if (!script->takes_signals)
		giveup_here(true);
	script->takes_signals = true;
	if (giveup_came())
		return -EINTR;
	if (number < 0 || !passes(script, sample))
		return 0;
	put_sample(script, sample, &profile->events[number], script->with_cpu[number]);
	if (ferror(script->out))
		script->failed = -EIO;
	return script->failed;
}

static int wait_for_end(struct script *script, struct engine_status *status)
{
	struct pollfd fds[] = {{recording_notify_fd(script->recording), POLLIN, 0},
		{script->run->taking->signal_fd, POLLIN, 0}};
	int ret = 0;

	for (;;) {
		uint64_t count;

		recording_status(script->recording, status);
		if (status->state != ENGINE_STARTING && status->state != ENGINE_RUNNING)
			return ret;
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			(void)!read(fds[0].fd, &count, sizeof(count));
		if (fds[1].revents && taking_was_interrupted(script->run->taking)) {
			recording_cancel(script->recording);
			giveup_now();
			ret = -EINTR;
		}
	}
}

static int read_again(struct script *script, struct engine_status *status)
{
	const struct session *session = &script->run->taking->session;
	const struct request *request = session->request;
	struct filter *more;
	int ret = names_new(&script->names, recording_stacks(script->recording),
		recording_images(script->recording), session->symbols);

	if (!ret)
		ret = filter_new(&script->filter, request->terms, request->n_terms,
			recording_stacks(script->recording), recording_tasks(script->recording),
			script->names);
	for (size_t i = 0; i < request->n_only && !ret; i++) {
		ret = expr_filter(&request->only[i], recording_stacks(script->recording),
			recording_tasks(script->recording), script->names, &more);
		if (!ret)
			script->filter = filter_and(script->filter, more);
	}
	if (!ret)
		ret = recording_start(script->recording);
	if (!ret)
		ret = wait_for_end(script, status);
	if (!ret && status->state == ENGINE_FAILED)
		ret = script->failed ? script->failed : -status->failure.error;
	return ret;
}

static uint64_t to_ns(double seconds)
{
	return seconds <= 0 ? 0 : seconds >= 9e9 ? UINT64_MAX : (uint64_t)(seconds * 1e9);
}

int export_script(FILE *out, struct export_run *run, int fd)
{
	const struct request *request = run->taking->request;
	struct script script = {.run = run, .out = out};
	const struct recording_config config = {.fd = fd,
		.memory_bytes = MEMORY_BYTES,
		.from_ns = to_ns(request->time_from_s),
		.to_ns = to_ns(request->time_to_s),
		/* Keeps the image ids of the first reading, as far as images can be told apart. */
		.changes = run->taking->session.changes,
		.unwind = unwinding_source(run->taking->session.unwinding),
		.tap = tap,
		.tap_ctx = &script};
	struct engine_status status = {0};
	int ret;

	for (size_t i = 0; i < run->profile.n_events; i++)
		script.with_cpu[i] = tells_cpu(&run->taking->session, run->profile.events[i].id);
	ret = recording_new(&script.recording, &config);
	if (ret)
		return ret;
	giveup_here(false);
	ret = read_again(&script, &status);
	/* First joins the loading thread, which uses the other objects. */
	recording_cancel(script.recording);
	filter_free(script.filter);
	names_free(script.names);
	recording_free(script.recording);
	giveup_here(true);
	return ret;
}
