#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares tracepoints grouped by a field with perf script's lines of the same workload.

Each value occurs as often in both.

usage: fields.py STROBE WORKLOADS
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

FILTERS = {
    "kmem:kmalloc": "bytes_req == 1600",
    # The last steps before the program's exec are strobe's or perf's, and differ.
    "raw_syscalls:sys_enter": "id > 14 && id != 59",
    "raw_syscalls:sys_exit": "id > 14 && id != 59",
    # A process that ends sends this signal after perf has closed its events.
    "signal:signal_generate": "sig != 17",
}
# Event, field, pattern of perf's text, and base of its numbers.
CASES = [
    ("syscalls:sys_enter_lseek", "offset", r"offset: (\w+)", 0),
    ("syscalls:sys_exit_lseek", "ret", r"(0x\w+)", 0),
    ("syscalls:sys_enter_write", "count", r"count: (\w+)", 0),
    ("syscalls:sys_enter_read", "count", r"count: (\w+)", 0),
    ("syscalls:sys_enter_dup2", "newfd", r"newfd: (\w+)", 0),
    ("syscalls:sys_enter_writev", "vlen", r"vlen: (\w+)", 0),
    ("syscalls:sys_enter_kill", "sig", r"sig: (\w+)", 0),
    ("raw_syscalls:sys_enter", "id", r"NR (-?\d+)", 10),
    ("raw_syscalls:sys_exit", "id", r"NR (-?\d+)", 10),
    ("sched:sched_process_fork", "child_comm", r"child_comm=(.*) child_pid", 0),
    ("sched:sched_process_exit", "comm", r"comm=(.*) pid=", 0),
    ("sched:sched_process_exec", "filename", r"filename=(.*) pid=", 0),
    ("task:task_newtask", "clone_flags", r"clone_flags=(\w+)", 16),
    ("task:task_rename", "newcomm", r"newcomm=(.*) oom", 0),
    ("signal:signal_generate", "sig", r"sig=(\d+)", 10),
    ("signal:signal_deliver", "sig", r"sig=(\d+)", 10),
    ("timer:itimer_state", "value_sec", r"it_value=(\d+)\.", 10),
    ("filelock:posix_lock_inode", "type", r"fl_type=(\S+)", 0),
    ("sock:inet_sock_set_state", "newstate", r"newstate=(\S+)", 0),
    ("net:net_dev_queue", "len", r"len=(\d+)", 10),
    ("mmap:vm_unmapped_area", "length", r"len=(\w+)", 0),
    ("kmem:kmalloc", "gfp_flags", r"gfp_flags=(\S+)", 0),
]
# Counts that are known without perf.
KNOWN = {
    "syscalls:sys_enter_lseek": {4096: 26, 123456789012: 14, 2**64 - 1: 1},
    "syscalls:sys_enter_dup2": {50: 3, 51: 3},
    "syscalls:sys_enter_kill": {10: 2, 12: 3},
    "sched:sched_process_fork": {"calls": 4},
    "sched:sched_process_exit": {"calls": 4, "calls child": 1},
    "task:task_rename": {"calls": 1, "calls child": 1},
    "timer:itimer_state": {0: 1, 1000: 1, 2000: 1},
    "net:net_dev_queue": {142: 6, 542: 3},
    "kmem:kmalloc": {"GFP_KERNEL": 6},
}
NAMES_AT_ONCE = 8
checks = Checks()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def normal(value, base=0):
    """Returns a number in one form, or other text unchanged."""
    try:
        return int(str(value), base) % 2**64
    except ValueError:
        return str(value)


def event_options(events):
    words = []
    for event in events:
        words += ["-e", event]
        if event in FILTERS:
            words += ["--filter", FILTERS[event]]
    return words


def missing():
    for event, field, _, _ in CASES:
        path = f"/sys/kernel/tracing/events/{event.replace(':', '/')}/format"
        try:
            text = open(path, encoding="utf-8").read()
        except OSError as error:
            yield event, f"{path}: {error.strerror}"
            continue
        if not re.search(rf"\b{field}(\[\d*\])?;", text):
            yield event, f"it has no field {field} in this kernel"


def by_perf(cases, program):
    """Returns {event: Counter of values} from perf script's lines."""
    counts = {event: Counter() for event, _, _, _ in cases}
    patterns = {event: (re.compile(pattern), base) for event, _, pattern, base in cases}
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        done = run("perf", "record", "-o", data, *event_options(counts), program)
        if done.returncode:
            raise SystemExit(f"perf record: {done.stderr}")
        script = run("perf", "script", "-i", data, "-F", "event,trace").stdout
    for line in script.splitlines():
        event, _, trace = line.strip().partition(": ")
        if event in counts:
            pattern, base = patterns[event]
            found = pattern.search(trace)
            counts[event][normal(found.group(1), base) if found else f"? {trace}"] += 1
    return counts


