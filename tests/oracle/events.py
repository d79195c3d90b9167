#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the attributes that strobe and perf make of event texts.

Both pass the same attributes to perf_event_open(2), and refuse the same texts.

usage: events.py DUMP_EVENT
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()

FIELDS = ("type", "config", "config1", "config2", "bp_type", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_guest",
          "exclude_host", "exclude_idle", "precise_ip", "pinned", "exclusive")
RATE = ("freq", "sample")
PERF_NAMES = {"{ bp_addr, config1 }": "config1", "{ bp_len, config2 }": "config2",
              "{ sample_period, sample_freq }": "sample"}

# Texts that perf stat opens.
TEXTS = """
cycles cpu-cycles instructions cache-references cache-misses branches branch-instructions branch-misses bus-cycles ref-cycles
stalled-cycles-frontend stalled-cycles-backend idle-cycles-frontend
cpu-clock task-clock page-faults faults context-switches cs cpu-migrations migrations minor-faults major-faults
alignment-faults emulation-faults dummy bpf-output cgroup-switches
cycles:u cycles:k cycles:uk cycles:h cycles:ukh cycles:G cycles:H cycles:GH cycles:uG cycles:p cycles:pp cycles:ppp
cycles:upp cycles:I cycles:D page-faults:u page-faults:uD cycles:e cpu-clock:k
r1a8 r0 r1a8:u rdeadbeef r01c0:k
L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-icache-load-misses LLC-loads LLC-load-misses LLC-stores
dTLB-loads dTLB-load-misses iTLB-load-misses branch-loads branch-load-misses node-loads L1-dcache-prefetches L1-d-loads:u
sched:sched_switch syscalls:sys_enter_read sched:sched_switch:u sched:sched_waking:k
mem:0x1000 mem:0x1000:w mem:0x1000:rw mem:0x1000/4:r mem:0x1000/8:w mem:4096/2:rw:u mem:0x1000/1:w mem:0x1000:x
msr/tsc/ msr/event=0x1/ msr/event=1/
{cpu-clock,page-faults} {cpu-clock:u,page-faults}:k cpu-clock,page-faults:u {page-faults,task-clock}:D
software/config=2/ software/config=2,config1=7,config2=9/
""".split()

# Texts that perf record opens.
SAMPLED = """
cpu-clock/period=12345/ page-faults/freq=321/ page-faults/period=7,name=mine/u cycles/period=100/ cycles:P cycles:ppu
page-faults/call-graph=no/ sched:sched_switch r1a8/period=5/ mem:0x1000/4:w
""".split()

REFUSED = """
cpu-clok cycles:x cycles:uz sched:nothing nothing:at_all {cycles cycles} {} cycles, ,cycles nopmu/event=1/ msr/nothing/
msr/tsc msr/event=99999999999999999999999/ mem:0x1000:q mem:zzz r L1-dcache-mises cycles/period=x/ cycles/nothing=1/
software/config=zz/ cycles:pppp
""".split()

# Intended differences, and why.
GUEST = ("exclude_guest is 0x1, perf's 0x0",
         "perf leaves guests out unless some modifier is written, even one that does not speak of them: here only G and H do")
DIFFERENT = {
    **dict.fromkeys("cycles:k cycles:h cycles:I cycles:D cycles:e cycles:P cpu-clock:k r01c0:k sched:sched_waking:k".split(), GUEST),
    **dict.fromkeys("msr/tsc/ msr/event=0x1/ msr/event=1/".split(), (
        "exclude_guest is 0x0, perf's 0x1",
        "such PMUs refuse any exclusion: perf asks with one, is refused, and asks again; strobe asks once")),
    "{cycles": ("strobe refuses it", "a group that is not closed, which perf takes for closed"),
    "mem:zzz": ("perf refuses it", "a symbol's name, which perf does not look up there"),
}


def perf_events(text, sampled):
    """Returns the attributes that perf asks for, in order, or None if it refuses the text."""
    with tempfile.TemporaryDirectory() as folder:
        command = (["perf", "record", "-vv", "-o", os.path.join(folder, "data"), "-e", text, "--", "true"] if sampled
                   else ["perf", "stat", "-vv", "-e", text, "--", "true"])
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False,
                                env=dict(os.environ, LC_ALL="C"))
    out = result.stdout + result.stderr
    if "event syntax error" in out or "parser error" in out or "invalid or unsupported event" in out:
        return None
    events = []
    for block in re.findall(r"^perf_event_attr:\n(.*?)^-+$", out, re.MULTILINE | re.DOTALL):
        event = dict.fromkeys(FIELDS + RATE, 0)
        for line in block.splitlines():
            name, _, value = line.strip().rpartition(" ")
            name = PERF_NAMES.get(name.strip(), name.strip())
            if name in event:
                event[name] = int(value, 0)
        events.append(event)
    return events


def our_events(dump, text):
    """Returns the attributes that strobe asks for, in order, or None if it refuses the text."""
    out = subprocess.run([dump, text], capture_output=True, text=True, timeout=120, check=True).stdout
    if out.startswith("error"):
        return None
    events = []
    for line in out.splitlines():
        words = dict(word.split("=", 1) for word in line.split(" name=")[0].split())
        events.append({name: int(words[name], 0) for name in FIELDS + RATE})
    return events


def compare(text, ours, theirs, sampled):
    """Returns the differences as text; "" if there are none."""
    if ours is None or theirs is None:
        return "" if ours is theirs else f"{'strobe' if ours is None else 'perf'} refuses it"
    # perf asks again if the kernel refuses, and for more events of its own.  The compared ones come
    # first, in order.
    if len(theirs) < len(ours):
        return f"strobe has {len(ours)} events, perf {len(theirs)}"
    differing = set()
    for mine, other in zip(ours, theirs):
        for name in FIELDS + (RATE if sampled else ()):
            if mine[name] != other[name]:
                differing.add(f"{name} is {mine[name]:#x}, perf's {other[name]:#x}")
    return ", ".join(sorted(differing))


def main():
    dump = os.path.abspath(sys.argv[1])
    if not shutil.which("perf"):
        checks.skip("events as perf has them", "perf is missing")
        checks.finish()
    if os.geteuid() != 0:
        checks.skip("events as perf has them", "only root may open them all")
        checks.finish()
    wanted = [(text, False) for text in TEXTS] + [(text, True) for text in SAMPLED] + [(text, None) for text in REFUSED]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        theirs = pool.map(lambda one: perf_events(*one), wanted)
        for (text, sampled), perf in zip(wanted, theirs):
            mine = our_events(dump, text)
            found = compare(text, mine, perf, sampled)
            if sampled is None and (mine is not None or perf is not None):
                found = found or "neither refuses it"
            known = DIFFERENT.get((text, sampled), DIFFERENT.get(text))
            checks.check(f"{text} {'sampled' if sampled else 'refused' if sampled is None else 'counted'}",
                         found == (known[0] if known else ""), found or "as perf: the table of differences is out of date")
    checks.finish()


if __name__ == "__main__":
    main()
