#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The script format against perf script of the same recordings.

Samples without chains have equal lines, with the addresses that they had in the process.  Events
of a pipe have equal names in three cases: with perf's own names (EVENT_DESC), with only the
names after the first mappings (EVENT_UPDATE), and without names, like pipes of old versions.
Unmangled names of a map keep their parameters.  Enumerators of print formats have their numbers
from the running kernel, if the recording is from that kernel.

usage: exports_script.py STROBE SHARES JIT
"""

import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
TRACING_DATA, EVENT_UPDATE, FEATURE = 66, 78, 80


def run(command, **options):
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **options)


def without(pipe, *types):
    """Return a pipe recording without the records of some types."""
    out, at = bytearray(pipe[:16]), 16
    while at + 8 <= len(pipe):
        kind, _, size = struct.unpack_from("<IHH", pipe, at)
        end = at + size
        if kind == TRACING_DATA:
            end += (struct.unpack_from("<I", pipe, at + 8)[0] + 7) & ~7
        if kind not in types:
            out += pipe[at:end]
        at = end
    return bytes(out)


def lines_of(text):
    return [line.rstrip() for line in text.decode("utf-8", "replace").splitlines()]


def places(strobe, shares, folder):
    """Compare samples without chains line by line."""
    path = os.path.join(folder, "places.data")
    made = run(["perf", "record", "-q", "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", shares, "1"])
    if not os.path.exists(path):
        checks.skip("script: addresses of samples", f"perf record: {made.stderr[-200:]}")
        return
    wanted = lines_of(run(["perf", "script", "-i", path]).stdout)
    found = lines_of(run([strobe, "export", path, "--format", "script"]).stdout)
    # perf and strobe choose other aliases in ld.so; the heads and the addresses are equal
    # everywhere.
    head = re.compile(r"^(.*: +[0-9a-f]+ )(\S+)")
    wanted_heads = [head.match(line).group(1) for line in wanted]
    found_heads = [match.group(1) if match else line for line, match in ((line, head.match(line)) for line in found)]
    checks.check("script: samples without chains have perf's heads and addresses",
                 wanted and found_heads == wanted_heads,
                 next(((a, b) for a, b in zip(found_heads, wanted_heads) if a != b), (len(found), len(wanted))))
    hot = [line for line in wanted if "shares_hot" in line]
    checks.check("script: and its lines", hot and hot == [line for line in found if "shares_hot" in line])


def names(strobe, shares):
    """Event names in pipes that carry them early, late or not at all."""
    events = "cpu-clock:k,cpu-clock:u,cpu-clock:ukpp,page-faults,sched:sched_switch,cpu-clock:p"
    made = run(["perf", "record", "-q", "-F", "199", "-a", "-e", events, "-o", "-", "--", "sh", "-c",
                f"exec {shlex.quote(shares)} 1 >&2"])
    if made.returncode or not made.stdout.startswith(b"PERFILE2"):
        checks.skip("script: names of events in pipes", f"perf record: {made.stderr[-200:]}")
        return
    for what, left_out in (("named first", ()), ("named late", (FEATURE,)), ("not named", (FEATURE, EVENT_UPDATE))):
        pipe = without(made.stdout, *left_out)
        perf = run(["perf", "script", "-i", "-", "-F", "time,event"], input=pipe)
        wanted = sorted({line.split(None, 1)[1].strip().rstrip(":") for line in lines_of(perf.stdout) if line})
        text = lines_of(run([strobe, "export", "-", "--format", "script"], input=pipe).stdout)
        heads = [re.match(r"^.*? \d+ \[\d+\] +\d+\.\d+: +(?:\d+ )?(\S+): ", line + " ") for line in text
                 if line and not line.startswith("\t")]
        found = sorted({head.group(1) for head in heads if head})
        checks.check(f"script: events of a pipe, {what}", wanted and found == wanted, f"{found}, {wanted}")


def plain_names(strobe, jit, folder):
    """Names of a Java runtime's map: two functions that differ only in their parameters."""
    path = os.path.join(folder, "plain.data")
    made = run(["perf", "record", "-q", "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", jit, "map", "0.4"])
    pid = re.search(r"^\s*\S+ +(\d+)", run(["perf", "script", "-i", path, "-F", "comm,pid"]).stdout.decode(errors="replace"))
    symbols = f"/tmp/perf-{pid.group(1)}.map" if pid else ""
    if not os.path.exists(symbols):
        checks.skip("script: names of a map", f"perf record: {made.stderr[-200:]}")
        return
    with open(symbols, encoding="utf-8") as file:
        text = file.read()
    new = {"py::hot:": "long J.f(int)", "py::cold:": "long J.f(java.util.List<T>, long)"}
    with open(symbols, "w", encoding="utf-8") as file:
        for line in text.splitlines():
            at, size, name = line.split(" ", 2)
            name = next((name for old, name in new.items() if old in line), name)
            file.write(f"{at} {size} {name}\n")
    try:
        wanted, found = ({match.group(1) for match in re.finditer(r"(long J\S.*?)\+?(?:0x[0-9a-f]+)? \(/tmp", text)}
                         for text in (run(["perf", "script", "-i", path]).stdout.decode(errors="replace"),
                                      run([strobe, "export", path, "--format", "script"]).stdout.decode(errors="replace")))
        checks.check("script: names of a map keep their parameters", len(wanted) == 2 and wanted == found, f"{wanted}, {found}")
    finally:
        os.remove(symbols)


def enumerators(strobe, folder):
    """The build-id in the recording is changed: in another build of this kernel, enumerators may
    have other numbers."""
    path, event = os.path.join(folder, "inodes.data"), "writeback:writeback_mark_inode_dirty"
    made = run(["perf", "record", "-q", "-a", "-e", event, "-o", path, "--", "sh", "-c",
                f"for i in 1 2 3 4 5; do echo $i > {shlex.quote(folder)}/inode; done; sync {shlex.quote(folder)}/inode"])
    listed = run(["perf", "buildid-list", "-i", path]).stdout.decode(errors="replace") if os.path.exists(path) else ""
    kernel = re.search(r"^([0-9a-f]{40}) \[kernel\.kallsyms\]$", listed, re.MULTILINE)
    if not kernel or not os.path.exists("/sys/kernel/btf/vmlinux"):
        checks.skip("script: names of enumerators", f"no build-id or no type information: {made.stderr[-200:]}")
        return
    text = run([strobe, "export", path, "--format", "script"]).stdout.decode(errors="replace")
    checks.check("script: enumerators of the running kernel", re.search(r"flags=I_DIRTY", text), text[:500])
    with open(path, "rb") as file:
        data = file.read()
    own = bytes.fromhex(kernel.group(1))
    with open(path, "wb") as file:
        file.write(data.replace(own, own[::-1]))
    text = run([strobe, "export", path, "--format", "script"]).stdout.decode(errors="replace")
    checks.check("script: those of another build are not taken for them", "mark_inode_dirty" in text and "I_DIRTY" not in text,
                 text[:500])


def main():
    strobe, shares, jit = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        places(strobe, shares, folder)
        enumerators(strobe, folder)
        plain_names(strobe, jit, folder)
    names(strobe, shares)
    checks.finish()


main()
