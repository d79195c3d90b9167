#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of a flight recorder compared with ordinary sampling, at 4 kHz.

Both sample the whole machine with call chains.  Compares CPU time of strobe's process
over SECONDS (default 5), after each has settled.  The workload is two busy threads.

usage: flight_cost.py STROBE DEEP [SECONDS]
"""

import os
import signal
import subprocess
import sys
import time

from benchlib import finish, median, verdict, workload

RUNS = 3
BEGIN_S = 2.0


def thread_ns(pid):
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as stat:
            total += int(stat.read().split()[0])
    return total


def cost(strobe, seconds, *options):
    process = subprocess.Popen([strobe, "record", "-a", "-g", "-F", "4000", "-o", "/dev/null", *options],
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(BEGIN_S)
    before = thread_ns(process.pid)
    time.sleep(seconds)
    used = thread_ns(process.pid) - before
    process.send_signal(signal.SIGINT)
    process.wait()
    return used / 1e9


def main(strobe, deep, seconds="5"):
    strobe, seconds = os.path.abspath(strobe), float(seconds)
    found = {"recorder": [], "sampling": []}
    for _ in range(RUNS):
        with workload([deep, "2", str(int(2 * (seconds + BEGIN_S)) + 3)]):
            found["recorder"].append(cost(strobe, seconds, "--flight-recorder", "30"))
            found["sampling"].append(cost(strobe, seconds))
    print(f"CPU time in {seconds:.0f} s: recorder {[round(x * 1000, 1) for x in found['recorder']]} ms, "
          f"sampling {[round(x * 1000, 1) for x in found['sampling']]} ms")
    verdict("CPU time of the recorder against sampling", median(found["recorder"]) / median(found["sampling"]), 0.1)
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
