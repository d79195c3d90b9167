/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * disasm.c - drives libopcodes over bytes in memory.
 *
 * The library is loaded, not linked: its tables are relocated, which costs each process 0.5 MB
 * (with many machines: 3 MB) and some milliseconds.  libopcodes reports branches for some machines
 * only; for x86 and arm64 the mnemonic shows them.  Runs in the worker.
 */
#include "symbols/worker/disasm.h"

/* bfd.h requires it. */
#define PACKAGE "strobe"
#include <dis-asm.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

#define TEXT_MAX 256
#define OPERANDS_AT 7 /* column */
#define BAD_MAX 8 /* bytes */

struct library {
	void *handle; /* NULL: not loaded */
	disassembler_ftype (*find)(enum bfd_architecture arch, bool big, unsigned long mach, bfd *);
	void (*init)(struct disassemble_info *, void *, fprintf_ftype print,
		fprintf_styled_ftype styled);
	void (*init_target)(struct disassemble_info *);
	void (*free_target)(struct disassemble_info *);
};

/* In the order of use. */
static struct library libraries[2];

static bool take_function(void *handle, const char *name, void *function)
{
	void *symbol = dlsym(handle, name);

	/* ISO C has no conversion from an object pointer to a function pointer. */
	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

/* Loads a library.  Its structures have no stable layout, so only the version of dis-asm.h will
 * do. */
static void load(struct library *library, const char *name)
{
	if (library->handle)
		return;
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	if (take_function(handle, "disassembler", &library->find) &&
		take_function(handle, "init_disassemble_info", &library->init) &&
		take_function(handle, "disassemble_init_for_target", &library->init_target) &&
		take_function(handle, "disassemble_free_target", &library->free_target))
		library->handle = handle;
	else
		dlclose(handle);
}

int disasm_load(void)
{
	/* Found at build time: Debian's "libopcodes-2.40-system.so", elsewhere without
	 * "-system". */
	static const char own[] = STROBE_LIBOPCODES;
	const char *system = strstr(own, "-system");
	char name[sizeof(own) + 16];

	load(&libraries[0], own);
	if (system) {
		snprintf(name, sizeof(name), "%.*s-multiarch%s", (int)(system - own), own,
			system + strlen("-system"));
		load(&libraries[1], name);
	}
	return libraries[0].handle || libraries[1].handle ? 0 : -ENOENT;
}

struct machine {
	uint16_t elf;
	uint8_t step; /* instructions begin at multiples of it; bytes */
	enum bfd_architecture arch;
	unsigned long mach32, mach64;
};

static const struct machine machines[] = {
	{EM_X86_64, 1, bfd_arch_i386, bfd_mach_x64_32, bfd_mach_x86_64},
	{EM_386, 1, bfd_arch_i386, bfd_mach_i386_i386, bfd_mach_i386_i386},
	{EM_AARCH64, 4, bfd_arch_aarch64, bfd_mach_aarch64_ilp32, bfd_mach_aarch64},
	{EM_ARM, 4, bfd_arch_arm, bfd_mach_arm_unknown, bfd_mach_arm_unknown},
	{EM_RISCV, 2, bfd_arch_riscv, bfd_mach_riscv32, bfd_mach_riscv64},
	{EM_PPC, 4, bfd_arch_powerpc, bfd_mach_ppc, bfd_mach_ppc},
	{EM_PPC64, 4, bfd_arch_powerpc, bfd_mach_ppc64, bfd_mach_ppc64},
	{EM_S390, 2, bfd_arch_s390, bfd_mach_s390_31, bfd_mach_s390_64},
	{EM_MIPS, 4, bfd_arch_mips, bfd_mach_mipsisa32r2, bfd_mach_mipsisa64r2},
	{EM_LOONGARCH, 4, bfd_arch_loongarch, bfd_mach_loongarch32, bfd_mach_loongarch64},
};

static const struct machine *machine_of(uint16_t elf)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (machines[i].elf == elf)
			return &machines[i];
	}
	return NULL;
}

struct run {
	struct disassemble_info info;
	const struct disasm_code *code;
	/* The current instruction. */
	char text[TEXT_MAX];
	size_t len;
	bool commented; /* a comment has begun */
	bool has_target;
	size_t target_at; /* offset in text */
	uint64_t target;
};

__attribute__((format(printf, 2, 0))) static void append(
	struct run *run, const char *format, va_list args)
{
	size_t room = sizeof(run->text) - run->len;
	int n = vsnprintf(run->text + run->len, room, format, args);

	if (n > 0)
		run->len += (size_t)n < room ? (size_t)n : room - 1;
}

