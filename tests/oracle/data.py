#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the data of samples besides their place, recorded and read by strobe and by perf.

usage: data.py STROBE WORKLOADS
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

PAGE, PAGES = 4096, 64
checks = Checks()


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)


def losses(told):
    """Returns perf's warning about samples that strobe reported as lost or held back.

    Kernels count hits that they do not sample.
    """
    found = re.search(r"([\d,]+) samples?, ([\d,]+) lost(?:, ([\d,]+) held back)?", told)
    taken, *missing = (int((number or "0").replace(",", "")) for number in found.groups()) if found else (0,)
    missing = sum(missing)
    share = missing / (taken + missing) if missing else 0
    # perf warns only above 5 %.
    return f"Warning:\nProcessed {taken + missing} samples and lost {100 * share:.2f}%!\n\n" if share > 0.05 else ""


def script(path, fields=None, told=""):
    """Returns the lines of perf script, with only these fields if given.

    told: strobe's messages about the recording.
    """
    made = run(["perf", "script", "-i", path, *(["-F", fields] if fields else [])])
    expected = losses(told)
    checks.check(f"perf script of {os.path.basename(path)} complains of {'what strobe told' if expected else 'nothing'}",
                 made.returncode == 0 and made.stderr == expected, repr(expected + made.stderr[-400:]))
    return made.stdout.splitlines()


def addresses(strobe, work, folder):
    """Each page of the variable is one fault at a known address."""
    path = os.path.join(folder, "pages.data")
    made = run([strobe, "record", "-d", "--phys-data", "--data-page-size", "--code-page-size", "--no-call-graph",
                "-e", "page-faults:u", "-c", "1", "-o", path, "--", os.path.join(work, "pages")])
    told = re.search(r"^0x([0-9a-f]+) (\d+)$", made.stdout, re.MULTILINE)
    if not checks.check("pages are recorded", made.returncode == 0 and told, repr(made.stderr)):
        return
    start, size = int(told[1], 16), int(told[2])
    rows = ours(strobe, path, "data_symbol")
    checks.check("each page is a sample of that variable", rows[("pages_table",)] == PAGES, rows)
    seen = collections.Counter()
    for line in script(path, "addr,phys_addr,data_page_size,code_page_size"):
        words = line.split()
        address = int(words[0], 16)
        if start <= address < start + size:
            seen[address - start] += 1
            # The page of data is not there yet; the page of code is.
            checks.check(f"code of fault {address - start:x} is in a page of 4K", words[-1] == "4K", line)
    # A sanitizer's runtime may have read the variable before.
    checks.amount("each page of the variable is one fault, at its address",
                 seen == collections.Counter({i * PAGE + 8: 1 for i in range(PAGES)}), dict(seen))
    maps = run(["perf", "script", "-i", path, "--show-mmap-events"]).stdout
    checks.check("mappings of data are recorded", re.search(r"MMAP.*rw-p.*/pages$", maps, re.MULTILINE), maps[:400])


def refused(strobe):
    made = run([strobe, "report", "-b", "-W", "-e", "cpu-clock", "--", "true"])
    checks.check("branches of a software event are left out, and told",
                 made.returncode == 0 and "without weights: hardware counters alone" in made.stdout + made.stderr and
                 "without branch stacks: they come with" in made.stdout + made.stderr,
                 repr(made.stdout[-400:] + made.stderr[-400:]))


def ours(strobe, path, group):
    """Returns {(values of the fields ...): samples}."""
    made = run([strobe, "report", path, "--group", group, "--format", "json"])
    if not checks.check(f"strobe report --group {group} reads {os.path.basename(path)}", made.returncode == 0,
                        repr(made.stderr[-400:])):
        return {}
    event = json.loads(made.stdout)["events"][0]
    return collections.Counter({
        tuple(str(row[key]) for key in group.split(",")): row["samples"] for row in event["rows"]})


