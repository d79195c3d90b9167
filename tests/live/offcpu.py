#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time on and off the CPU by thread and stack, against what the program itself has measured (tests/workloads/waits.c).

Shares are of what it measured, so that they hold however long it waits for a CPU on a busy machine; that time is `preempted`.

usage: offcpu.py STROBE WAITS
"""

import collections
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import NOBODY, Checks, public_copy, run, settled, started, sysctl  # noqa: E402

checks = Checks()
EVENTS = "cpu-clock,off-cpu,preempted"
POINTS = 0.03
TURNS = 6
PARANOID = "/proc/sys/kernel/perf_event_paranoid"


def measured(path):
    """By thread: what it slept, waited for the lock, computed, and all of its time, in ns."""
    with open(path, encoding="ascii") as lines:
        return {int(words[1]): [int(word) for word in words[2:]] for words in map(str.split, lines)}


def sums(report):
    """By event and thread: all of its weight, and that below each function."""
    found = {}
    for event in report["events"]:
        threads = found[event["name"]] = collections.defaultdict(collections.Counter)
        for row in event["rows"]:
            threads[row["thread"]]["all"] += row["weight"]
            threads[row["thread"]][row["symbol"]] += row["total_percent"] / 100 * event["weight"]
    return found


def profile(name, command, events, out, **kwargs):
    result = run(command + ["-e", events, "--group", "thread,symbol", "--format", "json"] + out, **kwargs)
    try:
        return json.loads(result.out)
    except ValueError:
        checks.check(name, False, result)
        return None


def check_shares(strobe, waits, scope):
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        path = os.path.join(folder, "times")
        report = profile(scope, [strobe, "report", "--scope", scope], EVENTS, ["--", waits, str(TURNS), path])
        if not report:
            return
        times = measured(path)
    found = sums(report)
    checks.check(f"{scope}: two workers", len(times) == 2, times)
    for tid, (slept, waited, cpu, all_ns) in times.items():
        off = found["off-cpu"][tid]
        on = found["cpu-clock"][tid]["all"]
        whole = slept + waited + cpu
        # By thread, one is found when it was born: its first sleep may have begun before.
        missing = 2 * slept / TURNS if scope == "task" else 0
        for name, here, there, less in (("asleep", off["waits_sleep"], slept, missing),
                                        ("for the lock", off["waits_lock"], waited, 0), ("computing", on, cpu, 0)):
            checks.check(f"{scope}: thread {name}: {here / whole:.1%} of {there / whole:.1%}",
                         -less <= here - there + POINTS * whole <= 2 * POINTS * whole, (here, there, whole))
        checks.check(f"{scope}: nothing is blocked while it computes", not off["waits_compute"], off)
        everything = on + off["all"] + found["preempted"][tid]["all"]
        checks.check(f"{scope}: all of its time: {everything / all_ns:.1%}", -missing <= everything - all_ns + POINTS * all_ns <= 2 * POINTS * all_ns,
                     (on, dict(off), dict(found["preempted"][tid]), all_ns))


def check_still_asleep(strobe):
    """What never wakes is seen as well."""
    report = profile("never wakes", [strobe, "report", "--duration", "1"], "off-cpu",
                     ["--", "sh", "-c", "exec sleep 30 >/dev/null 2>&1"])
    if not report:
        return
    event = report["events"][0]
    rows = {row["symbol"]: row["total_percent"] for row in event["rows"]}
    asleep = max((share for name, share in rows.items() if "nanosleep" in name), default=0) / 100 * event["weight"]
    checks.check(f"what never wakes is seen: {asleep / 1e9:.2f} s", 0 < asleep <= report["duration_s"] * 1e9, report)


def check_attached_asleep(strobe):
    """What slept before anybody looked, and does not wake, has no stack, but its time."""
    for scope in ("task", "cpu"):
        name = f"{scope}: asleep when attached"
        with started(["sleep", "1000"]) as sleeper:
            settled(sleeper)
            report = profile(name, [strobe, "report", "-p", str(sleeper.pid), "--scope", scope, "--duration", "1"],
                             "off-cpu", [])
        if report:
            event = report["events"][0]
            checks.check(f"{name}: {event['weight'] / 1e9:.2f} s", 0 < event["weight"] <= report["duration_s"] * 1e9 and
                         [row["symbol"] for row in event["rows"]] == ["[off-cpu]"], report)


def check_unprivileged(strobe, waits):
    if os.geteuid():
        checks.skip("without privileges", "only root may change kernel.perf_event_paranoid")
        return
    with public_copy(strobe, waits) as copies, sysctl(PARANOID, 2):
        report = profile("without privileges", [copies[0], "report"], "cpu-clock,off-cpu", ["--", copies[1], "4", "/dev/null"],
                         user=NOBODY)
    if not report:
        return
    event = next(event for event in report["events"] if event["name"].startswith("off-cpu"))
    checks.check("without privileges: the time is there", event["weight"] > 0, event)
    checks.check("without privileges: a note says that stacks are missing",
                 any("[off-cpu]" in str(note) for note in report["notes"]), report["notes"])


def check_refusals(strobe):
    for command, words in ((["stat", "-e", "off-cpu", "--", "true"], "not counted"),
                           (["record", "-e", "off-cpu", "--", "true"], "not recorded"),
                           (["report", "-e", "{cpu-clock,off-cpu}", "--", "true"], "group"),
                           (["report", "-e", "off-cpu,context-switches", "--", "true"], "told apart"),
                           (["report", "-e", "off-cpu", "--flight-recorder", "3", "--", "true"], "flight")):
        result = run([strobe] + command)
        checks.check(f"refused: {' '.join(command[:3])}", result.status == 2 and words in result.err, result)


def main(strobe, waits):
    probe = run([strobe, "report", "-e", "off-cpu", "--", "true"])
    if probe.status:
        checks.skip("time off the CPU", f"not permitted here: {probe.err.strip()[:200]}")
    else:
        for scope in ("cpu", "task", "inherit"):
            check_shares(strobe, waits, scope)
        check_still_asleep(strobe)
        check_attached_asleep(strobe)
        check_unprivileged(strobe, waits)
    check_refusals(strobe)
    checks.finish()


main(*[os.path.abspath(path) for path in sys.argv[1:]])
