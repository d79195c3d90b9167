/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.c - notes of the engine as sentences, for the log and reports.
 *
 * Pure functions of their arguments; any thread.
 */
#include "tui/explain/explain.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "tui/base/clean.h"
#include "tui/explain/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *scope_name(uint64_t scope)
{
	switch (scope) {
	case SCOPE_TASK:
		return "one event per thread";
	case SCOPE_CPU:
		return "events on every CPU, filtered to the followed processes";
	case SCOPE_INHERIT:
		return "inherited events (without credit)";
	default:
		return "automatic";
	}
}

const char *explain_refusal(int error)
{
	const char *sentence;

	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "not on this machine";
	case EACCES:
	case EPERM:
		return "not permitted";
	case EBUSY:
		return "in use by others";
	case EINVAL:
		return "not accepted by this kernel";
	case ENOSPC:
		return "no room left in the hardware";
	case ENOSYS:
		return "no events in this kernel";
	case EMFILE:
		return "too many open files";
	case EOVERFLOW:
		return "call chains too long";
	case EBADF:
		return "no such cgroup or group";
	case ESRCH:
		return "the target has ended";
	case ECANCELED:
		return "its group could not be opened";
	default:
		sentence = strerrordesc_np(error);
		return sentence ? sentence : "unknown error";
	}
}

static void note_refused(
	struct text *text, const struct engine_note *note, const struct proc_limits *limits)
{
	struct engine_failure failure = {
		.what = note->asked.ring ? FAIL_MMAP : FAIL_OPEN,
		.error = note->error,
		.pid = note->pid ? note->pid : -1,
		.cpu = note->cpu,
		.attr = note->attr,
		.asked = note->asked,
	};
	char sentence[1024];

	if (note->error == ECANCELED) {
		text_add(text, "'%.*s' is not counted: another event of its group was refused",
			EVENT_NAME_MAX, note->text);
		return;
	}
	memcpy(failure.event, note->text, sizeof(failure.event));
	explain_failure(&failure, limits, sentence, sizeof(sentence));
	text_add(text, "%s", sentence);
}

static void note_target(
	struct text *text, const struct engine_note *note, const struct proc_limits *limits)
{
	char how[64];

	switch (note->kind) {
	case NOTE_ATTACHED:
		text_add(text, "attached to process %" PRId32 " (%" PRIu64 " thread%s)", note->pid,
			note->value, note->value == 1 ? "" : "s");
		break;
	case NOTE_DETACHED:
		text_add(text, "detached from process %" PRId32, note->pid);
		break;
	case NOTE_ATTACH_FAILED:
		text_add(text, "cannot attach to ");
		explain_target_error(text, note->pid, note->error, limits);
		break;
	case NOTE_TARGET_EXITED:
		text_add(text, "process %" PRId32 " ended", note->pid);
		break;
	case NOTE_TARGET_EXEC:
		text_add(text, "process %" PRId32 " now runs '%.*s'", note->pid, EVENT_NAME_MAX,
			note->text);
		break;
	case NOTE_COMMAND_ENDED:
		explain_wait_status((int)note->value, how, sizeof(how));
		text_add(text, "the command (process %" PRId32 ") ended %s", note->pid, how);
		break;
	case NOTE_ALL_ENDED:
		text_add(text, "everything that was sampled has ended; the profile stays");
		break;
	case NOTE_MAPS_UNREAD:
		explain_unread(text, note);
		break;
	case NOTE_RECORDS_DROPPED:
		text_add(text,
			"out of memory: %" PRIu64 " kernel %s of new threads, programs or mappings "
			"%s dropped; tasks or names may be missing",
			note->value, note->value == 1 ? "record" : "records",
			note->value == 1 ? "was" : "were");
		break;
	default:
		text_add(text,
			"%" PRIu64
			" tasks ended before their events could be opened and are missing from the "
			"profile; -a or --scope cpu covers such short-lived tasks",
			note->value);
		break;
	}
}

