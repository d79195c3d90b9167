/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer_features.c - the features of a recording: its machine, its command line, its events.
 *
 * The formats are those of perf.data-file-format.txt.  Data that this machine does not report is
 * left out.
 */
#include "sampler/base/grow.h"
#include "sampler/machine/pmu.h"
#include "sampler/perfdata/writer_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define STRING_ALIGN 64u
#define LINE_MAX_BYTES 1024

void writer_append(struct writer_bytes *bytes, const void *from, size_t len)
{
	if (bytes->failed || !len)
		return;
	if (grow_items(&bytes->at, &bytes->capacity, bytes->len + len, 1)) {
		bytes->failed = true;
		return;
	}
	memcpy(bytes->at + bytes->len, from, len);
	bytes->len += len;
}

static void append_32(struct writer_bytes *out, uint32_t value)
{
	writer_append(out, &value, sizeof(value));
}

static void append_64(struct writer_bytes *out, uint64_t value)
{
	writer_append(out, &value, sizeof(value));
}

/* Appends the padded length, then the text with at least one NUL of padding. */
static void append_string(struct writer_bytes *out, const char *text)
{
	static const char zeros[STRING_ALIGN];
	size_t len = strlen(text);
	size_t padded = (len / STRING_ALIGN + 1) * STRING_ALIGN;

	append_32(out, (uint32_t)padded);
	writer_append(out, text, len);
	writer_append(out, zeros, padded - len);
}

/* Finds a line "key : value" in a file.  Returns false if there is none. */
static bool find_line(const char *path, const char *key, char *value, size_t size)
{
	char line[LINE_MAX_BYTES];
	FILE *file = fopen(path, "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');
		size_t len = colon ? (size_t)(colon - line) : 0;

		while (len && strchr(" \t", line[len - 1]))
			len--;
		if (!len || len != strlen(key) || strncmp(line, key, len) != 0)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(value, size, "%s", colon);
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

static void append_cpu_description(struct writer_bytes *out)
{
	/* x86, then arm and others */
	static const char *const keys[] = {"model name", "Processor", "cpu model", "cpu"};
	char text[256];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (find_line("/proc/cpuinfo", keys[i], text, sizeof(text))) {
			append_string(out, text);
			return;
		}
}

static void append_cpu_id(struct writer_bytes *out)
{
	char vendor[64], family[32], model[32], stepping[32], text[192];
	FILE *file;

	if (find_line("/proc/cpuinfo", "vendor_id", vendor, sizeof(vendor)) &&
		find_line("/proc/cpuinfo", "cpu family", family, sizeof(family)) &&
		find_line("/proc/cpuinfo", "model", model, sizeof(model)) &&
		find_line("/proc/cpuinfo", "stepping", stepping, sizeof(stepping))) {
		snprintf(text, sizeof(text), "%s,%s,%s,%s", vendor, family, model, stepping);
		append_string(out, text);
		return;
	}
	file = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "re");
	if (file && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		append_string(out, text);
	}
	if (file)
		fclose(file);
}

static void append_memory(struct writer_bytes *out)
{
	char text[64];

	if (find_line("/proc/meminfo", "MemTotal", text, sizeof(text)))
		append_64(out, strtoull(text, NULL, 10));
}

static void append_cpus(struct writer_bytes *out)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN), configured = sysconf(_SC_NPROCESSORS_CONF);

	append_32(out, configured > 0 ? (uint32_t)configured : 1);
	append_32(out, online > 0 ? (uint32_t)online : 1);
}

static void append_cmdline(const struct writer *writer, struct writer_bytes *out)
{
	append_32(out, (uint32_t)writer->n_cmdline);
	for (size_t i = 0; i < writer->n_cmdline; i++)
		append_string(out, writer->cmdline[i]);
}

static void append_events(const struct writer *writer, struct writer_bytes *out)
{
	append_32(out, (uint32_t)writer->n_events);
	append_32(out, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < writer->n_events; i++) {
		writer_append(out, &writer->events[i].attr, sizeof(writer->events[i].attr));
		append_32(out, 1);
		append_string(out, writer->events[i].name);
		append_64(out, writer_id(i));
	}
}

/* Returns the number of events in the group that begins at event i. */
static size_t group_size(const struct writer *writer, size_t i)
{
	size_t end = i + 1;

	while (writer->events[i].group && end < writer->n_events &&
		writer->events[end].group == writer->events[i].group)
		end++;
	return end - i;
}

uint32_t writer_groups(const struct writer *writer)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < writer->n_events; i += group_size(writer, i))
		groups += group_size(writer, i) > 1;
	return groups;
}

