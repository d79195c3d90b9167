#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks live callchains of a program without frame pointers against its source.

The chains are exactly the program's paths, and each leaf's share is that of its turns.  Copies that
are too short grow.  Time off the CPU has whole chains, too.

usage: paths.py STROBE PATHS
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

OWN = {"sort_rows", "compare_rows", "find_rows", "match_row", "wide_frame", "wide_leaf", "raise_signal", "handle_signal",
       "handler_leaf", "run_thread", "thread_leaf", "construct_rows", "construct_row", "main"}
MAIN = r"_start;(\S+;)?__libc_start_call_main;main;"
TRUTH = {
    "compare_rows": MAIN + r"sort_rows;\S*qsort\S*;(msort_with_tmp\S*;)*",
    "match_row": MAIN + r"find_rows;(bsearch;)?",
    "construct_row": MAIN + "construct_rows;__cxa_vec_ctor;",
    "wide_leaf": MAIN + "wide_frame;",
    "handler_leaf": MAIN + r"raise_signal;(\S+;)?\S*(raise|kill)\S*;__restore_rt;handle_signal;",
    "thread_leaf": r"\S*clone3?;start_thread;run_thread;",
}
POINTS, WHOLE_PERCENT = 2.0, 99.0
checks = Checks()


def folded(strobe, paths, *options):
    """Returns [(frames below the command's, samples)], {leaf: turns}."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "folded")
        made = subprocess.run([strobe, "export", "--format", "folded", "-F", "999", *options, "-o", out, "--", paths, "4"],
                              capture_output=True, text=True, timeout=120, check=False)
        if not checks.check(f"strobe export {' '.join(options)}", made.returncode == 0, made.stderr):
            checks.finish()
        with open(out, encoding="utf-8") as lines:
            stacks = [line.rstrip("\n").rsplit(" ", 1) for line in lines]
    turns = {name: int(n) for name, n in re.findall(r"^(\w+) (\d+)$", made.stdout, re.MULTILINE)}
    return [(stack.split(";", 1)[1], int(count)) for stack, count in stacks if ";" in stack], turns


def without_kernel(stack):
    return re.split(r";(?:asm_|entry_)", stack)[0]


def has_exact_paths(strobe, paths):
    stacks, turns = folded(strobe, paths, "--call-graph", "dwarf,32760")
    found, false = {}, {}
    for stack, count in stacks:
        leaf = without_kernel(stack).rsplit(";", 1)[-1]
        if leaf not in TRUTH:
            continue
        found[leaf] = found.get(leaf, 0) + count
        if not re.fullmatch(TRUTH[leaf] + leaf, without_kernel(stack)):
            false[stack] = count
    total, wrong = sum(found.values()), sum(false.values())
    checks.check("chains are the source's paths", total and 100 * wrong <= (100 - WHOLE_PERCENT) * total,
                 (wrong, total, sorted(false.items(), key=lambda item: -item[1])[:5]))
    for leaf, n in turns.items():
        share, truth = 100 * found.get(leaf, 0) / max(1, total), 100 * n / sum(turns.values())
        checks.check(f"{leaf}: {share:.2f} % of the samples, {truth:.2f} % of the turns", abs(share - truth) <= POINTS)
    for name in OWN - set(TRUTH) - {"main"}:
        callers = {stack.split(";")[stack.split(";").index(name) - 1] for stack, _ in stacks
                   if name in stack.split(";")[1:] and "[truncated]" not in stack}
        checks.check(f"{name} has one caller", len(callers) == 1, callers)


def grows(strobe, paths):
    """A frame of 24 KiB is larger than the first size of a stack copy."""
    stacks, _ = folded(strobe, paths)
    wide = [(stack, count) for stack, count in stacks if ";wide_leaf" in stack]
    whole = sum(count for stack, count in wide if "[truncated]" not in stack)
    total = sum(count for _, count in wide)
    checks.check("copies of the stack grow where chains are cut", total and 2 * whole > total, (whole, total))


def whole_percent(strobe, event, *options):
    """Returns the percentage of whole chains of perl, which has no frame pointers.

    None if there is no report.
    """
    program = "sub deep { $_[0] ? deep($_[0] - 1) : (getppid(), select(undef, undef, undef, 0.001)) } deep(5) for 1..1500"
    made = subprocess.run([strobe, "report", "-e", event, *options, "--format", "json", "--", "perl", "-e", program],
                          capture_output=True, text=True, timeout=120, check=False)
    if not checks.check(f"strobe report -e {event}", made.returncode == 0, made.stderr):
        return None
    got = json.loads(made.stdout)["events"][0]
    sums = got["samples"] + got["lost"] + got["filtered"]
    if event != "off-cpu":
        checks.check(f"{event}: each hit is a sample, lost or filtered", 0 <= got["count"] - sums <= 1 and got["samples"],
                     (sums, got["count"]))
    return got.get("chains_whole_percent")


def hits(strobe):
    """Events that fire at each hit copy stacks only on request, since copies cost hits."""
    libc = re.search(r"/\S*libc\.so\.6", subprocess.run(["ldd", "/usr/bin/perl"], capture_output=True, text=True,
                                                        check=True).stdout).group()
    for event in ("syscalls:sys_enter_getppid", f"uprobe:{libc}:getppid"):
        whole = whole_percent(strobe, event, "-c", "1", "--call-graph", "dwarf,4096")
        checks.check(f"{event}: {whole} % of the chains are whole", whole is not None and whole >= 95)


def sleeps(strobe):
    """Checks time off the CPU, live and in a recording of stacks."""
    whole = whole_percent(strobe, "off-cpu")
    checks.check(f"off-cpu: {whole} % of the chains are whole", whole is not None and whole >= 95)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        subprocess.run([strobe, "record", "--keep-stacks", "-e", "cpu-clock,off-cpu", "-o", data, "--", "perl", "-e",
                        "select(undef, undef, undef, 0.001) for 1..500"], capture_output=True, timeout=120, check=True)
        told = subprocess.run([strobe, "report", "-e", "off-cpu", "--format", "json", data], capture_output=True, text=True,
                              timeout=120, check=True).stdout
    event = next(event for event in json.loads(told)["events"] if event["name"] == "off-cpu")
    checks.check("off-cpu, recorded stacks: chains are whole", event.get("chains_whole_percent", 0) >= 95,
                 (event["samples"], event.get("chains_whole_percent")))
    checks.check("off-cpu, recorded stacks: main waited", any(row["symbol"] == "main" and row["total_percent"] >= 90
                                                             for row in event["rows"]), event["rows"][:8])


def is_limited(strobe, paths):
    """Checks a limit of frames, and an event that uses frame pointers."""
    stacks, _ = folded(strobe, paths, "--max-stack", "3")
    frames = [len([name for name in stack.split(";") if name != "[truncated]"]) for stack, _ in stacks]
    checks.check("--max-stack 3: no chain has more frames", frames and max(frames) <= 3, max(frames))
    stacks, _ = folded(strobe, paths, "-e", "cpu-clock/call-graph=fp/")
    whole = sum(count for stack, count in stacks if ";main;" in stack and "[truncated]" not in stack)
    checks.check("call-graph=fp: main() is no caller", whole * 20 < sum(count for _, count in stacks), whole)


def written_ends(strobe):
    """The program's entry has no unwind data; its recorded chains are still marked as whole."""
    code = """__attribute__((noinline)) void spin(void) { for (volatile int i = 0; i < 100000000; i++); }
              void begin(void) { spin(); __asm__ volatile("syscall" : : "a"(60), "D"(0)); }
              __asm__(".globl _start\\n_start: xor %ebp, %ebp\\n call begin\\n");"""
    with tempfile.TemporaryDirectory() as folder:
        program, data = os.path.join(folder, "program"), os.path.join(folder, "data")
        subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-nostdlib", "-static", "-x", "c", "-", "-o", program],
                       input=code, text=True, check=True)
        subprocess.run([strobe, "record", "-e", "cpu-clock:u", "-o", data, "--", program], capture_output=True, timeout=120,
                       check=True)
        told = subprocess.run([strobe, "report", "--format", "json", data], capture_output=True, text=True, timeout=120,
                              check=True).stdout
    whole = json.loads(told)["events"][0].get("chains_whole_percent", 0)
    checks.check(f"an entry without unwind data: {whole} % of the chains are whole", whole >= 95)


