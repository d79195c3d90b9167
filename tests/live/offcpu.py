#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time on and off the CPU by thread and stack, against the program's own times
(tests/workloads/waits.c).

Shares refer to the program's times, so they hold however long it waits for a CPU on a busy
machine.  The waiting time itself is `preempted`.

usage: offcpu.py STROBE WAITS
"""

import collections
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import (  # noqa: E402
    NOBODY, Checks, amounts_count, let_run, public_copy, rings_settle, run, settled, started, sysctl)

checks = Checks()
EVENTS = "cpu-clock,off-cpu,preempted"
POINTS = 0.03
TURNS, FEW_TURNS = 6, 3
TRIES = 4
PARANOID = "/proc/sys/kernel/perf_event_paranoid"


def measured(path):
    """Return {thread: [asleep, waiting for the lock, computing, CPU time, elapsed time]}, in ns."""
    with open(path, encoding="ascii") as lines:
        return {int(words[1]): [int(word) for word in words[2:]] for words in map(str.split, lines)}


def stolen_ns():
    """Return the time that a hypervisor gave to others, on all CPUs, since boot.

    During that time a thread on the CPU neither computed nor had samples."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def sums(report):
    """Return the weight by event and thread: in all, and below each function."""
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
        report = json.loads(result.out)
        low = [event for event in report["events"] if event["coverage_percent"] is not None and event["coverage_percent"] < 50]
        if low:
            checks.amount(f"{name}: switches do not count as time without credit", False, low)
        return report
    except ValueError:
        checks.check(name, False, result)
        return None


