#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that were stripped, partly or completely, or linked in unusual ways.

A name covers only its function, and every table that belongs to a file is used.  A function
without a name is one row, by the address that nm gives it.

usage: stripped.py STROBE
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp(prefix="strobe-test-stripped-")
ENV = {"XDG_CACHE_HOME": os.path.join(folder, "cache"), "HOME": folder}

MAIN = """
#include <time.h>
void stub(void);
volatile long word;
/* The loop that nm's name is for. */
static __attribute__((noinline)) long inner(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++) {
		sum += i * i;
		__asm__ volatile("" : : "r"(sum));
	}
	word++;
	return sum;
}
__attribute__((noinline, visibility("hidden"))) long outer(long n) { return inner(n) + inner(n + 1) * 3; }
int main(void)
{
	long sum = 0;
	stub();
	while (clock() < CLOCKS_PER_SEC / 4)
		sum += outer(10000);
	return sum == 1;
}
"""
STUB = """
	.text
	.globl stub
stub:
	ret
	.section .note.GNU-stack,"",@progbits
"""
# Code after the stub that neither a symbol nor .eh_frame covers.
HIDDEN_LOOP = {"x86_64": "1:	dec %eax\n	jnz 1b", "aarch64": "1:	subs w0, w0, #1\n	b.ne 1b"}
HIDDEN_START = {"x86_64": "	movl $300000000, %eax", "aarch64": "	mov w0, #0x10000000"}
HIDDEN = """
	.text
	.globl stub
stub:
	nop
	.type tail, %function
tail:
START
LOOP
	ret
	.size tail, .-tail
	.globl next
	.type next, %function
next:
	ret
	.size next, .-next
	.section .note.GNU-stack,"",%progbits
"""
CALLER = "void stub(void); int main(void) { stub(); return 0; }"
# Number of symbols inside `stub`, the first at its start; its own loop follows the last one.
NESTED = 40


def nested():
    machine = os.uname().machine
    lines = ["	.text", "	.globl stub", "	.type stub, %function", "stub:"]
    lines += [line for i in range(NESTED) for line in
              (f"	.globl part{i}", f"	.type part{i}, %function", f"part{i}:", "	nop", f"	.size part{i}, 4")]
    lines += [HIDDEN_START[machine], HIDDEN_LOOP[machine], "	ret", "	.size stub, .-stub",
              '	.section .note.GNU-stack,"",%progbits', ""]
    return "\n".join(lines)


def many_segments():
    """Return a linker script that gives each of 200 functions a segment of its own, and the
    functions."""
    headers = "\n".join(f"  p{i} PT_LOAD;" for i in range(200))
    sections = "\n".join(f"  . = ALIGN(0x1000); .t{i} : {{ *(.t{i}) }} :p{i}" for i in range(200))
    script = f"PHDRS {{\n  head PT_LOAD FILEHDR PHDRS;\n{headers}\n  text PT_LOAD;\n}}\nSECTIONS {{\n  . = 0x400000 + SIZEOF_HEADERS;\n" \
             f"{sections}\n  . = ALIGN(0x1000); .text : {{ *(.text*) *(.rodata*) *(.data*) *(.bss*) *(.eh_frame) }} :text\n" \
             "  /DISCARD/ : { *(.note*) *(.comment) }\n}\n"
    code = "\n".join(f'__attribute__((noinline, section(".t{i}"))) void f{i}(long n) {{ for (long j = 0; j < n; j++) '
                     f'__asm__ volatile("nop"); }}' for i in range(200))
    calls = "\n".join(f"f{i}(1000);" for i in range(200))
    code += "\nvoid _start(void) { " + calls + " f170(400000000); " + \
        {"x86_64": '__asm__ volatile("syscall" : : "a"(231), "D"(0));',
         "aarch64": '__asm__ volatile("mov x8, #94; mov x0, #0; svc #0");'}[os.uname().machine] + " }"
    return script, code


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as out:
        out.write(text)
    return path


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder,
                          env=dict(os.environ, **ENV, LC_ALL="C")).stdout


