#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the reader of recordings on files made by hand and on truncated files.

Machines of either byte order, of 32 and 64 bits, lay out one set of records.  All must come out
equal, byte by byte.  A truncated file must give every record before the cut, and report the cut's
position.

usage: reader.py DUMP
"""

import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "fixtures")]
from checks import Checks  # noqa: E402
import make_perfdata  # noqa: E402

checks = Checks()
CUTS = 100
# Lines that differ between layouts: positions, and records that the reader handles itself.
PLACES = ("state bytes_read", "state pipe", "state truncated_at", "count ")


class Dump:
    def __init__(self, program, data, stream=False):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            shown = subprocess.run([program, "--records", "-" if stream else file.name], capture_output=True,
                                   input=data if stream else None, timeout=120, check=False)
        self.status, self.err = shown.returncode, shown.stderr.decode(errors="replace")[-2000:]
        self.lines = shown.stdout.decode(errors="surrogateescape").splitlines()
        self.records = [line for line in self.lines if line.startswith("record ")]
        self.state = dict(line.split(" ", 2)[1:] for line in self.lines if line.startswith("state "))
        self.total = sum(int(line.split()[2]) for line in self.lines if line.startswith("count "))

    def meaning(self):
        return [line for line in self.lines if not line.startswith(PLACES)]


def differences(ours, theirs):
    return [f"{a!r} for {b!r}" for a, b in zip(ours, theirs) if a != b][:5] + [f"{len(ours)} lines, {len(theirs)}"]


def by_hand(program):
    files = {name: make() for name, make in make_perfdata.FILES.items()}
    little = Dump(program, files["little"])
    checks.check("little-endian: all is understood", little.status == 0 and len(little.records) == 28 and
                 little.state.get("bad") == little.state.get("undecodable") == "0" and
                 little.state["hostname"] == "box" and little.state["cpus"] == "4" and
                 any(line.endswith("000102030405060708090a0b0c0d0e0f10111213 /usr/bin/demo") for line in little.lines),
                 little.lines)
    for name in ("big", "big-32", "little-32", "attr-200"):
        other = Dump(program, files[name])
        checks.check(f"{name}: the same as little-endian", other.meaning() == little.meaning(),
                     differences(other.meaning(), little.meaning()))
    for name in ("pipe", "pipe-big"):
        for stream in (False, True):
            other = Dump(program, files[name], stream)
            wanted = [line for line in little.meaning() if "tracing_bytes" not in line]
            got = [line for line in other.meaning()
                   if not line.startswith("record 71 ") and "tracing_bytes" not in line]
            checks.check(f"{name}, {'streamed' if stream else 'from a file'}: the same", got == wanted and
                         other.state["tracing_bytes"] == "16", differences(got, wanted))
    traced = [Dump(program, files[name]) for name in ("tracing", "tracing-big")]
    checks.check("formats of tracepoints: of both byte orders", all(
        [line for line in dump.lines if line.startswith("tracepoint ")] ==
        ["tracepoint 7 name: second", "tracepoint 316 name: first"] for dump in traced), traced[0].lines[:20])
    streamed = Dump(program, files["little"], stream=True)
    checks.check("a file through a pipe: the same", streamed.lines == little.lines,
                 differences(streamed.lines, little.lines))
    old = Dump(program, files["attr-64"])
    checks.check("attributes of 64 bytes: named after themselves, later fields are 0",
                 "event cpu-clock:uhp 1" in old.lines and "event raw 0x1a8:pp 1" in old.lines and
                 any("max_stack 0 ids 1" in line for line in old.lines), old.lines)


def whole_records(data, at, end):
    """Returns how many records are complete in [at, end)."""
    n = 0
    while at + 8 <= end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        following = struct.unpack_from("<Q", data, at + 8)[0] if kind == 71 and at + 16 <= end else 0
        following = struct.unpack_from("<I", data, at + 8)[0] if kind == 66 and at + 12 <= end else following
        if at + size > end:
            break
        n += 1
        at += size + following
    return n


def cut(program, name, data):
    """Cuts the file at up to CUTS places, the same ones each time."""
    places = random.Random(len(data)).sample(range(1, len(data)), min(CUTS, len(data) - 1))
    full = Dump(program, data)
    pipe = struct.unpack_from("<Q", data, 8)[0] == 16
    start, size = (16, len(data) - 16) if pipe else struct.unpack_from("<QQ", data, 40)
    wrong = []
    for place in sorted(places):
        got = Dump(program, data[:place], stream=pipe)
        if got.status or "Sanitizer" in got.err:
            wrong.append(f"{place}: status {got.status} {got.err}")
            continue
        if "open" in got.state:
            if place >= (16 if pipe else 104) or got.state["open"] not in ("ENOEXEC", "EBADMSG"):
                wrong.append(f"{place}: {got.state}")
            continue
        # Records do not contain the features' names, nor attributes that were cut off.
        if got.records != full.records[:len(got.records)]:
            wrong.append(f"{place}: other records: {differences(got.records, full.records)}")
        if got.state["end"] != "0" or got.state["bad"] != "0":
            wrong.append(f"{place}: {got.state}")
        packed = full.state["compressed"] == "1"
        wanted = whole_records(data, start, min(place, start + size))
        if not packed and got.total != wanted:
            wrong.append(f"{place}: {got.total} records of {wanted}")
        at = int(got.state["truncated_at"])
        if not pipe and (got.state["truncated"] != "1" or at > place):
            wrong.append(f"{place}: truncated {got.state['truncated']} at {at}")
    checks.check(f"{name}: {len(full.records)} records, cut at {len(places)} places", not wrong and full.records,
                 f"{len(wrong)} wrong: {wrong[:3]}")


def recorded(options, command, stdout=None):
    """Returns perf's recording, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data")
        with open(path + ".out", "wb") as out:
            made = subprocess.run(["perf", "record", "-q", "--no-buildid-cache", *options,
                                   *([] if stdout else ["-o", path]), "--", *command],
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, timeout=120, check=False)
        if stdout:
            path += ".out"
        if made.returncode or not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            return file.read()


def main():
    program = sys.argv[1]
    by_hand(program)
    for name in ("little", "pipe", "attr-64"):
        cut(program, f"by hand: {name}", make_perfdata.FILES[name]())
    for name, options, stdout in (
            ("chains", ["-e", "page-faults", "-c", "1", "-g"], False),
            ("raw", ["-e", "page-faults,context-switches", "-c", "1", "-d", "-R"], False),
            ("packed", ["-z", "-e", "page-faults", "-c", "1", "-g"], False),
            ("streamed", ["-e", "page-faults", "-c", "1", "-o", "-"], True)):
        try:
            data = recorded(options, ["true"], stdout)
        except FileNotFoundError:
            data = None
        if data:
            cut(program, f"perf: {name}", data)
        else:
            checks.skip(f"perf: {name}", "perf record is not here or was refused")
    checks.finish()


if __name__ == "__main__":
    main()