static void note_limit(
	struct text *text, const struct engine_note *note, const struct proc_limits *limits)
{
	switch (note->kind) {
	case NOTE_RING_SHRUNK:
		text_add(text,
			"buffers were made smaller to fit the limits: %" PRIu64 " page%s each",
			note->value, note->value == 1 ? "" : "s");
		break;
	case NOTE_FD_LIMIT:
		if (note->needed) {
			text_add(text,
				"the limit of open files (%" PRIu64
				") is too low for every event on every CPU. Raise it with: "
				"ulimit -n %" PRIu64,
				note->value, note->needed);
			break;
		}
		text_add(text,
			"the limit of open files (%" PRIu64
			") is too low for events on every thread. Raise it with ulimit -n, or "
			"sample "
			"the whole machine with -a",
			note->value);
		break;
	default:
		text_add(text,
			"the limit of locked memory (%" PRIu64 " KiB) keeps the buffers small",
			note->value);
		if (limits->mlock_kb > 0)
			text_add(text,
				". Raise it with: sudo sysctl kernel.perf_event_mlock_kb=%" PRId64,
				limits->mlock_kb * 8);
		break;
	}
}

static void note_flow(struct text *text, const struct engine_note *note)
{
	switch (note->kind) {
	case NOTE_LOST:
		text_add(text,
			"%" PRIu64 " samples of '%.*s' were lost: the buffer was full. Sample more "
			"rarely, or use a larger --ring-pages, or --call-graph fp",
			note->value, EVENT_NAME_MAX, note->text);
		break;
	case NOTE_THROTTLED:
		text_add(text,
			"the kernel throttles '%.*s': sampling takes too much of a CPU. Lower -F",
			EVENT_NAME_MAX, note->text);
		break;
	case NOTE_UNTHROTTLED:
		text_add(text, "the kernel samples '%.*s' at full rate again", EVENT_NAME_MAX,
			note->text);
		break;
	case NOTE_SHORT_LIVED:
		text_add(text,
			"threads that use less CPU time than a period have few samples of "
			"'%.*s': %s",
			EVENT_NAME_MAX, note->text,
			note->error ? "a higher rate takes more" : "--scope cpu takes them");
		break;
	case NOTE_BORN_LATE:
		text_add(text,
			"new threads ran before their events were opened, and have no samples of "
			"that "
			"time: --scope %s samples them from the first instruction",
			note->error ? "inherit" : "cpu");
		break;
	case NOTE_CREDIT_SPENT:
		text_add(text,
			"'%.*s' paused for a moment: strobe had not yet read what was sampled. "
			"Coverage shows how much is missing",
			EVENT_NAME_MAX, note->text);
		break;
	default:
		text_add(text, "a buffer held damaged records and was skipped (%" PRIu64 " times)",
			note->value);
		break;
	}
}

/* Names the additional data that samples lack. */
static void note_less(struct text *text, const struct engine_note *note)
{
	static const struct {
		uint64_t bits;
		const char *name;
	} parts[] = {
		{PERF_SAMPLE_BRANCH_STACK, "branch stacks"},
		{PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "weights"},
		{PERF_SAMPLE_TRANSACTION, "transactions"},
		{PERF_SAMPLE_PHYS_ADDR, "physical addresses"},
		{PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE, "page sizes"},
	};
	bool first = true;

	text_add(text, "'%.*s' is sampled without ", EVENT_NAME_MAX, note->text);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!(note->value & parts[i].bits))
			continue;
		text_add(text, "%s%s", first ? "" : " and ", parts[i].name);
		first = false;
	}
	switch (note->error) {
	case 0:
		text_add(text, ": hardware counters alone tell them");
		break;
	case EOPNOTSUPP:
		text_add(text,
			": they come with hardware counters alone, and of a processor that records "
			"such branches");
		break;
	case EACCES:
	case EPERM:
		text_add(text,
			": they tell of the kernel's addresses, which this user may not see. To "
			"see them: sudo sysctl kernel.perf_event_paranoid=1");
		break;
	default:
		explain_add_error(text, note->error);
		text_add(text, ": this kernel does not take them for it");
		break;
	}
}

