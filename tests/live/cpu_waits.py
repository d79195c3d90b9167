#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that wait for a CPU after a wake-up: `preempted` must match their run delay.

The kernel counts the run delay, and tests/workloads/waits_cpu.c prints it.  Covers every scope,
recordings, and targets whose wake-ups are invisible.

usage: cpu_waits.py STROBE WAITS_CPU
"""

import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
# flake8: noqa: E402
from checks import NOBODY, Checks, amounts_count, public_copy, rings_settle, run, sysctl

checks = Checks()
EVENTS = "cpu-clock,off-cpu,preempted"
SHAPE = ["--group", "thread,symbol", "--format", "json"]
THREADS, MS = "6", "1000"
SUMMED_MS = "2500"
TRIES = 4
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
DELAYED = "[waited for a CPU]"


def parse(out):
    try:
        return json.loads(out)
    except ValueError:
        return None


def measured(path):
    """Return {thread: [run delay, CPU time, elapsed time]}, in ns."""
    with open(path, encoding="ascii") as lines:
        return {int(words[0]): [int(word) for word in words[1:]] for words in map(str.split, lines)}


def sums(report):
    """Return the weight by event and thread: in all, of each leaf, and below the measured
    function."""
    found = {}
    for event in report["events"]:
        threads = found[event["name"].split(":")[0]] = collections.defaultdict(collections.Counter)
        for row in event["rows"]:
            threads[row["thread"]][row["symbol"]] += row["weight"]
            threads[row["thread"]]["all"] += row["weight"]
            if row["symbol"] == "waits_cpu_turns":
                threads[row["thread"]]["turns"] += row["total_percent"] / 100 * event["weight"]
    return found


def attached(strobe, command, path, user=None, times=MS):
    """Report with strobe attached before the threads begin; {pid} in its command is the
    program's."""
    become = {"user": user, "group": user, "extra_groups": []} if user else {}
    with subprocess.Popen([command[0], THREADS, times, path, "wait"], stdin=subprocess.PIPE, **become) as program:
        with subprocess.Popen([strobe, *[word.format(pid=program.pid) for word in command[1:]]], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **become) as profiler:
            rings_settle(profiler, 8)
            program.stdin.close()
            program.wait()
            if "-a" in command:
                profiler.send_signal(signal.SIGINT)
            out, _ = profiler.communicate()
    return parse(out)


def launched(strobe, command):
    return parse(run([strobe, "report", *SHAPE, "-e", EVENTS, "--", *command]).out)


def judge(report, path, least, most):
    """Return [(check or amount, what, good, detail)] for each thread.  The wait for a CPU must lie
    between two shares of the run delay, and no time may count twice."""
    if not report:
        return [(checks.check, "a report", False, "none")]
    found, told = sums(report), []
    user_only = "user space only" in str(report["notes"])
    for tid, (delay, cpu, all_ns) in measured(path).items():
        # Samples have no stack without the kernel.
        off, preempted = [found[event][tid]["all" if user_only else "turns"] for event in ("off-cpu", "preempted")]
        detail = (off, preempted, delay, cpu, all_ns, report["notes"])
        told.append((checks.check, "a thread was off the CPU", off + preempted > 0, detail))
        told.append((checks.amount, f"waited for a CPU: {preempted / 1e6:.0f} of {delay / 1e6:.0f} ms",
                     least * delay - 10e6 <= preempted <= most * delay + 10e6, detail))
        everything = cpu + off + preempted
        if user_only:
            told.append((checks.amount,
                         f"no more than there was: {everything / 1e9:.2f} of {report['duration_s']:.2f} s",
                         all_ns * 0.95 <= everything <= 1.02e9 * report["duration_s"], detail))
            continue
        told.append((checks.amount, f"all of its time: {everything / all_ns:.1%}",
                     0.95 * all_ns <= everything <= 1.05 * all_ns, detail))
    return told


def check_delays(name, make, least=0.95, most=1.05):
    """Judge up to TRIES reports: an occasional difference is chance, a repeated one is an error."""
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        os.chmod(folder, 0o777)
        for attempt in range(TRIES):
            path = os.path.join(folder, f"times{attempt}")
            report = make(path)
            told = judge(report, path, least, most)
            if all(good for kind, _, good, _ in told if amounts_count() or kind == checks.check):
                break
    for kind, what, good, detail in told:
        kind(f"{name}: {what}", good, detail)
    return report


def check_scopes(strobe, waits):
    report = check_delays("command", lambda path: launched(strobe, [waits, THREADS, MS, path]))
    checks.check("command: no event but those asked for", report and len(report["events"]) == 3, report)
    check_delays("task", lambda path: attached(
        strobe, [waits, "report", *SHAPE, "-e", EVENTS, "--scope", "task", "-p", "{pid}"], path))
    check_delays("machine", lambda path: attached(strobe, [waits, "report", *SHAPE, "-e", EVENTS, "-a"], path))


