#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events that fire at each hit, as fast as a program can: each counted hit is sampled, lost or held
back.

The machine decides how many hits come, so no test asks for a share.  The count shows that no
event falls silent: it must be the program's own count.

usage: floods.py STROBE SYSCALLS FAULTS WAITS   (the program, and the workloads)
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, run  # noqa: E402

checks = Checks()
ENTER, EXIT = "syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid"
FLOOD = 300_000
TRACEFS = "/sys/kernel/tracing/events"
# A read(2) that pretends counters were on the hardware for half of their enabled time.
PRELOAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
ssize_t read(int fd, void *bytes, size_t size)
{
	ssize_t (*real)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	ssize_t len = real(fd, bytes, size);
	char link[64], name[64] = "";
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (len >= 24 && readlink(link, name, sizeof(name) - 1) > 0 && strstr(name, "[perf_event]"))
		((uint64_t *)bytes)[2] /= 2;
	return len;
}
"""


def report(name, strobe, arguments, command):
    """Return the events of a report by name; empty if there is no report."""
    result = run([strobe, "report", "--format", "json", *arguments, "--", *command], timeout=300)
    try:
        return {event["name"]: event for event in json.loads(result.out)["events"]}
    except (ValueError, KeyError):
        checks.check(name, False, str(result))
        return {}


def adds_up(event, count, others=False, period=1):
    """Return the fault of an event's sums after `count` hits, or more with others; "" if there is
    none."""
    shown = {key: event[key] for key in ("samples", "lost", "held_back", "filtered", "count",
                                         "coverage_percent")}
    told = event["samples"] + event["lost"] + event["held_back"] + event["filtered"]
    here = event["samples"] + event["filtered"]
    if event["count"] < count or (not others and event["count"] != count):
        return f"{count} hits were made: {shown}"
    if told != event["count"] // period:
        return f"the sum is {told}: {shown}"
    # Hits of other processes are filtered, or lost.
    if told - event["filtered"] < count // period:
        return f"{count} hits were made, and {told - event['filtered']} are told of: {shown}"
    if told and abs(event["coverage_percent"] - 100 * here / told) > 0.01:
        return f"coverage is not {100 * here / told}: {shown}"
    return ""


def judge(name, events, bad):
    """Sums must be right on every machine; the number held back depends on strobe's share of
    time."""
    good = checks.check(name, not any(bad), "; ".join(filter(None, bad)))
    # Linux counts a hit before it checks whether the event is still on: each CPU may add one.
    held = {event["name"]: event["held_back"] for event in events if event["held_back"] > os.cpu_count()}
    return checks.amount(f"{name}: nothing is held back", not held, held) and good


def flood(name, strobe, arguments, command, counts, others=False, period=1):
    """counts: hits of each event.  Returns the events if they add up, else an empty dict."""
    events = report(name, strobe, arguments, command)
    if not events:
        return {}
    bad = [adds_up(events[event], count, others, period) if event in events else f"no {event}"
           for event, count in counts.items()]
    return events if judge(name, [events[event] for event in counts if event in events], bad) else {}


def scopes(strobe, syscalls):
    each = ["-c", "1", "-e", ENTER]
    for scope in ("task", "cpu", "inherit"):
        others = scope == "cpu"
        flood(f"a flood, --scope {scope}", strobe, [*each, "--scope", scope],
              [syscalls, str(FLOOD)], {ENTER: FLOOD}, others)
        flood(f"a flood into a ring of one page, --scope {scope}", strobe,
              [*each, "--scope", scope, "--ring-pages", "1"], [syscalls, str(FLOOD)],
              {ENTER: FLOOD}, others)
        flood(f"two tracepoints side by side, --scope {scope}", strobe,
              ["-e", f"{ENTER},{EXIT}", "--scope", scope], [syscalls, str(FLOOD // 4)],
              {ENTER: FLOOD // 4, EXIT: FLOOD // 4}, others)
    for scope in ("cpu", "inherit"):
        flood(f"eight children beside, --scope {scope}", strobe, [*each, "--scope", scope],
              [syscalls, str(FLOOD // 10), "8"], {ENTER: 9 * (FLOOD // 10)}, scope == "cpu")
    flood("a group of tracepoints", strobe, ["-e", f"{{{ENTER},{EXIT}}}", "--scope", "task"],
          [syscalls, str(FLOOD // 4)], {ENTER: FLOOD // 4, EXIT: FLOOD // 4})
    flood("every seventh hit", strobe, ["-c", "7", "-e", ENTER, "--scope", "task"],
          [syscalls, str(FLOOD)], {ENTER: FLOOD}, period=7)
    # The flood lasts long enough for strobe's adjustments after a second.
    for scope in ("task", "cpu"):
        flood(f"a flood of some seconds, --scope {scope}", strobe, [*each, "--scope", scope],
              [syscalls, str(5 * FLOOD)], {ENTER: 5 * FLOOD}, scope == "cpu")
    flood("a burst, then silence", strobe, [*each, "--scope", "task"],
          [syscalls, "140000", "0", "2"], {ENTER: 140000})


def lost_of_others(strobe, syscalls):
    """Losses on a CPU cannot be attributed, so they are reported for all processes if others had
    hits."""
    flooder = subprocess.Popen([syscalls, "100000000"])
    result = run([strobe, "report", "--scope", "cpu", "--ring-pages", "1", "-c", "1", "-e", ENTER,
                  "--", syscalls, str(FLOOD)], timeout=300)
    # Other processes' hits at the command's end are both counted and sampled, or neither.
    for turn in range(5):
        flood(f"a flood beside that of another process, {turn}", strobe,
              ["-c", "1", "-e", ENTER, "--scope", "cpu"], [syscalls, str(FLOOD // 10)],
              {ENTER: FLOOD // 10}, True)
    flooder.kill()
    flooder.wait()
    told = re.search(r"([\d,]+) lost( \(of all processes\))?", result.out)
    checks.check("lost beside a flood of another process", told and told[1] != "0" and told[2],
                 result.out[:500] + result.err)


def wakeups(strobe, waits):
    """Linux counts a wake-up also for the sleeper's inherited events, but does not sample it: no
    sample is missing."""
    name = "wake-ups of the target's own sleeping threads"
    event = report(name, strobe, ["--scope", "inherit", "-c", "1", "-e", "sched:sched_wakeup"],
                   [waits, "20", os.devnull]).get("sched:sched_wakeup")
    if event:
        checks.check(name, not adds_up(event, 0, others=True) and event["samples"] and not event["held_back"],
                     {key: event[key] for key in ("samples", "lost", "held_back", "count", "coverage_percent")})


def from_exec_on(strobe):
    """A command's samples begin at its exec in every scope: before that, it is a copy of strobe."""
    samples = {}
    for scope in ("task", "inherit", "cpu"):
        events = report(f"from exec on, --scope {scope}", strobe,
                        ["--scope", scope, "-c", "1", "-e", "raw_syscalls:sys_enter"], ["true"])
        samples[scope] = sum(event["samples"] for event in events.values())
    checks.check("each scope has the same system calls of a command",
                 len(set(samples.values())) == 1 and samples["task"] > 0, samples)


