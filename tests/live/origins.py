#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of files that differ from this machine's files.

A program was deleted and replaced, or the recording is of another machine.

usage: origins.py STROBE
"""

import contextlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, let_run, run, started  # noqa: E402

checks = Checks()

PROGRAM = """
volatile unsigned long sum;
__attribute__((noinline)) void %s(void) { for (int i = 0; i < 100000; i++) sum += i; }
int main(void) { for (;;) %s(); }
"""
BUILD_ID, HOSTNAME, OSRELEASE, ARCH = 2, 3, 4, 6  # features of a perf.data file


def build(folder, function, *options):
    path = os.path.join(folder, function.split("_")[0])
    subprocess.run(["gcc", "-O1", *options, "-x", "c", "-o", path, "-"], input=PROGRAM % (function, function),
                   text=True, check=True, timeout=60)
    return path


def rewrite(path, out, features):
    """Copy a recording with other strings in features; None leaves a feature empty."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    begin, size = struct.unpack_from("<QQ", data, 40)
    bits = [bit for bit in range(256) if data[72 + bit // 8] >> bit % 8 & 1]
    for i, bit in enumerate(bits):
        entry = begin + size + 16 * i
        at, _ = struct.unpack_from("<QQ", data, entry)
        if bit not in features:
            continue
        if features[bit] is None:
            struct.pack_into("<Q", data, entry + 8, 0)
            continue
        room, = struct.unpack_from("<I", data, at)
        data[at + 4:at + 4 + room] = features[bit].encode().ljust(room, b"\0")
    with open(out, "wb") as file:
        file.write(data)
    return out


@contextlib.contextmanager
def replaced(folder, old, new):
    """Run a program, and put another one at its path."""
    path = os.path.join(folder, "program")
    shutil.copy(old, path)
    with started([path]) as process:
        let_run(process.pid, 0.05)
        os.unlink(path)
        shutil.copy(new, path)
        yield process, path


def perf_record(out, *options):
    """Record with perf; True if perf exists and recorded."""
    with contextlib.suppress(OSError):
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-o", out, *options],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)
    return os.path.exists(out) and os.path.getsize(out) > 5000


def deleted(strobe, folder, old, new):
    """The path of a deleted program belongs to another program."""
    data = os.path.join(folder, "deleted.data")
    with replaced(folder, old, new) as (process, path):
        if not perf_record(data, "-p", str(process.pid), "--", "sleep", "0.5"):
            checks.skip("recordings of perf", "perf does not record here")
            return
        live = run([strobe, "report", "-p", str(process.pid), "--duration", "0.5"])
    checks.check("live, a deleted program has its own names", "new_function" not in live.out, live)
    report = run([strobe, "report", data])
    checks.check("a recording of a deleted program gets no name of what has its path, and a note",
                 report.status == 0 and "new_function" not in report.out and "program+0x" in report.out
                 and "was deleted before it was profiled" in report.out, report)
    for form in ("folded", "pprof", "script", "callgrind"):
        out = os.path.join(folder, "export")
        export = run([strobe, "export", data, "--format", form, "-o", out])
        with open(out, "rb") as file:
            checks.check(f"nor does an export as {form}", export.status == 0 and b"new_function" not in file.read(),
                         export)
    annotate = run([strobe, "annotate", data, "new_function"])
    checks.check("nor annotate", annotate.status != 0 and "sum" not in annotate.out, annotate)
    packed = os.path.join(folder, "deleted.tar.zst")
    archive = run([strobe, "archive", data, "-o", packed])
    unpacked = run([strobe, "report", packed])
    checks.check("nor an archive of it", archive.status == 0 and unpacked.status == 0
                 and "new_function" not in unpacked.out, (str(archive), str(unpacked)))
    os.unlink(path)


def elsewhere(strobe, folder, program):
    """Without build-ids, no file of this machine is known to equal one of another machine."""
    data = os.path.join(folder, "here.data")
    if not perf_record(data, "-g", "--", "sh", "-c", f"timeout 0.5 {program}; dd if=/dev/zero of=/dev/null bs=1 count=300000"):
        checks.skip("recordings of another machine", "perf does not record here")
        return
    own = run([strobe, "report", rewrite(data, data + ".own", {BUILD_ID: None})])
    checks.check("a recording of this machine without build-ids has names",
                 own.status == 0 and "new_function" in own.out and "is of another" not in own.out, own)
    for what, features in (("host", {HOSTNAME: "elsewhere"}), ("kernel", {OSRELEASE: "4.4.0"}),
                           ("processor", {ARCH: "arm64"})):
        other = rewrite(data, data + ".other", {**features, BUILD_ID: None})
        report = run([strobe, "report", other, "--format", "json"])
        checks.check(f"of another {what} it has addresses and one note",
                     report.status == 0 and "new_function" not in report.out and "read_zero" not in report.out
                     and "libc.so.6+0x" in report.out and report.out.count(f"is of another {what}") == 1
                     and "recorded without" not in report.out, report)
        trusting = run([strobe, "report", other, "--trust-local-files"])
        checks.check(f"of another {what} it has names if this machine's files are trusted",
                     trusting.status == 0 and "new_function" in trusting.out
                     and "is of another" not in trusting.out, trusting)
    annotate = run([strobe, "annotate", other, "new_function"])
    checks.check("annotate neither", annotate.status != 0, annotate)
    proven = run([strobe, "report", rewrite(data, data + ".proven", {HOSTNAME: "elsewhere"})])
    checks.check("a build-id proves a file wherever it was recorded",
                 proven.status == 0 and "new_function" in proven.out, proven)


def many_notes(strobe, folder, program):
    """Unreadable libraries share one note with their number."""
    data = os.path.join(folder, "libraries.data")
    elsewhere_too = os.path.join(folder, "gone")
    os.mkdir(elsewhere_too)
    copies = [shutil.copy(program, os.path.join(elsewhere_too, f"copy{i}")) for i in range(3)]
    if not perf_record(data, "-B", "--", "sh", "-c", "; ".join(f"timeout 0.3 {copy}" for copy in copies)):
        checks.skip("notes of several files", "perf does not record here")
        return
    shutil.rmtree(elsewhere_too)
    report = run([strobe, "report", data])
    checks.check("files that cannot be read are one note with a number",
                 report.out.count("cannot read the symbols") == 1 and "The same holds for 2 more files" in report.out,
                 report)
    each = run([strobe, "report", data, "--all-notes"])
    checks.check("--all-notes has a note for each", each.out.count("cannot read the symbols") == 3
                 and "The same holds" not in each.out, each)


def main():
    strobe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "home")
        os.mkdir(os.environ["HOME"])
        old = build(folder, "old_function", "-Wl,--build-id=none")
        new = build(folder, "new_function", "-Wl,--build-id")
        deleted(strobe, folder, old, new)
        elsewhere(strobe, folder, new)
        many_notes(strobe, folder, new)
    checks.finish()


main()
