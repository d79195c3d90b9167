# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats failed tests that depend on the machine's load, and lists the flaky ones.

A test that failed by an assertion runs again, alone, after all others, at most twice.  If the
failed cases pass then, and nothing else fails, they count as passed and are listed as flaky.
Crashes, hangs, reports of sanitizers and more than FLAKY_MAX flaky cases in one run are failures.
"""

from runner.outcome import Outcome

AGAIN_MAX = 2
FLAKY_MAX = 8


def _try_again(outcome, run_again):
    """Returns (the outcome that counts, [(case, words)] of the failures before it passed)."""
    seen, last = dict(outcome.failed), outcome
    for turn in range(AGAIN_MAX):
        print(f"\nrunning {outcome.name} again, alone ({turn + 1} of {AGAIN_MAX}): "
              f"{', '.join(case for case, _ in last.failed)}", flush=True)
        last = run_again(outcome)
        if last.verdict:
            return last, []
        if not last.failed:
            missed = [case for case in seen if not last.has_passed(case)]
            if not missed:
                return last, list(seen.items())
            outcome.verdict = f"not reached when it ran again: {', '.join(missed)}"
            return outcome, []
        for case, said in last.failed:
            seen.setdefault(case, said)
    outcome.verdict = f"failed in {AGAIN_MAX + 1} of {AGAIN_MAX + 1} runs"
    return outcome, []


def settle(outcomes, may_depend, run_again, stage):
    """Repeats the tests that may_depend(outcome) allows, by run_again(outcome) -> Outcome.

    Returns (outcomes that count, [(stage, test, case, words)] of flaky cases).
    """
    chosen = [outcome for outcome in outcomes if outcome.failed and not outcome.verdict and may_depend(outcome)]
    cases = sum(len(outcome.failed) for outcome in chosen)
    flaky, settled = [], {}

    if cases > FLAKY_MAX:
        print(f"\nnot run again: {cases} failed cases are more than the {FLAKY_MAX} that chance is granted")
        return outcomes, flaky
    for outcome in chosen:
        settled[id(outcome)], failures = _try_again(outcome, run_again)
        flaky += [(stage, outcome.name, case, said) for case, said in failures]
    outcomes = [settled.get(id(outcome), outcome) for outcome in outcomes]
    if len(flaky) > FLAKY_MAX:
        outcomes.append(Outcome("flaky cases", failed=[(f"{len(flaky)} of at most {FLAKY_MAX}", "")]))
    return outcomes, flaky
