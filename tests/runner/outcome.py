# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of one run of one test: its cases, and whether a failure was an assertion's.

A cmocka program counts by its cases; a script whose output ends in "N passed, N failed, N skipped" counts by
that; any other test counts as one.
"""

import re

CASE = re.compile(r"\[\s*(RUN|OK|FAILED|SKIPPED)\s*\] (\S+)$")
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
SKIP_LINE = re.compile(r"^skip(?:ped)?:? ", re.IGNORECASE)
SAID_MAX = 400
GOOD = ("OK", "EXPECTEDFAIL")

# cmocka catches signals; scripts print a command that hung or died of a signal in the form of checks.Result.
HUNG = re.compile(r"\bhung True\b")
CRASHED = re.compile(r"Test failed with exception|\bstatus -(?:4|6|7|8|11|31), hung |^Traceback \(most recent call", re.M)
SANITIZER = re.compile(r"(?:ERROR|WARNING): (?!LeakSanitizer)\w+Sanitizer\b|\bruntime error: ")
LEAK = re.compile(r"ERROR: LeakSanitizer\b")


class Outcome:
    """failed: [(case, first words about it)], skipped: [(case, reason)]."""

    def __init__(self, name, passed, failed, skipped, said):
        self.name, self.passed, self.failed, self.skipped, self.said = name, passed, failed, skipped, said
        self.verdict = ""  # the reason that the failure is not an assertion's

    def names(self):
        return [case for case, _ in self.failed]


def _cmocka(stdout):
    passed, failed, skipped, said = set(), {}, {}, []
    for line in stdout.splitlines():
        match = CASE.search(line)
        if not match:
            said.append(line.strip())
            continue
        kind, name = match.groups()
        if kind == "RUN":
            said = []
        elif kind == "OK":
            passed.add(name)
        elif kind == "FAILED":
            failed.setdefault(name, "")
        elif kind == "SKIPPED":
            skipped[name] = " ".join(filter(None, said))
    return passed, failed, skipped


def _cmocka_words(stderr):
    """The words of each failed assertion, in the order of the failures: standard error names no cases."""
    words, said = [], []
    for line in stderr.splitlines():
        if line.startswith("[  ERROR   ] --- "):
            said.append(line.removeprefix("[  ERROR   ] --- ").strip())
        elif line.startswith("[   LINE   ] --- "):
            said.append(line.removeprefix("[   LINE   ] --- ").removesuffix(": error: Failure!"))
        if said and (line.startswith("[   LINE") or "Test failed with exception" in line):
            words.append(" at ".join(said))
            said = []
    return words


def _first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")


def _failed_lines(lines):
    """(case, detail) of a script's failed cases; checks.py puts a tab before the detail."""
    for line in lines:
        if line.startswith("not ok: "):
            case, _, said = line.removeprefix("not ok: ").partition(":\t")
            yield case[:SAID_MAX], said[:SAID_MAX]


def _why_unforgivable(text, result, status, failed):
    if result == "TIMEOUT" or HUNG.search(text):
        return "a hang"
    if SANITIZER.search(text):
        return "a sanitizer's report"
    if not failed and LEAK.search(text):
        return "a leak"
    if status < 0 or CRASHED.search(text):
        return "a crash"
    return "" if failed else "no failed case"


def judge(name, result, status, stdout, stderr=""):
    """The outcome of a test of meson's log, or of a script's output and exit status (result: OK or FAIL)."""
    lines = stdout.strip().splitlines()
    totals = TOTALS.match(lines[-1]) if lines else None
    passed, failed, skipped = 0, [], []
    good = result in GOOD or result == "SKIP"

    if "[ RUN      ]" in stdout:
        done, cases, reasons = _cmocka(stdout)
        passed, words = len(done - set(cases)), _cmocka_words(stderr)
        words += [""] * len(cases)
        failed = [(case, said[:SAID_MAX]) for case, said in zip(cases, words)]
        said = [line for line in stderr.splitlines() if not line.startswith("[")]
        skipped = [(case, reason or _first_line("\n".join(said))) for case, reason in reasons.items()]
    elif totals:
        passed = int(totals.group(1))
        failed = list(_failed_lines(lines))
        failed += [("unnamed", "")] * (int(totals.group(2)) - len(failed))
        skipped = [tuple(SKIP_LINE.sub("", line).partition(": ")[::2]) for line in lines if SKIP_LINE.match(line)]
        skipped += [("unnamed", "")] * (int(totals.group(3)) - len(skipped))
    elif result == "SKIP":
        skipped = [("", _first_line(stdout + stderr))]
    elif good:
        passed = 1
    else:
        failed = list(_failed_lines(lines))

    verdict = "" if good else _why_unforgivable(stdout + stderr, result, status, failed)
    # A crash, a timeout or a sanitizer's verdict may leave no failed case behind.
    if not good and not failed:
        failed = [("", f"{result.lower()}, status {status}")]
    outcome = Outcome(name, passed, failed, skipped, (stdout, stderr))
    outcome.verdict = verdict
    return outcome
