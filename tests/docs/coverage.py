#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""doc/coverage.md is true: each row names existing tests and existing options of strobe.

usage: coverage.py TOP STROBE
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

# Commands that have options of their own.
COMMANDS = ("live", "report", "record", "export", "annotate", "diff", "archive", "stat", "doctor")
checks = Checks()


def rows(text):
    """Yield the cells of each row of all tables, without the tables' heads."""
    for line in text.splitlines():
        # A bar inside a code span does not separate cells.
        line = re.sub(r"`[^`]*`", lambda span: span.group(0).replace("|", "\0"), line)
        cells = [cell.strip().replace("\0", "|") for cell in line.strip("|").split("|")]
        if line.startswith("|") and not re.fullmatch(r"[-| ]+", line) and cells[1] != "Reached by":
            yield cells


def main(top, strobe):
    with open(os.path.join(top, "doc", "coverage.md"), encoding="utf-8") as file:
        table = list(rows(file.read()))
    helps = "".join(
        subprocess.run([strobe, *command, "--help"], capture_output=True, text=True, check=True).stdout
        for command in [[], *([name] for name in COMMANDS)])
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", helps))
    checks.check("rows", len(table) > 30, f"{len(table)} rows")
    for cells in table:
        name = cells[0]
        if not checks.check(f"{name}: three cells", len(cells) == 3, str(cells)):
            continue
        tests = re.findall(r"`((?:\w+/)+\w+\.\w+)`", cells[2])
        gone = [test for test in tests if not os.path.exists(os.path.join(top, "tests", test))]
        options = re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", " ".join(re.findall(r"`([^`]*)`", cells[1])))
        unknown = [option for option in options if option not in known]
        checks.check(f"{name}: tests", tests and not gone, f"none, or not there: {gone}")
        checks.check(f"{name}: options", not unknown, f"not in --help: {unknown}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
