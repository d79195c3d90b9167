#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that undefined behaviour ends a program, and that its report is in a file.

The runner finds the file even if the program's standard error is not read.

usage: reports.py PROGRAM      a program with undefined behaviour
"""

import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        options = f"halt_on_error=1:log_path={folder}/report:log_exe_name=1"
        done = subprocess.run([sys.argv[1]], env=dict(os.environ, ASAN_OPTIONS=options, UBSAN_OPTIONS=options),
                              capture_output=True, text=True, check=False)
        reports = ""
        for path in glob.glob(f"{glob.escape(folder)}/report.undefined.*"):
            with open(path, encoding="utf-8") as report:
                reports += report.read()
    checks.check("undefined behaviour ends a program", done.returncode and not done.stdout, done)
    checks.check("its report is in a file", "runtime error: signed integer overflow" in reports, (reports, done))
    checks.finish()


if __name__ == "__main__":
    main()
