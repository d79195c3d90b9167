#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the counts of strobe stat with perf stat's, and with known counts.

usage: stat.py STROBE
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, rings_settle  # noqa: E402

PYTHON = [sys.executable, "-S", "-E", "-c"]
WRITES = "import os\nfor i in range(%d): os.write(1, b'x')"
BUSY = "import time\nend = time.process_time() + %g\nwhile time.process_time() < end: pass"
# Two processes pass a byte to and fro: each waits for the other 500 times.
PING_PONG = """
import os, resource
a, b = os.pipe(), os.pipe()
if os.fork():
    for i in range(500): os.write(a[1], b'x'); os.read(b[0], 1)
    os.wait()
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(sum(usage.ru_nvcsw + usage.ru_nivcsw for usage in usages), flush=True)
    os._exit(0)
else:
    for i in range(500): os.read(a[0], 1); os.write(b[1], b'x')
"""
FAULTS = """
import mmap
m = mmap.mmap(-1, 4096 * 3000)
m.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(3000): m[i * 4096] = 1
"""
checks = Checks()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def strobe_stat(strobe, *words):
    """Returns the counts, the time it took in ns (took_ns), and the command's output (printed)."""
    begun = time.monotonic_ns()
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        done = run(strobe, "stat", "--format", "json", "-o", out.name, *words)
        text = open(out.name, encoding="utf-8").read()
    if done.returncode:
        raise SystemExit(f"strobe stat {words}: {done.stderr}")
    return {**json.loads(text), "took_ns": time.monotonic_ns() - begun, "printed": done.stdout}


def counts(result):
    return {event["name"]: event["count"] for event in result["events"]}


