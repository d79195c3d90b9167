#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs suites of a build by meson, and failures by chance once more; or some tests many times.

The last line is "N passed, N failed, N skipped"; exit status 0 if nothing failed.

usage: suites.py [--stage NAME] [--soak N] BUILD [ARGUMENT OF MESON TEST...]

--stage NAME   the name of this run in the lines about flaky cases; default: tests
--soak N       N rounds, every other one next to a busy loop for each CPU; default: suites live
               and oracle.  Prints "TEST: CASE: K of N failed" and the end of the first output of
               each, which is kept in meson-logs.
"""

import argparse
import collections
import contextlib
import glob
import itertools
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from runner.machine import prepared  # noqa: E402
from runner.outcome import LEAK, LEAKED, SANITIZER, Outcome, judge, without_figures  # noqa: E402
from runner.reruns import settle  # noqa: E402
from runner.summary import print_summary  # noqa: E402

MEASURING = {"live", "oracle"}
STILL = {"unit", "screens"}  # ThreadSanitizer leaves out their tests without threads
SANITIZERS = ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")
# Options of meson test that have their value in the next word.
WITH_VALUE = ("--maxfail", "--num-processes", "--repeat", "--setup", "--test-args", "--timeout-multiplier", "--wrapper",
              "-j", "-t")


def run_meson(build, arguments, log_name="testlog", quiet=False):
    """Runs meson's tests.

    Returns their outcomes, and one of meson itself if it did not run all tests.
    """
    path = os.path.join(build, "meson-logs", log_name + ".json")
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    status = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--logbase", log_name, *arguments],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else None,
                            check=False).returncode
    outcomes = []
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace") as log:
        for record in map(json.loads, filter(str.strip, log)):
            outcomes.append(judge(record["name"].split(" / ")[-1], record["result"], record.get("returncode", 0),
                                  record.get("stdout", ""), record.get("stderr", "")))
    if not outcomes or status < 0 or (status and not any(outcome.failed for outcome in outcomes)):
        outcomes.append(Outcome("meson test", failed=[("", f"status {status}" if status else "no test ran")]))
    return outcomes


def read_suites(build):
    """Returns {test: its suites}; each test has a name of its own."""
    said = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True).stdout
    tests = [(test["name"], {suite.split(":")[-1] for suite in test["suite"]}) for test in json.loads(said)]
    twice = [name for name, n in collections.Counter(name for name, _ in tests).items() if n > 1]
    if twice:
        sys.exit(f"several tests have one name: {', '.join(twice)}")
    return dict(tests)


def leave_out_unthreaded(build, arguments):
    """Returns arguments that choose the same tests without programs that cannot start a thread.

    Only own programs of the suites in STILL are left out: they have no race.  nm lists what a
    program takes from libraries.
    """
    named = [word for word in arguments if word not in options_of(arguments)]
    chosen = {"--suite": set(), "--no-suite": set()}
    while named:
        option, equals, suite = named.pop(0).partition("=")
        if option not in chosen:
            return arguments
        chosen[option].add(suite if equals else named.pop(0))
    kept, out = [], []
    said = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True).stdout
    for test in json.loads(said):
        suites = {suite.split(":")[-1] for suite in test["suite"]}
        if suites & chosen["--no-suite"] or chosen["--suite"] and not suites & chosen["--suite"]:
            continue
        taken = subprocess.run(["nm", "-D", "-u", test["cmd"][0]], capture_output=True, text=True, check=False)
        still = (suites & STILL and os.path.realpath(test["cmd"][0]).startswith(os.path.realpath(build) + os.sep)
                 and taken.returncode == 0 and "pthread_create" not in taken.stdout)
        (out if still else kept).append(test["name"])
    if not out or not kept:
        return arguments
    print(f"left out, since they start no thread: {len(out)} tests: {' '.join(out)}", flush=True)
    return [*options_of(arguments), *kept]


def options_of(arguments):
    """Returns meson's options without those that choose tests."""
    kept, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("--suite", "--no-suite"):
            rest = rest[1:]
        elif word in WITH_VALUE:
            kept += [word, *rest[:1]]
            rest = rest[1:]
        elif word.startswith("-") and not word.startswith(("--suite=", "--no-suite=")):
            kept.append(word)
    return kept


# --- reports of sanitizers ---

def collect_reports(folder):
    """Makes sanitizers write reports to files.

    A terminal may lose a report, and a test may cut it.
    """
    # libarchive leaks its buffer after archive_write_fail().
    leaks = os.path.join(folder, "leaks")
    with open(leaks, "w", encoding="ascii") as suppressions:
        suppressions.write("leak:libarchive.so\n")
    os.environ["LSAN_OPTIONS"] = f"suppressions={leaks}:print_suppressions=0"
    for name in filter(os.environ.get, SANITIZERS):
        os.environ[name] = f"{os.environ[name]}:log_path={folder}/report:log_exe_name=1"


