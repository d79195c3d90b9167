#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each view costs strobe while it draws ten times a second and samples at 10,000 Hz.

CPU time of all of strobe's processes and threads between two looks, when each view has settled in, in a pseudo-terminal
of 160x50; views in turns, medians.  The workload is one busy thread with call chains 20 to 40 deep.

usage: view_cost.py STROBE DEEP [SECONDS [RUNS [VIEW [HZ [COMMAND...]]]]]
       of another command than DEEP all threads together should be sampled 10,000 times a second
"""

import os
import sys
import time

from benchlib import Terminal, finish, median, verdict, workload

BEGIN_S = 3.0
LIMIT = 5.0
# A key each: the call views are the butterfly, the call tree and the callers of the hottest symbols.
VIEWS = {
    "hot table": b"",
    "butterfly": b"c",
    "call tree": b"ct",
    "callers": b"ctt",
    "flames": b"g",
    "threads": b"t",
    "CPUs": b"tttt",
    "heat map": b"m",
    "rows by image": b"Rj\r",
    "rows by line": b"Rjjj\r",
    "rows by thread": b"Rjjjjj\r",
    "symbol by thread": b"\r",
    "annotate": b"a",
    "counters": b"C",
}


def family(root):
    """The process, and those that it started."""
    known = [root]
    for pid in known:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as children:
                known += [int(child) for child in children.read().split()]
    return known


def thread_ns(root):
    """Nanoseconds on a CPU, of the whole family: of its threads in the order of their beginning, and of all others."""
    found = {}
    for pid in family(root):
        for number, tid in enumerate(sorted(os.listdir(f"/proc/{pid}/task"), key=int)):
            name = f"thread {number}" if pid == root else "workers"
            with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as stat:
                found[name] = found.get(name, 0) + int(stat.read().split()[0])
    return found


def percents(terminal, seconds):
    before, begin = thread_ns(terminal.pid), time.monotonic()
    terminal.drain_for(seconds)
    after, length = thread_ns(terminal.pid), time.monotonic() - begin
    return {name: (ns - before.get(name, 0)) / length / 1e7 for name, ns in after.items()}


def main(strobe, deep, seconds="10", runs="5", only="", freq="10000", *command):
    strobe, seconds = os.path.abspath(strobe), float(seconds)
    command = list(command) or [os.path.abspath(deep), "1", "0"]
    views = {view: keys for view, keys in VIEWS.items() if only in view}
    found = {view: [] for view in views}
    with workload(command) as work:
        for _ in range(int(runs)):
            for view, keys in views.items():
                terminal = Terminal([strobe, "-p", str(work.pid), "-F", freq, "--delay", "100"], 160, 50)
                terminal.drain_for(BEGIN_S / 2)
                for key in keys:
                    terminal.send(bytes([key]))
                    terminal.drain_for(0.3)
                terminal.drain_for(BEGIN_S / 2)
                found[view].append(percents(terminal, seconds))
                terminal.close()
    for view, several in found.items():
        parts = {name: median([run.get(name, 0.0) for run in several]) for name in several[0]}
        print("   ", ", ".join(f"{name} {value:.2f}" for name, value in sorted(parts.items()) if value >= 0.01))
        verdict(view, median([sum(run.values()) for run in several]), LIMIT, "% of a CPU")
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
