/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds_ibs.c - AMD instruction based sampling: fields from the raw data of PMUs ibs_op and
 * ibs_fetch.
 *
 * The kernel writes 32 bits of capabilities (CPUID Fn8000_001B EAX), then MSRs, 64 bits each.
 * ibs_op: IbsOpCtl, IbsOpRip, IbsOpData, IbsOpData2, IbsOpData3, IbsDcLinAd, IbsDcPhysAd; then
 * IbsBrTarget and IbsOpData4 if the CPU has them.
 * ibs_fetch: IbsFetchCtl, IbsFetchLinAd, IbsFetchPhysAd; then IbsFetchCtlExtd.
 * Registers: AMD64 APM volume 2, 13.3, and the PPRs of the families.
 */
#include "sampler/fields/kinds.h"

#include <stdbool.h>
#include <string.h>

#define CAPS_BRANCH_TARGET (1u << 5)
#define CAPS_FETCH_EXTENDED (1u << 9)
#define CAPS_OP_DATA4 (1u << 10)
#define CAPS_ZEN4 (1u << 11) /* the data source has two more bits */

#define REGS_MAX 9u

enum { DECODED, TOO_SHORT, NOT_VALID };

static const char *const outcomes[] = {"decoded", "too short", "not valid", NULL};

struct registers {
	uint32_t caps;
	uint64_t at[REGS_MAX];
	size_t n;
};

static void read_registers(struct registers *registers, const void *raw, size_t len)
{
	size_t n;

	*registers = (struct registers){0};
	if (len < sizeof(registers->caps))
		return;
	memcpy(&registers->caps, raw, sizeof(registers->caps));
	n = (len - sizeof(registers->caps)) / sizeof(*registers->at);
	registers->n = n < REGS_MAX ? n : REGS_MAX;
	memcpy(registers->at, (const char *)raw + sizeof(registers->caps),
		registers->n * sizeof(*registers->at));
}

static uint64_t bits(uint64_t word, unsigned int first, unsigned int n)
{
	return word >> first & ((1ull << n) - 1);
}

#define NAMES(names) (names), sizeof(names) / sizeof(*(names))
#define FIELD(name_, kind_)                                 \
	{                                                   \
		{.name = (name_), .kind = (kind_)}, NULL, 0 \
	}
#define CYCLES(name_)                                                                \
	{                                                                            \
		{.name = (name_), .kind = FIELD_UNSIGNED, .unit = "cycles"}, NULL, 0 \
	}
#define NAMED(name_, names_)                                         \
	{                                                            \
		{.name = (name_), .kind = FIELD_ENUM}, NAMES(names_) \
	}

static const char *const no_yes[] = {"no", "yes"};
static const char *const page_sizes[] = {"not known", "4 KiB", "2 MiB", "1 GiB"};
static const char *const widths[] = {"none", "1", "2", "4", "8", "16", "32", "64"};

/* --- ops --- */

enum {
	OP_TAG_TO_RETIRE,
	OP_COMPLETE_TO_RETIRE,
	OP_BRANCH,
	OP_RETURN,
	OP_MICROCODE,
	OP_KIND,
	OP_WIDTH,
	OP_DC,
	OP_DC_MISS_LATENCY,
	OP_L2,
	OP_DTLB,
	OP_DTLB_REFILL_LATENCY,
	OP_PAGE_SIZE,
	OP_MISALIGNED,
	OP_LOCKED,
	OP_MEMORY,
	OP_DATA_SOURCE,
	OP_NODE,
	OP_RESYNC,
	OP_LINEAR,
	OP_PHYSICAL,
	OP_TARGET,
	OP_FIELDS,
};

static const char *const branches[] = {
	"no branch", "not taken", "taken", "not taken, mispredicted", "taken, mispredicted"};
static const char *const op_kinds[] = {"neither", "load", "store", "load and store", "prefetch"};
static const char *const hits[] = {"no access", "hit", "miss"};
static const char *const dtlb[] = {"no access", "L1 hit", "L2 hit", "miss"};
static const char *const memories[] = {"write-back", "write-combining", "uncacheable"};
static const char *const nodes[] = {"no data", "local", "remote"};
/* Sources before Zen 4, then those of Zen 4 with two more bits. */
static const char *const sources[] = {"none", "L3", "other core's cache", "DRAM", "remote cache",
	NULL, NULL, "I/O", "none", "L3 or other L1/L2 in the CCX", "cache of a near CCX", "DRAM",
	NULL, "cache of a far CCX", "persistent memory", "I/O", "extension memory", NULL, NULL,
	NULL, "peer agent memory"};
#define SOURCES_ZEN4 8u