def perf_stat(*words):
    """Returns {event: count}; clocks in nanoseconds."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        run("perf", "stat", "-x", ",", "-o", out.name, *words)
        lines = [line.split(",") for line in open(out.name, encoding="utf-8") if "," in line]
    return {line[2]: float(line[0]) * (1e6 if line[1] == "msec" else 1)
            for line in lines if line[0][:1].isdigit()}


def between(name, least, value, most):
    checks.check(name, value is not None and least <= value <= most, f"{value}, between {least} and {most}")


def near(name, ours, theirs, relative, absolute=0):
    good = ours is not None and abs(ours - theirs) <= max(abs(theirs) * relative, absolute)
    checks.check(name, good, f"{ours}, and {theirs} by the other")


def against_perf(strobe):
    if not shutil.which("perf"):
        checks.skip("perf stat", "perf is not installed")
        return
    ours = counts(strobe_stat(strobe, "-e", "page-faults,minor-faults", "--", *PYTHON, FAULTS))
    theirs = perf_stat("-e", "page-faults,minor-faults", *PYTHON, FAULTS)
    near("page faults", ours["page-faults"], theirs["page-faults"], 0, 12)
    near("minor faults", ours["minor-faults"], theirs["minor-faults"], 0, 12)
    checks.check("at least the pages touched", ours["page-faults"] > 3000, str(ours))
    ours = counts(strobe_stat(strobe, "-e", "task-clock", "--", *PYTHON, BUSY % 1))
    theirs = perf_stat("-e", "task-clock", *PYTHON, BUSY % 1)
    near("task clock", ours["task-clock"], theirs["task-clock"], 0.05)
    result = strobe_stat(strobe, "-a", "-e", "cpu-clock", "--duration", "1")
    between("clock of the machine", os.cpu_count() * 0.95e9, counts(result)["cpu-clock"], os.cpu_count() * result["took_ns"])


def switches(strobe):
    """Compares with the kernel's counts for the two processes.

    Some switches come before the exec, and some after the counts are printed.
    """
    result = strobe_stat(strobe, "-e", "context-switches", "--", *PYTHON, PING_PONG)
    near("context switches", counts(result)["context-switches"], int(result["printed"]), 0, 20)


def running_process(strobe):
    busy = subprocess.Popen([*PYTHON, BUSY % 20])
    try:
        ours = strobe_stat(strobe, "-p", str(busy.pid), "-e", "task-clock", "--duration", "1")
        event = ours["events"][0]
        between("no more than it was there", 1, event["count"], ours["took_ns"])
        near("its time is the time enabled", event["count"], event["enabled_ns"], 0.01, 2e6)
        ours = strobe_stat(strobe, "-p", str(busy.pid), "-e", "task-clock", "--per", "cpu",
                           "--duration", "1")
        together = sum(event["count"] or 0 for event in ours["events"])
        between("CPUs add up", 1, together, ours["took_ns"])
        checks.check("nothing is scaled", all(
            event["count"] is None or round(event["scaled"] * 1e6) == event["count"]
            for event in ours["events"]), str(ours["events"]))
        # The end of the process ends the counting.
        stat = subprocess.Popen([strobe, "stat", "-p", str(busy.pid)], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        rings_settle(stat, 1)
        busy.kill()
        text = stat.communicate(timeout=60)[0]
        checks.check("the target's end", stat.returncode == 0 and "task-clock" in text, text)
    finally:
        busy.kill()
        busy.wait()


def intervals(strobe):
    done = run(strobe, "stat", "-e", "task-clock,page-faults", "-I", "100", "--format", "json",
               "-o", "/dev/stdout", "--", *PYTHON, BUSY % 0.55)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    checks.check("several intervals", len(lines) >= 5, done.stdout + done.stderr)
    times = [line["time_s"] for line in lines]
    checks.check("in order", times == sorted(times), str(times))
    total = sum(line["events"][0]["count"] or 0 for line in lines)
    checks.check("they add up", total > 0.54e9, str(total))
    done = run(strobe, "stat", "-a", "-A", "-e", "cpu-clock", "--format", "csv", "--duration", "0.2")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    checks.check("a row for each CPU", [row["cpu"] for row in rows] == [
        str(cpu) for cpu in range(os.cpu_count())], done.stdout)


def ends(strobe):
    done = run(strobe, "stat", "-e", "task-clock", "--", "sh", "-c", "exit 3")
    checks.check("the command's status is told", done.returncode == 3 and
                 "with status 3" in done.stderr, done.stderr)
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    done = run(strobe, "stat", "-p", str(gone.pid))
    checks.check("no such process", done.returncode == 1 and "no such process" in done.stderr,
                 done.stderr)
    stat = subprocess.Popen([strobe, "stat", "-a"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    rings_settle(stat, os.cpu_count())
    stat.send_signal(signal.SIGINT)
    text, errors = stat.communicate(timeout=60)
    checks.check("Ctrl-C prints", stat.returncode == 0 and "cpu-clock" in text, text + errors)
    done = run(strobe, "stat", "-r", "3", "-e", "page-faults", "--", "true")
    checks.check("means", "mean of 3 runs" in done.stdout and "+-" in done.stdout, done.stdout)


def tracepoints(strobe):
    event = "syscalls:sys_enter_write"
    done = run(strobe, "stat", "-e", event, "--", "true")
    if done.returncode:
        checks.skip("tracepoints", done.stderr.strip())
        return
    zero = counts(strobe_stat(strobe, "-e", event, "--", *PYTHON, WRITES % 0))[event]
    many = counts(strobe_stat(strobe, "-e", event, "--", *PYTHON, WRITES % 700))[event]
    checks.check("writes are exact", many - zero == 700, f"{zero} and {many}")


def main(strobe):
    done = run(strobe, "stat", "-e", "task-clock", "--", "true")
    if done.returncode:
        checks.skip("strobe stat", done.stderr.strip())
        checks.finish()
    against_perf(strobe)
    switches(strobe)
    running_process(strobe)
    intervals(strobe)
    ends(strobe)
    tracepoints(strobe)
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