def profile_attached(strobe, waits, path):
    """Report with all events open before the threads begin: an earlier part of a thread would be
    missing."""
    with subprocess.Popen([waits, str(TURNS), path, "wait"], stdin=subprocess.PIPE) as program:
        with subprocess.Popen([strobe, "report", "--scope", "task", "-p", str(program.pid), "-e", EVENTS, "--group",
                               "thread,symbol", "--format", "json"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as profiler:
            rings_settle(profiler, 5 * len(EVENTS.split(",")))
            program.stdin.close()
            out, err = profiler.communicate()
    try:
        return json.loads(out)
    except ValueError:
        checks.check("task", False, (out, err))
        return None


def compare_shares(strobe, waits, scope):
    """Return [(check or amount, what, good, detail)]."""
    told = []

    def check(*one):
        told.append((checks.check, *one))

    def amount(*one):
        told.append((checks.amount, *one))

    before_ns = stolen_ns()
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        path = os.path.join(folder, "times")
        if scope == "task":
            report = profile_attached(strobe, waits, path)
        else:
            report = profile(scope, [strobe, "report", "--scope", scope], EVENTS, ["--", waits, str(TURNS), path])
        if not report:
            return told
        times = measured(path)
    stolen = stolen_ns() - before_ns
    found = sums(report)
    check(f"{scope}: two workers", len(times) == 2, times)
    for tid, (slept, waited, computed, cpu, all_ns) in times.items():
        kinds = [found[event][tid] for event in EVENTS.split(",")]
        on, off, preempted = kinds
        points = POINTS * (slept + waited + cpu)
        detail = ([kind["all"] for kind in kinds], times[tid], stolen, report["notes"])

        def is_near(here, there):
            return -points - stolen <= here - there <= points

        # On a busy machine a part of the wait is preempted or on the CPU: it makes up for the
        # missing part.
        for name, function, there in (("asleep", "waits_sleep", slept), ("for the lock", "waits_lock", waited)):
            here, busy = off[function], on[function] + preempted[function]
            check(f"{scope}: thread {name}: its function is named", here + busy > 0, detail)
            amount(f"{scope}: thread {name}: {here / all_ns:.1%} of {there / all_ns:.1%}, "
                   f"{busy / all_ns:.1%} of it busy",
                   is_near(here + busy, there), (here, busy, detail))
        here, there = on["waits_compute"], computed - preempted["waits_compute"]
        check(f"{scope}: thread computing: its function is named", here > 0, detail)
        amount(f"{scope}: thread computing: {here / all_ns:.1%} of {there / all_ns:.1%}, CPU time {cpu / all_ns:.1%}",
               is_near(here, there) and here >= cpu - points, (here, there, detail))
        # A page fault may wait for its page.
        here = off["waits_compute"]
        amount(f"{scope}: nothing is blocked while it computes", here <= points / 3, (here, detail))
        everything = sum(kind["all"] - kind["waits_begin"] - kind["[off-cpu]"] for kind in kinds)
        amount(f"{scope}: all of its time: {everything / all_ns:.1%}", is_near(everything, all_ns), detail)
    return told


def check_shares(strobe, waits, scope):
    """Compare up to TRIES times: clock samples are random, so only a repeated difference is an
    error."""
    for _ in range(TRIES):
        told = compare_shares(strobe, waits, scope)
        if all(good for kind, _, good, _ in told if amounts_count() or kind == checks.check):
            break
    for kind, *one in told:
        kind(*one)


def check_wall(strobe, waits):
    """One event has all time; its leaves separate the parts."""
    result = run([strobe, "report", "-e", "cpu-clock,off-cpu", "--wall", "--format", "json", "--group", "symbol",
                  "--", waits, str(FEW_TURNS), "/dev/null"])
    if not checks.check("wall: a report", result.status == 0, result):
        return
    report = json.loads(result.out)
    weights = {event["name"]: event["weight"] for event in report["events"]}
    checks.check("wall: each of its parts once", len(report["events"]) == len(weights) == 4, weights)
    checks.check("wall: the sum of its parts", weights["wall"] == sum(weights[name] for name in EVENTS.split(",")), weights)
    wall = next(event for event in report["events"] if event["name"] == "wall")
    leaves = collections.Counter()
    for row in wall["rows"]:
        leaves[row["symbol"]] += row["weight"]
    for name, leaf in (("off-cpu", "[blocked]"), ("preempted", "[preempted]")):
        checks.check(f"wall: {leaf} is {name}", leaves[leaf] == weights[name], (weights, leaves[leaf]))


def check_woken(strobe, waits):
    """The partner's thread ends a wait for the lock, a timer ends a sleep, and an unprofiled writer
    ends a read of a pipe."""
    report = profile("woken", [strobe, "report"], "woken", ["--comm", "worker-0", "--", waits, str(FEW_TURNS), "/dev/null"])
    if not report:
        return
    if any("were lost" in str(note) for note in report["notes"]):
        checks.skip("woken", str(report["notes"]))
        return
    woken, off = (next(event for event in report["events"] if event["name"] == name) for name in ("woken", "off-cpu"))
    weights = (woken["weight"], off["weight"])
    checks.check("woken: no more than was waited", off["weight"] >= woken["weight"] > 0, weights)
    checks.amount("woken: all that was waited", woken["weight"] > 0.97 * off["weight"], weights)
    if "sched:sched_waking" not in [event["name"] for event in report["events"]]:
        checks.skip("woken: by whom", "no tracefs")
        return
    leaves = collections.Counter()
    for row in woken["rows"]:
        leaves[row["symbol"]] += row["weight"]
    total = {row["symbol"]: row["total_percent"] / 100 * woken["weight"] for row in woken["rows"]}
    partner, timer, unknown = [leaves[f"[woken by {name}]"] for name in ("waits", "an interrupt", "unknown")]
    lock, sleep = total["waits_lock"], total["waits_sleep"]
    # The kernel gives no samples of the idle CPUs of some machines, not to perf either (Linux 6.18:
    # none of CPU 1's idle task).  A timer that fires there ends a sleep without a known waker.  A
    # thread that unlocks runs, and has samples.
    checks.check("woken: by the partner", partner > 0, leaves)
    checks.amount("woken: by the partner, as long as the lock is waited for", 0.8 * lock <= partner, leaves)
    checks.amount("woken: by a timer, as long as it sleeps", 0.8 * sleep - unknown <= timer <= 1.2 * sleep, leaves)
    checks.amount("woken: unknown is at most what ends sleeps", unknown <= sleep + 0.2 * lock, (leaves, total))
    unlock = total.get("waits_unlock", 0)
    checks.check("woken: its stack is there", unlock > 0, total)
    checks.amount("woken: its stack is there, as long as the lock is waited for", unlock >= 0.8 * lock, total)
    with subprocess.Popen(["sh", "-c", "read go; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        with subprocess.Popen([strobe, "report", "-p", str(reader.pid), "-e", "woken", "--format", "json"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as profiler:
            rings_settle(profiler, 2)
            reader.stdin.write(b"go\n")
            reader.stdin.close()
            out, err = profiler.communicate()
    event = json.loads(out)["events"][0]
    with open(f"/proc/{os.getpid()}/comm", encoding="utf-8", errors="replace") as comm:
        name = comm.read().strip()
    rows = {row["symbol"]: row["self_percent"] for row in event["rows"]}
    share = rows.get(f"[woken by {name}]", 0)
    checks.check(f"woken: by {name}, which is not profiled", share > 0, (rows, err))
    checks.amount(f"woken: by {name}, most of the time", share > 50, (rows, err))


def switches_by_perf(path):
    """Return {thread: [blocked, preempted]} in ns, from perf script's times of switches and
    wake-ups."""
    script = run(["perf", "script", "-i", path, "--ns", "--show-switch-events"])
    found, since = collections.defaultdict(lambda: [0, 0]), {}
    for line in script.out.splitlines():
        woken = re.search(r"\s(\d+)\.(\d+):.*off-cpu-wakeups:.* pid=(\d+)", line)
        if woken and not since.get(int(woken[3]), (0, True))[1]:
            at = int(woken[1]) * 1_000_000_000 + int(woken[2])
            found[int(woken[3])][0] += at - since[int(woken[3])][0]
            since[int(woken[3])] = (at, True)
        match = re.search(r"\s(\d+)\s+(?:\[\d+\]\s+)?(\d+)\.(\d+):\s+PERF_RECORD_SWITCH\S*\s+(IN|OUT preempt|OUT)", line)
        if not match or match[1] == "0":
            continue
        tid, at = int(match[1]), int(match[2]) * 1_000_000_000 + int(match[3])
        if match[4] != "IN":
            since[tid] = (at, match[4] == "OUT preempt")
        elif tid in since:
            begin, preempted = since.pop(tid)
            found[tid][preempted] += at - begin
    return found


def check_file(name, strobe, path, times):
    """A report of a recording agrees with perf's reading of the file, and with the program's own
    times."""
    result = run([strobe, "report", path, "--group", "thread,symbol", "--format", "json"])
    if not checks.check(f"{name}: read", result.status == 0, result):
        return
    report = json.loads(result.out)
    found = sums(report)
    by_perf = switches_by_perf(path)
    lost = [note for note in report["notes"] if "were lost" in str(note)]
    for tid, (slept, waited, computed, _, _) in times.items():
        off, points = found["off-cpu"][tid], POINTS * (slept + waited + computed)
        here = [off["all"], found["preempted"][tid]["all"]]
        if lost:
            checks.skip(f"{name}: as perf reads it", str(lost))
        else:
            checks.check(f"{name}: as perf reads it: {here}", by_perf[tid] == here, (by_perf[tid], report["notes"]))
        for function, there in (("waits_sleep", slept), ("waits_lock", waited)):
            seen = off[function] + found["preempted"][tid][function]
            checks.check(f"{name}: {function} is named", lost or seen > 0, dict(off))
            checks.amount(f"{name}: {function}: {off[function] / 1e6:.0f} of {there / 1e6:.0f} ms",
                          lost or there - points <= seen <= there + points, dict(off))


def check_once(strobe, path):
    """Each switch has one sample in the file, and script prints all samples of a report."""
    script = run(["perf", "script", "-i", path, "--ns", "-F", "tid,time,event"])
    seen = collections.Counter(tuple(line.split()[:2]) for line in script.out.splitlines()
                               if re.search(r"(off-cpu|preempted)(:u)?:", line))
    twice = [sample for sample, n in seen.items() if n > 1]
    checks.check(f"recorded: {len(seen)} switches, each once", seen and not twice, twice[:5])
    report = json.loads(run([strobe, "report", path, "--format", "json"]).out)
    for name in ("off-cpu", "preempted"):
        weight = next(event["weight"] for event in report["events"] if event["name"] == name)
        text = run([strobe, "export", path, "-e", name, "--format", "script"])
        times = [int(line.split(f" {name}: ")[0].split()[-1]) for line in text.out.splitlines() if f" {name}: " in line]
        checks.check(f"script: all of {name}, {weight / 1e6:.0f} ms", text.status == 0 and sum(times) == weight,
                     (sum(times), weight, text.err))


def check_recorded(strobe, waits):
    if not shutil.which("perf"):
        checks.skip("recorded", "no perf")
        return
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        data, path = os.path.join(folder, "data"), os.path.join(folder, "times")
        for name, command in (("recorded", [strobe, "record", "-e", EVENTS]),
                              ("perf's", ["perf", "record", "-q", "-g", "--switch-events", "-e", "context-switches", "-c", "1"])):
            result = run([*command, "-o", data, "--", waits, str(FEW_TURNS), path])
            if checks.check(f"{name}: made", result.status == 0, result):
                check_file(name, strobe, data, measured(path))
                if name == "recorded":
                    check_once(strobe, data)


def profile_seconds(name, command, out):
    """Return a report of one second, or ten seconds if a busy machine left the first one empty."""
    for seconds in ("1", "10"):
        report = profile(name, command + ["--duration", seconds], "off-cpu", out)
        if not report or report["events"][0]["weight"]:
            break
    return report


def is_within(report, ns):
    """Return whether a time fits the report; the report's times are rounded to 0.1 ms."""
    return 0 < ns <= (report["duration_s"] + 0.001) * 1e9


def check_still_asleep(strobe):
    """A sleeper that never wakes has time, too."""
    report = profile_seconds("never wakes", [strobe, "report"], ["--", "sh", "-c", "exec sleep 1000 >/dev/null 2>&1"])
    if not report:
        return
    event = report["events"][0]
    rows = {row["symbol"]: row["total_percent"] for row in event["rows"]}
    asleep = max((share for name, share in rows.items() if "nanosleep" in name), default=0) / 100 * event["weight"]
    checks.check("what never wakes is seen", asleep > 0, report)
    checks.amount(f"what never wakes is seen: {asleep / 1e9:.2f} s", is_within(report, asleep), report)


def check_attached_asleep(strobe):
    """A sleeper that slept before strobe attached, and never wakes, has time but no stack."""
    for scope in ("task", "cpu"):
        name = f"{scope}: asleep when attached"
        with started(["sleep", "1000"]) as sleeper:
            settled(sleeper)
            report = profile_seconds(name, [strobe, "report", "-p", str(sleeper.pid), "--scope", scope], [])
        if report:
            event = report["events"][0]
            checks.check(f"{name}: it has no stack", event["weight"] > 0 and
                         [row["symbol"] for row in event["rows"]] == ["[off-cpu]"], report)
            checks.amount(f"{name}: {event['weight'] / 1e9:.2f} s", is_within(report, event["weight"]), report)


def check_beside_sleeper(strobe):
    """A computing thread is not asleep because the first thread of its process is."""
    program = """
import threading
def compute():
    while True: pass
thread = threading.Thread(target=compute)
thread.start()
thread.join()
"""
    with started([sys.executable, "-c", program]) as process:
        let_run(process.pid, 0.3)
        report = profile_seconds("beside a sleeper", [strobe, "report", "-p", str(process.pid)], [])
    if report:
        rows = report["events"][0]["rows"]
        others = sum(row["weight"] for row in rows if row["thread"] != process.pid and row["symbol"] == "[off-cpu]")
        checks.check("a thread beside one that sleeps is not asleep", rows and not others, rows)


def check_unprivileged(strobe, waits):
    if os.geteuid():
        checks.skip("without privileges", "only root may change kernel.perf_event_paranoid")
        return
    with public_copy(strobe, waits) as copies, sysctl(PARANOID, 2):
        report = profile("without privileges", [copies[0], "report"], "cpu-clock,off-cpu", ["--", copies[1], "4", "/dev/null"],
                         user=NOBODY)
        woken = profile("without privileges, woken", [copies[0], "report"], "woken", ["--", copies[1], "1", "/dev/null"],
                        user=NOBODY)
    if not report or not woken:
        return
    checks.check("without privileges: a note says that wakers are missing",
                 any("who wakes whom" in str(note) for note in woken["notes"]), woken["notes"])
    event = next(event for event in report["events"] if event["name"].startswith("off-cpu"))
    checks.check("without privileges: the time is there", event["weight"] > 0, event)
    checks.check("without privileges: a note says that stacks are missing",
                 any("[off-cpu]" in str(note) for note in report["notes"]), report["notes"])


# Two processes that wake each other more often than the smallest buffer can hold.
PING_PONG = """
import os
a, b = os.pipe()
c, d = os.pipe()
if os.fork() == 0:
    for _ in range(20000):
        os.read(a, 1)
        os.write(d, b"x")
    os._exit(0)
for _ in range(20000):
    os.write(b, b"x")
    os.read(c, 1)
"""


def check_lost(strobe):
    """wall misses all records that its parts miss."""
    made = run([strobe, "report", "-e", "wall", "--ring-pages", "1", "--format", "json", "--", sys.executable, "-c",
                PING_PONG])
    lost = {event["name"]: event["lost"] for event in json.loads(made.out)["events"]}
    switches = max(lost["off-cpu"], lost["preempted"])
    if not switches:
        checks.skip("lost records of switches", "none were lost")
        return
    checks.check("what is lost to its parts is lost to wall", lost["wall"] == switches + lost["cpu-clock"], lost)


# A process sleeps during their work, and longer.
SLEEPER = """
import os, sys, time
begin = time.monotonic_ns()
until, end = os.pipe()
sleeper = os.fork()
if not sleeper:
    os.close(end)
    os.read(until, 1)
    os._exit(0)
""" + PING_PONG + """
time.sleep(3 + (time.monotonic_ns() - begin) / 1e9)
os.close(end)
os.waitpid(sleeper, 0)
print(sleeper, time.monotonic_ns() - begin, file=open(sys.argv[1], "w"))
"""


def profile_sleeper(strobe):
    """Return the report, its sleeper, and the program's run time in ns."""
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        path = os.path.join(folder, "times")
        report = profile("asleep since a loss", [strobe, "report", "--ring-pages", "1"], "off-cpu",
                         ["--", sys.executable, "-c", SLEEPER, path])
        if not report:
            return None, 0, 0
        with open(path, encoding="ascii") as times:
            return (report, *map(int, times.read().split()))


def check_asleep_since_loss(strobe):
    """Lost records of others hide a sleeper's time for a while, but not until it wakes.

    This concerns CPU-wide events, where all threads share rings.  A busy machine may lose
    records after the two have ended as well, but not each time."""
    for _ in range(TRIES):
        report, sleeper, all_ns = profile_sleeper(strobe)
        if not report:
            return
        event = report["events"][0]
        slept = sum(row["weight"] for row in event["rows"] if row["thread"] == sleeper)
        if not event["lost"] or slept >= all_ns / 2 or not amounts_count():
            break
    if not event["lost"]:
        checks.skip("asleep since a loss", "none were lost")
        return
    checks.amount(f"asleep since a loss: {slept / all_ns:.1%} of its time", all_ns / 2 <= slept <= all_ns,
                  report["notes"])
    checks.check("asleep since a loss: what is lost is told", any("were lost" in str(note) for note in report["notes"]),
                 report["notes"])


# Too many threads to check all rings whenever one of the rings has records.
MANY = """
import threading, time
def wake():
    while True: time.sleep(0.02)
threading.stack_size(131072)
for _ in range(300): threading.Thread(target=wake, daemon=True).start()
time.sleep(1000)
"""


def check_many_rings(strobe):
    """Time advances for all threads' rings at once: a ring that is read first does not make others
    late."""
    with started([sys.executable, "-c", MANY]) as process:
        while process.poll() is None and len(os.listdir(f"/proc/{process.pid}/task")) <= 300:
            time.sleep(0.02)
        report = profile("many rings", [strobe, "report", "--scope", "task", "-p", str(process.pid), "--duration", "2"],
                         "off-cpu", [])
    if not report:
        return
    event = report["events"][0]
    if event["lost"]:
        checks.skip("many rings", f"{event['lost']} records were lost")
        return
    missing = sum(int(count) for count in re.findall(r"(\d+) times? that a thread waited", str(report["notes"])))
    checks.amount(f"many rings: nothing is missing of {event['samples']} times", missing <= event["samples"] / 100,
                  report["notes"])


def check_refusals(strobe):
    for command, words in ((["stat", "-e", "off-cpu", "--", "true"], "not counted"),
                           (["record", "-e", "wall", "--", "true"], "made of other events"),
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
        check_wall(strobe, waits)
        check_woken(strobe, waits)
        check_recorded(strobe, waits)
        check_still_asleep(strobe)
        check_attached_asleep(strobe)
        check_beside_sleeper(strobe)
        check_unprivileged(strobe, waits)
        check_lost(strobe)
        check_asleep_since_loss(strobe)
        check_many_rings(strobe)
    check_refusals(strobe)
    checks.finish()


main(*[os.path.abspath(path) for path in sys.argv[1:]])
