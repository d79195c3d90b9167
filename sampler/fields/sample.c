/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample.c - see private.h: fields of sample_type, with perf's names.
 */
#include "sampler/fields/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint64_t bit;
	const char *name;
	const char *unit;
	enum field_kind kind;
	enum sample_part part;
} parts[] = {
	{PERF_SAMPLE_ADDR, "addr", NULL, FIELD_DATA, PART_ADDR},
	{PERF_SAMPLE_DATA_SRC, "data_src.op", NULL, FIELD_ENUM, PART_OP},
	{PERF_SAMPLE_DATA_SRC, "data_src.level", NULL, FIELD_ENUM, PART_LEVEL},
	{PERF_SAMPLE_DATA_SRC, "data_src.snoop", NULL, FIELD_ENUM, PART_SNOOP},
	{PERF_SAMPLE_DATA_SRC, "data_src.tlb", NULL, FIELD_ENUM, PART_TLB},
	{PERF_SAMPLE_DATA_SRC, "data_src.lock", NULL, FIELD_ENUM, PART_LOCK},
	{PERF_SAMPLE_DATA_SRC, "data_src.blk", NULL, FIELD_ENUM, PART_BLK},
	{PERF_SAMPLE_DATA_SRC, "data_src.hops", NULL, FIELD_ENUM, PART_HOPS},
	{PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "weight", "cycles", FIELD_UNSIGNED,
		PART_WEIGHT},
	{PERF_SAMPLE_WEIGHT_STRUCT, "weight2", "cycles", FIELD_UNSIGNED, PART_WEIGHT_2},
	{PERF_SAMPLE_WEIGHT_STRUCT, "weight3", "cycles", FIELD_UNSIGNED, PART_WEIGHT_3},
	{PERF_SAMPLE_TRANSACTION, "transaction", NULL, FIELD_ENUM, PART_TRANSACTION},
	{PERF_SAMPLE_PHYS_ADDR, "phys_addr", NULL, FIELD_HEX, PART_PHYS_ADDR},
	{PERF_SAMPLE_CGROUP, "cgroup_id", NULL, FIELD_UNSIGNED, PART_CGROUP},
	{PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", "bytes", FIELD_UNSIGNED, PART_DATA_PAGE},
	{PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", "bytes", FIELD_UNSIGNED, PART_CODE_PAGE},
	{PERF_SAMPLE_BRANCH_STACK, "branch.from", NULL, FIELD_CODE, PART_BRANCH_FROM},
	{PERF_SAMPLE_BRANCH_STACK, "branch.to", NULL, FIELD_CODE, PART_BRANCH_TO},
	{PERF_SAMPLE_BRANCH_STACK, "branch.prediction", NULL, FIELD_ENUM, PART_BRANCH_PREDICTION},
	{PERF_SAMPLE_BRANCH_STACK, "branch.in_tx", NULL, FIELD_UNSIGNED, PART_BRANCH_IN_TX},
	{PERF_SAMPLE_BRANCH_STACK, "branch.abort", NULL, FIELD_UNSIGNED, PART_BRANCH_ABORT},
	{PERF_SAMPLE_BRANCH_STACK, "branch.cycles", "cycles", FIELD_UNSIGNED, PART_BRANCH_CYCLES},
	{PERF_SAMPLE_BRANCH_STACK, "branch.type", NULL, FIELD_ENUM, PART_BRANCH_TYPE},
	{PERF_SAMPLE_BRANCH_STACK, "branch.spec", NULL, FIELD_ENUM, PART_BRANCH_SPEC},
	{PERF_SAMPLE_BRANCH_STACK, "branch.privilege", NULL, FIELD_ENUM, PART_BRANCH_PRIVILEGE},
};

void fields_add_sample(struct fields *fields, const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct field_how how = {.part = parts[i].part};
		struct field *field;

		if (!(attr->sample_type & parts[i].bit))
			continue;
		field = fields_add(
			fields, parts[i].name, strlen(parts[i].name), parts[i].kind, &how);
		if (!field)
			return;
		field->unit = parts[i].unit;
		fields->sample_type |= attr->sample_type & parts[i].bit;
	}
}

/* --- reading --- */

/* Maps perf_branch_entry.type and new_type to one number. */
#define BRANCH_NEW 16u

static uint64_t read_branch(enum sample_part part, const struct perf_branch_entry *branch)
{
	switch (part) {
	case PART_BRANCH_FROM:
		return branch->from;
	case PART_BRANCH_TO:
		return branch->to;
	case PART_BRANCH_PREDICTION:
		return branch->mispred ? 1 : branch->predicted ? 2 : 0;
	case PART_BRANCH_IN_TX:
		return branch->in_tx;
	case PART_BRANCH_ABORT:
		return branch->abort;
	case PART_BRANCH_CYCLES:
		return branch->cycles;
	case PART_BRANCH_TYPE:
		return branch->type == PERF_BR_EXTEND_ABI ? BRANCH_NEW + branch->new_type
							  : branch->type;
	case PART_BRANCH_SPEC:
		return branch->spec;
	case PART_BRANCH_PRIVILEGE:
		return branch->priv;
	default:
		return 0;
	}
}

/* Returns the bits of data_src that belong to a part. */
static uint64_t data_src_part(enum sample_part part, uint64_t data_src)
{
	union perf_mem_data_src from = {.val = data_src}, to = {.val = 0};

	switch (part) {
	case PART_OP:
		to.mem_op = from.mem_op;
		break;
	case PART_LEVEL:
		to.mem_lvl = from.mem_lvl;
		to.mem_lvl_num = from.mem_lvl_num;
		to.mem_remote = from.mem_remote;
		break;
	case PART_SNOOP:
		to.mem_snoop = from.mem_snoop;
		to.mem_snoopx = from.mem_snoopx;
		break;
	case PART_TLB:
		to.mem_dtlb = from.mem_dtlb;
		break;
	case PART_LOCK:
		to.mem_lock = from.mem_lock;
		break;
	case PART_BLK:
		to.mem_blk = from.mem_blk;
		break;
	case PART_HOPS:
		to.mem_hops = from.mem_hops;
		break;
	default:
		break;
	}
	return to.val;
}

uint64_t sample_part_read(enum sample_part part, const struct record_sample *sample)
{
	const struct record_more *more = &sample->more;

	if (part == PART_ADDR)
		return sample->addr;
	if (!sample->has_more)
		return 0;
	if (part >= PART_BRANCH_FROM)
		return more->n_branches ? read_branch(part, &more->branches[0]) : 0;
	switch (part) {
	case PART_WEIGHT:
		return more->weight;
	case PART_WEIGHT_2:
		return more->weight_2;
	case PART_WEIGHT_3:
		return more->weight_3;
	case PART_TRANSACTION:
		return more->transaction;
	case PART_PHYS_ADDR:
		return more->phys_addr;
	case PART_CGROUP:
		return more->cgroup;
	case PART_DATA_PAGE:
		return more->data_page_size;
	case PART_CODE_PAGE:
		return more->code_page_size;
	default:
		return data_src_part(part, more->data_src);
	}
}

/* --- formatting --- */

static void join(char *out, size_t size, const char *between, const char *text)
{
	size_t len = strlen(out);

	snprintf(out + len, size - len, "%s%s", len ? between : "", text);
}

/* Stores a bit's name at the bit's index. */
#define NAME_OF(bit, text) [__builtin_ctzll(bit)] = (text)

/* Joins the names of set bits, lowest first. */
static void join_bits(uint64_t bits, const char *const *names, size_t n, const char *between,
	char *out, size_t size)
{
	for (size_t i = 0; i < n; i++)
		if (bits >> i & 1 && names[i])
			join(out, size, between, names[i]);
}

#define JOIN_BITS(bits, names, between, out, size) \
	join_bits((bits), (names), sizeof(names) / sizeof(*(names)), (between), (out), (size))

static void format_level(union perf_mem_data_src src, char *out, size_t size)
{
	static const char *const levels[] = {
		NAME_OF(PERF_MEM_LVL_L1, "L1"),
		NAME_OF(PERF_MEM_LVL_LFB, "LFB"),
		NAME_OF(PERF_MEM_LVL_L2, "L2"),
		NAME_OF(PERF_MEM_LVL_L3, "L3"),
		NAME_OF(PERF_MEM_LVL_LOC_RAM, "Local RAM"),
		NAME_OF(PERF_MEM_LVL_REM_RAM1, "Remote RAM (1 hop)"),
		NAME_OF(PERF_MEM_LVL_REM_RAM2, "Remote RAM (2 hops)"),
		NAME_OF(PERF_MEM_LVL_REM_CCE1, "Remote Cache (1 hop)"),
		NAME_OF(PERF_MEM_LVL_REM_CCE2, "Remote Cache (2 hops)"),
		NAME_OF(PERF_MEM_LVL_IO, "I/O"),
		NAME_OF(PERF_MEM_LVL_UNC, "Uncached"),
	};
	static const char *const numbers[16] = {[PERF_MEM_LVLNUM_L1] = "L1",
		[PERF_MEM_LVLNUM_L2] = "L2",
		[PERF_MEM_LVLNUM_L3] = "L3",
		[PERF_MEM_LVLNUM_L4] = "L4",
		[0x8] = "Uncached",
		[0x9] = "CXL",
		[0xa] = "I/O",
		[PERF_MEM_LVLNUM_ANY_CACHE] = "Any cache",
		[PERF_MEM_LVLNUM_LFB] = "LFB",
		[PERF_MEM_LVLNUM_RAM] = "RAM",
		[PERF_MEM_LVLNUM_PMEM] = "PMEM"};

	if (src.mem_lvl_num && src.mem_lvl_num != PERF_MEM_LVLNUM_NA) {
		const char *number = numbers[src.mem_lvl_num];

		if (number)
			snprintf(out, size, "%s%s", src.mem_remote ? "Remote " : "", number);
		else
			snprintf(out, size, "Level %u", (unsigned int)src.mem_lvl_num);
	} else {
		JOIN_BITS(src.mem_lvl, levels, " or ", out, size);
	}
	if (out[0] && src.mem_lvl & PERF_MEM_LVL_HIT)
		join(out, size, " ", "hit");
	else if (out[0] && src.mem_lvl & PERF_MEM_LVL_MISS)
		join(out, size, " ", "miss");
}

static void format_tlb(union perf_mem_data_src src, char *out, size_t size)
{
	static const char *const levels[] = {
		NAME_OF(PERF_MEM_TLB_L1, "L1"),
		NAME_OF(PERF_MEM_TLB_L2, "L2"),
		NAME_OF(PERF_MEM_TLB_WK, "Walker"),
		NAME_OF(PERF_MEM_TLB_OS, "Fault"),
	};

	JOIN_BITS(src.mem_dtlb, levels, " or ", out, size);
	if (out[0] && src.mem_dtlb & PERF_MEM_TLB_HIT)
		join(out, size, " ", "hit");
	else if (out[0] && src.mem_dtlb & PERF_MEM_TLB_MISS)
		join(out, size, " ", "miss");
}

static void format_data_src(enum sample_part part, uint64_t number, char *out, size_t size)
{
	static const char *const ops[] = {
		NAME_OF(PERF_MEM_OP_LOAD, "LOAD"),
		NAME_OF(PERF_MEM_OP_STORE, "STORE"),
		NAME_OF(PERF_MEM_OP_PFETCH, "PFETCH"),
		NAME_OF(PERF_MEM_OP_EXEC, "EXEC"),
	};
	static const char *const snoops[] = {
		NAME_OF(PERF_MEM_SNOOP_NONE, "None"),
		NAME_OF(PERF_MEM_SNOOP_HIT, "Hit"),
		NAME_OF(PERF_MEM_SNOOP_MISS, "Miss"),
		NAME_OF(PERF_MEM_SNOOP_HITM, "HitM"),
	};
	static const char *const snoops_more[] = {"Fwd", "Peer"};
	static const char *const blocks[] = {NULL, "Data", "Addr"};
	static const char *const hops[] = {
		NULL, "core, same node", "node, same socket", "socket, same board", "board"};
	union perf_mem_data_src src = {.val = number};

	switch (part) {
	case PART_OP:
		JOIN_BITS(src.mem_op, ops, "|", out, size);
		break;
	case PART_LEVEL:
		format_level(src, out, size);
		break;
	case PART_SNOOP:
		JOIN_BITS(src.mem_snoop, snoops, " or ", out, size);
		JOIN_BITS(src.mem_snoopx, snoops_more, " or ", out, size);
		break;
	case PART_TLB:
		format_tlb(src, out, size);
		break;
	case PART_LOCK:
		if (src.mem_lock & PERF_MEM_LOCK_LOCKED)
			join(out, size, "", "Yes");
		else if (!(src.mem_lock & PERF_MEM_LOCK_NA))
			join(out, size, "", "No");
		break;
	case PART_BLK:
		JOIN_BITS(src.mem_blk, blocks, " ", out, size);
		break;
	case PART_HOPS:
		if (src.mem_hops < sizeof(hops) / sizeof(*hops) && hops[src.mem_hops])
			join(out, size, "", hops[src.mem_hops]);
		break;
	default:
		break;
	}
	if (!out[0])
		join(out, size, "", "N/A");
}

static void format_transaction(uint64_t number, char *out, size_t size)
{
	static const char *const flags[] = {
		NAME_OF(PERF_TXN_ELISION, "EL"),
		NAME_OF(PERF_TXN_TRANSACTION, "TX"),
		NAME_OF(PERF_TXN_SYNC, "SYNC"),
		NAME_OF(PERF_TXN_ASYNC, "ASYNC"),
		NAME_OF(PERF_TXN_RETRY, "RETRY"),
		NAME_OF(PERF_TXN_CONFLICT, "CON"),
		NAME_OF(PERF_TXN_CAPACITY_WRITE, "CAP-WRITE"),
		NAME_OF(PERF_TXN_CAPACITY_READ, "CAP-READ"),
	};
	char code[24];

	JOIN_BITS(number, flags, " ", out, size);
	if (number & PERF_TXN_ABORT_MASK) {
		snprintf(code, sizeof(code), ":%" PRIx64, number >> PERF_TXN_ABORT_SHIFT);
		join(out, size, " ", code);
	}
	if (!out[0])
		join(out, size, "", "none");
}

static void format_branch(enum sample_part part, uint64_t number, char *out, size_t size)
{
	static const char *const predictions[] = {"unknown", "mispredicted", "predicted"};
	static const char *const types[] = {"unknown", "COND", "UNCOND", "IND", "CALL", "IND_CALL",
		"RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR",
		"NO_TX", NULL, "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2",
		"ARCH_3", "ARCH_4", "ARCH_5"};
	static const char *const specs[] = {
		"N/A", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"};
	static const char *const privileges[] = {"unknown", "user", "kernel", "hypervisor"};
	const char *const *names = predictions;
	size_t n = sizeof(predictions) / sizeof(*predictions);

	if (part == PART_BRANCH_TYPE) {
		names = types;
		n = sizeof(types) / sizeof(*types);
	} else if (part == PART_BRANCH_SPEC) {
		names = specs;
		n = sizeof(specs) / sizeof(*specs);
	} else if (part == PART_BRANCH_PRIVILEGE) {
		names = privileges;
		n = sizeof(privileges) / sizeof(*privileges);
	}
	if (number < n && names[number])
		snprintf(out, size, "%s", names[number]);
	else
		snprintf(out, size, "%" PRIu64, number);
}

void sample_part_format(enum sample_part part, uint64_t number, char *out, size_t size)
{
	out[0] = '\0';
	if (part == PART_TRANSACTION)
		format_transaction(number, out, size);
	else if (part >= PART_BRANCH_FROM)
		format_branch(part, number, out, size);
	else
		format_data_src(part, number, out, size);
}
