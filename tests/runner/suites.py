#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run suites of a build by meson, and what failed by chance once more; or some tests many times.

The last line is "N passed, N failed, N skipped"; exit status 0 if nothing failed.

usage: suites.py [--stage NAME] [--soak N] BUILD [ARGUMENT OF MESON TEST...]

--stage NAME   the name of this run in the lines about flaky cases; default: tests
--soak N       N rounds, every other one beside a busy loop for each CPU; default: suites live and oracle.
               Prints "TEST: CASE: K of N failed" and the first output of each.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from runner.machine import prepared  # noqa: E402
from runner.outcome import judge  # noqa: E402
from runner.reruns import settle  # noqa: E402
from runner.summary import print_summary  # noqa: E402

MEASURING = ("live", "oracle")


def run_meson(build, arguments, log_name="testlog", quiet=False):
    """The outcomes of meson's tests."""
    path = os.path.join(build, "meson-logs", log_name + ".json")
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--logbase", log_name, *arguments],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else None, check=False)
    outcomes = []
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            records = [json.loads(line) for line in log if line.strip()]
    except FileNotFoundError:
        print(f"no test log {path}")
        records = []
    for record in records:
        outcomes.append(judge(record["name"].split(" / ")[-1], record["result"], record.get("returncode", 0),
                              record.get("stdout", ""), record.get("stderr", "")))
    return outcomes


def names_of_suites(build, suites):
    """The tests of these suites: the log of a build with a single suite does not have it."""
    said = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True).stdout
    return {test["name"] for test in json.loads(said)
            if any(suite.split(":")[-1] in suites for suite in test["suite"])}


def options_of(arguments):
    """meson's options among the arguments without what chooses tests: an option's value follows it."""
    kept, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("--suite", "--no-suite"):
            rest.pop(0)
        elif word in ("--timeout-multiplier", "-t", "--num-processes", "-j"):
            kept += [word, rest.pop(0)]
        elif word.startswith("-") and not word.startswith(("--suite=", "--no-suite=")):
            kept.append(word)
    return kept


def run_all(build, arguments, stage):
    def run_again(name):
        outcomes = run_meson(build, [*options_of(arguments), name], "again")
        return outcomes[0] if outcomes else judge(name, "ERROR", 1, "", "it could not be run again")

    measuring = names_of_suites(build, MEASURING)
    outcomes = run_meson(build, arguments)
    outcomes, flaky = settle(outcomes, lambda outcome: outcome.name in measuring, run_again, stage)
    return print_summary(outcomes, flaky)


@contextlib.contextmanager
def busy_loops(number):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def soak(build, arguments, rounds):
    if len(options_of(arguments)) == len(arguments):
        arguments = [*arguments, *(word for suite in MEASURING for word in ("--suite", suite))]
    failures, sums = {}, [0, 0, 0]
    for turn in range(rounds):
        begun = time.monotonic()
        with busy_loops(os.cpu_count() if turn % 2 else 0):
            outcomes = run_meson(build, arguments, "soak", quiet=True)
        bad = [outcome for outcome in outcomes if outcome.failed]
        print(f"round {turn + 1} of {rounds}{', busy' if turn % 2 else ''}: {time.monotonic() - begun:.0f} s, "
              f"{', '.join(outcome.name for outcome in bad) or 'nothing'} failed", flush=True)
        for outcome in bad:
            for case, said in outcome.failed:
                # Figures in a case's name differ from round to round.
                key = outcome.name, re.sub(r"\d[\d.,]*", "#", case)
                count, first = failures.get(key, (0, (outcome, said)))
                failures[key] = count + 1, first
        sums[0] += sum(outcome.passed for outcome in outcomes)
        sums[1] += sum(len(outcome.failed) for outcome in outcomes) or (not outcomes)
        sums[2] += sum(len(outcome.skipped) for outcome in outcomes)
    for (test, case), (count, (outcome, said)) in failures.items():
        print(f"\n{test}: {case}: {count} of {rounds} failed: {outcome.verdict} {said}")
        for text in outcome.said:
            for line in text.splitlines()[-30:]:
                print("    " + line[:1000])
    print()
    for (test, case), (count, _) in sorted(failures.items(), key=lambda item: -item[1][0]):
        print(f"{test}: {case}: {count} of {rounds} failed")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("--stage", default="tests")
    parser.add_argument("--soak", type=int)
    parser.add_argument("build")
    options, arguments = parser.parse_known_args()
    with prepared(options.build):
        if options.soak is not None:
            return soak(options.build, arguments, options.soak)
        return run_all(options.build, arguments, options.stage)


if __name__ == "__main__":
    sys.exit(main())
