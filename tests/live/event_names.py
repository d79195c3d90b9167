#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of programs with long paths, or paths with colons and commas.

Each is an event of its own, and is found by its name.

usage: event_names.py STROBE
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
HITS = 30
SOURCE = f"""
__attribute__((noinline, noclone)) void first(void) {{ __asm__ volatile(""); }}
__attribute__((noinline, noclone)) void second(void) {{ __asm__ volatile(""); }}
int main(void) {{ for (int i = 0; i < {HITS}; i++) {{ first(); second(); second(); }} return 0; }}
"""


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def samples(strobe, *options):
    """Return {name: samples} of a report in the order of its events, and its standard error."""
    done = run([strobe, "report", *options, "--format", "json"])
    try:
        return {event["name"]: event["samples"] for event in json.loads(done.stdout)["events"]}, done.stderr
    except ValueError:
        return {}, done.stderr


def check(strobe, folder, name):
    program, data = os.path.join(folder, name, "bin", "p"), os.path.join(folder, f"{name}.data")
    os.makedirs(os.path.dirname(program))
    os.link(os.path.join(folder, "p"), program)
    path = program.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
    first, second = f"uprobe:{path}:first", f"uprobe:{path}:second"
    made = run([strobe, "record", "-o", data, "-c", "1", "-e", f"{first},{second},page-faults", "--", program])
    found, said = samples(strobe, data)
    if not checks.check(f"{name[:20]}: three events", len(found) == 3, (found, said, made.stderr[-300:])):
        return
    checks.check(f"{name[:20]}: hits of each", list(found.values())[:2] == [HITS, 2 * HITS], found)
    chosen, said = samples(strobe, data, "-e", f"{second},page-faults")
    checks.check(f"{name[:20]}: chosen by name", list(chosen) == list(found)[1:] and not said, (chosen, said))


def main():
    strobe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "p.c"), os.path.join(folder, "p")
        with open(source, "w", encoding="ascii") as out:
            out.write(SOURCE)
        made = run(["cc", "-O1", "-o", program, source])
        probe = run([strobe, "stat", "-e", f"uprobe:{program}:first", "--", program])
        if made.returncode or probe.returncode or f"{HITS}" not in probe.stdout + probe.stderr:
            checks.skip("names of probes", (made.stderr + probe.stderr)[-200:])
            checks.finish()
        for name in ("short", "with:colon,comma\\and backslash", "0123456789abcdefghijklmnopqrstuv-a-package-of-a-long-name-1.2.3"):
            check(strobe, folder, name)
    checks.finish()


main()
