#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The live screen while a CPU goes offline and returns, and the wall clock is set forward and back.

The screen's own time goes on, its log has these events, and it ends on request.

usage: clocks.py FOLDER STROBE [NATIVE STROBE]
"""

import importlib.util
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from guest import Machine  # noqa: E402

# All output of the screen is kept; "mark" notes its length so far, and the guest's own time.
SCRIPT = r"""
cpu3=/sys/devices/system/cpu/cpu3/online
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
mkfifo /tmp/keys
exec 3<>/tmp/keys
mark() { # NAME
	sleep 4
	echo "$1 $(wc -c <drawn) $(cut -d. -f1 /proc/uptime)" >>marks
}
(while :; do work 20; done) &
work=$!
terminal strobe -a -F 100 </tmp/keys >drawn &
screen=$!
tries=0
while ! grep -q samples drawn && [ $tries -lt 60 ]; do
	sleep 1
	tries=$((tries + 1))
done
mark begin
echo 0 >$cpu3
mark gone
date -s '2031-01-01 00:00:00'
mark forth
date -s '2001-01-01 00:00:00'
mark back
echo 1 >$cpu3
mark returned
printf L >&3
mark log
printf q >&3
sleep 2
printf q >&3
wait $screen
echo $? >screen.status
begin=$(cut -d. -f1 /proc/uptime)
strobe report -a -F 100 --duration 6 >limited 2>&1 &
report=$!
sleep 2
date -s '2031-01-01 00:00:00'
sleep 1
date -s '2001-01-01 00:00:00'
wait $report
echo "$? $(($(cut -d. -f1 /proc/uptime) - begin))" >limited.end
kill $work
exit 0
"""


def screens(drawn, marks):
    """{mark: (text of the screen, the guest's time in seconds)}"""
    import pyte
    found, terminal, at = {}, pyte.Screen(100, 30), 0
    stream = pyte.ByteStream(terminal)
    for name, length, uptime in (line.split() for line in marks.splitlines()):
        stream.feed(drawn[at:int(length)])
        at = int(length)
        found[name] = ("\n".join(terminal.display), int(uptime))
    return found


def clock(text):
    """The time in the header, in seconds; None if there is none."""
    found = re.search(r"(\d+):(\d\d):(\d\d)", text.split("\n")[0])
    return sum(int(part) * unit for part, unit in zip(found.groups(), (3600, 60, 1))) if found else None


def main():
    checks = Checks()
    if len(sys.argv) < 4:
        checks.skip("clocks that are set", "the guest of this kind needs a strobe built for it")
        checks.finish()
    if importlib.util.find_spec("pyte") is None:
        checks.skip("clocks that are set", "python3-pyte is not installed")
        checks.finish()
    left = Machine("amd64", sys.argv[1], sys.argv[3]).run(
        SCRIPT, {"lib/terminfo/l/linux": "/lib/terminfo/l/linux"}, cpus=4, timeout=500)
    checks.check("the guest ran", left.status == 0, left)
    seen = screens(left.files.get("drawn", b""), left.text("marks"))
    times = [(clock(seen[name][0]), seen[name][1]) for name in ("begin", "gone", "forth", "back", "returned") if name in seen]
    if checks.check("the screen was there at each step", len(times) == 5 and None not in [shown for shown, _ in times],
                    f"{times} {seen.get('begin')} {left}"):
        # An emulated machine may draw some seconds late, but not hours.
        late = [abs((shown - times[0][0]) - (uptime - times[0][1])) for shown, uptime in times]
        checks.check("its time goes on, whatever the wall clock says", max(late) < 30, times)
        checks.check("its time never goes back", all(a[0] <= b[0] for a, b in zip(times, times[1:])), times)
        log = seen["log"][0]
        checks.check("the log names the CPU that went and returned", "CPU 3 went offline" in log and "CPU 3 came online" in log, log)
    checks.check("it ends by a key", left.text("screen.status").strip() == "0", left.text("screen.status"))
    status, took = (left.text("limited.end").split() + ["-1", "-1"])[:2]
    checks.check("--duration does not heed the wall clock", status == "0" and 5 <= int(took) < 120 and
                 "cpu-clock" in left.text("limited"), f"{took} s, {left.text('limited')[:500]}")
    checks.finish()


if __name__ == "__main__":
    main()
