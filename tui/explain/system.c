// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * system.c - see system.h: reads short files of /proc and /sys on each call.
 */
#include "tui/explain/system.h"

#include "sampler/events/catalogue.h"
#include "sampler/machine/tracefs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PMUS "/sys/bus/event_source/devices"
#define CPUS "/sys/devices/system/cpu"
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define BLACKLIST "/sys/kernel/debug/kprobes/blacklist"

/* Reads the first line of a file.  Returns false if it cannot be read. */
static bool read_line(char *out, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");
	bool good = file && fgets(out, (int)size, file);

	if (file)
		fclose(file);
	if (good)
		out[strcspn(out, "\n")] = '\0';
	return good;
}

static int read_number(const char *path)
{
	char line[32], *end;
	long value;

	if (!read_line(line, sizeof(line), path))
		return EXPLAIN_UNKNOWN;
	value = strtol(line, &end, 10);
	return end == line || *end || value < 0 || value > 1000000 ? EXPLAIN_UNKNOWN : (int)value;
}

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

static bool has_seccomp(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[128];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, "Seccomp:", 8) && strtol(line + 8, NULL, 10) == 2;
	if (file)
		fclose(file);
	return found;
}

static bool has_lockdown(void)
{
	char line[128];

	return read_line(line, sizeof(line), LOCKDOWN) && !strstr(line, "[none]");
}

static void read_cpu_pmu(struct explain_system *out)
{
	static const char *const names[] = {"cpu", "cpu_core"};
	char path[320];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !out->has_cpu_pmu; i++) {
		snprintf(path, sizeof(path), PMUS "/%s", names[i]);
		if (access(path, F_OK))
			continue;
		out->has_cpu_pmu = true;
		snprintf(path, sizeof(path), PMUS "/%s/caps/max_precise", names[i]);
		out->max_precise = read_number(path);
		snprintf(path, sizeof(path), PMUS "/%s/caps/branches", names[i]);
		out->branches = read_number(path);
		if (out->branches == EXPLAIN_UNKNOWN && out->max_precise != EXPLAIN_UNKNOWN)
			out->branches = 0; /* capabilities are listed, but not this one */
	}
}

/* Finds the PMU with the attribute's type. */
static void read_own_pmu(struct explain_system *out, uint32_t type)
{
	char path[400];
	struct dirent *entry;
	DIR *dir;

	dir = opendir(PMUS);
	while (dir && !out->pmu[0] && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), PMUS "/%s/type", entry->d_name);
		if (read_number(path) != (int)type)
			continue;
		snprintf(out->pmu, sizeof(out->pmu), "%.*s", (int)sizeof(out->pmu) - 1,
			entry->d_name);
		snprintf(path, sizeof(path), PMUS "/%s/cpumask", entry->d_name);
		out->own_cpus = read_line(out->cpus, sizeof(out->cpus), path) && out->cpus[0];
	}
	if (dir)
		closedir(dir);
}

static void read_cpus(struct explain_system *out, int cpu)
{
	char path[256], line[256];
	const char *last;

	if (read_line(line, sizeof(line), CPUS "/possible")) {
		/* "0-3,8": the highest is last. */
		last = line + strlen(line);
		while (last > line && last[-1] >= '0' && last[-1] <= '9')
			last--;
		out->possible_cpus = (int)strtol(last, NULL, 10) + 1;
	}
	if (cpu < 0)
		return;
	snprintf(path, sizeof(path), CPUS "/cpu%d/online", cpu);
	out->cpu_offline = read_number(path) == 0;
}

/* Counts the lines with the name.  The blacklist has "ffffffff81000000-ffffffff81000010\tname",
 * kallsyms has "address type name [module]". */
