#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""8 CPUs on 2 nodes, profiled and counted system-wide.

Meanwhile one CPU comes online, and another goes offline and returns.

usage: hotplug.py FOLDER STROBE [NATIVE STROBE]
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from guest import Machine  # noqa: E402

# The size of stack copies is fixed: reopening an event on eight emulated CPUs takes a second, which
# would lower the coverage.
SCRIPT = """
cpus=/sys/devices/system/cpu
cat /sys/devices/system/node/online $cpus/online >topology
for name in fresh again; do ln -s /bin/work /tmp/$name; done
for cpu in 0 1 2 3 4 6 7; do ln -s /bin/work /tmp/on$cpu; done
echo 0 >$cpus/cpu5/online
strobe report -a -e cpu-clock -F 100 --call-graph dwarf --group cpu,command --format json >hotplug.json 2>hotplug.err &
report=$!
strobe stat -a --per cpu -e '{cycles:u,instructions:u},task-clock' --format json -o counted.json 2>counted.err &
count=$!
sleep 1
for cpu in 0 1 2 3 4 6 7; do taskset $(printf %x $((1 << cpu))) /tmp/on$cpu 25; done
echo 1 >$cpus/cpu5/online
echo 0 >$cpus/cpu3/online
sleep 1
taskset 20 /tmp/fresh 50
echo 1 >$cpus/cpu3/online
sleep 1
taskset 8 /tmp/again 50
kill -INT $report $count
wait $report
wait $count
"""


def counted(checks, left):
    """Each CPU must count at least its own program: the emulated counters include other CPUs."""
    try:
        told = json.loads(left.text("counted.json"))
        counts = {(event["cpu"], event["name"]): event["count"] or 0 for event in told["events"]}
    except (ValueError, LookupError) as error:
        checks.check("the counting survived", False, f"{error} {left.text('counted.err')} {left}")
        return
    floors = {cpu: 25_000_000 for cpu in (0, 1, 2, 3, 4, 6, 7)} | {3: 75_000_000, 5: 50_000_000}
    low = [cpu for cpu, floor in floors.items() if counts.get((cpu, "instructions:u"), 0) < floor
           or counts.get((cpu, "cycles:u"), 0) < 8 * floor or not counts.get((cpu, "task-clock"))]
    checks.check("groups count on all CPUs, those that came, went and returned too", not low, f"{low}: {counts}")
    checks.check("all could be read", not told["notes"], told["notes"])


def main():
    checks = Checks()
    left = Machine("arm64", sys.argv[1], sys.argv[2]).run(SCRIPT, cpus=8, nodes=2)
    checks.check("8 CPUs on 2 nodes: the guest ran", left.status == 0 and left.text("topology").split() == ["0-1", "0-7"],
                 f"{left.text('topology')} {left}")
    try:
        report = json.loads(left.text("hotplug.json"))
        rows = {(row["cpu"], row["command"]): row["samples"] for row in report["events"][0]["rows"]}
    except (ValueError, LookupError) as error:
        checks.check("the profile survived", False, f"{error} {left.text('hotplug.err')} {left}")
        checks.finish()
    idle = [cpu for cpu in (0, 1, 2, 3, 4, 6, 7) if rows.get((cpu, f"on{cpu}"), 0) < 10]
    checks.check("each CPU's own program was sampled on it", not idle, f"{idle}: {rows}")
    checks.check("a CPU that came was sampled", rows.get((5, "fresh"), 0) > 10, rows)
    checks.check("a CPU that returned was sampled again", rows.get((3, "again"), 0) > 10, rows)
    checks.check("it is told that a CPU went", "CPU 3 went offline" in report["notes"], report["notes"])
    refused = [note for note in report["notes"] if "cannot sample" in note]
    checks.check("no event is told to be refused by a CPU that was away", not refused, refused)
    came = [cpu for cpu in (3, 5) if f"CPU {cpu} came online" not in report["notes"]]
    checks.check("and that one came, and one returned", not came, f"{came}: {report['notes']}")
    counted(checks, left)
    checks.finish()


if __name__ == "__main__":
    main()
