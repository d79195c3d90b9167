#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of simpleperf (Android): their own names of events and functions, never those of local
files.

usage: simpleperf.py STROBE FIXTURES
"""

import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, run  # noqa: E402

sys.path.insert(0, sys.argv[2])
import make_simpleperf  # noqa: E402
from make_perfdata import Samples  # noqa: E402

checks = Checks()
PROGRAM = """
volatile unsigned long sum;
__attribute__((noinline)) void local_function(void) { for (int i = 0; i < 100000; i++) sum += i; }
int main(void) { for (;;) local_function(); }
"""
SHOWN = {b"_ZN4made3hotEv": "made::hot()"}


def written(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def names(strobe, folder):
    expected = {SHOWN.get(name, name.decode()): count for name, (_, count) in make_simpleperf.SAMPLES.items()}
    for name, make in make_simpleperf.FILES.items():
        path = written(folder, name, make())
        result = run([strobe, "report", "--format", "json", path])
        report = json.loads(result.out) if result.status == 0 else {"events": [{"name": "", "rows": []}]}
        found = {row["symbol"]: row["samples"] for row in report["events"][0]["rows"] if row["samples"]}
        checks.check(f"{name}: each function has its name and its samples", found == expected, (found, str(result)))
        checks.check(f"{name}: the event has its name", report["events"][0]["name"] == "made-event:u", result)
        checks.check(f"{name}: nothing in it is unknown", report.get("recording", {}).get("unknown_records") == 0 and
                     "kind that is not known" not in result.out, result)
        checks.check(f"{name}: who recorded it is told", report.get("recording", {}).get("recorder") ==
                     "simpleperf 1.build.4711" and report["recording"]["device"] == "Google:Made 7:made", result)
    text = run([strobe, "report", path])
    checks.check("a text tells who recorded it", "recorded by simpleperf 1.build.4711 on Google:Made 7:made" in text.out,
                 text)
    folded = run([strobe, "export", "--format", "folded", "-o", "-", path])
    checks.check("exports have the names", "com.made.App.loop 10\n" in folded.out and "made_in_kernel 7" in folded.out,
                 folded)
    code = run([strobe, "annotate", path, "made_second"])
    checks.check("annotate says that there is no code", "made_second in /system/lib64/libmade.so" in code.out and
                 "code cannot be read" in code.out, code)
    images = run([strobe, "report", "--group", "image", path])
    checks.check("all of an app's code made at run time is one image", images.out.count("[JIT app cache]") == 1 and
                 "       13  [JIT app cache]" in images.out, images)


class Local(make_simpleperf.Simpleperf):
    """A recording of a local file without names in it; `told` adds simpleperf's metadata."""

    def __init__(self, path, offset, told):
        Samples.__init__(self)
        self.told = told
        self.map(0x400000, 0x100000, 0, path.encode())
        self.sample(0x400000 + offset, [-512, 0x400000 + offset])

    def features(self):
        return {make_simpleperf.META_INFO: self.meta()} if self.told else {}


def never_local(strobe, folder):
    path = os.path.join(folder, "local")
    subprocess.run(["gcc", "-O1", "-Wl,--build-id=none", "-x", "c", "-o", path, "-"], input=PROGRAM, text=True,
                   check=True, timeout=60)
    listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True, timeout=60).stdout
    offset = next(int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(" local_function"))
    plain = run([strobe, "report", written(folder, "plain", Local(path, offset, False).file())])
    checks.check("a file here names a recording of perf", "local_function" in plain.out, plain)
    path = written(folder, "phone", Local(path, offset, True).file())
    phone = run([strobe, "report", path])
    checks.check("and none of simpleperf", phone.status == 0 and "local_function" not in phone.out and
                 "of another host" in phone.out, phone)
    trusting = run([strobe, "report", "--trust-local-files", path])
    checks.check("unless it is trusted", "local_function" in trusting.out, trusting)


def hostile(strobe, folder):
    """Sections with wrong bytes lose only names, and a forged name stays one line."""
    good = bytearray(make_simpleperf.Simpleperf().file())
    start, end = good.index(b"[kernel.kallsyms]\x10"), len(good)
    rand = random.Random(7)
    bad = []
    for number in range(40):
        data = bytearray(good)
        for _ in range(rand.randrange(1, 30)):
            data[rand.randrange(start - 8, end)] = rand.choice((0, 1, 0x7f, 0x80, 0xff, rand.randrange(256)))
        result = run([strobe, "report", written(folder, "bad", data)])
        if result.status != 0 or result.hung or "106 samples" not in result.out:
            bad.append((number, str(result)))
    checks.check("what is damaged loses names alone", not bad, bad[:2])
    made = make_simpleperf.Simpleperf()
    made.files = lambda: make_simpleperf.file2(make_simpleperf.LIBRARY, make_simpleperf.ELF, 0x3000, [
        (0x3000, 0x100, b"two\nlines 3000 100 forged"), (2**64 - 1, 2**32 - 1, b"wraps")], 0x2000)
    result = run([strobe, "report", written(folder, "forged", made.file())])
    checks.check("a name is one line", "two?lines 3000 100 forged" in result.out and result.status == 0, result)


def split(strobe, folder):
    """Tracepoint formats longer than a record come in pieces, and an event's ids in a record of
    their own."""

    class Traced(make_simpleperf.Simpleperf):
        def __init__(self):
            super().__init__()
            form = (b"name: made_point\nID: 316\nformat:\n\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n\n" +
                    b"print fmt: \"" + b"x" * 70000 + b"\"\n")
            section = b"\x17\x08\x44tracing0.6\0\0\x08" + self.pack("I", 4096)
            for name in (b"header_page\0", b"header_event\0"):
                section += name + self.words(0)
            section += self.pack("II", 0, 1) + b"made\0" + self.pack("I", 1) + self.words(len(form)) + form
            section += self.pack("II", 0, 0) + self.words(0)
            whole = self.pack("IHH", 32777, 1, 0) + self.pack("I", len(section)) + section
            pieces = [whole[at:at + 60000] for at in range(0, len(whole), 60000)]
            self.body = b"".join(self.record(32772 if i + 1 < len(pieces) else 32773, piece)
                                 for i, piece in enumerate(pieces)) + self.record(32774, self.words(1, 1, 99)) + self.body
            self.add(9, self.words(99, 0x7000002010) + self.pack("II", self.PID, self.PID) + self.words(self.time) +
                     self.pack("II", 1, 0) + self.words(1, 0), 2)

        def attrs(self, size=128):
            return super().attrs(size) + [(self.attr(kind=2, config=316, sample_type=make_simpleperf.make_perfdata.USUAL |
                                                     make_simpleperf.make_perfdata.CALLCHAIN), [12])]

    result = run([strobe, "report", written(folder, "traced", Traced().file())])
    checks.check("events are named by formats that came in pieces, samples found by ids that came later",
                 "made:made_point" in result.out and ": 1 samples" in result.out, result)


def main():
    strobe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = folder
        names(strobe, folder)
        never_local(strobe, folder)
        hostile(strobe, folder)
        split(strobe, folder)
    checks.finish()


main()