static size_t count_names(const char *path, const char *name, size_t len, const char *before)
{
	FILE *file = fopen(path, "re");
	char line[1024];
	size_t n = 0;

	while (file && fgets(line, sizeof(line), file)) {
		const char *at = strrchr(line, *before);

		if (*before == ' ') { /* the third word */
			at = strchr(line, ' ');
			at = at ? strchr(at + 1, ' ') : NULL;
		}
		n += at && !strncmp(at + 1, name, len) && strchr("\t\n ", at[1 + len]);
	}
	if (file)
		fclose(file);
	return n;
}

static enum explain_function find_function(const char *probe)
{
	size_t len = strcspn(probe, "+"), n;

	if (!len || probe[0] == '0')
		return FUNCTION_NOT_ASKED;
	if (count_names(BLACKLIST, probe, len, "\t"))
		return FUNCTION_BLACKLISTED;
	n = count_names("/proc/kallsyms", probe, len, " ");
	return n > 1 ? FUNCTION_AMBIGUOUS : n ? FUNCTION_KNOWN : FUNCTION_MISSING;
}

static void read_file(struct explain_system *out, const char *path)
{
	struct stat info;

	if (stat(path, &info)) {
		out->file_error = errno;
		return;
	}
	out->file_odd = !S_ISREG(info.st_mode);
	out->file_bytes = info.st_size;
	if (access(path, R_OK))
		out->file_error = errno;
}

/* Adds the field name of a declaration such as "char prev_comm[16]": its last identifier. */
static void add_field_name(struct explain_system *out, const char *declaration)
{
	size_t end = strcspn(declaration, "["), begin, len = strlen(out->fields);

	while (end && !is_name_byte(declaration[end - 1]))
		end--;
	for (begin = end; begin && is_name_byte(declaration[begin - 1]);)
		begin--;
	if (end > begin && len + end - begin + 3 < sizeof(out->fields))
		snprintf(out->fields + len, sizeof(out->fields) - len, "%s%.*s", len ? ", " : "",
			(int)(end - begin), declaration + begin);
}

static void read_fields(struct explain_system *out, const struct perf_event_attr *attr)
{
	char subsystem[EVENT_NAME_MAX], event[EVENT_NAME_MAX], *text;
	struct catalogue_field *fields;
	size_t n;

	if (attr->type != PERF_TYPE_TRACEPOINT ||
		tracefs_name_of(system_dirs(), attr->config, subsystem, event) ||
		tracefs_format(system_dirs(), subsystem, event, &text, NULL))
		return;
	if (!catalogue_parse_fields(text, &fields, &n)) {
		for (size_t i = 0; i < n; i++)
			add_field_name(out, fields[i].declaration);
		catalogue_fields_free(fields, n);
	}
	free(text);
}

void explain_system_unknown(struct explain_system *out)
{
	*out = (struct explain_system){
		.nmi_watchdog = EXPLAIN_UNKNOWN,
		.max_precise = EXPLAIN_UNKNOWN,
		.branches = EXPLAIN_UNKNOWN,
		.possible_cpus = EXPLAIN_UNKNOWN,
		.file_bytes = EXPLAIN_UNKNOWN,
	};
}

void explain_system_read(
	struct explain_system *out, const struct explain_request *request, int error)
{
	explain_system_unknown(out);
	switch (error) {
	case EPERM:
	case EACCES:
	case ENOSYS:
		out->seccomp = has_seccomp();
		out->lockdown = has_lockdown();
		break;
	default:
		break;
	}
	out->nmi_watchdog = read_number("/proc/sys/kernel/nmi_watchdog");
	read_cpu_pmu(out);
	read_cpus(out, request->cpu);
	read_own_pmu(out, request->attr->type);
	out->cgroup_gone = request->cgroup && access(request->cgroup, F_OK);
	if (request->filter)
		read_fields(out, request->attr);
	if (!request->probe)
		return;
	if (!strcmp(out->pmu, "kprobe"))
		out->function = find_function(request->probe);
	else if (!strcmp(out->pmu, "uprobe"))
		read_file(out, request->probe);
}
