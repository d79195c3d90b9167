#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Huge or irregular files at places that strobe reads names from: it reads a part, and a note says
so.

usage: huge.py STROBE JIT
"""

import contextlib
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe, jit = (os.path.abspath(path) for path in sys.argv[1:3])
HOT = "py::hot:/home/me/a program.py"
HUGE = 10 << 30
CUT = "is too large, so only"


def children_seconds(before=None):
    """Return the CPU time of ended child processes, workers included; with before, the time since
    then."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = usage.ru_utime + usage.ru_stime
    return seconds if before is None else seconds - before


def report(pid):
    before = children_seconds()
    result = common.run([strobe, "report", "-e", "cpu-clock", "-p", str(pid), "--duration", "0.3", "-F", "499"])
    return result, children_seconds(before)


def judge(name, pid, named, note):
    result, seconds = report(pid)
    checks.check(f"{name}: the report comes", result.status == 0 and not result.hung and "cpu-clock" in result.out, result)
    checks.check(f"{name}: names", (HOT in result.out) == named, result)
    said = result.out + result.err
    checks.check(f"{name}: a note says so", note in said if note else CUT not in said, result)
    # strobe stops after eight seconds of CPU time if a file never ends.
    checks.amount(f"{name}: it takes little CPU time", seconds < 6, f"{seconds} s, {result}")


@contextlib.contextmanager
def running(how, folder):
    """Start the workload; yields its pid and the path of the file with its names."""
    with common.started([jit, how, "1000"], wait_for="ready", cwd=folder) as process:
        path = f"/tmp/perf-{process.pid}.map" if how == "map" else os.path.join(folder, f"jit-{process.pid}.dump")
        yield process.pid, path


def maps(folder):
    with running("map", folder) as (pid, path):
        with open(path, encoding="ascii") as file:
            names = file.read()
        judge("a map", pid, True, None)
        os.truncate(path, HUGE)
        judge("names before 10 GB of nothing", pid, True, CUT)
        os.truncate(path, 0)
        os.truncate(path, HUGE)
        with open(path, "a", encoding="ascii") as file:
            file.write("\n" + names)
        judge("names behind 10 GB of nothing", pid, True, CUT)
        with open(path, "w", encoding="ascii") as file:
            file.write(names)
            for first in range(0, 1 << 21, 1 << 16):
                file.write("".join(f"{0x1000 + 16 * i:x} 8 f\n" for i in range(first, first + (1 << 16))))
        judge("a map of two million short lines", pid, True, CUT)
        for kind in ("pipe", "folder", "socket", "link to a device", "link to itself"):
            os.unlink(path)
            if kind == "pipe":
                os.mkfifo(path)
            elif kind == "folder":
                os.mkdir(path)
            elif kind == "socket":
                with socket.socket(socket.AF_UNIX) as listener:
                    listener.bind(path)
            else:
                os.symlink("/dev/zero" if kind == "link to a device" else path, path)
            judge(f"a {kind} in the place of a map", pid, False, None)
            if kind == "folder":
                os.rmdir(path)
                os.mknod(path)


def dumps(folder):
    with running("dump", folder) as (pid, path):
        block = struct.pack("<IIQ", 9, 16, 0) * 65536
        with open(path, "ab") as file:
            for _ in range(10):
                file.write(block)
        judge("a jitdump of many records", pid, True, CUT)
        os.truncate(path, HUGE)
        judge("a jitdump of many records and 10 GB of nothing", pid, True, CUT)
        annotated = common.run([strobe, "annotate", "-p", str(pid), "--duration", "0.3", HOT])
        checks.check("a jitdump of many records: code", "/src/hot.py:42" in annotated.out, annotated)


def debug_link(folder):
    """A debug file found by name is read completely, to check whether it belongs to the program."""
    program, debug = os.path.join(folder, "program"), os.path.join(folder, "program.debug")
    source = "int main(void) { for (volatile int i = 0;; i++) ; }"
    with open(debug, "wb") as file:
        file.write(b"debug")
    made = subprocess.run(["cc", "-x", "c", "-Wl,--build-id=none", "-o", program, "-"], input=source, text=True,
                          capture_output=True, check=False)
    if made.returncode or subprocess.run(["objcopy", "-S", f"--add-gnu-debuglink={debug}", program], check=False).returncode:
        checks.skip("a debug file of 10 GB", made.stderr[:200])
        return
    os.truncate(debug, HUGE)
    with common.started([program]) as process:
        common.let_run(process.pid, 0.1)
        result, seconds = report(process.pid)
    checks.check("a debug file of 10 GB: the report comes, and a note says so", result.status == 0 and
                 f"'{debug}' is too large" in result.out + result.err, result)
    checks.amount("a debug file of 10 GB: it takes little CPU time", seconds < 6, f"{seconds} s")


def main():
    with tempfile.TemporaryDirectory(prefix="strobe-test-huge-") as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        first = common.run([strobe, "report", "-e", "cpu-clock", "-F", "499", "--", "sh", "-c", ":"])
        if first.status:
            checks.skip("huge files", f"no events here: {first.err[-300:]}")
            checks.finish()
        maps(folder)
        dumps(folder)
        debug_link(folder)
    checks.finish()


main()
