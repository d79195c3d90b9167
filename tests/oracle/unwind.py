#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares unwind tables with readelf's of the same .eh_frame.

Every row has the same CFA, rbp, rbx and return address.  Each range of readelf that strobe's rules
can express is in strobe's table, with the same rule to its last byte.  If readelf has no row,
strobe has none.  Only strobe knows that a program's entry has no caller.  Files: libc, the dynamic
linker, python, and programs that are compiled here.

usage: unwind.py DUMP_UNWIND [FILE...]      these files instead
"""

import bisect
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
dump = os.path.abspath(sys.argv[1])

# readelf's names of a machine's registers: stack pointer, frame pointer.
MACHINES = {"X86-64": ("rsp", "rbp"), "AArch64": ("sp", "x29")}
X86 = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", *(f"r{i}" for i in range(8, 16))]

CXX = r"""
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#include <cstdio>
#include <cstdlib>
struct alignas(64) Wide { double x[8]; };
__attribute__((noinline)) double realigned(int n) { Wide w; for (int i = 0; i < 8; i++) w.x[i] = n * i;
    volatile double *p = w.x; return p[n & 7] + rand(); }
__attribute__((noinline)) int variable(int n) { volatile char *p = (char *)__builtin_alloca(n); p[0] = 1; return p[0] + rand(); }
__attribute__((noinline)) int thrower(int n) { if (n > 2) throw std::runtime_error("n"); return n; }
int main(int argc, char **argv) {
    std::map<std::string, std::vector<int>> m;
    for (int i = 0; i < argc + 10; i++) m[std::to_string(i)].push_back(i);
    try { for (int i = 0; i < 5; i++) thrower(i); } catch (const std::exception &e) { puts(e.what()); }
    printf("%f %d %zu\n", realigned(argc), variable(argc + 100), m.size());
}
"""

FREESTANDING = """
int g(int);
int a[64];
__attribute__((noinline)) int f(int x) { volatile int b[500];
    for (int i = 0; i < 500; i++) b[i] = g(x); return b[x] + a[x]; }
__attribute__((noinline)) int g(int x) { return x ? f(x - 1) + 1 : 2; }
void _start(void) { f(3); }
"""


def run(*command):
    """Returns a command's output, as lines."""
    environment = dict(os.environ, LC_ALL="C", DEBUGINFOD_URLS="")
    return subprocess.run(command, capture_output=True, text=True, env=environment, errors="replace",
                          check=False).stdout.splitlines()


def segments(path):
    """Returns (vaddr, length, offset) of each loaded segment with code."""
    found = []
    for line in run("readelf", "-lW", path):
        match = re.match(r"\s+LOAD\s+0x(\w+)\s+0x(\w+)\s+0x\w+\s+0x(\w+)\s+0x\w+\s+(.*?)\s+0x", line)
        if match and "E" in match[4]:
            found.append((int(match[2], 16), int(match[3], 16), int(match[1], 16)))
    return found


def frames(path):
    """Returns readelf's functions, those of .eh_frame first.

    Each is (start, end, [(address, {column: rule})]).
    """
    kept, cies, usual, functions, row, columns = [], {}, {}, [], None, []
    for line in run("readelf", "--debug-dump=frames-interp", path):
        if line.startswith("Contents of the"):
            kept.append(cies := {})
        elif match := re.match(r"(\w+) \w+ \w+ CIE .* ra=(\d+)", line):
            row = cies.setdefault(int(match[1], 16), [])
            columns, usual[id(row)] = [], match[2] in ("16", "30")
        elif match := re.match(r"\w+ \w+ \w+ FDE cie=(\w+) pc=(\w+)\.\.(\w+)", line):
            row = []
            if not usual[id(cies[int(match[1], 16)])]:
                continue
            functions.append((int(match[2], 16), int(match[3], 16), row, cies[int(match[1], 16)]))
        elif line.split()[:1] == ["LOC"]:
            columns = line.split()[1:]
        elif line.strip() and row is not None and re.match(r"[0-9a-f]{16} ", line):
            # "r10 (r10)" is one word.
            words = re.sub(r" \(\w+\)", "", line).split()
            row.append((int(words[0], 16), dict(zip(columns, words[1:]))))
    return [(start, end, rows or [(start, cie[0][1] if cie else {})]) for start, end, rows, cie in functions]


def ranges_of(functions):
    """Yields (start, end, row), sorted and without overlaps: the earlier start has priority."""
    done = 0
    for start, end, rows in sorted(functions, key=lambda function: function[0]):
        for i, (address, row) in enumerate(rows):
            stop = rows[i + 1][0] if i + 1 < len(rows) else end
            if max(address, done) < min(stop, end):
                yield max(address, done), min(stop, end), row
        done = max(done, end)