/* Explains why no sample reports wake-ups, and which figures remain. */
static void note_waits(struct text *text, const struct engine_note *note)
{
	text_add(text, "'%.*s': no wake-ups are seen: ", EVENT_NAME_MAX, note->text);
	switch (note->error) {
	case 0:
		text_add(text, "the recording has no samples of " EVENT_WAKEUP);
		break;
	case EXDEV:
		text_add(text, "in a pid namespace their threads have other numbers");
		break;
	case EMFILE:
	case ENFILE:
		text_add(text, "the limit of open files is too low");
		break;
	case ENOBUFS:
		text_add(text, "the limit of locked memory leaves no buffer for them");
		break;
	case ENOENT:
	case EACCES:
	case EPERM:
		text_add(text,
			"the tracepoint " EVENT_WAKEUP " needs tracefs and CAP_PERFMON or root");
		break;
	default:
		text_add(text, "the tracepoint " EVENT_WAKEUP " cannot be opened");
		explain_add_error(text, note->error);
		break;
	}
	text_add(text, ". So the time that a thread waited for a CPU after it was woken %s",
		note->value ? "is a sum by thread: [waited for a CPU] in preempted"
			    : "counts as off-cpu");
}

/* Reports a new filter, or why it was refused. */
static void note_filter(struct text *text, const struct engine_note *note)
{
	const struct explain_request request = {
		.event = note->text,
		.attr = &note->attr,
		.pid = -1,
		.cpu = -1,
		.filter = note->asked.filter ? note->asked.filter : "",
	};
	struct explain_system system;

	if (!note->error) {
		text_add(text, "'%.*s' has a new filter", EVENT_NAME_MAX, note->text);
		return;
	}
	explain_system_read(&system, &request, note->error);
	explain_filter(text, &request, note->error, &system);
	text_add(text, ". The one before stays in force");
}

static void note_call_graph(struct text *text, const struct engine_note *note)
{
	static const char *const how[CALL_GRAPH_MODES] = {
		[CALL_GRAPH_AUTO] = "by unwind tables, of single hits by frame pointers",
		[CALL_GRAPH_FP] = "by frame pointers",
		[CALL_GRAPH_DWARF] = "by unwind tables, from copies of stacks",
		[CALL_GRAPH_NO] = "none are taken",
		[CALL_GRAPH_LBR] = "by the processor's call stack",
	};
	const enum engine_call_graph mode = (enum engine_call_graph)note->value % CALL_GRAPH_MODES;

	if (!note->error) {
		text_add(text, "call chains: '%s', %s", engine_call_graph_name(mode), how[mode]);
		return;
	}
	text_add(
		text, "call chains cannot be taken in the mode '%s'", engine_call_graph_name(mode));
	if (note->error == EBUSY)
		text_add(
			text, ": inherited events, the flight recorder and recordings keep theirs");
	else if (note->error == EOPNOTSUPP)
		text_add(text, ": this machine's code cannot be unwound by tables");
	else
		explain_add_error(text, note->error);
	text_add(text, ". The mode before stays in force");
}

