#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hardware PMU: exact counts and samples, several events, and what is said of events that there are not.

One CPU: the emulated counters count what all CPUs do.

usage: counters.py FOLDER STROBE [NATIVE STROBE]
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from guest import Machine  # noqa: E402

SCRIPT = """
echo 'doctor:'; strobe doctor
task='--scope task --format json'
strobe report -e instructions:u -c 1000000 $task -- work 240 >period.json
strobe report -e instructions:u -c 1000000 $task -- work 240 >again.json
strobe report -e cycles:u,instructions:u -c 1000000 $task -- work 240 >both.json
strobe report -e instructions:u -c 1000000 --scope cpu --format json -- work 240 >machine.json
strobe report -e cycles:u -F 500 $task -- work 240 >frequency.json
for event in branches cache-misses ref-cycles; do
    strobe report -e $event $task -- work 1 >$event.out 2>$event.err
    echo $? >$event.status
done
strobe report $task -- work 100 >default.json
"""


def event(left, name, number=0):
    try:
        return json.loads(left.text(name))["events"][number]
    except (ValueError, LookupError):
        return {"name": "none", "samples": -1, "count": -1, "weight": -1, "lost": -1, "rows": []}


def main():
    checks = Checks()
    left = Machine("arm64", sys.argv[1], sys.argv[2]).run(SCRIPT, cpus=1)
    if not checks.check("arm64: the guest ran", left.status == 0, left):
        checks.finish()
    checks.check("the PMU is found", "armv8_pmuv3" in left.text("log"), left.text("log"))
    first = event(left, "period.json")
    for name in ("period.json", "again.json"):
        got = event(left, name)
        checks.check(f"240.0 M instructions at period 1 M are exactly 240 samples ({name})", got["samples"] == 240
                     and got["weight"] == 240_000_000 and 240_000_000 <= got["count"] < 240_100_000
                     and got["lost"] == 0, got)
    rows = first["rows"]
    checks.check("all of them in the loop, but for the last", rows and rows[0]["symbol"] == "work_loop"
                 and rows[0]["samples"] >= 239, rows[:3])
    cycles, instructions = event(left, "both.json"), event(left, "both.json", 1)
    # A cycle is a nanosecond of the guest's clock, an instruction takes eight.
    checks.check("cycles and instructions together", cycles["samples"] == 1920 and instructions["samples"] == 240
                 and 0 <= cycles["count"] - 8 * instructions["count"] < 8, (cycles, instructions))
    got = event(left, "machine.json")
    # A CPU counts what strobe does as well, so that the last instruction of a period may be another program's.
    checks.check("with events on CPUs, samples and those of other programs add up", got["lost"] == 0
                 and got["samples"] + got.get("filtered", 0) == got["count"] // 1_000_000
                 and 230 <= got["samples"] <= 241, got)
    got = event(left, "frequency.json")
    checks.check("by frequency: periods add up to the count", abs(got["weight"] / got["count"] - 1) < 0.01
                 and got["samples"] > 500, got)
    for name in ("branches", "cache-misses", "ref-cycles"):
        said = left.text(name + ".err")
        checks.check(f"{name}: refused with a sentence and a way out", left.text(name + ".status").strip() == "1"
                     and f"'{name}'" in said and "no such event on this machine" in said and "cpu-clock" in said, said)
    got = event(left, "default.json")
    checks.check("cycles are the default", got["name"].startswith("cycles") and got["samples"] > 0, got)
    checks.finish()


if __name__ == "__main__":
    main()
