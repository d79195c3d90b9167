#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An executable is rebuilt and restarted while strobe runs: each version has its own names and
shares.

Covers live reports of the whole machine and of a command, and a recording.

usage: rebuilt.py STROBE
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp(prefix="strobe-test-rebuilt-")
ENV = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder, LC_ALL="C.UTF-8")
program = os.path.join(folder, "rebuilt-work")

# Equal code at equal addresses in each version, for a CPU time of its own.
SOURCE = """
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void NAME(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}
int main(void)
{
	do
		NAME();
	while (clock() < SECONDS * CLOCKS_PER_SEC);
	/* What is gone before anybody could open it has no names. */
	usleep(LINGER);
}
"""
REPLACED = "cp --remove-destination {new} {program}"
VERSIONS = {"alpha_work": 0.2, "beta_work": 0.4}
# Microseconds that a version waits at its end, so that strobe can open its file.  The second file
# stays, so it needs none.
LINGER = {"alpha_work": 1500000, "beta_work": 0}
if not common.amounts_count():
    # A sanitizer build of strobe takes seconds to follow a process while others work.
    VERSIONS = {name: 5 * seconds for name, seconds in VERSIONS.items()}
    LINGER["alpha_work"] *= 6


def prepare():
    with open(os.path.join(folder, "source.c"), "w", encoding="ascii") as out:
        out.write(SOURCE)
    for name, seconds in VERSIONS.items():
        subprocess.run(["cc", "-O1", f"-DNAME={name}", f"-DSECONDS={seconds}",
                        f"-DLINGER={LINGER[name]}", "-o", f"{program}.{name}",
                        os.path.join(folder, "source.c")], check=True)


def script(place):
    """Return a script that puts each version in the place of the previous one, and runs it."""
    return "; ".join(place.format(new=f"{program}.{name}", program=program) + f" && {program}" for name in VERSIONS)


def rebuild():
    """Return a script that builds each version with the compiler, in place, and runs it."""
    return "; ".join(f"cc -O1 -DNAME={name} -DSECONDS={seconds} -DLINGER={LINGER[name]} -o {program} {folder}/source.c && {program}"
                     for name, seconds in VERSIONS.items())


def rows(text, image):
    with contextlib.suppress(ValueError):
        return [row for event in json.loads(text)["events"] for row in event["rows"]
                if row.get("image") == image and row.get("symbol")]
    return []


def judge(name, result):
    found = {}
    for row in rows(result.stdout, os.path.basename(program)):
        found[row["symbol"]] = found.get(row["symbol"], 0) + row["samples"]
    alpha, beta = (found.get(symbol, 0) for symbol in VERSIONS)
    total = sum(found.values())
    notes, unnamed = [], 0
    with contextlib.suppress(ValueError):
        report = json.loads(result.stdout)
        notes = report["notes"]
        unnamed = [(row["image"], row["samples"]) for event in report["events"] for row in event["rows"] if not row.get("symbol")]
    # A sanitizer build of strobe may follow a version, or open its file, too late.
    checks.check(f"{name}: both versions are named", alpha and beta if common.amounts_count() else alpha or beta,
                 (found, notes, unnamed[:5]))
    checks.amount(f"{name}: both versions have samples enough", alpha > 20 and beta > 20, (found, result.stderr[-500:]))
    checks.amount(f"{name}: with the right shares",
                  total and 0.23 < alpha / total < 0.43 and 0.57 < beta / total < 0.77, found)


def run(*args):
    return subprocess.run([strobe, *args], capture_output=True, text=True, env=ENV, timeout=120, check=False)


def test(name, work, groups=("symbol,image",)):
    for group in groups:
        judge(f"{name}, by {group}", run("report", "--format", "json", "--group", group, "-F", "997", "--", "sh", "-c",
                                         work))


def test_machine():
    """Profile the whole machine; an unrelated process starts the program."""
    with subprocess.Popen([strobe, "report", "-a", "--format", "json", "-F", "997"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=ENV) as process:
        common.settled(process)
        subprocess.run(["sh", "-c", rebuild()], check=True)
        process.send_signal(2)
        out, err = process.communicate(timeout=120)
    if not out and "permi" in err:
        checks.skip("the whole machine", err.strip())
        return
    judge("the whole machine", subprocess.CompletedProcess([], 0, out, err))


def test_recording():
    data = os.path.join(folder, "recording.data")
    run("record", "-F", "997", "-o", data, "--", "sh", "-c", script(REPLACED))
    found = {row["symbol"] for row in rows(run("report", "-i", data, "--format", "json").stdout, os.path.basename(program))}
    # A recording knows files by their paths, and this path was two files.  No names are better than
    # wrong ones.
    unnamed = all("(other build)" in symbol for symbol in found)
    # A sanitizer build of strobe may miss one version, and the other one's names are then right.
    checks.check("recorded: neither version has names, which might be the other's",
                 found and (unnamed or not common.amounts_count()), found)


prepare()
try:
    test("replaced by another file", script(REPLACED))
    # A sanitizer build judges memory, which is the same however the file is replaced.
    if common.amounts_count():
        test("written over", script("cp {new} {program}"))
        test("renamed over", script("cp {new} {program}.new && mv {program}.new {program}"))
    test("compiled anew", rebuild(), ("symbol,image", "image,symbol") if common.amounts_count() else ("image,symbol",))
    test_machine()
    test_recording()
finally:
    shutil.rmtree(folder, ignore_errors=True)
checks.finish()
