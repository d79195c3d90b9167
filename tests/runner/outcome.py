# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of one run of one test: its cases, and whether a failure is an assertion's.

A cmocka program counts by its cases.  A script whose output ends in "N passed, N failed, N skipped"
counts by that line.  Any other test counts as one.
"""

import re

CASE = re.compile(r"\[\s*(RUN|OK|FAILED|SKIPPED)\s*\] (\S+)$")
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
SKIP_LINE = re.compile(r"^skip(?:ped)?:? ", re.IGNORECASE)
SAID_MAX = 400
GOOD = ("OK", "EXPECTEDFAIL")

# Signals of programs that crash: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
FATAL = "(?:4|5|6|7|8|11|31)"
# checks.py and tty.c print lines that begin with "crash: " or "hang: ".  The other patterns match
# output without them.
HUNG = re.compile(r"^hang: |\bhung True\b|\bno end after \d+ s\b", re.M)
CRASHED = re.compile(rf"^crash: |^Traceback \(most recent call|Test failed with exception|\bstatus -{FATAL}\b|"
                     rf"\breturncode=-{FATAL}\b|Segmentation fault|core dumped|Kernel panic|\bOops\b|segfault at|"
                     r"stack smashing detected|double free or corruption|free\(\): invalid|malloc\(\): ", re.M)
# A report that was cut may have only its summary.
SANITIZER = re.compile(r"(?:ERROR|WARNING): (?!Leak)\w+Sanitizer\b|SUMMARY: \w+Sanitizer: (?!\d+ byte\(s\) leaked)|"
                       r"\bruntime error: ")
LEAK = re.compile(r"ERROR: LeakSanitizer\b|SUMMARY: \w+Sanitizer: \d+ byte\(s\) leaked")
# The program and process of a leak's report.
LEAKED = re.compile(r"==(\w+)==(\d+)==ERROR: LeakSanitizer\b")


def without_figures(case):
    """Returns the name of a case without the figures of its run."""
    return re.sub(r"\d[\d.,]*", "#", case)


class Outcome:
    """The outcome of a test.

    passed: names of cases.  failed: [(case, first words about it)].  skipped: [(case, reason)].
    said: (standard output, standard error).  n_passed may exceed the number of names.  verdict: why
    the failure is not an assertion's, or empty.
    """

    def __init__(self, name, passed=(), failed=(), skipped=(), said=("", "")):
        self.name, self.passed, self.failed, self.skipped, self.said = name, passed, list(failed), skipped, said
        self.n_passed, self.verdict = len(passed), ""

    def has_passed(self, case):
        return without_figures(case) in map(without_figures, self.passed)


def _cmocka(stdout):
    passed, failed, skipped, said = [], {}, {}, []
    for line in stdout.splitlines():
        match = CASE.search(line)
        if not match:
            said.append(line.strip())
            continue
        kind, name = match.groups()
        if kind == "RUN":
            said = []
        elif kind == "OK":
            passed.append(name)
        elif kind == "FAILED":
            failed.setdefault(name, "")
        elif kind == "SKIPPED":
            skipped[name] = " ".join(filter(None, said))
    return passed, failed, skipped


def _cmocka_words(stderr):
    """Returns the words of each failed assertion, in the order of the failures.

    Standard error names no cases.
    """
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
    """Yields (case, detail) of a script's failed cases; checks.py puts a tab before the detail."""
    for line in lines:
        if line.startswith("not ok: "):
            case, _, said = line.removeprefix("not ok: ").partition(":\t")
            yield case[:SAID_MAX], said[:SAID_MAX]


def _why_unforgivable(text, result, status, failed, is_cmocka):
    if result == "TIMEOUT" or HUNG.search(text):
        return "a hang"
    if SANITIZER.search(text):
        return "a sanitizer's report"
    # If a case ended early, its memory is not freed.
    if LEAK.search(text) and not (is_cmocka and failed):
        return "a leak"
    if status < 0 or CRASHED.search(text):
        return "a crash"
    return "" if failed else "no failed case"


def judge(name, result, status, stdout, stderr=""):
    """Returns the outcome of a test in meson's log, or of a script's output and exit status.

    result: the word in the log, or OK or FAIL.
    """
    lines = stdout.strip().splitlines()
    totals = TOTALS.match(lines[-1]) if lines else None
    passed, failed, skipped = [], [], []
    good, is_cmocka, n_passed = result in GOOD or result == "SKIP", "[ RUN      ]" in stdout, 0

    if is_cmocka:
        passed, cases, reasons = _cmocka(stdout)
        words = _cmocka_words(stderr) + [""] * len(cases)
        failed = [(case, said[:SAID_MAX]) for case, said in zip(cases, words)]
        said = [line for line in stderr.splitlines() if not line.startswith("[")]
        skipped = [(case, reason or _first_line("\n".join(said))) for case, reason in reasons.items()]
    elif totals:
        passed = [line.removeprefix("ok: ") for line in lines if line.startswith("ok: ")]
        n_passed = int(totals.group(1))
        failed = list(_failed_lines(lines))
        failed += [("unnamed", "")] * (int(totals.group(2)) - len(failed))
        skipped = [tuple(SKIP_LINE.sub("", line).partition(": ")[::2]) for line in lines if SKIP_LINE.match(line)]
        skipped += [("unnamed", "")] * (int(totals.group(3)) - len(skipped))
    elif result == "SKIP":
        skipped = [("", _first_line(stdout + stderr))]
    elif good:
        n_passed = 1
    else:
        failed = list(_failed_lines(lines))

    verdict = "" if good else _why_unforgivable(stdout + "\n" + stderr, result, status, failed, is_cmocka)
    # A crash, a timeout or a sanitizer's report may leave no failed case.
    if not good and not failed:
        failed = [("", f"{result.lower()}, status {status}")]
    outcome = Outcome(name, passed, failed, skipped, (stdout, stderr))
    outcome.n_passed, outcome.verdict = n_passed or len(passed), verdict
    return outcome
