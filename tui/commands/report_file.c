/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_file.c - a recording's description of itself, for the head of a report.
 *
 * UI thread.
 */
#include "tui/commands/report_private.h"

#include "tui/base/clean.h"

#include <errno.h>
#include <string.h>

const char *report_record_name(unsigned int type)
{
	static const char *const kernel[] = {
		[1] = "MMAP",
		[2] = "LOST",
		[3] = "COMM",
		[4] = "EXIT",
		[5] = "THROTTLE",
		[6] = "UNTHROTTLE",
		[7] = "FORK",
		[8] = "READ",
		[9] = "SAMPLE",
		[10] = "MMAP2",
		[11] = "AUX",
		[12] = "ITRACE_START",
		[13] = "LOST_SAMPLES",
		[14] = "SWITCH",
		[15] = "SWITCH_CPU_WIDE",
		[16] = "NAMESPACES",
		[17] = "KSYMBOL",
		[18] = "BPF_EVENT",
		[19] = "CGROUP",
		[20] = "TEXT_POKE",
		[21] = "AUX_OUTPUT_HW_ID",
		[22] = "CALLCHAIN_DEFERRED",
	};
	static const char *const perf[] = {
		[0] = "ATTR",
		[1] = "EVENT_TYPE",
		[2] = "TRACING_DATA",
		[3] = "BUILD_ID",
		[4] = "FINISHED_ROUND",
		[5] = "ID_INDEX",
		[6] = "AUXTRACE_INFO",
		[7] = "AUXTRACE",
		[8] = "AUXTRACE_ERROR",
		[9] = "THREAD_MAP",
		[10] = "CPU_MAP",
		[11] = "STAT_CONFIG",
		[12] = "STAT",
		[13] = "STAT_ROUND",
		[14] = "EVENT_UPDATE",
		[15] = "TIME_CONV",
		[16] = "FEATURE",
		[17] = "COMPRESSED",
		[18] = "FINISHED_INIT",
		[19] = "COMPRESSED2",
	};
	const unsigned int first = 64; /* first type of perf's own records */

	if (type < sizeof(kernel) / sizeof(kernel[0]))
		return kernel[type];
	if (type >= first && type < first + sizeof(perf) / sizeof(perf[0]))
		return perf[type - first];
	return NULL;
}

/* Copies a text, cleaned, into the report's memory.  *out is NULL if the text is NULL or empty. */
static int take_text(struct report *report, const char *raw, const char **out)
{
	char clean[1024];

	*out = NULL;
	if (!raw || !*raw)
		return 0;
	*out = intern_text(&report->memory->texts, clean_string(clean, sizeof(clean), raw));
	return *out ? 0 : -ENOMEM;
}

static int take_command(struct report *report, const struct reader_info *info)
{
	char raw[1000];
	size_t len = 0;

	raw[0] = '\0';
	for (size_t i = 0; i < info->n_cmdline && len < sizeof(raw); i++)
		len += (size_t)snprintf(raw + len, sizeof(raw) - len, "%s%s", i ? " " : "",
			info->cmdline[i] ? info->cmdline[i] : "");
	return take_text(report, raw, &report->file.command);
}

static int take_pmus(struct report *report, const struct reader_info *info)
{
	char raw[1000];
	size_t len = 0;

	raw[0] = '\0';
	for (size_t i = 0; i < info->n_pmus && len < sizeof(raw); i++)
		len += (size_t)snprintf(raw + len, sizeof(raw) - len, "%s%.64s %u", i ? ", " : "",
			info->pmus[i].name, info->pmus[i].type);
	return take_text(report, raw, &report->file.pmus);
}

int report_gather_file(struct report *report, struct session *session)
{
	struct report_file *file = &report->file;
	const struct reader_info *info;
	int ret;

	if (!session->recording)
		return 0;
	recording_reader_status(session->recording, &report->memory->file_status);
	file->status = &report->memory->file_status;
	file->truncated = file->status->truncated;
	file->written = session->recorded_at;
	info = recording_info(session->recording);
	if (!info)
		return 0;
	file->cpus = info->cpus_online;
	file->memory_kb = info->total_mem_kb;
	ret = take_text(report, info->hostname, &file->hostname);
	if (!ret)
		ret = take_text(report, info->release, &file->release);
	if (!ret)
		ret = take_text(report, info->arch, &file->arch);
	if (!ret)
		ret = take_text(report, info->cpu_desc, &file->cpu);
	if (!ret)
		ret = take_text(report, info->perf_version, &file->perf_version);
	if (!ret)
		ret = take_pmus(report, info);
	if (!ret)
		ret = take_text(report, info->recorder, &file->recorder);
	if (!ret)
		ret = take_text(report, info->device, &file->device);
	return ret ? ret : take_command(report, info);
}