static const struct kind_field op_fields[OP_FIELDS] = {
	[OP_TAG_TO_RETIRE] = CYCLES("ibs.tag_to_retire"),
	[OP_COMPLETE_TO_RETIRE] = CYCLES("ibs.complete_to_retire"),
	[OP_BRANCH] = NAMED("ibs.branch", branches),
	[OP_RETURN] = NAMED("ibs.return", no_yes),
	[OP_MICROCODE] = NAMED("ibs.microcode", no_yes),
	[OP_KIND] = NAMED("ibs.op", op_kinds),
	[OP_WIDTH] = {{.name = "ibs.width", .kind = FIELD_ENUM, .unit = "bytes"}, NAMES(widths)},
	[OP_DC] = NAMED("ibs.dc", hits),
	[OP_DC_MISS_LATENCY] = CYCLES("ibs.dc_miss_latency"),
	[OP_L2] = NAMED("ibs.l2", hits),
	[OP_DTLB] = NAMED("ibs.dtlb", dtlb),
	[OP_DTLB_REFILL_LATENCY] = CYCLES("ibs.dtlb_refill_latency"),
	[OP_PAGE_SIZE] = NAMED("ibs.page_size", page_sizes),
	[OP_MISALIGNED] = NAMED("ibs.misaligned", no_yes),
	[OP_LOCKED] = NAMED("ibs.locked", no_yes),
	[OP_MEMORY] = NAMED("ibs.memory", memories),
	[OP_DATA_SOURCE] = NAMED("ibs.data_source", sources),
	[OP_NODE] = NAMED("ibs.node", nodes),
	[OP_RESYNC] = NAMED("ibs.load_resync", no_yes),
	[OP_LINEAR] = FIELD("ibs.addr", FIELD_DATA),
	[OP_PHYSICAL] = FIELD("ibs.phys_addr", FIELD_HEX),
	[OP_TARGET] = FIELD("ibs.branch_target", FIELD_CODE),
};

static void decode_access(const struct registers *registers, uint64_t *numbers)
{
	uint64_t data2 = registers->at[3], data3 = registers->at[4];
	uint64_t width = bits(data3, 22, 4), source = bits(data2, 0, 3);
	bool load = bits(data3, 0, 1), has_linear = bits(data3, 17, 1);
	bool miss = bits(data3, 7, 1), l1_miss = bits(data3, 2, 1), l2_miss = bits(data3, 3, 1);

	numbers[OP_WIDTH] = width;
	numbers[OP_DC] = miss ? 2 : 1;
	if (miss && load)
		numbers[OP_DC_MISS_LATENCY] = bits(data3, 32, 16);
	if (miss)
		numbers[OP_L2] = bits(data3, 20, 1) ? 2 : 1;
	if (has_linear) {
		numbers[OP_DTLB] = !l1_miss ? 1 : !l2_miss ? 2 : 3;
		numbers[OP_DTLB_REFILL_LATENCY] = l1_miss ? bits(data3, 48, 16) : 0;
		numbers[OP_LINEAR] = registers->at[5];
		numbers[OP_PAGE_SIZE] = 1;
		if (l1_miss ? l2_miss : false)
			numbers[OP_PAGE_SIZE] = 0;
		else if (bits(data3, l1_miss ? 6 : 4, 1))
			numbers[OP_PAGE_SIZE] = 2;
		else if (bits(data3, l1_miss ? 19 : 5, 1))
			numbers[OP_PAGE_SIZE] = 3;
	}
	if (bits(data3, 18, 1))
		numbers[OP_PHYSICAL] = registers->at[6];
	numbers[OP_MISALIGNED] = bits(data3, 8, 1);
	numbers[OP_MEMORY] = bits(data3, 14, 1) ? 2 : bits(data3, 13, 1);
	numbers[OP_LOCKED] = bits(data3, 15, 1);
	if (registers->caps & CAPS_ZEN4)
		source = SOURCES_ZEN4 + (source | bits(data2, 6, 2) << 3);
	/* Valid only for loads that went to the northbridge. */
	if (load && miss && bits(data2, 0, 3) + bits(data2, 6, 2)) {
		numbers[OP_DATA_SOURCE] = source;
		numbers[OP_NODE] = bits(data2, 4, 1) ? 2 : 1;
	}
}

