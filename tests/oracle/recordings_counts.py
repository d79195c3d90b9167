#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings made by perf give the same numbers in strobe and in perf.

Each recording is compared by:
- its samples (command, thread, CPU, time, event, period, address, image);
- the number of each record type, and the losses;
- the counts per command, image and symbol of `strobe report` and `perf report`.

usage: recordings_counts.py STROBE DUMP WORKLOADS [CASE...]
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from checks import Checks  # noqa: E402
from perf_names import bare, demangled, image_of, named, not_stretched, with_aliases  # noqa: E402

checks = Checks()
SHOWN = 5  # differences shown of each kind
# In a recording of the whole machine, only these commands are the test's own.
WORKLOADS = {"shares", "spawner", "faults", "threads", "deep"}

# perf's name of each record type, by number.
TYPES = {1: "MMAP", 2: "LOST", 3: "COMM", 4: "EXIT", 5: "THROTTLE", 6: "UNTHROTTLE", 7: "FORK", 8: "READ", 9: "SAMPLE",
         10: "MMAP2", 13: "LOST_SAMPLES", 14: "SWITCH", 15: "SWITCH_CPU_WIDE", 16: "NAMESPACES", 17: "KSYMBOL",
         18: "BPF_EVENT", 19: "CGROUP", 20: "TEXT_POKE", 64: "ATTR", 68: "FINISHED_ROUND", 69: "ID_INDEX",
         73: "THREAD_MAP", 74: "CPU_MAP", 78: "EVENT_UPDATE", 79: "TIME_CONV", 80: "FEATURE", 81: "COMPRESSED",
         82: "FINISHED_INIT"}
# Types that strobe's reader handles itself, or that perf counts differently.
OWN = {"COMPRESSED", "ATTR", "FEATURE", "EVENT_UPDATE"}


def cases(work):
    """Returns {name: (options of perf record, command)}.  work: the folder of the workloads."""
    def program(name):
        return os.path.join(work, name)
    storm = [program("spawner"), "tree", "600", "2000"]
    return {
        "clock": (["-e", "cpu-clock", "-F", "4999", "-g", "-a"], [program("shares"), "2"]),
        "events": (["-e", "cpu-clock,task-clock:u,page-faults,context-switches,minor-faults", "-a"], storm),
        "tracepoint": (["-e", "sched:sched_switch,sched:sched_wakeup", "-R", "-a"], storm),
        "faults": (["-e", "page-faults", "-c", "1", "-d", "-g"], [program("faults"), "2000", "3"]),
        "dwarf": (["-e", "cpu-clock", "-F", "997", "--call-graph", "dwarf"], [program("deep"), "2", "2"]),
        "compressed": (["-e", "cpu-clock", "-F", "4999", "-g", "-z", "-a"], [program("deep"), "2", "2"]),
        "pipe": (["-e", "cpu-clock,page-faults", "-g", "-a", "-o", "-"], storm),
        "threads": (["-e", "cpu-clock", "-F", "4999", "-g"],
                    ["timeout", "2", program("threads"), "1000", "40"]),
        "storm": (["-e", "cpu-clock", "-F", "9999", "-g", "-a"], storm),
        "exec": (["-e", "cpu-clock", "-F", "9999"], [program("spawner"), "exec", "300", "2000"]),
        "switch": (["-e", "cpu-clock", "-F", "1999", "--switch-events", "-a"], storm),
        "lost": (["-e", "cpu-clock", "-F", "20000", "-g", "-m", "1", "-a"], [program("deep"), "4", "2"]),
        "build-ids": (["-e", "cpu-clock", "-F", "1999", "--buildid-mmap", "-g", "-a"], storm),
        "namespaces": (["-e", "cpu-clock", "-F", "1999", "--namespaces", "--all-cgroups", "-a"], storm),
    }


def run(command, **options):
    return subprocess.run(command, capture_output=True, timeout=300, check=False, **options)


def text_of(command):
    return run(command).stdout.decode(errors="surrogateescape")


def record(options, command, path):
    """Returns None if perf could record it, else the reason."""
    if "-o" in options:
        with open(path, "wb") as out:
            made = subprocess.run(["perf", "record", "-q", *options, "--", *command], stdout=out,
                                  stderr=subprocess.PIPE, timeout=120, check=False)
    else:
        made = run(["perf", "record", "-q", "-o", path, *options, "--", *command])
    if os.path.getsize(path) < 200 if os.path.exists(path) else True:
        return made.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing was written"]
    return None


def record_readable(options, command, path):
    """Records until perf can read the recording, at most three times.

    Returns None, or the reason.  If another profiler's events fire together with perf's, perf
    cannot read its recording: the kernel gives its samples the parts that the other one asked for.
    """
    for _ in range(3):
        refused = record(options, command, path)
        if refused:
            return refused
        made = run(["perf", "report", "--stats", "-i", path])
        if b"SAMPLE events" in made.stdout:
            return None
    return f"perf cannot read it: {made.stderr.decode(errors='replace').strip()[:300]}"


