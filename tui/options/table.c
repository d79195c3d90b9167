/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - every option of strobe, once.
 *
 * The manual page and the completions are checked against this table.
 */
#include "tui/options/table.h"

/* commands that sample */
#define TARGETS (ARGS_LIVE | ARGS_REPORT | ARGS_RECORD | ARGS_EXPORT | ARGS_ANNOTATE)
/* commands that show samples */
#define VIEWS (ARGS_LIVE | ARGS_REPORT | ARGS_EXPORT | ARGS_DIFF | ARGS_ANNOTATE)
#define COUNTED (TARGETS | ARGS_STAT)
#define EITHER (COUNTED | ARGS_DIFF) /* a target, or a filter */
#define TABLES (ARGS_REPORT | ARGS_DIFF | ARGS_ANNOTATE)
#define EVERY (EITHER | ARGS_ARCHIVE | ARGS_DOCTOR | ARGS_LIST)

static const struct args_option table[ARGS_TABLE_MAX] = {
	[ARG_PID] = {'p', "pid", "PID[,PID]", EITHER | ARGS_LIST, ARGS_TARGETS,
		"these processes, and the children they start from now on"},
	[ARG_TID] = {'t', "tid", "TID[,TID]", EITHER | ARGS_LIST, ARGS_TARGETS, "these threads"},
	[ARG_N] = {'n', NULL, "NAME[,NAME]", EITHER, ARGS_TARGETS,
		"processes of this command name (in report, diff and annotate, a mere number means "
		"--rows)"},
	[ARG_NAME] = {0, "name", "NAME[,NAME]", EITHER, ARGS_TARGETS,
		"the same, also for names that are numbers"},
	[ARG_USER] = {'u', "user", "USER[,USER]", COUNTED, ARGS_TARGETS,
		"processes of this user, by name or number"},
	[ARG_CPU] = {'C', "cpu", "CPUS", EITHER | ARGS_LIST, ARGS_TARGETS,
		"only what runs on these CPUs: 0-3,8"},
	[ARG_CGROUP] = {'G', "cgroup", "CGROUP[,CGROUP]", COUNTED, ARGS_TARGETS,
		"what runs in this cgroup or container, by path or id; several side by side"},
	[ARG_ALL] = {'a', "all-cpus", NULL, COUNTED | ARGS_LIST, ARGS_TARGETS,
		"the whole machine (the default where it is permitted)"},

	[ARG_INPUT] = {'i', "input", "FILE", ARGS_LIVE | ARGS_REPORT | ARGS_EXPORT | ARGS_ANNOTATE,
		ARGS_FILES, "look at this recording (as FILE alone); - is standard input"},
	[ARG_OUTPUT_FILE] = {'o', "output", "FILE",
		ARGS_RECORD | ARGS_EXPORT | ARGS_ARCHIVE | ARGS_STAT, ARGS_FILES,
		"write to this file; - is standard output"},
	[ARG_COMPRESS] = {'z', "compress", NULL, ARGS_RECORD, ARGS_FILES,
		"compress the recording (zstd)"},
	[ARG_BASELINE] = {0, "baseline", "FILE", ARGS_LIVE, ARGS_FILES,
		"compare what the screen shows with this recording"},
	[ARG_SYMFS] = {0, "symfs", "DIR", VIEWS | ARGS_ARCHIVE, ARGS_FILES,
		"look for programs and libraries below this directory first"},
	[ARG_ALL_NOTES] = {0, "all-notes", NULL, TABLES | ARGS_EXPORT, ARGS_GENERAL,
		"one note for each file, instead of one for all that it is the same of"},
	[ARG_TRUST_LOCAL] = {0, "trust-local-files", NULL, VIEWS | ARGS_ARCHIVE, ARGS_FILES,
		"take this machine's files and kernel for those of a recording from elsewhere that "
		"has no build-ids"},
	[ARG_DEBUG_DIR] = {0, "debug-dir", "DIR", VIEWS | ARGS_ARCHIVE, ARGS_FILES,
		"look for separate debug files below this directory first; may be repeated"},
	[ARG_DEBUGINFOD] = {0, "debuginfod", NULL, VIEWS | ARGS_ARCHIVE, ARGS_FILES,
		"ask the servers of $DEBUGINFOD_URLS for debug files that are not here"},

	[ARG_COMM] = {0, "comm", "NAME[,NAME]", VIEWS, ARGS_FILTERS,
		"only samples of threads with this name"},
	[ARG_IMAGE] = {0, "image", "NAME[,NAME]", VIEWS, ARGS_FILTERS,
		"only samples in this program or library, by name or path"},
	[ARG_SYMBOL] = {0, "symbol", "NAME[,NAME]", VIEWS, ARGS_FILTERS,
		"only samples in this function"},
	[ARG_ONLY] = {0, "only", "EXPRESSION", VIEWS, ARGS_FILTERS,
		"only samples that pass an expression: 'comm~^ng & !image:libc* & prev_comm:sh'; "
		"may be "
		"repeated"},
	[ARG_TIME] = {0, "time", "FROM,TO", VIEWS, ARGS_FILTERS,
		"only samples between these seconds from the start; either may be left out"},

	[ARG_EVENT] = {'e', "event", "EVENT[,EVENT]", EITHER, ARGS_SAMPLING,
		"what to sample: cycles, cpu-clock, page-faults:u ... (default: cycles, else "
		"cpu-clock); of a recording: which of its events (default: all)"},
	[ARG_WALL] = {0, "wall", NULL, TARGETS, ARGS_SAMPLING,
		"all time of threads, on the CPU, blocked and preempted: -e wall"},
	[ARG_PFM_EVENTS] = {0, "pfm-events", "NAME[,NAME]", COUNTED, ARGS_SAMPLING,
		"the same, by names of libpfm4 (of processors' manuals)"},
	[ARG_EVENT_FILTER] = {0, "filter", "FILTER", COUNTED, ARGS_SAMPLING,
		"of the tracepoints of the -e before it only those for which this is so: "
		"'prev_pid != 0'; of a PMU that traces, its address filters"},
	[ARG_BPF] = {0, "bpf", "PROGRAM", COUNTED, ARGS_SAMPLING,
		"of the events of the -e before it only those for which this BPF program, pinned "
		"at a path or id:N, does not return 0"},
	[ARG_FREQ] = {'F', "freq", "HZ", TARGETS, ARGS_SAMPLING,
		"samples per second of each CPU, or 'max' (default: 997)"},
	[ARG_PERIOD] = {'c', "count", "PERIOD", TARGETS, ARGS_SAMPLING,
		"one sample every PERIOD events, instead of -F"},
	[ARG_CHAIN] = {'g', NULL, NULL, TARGETS, ARGS_SAMPLING, "with call chains (the default)"},
	[ARG_CALL_GRAPH] = {0, "call-graph", "MODE", TARGETS, ARGS_SAMPLING,
		"how call chains are taken: fp (frame pointers), dwarf[,BYTES] (unwind tables, "
		"from copies of the stack), lbr (the processor's call stack), no, or auto: dwarf "
		"with as many bytes as chains need (default)"},
	[ARG_NO_CHAIN] = {0, "no-call-graph", NULL, TARGETS, ARGS_SAMPLING,
		"without call chains: cheaper, and total equals self; of a recording: leave them "
		"unread"},
	[ARG_MAX_STACK] = {0, "max-stack", "N", TARGETS, ARGS_SAMPLING,
		"at most N frames of a call chain (default: the kernel's limit)"},
	[ARG_KERNEL_CHAINS] = {0, "kernel-callchains", NULL, TARGETS, ARGS_SAMPLING,
		"call chains of the kernel alone"},
	[ARG_USER_CHAINS] = {0, "user-callchains", NULL, TARGETS, ARGS_SAMPLING,
		"call chains of user space alone"},
	[ARG_DATA] = {0, "data", NULL, TARGETS, ARGS_SAMPLING,
		"with the address of the data that was touched, where the event has one "
		"(page-faults, mem:, memory events), and where the processor found it"},
	[ARG_DATA_LETTER] = {'d', NULL, NULL, TARGETS & ~ARGS_LIVE, ARGS_SAMPLING,
		"the same as --data (of the screen, -d is --delay)"},
	[ARG_PHYS_DATA] = {0, "phys-data", NULL, TARGETS, ARGS_SAMPLING,
		"with the physical address of the data"},
	[ARG_DATA_PAGE_SIZE] = {0, "data-page-size", NULL, TARGETS, ARGS_SAMPLING,
		"with the size of the page that the data is in"},
	[ARG_CODE_PAGE_SIZE] = {0, "code-page-size", NULL, TARGETS, ARGS_SAMPLING,
		"with the size of the page that the code is in"},
	[ARG_WEIGHT] = {'W', "weight", NULL, TARGETS, ARGS_SAMPLING,
		"with the weight that the hardware tells: cycles of latency"},
	[ARG_TRANSACTION] = {0, "transaction", NULL, TARGETS, ARGS_SAMPLING,
		"with the state of hardware transactions: why they were aborted"},
	[ARG_BRANCH_ANY] = {'b', "branch-any", NULL, TARGETS, ARGS_SAMPLING,
		"with the branches taken before, of any kind (the same as -j any)"},
	[ARG_BRANCH_FILTER] = {'j', "branch-filter", "KIND[,KIND]", TARGETS, ARGS_SAMPLING,
		"with the branches taken before, of these kinds: any, any_call, any_ret, ind_call, "
		"ind_jmp, call, cond, in_tx, no_tx, abort_tx, of u, k and hv; save_type, ..."},
	[ARG_DURATION] = {0, "duration", "SECONDS", COUNTED, ARGS_SAMPLING, "end after this time"},
	[ARG_SCOPE] = {0, "scope", "SCOPE", TARGETS, ARGS_SAMPLING,
		"how a process tree is covered: auto, task, cpu or inherit"},
	[ARG_OWN_THREADS] = {0, "own-threads", NULL, COUNTED, ARGS_SAMPLING,
		"with the threads that the target starts from now on, but without its children"},
	[ARG_UNTIL_EXEC] = {0, "until-exec", NULL, COUNTED, ARGS_SAMPLING,
		"each process only until it executes another program"},
	[ARG_KEEP_STACKS] = {0, "keep-stacks", NULL, ARGS_RECORD, ARGS_SAMPLING,
		"write the copies of stacks for other programs to unwind, instead of call chains"},
	[ARG_NO_CREDIT] = {0, "no-credit", NULL, TARGETS, ARGS_SAMPLING,
		"let the kernel sample on when strobe falls behind"},
	[ARG_FLIGHT] = {0, "flight-recorder", "SECONDS", TARGETS, ARGS_SAMPLING,
		"let samples overwrite each other in the kernel, and take in the last SECONDS of "
		"them by key F, SIGUSR2, --flight-trigger or at the end"},
	[ARG_FLIGHT_TRIGGER] = {0, "flight-trigger", "CONDITION", TARGETS, ARGS_SAMPLING,
		"when the flight recorder is asked: cpu>80%,5 (of one CPU, for seconds)"},
	[ARG_MEMORY] = {0, "memory", "SIZE", VIEWS, ARGS_SAMPLING,
		"for the history; when it is full, old times get coarser (default: 256M)"},
	[ARG_RING_PAGES] = {0, "ring-pages", "N", TARGETS, ARGS_SAMPLING,
		"size of a kernel buffer, a power of two (default: chosen)"},
	[ARG_WAKEUP_EVENTS] = {0, "wakeup-events", "N", TARGETS, ARGS_SAMPLING,
		"take samples in when there are N of an event (default: by --watermark)"},
	[ARG_WATERMARK] = {0, "watermark", "SIZE", TARGETS, ARGS_SAMPLING,
		"take samples in when so many bytes wait (default: a quarter of the buffer)"},
	[ARG_INTERVAL] = {'I', "interval", "MS", ARGS_STAT, ARGS_SAMPLING,
		"print what was counted every so many milliseconds"},
	[ARG_STAT] = {'s', "stat", NULL, ARGS_RECORD, ARGS_SAMPLING,
		"with what each thread counted, told as it ends (of inherited events: --scope "
		"inherit)"},
	[ARG_REPEAT] = {'r', "repeat", "N", ARGS_STAT, ARGS_SAMPLING,
		"run the command N times; print means and how far they can be trusted"},
	[ARG_NO_INHERIT] = {0, "no-inherit", NULL, ARGS_STAT, ARGS_SAMPLING,
		"without the threads and children that are started from now on"},

	[ARG_FORMAT] = {0, "format", "FORMAT", TABLES | ARGS_EXPORT | ARGS_STAT | ARGS_LIST,
		ARGS_OUTPUT,
		"text, csv or json (default: text); of export: folded, speedscope, pprof, "
		"callgrind, svg, script or gecko"},
	[ARG_GROUP] = {0, "group", "KEY[,KEY]", ARGS_REPORT, ARGS_OUTPUT,
		"one row for each symbol, image, process, thread, cpu, command, address, line, "
		"event, "
		"or field of samples such as prev_comm, field:pid (default: symbol,image)"},
	[ARG_COLUMNS] = {0, "columns", "KEY", ARGS_REPORT, ARGS_OUTPUT,
		"side by side: event, cpu, thread, cgroup or none (default: none; of several "
		"cgroups: "
		"cgroup)"},
	[ARG_PER] = {0, "per", "WHAT", ARGS_STAT, ARGS_OUTPUT,
		"one row for each thread, process, cpu, core, socket or node (default: total)"},
	[ARG_PER_CPU] = {'A', "no-aggr", NULL, ARGS_STAT, ARGS_OUTPUT, "the same as --per cpu"},
	[ARG_PER_THREAD] = {0, "per-thread", NULL, ARGS_STAT, ARGS_OUTPUT,
		"the same as --per thread"},
	[ARG_CALLERS] = {0, "callers", NULL, ARGS_REPORT, ARGS_OUTPUT,
		"below each symbol who called it, as a tree"},
	[ARG_CALLEES] = {0, "callees", NULL, ARGS_REPORT, ARGS_OUTPUT,
		"below each symbol what it called, as a tree"},
	[ARG_TREE] = {0, "tree", NULL, ARGS_REPORT, ARGS_OUTPUT,
		"one tree of calls, from the outermost functions"},
	[ARG_INLINE] = {0, "inline", NULL, ARGS_REPORT | ARGS_EXPORT, ARGS_OUTPUT,
		"inlined functions are frames of their own (the default, but for export as folded "
		"and script)"},
	[ARG_NO_INLINE] = {0, "no-inline", NULL, ARGS_REPORT | ARGS_EXPORT, ARGS_OUTPUT,
		"inlined functions are a part of what they are inlined into"},
	[ARG_SORT] = {0, "sort", "SHARE", ARGS_LIVE | ARGS_REPORT, ARGS_OUTPUT,
		"self or total (default: self)"},
	[ARG_PERCENT_LIMIT] = {0, "percent-limit", "P", TABLES, ARGS_OUTPUT,
		"leave out rows whose share (of the sorted kind) is below P percent"},
	[ARG_PERCENTAGE] = {0, "percentage", "OF", ARGS_REPORT, ARGS_OUTPUT,
		"shares of what the filters let pass (relative, the default) or of everything "
		"(absolute)"},
	[ARG_NORMALIZE] = {0, "normalize", "PER", ARGS_DIFF, ARGS_OUTPUT,
		"compare what falls to a sample or to a second (default: sample)"},
	[ARG_ROWS] = {0, "rows", "ROWS", TABLES, ARGS_OUTPUT,
		"at most so many rows per event; 0 is all (default: all); of annotate without a "
		"symbol: so many functions (default: 1)"},
	[ARG_MODE] = {0, "mode", "MODE", ARGS_ANNOTATE, ARGS_OUTPUT,
		"mixed (source and instructions, the default), source or assembly"},
	[ARG_SYNTAX] = {0, "syntax", "SYNTAX", ARGS_LIVE | ARGS_ANNOTATE, ARGS_OUTPUT,
		"of x86 instructions: att (the default) or intel"},
	[ARG_SOURCE_PREFIX] = {0, "source-prefix", "FROM=TO", ARGS_LIVE | ARGS_ANNOTATE,
		ARGS_OUTPUT,
		"source files whose names begin with FROM lie below TO; a mere DIR is put before "
		"their names"},
	[ARG_SOURCE_TREE] = {0, "source-tree", "DIR", ARGS_ANNOTATE, ARGS_OUTPUT,
		"write all source files that were sampled, with counts on each line, below this "
		"new or empty directory"},
	[ARG_NAMES] = {0, "names", NULL, ARGS_LIST, ARGS_OUTPUT,
		"names alone, one a line, without trying whether they open"},
	[ARG_RAW_CELLS] = {0, "raw-cells", NULL, TABLES | ARGS_STAT | ARGS_LIST, ARGS_OUTPUT,
		"of csv: no apostrophe before text that a spreadsheet could take for a formula"},
	[ARG_CRLF] = {0, "crlf", NULL, TABLES | ARGS_STAT | ARGS_LIST, ARGS_OUTPUT,
		"of csv: rows end by CR LF, as RFC 4180 has them, instead of LF"},
	[ARG_NO_IDLE] = {0, "no-idle", NULL, VIEWS, ARGS_OUTPUT,
		"leave out the kernel's idle loop"},

	[ARG_DELAY] = {'d', "delay", "MS", ARGS_LIVE, ARGS_SCREEN,
		"milliseconds between two refreshes (default: 500)"},
	[ARG_ASCII] = {0, "ascii", NULL, ARGS_LIVE, ARGS_SCREEN, "draw with ASCII characters only"},
	[ARG_MONO] = {0, "mono", NULL, ARGS_LIVE, ARGS_SCREEN, "draw without colours"},
	[ARG_NO_MOUSE] = {0, "no-mouse", NULL, ARGS_LIVE, ARGS_SCREEN,
		"leave the mouse to the terminal"},
	[ARG_THEME] = {0, "theme", "NAME", ARGS_LIVE, ARGS_SCREEN,
		"dark, light, mono or colour-blind (default: as it was left, at first dark)"},
	[ARG_CONFIG] = {0, "config", "FILE", ARGS_LIVE, ARGS_SCREEN,
		"read settings, keys and colours from here (default: ~/.config/strobe/config)"},
	[ARG_NO_CONFIG] = {0, "no-config", NULL, ARGS_LIVE, ARGS_SCREEN,
		"neither read settings nor remember the layout"},
	[ARG_COLOR] = {0, "color", "WHEN", ARGS_LIVE, ARGS_SCREEN,
		"auto, never or always (default: auto; NO_COLOR is obeyed)"},

	[ARG_SNAPSHOT] = {0, "snapshot", "COLSxROWS", ARGS_LIVE, ARGS_SCREEN,
		"print the screen as text after --duration, and end (default: 2 seconds)"},

	[ARG_CACHE_DIR] = {0, "cache-dir", "DIR", VIEWS, ARGS_GENERAL,
		"where symbol tables are kept; '' keeps none (default: ~/.cache/strobe)"},
	[ARG_HELP] = {'h', "help", NULL, EVERY, ARGS_GENERAL, "show this help"},
	[ARG_VERSION] = {'V', "version", NULL, EVERY, ARGS_GENERAL, "show the version"},
};

