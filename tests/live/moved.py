#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code that a program moves into memory without a file keeps its names; other code there gets none.

usage: moved.py STROBE WORKLOAD
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe, moved = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
folder = tempfile.mkdtemp(prefix="strobe-test-moved-")
data = os.path.join(folder, "moved.data")
ENV = {"XDG_CACHE_HOME": os.path.join(folder, "cache"), "HOME": folder}
NOTE = "because of its place alone"


def run(*arguments):
    return common.run([strobe, *arguments], env=ENV)


def report(*arguments):
    return run("report", "--format", "json", *arguments)


def samples(result, **wanted):
    """Return the number of samples in rows with the wanted values."""
    with contextlib.suppress(ValueError):
        return sum(row["samples"] for event in json.loads(result.out)["events"] for row in event["rows"]
                   if all(row.get(key) == value for key, value in wanted.items()))
    return 0


def judge(name, result, is_moved, noted=False):
    named, unnamed = samples(result, symbol="mine", image="moved"), samples(result, image="[anon]")
    good = named > 9 * unnamed if is_moved else unnamed > 9 * samples(result, image="moved")
    checks.check(name, good, (named, unnamed, str(result)))
    checks.check(f"{name}: only its place is a note", (NOTE in result.out + result.err) == noted, str(result))


def before():
    """The code moves before strobe attaches."""
    for how in ("copy", "mremap", "pieces", "memfd", "sparse", "missing", "other", "jit", "half"):
        is_moved = how not in ("other", "jit", "half")
        with common.started([moved, how], wait_for="ready") as process:
            chosen = ["-p", str(process.pid), "--duration", "0.5"]
            judge(f"{how}, live", report(*chosen), is_moved)
            run("record", "-o", data, *chosen)
            result = report(data)
            if how == "copy":
                code = run("annotate", *chosen, "mine")
                checks.check("annotated", re.search(r"\s(cmp|jle|jg|b\.\w+)\w*\s", code.out) and "moved.c" in code.out, str(code))
        judge(f"{how}, recorded", result, is_moved)
        if is_moved:
            unnamed = [samples(result, image=image) for image in ("[anon]", "memfd:text")]
            checks.check(f"{how}, recorded: from the beginning", not any(unnamed), (unnamed, str(result)))
        if how == "copy":
            script = run("export", "--format", "script", data)
            lines = [line.split()[1] for line in script.out.splitlines() if "(" in line and line[:1].isspace()]
            checks.check("as perf script: named from the beginning", any(line.startswith("mine+") for line in lines) and
                         "[anon]" not in script.out, str(script))


def later():
    """The code moves while strobe observes it."""
    for how in ("copy", "mremap", "pieces", "other", "jit"):
        for kind in ("live", "recorded"):
            is_moved = how not in ("other", "jit")
            with common.started([moved, how, "later"], wait_for="ready") as process:
                begin = ["report", "--format", "json"] if kind == "live" else ["record", "-o", data]
                with subprocess.Popen([strobe, *begin, "-p", str(process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env=dict(os.environ, **ENV)) as profile:
                    common.rings_settle(profile, 1)
                    process.send_signal(signal.SIGUSR1)
                    common.let_run(process.pid, 0.5)
                    profile.send_signal(signal.SIGINT)
                    out, err = profile.communicate(timeout=120)
                result = common.Result(profile.returncode, out.decode(), err.decode(), False)
            judge(f"{how} later, {kind}", result if kind == "live" else report(data), is_moved)


def others():
    """Children inherit code that their parent moved, until exec; other processes of that file do
    not."""
    for then in ("fork", "exec"):
        for when in ("before", "from its start"):
            if when == "before":
                with common.started([moved, "copy", then], wait_for="ready") as process:
                    child = subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, check=False, text=True)
                    result = report("-p", child.stdout.strip() or str(process.pid), "--duration", "0.5")
            else:
                result = report("--", "sh", "-c", f"exec timeout 1 {moved} copy {then} > /dev/null")
            judge(f"{then} {when}", result, True)
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(common.started([moved, how], wait_for="ready")).pid for how in ("copy", "none", "other")]
        result = report("-p", ",".join(map(str, pids)), "--duration", "1", "--group", "process,symbol,image")
        seen = [[samples(result, process=pid, **wanted) for pid in pids]
                for wanted in ({"symbol": "mine", "image": "moved"}, {"image": "[anon]"})]
        checks.check("three processes of one file", all(seen[0][:2]) and seen[1][2] and not seen[0][2] and not any(seen[1][:2]),
                     (seen, str(result)))


def of_perf():
    """perf's recording gives names if its mapping records leave no doubt."""
    if not shutil.which("perf"):
        checks.skip("recordings by perf", "no perf")
        return
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o", data]
    for how in ("copy", "pieces"):
        with common.started([moved, how], wait_for="ready") as process:
            common.run([*command, "-p", str(process.pid), "--", "sleep", "0.5"])
        judge(f"{how}, recorded by perf", report(data), True, noted=True)
        common.run([*command, "--", "timeout", "1", moved, how])
        judge(f"{how}, recorded by perf from its start", report(data), True, noted=True)


def main():
    try:
        before()
        later()
        others()
        of_perf()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    checks.finish()


main()
