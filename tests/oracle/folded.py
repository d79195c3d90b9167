#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares `strobe export --format folded` with stackcollapse-perf.pl's rules on `perf script`.

The lines and their weights must be equal as a set.  Brackets within names stay:
stackcollapse-perf.pl would cut them there and merge several functions.  Some of perf's text names
no function of the program, and is not compared:

- a frame at address 0, the end of a walk along frame pointers: strobe leaves it out;
- a caller at "function+0x0": the return address after a call that does not return is in the next
  function.  strobe looks up the call itself, so the name there is not compared;
- functions without a name, which strobe distinguishes by their addresses;
- parameters, which strobe keeps if only they distinguish functions;
- "@plt", a call of another file's function, which perf names after another one or not at all;
- the caller of execve() while the new program is set up: its memory is gone then.  strobe calls it
  [unknown], perf uses the old name.

Control characters are not compared either: strobe writes none.

usage: folded.py STROBE WORKLOADS [CASE...]     or: folded.py STROBE --file RECORDING
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
SHOWN = 8
ANY = "\0"  # a frame that is not compared
HEAD = re.compile(r"^(\S.*?)\s+(-?\d+)(?:/(\d+))?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:(\d+)\s+)?(\S+):\s*(.*)$")
FRAME = re.compile(r"^\s*([0-9a-f]+)\s+(.+) \((.*)\)$")


def tidy(name, java):
    name = name.replace(";", ":")
    name = re.sub(r"[\"']", "", name)
    return re.sub(r"^L", "", name) if java and "/" in name else name


def functions(address, name, module, java, caller):
    """Returns the frames that one line of a stack represents, outermost first."""
    offset = re.search(r"\+0x([0-9a-f]+)$", name)
    if name == "[unknown]" and module == "[unknown]" and int(address, 16) == 0:
        return []
    if offset:
        if (caller and int(offset.group(1), 16) == 0) or name.startswith("@plt"):
            return [ANY]
        name = name[:offset.start()]
    found = []
    parts = name.split("->") if java else [name]
    for part in parts:
        if part == "[unknown]":
            part = "[" + ("unknown" if module == "[unknown]" else module.rsplit("/", 1)[-1]) + "]"
        part = tidy(part, java)
        found.append(part + "_[i]" if found else part)
    return found


def collapse(text, event):
    """Returns {stack: weight} of one event."""
    sums = collections.Counter()
    stack, command, weight, frames = [], None, 0, 0
    for line in text.split("\n"):
        if not line:
            if command is not None:
                sums[";".join([command] + stack)] += weight
            stack, command, frames = [], None, 0
        elif not line[0].isspace():
            head = HEAD.match(line)
            if not head or head.group(5) != event:
                command = None
                continue
            command = head.group(1).replace(" ", "_")
            weight = int(head.group(4) or 1)
        elif command is not None:
            # stackcollapse-perf.pl splits the name of a deleted file at its parenthesis.
            frame = FRAME.match(line.replace(" (deleted))", ")"))
            if frame:
                stack = functions(*frame.groups(), command.startswith("java"), frames > 0) + stack
                frames += 1
    return sums


def without_address(line):
    """Replaces functions without a name by their files, and drops the mark of a namesake."""
    line = re.sub(r" \[0x[0-9a-f]+\](?=;|$)", "", line)
    return re.sub(r"(?<=;)([^;]+)\+0x[0-9a-f]+(?=;|$)", r"[\1]", line)


def alike(one, other):
    """Compares frame by frame; a frame that is not compared equals any other."""
    one, other = one.split(";"), other.split(";")
    return len(one) == len(other) and all(a == b or ANY in (a, b) for a, b in zip(one, other))


def not_compared(line):
    """Returns strobe's line with ANY for the names that perf may have differently."""
    line = re.sub(r"[^;]+@plt(?=;|$)", ANY, line)
    return line.replace("[unknown]", ANY) if "_sys_execve" in line else line


