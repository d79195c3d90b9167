#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A new user's way from strobe -p PID to the source line that makes thread 7 slow in a spike.

It also leads to the line's callers.  The hint line alone shows the way, with at most eight keys.

usage: newcomer.py STROBE SPIKES
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, Screen, run, started  # noqa: E402

checks = Checks()
WAIT = 120  # s; a guard against hanging, not an expectation
KEYS_MAX = 8
COLUMNS, ROWS = 120, 40
TERM = "linux"  # pyte knows all of its sequences
ESCAPE = "\033"


class Newcomer:
    """Presses a key only when the last line of the screen proposes it."""

    def __init__(self, screen):
        self.screen = screen
        self.keys = 0

    def press(self, key, hint, wanted):
        offered = self.screen.until(lambda text: hint in text.splitlines()[-1], WAIT)
        checks.check(f"'{hint}' is offered", offered, self.screen.text())
        self.screen.send(key)
        self.keys += 1
        checks.check(f"'{hint}' does it", self.screen.until(wanted, WAIT), self.screen.text())


def row_of(text, *words):
    return next((line for line in text.splitlines() if all(word in line for word in words)), "")


def above(text, first, second):
    return 0 <= text.find(first) < text.find(second)


def find_the_line(strobe, spikes):
    with started([spikes], wait_for="ready") as target:
        # curses with a mouse loads libgpm for this TERM, which leaks ten bytes.
        screen = Screen([strobe, "-p", str(target.pid), "--no-mouse"], COLUMNS, ROWS, TERM)
        newcomer = Newcomer(screen)
        try:
            checks.check("the spike came", screen.until("spikes_slow", WAIT), screen.text())
            newcomer.press("!", "! spike", "past")
            on_top = screen.until(lambda text: above(text, "spikes_slow ", "spikes_caller "), WAIT)
            checks.check("the spike's function is on top", on_top, screen.text())
            newcomer.press("\r", "↵ runs in", lambda text: "spikes_slow" in text and row_of(text, "worker-7"))
            checks.check("no other thread", not row_of(screen.text(), "worker-6"), screen.text())
            newcomer.press("I", "I only this", "only tid:")
            newcomer.press(ESCAPE, "Esc back", "spikes_caller ")
            newcomer.press("a", "a annotate", lambda text: "%" in row_of(text, "the slow line"))
            newcomer.press(ESCAPE, "Esc back", "spikes_caller ")
            newcomer.press("c", "c callers", lambda text: above(text, " spikes_caller", "● spikes_slow"))
            checks.check("keys", newcomer.keys <= KEYS_MAX, str(newcomer.keys))
            checks.check("still of that thread, in that time", "only tid:" in screen.text() and "past" in screen.text(),
                         screen.text())
            screen.send("q")
            screen.until(lambda text: "● spikes_slow" not in text, WAIT)
            screen.send("q")
            checks.check("ends", screen.wait() == 0)
        finally:
            screen.close()


def main(strobe, spikes):
    if run([strobe, "report", "--duration", "0.1", "-p", str(os.getpid())]).status:
        checks.skip("all", "events are refused here")
        checks.finish()
    find_the_line(strobe, spikes)
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