def number_of(register, machine):
    """Returns dump_unwind's name of any other register, or None."""
    if machine == "X86-64":
        return f"r{X86.index(register)}" if register in X86 else None
    return "r" + register[1:] if re.fullmatch(r"x([0-9]|1\d|2[0-8])", register) else None


def bx_agrees(saved, rule):
    """Returns whether rbx agrees.

    Rules by rsp or rbp say where rbx is: in its register or in one of the 126 words below the CFA.
    """
    if not re.match(r"[sb]p[+-]", rule[0]):
        return rule[3] == "lost"
    if saved.startswith("c-") and int(saved[2:]) <= 126 * 8 and int(saved[2:]) % 8 == 0:
        return rule[3] == "cfa" + saved[1:]
    return rule[3] == "same" if saved in ("u", "s") else rule[3] == "lost" or saved == "exp"


def agrees(row, rule, machine):
    """Returns whether strobe's rule agrees with readelf's row.

    rule: words of dump_unwind; None if there is no rule.
    """
    sp, bp = MACHINES[machine]
    cfa, ra, saved = row.get("CFA", "u"), row.get("ra", "u"), row.get(bp, "u")
    arm = machine == "AArch64"
    if ra == "u" and not arm:
        return rule is not None and rule[0] == "end"
    match = re.fullmatch(r"(\w+)([+-]\d+)", cfa)
    if cfa == "exp":
        # dump_unwind names the kind of expression; readelf shows no more than this.
        return rule is None or not re.match(r"(none|end)", rule[0])
    base = match and {sp: "sp", bp: "bp"}.get(match[1]) or match and number_of(match[1], machine)
    known = base and (ra.startswith("c") or (arm and ra in ("u", "s")))
    if row.get(sp, "u") not in ("u", "s"):
        known = False
    # On arm64, "u" also means that the return address is lost.
    if arm and ra == "u" and rule and rule[0] == "end":
        return True
    if any(abs(int(place[1:])) > 32767 for place in (ra, saved) if re.match(r"c[+-]", place)):
        return True
    if not known:
        return rule is None
    if rule is None or rule[0] != base + match[2]:
        return False
    if rule[2] != ("same" if ra in ("u", "s") else "cfa" + ra[1:]):
        return False
    if not arm and not bx_agrees(row.get("rbx", "u"), rule):
        return False
    if saved.startswith("c"):
        return rule[1] == "cfa" + saved[1:]
    if saved == "exp":
        return rule[1].startswith(("bp", "cfa", "sp")) or rule[1] == "undefined"
    return rule[1] in (("same", "undefined") if saved == "u" else ("same",) if saved == "s" else ("undefined",))


def table_of(*files):
    """Returns strobe's ranges: [start], and [(end, words)]."""
    starts, rules = [], []
    for line in run(dump, *files):
        words = line.split()
        starts.append(int(words[0], 16))
        rules.append((int(words[1], 16), words[2:]))
    return starts, rules


def compare(name, path, least=1):
    """Compares every row of a file.  least: how many rows there must be."""
    machine = next((line.split()[-1] for line in run("readelf", "-hW", path) if "Machine:" in line), "")
    if machine not in MACHINES:
        return
    starts, rules = table_of(path)
    code = segments(path)
    entry = int(next(line.split()[-1] for line in run("readelf", "-hW", path) if "Entry point" in line), 16)
    entry_at = next((entry - s[0] + s[2] for s in code if s[0] <= entry < s[0] + s[1]), None)
    wrong, rows, covered = [], 0, 0
    functions = frames(path)
    for start, end, row in ranges_of(functions):
        segment = next((s for s in code if s[0] <= start < s[0] + s[1]), None)
        if not segment:
            continue
        rows += 1
        at, stop = start - segment[0] + segment[2], min(end, segment[0] + segment[1]) - segment[0] + segment[2]
        while at < stop:
            i = bisect.bisect_right(starts, at) - 1
            inside = i >= 0 and at < rules[i][0]
            until = min(stop, rules[i][0] if inside else starts[i + 1] if i + 1 < len(starts) else stop)
            begins = inside and starts[i] == entry_at and rules[i][1][0] == "end"
            if not begins and not agrees(row, rules[i][1] if inside else None, machine):
                wrong.append(f"{start:x}..{end:x} {row}: {rules[i][1] if inside else None}")
                break
            covered += until - at if inside else 0
            at = until
    checks.check(f"{name}: every row is readelf's", not wrong, f"{len(wrong)} of {rows} are not: {wrong[:3]}")
    checks.check(f"{name}: readelf has rows enough", rows >= least, rows)
    is_told = any(start <= entry < end for start, end, _ in functions)
    total = sum(end - start for start, (end, rule) in zip(starts, rules)
                if rule[0] != "call+0" and (is_told or start != entry_at or rule[0] != "end"))
    checks.check(f"{name}: no rule where readelf has none", total == covered, f"{total - covered} bytes")


