#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares profiles and counts of one of two busy cgroups with perf's and with its processes.

usage: cgroup.py STROBE SHARES DEEP
"""

import contextlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, Screen, public_copy, run  # noqa: E402

NAME = f"strobe-test-oracle-{os.getpid()}"
CONTAINER = "5e1f" * 16
PAGES = 2000
FAULTS = f"""
import mmap
m = mmap.mmap(-1, 4096 * {PAGES})
m.madvise(mmap.MADV_NOHUGEPAGE)
for i in range({PAGES}): m[i * 4096] = 1
"""
checks = Checks()


def hierarchy():
    """Returns the mount point of the cgroups that events use.

    This is version 1 if it has the controller, else version 2.  None if neither is mounted.
    """
    unified = None
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            words = line.split()
            if words[2] == "cgroup" and "perf_event" in words[3].split(","):
                return words[1]
            if words[2] == "cgroup2" and not unified:
                unified = words[1]
    return unified


@contextlib.contextmanager
def made(root, *names):
    """Makes cgroups below one of our own; yields their names below the root.

    Removes them at the end; they must be empty then.
    """
    paths = [os.path.join(root, NAME)] + [os.path.join(root, NAME, name) for name in names]
    there = []
    try:
        for path in paths:
            os.mkdir(path)
            there.append(path)
        yield [os.path.join(NAME, name) for name in names]
    finally:
        for path in reversed(there):
            with contextlib.suppress(OSError):
                os.rmdir(path)


@contextlib.contextmanager
def inside(root, cgroup, command):
    """Runs a command that is in the cgroup from its first instruction on; kills it at the end."""

    def join():
        with open(os.path.join(root, cgroup, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(os.getpid()))

    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=join)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def report(strobe, *words):
    result = run([strobe, "report", "--format", "json", "-e", "cpu-clock", "-F", "997", *words])
    if result.status:
        return None, result
    return json.loads(result.out)["events"], result


def perf_shares(data):
    """Returns samples by symbol, and the pids that have samples, from perf script."""
    symbols, pids = {}, set()
    text = run(["perf", "script", "-i", data, "-F", "pid,ip,sym"]).out
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3:
            pids.add(int(words[0]))
            symbols[words[2]] = symbols.get(words[2], 0) + 1
    return symbols, pids


def profile(strobe, root, one, two, first, second):
    """Both tools sample the same seconds."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        perf = subprocess.Popen(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", "997", "-G", one, "-o", data,
                                 "--", "sleep", "1.7"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        events, result = report(strobe, "-G", one, "--duration", "1.3")
        perf.wait(timeout=60)
        theirs, their_pids = perf_shares(data)
    if not checks.check("a cgroup is profiled", bool(events), str(result)):
        return
    total, mine = sum(theirs.values()), events[0]["samples"]
    checks.check("both have samples", total >= 20 and mine >= 20, f"perf {total}, strobe {mine}")
    for symbol in ("shares_hot", "shares_warm", "shares_cool"):
        ours = sum(row["self_percent"] for row in events[0]["rows"] if row["symbol"] == symbol) / 100
        share = theirs.get(symbol, 0) / max(total, 1)
        both = (ours * mine + share * total) / max(mine + total, 1)
        allowed = 0.02 + 4 * math.sqrt(max(both * (1 - both), 0.01) * (1 / max(total, 1) + 1 / max(mine, 1)))
        checks.check(f"the share of {symbol} is perf's", abs(ours - share) <= allowed,
                     f"strobe {ours:.3f}, perf {share:.3f}, allowed {allowed:.3f}")
    checks.check("perf saw the one process alone", their_pids == {first.pid}, str(their_pids))
    events, result = report(strobe, "-G", f"{one},{two}", "--duration", "0.5", "--group", "process")
    columns = {column["name"]: column for column in (events or [{}])[0].get("columns", [])}
    checks.check("two cgroups are two columns", set(columns) == {"one", "two"}, str(result))
    rows = [row for event in events or [] for row in event["rows"]]
    seen = {name: {row["process"] for row in rows if row["columns"].get(name, {}).get("samples")}
            for name in columns}
    by_cgroup(strobe, one, two)
    checks.check("each has its own process and not the other's",
                 seen == {"one": {first.pid}, "two": {second.pid}}, f"{seen} {result}")


