/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_engine_bpf.c - BPF programs that filter samples, our own and those of others.
 *
 * Uses PERF_EVENT_IOC_SET_BPF and PERF_EVENT_IOC_QUERY_BPF.  Skipped if no program can be loaded.
 */
#include "tests/live/engine_fixture.h"
#include "tests/live/engine_orders.h"

#include "sampler/control/config.h"
#include "sampler/control/failure.h"
#include "sampler/control/note.h"
#include "sampler/counting/counting.h"
#include "sampler/events/parse.h"
#include "sampler/machine/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

#define CALLS 300

/* Loads a program that returns `answer`.  Returns its fd or -errno. */
static int load_program(uint32_t type, int32_t answer)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = answer},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

static uint32_t id_of(int program)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)program;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	assert_int_equal(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)), 0);
	return info.id;
}

static void need_tracepoints(void)
{
	if (access("/sys/kernel/tracing/available_events", R_OK)) {
		print_message("skipped: tracefs cannot be read\n");
		skip();
	}
}

static int need_program(uint32_t type, int32_t answer)
{
	int fd;

	if (type == BPF_PROG_TYPE_TRACEPOINT)
		need_tracepoints();
	fd = load_program(type, answer);
	if (fd < 0) {
		print_message("skipped: no BPF program can be loaded here: %s\n", strerror(-fd));
		skip();
	}
	return fd;
}

static const char *text_of(int program)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "id:%u", id_of(program));

	return event_text(text, (size_t)len);
}

static void body_getppid(void *arg)
{
	(void)arg;
	for (;;) {
		wait_order();
		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		burn(1000000);
		tell_done();
	}
}

static struct rig *rig_asking(
	const char *events, const char *bpf, pid_t pid, enum engine_scope scope)
{
	struct rig *rig = rig_new(events, strstr(events, "clock") ? 997 : 0, 1);

	rig->events[0].bpf = bpf;
	rig->config.scope = scope;
	rig_target(rig, &pid);
	rig_start(rig);
	return rig;
}

#define TRACEPOINT "raw_syscalls:sys_enter"

/* Hits that the program rejects are neither sampled nor counted. */
static void check_tracepoint(enum engine_scope scope, int32_t answer)
{
	int program = need_program(BPF_PROG_TYPE_TRACEPOINT, answer);
	const struct engine_event_status *event;
	struct rig *rig;
	pid_t pid;

	open_pipes();
	pid = start_child(body_getppid, NULL);
	rig = rig_asking(TRACEPOINT, text_of(program), pid, scope);
	event = &rig->status.events[0];
	close(program);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	give_order();
	wait_done();
	rig_stop(rig);
	print_message("a program that returns %d: %lu samples of %lu\n", answer,
		(unsigned long)event->samples, (unsigned long)event->count);
	assert_int_equal(event->error, 0);
	if (answer)
		assert_true(event->samples + event->lost >= CALLS);
	else
		assert_int_equal(event->samples + event->lost, 0);
	assert_null(find_note(rig, NOTE_BPF));
	end_child(pid);
	close_pipes();
	rig_free(rig);
}

static void test_program_of_tracepoint(void **state)
{
	(void)state;
	need_tracepoints();
	need_cpu_wide();
	check_tracepoint(SCOPE_TASK, 1);
	check_tracepoint(SCOPE_TASK, 0);
	/* CPU-wide there are several events; the program of the first applies to all. */
	check_tracepoint(SCOPE_CPU, 1);
	check_tracepoint(SCOPE_CPU, 0);
}

/* Counts a child's calls without sampling.  Returns the count or -errno. */
static int64_t count_calls(const char *bpf, bool by_cpu, struct engine_failure *failure)
{
	struct event_error error;
	struct event_spec *specs;
	struct counting_config config = {.target.command_output_fd = -1, .by_cpu = by_cpu};
	const struct counting_cell *cells;
	struct counting *counting;
	int64_t sum = 0;
	size_t n;
	int ret;

	open_pipes();
	const int32_t pid = start_child(body_getppid, NULL);

	assert_int_equal(event_parse_list(TRACEPOINT, &specs, &config.n_events, &error), 0);
	specs[0].bpf = bpf;
	config.events = specs;
	config.target.pids = &pid;
	config.target.n_pids = 1;
	ret = counting_open(&counting, &config, failure);
	if (!ret) {
		assert_int_equal(counting_start(counting, failure), 0);
		give_order();
		wait_done();
		counting_stop(counting);
		assert_int_equal(counting_read(counting), 0);
		cells = counting_cells(counting, &n);
		for (size_t i = 0; i < n; i++)
			sum += (int64_t)cells[i].value;
		counting_close(counting);
	}
	end_child(pid);
	close_pipes();
	free(specs);
	return ret ? ret : sum;
}

