#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""8 CPUs on 2 nodes, profiled as a whole while one CPU comes and another goes and returns.

usage: hotplug.py FOLDER STROBE [NATIVE STROBE]
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from guest import Machine  # noqa: E402

SCRIPT = """
cpus=/sys/devices/system/cpu
cat /sys/devices/system/node/online $cpus/online >topology
for name in fresh again; do ln -s /bin/work /tmp/$name; done
for cpu in 0 1 2 4 6 7; do ln -s /bin/work /tmp/on$cpu; done
echo 0 >$cpus/cpu5/online
strobe report -a -e cpu-clock -F 100 --duration 8 --group cpu,command --format json >hotplug.json 2>hotplug.err &
pid=$!
sleep 1
for cpu in 0 1 2 4 6 7; do taskset $(printf %x $((1 << cpu))) /tmp/on$cpu 25; done
echo 1 >$cpus/cpu5/online
echo 0 >$cpus/cpu3/online
sleep 1
taskset 20 /tmp/fresh 50
echo 1 >$cpus/cpu3/online
sleep 1
taskset 8 /tmp/again 50
wait $pid
"""


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
    idle = [cpu for cpu in (0, 1, 2, 4, 6, 7) if rows.get((cpu, f"on{cpu}"), 0) < 10]
    checks.check("each CPU's own program was sampled on it", not idle, f"{idle}: {rows}")
    checks.check("a CPU that came was sampled", rows.get((5, "fresh"), 0) > 10, rows)
    checks.check("a CPU that returned was sampled again", rows.get((3, "again"), 0) > 10, rows)
    checks.check("it is told that a CPU went", "CPU 3 went offline" in report["notes"], report["notes"])
    checks.finish()


if __name__ == "__main__":
    main()
