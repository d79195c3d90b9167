#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes that read symbols are stopped or killed, at any moment: strobe ends all the same, with names or a note,
listens to SIGTERM meanwhile, and leaves no process behind."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import NOBODY, Checks, _become, run  # noqa: E402

LIMIT = 120  # seconds; longer is a hang
LONG_NAMES = 20  # seconds that a worker may take to begin

strobe, shares = sys.argv[1:]
checks = Checks()


def children(pid):
    found = []
    with contextlib.suppress(OSError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    return found


def comm(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
            return file.read().strip()
    return ""


def state(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    return "gone"


def readers(pid, below):
    """The spawner of a strobe, or the workers below it."""
    spawners = [child for child in children(pid) if comm(child) == "strobe-symbols"]
    return [worker for spawner in spawners for worker in children(spawner)] if below else spawners


def wait_for(what, timeout=LIMIT):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.001)
    return None


def is_settled(pid):
    """It waits for questions, in poll(2): all that it does at its beginning is done."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] in ("7", "271", "73")
    return False


@contextlib.contextmanager
def report(*target):
    process = subprocess.Popen([strobe, "report", "-F", "499", "--call-graph", "fp", "--", *target], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, LC_ALL="C.UTF-8"))
    try:
        yield process
    finally:
        for pid in readers(process.pid, True) + readers(process.pid, False):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()


def ended(process, timeout=LIMIT):
    """Status, output and errors; None for one that hangs."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    return process.returncode, out, err


def is_told(result):
    notes = ("shares_hot", "note: the ", "takes too long to read")
    return result is not None and result[0] == 0 and any(note in result[1] + result[2] for note in notes)


def disturb(name, below, number, always):
    """From the start; always: each one that follows too."""
    with report(shares, "1") as process:
        met = set()
        while process.poll() is None and (always or not met):
            for pid in readers(process.pid, below):
                if pid not in met:
                    with contextlib.suppress(OSError):
                        os.kill(pid, number)
                        met.add(pid)
            time.sleep(0.001)
            if len(met) > 20:
                break
        result = ended(process)
        checks.check(name, met and is_told(result), f"disturbed {len(met)}, {result}")
        # One that was killed may still be on its way out.
        wait_for(lambda: all(state(pid) in ("gone", "Z") for pid in met), 60)
        left = [pid for pid in met if state(pid) not in ("gone", "Z")]
        checks.check(name + ": no process is left", not left, left)


healthy = run([strobe, "report", "-F", "499", "--", shares, "1"])
if healthy.status != 0 or "shares_hot" not in healthy.out:
    checks.skip("all", f"no events here: {healthy.err[-300:]}")
    checks.finish()

disturb("a spawner that is stopped", False, signal.SIGSTOP, False)
disturb("a spawner that is killed", False, signal.SIGKILL, False)
disturb("each spawner is killed", False, signal.SIGKILL, True)
disturb("a worker that is stopped", True, signal.SIGSTOP, False)
disturb("a worker that is killed", True, signal.SIGKILL, False)
disturb("each worker is killed", True, signal.SIGKILL, True)

# At exit, when all questions were answered.
with report("cat") as process:
    spawner = wait_for(lambda: readers(process.pid, False))
    os.kill(spawner[0], signal.SIGSTOP)
    process.stdin.close()
    process.stdin = None
    result = ended(process)
    checks.check("a stopped spawner at exit", result is not None and result[0] == 0, result)
    checks.check("a stopped spawner at exit: no process is left",
                 wait_for(lambda: state(spawner[0]) in ("gone", "Z"), 60), state(spawner[0]))

# While a question waits for a worker that is stopped.
with report(shares, "1") as process:
    worker = wait_for(lambda: readers(process.pid, True))
    os.kill(worker[0], signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    result = ended(process)
    checks.check("SIGTERM while a worker is stopped", result is not None, "it hangs")

# The same, once the command has ended: a report without names, which says so.  A signal that comes before strobe
# has seen the end is one to stop sampling, and a second one ends the wait.
with report(shares, "1") as process:
    worker = wait_for(lambda: readers(process.pid, True))
    os.kill(worker[0], signal.SIGSTOP)
    wait_for(lambda: "shares" in [comm(pid) for pid in children(process.pid)])
    wait_for(lambda: "shares" not in [comm(pid) for pid in children(process.pid)])
    process.send_signal(signal.SIGTERM)
    result = ended(process, LONG_NAMES / 2)
    if result is None:
        process.send_signal(signal.SIGTERM)
        result = ended(process)
    checks.check("SIGTERM while names are waited for: a note", result is not None and "note: the wait for symbols ended" in result[1],
                 result)
    took = re.search(r"shares 1, ([0-9.]+) s", result[1] if result else "")
    if checks.check("the duration is told", took, result):
        checks.amount("the wait for names is not part of the duration", float(took[1]) < LONG_NAMES / 2, took)

# Killed itself, strobe leaves nobody, stopped or not.
with report("cat") as process:
    spawner = wait_for(lambda: [pid for pid in readers(process.pid, False) if is_settled(pid)])
    os.kill(spawner[0], signal.SIGSTOP)
    process.kill()
    process.wait()
    checks.check("a stopped spawner ends with a strobe that is killed",
                 wait_for(lambda: state(spawner[0]) in ("gone", "Z")), state(spawner[0]))

name = "no other process may stop or kill it"
if os.geteuid() == 0:
    with report("cat") as process:
        spawner = wait_for(lambda: readers(process.pid, False))
        wait_for(lambda: "Uid:\t0" not in open(f"/proc/{spawner[0]}/status", encoding="ascii").read())
        refused = subprocess.run(["kill", "-STOP", str(spawner[0])], preexec_fn=_become(NOBODY, None), check=False,
                                 stderr=subprocess.DEVNULL)
        checks.check(name, refused.returncode != 0 and state(spawner[0]) != "T", state(spawner[0]))
        process.stdin.close()
        process.stdin = None
        checks.check("a session that others tried to stop", ended(process) is not None)
else:
    checks.skip(name, "needs root")

name = "root of a user namespace without other users"
inside = run(["unshare", "--user", "--map-root-user", strobe, "report", "-F", "499", "--", shares, "1"])
if "unshare" in inside.err:
    checks.skip(name, inside.err.strip())
else:
    checks.check(name, not inside.hung and (inside.status != 0 or "shares_hot" in inside.out), inside)

checks.finish()
