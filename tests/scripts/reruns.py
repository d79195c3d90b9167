#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks how tests/runner judges, repeats and soaks tests.

It runs on a meson project.  The arguments of its tests say how they fail.

usage: reruns.py
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from checks import Checks  # noqa: E402
from runner.outcome import judge  # noqa: E402

SUITES = os.path.join(HERE, "../runner/suites.py")
ASAN = "==9==ERROR: AddressSanitizer: heap-use-after-free"
LEAK = "==9==ERROR: LeakSanitizer: detected memory leaks"
checks = Checks()

# Fails in its first TIMES runs, in the way that HOW names.
FAILING = """
import os, signal, sys, time
path, times, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(path, "a") as runs:
    runs.write("x")
if os.path.getsize(path) > times and how == "skips":
    print("skip: all: no events\\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
if os.path.getsize(path) > times and how == "early":
    print("[ RUN      ] a\\n[       OK ] a")
    sys.exit(0)
if os.path.getsize(path) > times:
    print("ok: steady\\nok: amount\\n2 passed, 0 failed, 0 skipped")
    sys.exit(0)
print("ok: steady", flush=True)
if how == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
if how == "hang":
    time.sleep(60)
print(f"not ok: amount:\\t{os.path.getsize(path)} of 5")
if how == "talks":
    print("ok: more\\n" * 99)
for i in range(9 if how == "many" else 0):
    print(f"not ok: other {i}:\\t")
if how == "race":
    print("WARNING: ThreadSanitizer: data race (pid=9)", file=sys.stderr)
if how == "leak":
    print("==9==ERROR: LeakSanitizer: detected memory leaks", file=sys.stderr)
if how in ("early", "other"):
    print("[ RUN      ] a\\n[  FAILED  ] a")
    print("==test_early==9==ERROR: LeakSanitizer: detected memory leaks", file=sys.stderr)
    with open(f"{os.environ['TMPDIR']}/report.{9 if how == 'early' else 8}", "w") as report:
        report.write("SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).")
    sys.exit(1)
if how == "hidden":
    with open(f"{os.environ['TMPDIR']}/report.strobe.9", "w") as report:
        report.write("WARNING: ThreadSanitizer: data race (pid=9)\\nSUMMARY: ThreadSanitizer: data race a.c:7 in f")
print(f"1 passed, {10 if how == 'many' else 1} failed, 0 skipped")
sys.exit(1)
"""


def suites(tests, *arguments):
    """Runs suites.py on tests {name: (suite, times, how)}.

    Returns (status, output, {name: number of runs}, text that a soak kept).
    """
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "failing.py"), "w", encoding="ascii") as script:
            script.write(FAILING)
        out = os.path.join(folder, "build")
        still = os.path.join(out, "still")
        os.mkdir(out)
        shutil.copy("/bin/true", still)
        with open(os.path.join(folder, "meson.build"), "w", encoding="ascii") as build:
            build.write("project('p')\npython = find_program('/usr/bin/python3', 'python3')\n")
            for name, (suite, times, how) in tests.items():
                if how == "still":
                    build.write(f"test('{name}', find_program('{still}'), suite: '{suite}')\n")
                    continue
                build.write(f"test('{name}', python, args: [files('failing.py'), '{folder}/runs-{name}', "
                            f"'{times}', '{how}'], suite: '{suite}', timeout: {3 if how == 'hang' else 60})\n")
        subprocess.run(["meson", "setup", out, folder], stdout=subprocess.DEVNULL, check=True)
        done = subprocess.run([sys.executable, SUITES, *arguments, out], capture_output=True, text=True, check=False)
        runs = {name: size_of(f"{folder}/runs-{name}") for name in tests}
        kept = ""
        for path in glob.glob(f"{glob.escape(out)}/meson-logs/soak-*.txt"):
            with open(path, encoding="utf-8") as file:
                kept += file.read()
        return done.returncode, done.stdout + done.stderr, runs, kept


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def last_line(text):
    return text.rstrip().splitlines()[-1]


