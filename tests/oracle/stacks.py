#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks live callchains on unusual stacks against the source.

Coroutines, handlers on alternate stacks, libraries that are opened late, deleted, or of another
mount namespace.  Assembly whose frames end at any register, or without unwind data.  Live and from
a recording, the reported reasons for chains that are not whole are equal.

usage: stacks.py STROBE STACKS LIBRARY
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

SECONDS = "2"
WHOLE_PERCENT = 99.0
MAIN = r"_start;(\S+;)?__libc_start_call_main;main;"
checks = Checks()
strobe, stacks, library = (os.path.abspath(path) for path in sys.argv[1:4])


def sample(folder, *command, options=()):
    """Records a command; returns ({frames: samples} of stacks in compute*(), the event, notes)."""
    data = os.path.join(folder, "data")
    made = subprocess.run([strobe, "record", "-e", "cpu-clock:u", "-F", "999", *options, "-o", data, "--", *command],
                          capture_output=True, text=True, timeout=120, check=False)
    if not checks.check("strobe record " + " ".join(command[:2]), made.returncode == 0, made.stderr):
        checks.finish()
    told = json.loads(subprocess.run([strobe, "report", "--format", "json", data], capture_output=True, text=True, timeout=120,
                                     check=True).stdout)
    lines = subprocess.run([strobe, "export", "--format", "folded", "-o", "-", data], capture_output=True, text=True, timeout=120,
                           check=True).stdout.splitlines()
    found = {}
    for stack, count in (line.rsplit(" ", 1) for line in lines):
        if re.search(r";compute\w*$", stack):
            found[stack.split(";", 1)[1]] = found.get(stack.split(";", 1)[1], 0) + int(count)
    return found, told["events"][0], told["notes"]


def share(found, pattern):
    return 100 * sum(n for stack, n in found.items() if re.fullmatch(pattern, stack)) / max(1, sum(found.values()))


def expect(name, found, event, pattern):
    part, whole = share(found, pattern), event["chains_whole_percent"]
    checks.check(f"{name}: {part:.1f} % of the chains are the source's", part >= WHOLE_PERCENT, found)
    checks.check(f"{name}: {whole} % are whole", whole >= WHOLE_PERCENT)


def live_notes(*command, options=()):
    """Returns (percent of whole chains, notes) of a live run."""
    told = json.loads(subprocess.run([strobe, "report", "--format", "json", "-e", "cpu-clock:u", "-F", "999", *options, "--",
                                      *command], capture_output=True, text=True, timeout=120, check=True).stdout)
    return told["events"][0]["chains_whole_percent"], told["notes"]


def reason(name, folder, kind, wanted, recorded, options=()):
    """The reason is reported once, live and from the recording.

    perf reads the recording, and takes no mark in it for a frame.
    """
    whole, notes = live_notes(stacks, kind, SECONDS, options=options)
    checks.check(f"{name}: {whole} % are whole", whole < 10, whole)
    checks.check(f"{name}: live, the reason is told once", sum(wanted in note for note in notes) == 1, notes)
    _, event, notes = sample(folder, stacks, kind, SECONDS, options=options)
    whole = event["chains_whole_percent"]
    checks.check(f"{name}: {whole} % are whole in the recording", whole < 10, whole)
    checks.check(f"{name}: the recording tells it once", sum(recorded in note for note in notes) == 1, notes)
    checks.check(f"{name}: the recording tells nothing else of chains", sum("chains" in note for note in notes) == 1, notes)
    if not shutil.which("perf"):
        checks.skip(f"{name}: perf", "no perf")
        return
    lines = subprocess.run(["perf", "script", "-F", "ip,sym", "-i", os.path.join(folder, "data")], capture_output=True, text=True,
                           timeout=120, check=True).stdout.split("\n")
    frames = [line for line in lines if line.strip()]
    checks.check(f"{name}: perf shows the chains", len(frames) >= event["samples"] and not any("ffffffff" in line for line in frames),
                 (len(frames), event["samples"], frames[:10]))


def reasons(folder):
    copied = "where the copy of their stack does"
    reason("short copies", folder, "tall", f"{copied}: --call-graph dwarf,65528", f"{copied}: record with --call-graph dwarf,65528",
           ["--call-graph", "dwarf,4096"])
    reason("alternate stack", folder, "alternate", "go on on another stack", "go on on another stack")
    if platform.machine() == "x86_64":
        told = f"'{stacks}' (spin_bare), in code without unwind data"
        reason("assembly", folder, "assembly", told, told)
    # Copies grow by themselves, which takes as long as the tables do.  If chains of the first
    # copies are cut visibly, a note explains that.
    for seconds in ("6", "20", "60"):
        whole, notes = live_notes(stacks, "tall", seconds)
        if whole >= 20:
            break
    told = [note for note in notes if copied in note]
    checks.check(f"copies that grow: {whole} % are whole", whole >= 20, notes)
    checks.check("copies that grow: what is shown is explained", len(told) == 1 if whole < 98.95 else len(told) <= 1, notes)
    checks.check("copies that grow: nothing is advised that was done", all("by now" in note for note in told), notes)


def kinds(folder):
    found, event, _ = sample(folder, stacks, "coroutine", SECONDS)
    expect("coroutine", found, event, "__start_context;enter_coroutine;compute")

    found, event, notes = sample(folder, stacks, "alternate", SECONDS)
    part = share(found, r"\[truncated\];\S*(raise|kill)\S*;__restore_rt;handle_signal;compute")
    checks.check(f"alternate stack: {part:.1f} % of the chains end where the other stack begins", part >= WHOLE_PERCENT, found)
    checks.check("alternate stack: they are not called whole", event["chains_whole_percent"] < 5, event["chains_whole_percent"])
    checks.check("alternate stack: no mode is told that would not help", not any("--call-graph" in note for note in notes), notes)

    if os.uname().machine == "x86_64":
        found, event, _ = sample(folder, stacks, "register", SECONDS)
        expect("a frame by r11", found, event, MAIN + "run_register;compute_by_register")
        found, event, _ = sample(folder, stacks, "last", SECONDS)
        part, whole = share(found, r"\[truncated\];call_last;exit_at_last;compute"), event["chains_whole_percent"]
        checks.check(f"a last call: {part:.1f} % of the chains end there", part >= WHOLE_PERCENT, found)
        checks.check("a last call: they are not called whole", whole < 5, whole)

    between = MAIN + "run_library;stacks_between;call_back;compute"
    copy = os.path.join(folder, "library.so")
    for kind in ("library", "deleted"):
        shutil.copy(library, copy)
        found, event, _ = sample(folder, stacks, kind, SECONDS, copy)
        expect(kind, found, event, between)
    checks.check("the library was deleted", not os.path.exists(copy))

    hidden = f"mount -t tmpfs none /mnt && cp '{stacks}' /mnt/stacks && cp '{library}' /mnt/l.so && exec /mnt/stacks library " \
        f"{SECONDS} /mnt/l.so"
    unshare = ["unshare", "-m", "--propagation", "private", "sh", "-c"]
    if subprocess.run([*unshare, "mount -t tmpfs none /mnt"], check=False, stderr=subprocess.DEVNULL).returncode:
        checks.skip("another mount namespace", "none can be made here")
        return
    found, event, _ = sample(folder, *unshare, hidden)
    expect("another mount namespace", found, event, between)


with tempfile.TemporaryDirectory(prefix="strobe-test-stacks-") as scratch:
    kinds(scratch)
    reasons(scratch)
checks.finish()