static void note_event(struct text *text, const struct engine_note *note)
{
	int max = EVENT_NAME_MAX;

	switch (note->kind) {
	case NOTE_LESS_PRECISE:
		text_add(text,
			"'%.*s' is sampled with precision %" PRIu64
			", the most that this processor has for it%s",
			max, note->text, note->value,
			note->value ? "" : ": addresses may be some instructions late");
		break;
	case NOTE_SAMPLES_LESS:
		note_less(text, note);
		break;
	case NOTE_COUNTS_ONLY:
		text_add(text, "'%.*s' is counted and takes no samples: its unit has no interrupt",
			max, note->text);
		break;
	case NOTE_SPANS_DROPPED:
		text_add(text,
			"'%.*s': %" PRIu64
			" time%s that a thread waited %s missing, for records of "
			"its switches were lost",
			max, note->text[0] ? note->text : "off-cpu", note->value,
			note->value == 1 ? "" : "s", note->value == 1 ? "is" : "are");
		break;
	case NOTE_WAKERS_UNKNOWN:
		text_add(text,
			"'%.*s': who wakes whom is not known without the tracepoint "
			"sched:sched_waking, "
			"for which tracefs and CAP_PERFMON or root are needed",
			max, note->text);
		break;
	case NOTE_SILENT:
		explain_silent(text, note);
		break;
	case NOTE_WAITS_SUMMED:
		note_waits(text, note);
		break;
	case NOTE_WAKEUPS_LOST:
		text_add(text,
			"'%.*s': %" PRIu64
			" wake-ups were lost: the buffer was full. What a thread waited for a CPU "
			"after them counts as off-cpu. Use a larger --ring-pages",
			max, note->text, note->value);
		break;
	case NOTE_NO_CREDIT:
		text_add(text, "'%.*s': PERF_EVENT_IOC_REFRESH is refused", max, note->text);
		explain_add_error(text, note->error);
		text_add(text, ": it samples on if strobe falls behind, and losses are counted");
		break;
	case NOTE_SPANS_STACKLESS:
		text_add(text,
			"'%.*s': without the kernel no stack is taken when a thread stops running: "
			"its time is under the last stack of another event's sample, else under "
			"[off-cpu]",
			max, note->text);
		break;
	case NOTE_UNGROUPED:
		text_add(text, "the group of '%.*s' does not fit the counters", max, note->text);
		explain_add_error(text, note->error);
		text_add(text,
			": its members are counted in turn, so compare their rates, not their "
			"counts");
		break;
	case NOTE_EVENT_ENABLED:
		text_add(
			text, "'%.*s' is switched %s", max, note->text, note->value ? "on" : "off");
		break;
	case NOTE_FILTER:
		note_filter(text, note);
		break;
	case NOTE_BREAKPOINT:
		if (note->error) {
			text_add(text, "the breakpoint '%.*s' cannot be moved to 0x%" PRIx64, max,
				note->text, note->value);
			explain_add_error(text, note->error);
			text_add(text, ": %s. It stays where it was",
				note->error == EINVAL
					? "the address is no multiple of the bytes that are watched"
					: "the kernel is older than 4.17, or the address cannot be "
					  "watched");
		} else {
			text_add(text, "the breakpoint '%.*s' watches 0x%" PRIx64 " now", max,
				note->text, note->value);
		}
		break;
	case NOTE_BPF:
		text_add(text,
			"BPF programs of others are attached to '%.*s' (%" PRIu64
			"): what they leave out is not sampled",
			max, note->text, note->value);
		break;
	case NOTE_STACK_BYTES:
		text_add(text, "samples of '%.*s' copy %" PRIu64 " bytes of the stack now", max,
			note->text, note->value);
		break;
	case NOTE_PAUSED:
		if (note->error) {
			text_add(text, "sampling cannot be paused");
			explain_add_error(text, note->error);
		} else if (note->value) {
			text_add(text,
				"output is paused: the kernel goes on counting, and samples are "
				"lost until it goes on");
		} else {
			text_add(text, "output goes on");
		}
		break;
	case NOTE_CALL_GRAPH:
		note_call_graph(text, note);
		break;
	case NOTE_PINNED_ERROR:
		text_add(text,
			"'%.*s' is pinned, and the hardware has no counter left for it: it counts "
			"no more. Drop other events, or leave out the modifier D",
			max, note->text);
		break;
	case NOTE_CGROUP_GONE:
		text_add(text, "the cgroup '%.*s' is gone: what was sampled in it stays", max,
			note->text);
		break;
	default:
		text_add(text,
			"the memory for history is full: the fields of old samples are given up "
			"(--memory gives it more)");
		break;
	}
}

