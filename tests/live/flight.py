#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flight recorder as users see it: dumps by a signal, a trigger or a key, and with little
lockable memory.

usage: flight.py STROBE SHARES SHARES_LIB
"""

import importlib.util
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
# flake8: noqa: E402
from checks import NOBODY, Checks, Screen, let_run, public_copy, run, settled, started, sysctl

checks = Checks()
HZ = 997
HOT = 0.7  # share of shares_hot in shares.c
MLOCK = "/proc/sys/kernel/perf_event_mlock_kb"


def hot_share(report):
    event = json.loads(report)["events"][0]
    rows = {row["symbol"]: row["samples"] for row in event["rows"]}
    return rows.get("shares_hot", 0), event["samples"]


def check_share(name, report, at_least):
    """The report resembles an ordinary run: the function is named, with 70 percent within five
    standard deviations."""
    try:
        hot, samples = hot_share(report)
    except (ValueError, LookupError) as error:
        return checks.check(name, False, f"{error}: {report[-300:]!r}")
    deviation = 5 * math.sqrt(max(samples, 1) * HOT * (1 - HOT))
    named = checks.check(f"{name}: the function is named", hot > 0, f"{hot} of {samples}")
    return checks.amount(name, samples >= at_least and abs(hot - HOT * samples) <= deviation,
                         f"{hot} of {samples}, at least {at_least}") and named


def start(strobe, *options):
    return subprocess.Popen([strobe, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            encoding="utf-8")


def by_signal(strobe, shares, folder):
    """The recorder is almost idle until the signal; then it writes a file that perf reads too."""
    path = os.path.join(folder, "flight.data")
    with started([shares]) as target:
        recorder = start(strobe, "record", "-p", str(target.pid), "-F", str(HZ), "--flight-recorder", "60", "-o", path)
        checks.amount("no work while recording", settled(recorder))
        let_run(target.pid, 1.0)
        recorder.send_signal(signal.SIGUSR2)
        out, err = recorder.communicate(timeout=120)
    checks.check("SIGUSR2 ends the recording", recorder.returncode == 0, out + err)
    found = run([strobe, "report", path, "--format", "json"])
    check_share("its shares", found.out, HZ // 2)
    perf = shutil.which("perf")
    if not perf:
        return checks.skip("perf script", "perf is not installed")
    lines = run([perf, "script", "-i", path, "-F", "comm,ip"]).out.count("shares")
    checks.check("perf reads as many", lines >= hot_share(found.out)[1], f"{lines}: {found.out[:200]}")
    return None


def by_trigger(strobe, shares):
    with started([shares]) as target:
        found = run([strobe, "report", "-p", str(target.pid), "-F", str(HZ), "--flight-recorder", "60", "--flight-trigger",
                     "cpu>1%,1", "--format", "json"])
        plain = run([strobe, "report", "-p", str(target.pid), "-F", str(HZ), "--call-graph", "fp", "--duration", "0.5", "--format",
                     "json"])
    checks.check("the trigger ends the report", found.status == 0 and not found.hung, found)
    check_share("its shares after a trigger", found.out, 10)
    whole = [json.loads(each.out)["events"][0]["chains_whole_percent"] if each.out else None for each in (found, plain)]
    # Its first chains wait for tables, too.
    checks.check("call chains are judged as without the recorder", None not in whole and abs(whole[0] - whole[1]) < 10, whole)


def last_seconds_only(strobe, shares, folder):
    """A target that runs longer than the recorder's span keeps only the span's samples."""
    path = os.path.join(folder, "last.data")
    with started([shares]) as target:
        found = run([strobe, "record", "-p", str(target.pid), "-F", str(HZ), "--flight-recorder", "1", "--duration", "3",
                     "-o", path])
    script = run([strobe, "export", path, "--format", "script"]).out
    times = [float(time_s) for time_s in re.findall(r"^shares .*? (\d+\.\d+): ", script, re.MULTILINE)]
    checks.check("the last second alone", times and max(times) - min(times) <= 1.01,
                 f"{found}, {times[:1]} to {times[-1:]}")


def little_memory(strobe, shares, library):
    if os.geteuid() or not os.access(MLOCK, os.W_OK):
        return checks.skip("little memory to lock", "only root can change the limit")
    with public_copy(strobe, shares, library) as (strobe, shares, library), sysctl(MLOCK, 16):
        found = run([strobe, "report", "-F", str(HZ), "--flight-recorder", "3600", "--", shares, "2"], user=NOBODY,
                    limits={8: 1 << 18}, env={"LD_LIBRARY_PATH": os.path.dirname(library)})
    return checks.check("an ordinary user with little memory", found.status == 0 and "shares_hot" in found.out and
                        "the flight recorder holds only the last" in found.out and "limit on locked memory" in found.out,
                        found)


def by_key(strobe, shares):
    if importlib.util.find_spec("pyte") is None:
        return checks.skip("the key F", "pyte is not installed")
    with started([shares]) as target:
        screen = Screen([strobe, "-p", str(target.pid), "-F", str(HZ), "--flight-recorder", "30"], columns=120)
        good = screen.until("flight recorder: holds 30 s, F takes a snapshot")
        checks.check("the screen tells what it holds", good, screen.text())
        let_run(target.pid, 0.5)
        checks.check("nothing is shown before", "shares_hot" not in screen.text(), screen.text())
        screen.send("F")
        checks.check("the key F", screen.until("shares_hot"), screen.text())
        screen.send("q")
        screen.wait()
        screen.close()
    return None


def main(strobe, shares, library):
    strobe, shares = os.path.abspath(strobe), os.path.abspath(shares)
    if run([strobe, "report", "--duration", "0.1", "-p", str(os.getpid())]).status:
        checks.skip("all", "events are refused here")
        checks.finish()
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        by_signal(strobe, shares, folder)
        last_seconds_only(strobe, shares, folder)
    by_trigger(strobe, shares)
    little_memory(strobe, shares, library)
    by_key(strobe, shares)
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
