#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks callchains that consist of several parts of a recording, on files made by hand.

lbr: samples like those of `perf record --call-graph lbr`.  The stacks have perf script's names.
deferred: samples whose user part came in a CALLCHAIN_DEFERRED record (Linux 6.19).  perf 6.1 does
not know it, so the stacks are known from how the file was made.  Both byte orders.
marks: chains that strobe unwound and recorded, with marks for their end.  perf shows no mark.

The program in the files is strobe itself, which has many functions.

usage: chains.py STROBE
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from checks import Checks  # noqa: E402
from make_perfdata import (  # noqa: E402
    ANY_BRANCH, CALL_STACK, HW_INDEX, IN_KERNEL, IN_USER, IN_USER_LATER, KERNEL_IP, USER_BRANCH, Samples)

checks = Checks()
strobe = program = os.path.abspath(sys.argv[1])
BASE = 0x10000000
OTHER = Samples.PID + 1


def functions():
    """Returns [(name, first address, last address)] of functions of 16 bytes or more.

    There are at least six.
    """
    out = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    found = [(name, int(at, 16), int(at, 16) + int(size, 16) - 1) for at, size, name in
             re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\w+)$", out, re.M) if int(size, 16) >= 16]
    starts = collections.Counter(first for _, first, _ in found)
    return [row for row in sorted(found, key=lambda row: row[1]) if starts[row[1]] == 1 and row[0][0] != "_"]


def segment():
    """Returns (address, offset in the file, length) of the executable segment."""
    out = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    offset, address, length = re.search(
        r"LOAD\s+0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x[0-9a-f]+ 0x([0-9a-f]+) R E", out).groups()
    return int(address, 16), int(offset, 16), int(length, 16)


class Recording(Samples):
    """A recording with one mapping of the program."""

    def __init__(self, order="<", branch=0, **flags):
        super().__init__(order, branch, **flags)
        address, offset, length = segment()
        self.map(BASE + address, length, offset, program.encode())

    def write(self, folder):
        path = os.path.join(folder, "data")
        with open(path, "wb") as file:
            file.write(self.file())
        return path


class Unwound(Recording):
    """A recording by strobe, which unwound copies of 16 KiB."""
    COPIED_AT = 88  # offset of sample_stack_user

    def attrs(self, size=128):
        return [(attr[:self.COPIED_AT] + self.pack("I", 16384) + attr[self.COPIED_AT + 4:], ids)
                for attr, ids in super().attrs(size)]


def tidy(name):
    return "KERNEL" if name.lstrip("[").startswith("kernel.") or name.endswith("_[k]") else name.split("+")[0]


def strobe_stacks(path):
    """Returns {stack, leaf first: samples}."""
    out = subprocess.run([strobe, "export", path, "--format", "folded"], capture_output=True, text=True, check=True).stdout
    stacks = collections.Counter()
    for line in out.splitlines():
        stack, weight = line.rsplit(" ", 1)
        # perf does not mark cut chains.
        stacks[tuple(tidy(name) for name in reversed(stack.split(";")[1:]) if name != "[truncated]")] += int(weight)
    return stacks


def perf_stacks(path):
    out = subprocess.run(["perf", "script", "-f", "-i", path, "-F", "ip,sym"], capture_output=True, text=True,
                         check=True).stdout
    stacks = collections.Counter()
    for stack in out.strip("\n").split("\n\n"):
        frames = re.findall(r"^\s*([0-9a-f]+) (.*)$", stack, re.M)
        stacks[tuple("KERNEL" if int(ip, 16) >> 63 else tidy(name) for ip, name in frames)] += 1
    return stacks


def same(name, ours, theirs):
    checks.check(f"{name}: {sum(theirs.values())} samples, {len(theirs)} stacks", ours == theirs,
                 f"{ours - theirs} for {theirs - ours}")


