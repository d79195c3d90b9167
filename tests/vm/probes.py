#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes on a function of the kernel and on one of a program: at entry, at return and within.

Counted or sampled, each probe hits once per call, with any number of calls active at a time.

usage: probes.py FOLDER STROBE [NATIVE STROBE]      with a native one on amd64 too
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from guest import Machine, why_not  # noqa: E402

TIMES = 700
SLEEPERS, NAPS = 64, 10
SLEEPS = "kretprobe:hrtimer_nanosleep"
WAYS = {"stat": "stat", "per_cpu": "stat -a", "auto": "report -c 1", "cpu": "report -c 1 --scope cpu",
        "inherit": "report -c 1 --scope inherit"}
SCRIPT = """
events={events}
strobe stat -e $events --format json -o counted.json -- calls {times}
strobe stat --per cpu -e $events --format json -o percpu.json -- calls {times}
strobe report -e $events -c 1 --format json -- calls {times} >sampled.json
strobe stat -e kprobe:no_such_function -- calls 1 2>refused
""" + "".join(f"strobe {way} -e {SLEEPS} --format json -o sleeps_{name} -- naps {SLEEPERS} {NAPS}\n" if "stat" in way else
                f"strobe {way} -e {SLEEPS} --format json -- naps {SLEEPERS} {NAPS} >sleeps_{name}\n"
                for name, way in WAYS.items()) + """
cat /sys/kernel/tracing/kprobe_events >left
mount -t debugfs debugfs /sys/kernel/debug
off() {{
    strobe stat -e {function} --format json -o off_$1.json -- calls {times}
    strobe report -e {function} -c 1 --format json -- calls {times} >off_sampled_$1.json
}}
off nothing
echo 0 >/sys/kernel/debug/kprobes/enabled
off probes
echo 1 >/sys/kernel/debug/kprobes/enabled
echo 0 >/proc/sys/kernel/ftrace_enabled
off ftrace
echo 1 >/proc/sys/kernel/ftrace_enabled
"""
# system-wide switches, and the file that a note names if one is off
SWITCHES = {"nothing": None, "probes": "kprobes/enabled", "ftrace": "kernel.ftrace_enabled"}
# A function, and the offset of its second instruction that can take a probe.  Instructions that
# ftrace changes cannot.
FUNCTIONS = {"arm64": ("__arm64_sys_getppid", 8), "amd64": ("__x64_sys_getppid", 5)}


def events_of(arch):
    """[(event, symbol of its samples)].  At a return, the symbol is a caller; None: any caller."""
    function, offset = FUNCTIONS[arch]
    return [(f"kprobe:{function}", function), (f"kprobe:{function}+{offset}", function), (f"kretprobe:{function}", None),
            ("uprobe:/bin/calls:calls_target", "calls_target"), ("uretprobe:/bin/calls:calls_target", "main")]


def read(left, name):
    try:
        return {event["name"]: event for event in json.loads(left.text(name))["events"]}
    except (ValueError, LookupError):
        return {}


def told_of_switch(checks, arch, left, name, file):
    """A note names a switch that silences probes.  There is none if all switches are on."""
    for path, amount in ((f"off_{name}.json", "count"), (f"off_sampled_{name}.json", "samples")):
        try:
            told = json.loads(left.text(path))
            found = told["events"][0][amount]
        except (ValueError, LookupError) as error:
            checks.check(f"{arch}: {path}", False, f"{error} {left}")
            continue
        named = [note for note in told["notes"] if "nothing" in note]
        good = any(file in note for note in named) if file else not named and found == TIMES
        checks.check(f"{arch}: {path}: a probe that is switched off", good, (found, told["notes"]))


def main():
    checks = Checks()
    for arch, strobe in zip(("arm64", "amd64"), sys.argv[2:]):
        reason = why_not(arch, sys.argv[1])
        if reason:
            checks.skip(arch, reason)
            continue
        wanted = events_of(arch)
        script = SCRIPT.format(events=",".join(name for name, _ in wanted), times=TIMES, function=wanted[0][0])
        left = Machine(arch, sys.argv[1], strobe).run(script, cpus=1)
        if not checks.check(f"{arch}: the guest ran", "no_such_function" in left.text("refused"), left):
            continue
        notes = left.text("sampled.json").partition('"notes":')[2][:600]
        counted, on_cpu, sampled = (read(left, name) for name in ("counted.json", "percpu.json", "sampled.json"))
        for name, symbol in wanted:
            counts = [told.get(name, {}).get("count") for told in (counted, on_cpu)]
            got = sampled.get(name, {"samples": -1, "lost": -1, "rows": []})
            checks.check(f"{arch}: {name} counts each call", counts == [TIMES, TIMES], (counts, str(left)))
            checks.check(f"{arch}: {name} samples each call", got["samples"] == TIMES and not got["lost"], got)
            first = got["rows"][0] if got["rows"] else {}
            checks.check(f"{arch}: {name} samples are where the probe is", first.get("samples") == TIMES
                         and (first["symbol"] == symbol if symbol else first["symbol"] != FUNCTIONS[arch][0]), f"{first} {notes}")
        for name, way in WAYS.items():
            event = read(left, "sleeps_" + name).get(SLEEPS, {})
            got = event.get("samples" if "report" in way else "count")
            checks.check(f"{arch}: returns of many calls at a time: {way}", (got or 0) >= SLEEPERS * NAPS, event)
        for name, file in SWITCHES.items():
            told_of_switch(checks, arch, left, name, file)
        checks.check(f"{arch}: no probe is left", left.text("left") == "", left.text("left"))
        checks.check(f"{arch}: a function that is not there", "no such" in left.text("refused")
                     or "no function" in left.text("refused"), left.text("refused"))
    checks.finish()


if __name__ == "__main__":
    main()
