#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes that read symbols are stopped or killed at any moment.

strobe still ends, with names or a note, reacts to SIGTERM meanwhile, and leaves no process."""

import concurrent.futures
import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import NOBODY, Checks, amounts_count, run  # noqa: E402

LIMIT = 120  # seconds; a longer run is a hang
LONG_NAMES = 20  # seconds that a worker may take to begin
WAITED = 3  # seconds for which strobe waits for names until SIGTERM

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
    """Return the spawner of a strobe, or the workers below it."""
    spawners = [child for child in children(pid) if comm(child) == "strobe-symbols"]
    return [worker for spawner in spawners for worker in children(spawner)] if below else spawners


def wait_for(what, timeout=LIMIT):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.003)
    return None


def is_settled(pid):
    """Return whether a process waits for requests in poll(2), so its start is complete."""
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
    """Return (status, output, errors); None if the process hangs."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    return process.returncode, out, err


def is_told(result):
    notes = ("shares_hot", "note: the ", "takes too long to read")
    return result is not None and result[0] == 0 and any(note in result[1] + result[2] for note in notes)


def disturb(name, below, number, always):
    """Disturb a spawner or worker from the start on; always: its successors too."""
    with report(shares, "1") as process:
        met = set()
        while process.poll() is None and (always or not met):
            for pid in readers(process.pid, below):
                if pid not in met:
                    with contextlib.suppress(OSError):
                        os.kill(pid, number)
                        met.add(pid)
            time.sleep(0.003)
            if len(met) > 20:
                break
        result = ended(process)
        # A killed process may still be exiting.
        wait_for(lambda: all(state(pid) in ("gone", "Z") for pid in met), 60)
        left = [pid for pid in met if state(pid) not in ("gone", "Z")]
    return [(name, met and is_told(result), f"disturbed {len(met)}, {result}"), (name + ": no process is left", not left, left)]


def stop_at_exit():
    """The spawner is stopped after it has answered all questions."""
    with report("cat") as process:
        spawner = wait_for(lambda: readers(process.pid, False))
        os.kill(spawner[0], signal.SIGSTOP)
        process.stdin.close()
        process.stdin = None
        result = ended(process)
        return [("a stopped spawner at exit", result is not None and result[0] == 0, result),
                ("a stopped spawner at exit: no process is left", wait_for(lambda: state(spawner[0]) in ("gone", "Z"), 60),
                 state(spawner[0]))]


def terminate_while_asking():
    """SIGTERM comes while a question waits for a stopped worker."""
    with report(shares, "1") as process:
        worker = wait_for(lambda: readers(process.pid, True))
        os.kill(worker[0], signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        return [("SIGTERM while a worker is stopped", ended(process) is not None, "it hangs")]


def terminate_waiting():
    """Run strobe with a stopped worker, and send SIGTERM after the command has ended.

    Returns strobe's result (None if it hangs), and the command's duration in s."""
    begun = time.monotonic()
    with report(shares, "1") as process:
        worker = wait_for(lambda: readers(process.pid, True))
        os.kill(worker[0], signal.SIGSTOP)
        wait_for(lambda: "shares" in [comm(pid) for pid in children(process.pid)])
        wait_for(lambda: "shares" not in [comm(pid) for pid in children(process.pid)])
        lasted = time.monotonic() - begun
        time.sleep(WAITED)  # strobe now waits for names
        process.send_signal(signal.SIGTERM)
        result = ended(process, LONG_NAMES / 2)
        if result is None:
            process.send_signal(signal.SIGTERM)
            result = ended(process)
        return result, lasted


def terminate_after_end():
    """SIGTERM comes after the command has ended: the report has no names, and says so.

    A signal before strobe has seen the end stops sampling, and a second one ends the wait."""
    for _ in range(5):
        result, lasted = terminate_waiting()
        out = result[1] if result else ""
        # On a busy machine the worker may be stopped only after it has returned all names.
        if "shares_hot" not in out:
            break
    took = re.search(r"shares 1, ([0-9.]+) s", out)
    return [("SIGTERM while names are waited for: a note", "note: the wait for symbols ended" in out, result),
            ("the duration is told", took, result),
            ("the wait for names is not part of the duration", took and (float(took[1]) < lasted + WAITED or not amounts_count()),
             (took, lasted))]


def kill_strobe():
    """A killed strobe leaves no process, stopped or not."""
    with report("cat") as process:
        spawner = wait_for(lambda: [pid for pid in readers(process.pid, False) if is_settled(pid)])
        os.kill(spawner[0], signal.SIGSTOP)
        process.kill()
        process.wait()
        return [("a stopped spawner ends with a strobe that is killed",
                 wait_for(lambda: state(spawner[0]) in ("gone", "Z")), state(spawner[0]))]


def disturb_as_nobody():
    with report("cat") as process:
        spawner = wait_for(lambda: readers(process.pid, False))
        wait_for(lambda: "Uid:\t0" not in open(f"/proc/{spawner[0]}/status", encoding="ascii").read())
        refused = subprocess.run(["kill", "-STOP", str(spawner[0])], user=NOBODY, group=NOBODY, extra_groups=[],
                                 check=False, stderr=subprocess.DEVNULL)
        told = [("no other process may stop or kill it", refused.returncode != 0 and state(spawner[0]) != "T",
                 state(spawner[0]))]
        process.stdin.close()
        process.stdin = None
        return [*told, ("a session that others tried to stop", ended(process) is not None, "")]


def check_namespace():
    name = "root of a user namespace without other users"
    inside = run(["unshare", "--user", "--map-root-user", strobe, "report", "-F", "499", "--", shares, "1"])
    if "unshare" in inside.err:
        checks.skip(name, inside.err.strip())
    else:
        checks.check(name, not inside.hung and (inside.status != 0 or "shares_hot" in inside.out), inside)


def try_case(case):
    try:
        return case()
    except Exception as error:  # pylint: disable=broad-except
        return [(f"{getattr(case, '__name__', case)}: it ran to its end", False, repr(error))]


def main():
    healthy = run([strobe, "report", "-F", "499", "--", shares, "1"])
    if healthy.status != 0 or "shares_hot" not in healthy.out:
        checks.skip("all", f"no events here: {healthy.err[-300:]}")
        checks.finish()
    cases = [functools.partial(disturb, *case) for case in (
        ("a spawner that is stopped", False, signal.SIGSTOP, False),
        ("a spawner that is killed", False, signal.SIGKILL, False),
        ("each spawner is killed", False, signal.SIGKILL, True),
        ("a worker that is stopped", True, signal.SIGSTOP, False),
        ("a worker that is killed", True, signal.SIGKILL, False),
        ("each worker is killed", True, signal.SIGKILL, True))]
    cases += [stop_at_exit, terminate_while_asking, terminate_after_end, kill_strobe]
    if os.geteuid() == 0:
        cases.append(disturb_as_nobody)
    else:
        checks.skip("no other process may stop or kill it", "needs root")
    # The cases wait most of the time.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for told in pool.map(try_case, cases):
            for case in told:
                checks.check(*case)
    check_namespace()
    checks.finish()


main()