def make(name, sources, *options):
    run("gcc", "-O2", "-Wl,--build-id", *options, *sources, "-o", name)
    return os.path.join(folder, name)


def derived(name, of, tool, *options):
    run(tool, *options, of, *(("-o", name) if tool == "strip" else (name,)))
    return os.path.join(folder, name)


def address_of(path, symbol):
    return next(line.split()[0].lstrip("0") for line in run("nm", path).splitlines() if line.split()[-1] == symbol)


def shares(path, *options):
    """Return {symbol: percent of the samples in the program's own file} without rows of 0, and
    strobe's output."""
    done = common.run([strobe, "report", "-F", "997", "--format", "json", *options, "--", path], env=ENV, cwd=folder)
    try:
        rows = [row for event in json.loads(done.out[done.out.index("{"):])["events"] for row in event["rows"]
                if row["image"] == os.path.basename(path) and row["samples"]]
    except ValueError:
        return {}, str(done)
    total = sum(row["samples"] for row in rows)
    return {row["symbol"]: 100 * row["samples"] / total for row in rows}, str(done)[:1000]


def expect(name, path, wanted, *options):
    """Nearly all samples of the file are in one row with this name."""
    found, said = shares(path, *options)
    checks.check(name, found.get(wanted, 0) > 90, f"{found} {said if not found else ''}")


def check_bounds():
    sources = [write("stub.s", STUB), write("main.c", MAIN)]
    for name, options in {"pie": ["-rdynamic"], "fixed": ["-rdynamic", "-no-pie"], "lld": ["-rdynamic", "-fuse-ld=lld"]}.items():
        if name == "lld" and not shutil.which("ld.lld"):
            checks.skip("lld", "there is no ld.lld")
            continue
        whole = make(name, sources, *options)
        inner = address_of(whole, "inner")
        expect(f"{name}: its own names", whole, "inner")
        for way in ("-s", "-x"):
            path = derived(f"{name}{way}", whole, "strip", way)
            expect(f"{name}, strip {way}: a function behind a stub is a row of its own", path,
                   f"{os.path.basename(path)}+0x{inner}")
    path = os.path.join(folder, "fixed-s")
    done = common.run([strobe, "annotate", f"fixed-s+0x{address_of(os.path.join(folder, 'fixed'), 'inner')}", "--", path],
                      env=ENV, cwd=folder)
    checks.check("such a row can be annotated", re.search(r"^fixed-s\+0x\w+ in \S+, \d+ bytes at 0x\w+$", done.out, re.M) and
                 re.search(r"[0-9.]+%\s+" + address_of(os.path.join(folder, "fixed"), "inner")[:-2], done.out), str(done))


def check_uncertain():
    machine = os.uname().machine
    text = HIDDEN.replace("START", HIDDEN_START[machine]).replace("LOOP", HIDDEN_LOOP[machine])
    whole = make("hidden", [write("hidden.s", text), write("caller.c", CALLER)], "-rdynamic")
    expect("nothing was stripped: the symbol is the next one's", whole, "tail")
    path = derived("hidden-s", whole, "strip", "-s")
    expect("code that nothing tells of is told to be uncertain", path, "stub+0x...?")
    found, said = shares(path, "--symbol", "stub")
    checks.check("and is found by the name", found.get("stub+0x...?", 0) > 90, f"{found} {said}")


def breakpoints_hit(program):
    """Asks perf: some virtual machines accept breakpoints and report no hit."""
    address = re.search(r"(?m)^([0-9a-f]+) \w word$", common.run(["nm", program]).out)
    if not address or not shutil.which("perf"):
        return False
    done = common.run(["perf", "stat", "-x,", "-e", f"mem:0x{address[1]}/4:w", "--", program], env=ENV, cwd=folder)
    count = re.search(r"(?m)^(\d+),", done.err)
    return bool(count and int(count[1]))


