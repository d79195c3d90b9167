#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Call chains on stacks of several kinds, live, against the source: coroutines, handlers on alternate stacks, libraries that
are opened late, deleted, or of another mount namespace.

usage: stacks.py STROBE STACKS LIBRARY
"""

import json
import os
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


def sample(folder, *command):
    """({frames: samples} of those in compute(), the event, notes)."""
    data = os.path.join(folder, "data")
    made = subprocess.run([strobe, "record", "-e", "cpu-clock:u", "-F", "999", "-o", data, "--", *command],
                          capture_output=True, text=True, timeout=120, check=False)
    if not checks.check("strobe record " + " ".join(command[:2]), made.returncode == 0, made.stderr):
        checks.finish()
    told = json.loads(subprocess.run([strobe, "report", "--format", "json", data], capture_output=True, text=True, timeout=120,
                                     check=True).stdout)
    lines = subprocess.run([strobe, "export", "--format", "folded", "-o", "-", data], capture_output=True, text=True, timeout=120,
                           check=True).stdout.splitlines()
    found = {}
    for stack, count in (line.rsplit(" ", 1) for line in lines):
        if stack.endswith(";compute"):
            found[stack.split(";", 1)[1]] = found.get(stack.split(";", 1)[1], 0) + int(count)
    return found, told["events"][0], told["notes"]


def share(found, pattern):
    return 100 * sum(n for stack, n in found.items() if re.fullmatch(pattern, stack)) / max(1, sum(found.values()))


def expect(name, found, event, pattern):
    part, whole = share(found, pattern), event["chains_whole_percent"]
    checks.check(f"{name}: {part:.1f} % of the chains are the source's", part >= WHOLE_PERCENT, found)
    checks.check(f"{name}: {whole} % are whole", whole >= WHOLE_PERCENT)


def kinds(folder):
    found, event, _ = sample(folder, stacks, "coroutine", SECONDS)
    expect("coroutine", found, event, "__start_context;enter_coroutine;compute")

    found, event, notes = sample(folder, stacks, "alternate", SECONDS)
    part = share(found, r"\[truncated\];\S*(raise|kill)\S*;__restore_rt;handle_signal;compute")
    checks.check(f"alternate stack: {part:.1f} % of the chains end where the other stack begins", part >= WHOLE_PERCENT, found)
    checks.check("alternate stack: they are not called whole", event["chains_whole_percent"] < 5, event["chains_whole_percent"])
    checks.check("alternate stack: no mode is told that would not help", not any("--call-graph" in note for note in notes), notes)
    live = subprocess.run([strobe, "report", "-e", "cpu-clock:u", "-F", "999", "--", stacks, "alternate", SECONDS],
                          capture_output=True, text=True, timeout=120, check=False).stdout
    checks.check("alternate stack: live, a note names the cause", "go on on another stack" in live, live[:2000])

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
checks.finish()
