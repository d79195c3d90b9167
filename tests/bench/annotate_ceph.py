#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time from key `a` to source lines on the screen, for ceph-osd with its very large debug file.

Measures the first function, the next ones of the same file, and keys pressed during the first
lookup.  The debug file has hundreds of megabytes.  Skipped if ceph-osd and its debug files
are not installed.

usage: annotate_ceph.py STROBE
"""

import glob
import os
import subprocess
import sys
import tempfile
import time

from benchlib import Terminal, finish, percentile, verdict, workload

PROGRAM = "/usr/bin/ceph-osd"
LINES = rb"\.(cc|h|hpp|cpp|tcc|ipp):\d+"
LOOP = ["sh", "-c", f"while :; do {PROGRAM} --help >/dev/null 2>&1; done"]
NEXT = 4


def has_debug_file():
    notes = subprocess.run(["readelf", "-n", PROGRAM], capture_output=True, text=True, check=False).stdout
    found = [line.split()[-1] for line in notes.splitlines() if "Build ID" in line]
    return found and glob.glob(f"/usr/lib/debug/.build-id/{found[0][:2]}/{found[0][2:]}.debug")


def opened(strobe, folder):
    terminal = Terminal([os.path.abspath(strobe), "-a", "-F", "4000", "--image", "ceph-osd", "--cache-dir", folder])
    if terminal.until(rb"\d%.*ceph-osd", 30) is None:
        print("no symbol of ceph-osd was ever shown: " + repr(terminal.text_from()[-600:]))
        terminal.close()
        sys.exit(1)
    terminal.drain_for(3)
    return terminal


def press(terminal, key, wanted, seconds):
    offset, begun = len(terminal.raw), time.monotonic()
    terminal.send(key)
    seen = terminal.until(wanted, seconds, offset)
    return None if seen is None else (time.monotonic() - begun) * 1000


def main(strobe):
    if not os.path.exists(PROGRAM) or not has_debug_file():
        print("skipped: ceph-osd and ceph-osd-dbg are not installed")
        sys.exit(77)
    first, others, keys = [], [], []
    with workload(LOOP), tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            terminal = opened(strobe, folder)
            # Freezes the table, so that each key j selects another function.
            terminal.send(b" ")
            first.append(press(terminal, b"a", LINES, 30))
            for _ in range(NEXT):
                terminal.drain_for(2)
                terminal.send(b"\x1b")
                terminal.drain_for(0.3)
                terminal.send(b"j")
                terminal.drain_for(0.3)
                others.append(press(terminal, b"a", LINES, 30))
            terminal.close()
        terminal = opened(strobe, folder)
        terminal.send(b"a")
        end = time.monotonic() + 4
        while time.monotonic() < end:
            keys.append(press(terminal, b"?", rb"Follow the selected jump|row up|Draw the whole", 5))
            terminal.drain_for(0.037)
            keys.append(press(terminal, b"q", rb"INSTRUCTIONS|SOURCE|reading|asking|[|/\\-] ", 5))
            terminal.drain_for(0.041)
        terminal.close()
    print("first: " + ", ".join(f"{ms:.0f}" for ms in first if ms) + " ms; next: " +
          ", ".join(f"{ms:.0f}" for ms in others if ms) + " ms")
    print(f"{len(keys)} keys while the first is looked up")
    verdict("never shown", sum(ms is None for ms in first + others + keys), 0)
    known = [ms for ms in others if ms]
    verdict("first function", percentile([ms for ms in first if ms], 0.5), 2500, "ms")
    verdict("next function", percentile(known, 0.5), 200, "ms")
    verdict("keys, 99th percentile", percentile([ms for ms in keys if ms], 0.99), 50, "ms")
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