def records(strobe, paths):
    """perf reads strobe's chains, and unwinds the stacks that --keep-stacks writes."""
    if not shutil.which("perf"):
        checks.skip("recordings", "perf is not here")
        return
    for options in ([], ["--keep-stacks"]):
        name = " ".join(["strobe record", *options])
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            made = subprocess.run([strobe, "record", "-F", "999", *options, "-o", data, "--", paths, "2"],
                                  capture_output=True, text=True, timeout=120, check=False)
            if not checks.check(name, made.returncode == 0, made.stderr):
                continue
            mapped = subprocess.run(["perf", "script", "-i", data, "--show-mmap-events"], capture_output=True, text=True,
                                    timeout=300, check=False).stdout
            checks.check(f"{name}: nothing is mapped from before the program", os.path.realpath(strobe) not in mapped
                         and paths in mapped)
            told = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym", "--no-inline"], capture_output=True, text=True,
                                  timeout=300, check=False).stdout
        chains = [re.findall(r"^\s+[0-9a-f]+ (\S+)", chain, re.MULTILINE) for chain in told.split("\n\n")]
        # If perf 6.1 has cached a library's debug file, it looks there for unwind data, and finds
        # none.
        entry = "main" if options else "_start"
        for leaf, caller, root in (("match_row", "find_rows", entry), ("thread_leaf", "run_thread", "start_thread")):
            found = [chain for chain in chains if chain and chain[0] == leaf]
            good = [chain for chain in found if len(chain) > 2 and chain[1] == caller and root in chain]
            checks.check(f"{name}: perf has {leaf} called by {caller}, from {root}: {len(good)} of {len(found)}",
                         found and len(good) >= 0.95 * len(found), found[:2])


