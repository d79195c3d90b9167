#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hardware PMU: exact counts and samples, more events than counters, and messages about events
that the PMU does not have.

The guest has one CPU, since an emulated counter counts the instructions of all CPUs.

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

list() { for i in $(seq $2); do printf "$1"; [ $i = $2 ] || printf ,; done; }
count() { name=$1; shift; strobe stat --format json -o stat-$name.json "$@"; }
count one -e instructions:u -- work 240
count twelve -e $(list instructions:u 12) -- work 240
strobe report -e $(list instructions:u 12) -c 1000000 $task -- work 240 >twelve.json
count group -a --duration 0.2 -e "{$(list cycles:u 8)}"
count member -e "{$(list cycles:u 8)}" -- work 40
count weak -e "{$(list cycles:u 8)}:W" -- work 100
strobe report -a --duration 0.2 -e "{$(list cycles:u 8)}" -c 1000000 --format json >group.json
count pinned -e $(list cycles:uD 16) -- work 40
count pinned-machine -a --duration 0.2 -e $(list cycles:uD 16)
strobe report -e $(list cycles:uD 16) -c 1000000 --scope cpu --format json -- work 40 >pinned.json
strobe report -b -e instructions:u -c 1000000 $task -- work 40 >branch-stacks.json
strobe stat -e instructions:I -- work 1 2>idle.err
count exclusive -e instructions:ue,cycles:u -- work 240
count space -e instructions,instructions:u,instructions:k -- calls 1000
"""
# The PMU has one counter for cycles, and six for any event.
COUNTERS = 7
NO_ROOM = "does not fit into its group"
PINNED = "is pinned, and the hardware has no counter left for it"


def event(left, name, number=0):
    try:
        return json.loads(left.text(name))["events"][number]
    except (ValueError, LookupError):
        return {"name": "none", "samples": -1, "count": -1, "weight": -1, "lost": -1, "rows": []}


def stat(left, name):
    """Events in order, the reason of each that has no count (or None), and the notes."""
    try:
        told = json.loads(left.text(f"stat-{name}.json"))
        return told["events"], [event["not_counted"] for event in told["events"]], " ".join(told["notes"])
    except (ValueError, LookupError):
        return [], [], f"no counts: {left.text(f'stat-{name}.json')}"


def is_near(value, true):
    return value is not None and abs(value / true - 1) < 0.05


def more_than_counters(checks, left):
    one = stat(left, "one")[0]
    if not checks.check("instructions are counted", one and 240_000_000 <= one[0]["count"] < 240_100_000, one):
        return
    true = one[0]["count"]
    events = stat(left, "twelve")[0]
    checks.check("12 events take turns, and each estimate is within 5% of the count", len(events) == 12
                 and all(is_near(event["scaled"], true) and 20 < event["running_percent"] < 80
                         and event["count"] < true * 0.8 for event in events), events)
    told = [event(left, "twelve.json", i) for i in range(12)]
    checks.check("the same of a report", all(
        event["running_ns"] < event["enabled_ns"] * 0.8
        and is_near(event["count"] * event["enabled_ns"] / event["running_ns"], true) for event in told), told)
    events, reasons, notes = stat(left, "weak")
    checks.check("a weak group takes turns", len(events) == 8 and not any(reasons)
                 and all(is_near(event["scaled"], 800_000_000) for event in events), (events, notes))
    events, reasons, notes = stat(left, "group")
    checks.check("a group too large for the PMU is not counted", reasons == ["no room"] * 8
                 and all(event["count"] is None for event in events) and NO_ROOM in notes, (events, notes))
    events, reasons, notes = stat(left, "member")
    checks.check("a member that its group has no room for is not counted, the others are", reasons ==
                 [None] * COUNTERS + ["no room"] and NO_ROOM in notes
                 and all(event["count"] >= 320_000_000 for event in events[:COUNTERS]), (events, notes))
    got = event(left, "group.json")
    checks.check("nor is it sampled, and the report says so", got["samples"] == got["count"] == 0
                 and "was never counted" in left.text("group.json"), left.text("group.json")[-2000:])


def pinned(checks, left):
    for name, what in (("pinned", "of a command that has ended"), ("pinned-machine", "of the machine")):
        events, reasons, notes = stat(left, name)
        checks.check(f"pinned events without a counter are in error, {what}", PINNED in notes and reasons ==
                     [None] * COUNTERS + ["pinned: no room"] * (16 - COUNTERS)
                     and all(event["count"] is None for event in events[COUNTERS:]), (events, notes))
    told = [event(left, "pinned.json", i)["samples"] for i in range(16)]
    checks.check("and so in a report", PINNED in left.text("pinned.json") and not any(told[COUNTERS:])
                 and all(samples > 300 for samples in told[:COUNTERS]), told)


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
    # A cycle is a nanosecond of the guest's clock, and an instruction takes eight cycles.
    checks.check("cycles and instructions together", cycles["samples"] == 1920 and instructions["samples"] == 240
                 and 0 <= cycles["count"] - 8 * instructions["count"] < 8, (cycles, instructions))
    got = event(left, "machine.json")
    # A CPU also counts instructions of strobe, so a period of the program may begin or end there.
    # The interrupt of the last period may come after strobe has disabled the event.
    missed = got["count"] // 1_000_000 - got["samples"] - got.get("filtered", 0)
    checks.check("with events on CPUs, samples and those of other programs add up", got["lost"] == 0 and 0 <= missed <= 1
                 and 230 <= got["samples"] and 240_000_000 <= got["count"] < 250_000_000, got)
    got = event(left, "frequency.json")
    checks.check("by frequency: periods add up to the count", abs(got["weight"] / got["count"] - 1) < 0.01
                 and got["samples"] > 500, got)
    for name in ("branches", "cache-misses", "ref-cycles"):
        said = left.text(name + ".err")
        checks.check(f"{name}: refused with a sentence and a way out", left.text(name + ".status").strip() == "1"
                     and f"'{name}'" in said and "no such event on this machine" in said and "cpu-clock" in said, said)
    got = event(left, "default.json")
    checks.check("cycles are the default", got["name"].startswith("cycles") and got["samples"] > 0, got)
    more_than_counters(checks, left)
    pinned(checks, left)
    got = event(left, "branch-stacks.json")
    checks.check("no branch stacks here: told, and sampled without", got["samples"] == 40
                 and "is sampled without branch stacks" in left.text("branch-stacks.json"), got)
    checks.check("a counter that cannot leave out the idle task", "cannot leave out the idle task" in left.text("idle.err"),
                 left.text("idle.err"))
    events = stat(left, "exclusive")[0]
    checks.check("an exclusive event is alone on the PMU: with another it takes turns, where both would have room",
                 len(events) == 2 and is_near(events[0]["scaled"], 240_000_000)
                 and all(20 < event["running_percent"] < 80 for event in events)
                 and abs(sum(event["running_percent"] for event in events) - 100) < 5, events)
    both, user, kernel = [event["count"] for event in stat(left, "space")[0]] or (0, 0, 0)
    checks.check("user space and kernel add up", both == user + kernel and 0 < user < kernel, (both, user, kernel))
    checks.finish()


if __name__ == "__main__":
    main()
