// SPDX-License-Identifier: GPL-3.0-or-later
/* pmu.c - reads the files of one PMU's directory and parses its formats; see pmu.h. */
#include "sampler/machine/pmu.h"

#include "sampler/base/affix.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "bus/event_source/devices"
#define LINE_MAX_BYTES 4096

int pmu_names(const struct system_dirs *system, struct sysfile_names *out)
{
	return sysfile_directories(out, "%s/" DEVICES, system->sysfs);
}

/* Whether the name stays within its directory. */
static bool is_name(const char *text)
{
	return *text && strcmp(text, ".") && strcmp(text, "..") && !strchr(text, '/');
}

int pmu_type(const struct system_dirs *system, const char *name, uint32_t *type)
{
	char text[32], *end;
	unsigned long value;
	int err;

	if (!is_name(name))
		return -ENOENT;
	err = sysfile_line(text, sizeof(text), "%s/" DEVICES "/%s/type", system->sysfs, name);
	if (err)
		return err == -ENOTDIR ? -ENOENT : err;
	if (!isdigit((unsigned char)*text))
		return -EBADMSG;
	value = strtoul(text, &end, 10);
	if (*end || value > UINT32_MAX)
		return -EBADMSG;
	*type = (uint32_t)value;
	return 0;
}

/* --- formats --- */

static bool take_number(const char **at, unsigned int *out)
{
	unsigned int value = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	while (isdigit((unsigned char)**at) && value < 1000)
		value = value * 10 + (unsigned int)(*(*at)++ - '0');
	*out = value;
	return value < 64;
}

int pmu_parse_format(const char *text, struct pmu_format *out)
{
	uint64_t mask = 0;
	const char *at = text;
	unsigned int word = 0;

	if (strncmp(at, "config", 6))
		return -EINVAL;
	at += 6;
	if (*at >= '1' && *at <= '3')
		word = (unsigned int)(*at++ - '0');
	if (*at == '\0') { /* the whole word */
		out->word = word;
		out->mask = UINT64_MAX;
		return 0;
	}
	if (*at++ != ':')
		return -EINVAL;
	for (;;) {
		unsigned int first, last;

		if (!take_number(&at, &first))
			return -EINVAL;
		last = first;
		if (*at == '-') {
			at++;
			if (!take_number(&at, &last) || last < first)
				return -EINVAL;
		}
		mask |= (UINT64_MAX >> (63 - (last - first))) << first;
		if (*at != ',')
			break;
		at++;
	}
	if (*at)
		return -EINVAL;
	out->word = word;
	out->mask = mask;
	return 0;
}

bool pmu_place(uint64_t mask, uint64_t value, uint64_t *word)
{
	uint64_t placed = 0;

	for (uint64_t left = mask; left; left &= left - 1, value >>= 1)
		if (value & 1)
			placed |= left & -left;
	if (value)
		return false;
	*word = (*word & ~mask) | placed;
	return true;
}

static int read_formats(struct pmu *pmu, const struct system_dirs *system)
{
	struct sysfile_names names;
	int err = sysfile_names(&names, "%s/" DEVICES "/%s/format", system->sysfs, pmu->name);

	if (err)
		return err == -ENOMEM ? err : 0;
	pmu->formats = names.n ? calloc(names.n, sizeof(*pmu->formats)) : NULL;
	if (names.n && !pmu->formats) {
		sysfile_names_fini(&names);
		return -ENOMEM;
	}
	for (size_t i = 0; i < names.n; i++) {
		struct pmu_format *format = &pmu->formats[pmu->n_formats];
		char text[256];

		if (sysfile_line(text, sizeof(text), "%s/" DEVICES "/%s/format/%s", system->sysfs,
			    pmu->name, names.names[i]) ||
			pmu_parse_format(text, format))
			continue;
		format->name = names.names[i];
		names.names[i] = NULL;
		pmu->n_formats++;
	}
	sysfile_names_fini(&names);
	return 0;
}