__attribute__((format(printf, 2, 3))) static int print_plain(void *stream, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(stream, format, args);
	va_end(args);
	return 0;
}

__attribute__((format(printf, 3, 4))) static int print_styled(
	void *stream, enum disassembler_style style, const char *format, ...)
{
	struct run *run = stream;
	va_list args;

	run->commented |= style == dis_style_comment_start;
	va_start(args, format);
	append(run, format, args);
	va_end(args);
	return 0;
}

static void print_address(bfd_vma address, struct disassemble_info *info)
{
	struct run *run = info->stream;

	if (!run->has_target && !run->commented) {
		run->has_target = true;
		run->target_at = run->len;
		run->target = address;
	}
	print_plain(run, "0x%llx", (unsigned long long)address);
}

static int read_memory(bfd_vma from, bfd_byte *to, unsigned int len, struct disassemble_info *info)
{
	const struct disasm_code *code = ((struct run *)info->stream)->code;
	uint64_t at = from - code->address;

	if (at >= code->len || len > code->len - at)
		return EIO;
	memcpy(to, code->bytes + at, len);
	return 0;
}

/* The disassembler's return value reports the error, too. */
static void memory_error(int status, bfd_vma at, struct disassemble_info *info)
{
	(void)status;
	(void)at;
	(void)info;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_one_of(const char *word, size_t len, const char *const *words)
{
	for (; *words; words++) {
		if (strlen(*words) == len && memcmp(word, *words, len) == 0)
			return true;
	}
	return false;
}

static enum codetab_kind kind_x86(const char *text)
{
	static const char *const prefixes[] = {"bnd", "notrack", "data16", "addr32", "lock", "rep",
		"repz", "repnz", "cs", "ds", "es", "fs", "gs", "ss", NULL};
	size_t len;

	while (len = strcspn(text, " ,"),
		text[len] == ' ' && (is_one_of(text, len, prefixes) || begins(text, "rex")))
		text += len + strspn(text + len, " ");
	if (begins(text, "call") || begins(text, "lcall"))
		return CODETAB_CALL;
	if (begins(text, "jmp") || begins(text, "ljmp"))
		return CODETAB_JUMP;
	if (begins(text, "ret") || begins(text, "lret") || begins(text, "iret") ||
		begins(text, "sysret") || begins(text, "sysexit") || begins(text, "uiret"))
		return CODETAB_RETURN;
	return text[0] == 'j' || begins(text, "loop") || begins(text, "xbegin") ? CODETAB_BRANCH
										: CODETAB_PLAIN;
}

static enum codetab_kind kind_aarch64(const char *text)
{
	static const char *const branches[] = {"cbz", "cbnz", "tbz", "tbnz", NULL};
	static const char *const jumps[] = {"b", "br", "braa", "brab", "braaz", "brabz", NULL};
	static const char *const calls[] = {
		"bl", "blr", "blraa", "blrab", "blraaz", "blrabz", NULL};
	size_t len = strcspn(text, " \t");

	if (is_one_of(text, len, calls))
		return CODETAB_CALL;
	if (is_one_of(text, len, jumps))
		return CODETAB_JUMP;
	if (begins(text, "ret") || begins(text, "eret"))
		return CODETAB_RETURN;
	return begins(text, "b.") || begins(text, "bc.") || is_one_of(text, len, branches)
		? CODETAB_BRANCH
		: CODETAB_PLAIN;
}

static enum codetab_kind kind_told(const struct disassemble_info *info, const char *text)
{
	static const char *const returns[] = {"ret", "blr", "bx", "jr", NULL};

	if (!info->insn_info_valid)
		return CODETAB_PLAIN;
	switch (info->insn_type) {
	case dis_noninsn:
		return CODETAB_BAD;
	case dis_branch:
		return is_one_of(text, strcspn(text, " \t"), returns) ? CODETAB_RETURN
								      : CODETAB_JUMP;
	case dis_condbranch:
		return CODETAB_BRANCH;
	case dis_jsr:
	case dis_condjsr:
		return CODETAB_CALL;
	case dis_nonbranch:
	case dis_dref:
	case dis_dref2:
	default:
		return CODETAB_PLAIN;
	}
}

static enum codetab_kind kind_of(const struct run *run)
{
	const char *text = run->text;

	/* ".inst 0x... ; undefined", ".word": data. */
	if (text[0] == '.' || text[0] == '\0' || strstr(text, "(bad)") || begins(text, "<unknown>"))
		return CODETAB_BAD;
	switch (run->code->machine) {
	case EM_X86_64:
	case EM_386:
		return kind_x86(text);
	case EM_AARCH64:
		return kind_aarch64(text);
	default:
		return kind_told(&run->info, text);
	}
}

/* Replaces tabs by blanks: operands get their own column. */
static size_t lay_out(const struct run *run, size_t end, char out[TEXT_MAX])
{
	size_t len = 0;
	bool first = true;

	for (size_t i = 0; i < end && len < TEXT_MAX - OPERANDS_AT - 1; i++) {
		unsigned char c = (unsigned char)run->text[i];

		out[len++] = c < ' ' ? ' ' : (char)c;
		while (c == '\t' && first && len < OPERANDS_AT)
			out[len++] = ' ';
		first &= c != '\t';
	}
	return len;
}

static size_t lay_out_bytes(const uint8_t *bytes, size_t n, char out[TEXT_MAX])
{
	int len = snprintf(out, TEXT_MAX, ".byte ");

	for (size_t i = 0; i < n; i++)
		len += snprintf(
			out + len, TEXT_MAX - (size_t)len, "%s0x%02x", i ? "," : " ", bytes[i]);
	return (size_t)len;
}

/* Disassembles one instruction at `at`. */
static void take_one(struct run *run, disassembler_ftype disassemble, size_t step, size_t at,
	struct codetab_builder *builder, struct codetab_entry *entry)
{
	const struct disasm_code *code = run->code;
	const size_t left = code->len - at;
	char text[TEXT_MAX];

	run->text[0] = '\0';
	run->len = 0;
	run->commented = run->has_target = false;
	run->info.insn_info_valid = 0;
	int n = disassemble(code->address + at, &run->info);
	size_t len = n > 0 ? (size_t)n : step;
	enum codetab_kind kind = n > 0 && len <= left ? kind_of(run) : CODETAB_BAD;

	if (kind == CODETAB_BAD && (n <= 0 || len > BAD_MAX))
		len = step;
	len = len < left ? len : left;
	*entry = (struct codetab_entry){
		.start = code->address + at,
		.target = CODETAB_NO_TARGET,
		.len = (uint8_t)len,
		.kind = (uint8_t)kind,
	};
	if (kind == CODETAB_BAD) {
		n = (int)lay_out_bytes(code->bytes + at, len, text);
	} else if (run->has_target && kind != CODETAB_PLAIN) {
		entry->target = run->target;
		n = (int)lay_out(run, run->target_at, text);
	} else {
		n = (int)lay_out(run, run->len, text);
		while (n > 0 && text[n - 1] == ' ')
			n--;
	}
	entry->text = codetab_builder_string(builder, text, (size_t)n);
}

static void prepare(struct run *run, const struct library *library, const struct machine *machine)
{
	const struct disasm_code *code = run->code;
	struct disassemble_info *info = &run->info;

	library->init(info, run, print_plain, print_styled);
	info->arch = machine->arch;
	info->mach = code->is64 ? machine->mach64 : machine->mach32;
	info->flavour = bfd_target_elf_flavour;
	info->endian = code->big_endian ? BFD_ENDIAN_BIG : BFD_ENDIAN_LITTLE;
	info->endian_code = info->endian;
	/* arm64 instructions are always little-endian. */
	if (code->machine == EM_AARCH64)
		info->endian_code = BFD_ENDIAN_LITTLE;
	if (machine->arch == bfd_arch_i386)
		info->disassembler_options = code->syntax == DISASM_INTEL ? "intel" : "att";
	info->read_memory_func = read_memory;
	info->memory_error_func = memory_error;
	info->print_address_func = print_address;
	library->init_target(info);
}

int disasm_run(
	const struct disasm_code *code, struct codetab_builder *builder, disasm_fn *fn, void *ctx)
{
	const struct machine *machine = machine_of(code->machine);
	const struct library *library = NULL;
	disassembler_ftype disassemble = NULL;
	struct run run = {.code = code};
	int ret = 0;

	for (size_t i = 0; machine && i < 2 && !disassemble; i++) {
		library = &libraries[i];
		if (library->handle)
			disassemble = library->find(machine->arch, code->big_endian,
				code->is64 ? machine->mach64 : machine->mach32, NULL);
	}
	if (!disassemble)
		return -ENOTSUP;
	prepare(&run, library, machine);
	for (size_t at = 0; at < code->len && ret == 0;) {
		struct codetab_entry entry;

		take_one(&run, disassemble, machine->step, at, builder, &entry);
		at += entry.len;
		ret = fn(&entry, ctx);
	}
	library->free_target(&run.info);
	return ret;
}
