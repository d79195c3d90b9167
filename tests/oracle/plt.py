#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares PLT entries ("function@plt") with objdump's labels, and their samples with perf's.

A program and a shared library call functions of libc and of their own.  They are linked in each way
that changes the layout of entries; for other machines without libc, so that a compiler suffices.
Each label of objdump -d is strobe's, with the same address and size, to its last byte.  strobe has
no other ones.

usage: plt.py STROBE DUMP_NAMES
"""

import bisect
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
strobe, dump = (os.path.abspath(path) for path in sys.argv[1:3])

LIBRARY = """
#include <stdio.h>
#include <stdlib.h>
int own_second(int x);
void own_empty(void) {}
int own_first(int x) { return own_second(x) + 1; }
int own_second(int x)
{
    char *text = malloc(20);
    sprintf(text, "%d", x);
    x = (int)strtol(text, NULL, 10);
    free(text);
    return x;
}
"""
# malloc is called, and its address taken, which may give it an entry of another kind.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int own_first(int x);
int own_second(int x);
void own_empty(void);
void *(*volatile allocate)(size_t) = malloc;
int main(int argc, char **argv)
{
    char *text = malloc(100), *more = allocate(own_second(argc));
    strncpy(text, getenv("HOME") ? argv[0] : "", 99);
    puts(text);
    qsort(text, strlen(text), 1, (int (*)(const void *, const void *))strcmp);
    printf("%d\\n", own_first(argc));
    free(more);
    free(text);
    for (clock_t end = clock() + CLOCKS_PER_SEC / 4; clock() < end;)
        for (int i = 0; i < 1000000; i++)
            own_empty();
}
"""
BARE_LIBRARY = """
int own_second(int x), away_first(int x), away_second(int x);
int own_first(int x) { return own_second(x) + away_first(x); }
int own_second(int x) { return away_second(x) * 2 + away_first(x + 1); }
"""
BARE_PROGRAM = """
int own_first(int x), own_second(int x);
void _start(void)
{
    for (;;)
        own_first(own_second(1));
}
"""
# Ways to link them: (name, compiler, options).
BUILDS = [
    ("gcc", "gcc", []),
    ("gcc, .plt.sec", "gcc", ["-fcf-protection", "-Wl,-z,ibtplt"]),
    ("gcc, bound at once", "gcc", ["-Wl,-z,now", "-fcf-protection=none"]),
    ("gcc without PLT", "gcc", ["-fno-plt", "-Wl,-z,now"]),
    ("gcc, no PIE", "gcc", ["-no-pie", "-fno-pie"]),
    ("gold", "gcc", ["-fuse-ld=gold"]),
    ("clang", "clang", []),
    ("clang, lld", "clang", ["-fuse-ld=lld"]),
    ("clang, lld, bound at once", "clang", ["-fuse-ld=lld", "-Wl,-z,now"]),
]
ARM64_CLANG = ["--target=aarch64-linux-gnu", "-fuse-ld=lld"]
ARM64_MARKED = ["-mbranch-protection=standard", "-Wl,-z,force-bti", "-Wl,-z,pac-plt"]
BARE_BUILDS = [
    ("i386", "gcc", ["-m32"]),
    ("i386, no PIE", "gcc", ["-m32", "-no-pie", "-fno-pie"]),
    ("i386, .plt.sec", "gcc", ["-m32", "-fcf-protection", "-Wl,-z,ibtplt"]),
    ("i386, lld", "clang", ["-m32", "-fuse-ld=lld"]),
    ("arm64, lld", "clang", ARM64_CLANG),
    ("arm64, lld, BTI and PAC", "clang", ARM64_CLANG + ARM64_MARKED),
    ("arm64", "aarch64-linux-gnu-gcc", []),
    ("arm64, BTI and PAC", "aarch64-linux-gnu-gcc", ARM64_MARKED),
]


def build(folder, compiler, options, texts):
    """Returns ((program, library), None), or (None, the reason)."""
    if not shutil.which(compiler):
        return None, f"no {compiler} here"
    os.makedirs(folder)
    paths = {}
    for name, text in zip(("own.c", "program.c"), texts):
        paths[name] = os.path.join(folder, name)
        with open(paths[name], "w", encoding="ascii") as out:
            out.write(text)
    library, program = os.path.join(folder, "libown.so"), os.path.join(folder, "program")
    if texts[0] == BARE_LIBRARY:
        options = [*options, "-nostdlib", "-Wl,--allow-shlib-undefined"]
    shared = [option for option in options if option not in ("-no-pie", "-fno-pie")]
    for command in ([compiler, "-O1", "-shared", "-fPIC", *shared, paths["own.c"], "-o", library],
                    [compiler, "-O1", "-w", *options, paths["program.c"], "-L" + folder, "-lown",
                     "-Wl,-rpath," + folder, "-o", program]):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return None, f"{compiler} {' '.join(options)}: {made.stderr.strip().splitlines()[:1]}"
    return (program, library), None


SECTIONS = (".plt", ".plt.got", ".plt.sec")


