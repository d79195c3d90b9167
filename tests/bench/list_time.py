#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of strobe list compared with perf list, by medians of five turns without a terminal.

usage: list_time.py STROBE
"""

import os
import shutil
import subprocess
import sys
import time

from benchlib import compare, finish, median, verdict

RUNS = 5


def once(*command):
    begin = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False, timeout=60)
    return (time.monotonic() - begin) * 1000


def main(strobe):
    strobe = os.path.abspath(strobe)
    perf = shutil.which("perf")
    ours, names, theirs = [], [], []
    for _ in range(RUNS):
        ours.append(once(strobe, "list"))
        names.append(once(strobe, "list", "--names"))
        if perf:
            theirs.append(once(perf, "list"))
    verdict("strobe list", median(ours), 300, "ms")
    verdict("strobe list --names", median(names), 100, "ms")
    if perf:
        compare("the whole list", median(ours), median(theirs), 1 / 3, "ms")
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
