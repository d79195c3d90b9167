#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Count test cases in meson's testlog.json: the last line is "N passed, N failed, N skipped".

A cmocka program counts by its cases; a script whose output ends in such a line counts by that; any
other test counts as one.  What failed or was skipped is printed with what the test said about it; a
line "failed: TEST: CASE" for each failed case comes last, where it is found in the longest log.
Exit status 0 when nothing failed and something ran.

usage: summary.py TESTLOG.JSON...
"""

import json
import re
import sys

CASE = re.compile(r"\[\s*(RUN|OK|FAILED|SKIPPED)\s*\] (\S+)$")
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
SKIP_LINE = re.compile(r"^skip(?:ped)?:? ", re.IGNORECASE)
LINE_MAX = 400
GOOD = ("OK", "EXPECTEDFAIL")


def cmocka_cases(stdout):
    """(passed, failed names, {skipped name: what it said}) of a cmocka program's output."""
    passed, failed, skipped, said = set(), [], {}, []
    for line in stdout.splitlines():
        match = CASE.search(line)
        if not match:
            said.append(line)
            continue
        kind, name = match.groups()
        if kind == "RUN":
            said = []
        elif kind == "OK":
            passed.add(name)
        elif kind == "FAILED" and name not in failed:
            failed.append(name)
        elif kind == "SKIPPED":
            skipped[name] = " ".join(text.strip() for text in said if text.strip())
    return len(passed), failed, skipped


def first_line(text):
    for line in text.splitlines():
        if line.strip():
            return line.strip()
    return "no reason given"


def last_lines(text, count):
    return "\n".join("    " + line for line in text.splitlines()[-count:])


def bad_lines(stdout):
    """What a script said of its failed cases."""
    return [line[len("not ok: "):] for line in stdout.splitlines() if line.startswith("not ok: ")]


def judge(test, skips, failures):
    """(passed, failed, skipped) of one test of the log; prints what failed."""
    name, result = test["name"].split(" / ")[-1], test["result"]
    stdout, stderr = test.get("stdout", ""), test.get("stderr", "")
    passed = failed = skipped = 0
    bad = bad_lines(stdout)
    lines = stdout.strip().splitlines()
    totals = TOTALS.match(lines[-1]) if lines else None

    if "[ RUN      ]" in stdout:
        passed, bad, reasons = cmocka_cases(stdout)
        failed = len(bad)
        skipped = len(reasons)
        said = [line for line in stderr.splitlines() if not line.startswith("[")]
        for case, reason in reasons.items():
            reason = reason or first_line("\n".join(said))
            skips.append(f"{name}: {case}: {reason}")
    elif totals:
        passed, failed, skipped = map(int, totals.groups())
        skips += [f"{name}: {SKIP_LINE.sub('', line)}" for line in lines if SKIP_LINE.match(line)]
    elif result == "SKIP":
        skipped = 1
        skips.append(f"{name}: {first_line(stdout + stderr)}")
    elif result in GOOD:
        passed = 1

    # A crash, a timeout or a sanitizer's verdict may leave no failed case behind.
    if result not in GOOD and result != "SKIP" and not failed:
        failed = 1
    if failed:
        how = f"{result.lower()}, status {test.get('returncode')}"
        failures += [f"{name}: {case[:LINE_MAX]}" for case in bad or [how]]
        print(f"\nFAILED {name} ({how})")
        print(last_lines(stdout, 40))
        print(last_lines(stderr, 60))
    return passed, failed, skipped


def main(paths):
    sums, skips, failures, tests = [0, 0, 0], [], [], 0
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as log:
                records = [json.loads(line) for line in log if line.strip()]
        except OSError as error:
            print(f"no test log: {error}")
            sums[1] += 1
            continue
        tests += len(records)
        for test in records:
            sums = [a + b for a, b in zip(sums, judge(test, skips, failures))]
    if skips:
        print("\nSkipped:")
        for skip in skips:
            print("  " + skip)
    for failure in failures:
        print("failed: " + failure)
    if not tests and not sums[1]:
        print("no test ran")
        sums[1] = 1
    print(f"\n{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