static void note_flight(struct text *text, const struct engine_note *note)
{
	switch (note->kind) {
	case NOTE_FLIGHT_SHORT:
		text_add(text, "the flight recorder holds only the last %.1f s",
			(double)note->value / 1000);
		text_add(text, "%s",
			note->error ? ": the limit on locked memory leaves no more (ulimit -l, "
				      "kernel.perf_event_mlock_kb)"
				    : ": --memory gives it more");
		break;
	case NOTE_FLIGHT_TRIGGER:
		text_add(text, "the target used %" PRIu64 "%% of a CPU: a snapshot is taken",
			note->value);
		break;
	default:
		if (note->error) {
			text_add(text, "the flight recorder cannot give all it holds");
			explain_add_error(text, note->error);
			break;
		}
		text_add(text, "the flight recorder gave %" PRIu64 " sample%s", note->value,
			note->value == 1 ? "" : "s");
		if (note->reach_ns)
			text_add(text, "; what is older than %.1f s was overwritten",
				(double)note->reach_ns / 1e9);
		break;
	}
}

/* Reports notes on recordings. */
static void note_file(
	struct text *text, const struct engine_note *note, const struct proc_limits *limits)
{
	char what[EVENT_NAME_MAX + 64], why[256];

	switch (note->kind) {
	case NOTE_FILE_TRUNCATED:
		text_add(text,
			"%s%s is cut short at byte %" PRIu64 ": what is whole before it was read",
			note->text, *note->text ? " of the recording" : "the recording",
			note->value);
		break;
	case NOTE_FILE_MISSING:
		if (!note->error) {
			text_add(text, "%s of the recording is missing: the other files were read",
				note->text);
			break;
		}
		snprintf(what, sizeof(what), "%s of the recording cannot be opened", note->text);
		explain_error(what, note->error, limits, why, sizeof(why));
		text_add(text, "%s: the other files were read", why);
		break;
	case NOTE_FILE_MORE_FAULTS:
		text_add(text,
			"%" PRIu64 " more file%s of the recording %s cut, unreadable or missing",
			note->value, note->value == 1 ? "" : "s", note->value == 1 ? "is" : "are");
		break;
	case NOTE_FILE_UNFINISHED:
		text_add(text,
			"the recording was not ended properly: who recorded it, where and with "
			"which build-ids is missing");
		break;
	case NOTE_FILE_BAD_RECORDS:
		text_add(text, "%" PRIu64 " record%s of the file contradict%s %s: left out",
			note->value, note->value == 1 ? "" : "s", note->value == 1 ? "s" : "",
			note->value == 1 ? "itself" : "themselves");
		break;
	case NOTE_FILE_UNKNOWN_RECORDS:
		text_add(text, "%" PRIu64 " record%s of a kind that is not known: left out",
			note->value, note->value == 1 ? "" : "s");
		break;
	case NOTE_FILE_OUT_OF_ORDER:
		text_add(text,
			"%" PRIu64 " record%s too late in the file to be put in order: used, but "
			"near them a sample may be of another mapping or name",
			note->value, note->value == 1 ? " came" : "s came");
		break;
	case NOTE_FILE_MAPS_CUT:
		text_add(text,
			"perf gave up reading the mappings of %" PRIu64
			" process%s: addresses in %s may have no names",
			note->value, note->value == 1 ? "" : "es",
			note->value == 1 ? "it" : "them");
		break;
	case NOTE_FILE_AUX_TRUNCATED:
		text_add(text,
			"%" PRIu64 " part%s of hardware traces lack%s the end: the buffer was full",
			note->value, note->value == 1 ? "" : "s", note->value == 1 ? "s" : "");
		break;
	case NOTE_FILE_AUX_PARTIAL:
		text_add(text, "%" PRIu64 " part%s of hardware traces ha%s gaps", note->value,
			note->value == 1 ? "" : "s", note->value == 1 ? "s" : "ve");
		break;
	case NOTE_FILE_AUX_COLLISION:
		text_add(text,
			"%" PRIu64
			" sample%s of the hardware collided with another and lack%s data",
			note->value, note->value == 1 ? "" : "s", note->value == 1 ? "s" : "");
		break;
	case NOTE_FILE_EVENTS_FOLDED:
		text_add(text,
			"there are more events than strobe tells apart: %" PRIu64
			" of them are counted together as (other events)",
			note->value);
		break;
	default:
		snprintf(what, sizeof(what), "%s%s cannot be read further", note->text,
			*note->text ? " of the recording" : "the recording");
		explain_error(what, note->error, limits, why, sizeof(why));
		text_add(text, "%s, from byte %" PRIu64 " on: what came before was read", why,
			note->value);
		break;
	}
}