def by_cgroup(strobe, one, two):
    events, result = report(strobe, "-G", f"{one},{two}", "--duration", "0.4", "--group", "cgroup,process")
    rows = {(row["cgroup"], row["process"]): row for row in (events or [{}])[0].get("rows", [])}
    whole = sum(row["self_percent"] for row in rows.values())
    checks.check("rows by cgroup are of one table", len(events or []) == 1 and events[0]["name"] == "cpu-clock" and
                 {cgroup for cgroup, _ in rows} == {"one", "two"} and abs(whole - 100) < 0.1 and
                 events[0]["samples"] == sum(row["samples"] for row in rows.values()), str(result))


def recorded(strobe, one, two, first):
    """perf reads a recording of cgroups made by strobe."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "strobe.data")
        result = run([strobe, "record", "-e", "cpu-clock", "-G", f"{one},{two}", "--duration", "0.4", "-o", data])
        names = run(["perf", "evlist", "-i", data]).out.split()
        text = run(["perf", "script", "-i", data, "-F", "pid,event"]).out
    pids = {line.split()[0] for line in text.splitlines() if "cpu-clock@one" in line}
    checks.check("perf reads a recording of two cgroups", {"cpu-clock@one", "cpu-clock@two"} <= set(names) and
                 pids == {str(first.pid)}, f"{names} {pids} {result}")


def compared(strobe, one, two, empty):
    """Rows by cgroup are compared with a base whose first cgroup is not in the shown recording."""
    with tempfile.TemporaryDirectory() as folder:
        shown, base = (os.path.join(folder, name) for name in ("shown", "base"))
        for path, cgroups in ((base, f"{one},{two}"), (shown, f"{two},{empty}")):
            result = run([strobe, "record", "-e", "cpu-clock", "-G", cgroups, "--duration", "1", "-o", path])
            checks.check(f"a recording of {cgroups}", result.status == 0, str(result))
        screen = Screen([strobe, "-i", shown, "--baseline", base], 100, 16,
                        env={"XDG_STATE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null"})
        there = screen.until(lambda text: "against base" in text, 30)
        for keys in ("R", "G", "\r"):
            screen.send(keys)
            screen.until(lambda text: False, 0.3)
        there = there and screen.until(lambda text: re.search(r"[+-]\d+\.\d+ +one", text), 30)
        changes = {name: float(change) for change, name in re.findall(r"([+-]\d+\.\d+) +(\w+)", screen.text())}
        result = run([strobe, "report", base, "--group", "cgroup", "--format", "json"])
        shares = {row["cgroup"]: row["self_percent"] for row in json.loads(result.out)["events"][0]["rows"]}
        # In the shown recording, cgroup two has all samples.
        checks.check("changes of cgroups", there and abs(changes.get("two", 0) - 100 + shares["two"]) < 0.2 and
                     abs(changes.get("one", 0) + shares["one"]) < 0.2, f"{shares}\n{screen.text()}")
        screen.send("q")
        checks.check("it ends", screen.wait(10) == 0, screen.text())


class Counter:
    """A counting command that prints intervals.

    It has begun when the first one is printed.  end() waits for two more.
    """

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.lines = []

    def until(self, wanted):
        """Reads until this number of further lines names the event."""
        while wanted and (line := self.process.stdout.readline()):
            self.lines.append(line)
            wanted -= "page-faults" in line

    def end(self):
        self.until(2)
        self.process.send_signal(signal.SIGINT)
        # Not communicate(): it would lose the lines that were read ahead.
        self.lines += self.process.stdout.readlines()
        self.process.wait(timeout=60)
        return self.lines


def count_faults(strobe, root, one):
    """Counts page faults of a program that runs while both tools count.

    Returns strobe's count, perf's count, and strobe's rows.
    """
    perf = Counter(["perf", "stat", "-I", "100", "-x", ";", "-a", "-e", "page-faults", "-G", one])
    ours = Counter([strobe, "stat", "-I", "100", "--format", "csv", "-e", "page-faults", "-G", one])
    perf.until(1)
    ours.until(2)  # two intervals: counting has begun
    with inside(root, one, [sys.executable, "-S", "-E", "-c", FAULTS]) as work:
        work.wait()
    theirs = sum(int(line.split(";")[1]) for line in perf.end() if line.count(";") > 3 and "page-faults" in line
                 and line.split(";")[1].strip().isdigit())
    # Drops the notes that strobe adds on a busy machine.
    rows = [line.strip().split(",") for line in ours.end() if re.match(r"time_s,|[0-9.]+,[0-9.]+,", line)]
    head = rows.pop(0)
    mine = sum(int(row[head.index("count")]) for row in rows if row[head.index("count")].isdigit())
    return mine, theirs, rows


def counted(strobe, root, one):
    for _ in range(3):
        mine, theirs, rows = count_faults(strobe, root, one)
        # perf's intervals sometimes have more faults than the program, up to seven times as many.
        if theirs <= mine:
            break
    checks.check("strobe stat counts the faults of the program", PAGES <= mine <= 2 * PAGES, mine)
    if theirs > mine:
        checks.skip("strobe stat counts what perf stat counts", f"perf has {theirs} faults for {PAGES} pages")
    else:
        checks.check("strobe stat counts what perf stat counts", mine == theirs, f"strobe {mine}, perf {theirs}")
    checks.check("the cgroup is told with the count", any("one" in row for row in rows), str(rows[:2]))


def sentences(strobe, root, empty):
    quick = ["--duration", "0.2"]
    result = run([strobe, "report", "-e", "cpu-clock", "-G", f"{NAME}/on", *quick])
    checks.check("one that is not there", result.status == 1 and f"did you mean '{NAME}/one'" in result.err,
                 str(result))
    result = run([strobe, "report", "-e", "cpu-clock", "-G", CONTAINER[:12], *quick])
    checks.check("a container's id", result.status == 0 and f"cgroup {CONTAINER[:12]}" in result.out and
                 "has no task now" in result.err, str(result))
    result = run(["unshare", "-m", "sh", "-c", "umount -l $(awk '/^cgroup/ { print $2 }' /proc/self/mounts); "
                  "exec \"$@\"", "sh", strobe, "report", "-e", "cpu-clock", "-G", "x", *quick])
    checks.check("no hierarchy", result.status == 1 and "no hierarchy of cgroups" in result.err, str(result))
    for words in (["stat"], ["report"]):
        process = subprocess.Popen([strobe, *words, "-e", "cpu-clock", "-G", empty, "--duration", "60"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        head = process.stderr.readline() if words == ["report"] else ""
        with contextlib.suppress(OSError):
            # A removed cgroup must be reported, before and after the events are opened.
            os.rmdir(os.path.join(root, empty))
        out, err = process.communicate(timeout=50)
        checks.check(f"a cgroup that goes away ends {words[0]}, with a sentence",
                     re.search("is gone|no such cgroup", head + out + err) is not None, head + out + err)
        with contextlib.suppress(OSError):
            os.mkdir(os.path.join(root, empty))


def ordinary_user(strobe, one):
    with public_copy(strobe) as (copy,):
        result = run([copy, "report", "-e", "cpu-clock", "-G", one, "--duration", "0.2"], user=65534)
        checks.check("an ordinary user is told", "whole CPUs are not permitted" in result.err, str(result))
        result = run([copy, "stat", "-e", "cpu-clock", "-G", f"{one},/", "--duration", "0.2"], user=65534)
        checks.check("and of several cgroups", result.status == 1 and "told apart" in result.err, str(result))


def main():
    strobe, shares, deep = (os.path.abspath(path) for path in sys.argv[1:4])
    root = hierarchy()
    if not root or os.geteuid() != 0 or not shutil.which("perf"):
        checks.skip("cgroups", "needs root, perf, and a mounted hierarchy")
        checks.finish()
    try:
        with made(root, "one", "two", "empty", f"docker-{CONTAINER}.scope") as (one, two, empty, _):
            with inside(root, one, [shares, "0"]) as first, inside(root, two, [deep]) as second:
                profile(strobe, root, one, two, first, second)
                recorded(strobe, one, two, first)
                compared(strobe, one, two, empty)
                ordinary_user(strobe, one)
            counted(strobe, root, one)
            sentences(strobe, root, empty)
    except PermissionError as error:
        checks.skip("cgroups", f"none can be made here ({error})")
    checks.check("nothing is left", not os.path.exists(os.path.join(root, NAME)), NAME)
    checks.finish()


if __name__ == "__main__":
    main()