SCRIPT = re.compile(r"^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?:\[(?P<cpu>\d+)\]\s+)?"
                    r"(?P<s>\d+)\.(?P<ns>\d{9}):\s+(?P<period>\d+)\s+(?P<event>\S+):\s+"
                    r"(?P<ip>[0-9a-f]+) \((?P<dso>.*)\)$")


def perf_samples(path):
    samples = collections.Counter()
    strange = []
    fields = "comm,pid,tid,cpu,time,period,event,ip,dso"
    shown = run(["perf", "script", "-G", "--ns", "-F", fields, "-i", path])
    if b"Cannot print 'cpu' field" in shown.stderr:
        shown = run(["perf", "script", "-G", "--ns", "-F", fields.replace("cpu,", ""), "-i", path])
    for line in shown.stdout.decode(errors="surrogateescape").splitlines():
        found = SCRIPT.match(line)
        if not found:
            if line.strip():
                strange.append(line)
            continue
        samples[(found["comm"], f"{found['pid']}/{found['tid']}", int(found["cpu"] or 0),
                 int(found["s"]) * 10**9 + int(found["ns"]), found["event"], int(found["period"]), found["ip"],
                 image_of(found["dso"]))] += 1
    return samples, strange


def our_dump(dump, path):
    """Returns (samples, {type: count}, {event: (samples, lost)}, {other: number})."""
    samples, types, events, others, names = collections.Counter(), {}, {}, {}, {}
    raw = []
    for line in text_of([dump, path]).split("\n"):
        fields = line.split("\t")
        if fields[0] == "sample":
            raw.append(fields[1:])
        elif fields[0] == "type":
            types[int(fields[1])] = int(fields[2])
        elif fields[0] == "event":
            names[fields[1]] = fields[2]
            events[fields[2]] = (int(fields[3]), int(fields[4]))
        elif len(fields) == 2:
            others[fields[0]] = int(fields[1])
    for comm, ids, cpu, time, event, period, ip, image in raw:
        samples[(comm.strip(), ids, int(cpu), int(time), names[event], int(period), ip, image_of(image))] += 1
    return samples, types, events, others


def difference(ours, theirs):
    """Returns the differences of two counters, in words."""
    lines = [f"strobe has {n}, perf {theirs[key]}: {key}" for key, n in ours.items() if theirs[key] != n]
    lines += [f"perf alone has {n}: {key}" for key, n in theirs.items() if key not in ours]
    return f"{len(lines)} differ: " + "; ".join(lines[:SHOWN])


def without_dead(samples):
    """Removes the names of threads that had ended: perf gives them that of the record before."""
    return collections.Counter({("" if key[1].endswith("/-1") else key[0], *key[1:]): n for key, n in samples.items()})


def alike(ours, theirs, slack=0):
    """slack: number of samples that may differ."""
    return ours.total() == theirs.total() and (ours - theirs).total() <= slack


def slack_of(name, samples):
    """If records of mappings were lost, each side continues in its own way."""
    return samples.total() // 500 if name == "lost" else 0


def of_workloads(samples):
    """Removes the images of other processes, which change while either side reads them."""
    return collections.Counter({(*key[:7], key[7] if key[0] in WORKLOADS else ""): n for key, n in samples.items()})


def comparable(rows):
    """Returns the rows of the workloads.

    For other processes, either side may see more, such as maps of code that they made later.
    """
    return collections.Counter({key: n for key, n in rows.items() if key[0] in WORKLOADS})


def compare_samples(name, ours, theirs, strange, machine):
    """machine: whether the whole machine was recorded."""
    ours, theirs = without_dead(ours), without_dead(theirs)
    if machine:
        ours, theirs = of_workloads(ours), of_workloads(theirs)
    checks.check(f"{name}: {sum(ours.values()):,} samples understood alike",
                 alike(ours, theirs, slack_of(name, ours)) and not strange and ours,
                 difference(ours, theirs) + (f"; not understood of perf script: {strange[:2]}" if strange else ""))


def compare_types(name, path, types):
    theirs = {}
    for line in text_of(["perf", "report", "--stats", "-i", path]).splitlines():
        found = re.match(r"\s+(\w+) events:\s+(\d+)", line)
        if line.strip().endswith("stats:") and "Aggregated" not in line:
            break
        if found and found[1] not in OWN and found[1] != "TOTAL":
            theirs[found[1]] = int(found[2])
    ours = {TYPES.get(number, str(number)): n for number, n in types.items()}
    ours = {kind: n for kind, n in ours.items() if kind not in OWN}
    checks.check(f"{name}: records by type: {ours}", ours == theirs, f"perf has {theirs}")


