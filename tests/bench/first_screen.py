#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time from exec to the first screen that names a symbol of the workload, compared with perf top.

Both run in a pseudo-terminal, in turns, five times each; the medians are compared.  The symbol
cache is empty at each start, so no run gains from an earlier one; a second row shows the warm
start.  Then strobe runs alone until most call chains of a program without frame pointers reach
its entry.

usage: first_screen.py STROBE SHARES THREADS PATHS
"""

import os
import shutil
import subprocess
import sys
import tempfile

from benchlib import Terminal, compare, finish, median, verdict, workload

RUNS = 5
NODE = "let x = 0; console.log('ready'); for (;;) x = (x * 31 + JSON.stringify({x}).length) % 65521;"


def once(command, pattern, timeout=60):
    terminal = Terminal(command)
    seconds = terminal.until(pattern, timeout)
    if seconds is None:
        print("    never seen; the screen's end: " + repr(terminal.text_from()[-600:]))
    terminal.close()
    return seconds


def alternate(name, target, pattern, limit_s, strobe, perf):
    """target: the arguments that select it, for strobe and for perf."""
    ours, theirs, warm = [], [], []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as cache:
            command = [strobe, "--cache-dir", cache, *target]
            ours.append(once(command, pattern))
            warm.append(once(command, pattern))
        if perf:
            theirs.append(once([perf, "top", *target], pattern))
    in_ms = [[None if s is None else s * 1000 for s in runs] for runs in (ours, warm, theirs)]
    verdict(f"{name}: first screen", median(in_ms[0]), limit_s * 1000, "ms")
    verdict(f"{name}: first screen, warm cache", median(in_ms[1]), limit_s * 1000, "ms")
    if perf:
        compare(name, median(in_ms[0]), median(in_ms[2]), 0.1, "ms")


def whole_chains(strobe, paths):
    """Profiles a program with libc alone, and a compiler with libLLVM, which has large unwind
    tables."""
    pattern = rb"whole chains (100|9\d)"
    with workload([paths, "4000"]) as work:
        alternate("first whole chains, libc alone", ["-p", str(work.pid)], pattern, 0.1, strobe, None)
    if not shutil.which("clang-14"):
        print("skip: clang-14 is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "long.c")
        with open(source, "w", encoding="utf-8") as out:
            for i in range(20000):
                out.write(f"int f{i}(int *p, int n) {{ int s = {i}; for (int i = 0; i < n; i++) s += p[i] * p[s & 7]; return s; }}\n")
        with workload(["clang-14", "-cc1", "-O2", "-emit-obj", "-o", "/dev/null", source]) as work:
            alternate("first whole chains, libLLVM", ["-p", str(work.pid)], pattern, 0.4, strobe, None)


def main(strobe, shares, threads, paths):
    perf = shutil.which("perf")
    if not perf or subprocess.run([perf, "--version"], capture_output=True, check=False).returncode:
        print("perf is not here: no ratios")
        perf = None
    strobe, shares, threads, paths = map(os.path.abspath, (strobe, shares, threads, paths))
    with workload([shares, "0"]) as work:
        pattern = rb"shares_(hot|warm|cool)"
        alternate("one process", ["-p", str(work.pid)], pattern, 0.2, strobe, perf)
        alternate("whole machine", ["-a"], pattern, 0.2, strobe, perf)
    node = shutil.which("node")
    if node:
        with workload([node, "-e", NODE], wait_for="ready") as work:
            alternate("node", ["-p", str(work.pid)], rb"v8::|Builtins_", 1.0, strobe, perf)
    else:
        print("skip: node is not here")
    with workload([threads, "4000"], wait_for="ready") as work:
        alternate("4,000 threads", ["-p", str(work.pid)], rb"threads_\w+", 1.0, strobe, perf)
    whole_chains(strobe, paths)
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