def stubs(file):
    """Returns {address: (name, size)} of objdump's labels, and [(start, end)] of all stub sections.

    A stub ends at the next label, or at the end of its section.  objdump also labels the header of
    a table, relative to a stub ("free@plt-0x10"); these labels are left out.
    """
    shown = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True).stdout
    sections = [(int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in
                re.findall(r"\] \.plt[.\w]* +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", shown)]
    only = [option for kind in SECTIONS for option in ("-j", kind)]
    shown = subprocess.run(["objdump", "-d", *only, file], capture_output=True, text=True, check=False).stdout
    labels = [(int(row[0], 16), row[1]) for row in re.findall(r"^([0-9a-f]+) <(.*)>:$", shown, re.MULTILINE)]
    ends = sorted({address for address, _ in labels} | {end for _, end in sections})
    return {address: (name, ends[bisect.bisect_right(ends, address)] - address)
            for address, name in labels if name.endswith("@plt")}, sections


def knows(file):
    shown = subprocess.run(["objdump", "-f", file], capture_output=True, check=False)
    return shown.returncode == 0 and b"UNKNOWN" not in shown.stdout


def ours(cases, library):
    """Returns {file: {address: (start, size, name)}} of every byte of the stub sections, by strobe.

    library: a libbfd other than strobe's own, or None.
    """
    files = [case[1] for case in cases]
    questions = [(number, address) for number, case in enumerate(cases) for start, end in case[3]
                 for address in range(start, end)]
    environment = dict(os.environ)
    if library:
        options = f"{environment.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
        environment.update(LD_PRELOAD=library, ASAN_OPTIONS=options)
    told = subprocess.run([dump, *files], input="".join(f"{number} {address:x}\n" for number, address in questions),
                          capture_output=True, text=True, check=True, timeout=120, env=environment).stdout.splitlines()
    answers = collections.defaultdict(dict)
    for (number, address), line in zip(questions, told):
        row = line.split("\t")
        answers[files[number]][address] = None if row == ["-"] else (int(row[0], 16), int(row[1]), row[2])
    return answers


def compare(name, file, labels, answers, least):
    wrong = []
    for address, (label, size) in labels.items():
        for at in (address, address + size - 1):
            if answers.get(at) != (address, size, label):
                wrong.append(f"{at:#x}: {label}, {size} bytes at {address:#x}; ours {answers.get(at)}")
    named = {(answer[0], answer[2]) for answer in answers.values() if answer and answer[2].endswith("@plt")}
    wrong += [f"{label} at {address:#x} is not objdump's" for address, label in
              sorted(named - {(address, label) for address, (label, _) in labels.items()})]
    kind = os.path.basename(file)
    checks.check(f"{name}: {len(labels)} entries of the {kind} as objdump names them",
                 not wrong and len(labels) >= least, f"at least {least}; " + "; ".join(wrong[:4]))


def check_names(folder):
    """Checks all names; returns {name: program}."""
    programs, cases = {}, []
    for texts, builds, least in (((LIBRARY, PROGRAM), BUILDS, (12, 5)),
                                 ((BARE_LIBRARY, BARE_PROGRAM), BARE_BUILDS, (2, 2))):
        for name, compiler, options in builds:
            place = os.path.join(folder, f"{compiler}-{len(os.listdir(folder))}")
            made, reason = build(place, compiler, options, texts)
            if not made:
                checks.skip(name, reason)
            elif not knows(made[0]):
                checks.skip(name, "objdump, and with it libbfd, does not know this machine")
            else:
                programs[name] = made[0]
                cases += [(name, file, *stubs(file), 1 if name == "gcc without PLT" else count)
                          for file, count in zip(made, least)]
    libc = re.search(r"=> (\S*/libc\.so\.6)", subprocess.run(
        ["ldd", programs.get("gcc", sys.executable)], capture_output=True, text=True, check=False).stdout)
    if libc:
        cases.append(("indirect functions", libc[1], *stubs(libc[1]), 10))
    # Debian has one libbfd for the machine's own kind, which strobe uses, and one for all kinds,
    # which objdump uses.
    used = re.search(r"=> (\S*/libbfd\S*)", subprocess.run(
        ["ldd", shutil.which("objdump")], capture_output=True, text=True, check=False).stdout)
    foreign = [case for case in cases if case[0].startswith("arm64")]
    answers = ours([case for case in cases if case not in foreign], None)
    if foreign:
        answers.update(ours(foreign, used and used[1]))
    for name, file, labels, _, least in cases:
        compare(name, file, labels, answers[file], least)
    return programs


def check_samples(name, program, folder):
    """Counts samples in the entry of a hot function by perf and by strobe, on one recording.

    Only the program and its library are compared: perf (6.1) does not name all entries of libc."""
    data = os.path.join(folder, "data")
    own = (os.path.basename(program), "libown.so")
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "20000", "-o", data, "--", program],
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        checks.skip(f"samples, {name}", f"perf record does not work here: {done.stderr.strip()}")
        return
    shown = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso", "-G"],
                           capture_output=True, text=True, check=True).stdout
    theirs = collections.Counter(match[1] for match in re.finditer(
        r"^\s*[0-9a-f]+ (\S+@plt) \((\S+)\)\s*$", shown, re.MULTILINE) if os.path.basename(match[2]) in own)
    shown = subprocess.run([strobe, "report", data, "--format", "json"],
                           capture_output=True, text=True, check=True).stdout
    mine = collections.Counter({row["symbol"]: row["samples"] for row in json.loads(shown)["events"][0]["rows"]
                                if row["samples"] and row["symbol"].endswith("@plt") and
                                row["image"] in own})
    if not theirs and not mine:
        checks.skip(f"samples, {name}", "none fell into an entry")
        return
    checks.check(f"samples, {name}: {theirs['own_empty@plt']} in own_empty@plt, as perf counts them",
                 mine == theirs and theirs["own_empty@plt"], f"ours {mine}, perf {theirs}")


missing = [tool for tool in ("gcc", "objdump", "readelf") if not shutil.which(tool)]
if missing:
    checks.skip("plt", f"no {', '.join(missing)} here")
    checks.finish()
with tempfile.TemporaryDirectory() as top:
    made = check_names(top)
    if not shutil.which("perf"):
        checks.skip("samples", "no perf here")
    else:
        for which in ("gcc", "gold"):
            if which in made:
                check_samples(which, made[which], top)
checks.finish()
