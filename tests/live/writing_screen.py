#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the files that the screen writes: keys w, x, W, and the layout at the end.

The disk is full, fills up, or is read-only.  A sentence reports that.  The old file stays, no
partial file stays, and the session goes on.  A recording (W) of an event whose rate was changed
states no single rate.

usage: writing_screen.py STROBE SHARES
"""

import errno
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe, paths = (os.path.abspath(path) for path in sys.argv[1:3])
# Key and file name; the ending selects the format.
WRITERS = (("w", "screen.txt"), ("w", "screen.html"), ("x", "flames.svg"), ("x", "stacks.folded"), ("x", "trace.json"),
           ("W", "kept.data"))
NO_SPACE, READ_ONLY = os.strerror(errno.ENOSPC), os.strerror(errno.EROFS)


def fill(disk, spare):
    """Fills the disk, except for spare bytes."""
    path = os.path.join(disk, "filler")
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    os.truncate(path, max(0, os.path.getsize(path) - spare))


def flat(screen):
    """Returns the screen's text without blanks.

    A sentence may span lines.  The log has it whole.
    """
    return "".join(screen.text().split())


def ask(screen, key, path):
    """Presses the key and answers its prompt with path."""
    screen.send(key)
    screen.until(" to: ")
    screen.send("\x15" + path + "\r")


def try_writers(screen, disk, name, wanted):
    for key, file in WRITERS:
        out = os.path.join(disk, file)
        label = f"{name}: {key} {file}"
        before = sorted(os.listdir(disk))
        old = open(out, "rb").read() if os.path.exists(out) else None
        ask(screen, key, out)
        said = screen.until(lambda text: wanted.replace(" ", "") in flat(screen) and file in flat(screen))
        checks.check(f"{label}: a sentence says so", said, screen.text())
        kept = open(out, "rb").read() if os.path.exists(out) else None
        checks.check(f"{label}: the old file stays, and nothing else", kept == old and sorted(os.listdir(disk)) == before,
                     (kept and kept[:80], before, os.listdir(disk)))
        # Removes the message, so that the next one is a new one.
        screen.send("?")
        checks.check(f"{label}: the session goes on", screen.until("buffers in the kernel"), screen.text())
        screen.send("q")
        screen.until(lambda text: "buffers in the kernel" not in text and wanted.replace(" ", "") not in flat(screen))


def session(disk, layout):
    environment = {"XDG_STATE_HOME": layout}
    screen = common.Screen([strobe, "-F", "4999", "--", paths, "1e6"], 150, 40, env=environment)
    try:
        if not screen.until("match_row"):
            checks.skip("writing on the screen", "no samples here: " + screen.text()[:300])
            return
        for _, file in WRITERS:
            with open(os.path.join(disk, file), "w", encoding="ascii") as old:
                old.write("old\n")
        fill(disk, 0)
        try_writers(screen, disk, "a full disk", NO_SPACE)
        # The first pages fit.  The many callchains of a sort need more.
        for _, file in WRITERS:
            os.unlink(os.path.join(disk, file))
        fill(disk, 4096)
        try_writers(screen, disk, "a disk that gets full", NO_SPACE)
        os.truncate(os.path.join(disk, "filler"), 0)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        try_writers(screen, disk, "a read-only disk", READ_ONLY)
        screen.send("qq")
        status = screen.wait()
        checks.check("it ends", status is not None and os.WIFEXITED(status), (status, screen.text()))
    finally:
        screen.close()


def several_rates(folder, options, wanted):
    label = f"a rate that was changed, {' '.join(options)}"
    data = os.path.join(folder, "rates.data")
    screen = common.Screen([strobe, *options, "--", paths, "1e6"], 150, 40)
    try:
        if not screen.until("match_row"):
            checks.skip(label, "no samples here: " + screen.text()[:300])
            return
        screen.send("+")
        changed = screen.until(wanted)
        ask(screen, "W", data)
        written = screen.until(lambda text: re.search(r"saved \d+ samples", text))
        checks.check(f"{label}: recorded", changed and written, screen.text())
        screen.send("qq")
        screen.wait()
    finally:
        screen.close()
    text = common.run([strobe, "report", data])
    checks.check(f"{label}: the recording says so", " at several rates: " in text.out, text.out[:500] + text.err)
    events = json.loads(common.run([strobe, "report", data, "--format", "json"]).out)["events"]
    checks.check(f"{label}: it has no one rate", events[0].get("frequency_hz", 0) is None and "period" not in events[0], events[0])


def main():
    with tempfile.TemporaryDirectory(prefix="strobe-test-writing-") as folder:
        disk = os.path.join(folder, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=False, stderr=subprocess.DEVNULL).returncode:
            checks.skip("writing on the screen", "mounting is not permitted")
            checks.finish()
        # The message "cpu-clock at 997 Hz" comes before the change, the header's text after it.
        several_rates(folder, ["-F", "499"], "cpu-clock 997 Hz")
        several_rates(folder, ["-c", "4000000"], "every 2.00M")
        try:
            session(disk, os.path.join(disk, "state"))
        finally:
            subprocess.run(["umount", disk], check=False)
    checks.finish()


main()