void explain_note(
	const struct engine_note *note, const struct proc_limits *limits, char *out, size_t size)
{
	struct text text = {0};

	switch (note->kind) {
	case NOTE_FALLBACK_CLOCK:
		if (note->error == EACCES || note->error == EPERM)
			text_add(&text, "the cycles counter is not permitted to this user");
		else
			text_add(&text,
				"this machine has no cycles counter that can be sampled, as "
				"is usual in virtual machines");
		text_add(&text, ": sampling cpu-clock, a timer, instead");
		break;
	case NOTE_USER_ONLY:
		text_add(&text, "%s the kernel is not permitted",
			note->asked.counted ? "counting" : "sampling");
		if (limits->paranoid >= 2)
			text_add(&text, " (kernel.perf_event_paranoid is %d)", limits->paranoid);
		else
			explain_add_error(&text, note->error);
		text_add(&text,
			": user space only. To see the kernel: sudo sysctl "
			"kernel.perf_event_paranoid=1");
		break;
	case NOTE_EVENT_ADDED:
		text_add(&text, "sampling '%.*s'", EVENT_NAME_MAX, note->text);
		break;
	case NOTE_EVENT_DROPPED:
		text_add(&text, "stopped sampling '%.*s'", EVENT_NAME_MAX, note->text);
		break;
	case NOTE_EVENT_REFUSED:
		note_refused(&text, note, limits);
		break;
	case NOTE_FREQUENCY:
		text_add(&text, "'%.*s' is now sampled at %" PRIu64, EVENT_NAME_MAX,
			note->text[0] ? note->text : "the event", note->value);
		break;
	case NOTE_ATTACHED:
	case NOTE_DETACHED:
	case NOTE_ATTACH_FAILED:
	case NOTE_TARGET_EXITED:
	case NOTE_TARGET_EXEC:
	case NOTE_COMMAND_ENDED:
	case NOTE_ALL_ENDED:
	case NOTE_TASKS_MISSED:
	case NOTE_RECORDS_DROPPED:
	case NOTE_MAPS_UNREAD:
		note_target(&text, note, limits);
		break;
	case NOTE_SCOPE:
		text_add(&text, "following by %s from now on", scope_name(note->value));
		break;
	case NOTE_RING_SHRUNK:
	case NOTE_FD_LIMIT:
	case NOTE_MLOCK_LIMIT:
		note_limit(&text, note, limits);
		break;
	case NOTE_LOST:
	case NOTE_THROTTLED:
	case NOTE_UNTHROTTLED:
	case NOTE_CREDIT_SPENT:
	case NOTE_SHORT_LIVED:
	case NOTE_BORN_LATE:
	case NOTE_CORRUPT_RING:
		note_flow(&text, note);
		break;
	case NOTE_CPU_OFFLINE:
		text_add(&text, "CPU %" PRIu64 " went offline", note->value);
		break;
	case NOTE_CPU_ONLINE:
		text_add(&text, "CPU %" PRIu64 " came online", note->value);
		break;
	case NOTE_COARSENED:
		text_add(&text,
			"the memory for history is full: its oldest part gets coarser in time "
			"(--memory gives it more)");
		break;
	case NOTE_COUNTS_ONLY:
	case NOTE_SAMPLES_LESS:
	case NOTE_LESS_PRECISE:
	case NOTE_UNGROUPED:
	case NOTE_EVENT_ENABLED:
	case NOTE_FILTER:
	case NOTE_BREAKPOINT:
	case NOTE_PAUSED:
	case NOTE_STACK_BYTES:
	case NOTE_CALL_GRAPH:
	case NOTE_BPF:
	case NOTE_PINNED_ERROR:
	case NOTE_CGROUP_GONE:
	case NOTE_FIELDS_DROPPED:
	case NOTE_SILENT:
	case NOTE_NO_CREDIT:
	case NOTE_SPANS_DROPPED:
	case NOTE_SPANS_STACKLESS:
	case NOTE_WAITS_SUMMED:
	case NOTE_WAKERS_UNKNOWN:
	case NOTE_WAKEUPS_LOST:
		note_event(&text, note);
		break;
	case NOTE_SNAPSHOT:
	case NOTE_FLIGHT_SHORT:
	case NOTE_FLIGHT_TRIGGER:
		note_flight(&text, note);
		break;
	case NOTE_FILE_TRUNCATED:
	case NOTE_FILE_MISSING:
	case NOTE_FILE_MORE_FAULTS:
	case NOTE_FILE_UNFINISHED:
	case NOTE_FILE_BAD_RECORDS:
	case NOTE_FILE_UNKNOWN_RECORDS:
	case NOTE_FILE_OUT_OF_ORDER:
	case NOTE_FILE_EVENTS_FOLDED:
	case NOTE_FILE_MAPS_CUT:
	case NOTE_FILE_AUX_TRUNCATED:
	case NOTE_FILE_AUX_PARTIAL:
	case NOTE_FILE_AUX_COLLISION:
	case NOTE_FILE_ERROR:
		note_file(&text, note, limits);
		break;
	default:
		text_add(&text, "note %d", (int)note->kind);
		break;
	}
	clean_string(out, size, text.bytes);
}