def compare_lost(name, path, events, others):
    """Compares losses.

    perf reads the events' own counters at the end.  If it has not, LOST records are the only
    source.
    """
    made = run(["perf", "report", "--stdio", "--no-children", "-g", "none", "-i", path])
    shown = made.stdout.decode(errors="surrogateescape")
    found = re.search(r"^# Total Lost Samples: (\d+)", shown, re.MULTILINE)
    lost = int(found[1]) if found else 0
    if not lost:
        shown = text_of(["perf", "script", "--show-lost-events", "-F", "comm", "-i", path])
        lost = sum(map(int, re.findall(r"PERF_RECORD_LOST lost (\d+)", shown)))
    ours = others["lost"] + sum(lost for _, lost in events.values())
    checks.check(f"{name}: lost {ours}", ours == lost, f"perf lost {lost}, its status is {made.returncode}")


# --- reports ---

def perf_counts(path, event):
    counts = collections.Counter()
    shown = text_of(["perf", "report", "--stdio", "--no-children", "-g", "none", "--sort", "comm,dso,sym", "-n",
                     "--no-demangle", "-t", "\x01", "-i", path])
    current = None
    for line in shown.splitlines():
        found = re.match(r"# Samples: \S+\s+of event '(.*)'", line)
        if found:
            current = found[1]
        fields = [field.strip() for field in line.split("\x01")]
        if len(fields) != 5 or line.startswith("#") or current != event:
            continue
        counts[(fields[2], image_of(fields[3]), bare(fields[4]))] += int(fields[1])
    return demangled(counts)


def our_counts(report):
    counts = collections.Counter()
    for row in report["rows"]:
        symbol, image = named(bare(row["symbol"])), image_of(row["image"])
        counts[(row["command"], image, "?" if symbol == image else symbol)] += row["samples"]
    return counts


def as_reported(ours, theirs):
    """Renames commands in our counts that perf report prints differently from perf script.

    perf report gives a thread without a name the one that it got later.  It cuts names to the width
    of its column.
    """
    renamed = collections.Counter()
    shown = {key[0] for key in theirs}
    for key, n in ours.items():
        command = key[0]
        if command not in shown:
            cut = [other for other in shown if len(other) >= 7 and command.startswith(other)]
            missing = [other[0] for other in theirs if other[1:] == key[1:] and theirs[other] > ours[other]]
            if cut:
                command = cut[0]
            elif re.fullmatch(r":-?\d+", command) and missing:
                command = missing[0]
        renamed[(command, *key[1:])] += n
    return renamed


def nameless(counts):
    sums = collections.Counter()
    for key, n in counts.items():
        sums[("", *key[1:])] += n
    return sums


def paths_of(path):
    """Returns {name: path} of the images that have samples."""
    shown = [line.split(maxsplit=1)[-1] for line in text_of(["perf", "buildid-list", "-i", path]).splitlines() if line.strip()]
    return {os.path.basename(image): image for image in shown if image.startswith("/")}


def compare_counts(strobe, name, path, machine):
    made = run([strobe, "report", path, "--group", "command,image,symbol", "--format", "json"])
    try:
        events = json.loads(made.stdout)["events"]
    except ValueError:
        checks.check(f"{name}: strobe report", False, made.stderr.decode(errors="replace"))
        return
    for event in events:
        if event["name"] in ("off-cpu", "preempted"):
            continue  # made of switch records: live/offcpu.py compares their time
        if event["rows"] and "command" not in event["rows"][0]:
            checks.skip(f"{name}: counts of {event['name']}", "this strobe does not group by command")
            continue
        theirs = perf_counts(path, event["name"])
        ours = as_reported(our_counts(event), theirs)
        theirs = not_stretched(theirs, ours, paths_of(path))
        # If names were lost, perf report replaces them by later ones (see as_reported()).
        if name == "lost":
            ours, theirs = nameless(ours), nameless(theirs)
        elif machine:
            ours, theirs = comparable(ours), comparable(theirs)
        ours, theirs = with_aliases(ours, theirs, paths_of(path))
        checks.check(f"{name}: {event['name']}: {len(ours)} rows of command, image and symbol are equal",
                     alike(ours, theirs, slack_of(name, ours)), difference(ours, theirs))


def main():
    strobe, dump, work, *wanted = sys.argv[1:]
    known = cases(work)
    if run(["perf", "--version"]).returncode:
        checks.skip("recordings", "there is no perf here")
        known = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted or known:
            if name not in known:
                continue
            path = os.path.join(folder, f"{name}.data")
            refused = record_readable(*known[name], path)
            if refused:
                checks.skip(name, f"perf record: {refused}")
                continue
            ours, types, events, others = our_dump(dump, path)
            machine = "-a" in known[name][0]
            compare_samples(name, ours, *perf_samples(path), machine)
            compare_types(name, path, types)
            compare_lost(name, path, events, others)
            compare_counts(strobe, name, path, machine)
            os.unlink(path)
    checks.finish()


if __name__ == "__main__":
    main()