static void append_groups(const struct writer *writer, struct writer_bytes *out)
{
	append_32(out, writer_groups(writer));
	for (size_t i = 0; i < writer->n_events; i += group_size(writer, i)) {
		size_t n = group_size(writer, i);

		if (n < 2)
			continue;
		append_string(out, "{anon_group}");
		append_32(out, (uint32_t)i);
		append_32(out, (uint32_t)n);
	}
}

/* Appends the PMUs of this machine, by the types that attributes have. */
static void append_pmus(struct writer_bytes *out)
{
	struct sysfile_names names = {0};
	uint32_t type, n = 0;

	(void)pmu_names(system_dirs(), &names);
	for (size_t i = 0; i < names.n; i++)
		n += !pmu_type(system_dirs(), names.names[i], &type);
	append_32(out, n);
	for (size_t i = 0; i < names.n && n; i++) {
		if (pmu_type(system_dirs(), names.names[i], &type))
			continue;
		append_32(out, type);
		append_string(out, names.names[i]);
		n--;
	}
	sysfile_names_fini(&names);
}

static void append_clock(const struct writer *writer, struct writer_bytes *out)
{
	struct timespec resolution;

	if (!clock_getres((clockid_t)writer->events[0].attr.clockid, &resolution))
		append_64(out,
			(uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec);
}

static void append_compression(const struct writer *writer, struct writer_bytes *out)
{
	append_32(out, 1); /* version */
	append_32(out, 1); /* zstd */
	append_32(out, WRITER_COMPRESS_LEVEL);
	append_32(out, writer->packed_to ? (uint32_t)(writer->packed_from / writer->packed_to) : 0);
	append_32(out, WRITER_PACK_BYTES);
}

size_t writer_feature_list(const struct writer *writer, enum perfdata_feature out[32])
{
	size_t n = 0;

	if (!writer->pipe && writer->tracing.len)
		out[n++] = PERFDATA_TRACING_DATA;
	if (!writer->pipe && writer->build_ids.len)
		out[n++] = PERFDATA_BUILD_ID;
	for (int feature = PERFDATA_HOSTNAME; feature <= PERFDATA_EVENT_DESC; feature++)
		out[n++] = (enum perfdata_feature)feature;
	out[n++] = PERFDATA_PMU_MAPPINGS;
	if (writer_groups(writer))
		out[n++] = PERFDATA_GROUP_DESC;
	if (!writer->pipe && writer->last_sample_ns)
		out[n++] = PERFDATA_SAMPLE_TIME;
	if (writer->n_events && writer->events[0].attr.use_clockid)
		out[n++] = PERFDATA_CLOCKID;
	if (writer->stream)
		out[n++] = PERFDATA_COMPRESSED;
	return n;
}

void writer_feature(
	const struct writer *writer, enum perfdata_feature feature, struct writer_bytes *out)
{
	struct utsname name = {0};

	uname(&name);
	switch (feature) {
	case PERFDATA_TRACING_DATA:
		writer_append(out, writer->tracing.at, writer->tracing.len);
		break;
	case PERFDATA_BUILD_ID:
		writer_append(out, writer->build_ids.at, writer->build_ids.len);
		break;
	case PERFDATA_HOSTNAME:
		append_string(out, name.nodename);
		break;
	case PERFDATA_OSRELEASE:
		append_string(out, name.release);
		break;
	case PERFDATA_VERSION:
		append_string(out, "strobe " STROBE_VERSION);
		break;
	case PERFDATA_ARCH:
		append_string(out, name.machine);
		break;
	case PERFDATA_NRCPUS:
		append_cpus(out);
		break;
	case PERFDATA_CPUDESC:
		append_cpu_description(out);
		break;
	case PERFDATA_CPUID:
		append_cpu_id(out);
		break;
	case PERFDATA_TOTAL_MEM:
		append_memory(out);
		break;
	case PERFDATA_CMDLINE:
		append_cmdline(writer, out);
		break;
	case PERFDATA_EVENT_DESC:
		append_events(writer, out);
		break;
	case PERFDATA_PMU_MAPPINGS:
		append_pmus(out);
		break;
	case PERFDATA_GROUP_DESC:
		append_groups(writer, out);
		break;
	case PERFDATA_SAMPLE_TIME:
		append_64(out, writer->first_sample_ns);
		append_64(out, writer->last_sample_ns);
		break;
	case PERFDATA_CLOCKID:
		append_clock(writer, out);
		break;
	case PERFDATA_COMPRESSED:
		append_compression(writer, out);
		break;
	default:
		break;
	}
}