def judged():
    cases = "[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\nno PMU here\n[  SKIPPED ] b\n"
    found = judge("c", "OK", 0, cases)
    checks.check("cases of a cmocka program count", found.n_passed == 1 and found.skipped == [("b", "no PMU here")]
                 and not found.failed and not found.verdict)
    failing = cases + "[ RUN      ] d\n[  FAILED  ] d\n[ RUN      ] e\n[  FAILED  ] e\n"
    errors = "[  ERROR   ] --- 0x1 != 0x2\n[   LINE   ] --- t.c:8: error: Failure!\n"
    second = "[  ERROR   ] --- 0\n[   LINE   ] --- t.c:9: error: Failure!\n"
    found = judge("c", "FAIL", 2, failing, errors + second)
    checks.check("each failed assertion has its words", found.failed == [("d", "0x1 != 0x2 at t.c:8"), ("e", "0 at t.c:9")]
                 and not found.verdict, str(found.failed))
    fault = "[  ERROR   ] --- Test failed with exception: Segmentation fault(11)\n"
    found = judge("c", "FAIL", 2, failing, fault + second)
    checks.check("a signal that cmocka caught is a crash", found.verdict == "a crash" and
                 found.failed[1] == ("e", "0 at t.c:9"), str(found.failed))
    checks.check("a leak of a test that ended early is none", not judge("c", "FAIL", 2, failing, errors + LEAK).verdict)
    checks.check("any other report is one", judge("c", "FAIL", 2, failing, errors + ASAN).verdict == "a sanitizer's report")
    checks.check("the end of a report is one, however it is cut", all(
        judge("s", "FAIL", 1, f"not ok: b:\tstatus 66, err '{text}'\n0 passed, 1 failed, 0 skipped").verdict == verdict
        for text, verdict in (("SUMMARY: ThreadSanitizer: data race a.c:7 in f", "a sanitizer's report"),
                              ("SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).", "a leak"))))
    checks.check("a leak alone is one", judge("c", "FAIL", 23, cases, LEAK).verdict == "a leak")
    found = judge("c", "FAIL", -11, cases + "[ RUN      ] d\n")
    checks.check("a crash is a failure", found.verdict == "a crash" and found.failed == [("", "fail, status -11")])
    found = judge("s", "OK", 0, "skip: p: no perf\n3 passed, 0 failed, 1 skipped\n")
    checks.check("a script counts by its last line", found.n_passed == 3 and found.skipped == [("p", "no perf")])
    told = "not ok: b:\t1 of 2\n" + "ok: c\n" * 50
    found = judge("s", "FAIL", 1, told + "51 passed, 1 failed, 0 skipped")
    checks.check("a script's failures have names", found.failed == [("b", "1 of 2")] and not found.verdict)
    found = judge("s", "FAIL", 1, told + 'Traceback (most recent call last):\n  File "s"\nKeyError\n')
    checks.check("a script that ends by an exception crashed", found.verdict == "a crash" and found.failed == [("b", "1 of 2")])
    for detail, verdict in (("status -11, hung False", "a crash"), ("status -9, hung True", "a hang"),
                            ("status 1, hung False", ""), ("status -15, hung False", ""),
                            ("CompletedProcess(args=[], returncode=-6)", "a crash"), ("status -5, wanted 1", "a crash"),
                            ("returncode=-15", ""), ("console: no end after 300 s", "a hang"),
                            ("Kernel panic - not syncing", "a crash")):
        found = judge("s", "FAIL", 1, f"not ok: b:\t{detail}, out ''\n0 passed, 1 failed, 0 skipped")
        checks.check(f"a command's end in a failed case: {detail}", found.verdict == verdict, found.verdict)
    checks.check("no end is a hang", judge("s", "TIMEOUT", -9, told).verdict == "a hang")
    for line, verdict in (("crash: strobe: signal 11", "a crash"), ("hang: strobe: no end", "a hang")):
        found = judge("s", "FAIL", 1, f"{line}\nnot ok: b:\t\n0 passed, 1 failed, 0 skipped")
        checks.check(f"what checks.py says of a command: {line}", found.verdict == verdict, found.verdict)
    found = judge("s", "OK", 0, "")
    checks.check("other tests count as one", found.n_passed == 1 and not found.failed)
    found = judge("s", "SKIP", 77, "no events\n")
    checks.check("a skipped one as well", found.skipped == [("", "no events")])