def filters(strobe, syscalls):
    """The kernel counts hits that pass a tracepoint's filter, so the sum is the filter's."""
    flood("a filter that lets nothing pass", strobe,
          ["-e", ENTER, "--filter", "common_pid == 0", "--scope", "task"],
          [syscalls, str(FLOOD // 10)], {ENTER: 0})
    flood("a filter that lets all pass", strobe,
          ["-e", ENTER, "--filter", "common_pid != 0", "--scope", "task"],
          [syscalls, str(FLOOD // 10)], {ENTER: FLOOD // 10})


def texts(strobe, syscalls):
    """A ring of one page overflows: the report shows the losses and the remaining coverage."""
    result = run([strobe, "report", "-c", "1", "-e", ENTER, "--scope", "task", "--ring-pages", "1",
                  "--", syscalls, str(FLOOD)], timeout=300)
    found = re.search(r"one sample every 1: ([\d,]+) samples, ([\d,]+) lost,"
                      r"(?: ([\d,]+) held back,)? coverage ([\d.]+)%", result.out)
    if not checks.check("the report's head tells all", found is not None, str(result)):
        return
    samples, lost, held = (int((text or "0").replace(",", "")) for text in found.groups()[:3])
    checks.check("the report's head adds up", samples + lost + held == FLOOD, found.group())
    checks.check("the report's coverage is what came of the count",
                 abs(float(found.group(4)) - 100 * samples / FLOOD) < 0.051, found.group())


def recordings(strobe, syscalls):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "flood.data")
        result = run([strobe, "record", "-c", "1", "-e", ENTER, "--scope", "task", "--ring-pages",
                      "1", "-o", path, "--", syscalls, str(FLOOD)], timeout=300)
        found = re.search(r"(\d+) samples, (\d+) lost(?:, (\d+) held back)?", result.err)
        if not checks.check("record tells what it has", found is not None, str(result)):
            return
        told = sum(int(text or 0) for text in found.groups())
        checks.check("record: the sum is the program's", told == FLOOD, found.group())
        result = run([strobe, "report", "--format", "json", path], timeout=300)
        event = json.loads(result.out)["events"][0]
        samples, lost = event["samples"], event["lost"]
        checks.check("the recording tells the same",
                     samples + lost == FLOOD and samples == int(found.group(1)), str(event)[:300])
        checks.check("the recording has the coverage",
                     abs(event["coverage_percent"] - 100 * samples / FLOOD) < 0.01, str(event)[:300])
        if not shutil.which("perf"):
            checks.skip("perf reads the same numbers", "perf is not installed")
            return
        stats = subprocess.run(["perf", "report", "--stats", "-i", path], capture_output=True,
                               text=True, check=False).stdout
        numbers = {key: int(value) for key, value in
                   re.findall(r"^ *(LOST_SAMPLES|SAMPLE) events: +(\d+) *$", stats, re.MULTILINE)}
        checks.check("perf reads the same samples", numbers.get("SAMPLE") == samples, stats[-600:])
        if "LOST_SAMPLES" in numbers:
            checks.check("perf reads the same losses", numbers["LOST_SAMPLES"] == lost, stats[-600:])


def multiplexed(strobe, faults, folder):
    """Simulates multiplexing without hardware: a preloaded library changes the times that read(2)
    returns."""
    library = os.path.join(folder, "half.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=PRELOAD, text=True, check=True,
                   timeout=60)
    if run([strobe, "--version"], env={"LD_PRELOAD": library}).status:
        checks.skip("multiplexed events", "the preloaded library does not fit this build")
        return
    for scope in ("task", "cpu"):
        for rate in (["-c", "1"], ["-c", "100"], ["-F", "997"]):
            result = run([strobe, "report", "--format", "json", "-e", "page-faults", "--scope", scope, *rate, "--",
                          "sh", "-c", f"exec {faults} 50000 >/dev/null"], env={"LD_PRELOAD": library})
            try:
                coverage = json.loads(result.out)["events"][0]["coverage_percent"]
            except (ValueError, KeyError, IndexError):
                coverage = None
            what = f"{' '.join(rate)}, --scope {scope}"
            if checks.check(f"half of the time on the hardware is at most half covered, {what}",
                            coverage is not None and coverage < 50.5, f"{coverage}: {result}"):
                checks.amount(f"half of the time on the hardware is half covered, {what}", coverage > 30,
                              f"{coverage}: {result}")


def main():
    strobe, syscalls, faults, waits = sys.argv[1:5]
    result = run([strobe, "stat", "-e", "page-faults:u", "--", faults, "1"])
    if result.status:
        checks.skip("all", "events are refused to this user: " + result.err.strip()[:200])
        checks.finish()
    events = report("page faults", strobe, ["-c", "1", "-e", "page-faults", "--scope", "task"],
                    ["sh", "-c", f"exec {faults} 50000 >/dev/null"])
    if events:
        judge("page faults", [events["page-faults"]], [adds_up(events["page-faults"], 50000, others=True)])
    with tempfile.TemporaryDirectory() as folder:
        multiplexed(strobe, faults, folder)
    if not os.access(f"{TRACEFS}/syscalls/sys_enter_getppid/id", os.R_OK):
        checks.skip("tracepoints", f"{TRACEFS} is not mounted, or not for this user")
        checks.finish()
    scopes(strobe, syscalls)
    lost_of_others(strobe, syscalls)
    wakeups(strobe, waits)
    from_exec_on(strobe)
    filters(strobe, syscalls)
    texts(strobe, syscalls)
    recordings(strobe, syscalls)
    checks.finish()


if __name__ == "__main__":
    main()
