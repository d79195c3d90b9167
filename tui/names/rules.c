/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules.c - see rules.h.
 */
#include "tui/names/rules.h"

#include "sampler/base/affix.h"

#include <string.h>

bool names_is_idle(const char *name)
{
	static const char *const exact[] = {"default_idle", "default_idle_call", "native_safe_halt",
		"pv_native_safe_halt", "acpi_idle_do_entry", "acpi_safe_halt", "acpi_idle_enter",
		"acpi_processor_ffh_cstate_enter", "cpu_idle_poll", "arch_cpu_idle", "poll_idle",
		"cpu_startup_entry", "do_idle", "cpu_do_idle", "psci_cpu_suspend_enter",
		"tdx_safe_halt", "xen_safe_halt", "hv_apic_idle", NULL};
	static const char *const prefix[] = {
		"intel_idle", "mwait_idle", "cpuidle_enter", "cpuidle_idle_call", NULL};

	for (int i = 0; exact[i]; i++)
		if (!strcmp(name, exact[i]))
			return true;
	for (int i = 0; prefix[i]; i++)
		if (starts_with(name, prefix[i]))
			return true;
	return false;
}

bool names_may_be_mangled(const char *name)
{
	return name[0] == '_' &&
		(name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' || starts_with(name, "__Z") ||
			starts_with(name, "_GLOBAL_"));
}

bool names_is_truncated(const char *name)
{
	return !strcmp(name, "[truncated]");
}

const char *names_ksymbol_module(const char *name)
{
	if (starts_with(name, "bpf_"))
		return "[bpf]";
	/* It represents unknown callers in user space. */
	if (names_is_truncated(name))
		return "[unknown]";
	if (starts_with(name, "ftrace_"))
		return "[__builtin__ftrace]";
	return starts_with(name, "kprobe_") ? "[__builtin__kprobes]" : "[kernel]";
}