def check_recorded(strobe, waits):
    """A recording gives the results of a live report; perf's recording has wake-ups if they were
    requested."""
    ways = {"recorded": [strobe, "record", "-e", EVENTS]}
    if shutil.which("perf"):
        ways["perf's"] = ["perf", "record", "-q", "-g", "--switch-events", "-m", "1024", "-e",
                          "context-switches,sched:sched_waking", "-c", "1", "-a"]
    else:
        checks.skip("perf's recording", "no perf")
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        data = os.path.join(folder, "data")
        for name, command in ways.items():
            def make(path, command=command):
                run([*command, "-o", data, "--", waits, THREADS, MS, path])
                return parse(run([strobe, "report", data, *SHAPE]).out)

            report = check_delays(name, make)
            if name == "recorded":
                checks.check("recorded: no event but those asked for", report and len(report["events"]) == 3, report)
            notes = str(report["notes"] if report else None)
            checks.check(f"{name}: wake-ups are seen", report and "no wake-ups are seen" not in notes, report)
            checks.amount(f"{name}: no note of wake-ups", report and "wake-ups" not in notes, report)


def check_summed(strobe, waits):
    """Without visible wake-ups the kernel's sums are used; they miss the thread's last moments."""
    if os.geteuid():
        checks.skip("without privileges", "only root may change kernel.perf_event_paranoid")
        return
    with public_copy(strobe, waits) as copies, sysctl(PARANOID, 2):
        command = [copies[1], "report", *SHAPE, "-e", "wall", "-p", "{pid}"]
        report = check_delays("without privileges",
                              lambda path: attached(copies[0], command, path, NOBODY, SUMMED_MS), least=0.85, most=1.15)
    if not report:
        return
    found = sums(report)
    notes = [note for note in report["notes"] if "wake-ups" in str(note)]
    checks.check("without privileges: one note says so", len(notes) == 1 and DELAYED in str(notes), report["notes"])
    checks.check("without privileges: under its own name", any(thread[DELAYED] for thread in found["preempted"].values()),
                 found["preempted"])
    weights = {event["name"].split(":")[0]: event["weight"] for event in report["events"]}
    checks.check("without privileges: wall is the sum of its parts",
                 weights["wall"] == sum(weights[name] for name in EVENTS.split(",")), weights)


def check_namespace(strobe, waits):
    """Tracepoints carry thread numbers of another pid namespace, so the kernel's sums are used."""
    unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
    if run([*unshare, "true"]).status:
        checks.skip("in a pid namespace", "unshare is not permitted")
        return
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        path = os.path.join(folder, "times")
        result = run([*unshare, strobe, "report", *SHAPE, "-e", EVENTS, "--", waits, THREADS, SUMMED_MS, path])
        report = parse(result.out)
        if not checks.check("in a pid namespace: a report", report, result):
            return
        found = sums(report)["preempted"]
        delays = sum(times[0] for times in measured(path).values())
    checks.check("in a pid namespace: a note says so", "in a pid namespace" in str(report["notes"]), report["notes"])
    checks.check("in a pid namespace: under its own name", any(thread[DELAYED] for thread in found.values()), found)
    checks.amount("in a pid namespace: by sums", sum(thread["all"] for thread in found.values()) > 0.7 * delays,
                  (found, delays))


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
    command = [strobe, "report", "-e", "off-cpu", "--ring-pages", "1", "--format", "json", "--", sys.executable, "-c", PING_PONG]
    for _ in range(TRIES):
        report = parse(run(command).out)
        if not report or "wake-ups were lost" in str(report["notes"]):
            break
    # Chance decides whether any are lost.
    if checks.check("beside lost wake-ups: a report", report, report):
        checks.amount("lost wake-ups are told", "wake-ups were lost" in str(report["notes"]), report)


def main(strobe, waits):
    probe = run([strobe, "report", "-e", "off-cpu", "--", "true"])
    if probe.status:
        checks.skip("waits for a CPU", f"not permitted here: {probe.err.strip()[:200]}")
        checks.finish()
    if "no wake-ups are seen" in probe.err + probe.out:
        checks.skip("wake-ups", f"not permitted here: {probe.err.strip()[:200]}")
    else:
        check_scopes(strobe, waits)
        check_recorded(strobe, waits)
        check_namespace(strobe, waits)
        check_lost(strobe)
    check_summed(strobe, waits)
    checks.finish()


main(*[os.path.abspath(path) for path in sys.argv[1:]])
