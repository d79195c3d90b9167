#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording made inside a pid namespace: processes outside have pid 0, like the idle tasks.

--no-idle keeps these processes on the screen, in each view, in comparisons, and if only call chains
distinguish them.

usage: outside.py STROBE FIXTURES
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, Screen, run  # noqa: E402

sys.path.insert(0, sys.argv[2])
import make_simpleperf  # noqa: E402
from make_perfdata import ARCH, OSRELEASE, Samples  # noqa: E402

checks = Checks()
KERNEL, USER = -128, -512
IDLE, WORK, CODE = 0xffffffc008001010, 0xffffffc008002010, 0x7000002010


class Outside(make_simpleperf.Simpleperf):
    """Three seconds with 600 samples of the idle loop, 90 of kernel work for processes outside, 60
    of their own code."""

    def __init__(self, in_user, seconds=3):
        Samples.__init__(self)
        self.kernel_map(0xffffffc008000000, 0x1000000, b"[kernel.kallsyms]")
        self.map(0x7000002000, 0x1000, 0x2000, make_simpleperf.LIBRARY)
        for second in range(seconds):
            for number in range(200):
                self.time = (second + 1) * 10**9 + number * 4 * 10**6
                self.by(0, IDLE, [KERNEL, IDLE])
                if number < 30:
                    self.by(0, WORK, [KERNEL, WORK, USER, CODE])
                if in_user and number < 20:
                    self.by(0, CODE, [USER, CODE])
                if number < 10:
                    self.by(self.PID, CODE, [USER, CODE])

    def by(self, pid, address, chain):
        self.add(9, self.words(11, address) + self.pack("II", pid, pid) + self.words(self.time) + self.pack("II", 1, 0) +
                 self.words(4000000, len(chain), *chain), 1 if address >> 63 else 2)

    def attrs(self, size=128):
        usual = make_simpleperf.make_perfdata.USUAL | make_simpleperf.make_perfdata.CALLCHAIN
        return [(self.attr(kind=1, config=0, sample_type=usual, size=size, period=4000000), [11])]

    def files(self):
        return (make_simpleperf.file2(b"[kernel.kallsyms]", make_simpleperf.KERNEL, 0, [
            (0xffffffc008001000, 0x100, b"default_idle"), (0xffffffc008002000, 0x100, b"made_work")]) +
                make_simpleperf.file2(make_simpleperf.LIBRARY, make_simpleperf.ELF, 0x3000,
                                      [(0x3000, 0x100, b"made_code")], 0x2000))

    def features(self):
        return {OSRELEASE: self.string(b"5.10.0-android"), ARCH: self.string(b"aarch64"),
                make_simpleperf.FILE2: self.files(), make_simpleperf.META_INFO: b"simpleperf_version\0001\0"}


def views(strobe, path, name, functions):
    for columns, rows in ((120, 40), (80, 24)):
        screen = Screen([strobe, path, "--no-idle"], columns, rows)
        try:
            size = f"{name}, {columns}x{rows}"
            good = screen.until(lambda text: all(word in text for word in functions) and "default_idle" not in text)
            checks.check(f"{size}: the hot view has what runs outside", good, screen.text())
            screen.send("i")
            checks.check(f"{size}: with i the idle loop, too", screen.until("default_idle"), screen.text())
            screen.send("i")
            checks.check(f"{size}: and not any more", screen.until(lambda text: "default_idle" not in text and
                                                                    functions[0] in text), screen.text())
            for key, view in (("c", "callers"), ("g", "flames")):
                screen.send(key)
                checks.check(f"{size}: {view} have it", screen.until(
                    lambda text: functions[0] in text and "default_idle" not in text), screen.text())
                screen.send("\x1b")
            screen.send("t")
            checks.check(f"{size}: threads have it", screen.until(
                lambda text: any(functions[0] in line and "0" in line.split() for line in text.splitlines())),
                screen.text())
        finally:
            screen.close()


def main():
    strobe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = folder
        for name, in_user in (("user code", True), ("call chains alone", False)):
            path = os.path.join(folder, name.replace(" ", "-"))
            with open(path, "wb") as file:
                file.write(Outside(in_user).file())
            result = run([strobe, "report", "--no-idle", path])
            checks.check(f"{name}: a report has what runs outside", "made_work" in result.out and
                         "default_idle" not in result.out, result)
            result = run([strobe, "diff", "--no-idle", path, path])
            checks.check(f"{name}: a comparison has it", "made_work" in result.out and "default_idle" not in result.out,
                         result)
            views(strobe, path, name, ("made_work", "made_code"))
    checks.finish()


main()
