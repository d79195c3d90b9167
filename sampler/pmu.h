/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pmu.h - PMUs as sysfs describes them: /sys/bus/event_source/devices/PMU.
 *
 * What is read belongs to the caller and is never changed afterwards; names are raw bytes.  No state; any thread.
 */
#ifndef SAMPLER_PMU_H
#define SAMPLER_PMU_H

#include "sampler/event.h"
#include "sampler/sysfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the value of a term goes: format/NAME, such as "config:0-7,32-35". */
struct pmu_format {
	char *name;
	unsigned int word; /* 0 to 3: config, config1, config2, config3 */
	uint64_t mask; /* its bits: the value's lowest bit goes to the lowest of them */
};

/* A named event: events/NAME, such as "event=0x3c,umask=?". */
struct pmu_event {
	char *name;
	char *terms; /* "?" stands where the user has to give a value */
	char *unit; /* NULL: none */
	double scale; /* 1: none */
};

/* What a PMU says of itself: caps/NAME. */
struct pmu_cap {
	char *name, *value;
};

struct pmu {
	char *name; /* of its directory */
	uint32_t type;
	char *cpus; /* of its cpumask: counts for more than one CPU, and is opened on these alone; NULL: on any */
	bool core; /* counts for one CPU, which runs tasks: "cpu", or has a file "cpus" */
	char *core_cpus; /* of the file "cpus" (hybrid machines): the CPUs it is the core PMU of; NULL: all */
	struct pmu_format *formats; /* by name, as the next two */
	size_t n_formats;
	struct pmu_event *events;
	size_t n_events;
	struct pmu_cap *caps;
	size_t n_caps;
};

/* What pmu_read() reads besides type and CPUs. */
#define PMU_FORMATS 1u
#define PMU_EVENTS 2u
#define PMU_CAPS 4u

/* The names of all PMUs, sorted; for sysfile_names_fini().  -errno: no such directory. */
int pmu_names(const struct event_system *system, struct sysfile_names *out);

/* One PMU by its directory's name; for pmu_free().  -ENOENT: there is none; other -errno.  Files within it that cannot be
 * read or understood are left out. */
int pmu_read(
	struct pmu **out, const struct event_system *system, const char *name, unsigned int what);
void pmu_free(struct pmu *pmu); /* NULL is a no-op */

/* Its type alone; -errno. */
int pmu_type(const struct event_system *system, const char *name, uint32_t *type);

/* How many address filters it has (nr_addr_filters): 0 where it tells of none. */
unsigned int pmu_address_filters(const struct event_system *system, const char *name);

/* One event of a PMU without reading the others; for pmu_event_fini().  -ENOENT, -ENOMEM. */
int pmu_event_read(struct pmu_event *out, const struct event_system *system, const char *pmu,
	const char *name);
void pmu_event_fini(struct pmu_event *event);

const struct pmu_format *pmu_find_format(const struct pmu *pmu, const char *name, size_t len);

/* Whether "uncore_imc" means "uncore_imc_0": the same name, or with a number behind it, or after "uncore_"; or a pattern
 * (fnmatch(3)) that it matches. */
bool pmu_name_matches(const char *name, const char *asked);

/* Put a value into the bits of mask, lowest first.  False where it does not fit: *word is as it was. */
bool pmu_place(uint64_t mask, uint64_t value, uint64_t *word);

/* "config1:0-7,32"; -EINVAL.  name is left alone. */
int pmu_parse_format(const char *text, struct pmu_format *out);

#endif