def read_reports(folder, outcomes):
    """Returns an outcome for each report, except leaks of programs with a case that ended early.

    With gcc's static libubsan, the file has only the summary and its name no program; the report
    is in the test's output.
    """
    ended = [outcome for outcome in outcomes if outcome.failed and not outcome.verdict]
    early = {"test_" + outcome.name for outcome in ended}
    told = {pid: program for outcome in ended for said in outcome.said for program, pid in LEAKED.findall(said)}
    found = []
    for path in sorted(glob.glob(f"{glob.escape(folder)}/report.*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            report = file.read()
        _, *program, pid = os.path.basename(path).split(".")
        program = ".".join(program) or told.get(pid, pid)
        os.remove(path)
        if not SANITIZER.search(report) and LEAK.search(report) and program in early:
            continue
        summary = [line for line in report.splitlines() if line.startswith("SUMMARY")] or report.splitlines()[:1]
        outcome = Outcome("sanitizer", failed=[(program, " ".join(summary))], said=(report, ""))
        outcome.verdict = "a report"
        found.append(outcome)
    return found


# --- runs ---

def run_all(build, arguments, stage, folder):
    suites = read_suites(build)
    reports = []

    def run_again(outcome):
        again = run_meson(build, [*options_of(arguments), outcome.name], "again")
        reports.extend(read_reports(folder, again))
        return again[0] if len(again) == 1 else judge(outcome.name, "ERROR", 1, "", "it could not be run again")

    outcomes = run_meson(build, leave_out_unthreaded(build, arguments) if stage == "tsan" else arguments)
    reports += read_reports(folder, outcomes)
    outcomes, flaky = settle(outcomes, lambda outcome: suites.get(outcome.name, set()) & MEASURING, run_again, stage)
    return print_summary(outcomes + reports, flaky)


@contextlib.contextmanager
def busy_loops(number):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def keep_output(build, outcome, number):
    """Writes all output of the test to a file of its own; returns its path."""
    path = os.path.join(build, "meson-logs", f"soak-{number}-{outcome.name.replace('/', '-')}.txt")
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write("\n".join(outcome.said))
    return path


def print_failure(outcome, case, said, path):
    print(f"\n{outcome.name}: {case}: {outcome.verdict} {said}\n  all of it: {path}")
    for text in outcome.said:
        for line in text.splitlines()[-60:]:
            print("    " + line[:1000])


def soak(build, arguments, rounds, folder):
    if len(options_of(arguments)) == len(arguments):
        arguments = [*arguments, *(word for suite in sorted(MEASURING) for word in ("--suite", suite))]
    failures, sums = collections.Counter(), [0, 0, 0]
    numbers = itertools.count(1)
    for turn in range(rounds):
        begun = time.monotonic()
        with busy_loops(os.cpu_count() if turn % 2 else 0):
            outcomes = run_meson(build, arguments, "soak", quiet=True)
        outcomes += read_reports(folder, outcomes)
        bad = [outcome for outcome in outcomes if outcome.failed]
        print(f"round {turn + 1} of {rounds}{', busy' if turn % 2 else ''}: {time.monotonic() - begun:.0f} s, "
              f"{', '.join(outcome.name for outcome in bad) or 'nothing'} failed", flush=True)
        seen = {(outcome.name, without_figures(case)): (outcome, said) for outcome in bad for case, said in outcome.failed}
        for (name, case), (outcome, said) in seen.items():
            if (name, case) not in failures:
                print_failure(outcome, case, said, keep_output(build, outcome, next(numbers)))
        failures.update(seen.keys())
        sys.stdout.flush()
        sums[0] += sum(outcome.n_passed for outcome in outcomes)
        sums[1] += sum(len(outcome.failed) for outcome in outcomes)
        sums[2] += sum(len(outcome.skipped) for outcome in outcomes)
    for (test, case), count in failures.most_common():
        print(f"{test}: {case}: {count} of {rounds} failed")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] else 0


def number_of_rounds(text):
    rounds = int(text)
    if rounds < 1:
        raise ValueError(text)
    return rounds


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2], allow_abbrev=False)
    parser.add_argument("--stage", default="tests")
    parser.add_argument("--soak", type=number_of_rounds)
    parser.add_argument("build")
    options, arguments = parser.parse_known_args()
    with prepared() as folder:
        if options.stage != "tests":
            collect_reports(folder)
        if options.soak:
            return soak(options.build, arguments, options.soak, folder)
        return run_all(options.build, arguments, options.stage, folder)


if __name__ == "__main__":
    sys.exit(main())