def callers(sums):
    """Removes frames that only one of the two tools shows.

    perf shows callers that are no code.  strobe marks cut stacks.
    """
    told = collections.Counter()
    for line, weight in sums.items():
        command, *frames, leaf = line.split(";")
        told[";".join([command, *(frame for frame in frames if frame not in ("[unknown]", "[truncated]")), leaf])] += weight
    return told


def compare(name, perf, strobe):
    """Matches lines of both.

    A line with a frame that is not compared takes strobe's lines that fit and have weight left.
    """
    left = callers(strobe)
    perf = callers(perf)
    missing = {}
    for line, weight in perf.items():
        equal = min(weight, left[line])
        left[line] -= equal
        if weight > equal:
            missing[line] = weight - equal
    open_lines = {line: not_compared(line) for line, rest in left.items() if rest}
    loose = 0
    # Lines with the fewest open frames go first.
    for line, weight in sorted(missing.items(), key=lambda item: item[0].count(ANY)):
        for other, text in sorted(open_lines.items(), key=lambda item: item[1].count(ANY)):
            if (ANY in line or ANY in text) and left[other] and alike(line, text):
                part = min(weight, left[other])
                left[other] -= part
                weight -= part
                loose += 1
        missing[line] = weight
    missing = [(line.replace(ANY, "*"), weight) for line, weight in missing.items() if weight]
    extra = [(line, weight) for line, weight in left.items() if weight]
    told = "".join(f"\n    perf only: {weight} {line}" for line, weight in missing[:SHOWN])
    told += "".join(f"\n    strobe only: {weight} {line}" for line, weight in sorted(extra)[:SHOWN])
    checks.check(f"{name}: {len(perf)} stacks, {loose} with a frame not compared",
                 perf and not missing and not extra, f"{len(missing)} and {len(extra)} differ{told}")


def parse(text):
    sums = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        sums[without_address(stack)] += int(weight)
    return sums


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                          timeout=300, **options)


def check_file(strobe, name, data, event):
    perf = run(["perf", "script", "--no-inline", "-i", data])
    ours = run([strobe, "export", data, "--format", "folded", "-e", event])
    if not checks.check(f"{name}: exported", ours.returncode == 0 and ours.stdout, ours.stderr[-300:]):
        return
    lines = ours.stdout.splitlines()
    checks.check(f"{name}: no line twice", len(set(line.rsplit(" ", 1)[0] for line in lines)) == len(lines))
    compare(name, collapse(perf.stdout, event), parse(ours.stdout))


def cases(work):
    def program(name):
        return os.path.join(work, name)
    return {
        "clock": ("cpu-clock", ["-e", "cpu-clock", "-F", "1999", "-g"], [program("deep"), "2", "2"]),
        "cxx": ("cpu-clock", ["-e", "cpu-clock", "-F", "1999", "-g"], [program("hot_cxx"), "2"]),
        "period": ("page-faults", ["-e", "page-faults", "-c", "7", "-g"], [program("faults"), "2000", "2"]),
        "tracepoint": ("sched:sched_switch", ["-e", "sched:sched_switch", "-g"], ["timeout", "2", program("threads"), "20", "40"]),
        "second": ("page-faults", ["-e", "cpu-clock,page-faults", "-g"], [program("faults"), "2000", "2"]),
    }


def main():
    strobe = sys.argv[1]
    if sys.argv[2] == "--file":
        event = sys.argv[4] if len(sys.argv) > 4 else "cpu-clock"
        check_file(strobe, sys.argv[3], sys.argv[3], event)
        checks.finish()
    chosen = sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        for name, (event, options, command) in cases(sys.argv[2]).items():
            if chosen and name not in chosen:
                continue
            data = os.path.join(folder, name + ".data")
            found = run(["perf", "record", "-q", "-o", data, *options, "--", *command])
            if not os.path.exists(data) or os.path.getsize(data) < 1000:
                checks.skip(name, f"perf record: {found.stderr.strip()[-200:]}")
                continue
            check_file(strobe, name, data, event)
    checks.finish()


main()
