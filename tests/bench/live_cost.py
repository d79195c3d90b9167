#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of ten seconds of watching compared with perf top, with and without call chains.

Both run in a pseudo-terminal, system-wide at 4,999 Hz, in turns, over a workload of two busy
threads with call chains 20 to 40 deep.  CPU time and peak memory are summed over all processes of
each; the workload reports how much work it did meanwhile.  Last, lost samples are shown at
20,000 Hz.

usage: live_cost.py STROBE DEEP [SECONDS]
"""

import json
import os
import shutil
import subprocess
import sys

from benchlib import Terminal, Tree, compare, finish, median, output_of, verdict, workload

RUNS = 5


def work_done(deep, seconds, around=None):
    """Iterations of the workload while `around` (a function, if given) runs, and its result."""
    with workload([deep, "2", str(seconds + 1)]) as work:
        found = around() if around else None
        work.wait()
        done = [word for word in output_of(work).split() if word.isdigit()]
        return (int(done[-1]) if done else 0), found


def watch(command, seconds):
    """CPU seconds and peak MiB of one run."""
    terminal = Terminal(command)
    tree = Tree(terminal.pid)
    terminal.drain_for(seconds, tree.look)
    tree.look()
    waited = terminal.close()
    return max(waited, tree.cpu_total_s()), tree.peak_total_mib()


def alternate(name, ours, theirs, deep, seconds, cpu_limit, memory_limit):
    cost = {"strobe": [], "perf": []}
    speed = {"strobe": [], "perf": [], "alone": []}
    for _ in range(RUNS):
        speed["alone"].append(work_done(deep, seconds)[0])
        for who, command in (("strobe", ours), ("perf", theirs)):
            if not command:
                continue
            done, found = work_done(deep, seconds, lambda c=command: watch(c, seconds))
            speed[who].append(done)
            cost[who].append(found)
    middle = {who: [median(column) for column in zip(*runs)] for who, runs in cost.items() if runs}
    alone = median(speed["alone"])
    for who, (cpu, memory) in middle.items():
        slower = 100 * (1 - median(speed[who]) / alone) if alone else float("nan")
        print(f"{name}: {who}: {cpu:.2f} CPU s in {seconds} s, {memory:.1f} MiB, "
              f"workload slower by {slower:.1f}%")
    if "perf" in middle:
        compare(f"{name}: CPU time", middle["strobe"][0], middle["perf"][0], cpu_limit, "s")
        compare(f"{name}: memory", middle["strobe"][1], middle["perf"][1], memory_limit, "MiB")
        if alone:
            # A difference of one percent is noise of the machine.
            got = median(speed["perf"]) / max(1, median(speed["strobe"]))
            verdict(f"{name}: workload under perf against under strobe", got, 1.01)


def honest(strobe, deep):
    """Show how missing samples are reported at 20,000 Hz: lost, or coverage below 100%."""
    with workload([deep, "2", "5"]):
        found = subprocess.run(
            [strobe, "report", "-a", "-F", "20000", "--duration", "3", "--format", "json"],
            capture_output=True, text=True, check=False)
    event = json.loads(found.stdout)["events"][0]
    print(f"20,000 Hz: {event['samples']} samples, {event['lost']} lost, "
          f"coverage {event['coverage_percent']}%")


def main(strobe, deep, seconds="10"):
    strobe, deep = os.path.abspath(strobe), os.path.abspath(deep)
    perf, seconds = shutil.which("perf"), int(seconds)
    if not perf:
        print("perf is not here: no ratios")
    top = [perf, "top", "-a", "-F", "4999"] if perf else None
    live = [strobe, "-a", "-F", "4999"]
    alternate("with call chains", live + ["-g"], top and top + ["-g"], deep, seconds, 0.1, 0.1)
    alternate("without call chains", live + ["--no-call-graph"], top, deep, seconds, 0.5, 1 / 3)
    honest(strobe, deep)
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
