#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""All tests of guests, two at a time; the last line is "N passed, N failed, N skipped".

usage: run.py FOLDER STROBE_ARM64 STROBE_NATIVE [TEST...]
"""

import concurrent.futures
import os
import platform
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from runner.machine import prepared  # noqa: E402
from runner.outcome import judge  # noqa: E402
from runner.reruns import settle  # noqa: E402
from runner.summary import print_summary  # noqa: E402

# the longest first
TESTS = ("kernel", "counters", "hotplug", "clocks", "probes", "unwinding", "narrow")
AT_ONCE = 2
# A hung guest ends earlier, by its own limit.
LIMIT_SECONDS = 700


def run(name, arguments):
    """Runs one test, prints its output when it ends, and returns its outcome."""
    begun = time.monotonic()
    try:
        done = subprocess.run([sys.executable, os.path.join(HERE, name + ".py"), *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
        output, status, result = done.stdout, done.returncode, "FAIL" if done.returncode else "OK"
    except subprocess.TimeoutExpired as late:
        output, status, result = late.stdout or b"", -1, "TIMEOUT"
    said = output.decode(errors="replace").strip()
    print(f"{said}\n  {name}: {time.monotonic() - begun:.0f} s\n", flush=True)
    return judge(name, result, status, said)


def run_guests(chosen, arguments):
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [pool.submit(run, name, arguments) for name in chosen]
        for job in concurrent.futures.as_completed(jobs):
            outcomes.append(job.result())
    # Guests have fixed seeds, but their timing depends on the load of this machine.
    outcomes, flaky = settle(outcomes, lambda _: True, lambda outcome: run(outcome.name, arguments), "vm")
    return print_summary(outcomes, flaky)


def main():
    arguments, chosen = sys.argv[1:4], sys.argv[4:] or TESTS
    # The native strobe runs in guests of its own architecture (amd64 only).
    if platform.machine() != "x86_64":
        arguments = arguments[:2]
    with prepared(settings=False):
        sys.exit(run_guests(chosen, arguments))


if __name__ == "__main__":
    main()