def lbr(names):
    a, b, c, d, e = [(BASE + first, BASE + last) for _, first, last in names[:5]]
    fp = [IN_USER, a[0] + 8, e[0] + 8]
    calls = [  # both the first and the last byte of a function may be in a call
        [(b[0], a[0]), (c[1], b[0]), (d[0], c[0])],
        [(b[1], a[0]), (b[0], b[0]), (b[0], b[0]), (e[1], b[0])],
        [(b[0] + 4, a[0])]]
    with tempfile.TemporaryDirectory() as folder:
        for index in (0, HW_INDEX):
            made = Recording(branch=USER_BRANCH | CALL_STACK | index)
            for branches in calls:
                made.sample(a[0] + 8, fp, branches)
                made.sample(KERNEL_IP, [IN_KERNEL, KERNEL_IP, KERNEL_IP + 64, *fp], branches)
            made.sample(KERNEL_IP, [IN_KERNEL, KERNEL_IP, KERNEL_IP + 64])
            path = made.write(folder)
            ours, theirs = strobe_stacks(path), perf_stacks(path)
            same(f"lbr, {'with' if index else 'without'} hw_idx, as perf script", ours, theirs)
            deep = tuple(row[0] for row in names[:4])
            checks.check("a stack of the branches, not of frame pointers",
                         ours[deep] == 1 and ours[("KERNEL", "KERNEL", *deep)] == 1, ours)
        made = Recording(branch=USER_BRANCH | ANY_BRANCH)
        made.sample(a[0] + 8, fp, calls[0])
        path = made.write(folder)
        same("branches that are no call stack change nothing", strobe_stacks(path), perf_stacks(path))
        made = Recording(branch=USER_BRANCH | CALL_STACK | HW_INDEX, exclude_callchain_user=1)
        made.sample(a[0] + 8, [], calls[0])
        same("without a user part of the kernel's", strobe_stacks(made.write(folder)),
             collections.Counter([tuple(row[0] for row in names[:4])]))


def deferred(names):
    a, b, c, d, e = [(BASE + first, BASE + last) for _, first, last in names[:5]]
    name = [row[0] for row in names]
    kernel = [IN_KERNEL, KERNEL_IP, KERNEL_IP + 64]
    # Callers are return addresses: the first byte after the calling function.
    chain = [a[0], b[1] + 1, c[1] + 1]
    full, cut = ("KERNEL", "KERNEL", *name[:3]), ("KERNEL", "KERNEL")
    wanted = collections.Counter({full: 4, cut: 3, tuple(name[:3]): 1, ("KERNEL", "KERNEL", name[3]): 1})
    with tempfile.TemporaryDirectory() as folder:
        for order in "<>":
            made = Recording(order, defer_callchain=1, defer_output=1)
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 1])
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 1])
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 1 << 40], tid=OTHER)
            made.deferred(1, [IN_USER, *chain])
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 1])  # after its record
            made.deferred(1 << 40, chain, tid=OTHER)  # without the marker
            made.sample(a[0], [IN_USER_LATER, 3])
            made.deferred(3, [IN_USER, *chain])
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 4])  # lost
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 5])
            made.deferred(5, [IN_USER, d[0]])
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 6], tid=OTHER)  # its thread ends
            made.exit(OTHER)
            made.deferred(6, [IN_USER, e[0]], tid=OTHER)
            made.sample(KERNEL_IP, [*kernel, IN_USER_LATER, 7])  # its record is not in the file
            path = made.write(folder)
            same(f"deferred, {'little' if order == '<' else 'big'}-endian", strobe_stacks(path), wanted)
            told = subprocess.run([strobe, "report", path], capture_output=True, text=True, check=True)
            checks.check("no record is called unknown", "unknown record" not in told.stdout + told.stderr, told.stdout)


def marks(names, has_perf):
    a, b, c = [BASE + first + 1 for _, first, _ in names[:3]]
    n = 100
    with tempfile.TemporaryDirectory() as folder:
        for order in "<>":
            made = Unwound(order)
            for count in (*range(5), 2, 2):  # chains with two marks are more frequent
                for _ in range(n):
                    made.sample(a, [IN_USER, a, b + 1, c + 1, *[IN_USER] * count])
            path = made.write(folder)
            name = f"marks, {'little' if order == '<' else 'big'}-endian"
            wanted = collections.Counter({tuple(row[0] for row in names[:3]): 7 * n})
            same(f"{name}: no frames", strobe_stacks(path), wanted)
            if has_perf and order == "<":
                same(f"{name}: nor in perf", perf_stacks(path), wanted)
            told = json.loads(subprocess.run([strobe, "report", "--format", "json", path], capture_output=True, text=True,
                                             check=True).stdout)
            checks.check(f"{name}: one in seven is whole", abs(told["events"][0]["chains_whole_percent"] - 100 / 7) < 0.1,
                         told["events"][0])
            checks.check(f"{name}: late ones", told["chains_late"] == n, told["chains_late"])
            notes = [note for note in told["notes"] if "chain" in note]
            reasons = ("where the copy of their stack does: record with", "go on on another stack", "does not lead to a caller",
                       "too late for 100 samples")
            checks.check(f"{name}: each reason once, the largest first",
                         len(notes) == len(reasons) and reasons[0] in notes[0] and
                         all(sum(reason in note for note in notes) == 1 for reason in reasons), notes)


found = functions()
if len(found) < 5:
    checks.skip("all", f"{program} has too few functions")
else:
    has_perf = not subprocess.run(["which", "perf"], capture_output=True, check=False).returncode
    if not has_perf:
        checks.skip("lbr", "no perf here")
    else:
        lbr(found)
    deferred(found)
    marks(found, has_perf)
checks.finish()