def reruns():
    status, out, runs, _ = suites({"good": ("unit", 0, "assert"), "once": ("live", 1, "assert"), "twice": ("oracle", 2, "assert"),
                                   "more": ("live", 1, "assert")})
    checks.check("an assertion of live and oracle tests may fail once or twice", status == 0 and
                 runs == {"good": 1, "once": 2, "twice": 3, "more": 2}, f"{runs} {out}")
    checks.check("flaky cases are listed before the last line", "flaky: tests: once: amount: 1 of 5" in out and
                 "flaky: tests: twice: amount: 1 of 5" in out and last_line(out) == "8 passed, 0 failed, 0 skipped", out)
    status, out, runs, _ = suites({"always": ("live", 9, "assert")})
    checks.check("a case that fails three times fails", status == 1 and runs["always"] == 3 and
                 "failed: always: amount: 1 of 5" in out and "flaky: " not in out
                 and last_line(out) == "1 passed, 1 failed, 0 skipped", out)
    status, out, runs, _ = suites({"unit": ("unit", 1, "assert"), "crash": ("live", 1, "crash"), "race": ("live", 1, "race"),
                                "hang": ("live", 1, "hang"), "leak": ("live", 1, "leak")})
    checks.check("units, crashes, races, hangs and leaks are not tried again", status == 1 and set(runs.values()) == {1}
                 and "flaky: " not in out, f"{runs} {out}")
    checks.check("each fails with its reason", all(f"FAILED {words}" in out for words in
                 ("unit", "crash: a crash", "race: a sanitizer's report", "hang: a hang", "leak: a leak")), out)
    status, out, runs, _ = suites({"skips": ("live", 1, "skips"), "good": ("unit", 0, "assert")})
    checks.check("a case that is skipped the second time has not passed", status == 1 and runs["skips"] == 2 and
                 "FAILED skips: not reached when it ran again: amount" in out and "flaky: " not in out, out)
    status, out, runs, _ = suites({"hidden": ("live", 1, "hidden"), "good": ("unit", 0, "assert")}, "--stage", "tsan")
    checks.check("a report that a test did not see fails the run", status == 1 and
                 "failed: sanitizer: strobe: SUMMARY: ThreadSanitizer: data race a.c:7 in f" in out, out)
    status, out, _, _ = suites({"early": ("live", 1, "early")}, "--stage", "asan")
    checks.check("a file of a leak that a test's early end explains is no report", status == 0 and
                 "flaky: asan: early: a" in out and last_line(out) == "1 passed, 0 failed, 0 skipped", out)
    status, out, _, _ = suites({"early": ("live", 1, "other")}, "--stage", "asan")
    checks.check("a file of another process's leak fails the run", status == 1 and
                 "failed: sanitizer: 8: SUMMARY: AddressSanitizer: 8 byte(s) leaked" in out, out)
    tests = {"still": ("unit", 0, "still"), "alive": ("live", 0, "still"), "good": ("unit", 0, "assert"), "other": ("files", 0, "assert")}
    for stage, passed in (("tests", 4), ("tsan", 3)):
        _, out, runs, _ = suites(tests, "--stage", stage, "--no-suite=files")
        left = "left out, since they start no thread: 1 tests: still\n" in out
        checks.check(f"programs that start no thread, in stage {stage}", left == (stage == "tsan")
                     and runs["good"] == 1 and runs["other"] == 0 and last_line(out).startswith(f"{passed} passed, 0 failed"), out)
    status, out, runs, _ = suites({"many": ("live", 1, "many")})
    checks.check("more than eight failed cases are no chance", status == 1 and runs["many"] == 1 and
                 "not run again: 10 failed cases" in out, out)


def soaks():
    status, out, runs, _ = suites({"unit": ("unit", 9, "assert"), "once": ("live", 1, "assert"), "good": ("oracle", 0, "assert")},
                                  "--soak", "3")
    checks.check("a soak runs live and oracle tests so many times", runs == {"unit": 0, "once": 3, "good": 3},
                 f"{runs} {out}")
    checks.check("it counts what failed", status == 1 and "once: amount: 1 of 3 failed" in out.splitlines() and
                 "not ok: amount:\t1 of 5" in out and last_line(out) == "11 passed, 1 failed, 0 skipped", out)
    _, _, _, kept = suites({"talks": ("live", 9, "talks")}, "--soak", "2")
    checks.check("all of the first output of each is kept", kept.startswith("ok: steady\nnot ok: amount:\t1 of 5\n")
                 and "2 of 5" not in kept, kept[:300])


def main():
    judged()
    reruns()
    soaks()
    checks.finish()


if __name__ == "__main__":
    main()