static size_t decode_op(const void *raw, size_t len, uint64_t *numbers)
{
	struct registers registers;
	uint64_t data, data3;
	size_t next = 7;

	read_registers(&registers, raw, len);
	if (registers.n < next)
		return TOO_SHORT;
	if (!bits(registers.at[0], 18, 1))
		return NOT_VALID;
	data = registers.at[2];
	data3 = registers.at[4];
	numbers[OP_COMPLETE_TO_RETIRE] = bits(data, 0, 16);
	numbers[OP_TAG_TO_RETIRE] = bits(data, 16, 16);
	if (bits(data, 37, 1))
		numbers[OP_BRANCH] = 1 + bits(data, 35, 1) + 2 * bits(data, 36, 1);
	numbers[OP_RETURN] = bits(data, 34, 1);
	numbers[OP_MICROCODE] = bits(data, 40, 1);
	numbers[OP_KIND] = bits(data3, 21, 1) ? 4 : bits(data3, 0, 2);
	if (numbers[OP_KIND])
		decode_access(&registers, numbers);
	if (registers.caps & CAPS_BRANCH_TARGET && registers.n > next) {
		numbers[OP_TARGET] = numbers[OP_BRANCH] ? registers.at[next] : 0;
		next++;
	}
	if (registers.caps & CAPS_OP_DATA4 && registers.n > next)
		numbers[OP_RESYNC] = bits(registers.at[next], 0, 1);
	return DECODED;
}

static const char *const op_pmus[] = {"ibs_op", NULL};

const struct sample_kind kind_ibs_op = {
	.name = "AMD IBS op",
	.pmus = op_pmus,
	.sample_type = PERF_SAMPLE_RAW,
	.fields = op_fields,
	.n_fields = OP_FIELDS,
	.decode = decode_op,
	.outcomes = outcomes,
};

/* --- fetches --- */

enum {
	FETCH_DONE,
	FETCH_LATENCY,
	FETCH_IC,
	FETCH_L2,
	FETCH_L3,
	FETCH_OP_CACHE,
	FETCH_ITLB,
	FETCH_ITLB_REFILL_LATENCY,
	FETCH_PAGE_SIZE,
	FETCH_LINEAR,
	FETCH_PHYSICAL,
	FETCH_FIELDS,
};

static const char *const fetched[] = {"aborted", "completed"};
static const char *const misses[] = {"no miss", "miss"};
static const char *const itlb[] = {"L1 hit", "L2 hit", "miss"};

static const struct kind_field fetch_fields[FETCH_FIELDS] = {
	[FETCH_DONE] = NAMED("ibs.fetch", fetched),
	[FETCH_LATENCY] = CYCLES("ibs.fetch_latency"),
	[FETCH_IC] = NAMED("ibs.ic", misses),
	[FETCH_L2] = NAMED("ibs.l2", misses),
	[FETCH_L3] = NAMED("ibs.l3", misses),
	[FETCH_OP_CACHE] = NAMED("ibs.op_cache", misses),
	[FETCH_ITLB] = NAMED("ibs.itlb", itlb),
	[FETCH_ITLB_REFILL_LATENCY] = CYCLES("ibs.itlb_refill_latency"),
	[FETCH_PAGE_SIZE] = NAMED("ibs.page_size", page_sizes),
	[FETCH_LINEAR] = FIELD("ibs.addr", FIELD_CODE),
	[FETCH_PHYSICAL] = FIELD("ibs.phys_addr", FIELD_HEX),
};

static size_t decode_fetch(const void *raw, size_t len, uint64_t *numbers)
{
	struct registers registers;
	uint64_t ctl;
	bool done;

	read_registers(&registers, raw, len);
	if (registers.n < 3)
		return TOO_SHORT;
	ctl = registers.at[0];
	if (!bits(ctl, 49, 1))
		return NOT_VALID;
	done = bits(ctl, 50, 1);
	numbers[FETCH_DONE] = done;
	numbers[FETCH_LATENCY] = bits(ctl, 32, 16);
	numbers[FETCH_IC] = bits(ctl, 51, 1);
	numbers[FETCH_L2] = done && bits(ctl, 58, 1);
	numbers[FETCH_OP_CACHE] = bits(ctl, 60, 1);
	numbers[FETCH_L3] = done && bits(ctl, 61, 1);
	numbers[FETCH_ITLB] = bits(ctl, 55, 1) + (bits(ctl, 55, 1) && bits(ctl, 56, 1));
	numbers[FETCH_LINEAR] = registers.at[1];
	if (bits(ctl, 52, 1)) {
		numbers[FETCH_PHYSICAL] = registers.at[2];
		numbers[FETCH_PAGE_SIZE] = bits(ctl, 53, 2) < 3 ? 1 + bits(ctl, 53, 2) : 0;
	}
	if (registers.caps & CAPS_FETCH_EXTENDED && registers.n > 3)
		numbers[FETCH_ITLB_REFILL_LATENCY] = bits(registers.at[3], 0, 16);
	return DECODED;
}

static const char *const fetch_pmus[] = {"ibs_fetch", NULL};

const struct sample_kind kind_ibs_fetch = {
	.name = "AMD IBS fetch",
	.pmus = fetch_pmus,
	.sample_type = PERF_SAMPLE_RAW,
	.fields = fetch_fields,
	.n_fields = FETCH_FIELDS,
	.decode = decode_fetch,
	.outcomes = outcomes,
};
