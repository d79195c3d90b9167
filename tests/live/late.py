#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""New threads and processes run before their events are opened: coverage says so.

The shell and the workloads report how much there was to sample.

usage: late.py STROBE SYSCALLS NEWBORNS   (the program, and the workloads)
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, run  # noqa: E402

checks = Checks()
# Processes that run for milliseconds each.
PROCESSES, RATE = 200, 1999
SHORT = (f"i=0; while [ $i -lt {PROCESSES} ]; do sh -c 'j=0; while [ $j -lt 3000 ]; do j=$((j+1)); done';"
         " i=$((i+1)); done; times >")
HITS, CHILDREN = 40_000, 8
# Busy threads, and what each of the short ones does: tests/workloads/newborns.c.
NEWBORNS = {"short threads that sleep": ["2", "500", "sleep"], "short threads that compute": ["0", "100", "work"]}
NEWBORNS_MS = "3000"


def event_of(strobe, arguments, command):
    result = run([strobe, "report", "--scope", "task", "--format", "json", *arguments, "--", *command],
                 timeout=300)
    try:
        found = json.loads(result.out)
        return found["events"][0], found["notes"]
    except (ValueError, KeyError, IndexError):
        checks.check("a report", False, str(result))
        return None, None


def clock(strobe, folder):
    times = os.path.join(folder, "times")
    event, notes = event_of(strobe, ["-F", str(RATE), "-e", "cpu-clock"], ["sh", "-c", SHORT + times])
    if not event:
        return
    with open(times, encoding="ascii") as lines:
        ran_s = sum(60 * int(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", lines.read()))
    share = 100 * event["weight"] / 1e9 / ran_s
    told = event["coverage_percent"]
    shown = f"told {told}, sampled {share:.1f} % of {ran_s} s"
    checks.check("what short processes lack is told",
                 any("ran before their events were opened" in note for note in notes), notes)
    checks.check("the coverage of short processes is known", told is not None, shown)
    # The shell's times are exact to 0.02 s.  The last period of each process has no sample.
    unsampled_s = 0.02 + PROCESSES / RATE
    checks.amount("coverage is not more than what was sampled of the CPU time",
                  told <= share + 100 * unsampled_s / ran_s + 1, shown)


def threads(strobe, newborns, folder):
    """Short threads often end before their events open: coverage follows the CPU time alone."""
    for name, shape in NEWBORNS.items():
        used = os.path.join(folder, "used")
        event, _ = event_of(strobe, ["-F", str(RATE), "-e", "cpu-clock"], [newborns, used, NEWBORNS_MS, *shape])
        if not event:
            continue
        with open(used, encoding="ascii") as lines:
            ran_ns = int(lines.read())
        share, told = 100 * event["weight"] / ran_ns, event["coverage_percent"]
        shown = f"told {told}, sampled {share:.1f} % of {ran_ns / 1e9:.2f} s"
        if not checks.check(f"{name}: the coverage is known", told is not None, shown):
            continue
        # Both shares have the same samples.  strobe takes up to 2 % for samples that are not due.
        checks.amount(f"{name}: coverage is what was sampled of the CPU time", share - 5 <= told <= share + 3, shown)


def count(strobe, syscalls):
    if not os.access("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id", os.R_OK):
        checks.skip("tracepoints", "tracefs is not mounted, or not for this user")
        return
    event, _ = event_of(strobe, ["-c", "1", "-e", "syscalls:sys_enter_getppid"],
                        [syscalls, str(HITS), str(CHILDREN)])
    if not event:
        return
    share = 100 * event["samples"] / (HITS * (CHILDREN + 1))
    told = event["coverage_percent"]
    checks.check("coverage is not more than what was sampled of the hits",
                 told is None or told <= share + 3, f"told {told}, sampled {share:.1f} %")


def main(strobe, syscalls, newborns):
    with tempfile.TemporaryDirectory() as folder:
        clock(strobe, folder)
        threads(strobe, newborns, folder)
    count(strobe, syscalls)
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
