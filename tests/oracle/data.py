#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What samples carry besides where they were, recorded by strobe and by perf and read by both.

usage: data.py STROBE WORKLOADS
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

PAGE, PAGES = 4096, 64
checks = Checks()


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)


def script(path, fields):
    """Lines of perf script with these fields alone."""
    made = run(["perf", "script", "-i", path, "-F", fields])
    checks.check(f"perf script -F {fields} has nothing to complain of", made.returncode == 0 and not made.stderr,
                 repr(made.stderr[-400:]))
    return made.stdout.splitlines()


def addresses(strobe, work, folder):
    """Each page of the variable is one fault at a known address."""
    path = os.path.join(folder, "pages.data")
    made = run([strobe, "record", "-d", "--phys-data", "--data-page-size", "--code-page-size", "--no-call-graph",
                "-e", "page-faults:u", "-c", "1", "-o", path, "--", os.path.join(work, "pages")])
    told = re.search(r"^0x([0-9a-f]+) (\d+)$", made.stdout, re.MULTILINE)
    if not checks.check("pages are recorded", made.returncode == 0 and told, repr(made.stderr)):
        return
    start, size = int(told[1], 16), int(told[2])
    seen = collections.Counter()
    for line in script(path, "addr,phys_addr,data_page_size,code_page_size"):
        words = line.split()
        address = int(words[0], 16)
        if start <= address < start + size:
            seen[address - start] += 1
            # The page is not there yet, the code is.
            checks.check(f"code of fault {address - start:x} is in a page of 4K", words[-1] == "4K", line)
    checks.check("each page of the variable is one fault, at its address",
                 seen == collections.Counter({i * PAGE + 8: 1 for i in range(PAGES)}), dict(seen))
    maps = run(["perf", "script", "-i", path, "--show-mmap-events"]).stdout
    checks.check("mappings of data are recorded", re.search(r"MMAP.*rw-p.*/pages$", maps, re.MULTILINE), maps[:400])


def refused(strobe):
    made = run([strobe, "report", "-b", "-W", "-e", "cpu-clock", "--", "true"])
    checks.check("branches of a software event are left out, and told",
                 made.returncode == 0 and "without branch stacks and weights" in made.stdout + made.stderr,
                 repr(made.stdout[-400:] + made.stderr[-400:]))


def main():
    strobe, work = sys.argv[1:3]
    if run(["perf", "--version"]).returncode:
        checks.skip("data of samples", "there is no perf here")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        addresses(strobe, work, folder)
        refused(strobe)
    checks.finish()


if __name__ == "__main__":
    main()