def check_tables():
    whole = make("tables", [write("stub.s", STUB), write("main.c", MAIN)], "-g", "-no-pie")
    derived("tables.debug", whole, "objcopy", "--only-keep-debug")
    path = derived("left", whole, "strip", "-s", "-K", "main")
    run("objcopy", "--add-gnu-debuglink=tables.debug", path)
    expect("a symbol that was left: the debug file's names count", path, "inner")
    for event, least in ((f"uprobe:{path}:inner", 2), ("mem:word:w", 2)):
        done = common.run([strobe, "stat", "--format", "csv", "-e", event, "--", path], env=ENV, cwd=folder)
        count = re.search(r"(?m)^(\d+),", done.out) or re.search(r",(\d+),", done.out)
        if "mem:" in event and done.status and "limit" in done.err:
            checks.skip(event, "no breakpoint is free")
            continue
        if "mem:" in event and "never reports a hit" in done.err and not breakpoints_hit(whole):
            checks.skip(event, "this machine reports no hits of breakpoints")
            continue
        checks.check(f"{event.split(':')[0]} by a name of the debug file", count and int(count[1]) >= least, str(done)[:600])
    if not shutil.which("xz"):
        checks.skip("packed symbols", "there is no xz")
        return
    mini = derived("mini", whole, "strip", "-g")
    run("xz", "-k", mini)
    path = derived("packed", whole, "objcopy", "--add-section", ".gnu_debugdata=mini.xz")
    path = derived("packed-left", path, "strip", "-s", "-K", "main")
    expect("a symbol that was left: names packed in the file count", path, "inner")


def check_layouts():
    path = make("nested", [write("nested.s", nested()), write("caller.c", CALLER)])
    expect(f"a function goes on behind {NESTED} symbols inside of it", path, "stub")
    script, code = many_segments()
    path = make("segments", [write("segments.c", code)], "-nostdlib", "-static", "-fno-builtin", "-no-pie",
                "-Wl,-T," + write("segments.ld", script))
    checks.check("200 segments", run("readelf", "-lW", path).count("LOAD") > 200)
    expect("names of a file with 200 segments", path, "f170")


def check_exports():
    """Folded stacks have the function's start, and perf script's text has nm's addresses."""
    whole, data = os.path.join(folder, "fixed"), os.path.join(folder, "stripped.data")
    start = int(address_of(whole, "inner"), 16)
    size = next(int(line.split()[1], 16) for line in run("nm", "-S", whole).splitlines() if line.split()[-1] == "inner")
    done = common.run(["perf", "record", "-q", "-g", "-F", "997", "-e", "cpu-clock:u", "-o", data, "--",
                       os.path.join(folder, "fixed-s")], env=ENV, cwd=folder)
    if not os.path.exists(data):
        checks.skip("exports", str(done)[-300:])
        return
    text = common.run([strobe, "export", data, "--format", "folded"], env=ENV, cwd=folder).out
    leaves = {line.rsplit(" ", 1)[0].rsplit(";", 1)[-1]: int(line.rsplit(" ", 1)[1]) for line in text.splitlines()}
    checks.check("folded stacks have the function by its address", f"fixed-s+0x{start:x}" in leaves and "[fixed-s]" not in leaves,
                 leaves)
    text = common.run([strobe, "export", data, "--format", "script"], env=ENV, cwd=folder).out
    found = [int(line.split()[0], 16) for line in re.findall(r"\n\t(.*) \[unknown\] \(/\S*/fixed-s\)", text)]
    inside = [address for address in found if start <= address < start + size]
    checks.check("script: addresses are those that nm and objdump give", len(inside) > 0.4 * len(found) > 0,
                 (hex(start), [hex(address) for address in found[:5]]))


def main():
    if not shutil.which("gcc") or os.uname().machine not in HIDDEN_LOOP:
        checks.skip("stripped", "there is no gcc for this machine")
        checks.finish()
    try:
        check_bounds()
        check_exports()
        check_uncertain()
        check_tables()
        check_layouts()
    finally:
        shutil.rmtree(folder)
    checks.finish()


if __name__ == "__main__":
    main()