def by_strobe(strobe, cases, program):
    """Returns the same as by_perf(), from strobe's reports.

    Each report has as many fields as it can take.
    """
    counts = {}
    left = list(cases)
    while left:
        names = list(dict.fromkeys(field for _, field, _, _ in left))[:NAMES_AT_ONCE]
        now = [case for case in left if case[1] in names]
        left = [case for case in left if case[1] not in names]
        groups = ",".join("field:" + name for name in names)
        done = run(strobe, "report", *event_options(event for event, _, _, _ in now),
                   "--group", groups, "--format", "json", "--", program)
        if done.returncode:
            raise SystemExit(f"strobe report: {done.stderr}")
        for event in json.loads(done.stdout)["events"]:
            field = next(case[1] for case in now if case[0] == event["name"])
            counts[event["name"]] = tally = Counter()
            for row in event["rows"]:
                tally[normal(row[field])] += row["samples"]
            checks.check(f"{event['name']}: nothing is lost", event["lost"] == 0, str(event["lost"]))
            checks.check(f"{event['name']}: its own field alone", all(
                row[other] == "-" for row in event["rows"] for other in names
                if other != field and not has_field(event["name"], other)), str(event["rows"][:2]))
    return counts


def has_field(event, field):
    path = f"/sys/kernel/tracing/events/{event.replace(':', '/')}/format"
    return bool(re.search(rf"\b{field}(\[\d*\])?;", open(path, encoding="utf-8").read()))


def lines(text):
    """Counts how often each event printed each text."""
    found = re.findall(r"^\s*\S.*?: +(\w+:\w+): ?(.*?)\s*$", text, re.MULTILINE)
    return Counter(found)


def whole_lines(strobe, cases, program):
    """Compares the lines of strobe export and perf script for perf's recording."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        run("perf", "record", "-o", data, *event_options(event for event, _, _, _ in cases), program)
        theirs = lines(run("perf", "script", "-i", data).stdout)
        done = run(strobe, "export", data, "--format", "script", "-o", "-")
        ours = lines(done.stdout)
    events = {event for event, _ in theirs}
    checks.check("lines of all events are compared", events == {case[0] for case in cases}, str(events))
    for event in sorted(events):
        mine = {trace: n for (name, trace), n in ours.items() if name == event}
        other = {trace: n for (name, trace), n in theirs.items() if name == event}
        checks.check(f"lines of {event}", mine == other,
                     f"{list(mine)[:3]}, and {list(other)[:3]} by perf; {done.stderr}")


def long_paths(strobe):
    """Two programs whose paths differ only after the first 400 bytes have a row each."""
    with tempfile.TemporaryDirectory() as folder:
        deep = "/".join([folder] + ["d" * 100] * 4)
        runs = {deep + "/a/prog": 3, deep + "/b/prog": 2}
        for path in runs:
            os.makedirs(os.path.dirname(path))
            shutil.copy(shutil.which("true"), path)
        script = "; ".join(path for path, n in runs.items() for _ in range(n))
        done = run(strobe, "report", "-e", "sched:sched_process_exec", "--group", "filename", "--format", "json", "--",
                   "sh", "-c", script + "; :")
        rows = json.loads(done.stdout)["events"][0]["rows"] if done.stdout else []
        found = {row["filename"]: row["samples"] for row in rows if row["filename"] in runs}
        checks.check("long paths are whole", found == runs, done.stderr + str([row["filename"][-20:] for row in rows]))


def refusals(strobe, program):
    event = "sched:sched_process_fork"
    done = run(strobe, "report", "-e", event, "--group", "weather", "--", program)
    checks.check("a field that no event has is refused with those that there are",
                 done.returncode == 2 and "child_comm" in done.stderr, done.stderr)
    done = run(strobe, "report", "-e", event, "--group", "pid", "--", program)
    checks.check("a name that has another meaning needs a prefix",
                 done.returncode == 2 and "field:pid" in done.stderr, done.stderr)


def main():
    strobe, workloads = sys.argv[1:3]
    program = os.path.join(workloads, "calls")
    if os.geteuid() or not shutil.which("perf"):
        checks.skip("fields of tracepoints", "perf is not installed, or this is not root")
        return checks.finish()
    left_out = dict(missing())
    for event, reason in left_out.items():
        checks.skip(event, reason)
    cases = [case for case in CASES if case[0] not in left_out]
    run(program)  # the first run has events that no later one has
    theirs = by_perf(cases, program)
    ours = by_strobe(strobe, cases, program)
    for event, field, _, _ in cases:
        checks.check(f"{event} by {field}", ours.get(event) == theirs[event] and theirs[event],
                     f"{dict(ours.get(event) or {})}, and {dict(theirs[event])} by perf")
        for value, count in KNOWN.get(event, {}).items():
            checks.check(f"{event}: {value}", ours.get(event, {}).get(value) == count,
                         f"{ours.get(event, {}).get(value)} times, not {count}")
    whole_lines(strobe, cases, program)
    long_paths(strobe)
    refusals(strobe, program)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