const struct args_option *args_options(size_t *n)
{
	*n = ARGS_TABLE_MAX;
	return table;
}

/* Returns the option of this command with that letter, else another command's, to name it in the
 * error. */
static const struct args_option *find_letter(unsigned int command, int letter)
{
	const struct args_option *found = NULL;

	for (int i = 0; i < ARGS_TABLE_MAX; i++) {
		if (!letter || table[i].letter != letter)
			continue;
		if (table[i].commands & command)
			return &table[i];
		if (!found)
			found = &table[i];
	}
	return found;
}

void args_getopt_tables(unsigned int command, char shorts[3 * ARGS_TABLE_MAX + 4],
	struct option longs[ARGS_TABLE_MAX + 1])
{
	size_t n = 0;

	/* "+": options end at the command to run; ":": report a missing value differently from an
	 * unknown option. */
	*shorts++ = '+';
	*shorts++ = ':';
	for (int i = 0; i < ARGS_TABLE_MAX; i++) {
		if (table[i].letter && find_letter(command, table[i].letter) == &table[i]) {
			*shorts++ = table[i].letter;
			if (table[i].value)
				*shorts++ = ':';
		}
		if (table[i].name)
			longs[n++] = (struct option){table[i].name,
				table[i].value ? required_argument : no_argument, NULL,
				ARGS_ID_BASE + i};
	}
	*shorts = '\0';
	longs[n] = (struct option){0};
}

const struct args_option *args_option_of(unsigned int command, int got)
{
	if (got >= ARGS_ID_BASE)
		return got - ARGS_ID_BASE < ARGS_TABLE_MAX ? &table[got - ARGS_ID_BASE] : NULL;
	return find_letter(command, got);
}

int args_id_of(const struct args_option *option)
{
	return (int)(option - table);
}
