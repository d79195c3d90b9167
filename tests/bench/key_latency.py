#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time from a key to the changed screen, while sampling at 20,000 Hz.

Opens and leaves the help screen, which redraws everything each time.  Waits for text that only one
of the two screens shows.

usage: key_latency.py STROBE DEEP [KEYS]
"""

import os
import sys
import time

from benchlib import Terminal, finish, percentile, verdict, workload

STEPS = ((b"?", rb"Show who calls"), (b"q", rb"TREND|SYMBOL"))


def main(strobe, deep, keys="200"):
    latency_ms, unanswered = [], 0
    with workload([os.path.abspath(deep), "2", "0"]):
        terminal = Terminal([os.path.abspath(strobe), "-a", "-F", "20000", "--cache-dir", ""])
        if terminal.until(rb"deep_\w+", 30) is None:
            print("no symbol of the workload was ever shown: "
                  + repr(terminal.text_from()[-600:]))
            terminal.close()
            sys.exit(1)
        terminal.drain_for(1)
        for number in range(int(keys)):
            key, wanted = STEPS[number % 2]
            # Vary the pause, so that keys do not run in step with the refreshes and all wait the
            # same time.
            terminal.drain_for(0.037 + 0.013 * (number % 5))
            offset, begun = len(terminal.raw), time.monotonic()
            terminal.send(key)
            seen = terminal.until(wanted, 2, offset)
            if seen is None:
                unanswered += 1
                if unanswered == 10:
                    break
            else:
                latency_ms.append((time.monotonic() - begun) * 1000)
        terminal.close()
    if not latency_ms:
        print("no key was ever answered")
        sys.exit(1)
    print(f"{len(latency_ms)} keys, {unanswered} unanswered, slowest {max(latency_ms):.1f} ms")
    verdict("unanswered keys", unanswered, 0)
    verdict("median", percentile(latency_ms, 0.5), 10, "ms")
    verdict("99th percentile", percentile(latency_ms, 0.99), 50, "ms")
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
