/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pmu.h - PMUs as sysfs describes them: /sys/bus/event_source/devices/PMU.
 *
 * The caller owns the data, which never changes after it is read.  Names are raw bytes.  No state;
 * any thread.
 */
#ifndef SAMPLER_MACHINE_PMU_H
#define SAMPLER_MACHINE_PMU_H

#include "sampler/base/sysfile.h"
#include "sampler/machine/system_dirs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits that hold the value of a term: format/NAME, such as "config:0-7,32-35". */
struct pmu_format {
	char *name;
	unsigned int word; /* 0 to 3: config, config1, config2, config3 */
	uint64_t mask; /* the value's lowest bit goes to the lowest bit of the mask */
};

/* A named event: events/NAME, such as "event=0x3c,umask=?". */
struct pmu_event {
	char *name;
	char *terms; /* "?" marks a value that the user must give */
	char *unit; /* NULL if none */
	double scale; /* 1 if none */
};

/* A capability of a PMU: caps/NAME. */
struct pmu_cap {
	char *name, *value;
};

struct pmu {
	char *name; /* name of its directory */
	uint32_t type;
	/* CPUs in file "cpumask": each counts for several CPUs, and only these are opened; NULL:
	 * any CPU */
	char *cpus;
	bool core; /* counts for one CPU, which runs tasks: PMU "cpu", or one with a file "cpus" */
	/* CPUs in file "cpus" (hybrid machines): this is their core PMU; NULL: all */
	char *core_cpus;
	struct pmu_format *formats; /* sorted by name, like events and caps */
	size_t n_formats;
	struct pmu_event *events;
	size_t n_events;
	struct pmu_cap *caps;
	size_t n_caps;
};

/* Parts of a PMU that pmu_read() reads in addition to type and CPUs. */
#define PMU_FORMATS 1u
#define PMU_EVENTS 2u
#define PMU_CAPS 4u

/* Returns the names of all PMUs, sorted; free them with sysfile_names_fini().  Returns 0 or -errno,
 * if the directory does not exist. */
int pmu_names(const struct system_dirs *system, struct sysfile_names *out);

/* Reads one PMU by the name of its directory; free it with pmu_free().  Leaves out files in it that
 * cannot be read or parsed.  Returns 0, -ENOENT if there is no such PMU, or another -errno. */
int pmu_read(
	struct pmu **out, const struct system_dirs *system, const char *name, unsigned int what);
void pmu_free(struct pmu *pmu); /* NULL is a no-op */

/* Reads only the type of a PMU.  Returns 0 or -errno. */
int pmu_type(const struct system_dirs *system, const char *name, uint32_t *type);

/* Returns the number of address filters of a PMU (nr_addr_filters), 0 if it reports none. */
unsigned int pmu_address_filters(const struct system_dirs *system, const char *name);

/* Reads one event of a PMU without the others; free it with pmu_event_fini().  Returns 0, -ENOENT,
 * -ENOMEM or another -errno. */
int pmu_event_read(
	struct pmu_event *out, const struct system_dirs *system, const char *pmu, const char *name);
void pmu_event_fini(struct pmu_event *event);

const struct pmu_format *pmu_find_format(const struct pmu *pmu, const char *name, size_t len);

/* Whether `asked` selects PMU `name`, as "uncore_imc" selects "uncore_imc_0".  `asked` may omit the
 * number at the end and the prefix "uncore_", or may be a pattern (fnmatch(3)). */
bool pmu_name_matches(const char *name, const char *asked);

/* Puts a value into the bits of mask, lowest first.  Returns false, with *word unchanged, if it
 * does not fit. */
bool pmu_place(uint64_t mask, uint64_t value, uint64_t *word);

/* Parses "config1:0-7,32".  Returns 0 or -EINVAL.  Does not set out->name. */
int pmu_parse_format(const char *text, struct pmu_format *out);

#endif
