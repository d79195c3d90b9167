#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""All tests of guests, two at a time; the last line is "N passed, N failed, N skipped".

usage: run.py FOLDER STROBE_ARM64 STROBE_NATIVE [TEST...]
"""

import concurrent.futures
import os
import platform
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# The longest first.
TESTS = ("kernel", "counters", "hotplug", "clocks", "probes", "unwinding", "narrow")
AT_ONCE = 2
# A hung guest ends before, by its own limit.
LIMIT_SECONDS = 700


def run(name, arguments):
    begun = time.monotonic()
    try:
        done = subprocess.run([sys.executable, os.path.join(HERE, name + ".py"), *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
        said, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        said, status = (late.stdout or b"") + b"no end\n", -1
    return said.decode(errors="replace").strip(), status, time.monotonic() - begun


def main():
    arguments, chosen = sys.argv[1:4], sys.argv[4:] or TESTS
    # The native program runs in the guest of its own kind.
    if platform.machine() != "x86_64":
        arguments = arguments[:2]
    sums = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = {pool.submit(run, name, arguments): name for name in chosen}
        for job in concurrent.futures.as_completed(jobs):
            said, status, seconds = job.result()
            print(f"{said}\n  {jobs[job]}: {seconds:.0f} s\n", flush=True)
            found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", said.splitlines()[-1] if said else "")
            counts = [int(count) for count in found.groups()] if found else [0, 0, 0]
            if status and not counts[1]:
                counts[1] = 1
            sums = [sum(pair) for pair in zip(sums, counts)]
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    sys.exit(1 if sums[1] else 0)


if __name__ == "__main__":
    main()