enum explain_level explain_note_level(const struct engine_note *note)
{
	switch (note->kind) {
	case NOTE_EVENT_REFUSED:
	case NOTE_ATTACH_FAILED:
	case NOTE_FILE_ERROR:
	case NOTE_FILE_MISSING:
	case NOTE_PINNED_ERROR:
		return EXPLAIN_ERROR;
	case NOTE_FALLBACK_CLOCK:
	case NOTE_USER_ONLY:
	case NOTE_TASKS_MISSED:
	case NOTE_RECORDS_DROPPED:
	case NOTE_MAPS_UNREAD:
	case NOTE_RING_SHRUNK:
	case NOTE_FD_LIMIT:
	case NOTE_MLOCK_LIMIT:
	case NOTE_LOST:
	case NOTE_THROTTLED:
	case NOTE_CREDIT_SPENT:
	case NOTE_SHORT_LIVED:
	case NOTE_BORN_LATE:
	case NOTE_CORRUPT_RING:
	case NOTE_CPU_OFFLINE:
	case NOTE_CGROUP_GONE:
	case NOTE_FILE_TRUNCATED:
	case NOTE_FILE_MORE_FAULTS:
	case NOTE_FILE_UNFINISHED:
	case NOTE_FILE_BAD_RECORDS:
	case NOTE_FILE_UNKNOWN_RECORDS:
	case NOTE_FILE_OUT_OF_ORDER:
	case NOTE_FILE_EVENTS_FOLDED:
	case NOTE_SILENT:
	case NOTE_FILE_MAPS_CUT:
	case NOTE_FILE_AUX_TRUNCATED:
	case NOTE_FILE_AUX_PARTIAL:
	case NOTE_FILE_AUX_COLLISION:
	case NOTE_NO_CREDIT:
	case NOTE_FIELDS_DROPPED:
	case NOTE_SPANS_DROPPED:
	case NOTE_SPANS_STACKLESS:
	case NOTE_WAITS_SUMMED:
	case NOTE_WAKERS_UNKNOWN:
	case NOTE_WAKEUPS_LOST:
	case NOTE_FLIGHT_SHORT:
	case NOTE_COUNTS_ONLY:
	case NOTE_SAMPLES_LESS:
	case NOTE_LESS_PRECISE:
	case NOTE_UNGROUPED:
		return EXPLAIN_WARNING;
	case NOTE_FILTER:
	case NOTE_BREAKPOINT:
	case NOTE_PAUSED:
	case NOTE_CALL_GRAPH:
		return note->error ? EXPLAIN_ERROR : EXPLAIN_INFO;
	case NOTE_COMMAND_ENDED:
		return note->value ? EXPLAIN_WARNING : EXPLAIN_INFO;
	default:
		return EXPLAIN_INFO;
	}
}