static void test_program_of_counts(void **state)
{
	int all = need_program(BPF_PROG_TYPE_TRACEPOINT, 1);
	int none = need_program(BPF_PROG_TYPE_TRACEPOINT, 0);
	int wrong = need_program(BPF_PROG_TYPE_PERF_EVENT, 1);
	struct engine_failure failure;

	(void)state;
	need_cpu_wide();
	for (int by_cpu = 0; by_cpu < 2; by_cpu++) {
		assert_true(count_calls(text_of(all), by_cpu, &failure) >= CALLS);
		assert_int_equal(count_calls(text_of(none), by_cpu, &failure), 0);
	}
	assert_int_equal(count_calls(text_of(wrong), false, &failure), -EINVAL);
	assert_int_equal(failure.what, FAIL_OPEN);
	assert_string_equal(failure.asked.bpf, text_of(wrong));
	close(all);
	close(none);
	close(wrong);
}

static bool has_count(struct rig *rig, uint64_t n)
{
	return rig->status.events[0].count >= n;
}

/* A counter still counts when its samples are rejected. */
static void test_program_of_samples(void **state)
{
	int program = need_program(BPF_PROG_TYPE_PERF_EVENT, 0);
	pid_t pid = start_child(body_both, NULL);
	struct rig *rig = rig_asking("page-faults", text_of(program), pid, SCOPE_AUTO);

	(void)state;
	need_events();
	close(program);
	assert_true(rig_wait(rig, has_count, CALLS));
	rig_stop(rig);
	assert_int_equal(rig->status.events[0].samples, 0);
	assert_int_equal(rig->status.events[0].lost, 0);
	end_child(pid);
	rig_free(rig);
}

/* Programs of others are reported, and refusals name the program. */
static void test_programs_of_others(void **state)
{
	int program = need_program(BPF_PROG_TYPE_TRACEPOINT, 1);
	int wrong = need_program(BPF_PROG_TYPE_PERF_EVENT, 1);
	pid_t pid = start_child(body_both, NULL);
	struct rig *rig = rig_new(TRACEPOINT, 0, 1);
	struct perf_event_attr attr = rig->events[0].attr;
	uint32_t ids[BPF_PROGRAMS_MAX], id = id_of(program);
	bool among = false;
	size_t n;
	int fd;

	(void)state;
	need_cpu_wide();
	attr.size = sizeof(attr);
	fd = sys_open(&attr, 0, -1);
	assert_true(fd >= 0);
	assert_int_equal(bpf_attach(fd, program), 0);
	assert_int_equal(bpf_attach(fd, program), -EEXIST);
	assert_int_equal(bpf_attached(fd, ids, &n), 0);
	for (size_t i = 0; i < n; i++)
		among |= ids[i] == id;
	assert_true(among);
	rig_target(rig, &pid);
	rig_start(rig);
	assert_true(rig_wait(rig, has_note, NOTE_BPF));
	assert_true(find_note(rig, NOTE_BPF)->value >= 1);
	rig_stop(rig);
	rig_free(rig);
	/* A request for the program that is already attached succeeds. */
	rig = rig_asking(TRACEPOINT, text_of(program), pid, SCOPE_TASK);
	assert_true(rig_wait(rig, has_note, NOTE_ATTACHED));
	assert_int_equal(rig->status.events[0].error, 0);
	assert_true(rig->status.events[0].open);
	rig_stop(rig);
	rig_free(rig);
	rig = rig_asking(TRACEPOINT, text_of(wrong), pid, SCOPE_TASK);
	assert_true(rig_wait(rig, has_note, NOTE_EVENT_REFUSED));
	assert_int_equal(find_note(rig, NOTE_EVENT_REFUSED)->error, EINVAL);
	assert_non_null(find_note(rig, NOTE_EVENT_REFUSED)->asked.bpf);
	rig_free(rig);
	close(fd);
	close(program);
	close(wrong);
	assert_int_equal(bpf_program_open("id:"), -EINVAL);
	assert_int_equal(bpf_program_open("id:1x"), -EINVAL);
	assert_int_equal(bpf_program_open("/nowhere/at/all"), -ENOENT);
	end_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_of_tracepoint),
		cmocka_unit_test(test_program_of_counts),
		cmocka_unit_test(test_program_of_samples),
		cmocka_unit_test(test_programs_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