def compile_and_compare(name, folder, compiler, source, options, **more):
    """Compiles a program and compares its rows.  Returns its path, or None."""
    path = os.path.join(folder, name)
    text = path + (".cc" if "++" in compiler else ".c")
    with open(text, "w", encoding="utf-8") as out:
        out.write(source)
    made = subprocess.run([compiler, *options, text, "-o", path], capture_output=True, check=False)
    if made.returncode == 0:
        compare(name, path, **more)
    else:
        checks.skip(name, f"{compiler} does not make it")
    return path if made.returncode == 0 else None


def find_library(name):
    """Returns the path of a library that this process has mapped, or None."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next((line.split()[-1] for line in maps if re.search(rf"/{name}[^/]*$", line)), None)


def check_without_sections(path, folder):
    """Checks that .eh_frame_hdr alone gives the same table."""
    bare = os.path.join(folder, "bare")
    shutil.copy(path, bare)
    with open(bare, "r+b") as out:
        out.seek(0x28)
        out.write(bytes(8))  # e_shoff
        out.seek(0x3c)
        out.write(bytes(4))  # e_shnum, e_shstrndx
    checks.check("the same table without section headers", table_of(bare) == table_of(path))


def check_debug_frame(folder, compiler):
    """Checks a program with .debug_frame alone: in itself, packed, and in its debug file."""
    options = ["-g", "-O2", "-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fno-unwind-tables"]
    source = "#include <stdlib.h>\nint f(int x);\nint f(int x) { return rand() + x; }\n" \
             "int main(void) { return f(rand()) + f(1); }\n"
    path = compile_and_compare("debug_frame", folder, compiler, source, options)
    if not path:
        return
    symbols = {line.split()[-1]: int(line.split()[1], 16) for line in run("readelf", "-sW", path)
               if re.search(r" FUNC .* (f|main)$", line)}
    found = table_of(path)[0]
    code = segments(path)
    at = [value - s[0] + s[2] for value in symbols.values() for s in code if s[0] <= value < s[0] + s[1]]
    checks.check("functions of .debug_frame have rules", len(at) == 2 and all(x in found for x in at))
    packed, debug, stripped = (os.path.join(folder, name) for name in ("packed", "debug", "stripped"))
    run("objcopy", "--compress-debug-sections=zlib", path, packed)
    checks.check("a packed .debug_frame: the same", table_of(packed) == table_of(path))
    run("objcopy", "--only-keep-debug", path, debug)
    run("strip", "-o", stripped, path)
    checks.check("a stripped file: fewer rules", table_of(stripped) != table_of(path))
    checks.check("with its debug file: the same", table_of(stripped, debug) == table_of(path))


def main():
    """Checks all files."""
    for path in sys.argv[2:]:
        compare(path, path, least=0)
    if sys.argv[2:]:
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        libc = find_library("libc[.-]")
        compare("libc", libc, least=10000)
        check_without_sections(libc, folder)
        if os.uname().machine == "x86_64":
            words = {rule[1][0] for rule in table_of(libc)[1]}
            checks.check("libc: a signal frame, an end, a PLT", {"signal+160", "end"} <= words and
                         any(word.startswith("plt+") for word in words), sorted(words)[-5:])
        linker = find_library("ld-linux")
        if linker:
            compare("ld.so", linker, least=1000)
        compare("python", os.path.realpath(sys.executable))
        cxx = shutil.which("g++") or shutil.which("c++")
        cc = shutil.which("gcc") or shutil.which("cc")
        if cxx:
            path = compile_and_compare("cxx_o2", folder, cxx, CXX, ["-O2", "-g"], least=50)
            if path and os.uname().machine == "x86_64":
                checks.check("cxx_o2: a PLT", any(rule[1][0] == "plt+11" for rule in table_of(path)[1]))
            compile_and_compare("cxx_o0", folder, cxx, CXX, ["-O0"], least=50)
            compile_and_compare("cxx_o3_fp", folder, cxx, CXX, ["-O3", "-fno-omit-frame-pointer"], least=50)
            compile_and_compare("cxx_static", folder, cxx, CXX, ["-O2", "-static"], least=10000)
            compile_and_compare("cxx_lazy", folder, cxx, CXX, ["-O2", "-Wl,-z,lazy", "-fcf-protection"], least=50)
        if cc:
            check_debug_frame(folder, cc)
        for compiler in ("aarch64-linux-gnu-gcc", "clang"):
            if shutil.which(compiler):
                target = ["--target=aarch64-linux-gnu", "-fuse-ld=lld"] if compiler == "clang" else []
                compile_and_compare("arm64_" + compiler, folder, compiler, FREESTANDING,
                                    target + ["-O1", "-nostdlib", "-static", "-fasynchronous-unwind-tables",
                                              "-mbranch-protection=standard"], least=5)
    checks.finish()


main()