def knows_small_programs(strobe):
    """The linker's start files have code without rules: most of the code of a small program."""
    code = "__attribute__((noinline)) int rec(int n) { volatile int m = n; return n ? rec(n - 1) + m : n; }\n" \
           "int main(int argc, char **argv) { (void)argv; for (;;) rec(20 + argc); }\n"
    with tempfile.TemporaryDirectory() as folder:
        for name, option in (("with", "-fasynchronous-unwind-tables"), ("without", "-fno-asynchronous-unwind-tables")):
            program = os.path.join(folder, name)
            subprocess.run(["cc", "-O2", "-fomit-frame-pointer", option, "-x", "c", "-", "-o", program], input=code, text=True,
                           check=True)
            with subprocess.Popen([program]) as child:
                told = subprocess.run([strobe, "doctor"], capture_output=True, text=True, timeout=120, check=False).stdout
                child.kill()
            line = next((line for line in told.splitlines() if line.endswith(program)), "")
            checks.check(f"doctor: a small program {name} unwind data", line.split()[2:3] == ["yes" if name == "with" else "no"],
                         line or told)


has_exact_paths(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
grows(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
records(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
sleeps(os.path.abspath(sys.argv[1]))
hits(os.path.abspath(sys.argv[1]))
knows_small_programs(os.path.abspath(sys.argv[1]))
is_limited(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
if os.uname().machine == "x86_64":
    written_ends(os.path.abspath(sys.argv[1]))
checks.finish()
