#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of each view while strobe draws ten times a second and samples at 10,000 Hz.

Measures CPU time of all of strobe's processes and threads after each view has settled, in a
pseudo-terminal of 160x50.  Views run in turns; medians are printed, with frames per second.  The
workloads are one busy thread each.

usage: view_cost.py STROBE WORKLOAD [SECONDS [RUNS [VIEW [HZ [BEFORE]]]]]
       WORKLOAD: deep    1,000 call chains, 20 to 40 deep
                 wide    20,000 functions, 100,000 distinct stacks
                 or a command in one argument; its threads together take 10,000 samples a second
       BEFORE: seconds of sampling before the first look; 1,000 make 10 million samples
"""

import os
import shlex
import sys
import time

from benchlib import Terminal, finish, median, verdict, workload

SETTLE_S, KEY_S, FRAME_GAP_S = 1.5, 0.3, 0.03
LIMIT = 5.0
# Keys to the view, and back to the table.  The call views are the butterfly, the call tree and the
# callers of the hottest symbol.
VIEWS = {
    "hot table": (b"", b""),
    "butterfly": (b"c", b"\x1b"),
    "call tree": (b"ct", b"\x1b"),
    "callers": (b"ctt", b"\x1b"),
    "flames": (b"g", b"\x1b"),
    "threads": (b"t", b"\x1b"),
    "CPUs": (b"tttt", b"\x1b"),
    "heat map": (b"m", b"\x1b"),
    "rows by image": (b"Rj\r", b"Rkkkkkkkkk\r"),
    "rows by line": (b"Rjjj\r", b"Rkkkkkkkkk\r"),
    "rows by thread": (b"Rjjjjj\r", b"Rkkkkkkkkk\r"),
    "symbol by thread": (b"\r", b"\x1b"),
    "annotate": (b"a", b"\x1b"),
    "counters": (b"C", b"\x1b"),
}


def family(root):
    """The process and its descendants."""
    known = [root]
    for pid in known:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as children:
                known += [int(child) for child in children.read().split()]
    return known


def thread_ns(root):
    """Nanoseconds on a CPU by name: one for each thread of the process, by age, and "workers" for
    all others."""
    found = {}
    for pid in family(root):
        for number, tid in enumerate(sorted(os.listdir(f"/proc/{pid}/task"), key=int)):
            name = f"thread {number}" if pid == root else "workers"
            with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as stat:
                found[name] = found.get(name, 0) + int(stat.read().split()[0])
    return found


class Frames:
    """Counts frames: output after a silence of more than FRAME_GAP_S."""

    def __init__(self, terminal):
        self.terminal, self.n, self.at, self.length = terminal, 0, 0.0, len(terminal.raw)

    def look(self):
        now = time.monotonic()
        if len(self.terminal.raw) != self.length:
            self.n += now - self.at > FRAME_GAP_S
            self.at, self.length = now, len(self.terminal.raw)


def cost(terminal, seconds):
    """Percent of a CPU by thread, and frames per second."""
    frames = Frames(terminal)
    before, begin = thread_ns(terminal.pid), time.monotonic()
    terminal.drain_for(seconds, frames.look)
    after, length = thread_ns(terminal.pid), time.monotonic() - begin
    return {name: (ns - before.get(name, 0)) / length / 1e7 for name, ns in after.items()}, frames.n / length


def press(terminal, keys):
    for key in keys:
        terminal.send(bytes([key]))
        terminal.drain_for(KEY_S)


def main(strobe, workload_name, seconds="10", runs="5", only="", freq="10000", before="1.5"):
    strobe, seconds = os.path.abspath(strobe), float(seconds)
    command = shlex.split(workload_name)
    if len(command) == 1:
        command = [os.path.abspath(command[0]), "1"]
    views = {view: keys for view, keys in VIEWS.items() if only in view}
    found = {view: [] for view in views}
    with workload(command) as work:
        for _ in range(int(runs)):
            terminal = Terminal([strobe, "-p", str(work.pid), "-F", freq, "--delay", "100"], 160, 50)
            terminal.drain_for(float(before))
            for view, (keys, back) in views.items():
                press(terminal, keys)
                terminal.drain_for(SETTLE_S)
                found[view].append(cost(terminal, seconds))
                press(terminal, back)
            terminal.close()
    for view, several in found.items():
        parts = {name: median([run.get(name, 0.0) for run, _ in several]) for name in several[0][0]}
        print("   ", ", ".join(f"{name} {value:.2f}" for name, value in sorted(parts.items()) if value >= 0.01),
              f"; {median([frames for _, frames in several]):.1f} frames/s")
        verdict(view, median([sum(run.values()) for run, _ in several]), LIMIT, "% of a CPU")
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