const struct pmu_format *pmu_find_format(const struct pmu *pmu, const char *name, size_t len)
{
	for (size_t i = 0; i < pmu->n_formats; i++)
		if (strlen(pmu->formats[i].name) == len && !memcmp(pmu->formats[i].name, name, len))
			return &pmu->formats[i];
	return NULL;
}

/* --- events --- */

/* Whether the file is an attribute of an event, such as NAME.scale, and no event itself. */
static bool is_attribute(const char *name)
{
	return ends_with(name, ".scale") || ends_with(name, ".unit") ||
		ends_with(name, ".per-pkg") || ends_with(name, ".snapshot");
}

/* The kernel writes a decimal point in every locale. */
static double read_scale(const char *text)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double scale = 1;
	char *end;

	if (plain == (locale_t)0)
		return 1;
	scale = strtod_l(text, &end, plain);
	freelocale(plain);
	return *text && !*end && scale > 0 && scale < 1e300 ? scale : 1;
}

int pmu_event_read(
	struct pmu_event *out, const struct system_dirs *system, const char *pmu, const char *name)
{
	char line[LINE_MAX_BYTES];
	int err;

	memset(out, 0, sizeof(*out));
	if (!is_name(pmu) || !is_name(name) || is_attribute(name))
		return -ENOENT;
	err = sysfile_line(
		line, sizeof(line), "%s/" DEVICES "/%s/events/%s", system->sysfs, pmu, name);
	if (err)
		return err;
	out->name = strdup(name);
	out->terms = strdup(line);
	out->scale = 1;
	if (!sysfile_line(line, sizeof(line), "%s/" DEVICES "/%s/events/%s.scale", system->sysfs,
		    pmu, name))
		out->scale = read_scale(line);
	if (!sysfile_line(line, sizeof(line), "%s/" DEVICES "/%s/events/%s.unit", system->sysfs,
		    pmu, name) &&
		*line) {
		out->unit = strdup(line);
		if (!out->unit)
			err = -ENOMEM;
	}
	if (err || !out->name || !out->terms) {
		pmu_event_fini(out);
		return -ENOMEM;
	}
	return 0;
}

void pmu_event_fini(struct pmu_event *event)
{
	free(event->name);
	free(event->terms);
	free(event->unit);
	memset(event, 0, sizeof(*event));
}

static int read_events(struct pmu *pmu, const struct system_dirs *system)
{
	struct sysfile_names names;
	int err = sysfile_names(&names, "%s/" DEVICES "/%s/events", system->sysfs, pmu->name);

	if (err)
		return err == -ENOMEM ? err : 0;
	pmu->events = names.n ? calloc(names.n, sizeof(*pmu->events)) : NULL;
	if (names.n && !pmu->events)
		err = -ENOMEM;
	for (size_t i = 0; i < names.n && err != -ENOMEM; i++) {
		err = pmu_event_read(
			&pmu->events[pmu->n_events], system, pmu->name, names.names[i]);
		pmu->n_events += !err;
	}
	sysfile_names_fini(&names);
	return err == -ENOMEM ? err : 0;
}

/* --- PMUs --- */

static int read_caps(struct pmu *pmu, const struct system_dirs *system)
{
	struct sysfile_names names;
	int err = sysfile_names(&names, "%s/" DEVICES "/%s/caps", system->sysfs, pmu->name);

	if (err)
		return err == -ENOMEM ? err : 0;
	pmu->caps = names.n ? calloc(names.n, sizeof(*pmu->caps)) : NULL;
	if (names.n && !pmu->caps)
		err = -ENOMEM;
	for (size_t i = 0; i < names.n && !err; i++) {
		struct pmu_cap *cap = &pmu->caps[pmu->n_caps];
		char line[LINE_MAX_BYTES];

		if (sysfile_line(line, sizeof(line), "%s/" DEVICES "/%s/caps/%s", system->sysfs,
			    pmu->name, names.names[i]))
			continue;
		cap->value = strdup(line);
		if (!cap->value) {
			err = -ENOMEM;
			break;
		}
		cap->name = names.names[i];
		names.names[i] = NULL;
		pmu->n_caps++;
	}
	sysfile_names_fini(&names);
	return err;
}

