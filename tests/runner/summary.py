# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the end of a log: failures with their output, skips, flaky cases, failed cases, totals.

Skips have their reasons.  The lines "failed: TEST: CASE: WORDS" and "flaky: STAGE: TEST: CASE:
WORDS" come before the last line, "N passed, N failed, N skipped".
"""


def _join(*words):
    return ": ".join(filter(None, words))


def _print_end(text, count):
    for line in text.splitlines()[-count:]:
        print("    " + line)


def _print_failure(outcome):
    print(f"\nFAILED {_join(outcome.name, outcome.verdict)}")
    _print_end(outcome.said[0], 40)
    _print_end(outcome.said[1], 60)


def print_summary(outcomes, flaky=()):
    """Prints the end of a log.  flaky: see reruns.settle().

    Returns the exit status: 0 if nothing failed and at least one test ran.
    """
    passed = sum(outcome.n_passed for outcome in outcomes)
    failed = sum(len(outcome.failed) for outcome in outcomes)
    skips = [_join(outcome.name, *skip) for outcome in outcomes for skip in outcome.skipped]

    for outcome in outcomes:
        if outcome.failed:
            _print_failure(outcome)
    if skips:
        print("\nSkipped:")
        for skip in skips:
            print("  " + skip)
    print()
    for line in flaky:
        print("flaky: " + _join(*line))
    for outcome in outcomes:
        for case in outcome.failed:
            print("failed: " + _join(outcome.name, *case))
    if not outcomes:
        print("failed: no test ran")
        failed = 1
    print(f"\n{passed} passed, {failed} failed, {len(skips)} skipped")
    return 1 if failed else 0
