#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording made inside a pid namespace: processes outside have pid 0, like the idle tasks.

--no-idle keeps these processes on the screen, in each view, in comparisons, and if only call chains
distinguish them. Their task is "[outside]", whatever records of pid 0 say; the idle task is
"swapper".

usage: outside.py STROBE FIXTURES
"""

import contextlib
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, Screen, run, started, written  # noqa: E402

sys.path.insert(0, sys.argv[2])
import make_simpleperf  # noqa: E402
from make_perfdata import ARCH, OSRELEASE, Samples  # noqa: E402

checks = Checks()
KERNEL, USER = -128, -512
IDLE, WORK, CODE = 0xffffffc008001010, 0xffffffc008002010, 0x7000002010
EXEC = 0x2000  # PERF_RECORD_MISC_COMM_EXEC
INSIDE = ["unshare", "--pid", "--fork", "--mount-proc"]


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


class Named(Outside):
    """The idle loop, no user code for pid 0, and a record that gives pid 0 a name in the middle."""

    def __init__(self, comm, misc):
        Samples.__init__(self)
        self.kernel_map(0xffffffc008000000, 0x1000000, b"[kernel.kallsyms]")
        for number in range(200):
            self.time = 10**9 + number * 4 * 10**6
            self.by(0, IDLE, [KERNEL, IDLE])
            if number == 100:
                self.add(3, self.pack("II", 0, 0) + self.text(comm) + self.end(0), misc)


def commands(result):
    """Return the number of samples by command of a report in JSON, and that of all samples."""
    try:
        event = json.loads(result.out)["events"][0]
        return {row["command"]: row["samples"] for row in event["rows"]}, event["samples"]
    except (ValueError, KeyError, IndexError):
        return {}, 0


def by_command(*options):
    return ["report", "--group", "command", "--format", "json", *options]


def names(strobe, folder):
    """The name of pid 0 in tables and exports holds for the whole recording."""
    for comm, misc, name in ((b"swapper", 0, "swapper"), (b"swapper/1", 0, "swapper"), (b"elsewhere", EXEC, "[outside]"),
                             (b"kworker/1:0", 0, "[outside]"), (b"swapper", EXEC, "[outside]")):
        case = f"pid 0 is called {comm.decode()}{' by an exec' if misc else ''}"
        path = os.path.join(folder, "named")
        with open(path, "wb") as file:
            file.write(Named(comm, misc).file())
        result = run([strobe, *by_command(path)])
        checks.check(f"{case}: it is {name}", commands(result)[0] == {name: 200}, result)
        result = run([strobe, "report", "--no-idle", path])
        checks.check(f"{case}: its idle loop is hidden", "default_idle" not in result.out, result)
        for form in ("folded", "speedscope", "gecko"):
            result = run([strobe, "export", "--format", form, path])
            others = [other for other in (comm.decode(), "swapper", "[outside]") if other != name]
            checks.check(f"{case}: {form} has {name}", result.status == 0 and name in result.out and
                         not any(other in result.out.replace(name, "") for other in others), result)


def no_stranger(name, result, comm):
    """pid 0 has one name, which is that of no process."""
    rows, samples = commands(result)
    checks.check(f"{name}: all outside is one task", rows.get("[outside]", 0) > 0, result)
    checks.check(f"{name}: no process outside gives it its name", comm not in rows and "swapper" not in rows, result)
    checks.amount(f"{name}: it has its share", rows.get("[outside]", 0) > 0.5 * samples, result)


def live(strobe, folder):
    """Processes outside that execute programs again and again name nothing inside."""
    if os.geteuid() != 0 or run([*INSIDE, "true"]).status:
        checks.skip("a pid namespace", "unshare is not permitted")
        return
    comm = "made-outside"
    program = os.path.join(folder, comm)
    shutil.copy("/bin/true", program)
    script = written(folder, "executes", f"while :; do {program}; done\n")
    shape = ["-a", "-e", "cpu-clock", "--duration", "1"]
    data, foreign = os.path.join(folder, "inside.data"), os.path.join(folder, "perf.data")
    with contextlib.ExitStack() as stack:
        for _ in range(2 * os.cpu_count()):
            stack.enter_context(started(["sh", script]))
        no_stranger("live", run([*INSIDE, strobe, *by_command(*shape)]), comm)
        recorded = run([*INSIDE, strobe, "record", *shape, "-o", data])
        perf = shutil.which("perf") and run([*INSIDE, "perf", "record", "-a", "-e", "cpu-clock", "-o", foreign, "--",
                                             "sleep", "1"], cwd=folder)
    for name, path, result in (("recorded", data, recorded), ("recorded by perf", foreign, perf)):
        if path == foreign and (not perf or perf.status):
            checks.skip(name, "perf cannot record here")
            continue
        with open(path, "rb") as file:
            checks.check(f"{name}: there is a record with a name of a process outside", comm.encode() in file.read(), result)
        no_stranger(name, run([strobe, *by_command(path)]), comm)


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
                lambda text: any(functions[0] in line and "0" in line.split() and "[outside]" in line
                                 for line in text.splitlines())), screen.text())
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
            result = run([strobe, *by_command(path)])
            checks.check(f"{name}: all outside is one task", set(commands(result)[0]) == {"[outside]", "made"}, result)
            views(strobe, path, name, ("made_work", "made_code"))
        names(strobe, folder)
        live(strobe, folder)
    checks.finish()


main()