/* Reads the CPUs on which the PMU is opened. */
static int read_cpus(struct pmu *pmu, const struct system_dirs *system)
{
	char line[LINE_MAX_BYTES];

	if (!sysfile_line(line, sizeof(line), "%s/" DEVICES "/%s/cpus", system->sysfs, pmu->name)) {
		pmu->core = true;
		pmu->core_cpus = strdup(line);
		return pmu->core_cpus ? 0 : -ENOMEM;
	}
	if (!strcmp(pmu->name, "cpu")) {
		pmu->core = true;
		return 0;
	}
	if (sysfile_line(
		    line, sizeof(line), "%s/" DEVICES "/%s/cpumask", system->sysfs, pmu->name) ||
		!*line)
		return 0;
	pmu->cpus = strdup(line);
	return pmu->cpus ? 0 : -ENOMEM;
}

int pmu_read(
	struct pmu **out, const struct system_dirs *system, const char *name, unsigned int what)
{
	struct pmu *pmu;
	uint32_t type;
	int err = pmu_type(system, name, &type);

	*out = NULL;
	if (err)
		return err;
	pmu = calloc(1, sizeof(*pmu));
	if (!pmu)
		return -ENOMEM;
	pmu->type = type;
	pmu->name = strdup(name);
	err = pmu->name ? read_cpus(pmu, system) : -ENOMEM;
	if (!err && (what & PMU_FORMATS))
		err = read_formats(pmu, system);
	if (!err && (what & PMU_EVENTS))
		err = read_events(pmu, system);
	if (!err && (what & PMU_CAPS))
		err = read_caps(pmu, system);
	if (err)
		pmu_free(pmu);
	else
		*out = pmu;
	return err;
}

void pmu_free(struct pmu *pmu)
{
	if (!pmu)
		return;
	for (size_t i = 0; i < pmu->n_formats; i++)
		free(pmu->formats[i].name);
	for (size_t i = 0; i < pmu->n_events; i++)
		pmu_event_fini(&pmu->events[i]);
	for (size_t i = 0; i < pmu->n_caps; i++) {
		free(pmu->caps[i].name);
		free(pmu->caps[i].value);
	}
	free(pmu->formats);
	free(pmu->events);
	free(pmu->caps);
	free(pmu->name);
	free(pmu->cpus);
	free(pmu->core_cpus);
	free(pmu);
}

/* Whether text is a number that can follow the name of one of several PMUs: "", "7", "_7". */
static bool is_number(const char *text)
{
	if (!*text)
		return true;
	text += *text == '_';
	if (!isdigit((unsigned char)*text))
		return false;
	while (isdigit((unsigned char)*text))
		text++;
	return !*text;
}

bool pmu_name_matches(const char *name, const char *asked)
{
	static const char prefix[] = "uncore_";
	const char *names[] = {name, NULL};

	if (!strncmp(name, prefix, strlen(prefix)) && strncmp(asked, prefix, strlen(prefix)))
		names[1] = name + strlen(prefix);
	for (size_t i = 0; i < 2 && names[i]; i++) {
		if (strpbrk(asked, "*?[") ? !fnmatch(asked, names[i], 0)
					  : !strncmp(names[i], asked, strlen(asked)) &&
					is_number(names[i] + strlen(asked)))
			return true;
	}
	return false;
}

unsigned int pmu_address_filters(const struct system_dirs *system, const char *name)
{
	char text[32];
	unsigned long n;
	char *end;

	if (sysfile_line(text, sizeof(text), "%s/bus/event_source/devices/%s/nr_addr_filters",
		    system->sysfs, name))
		return 0;
	n = strtoul(text, &end, 10);
	return *end || n > UINT16_MAX ? 0 : (unsigned int)n;
}