def tracepoints(strobe, folder):
    """Both tools read the same fields from recordings of either tool, from files and from pipes."""
    command = ["sh", "-c", "for i in 1 2 3 4 5; do sleep 0.01; done"]
    for by, line in (("strobe", [strobe, "record", "-c", "1"]), ("perf", ["perf", "record", "-q", "-c", "1"])):
        path = os.path.join(folder, f"{by}-switches.data")
        made = run([*line, "-e", "sched:sched_switch,sched:sched_wakeup", "-o", path, "--", *command])
        if not checks.check(f"{by} records tracepoints", made.returncode == 0, repr(made.stderr[-400:])):
            continue
        theirs = collections.Counter(
            found.groups() for line in script(path, told=made.stderr if by == "strobe" else "")
            if (found := re.search(r"prev_comm=(.*) prev_pid=(\d+) .* prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+)",
                                   line)))
        made = ours(strobe, path, "prev_comm,prev_pid,prev_state,next_comm,next_pid")
        checks.check(f"{by}'s recording: {sum(theirs.values())} switches are the same to both", made == theirs and theirs,
                     f"{made - theirs} {theirs - made}")
        with open(path, "rb") as recording:
            piped = subprocess.run(["cat"], stdin=recording, capture_output=True, check=True).stdout
        streamed = subprocess.run([strobe, "report", "-", "--group", "prev_comm", "--format", "json"], input=piped,
                                  capture_output=True, timeout=120, check=False)
        checks.check(f"{by}'s recording through a pipe: the same samples", streamed.returncode == 0 and sum(
            row["samples"] for row in json.loads(streamed.stdout)["events"][0]["rows"]) == sum(theirs.values()),
                     repr(streamed.stderr[-300:]))
        lines = run([strobe, "export", path, "--format", "script"]).stdout
        told = len(re.findall(r"sched:sched_switch: prev_comm=\S.* next_pid=\d+", lines))
        checks.check(f"{by}'s recording: strobe export tells {told} of them", told == sum(theirs.values()), lines[:300])
    made = subprocess.run([strobe, "record", "-c", "1", "-e", "sched:sched_switch", "-o", "-", "--", *command],
                          capture_output=True, timeout=120, check=False)
    shown = subprocess.run(["perf", "script", "-i", "-"], input=made.stdout, capture_output=True,
                           timeout=120, check=False)
    checks.check("strobe's pipe: perf script tells of each switch", shown.stdout.count(b"==> next_comm=") > 5,
                 repr(shown.stderr[-400:]))


def groups(strobe, work, folder):
    """Both tools read the same counts of {leader,members}:S from recordings of either tool.

    Each sample of the leader has a weight for every member: its count.
    """
    command = ["--", os.path.join(work, "faults"), "20000", "3"]
    for by, line in (("strobe", [strobe, "record", "--no-credit", "--scope", "task"]), ("perf", ["perf", "record", "-q"])):
        path = os.path.join(folder, f"{by}-group.data")
        made = run([*line, "-e", "{task-clock,page-faults,context-switches}:S", "-c", "1000000", "-o", path, *command],
                   stdin=subprocess.DEVNULL)
        if not checks.check(f"{by} records a group", made.returncode == 0, repr(made.stderr[-400:])):
            continue
        theirs = {}
        for period, event in (line.split() for line in script(path, "event,period")):
            samples, count = theirs.get(event, (0, 0))
            theirs[event] = (samples + 1, count + int(period))
        made = run([strobe, "report", path, "--group", "event", "--format", "json"])
        mine = [(event["samples"], event["count"]) for event in json.loads(made.stdout)["events"]]
        # perf has no line for a member that counted nothing.
        checks.check(f"{by}'s recording of a group: {mine} is what perf has",
                     sorted(one for one in mine if one[0]) == sorted(theirs.values()) and len(mine) == 3, theirs)
        # Counts after the last sample, up to a millisecond of the task, are in no sample.
        checks.check(f"{by}'s recording of a group: the faults are all there", 59000 <= mine[1][1] < 61000, mine)
    # perf needs the format of a member that takes no samples, too; else it reads nothing.
    path = os.path.join(folder, "member.data")
    run([strobe, "record", "-e", "{page-faults,syscalls:sys_enter_getpid}:S", "-c", "100", "-o", path, *command])
    lines = script(path, "event")
    checks.check("a group with a tracepoint as a member is read by perf", any("page-faults" in line for line in lines), lines[:3])


def main():
    strobe, work = sys.argv[1:3]
    if run(["perf", "--version"]).returncode:
        checks.skip("data of samples", "there is no perf here")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        addresses(strobe, work, folder)
        refused(strobe)
        tracepoints(strobe, folder)
        groups(strobe, work, folder)
    checks.finish()


if __name__ == "__main__":
    main()
