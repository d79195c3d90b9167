#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The exit status of strobe with a command is the command's, like that of env, time and perf
record."""

import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from checks import Checks, Screen, run, settled, started  # noqa: E402

checks = Checks()
strobe = sys.argv[1]


def ways(folder):
    """Return each way to start a command, except on the screen."""
    return {
        "stat": [strobe, "stat"],
        "stat of intervals": [strobe, "stat", "--interval", "50"],
        "stat --repeat": [strobe, "stat", "--repeat", "2"],
        "record": [strobe, "record", "-o", os.path.join(folder, "a.data")],
        "record -o -": [strobe, "record", "-o", "-"],
        "report": [strobe, "report"],
        "export": [strobe, "export", "--format", "folded", "-o", os.path.join(folder, "a.folded")],
        "strobe without a terminal": [strobe],
    }


def of_commands(folder):
    plain = os.path.join(folder, "not-executable")
    with open(plain, "w", encoding="ascii") as file:
        file.write("no program\n")
    commands = {
        "success": (["true"], 0),
        "a status": (["sh", "-c", "exit 7"], 7),
        "the highest status": (["sh", "-c", "exit 255"], 255),
        "a signal": (["sh", "-c", "kill -KILL $$"], 128 + signal.SIGKILL),
        "a command that is not there": ([os.path.join(folder, "nothing")], 127),
        "a command that is no program": ([plain], 126),
    }
    for way, words in ways(folder).items():
        for name, (command, status) in commands.items():
            result = run([*words, "--", *command])
            checks.check(f"{way}: {name}", not result.hung and result.status == status,
                         f"{result}, wanted {status}")
    result = run([strobe, "annotate", "--", *commands["a command that is not there"][0]])
    checks.check("annotate: a command that is not there", result.status == 127, str(result))


def own_failures(folder):
    result = run([strobe, "record", "-o", "/dev/full", "--", "sh", "-c", "exit 7"])
    checks.check("a recording that cannot be written", result.status == 1, str(result))
    result = run([strobe, "stat", "--no-such-option", "--", "sh", "-c", "exit 7"])
    checks.check("a wrong command line", result.status == 2, str(result))
    result = run(["sh", "-c", f"exec {strobe} report -- sh -c 'exit 7' >/dev/full"])
    checks.check("a report that cannot be written", result.status == 1, str(result))


def cut_short(folder):
    for way in ("stat", "record", "report"):
        words = ways(folder)[way]
        with started(["sleep", "600"]) as target:
            # A running command would hold the test's pipes open and keep the test waiting.
            result = run([*words, "--duration", "0.2", "--", "sh", "-c",
                          f"exec tail --pid={target.pid} -f /dev/null >/dev/null 2>&1"])
            checks.check(f"{way}: --duration is over before the command", result.status == 0
                         and "is still running" in result.err, str(result))


def signalled(folder):
    """A signal to strobe ends the command too, and strobe's status is the command's."""
    for way in ("stat", "record", "report"):
        for name, script, status in (
                ("a command that heeds SIGTERM", "sleep 600", 128 + signal.SIGTERM),
                ("a command that has a status of its own", "trap 'exit 9' TERM; sleep 600 & wait", 9)):
            shell = f"exec {' '.join(ways(folder)[way])} -- sh -c \"exec 2>{folder}/ready; {script}\""
            with started(["sh", "-c", shell]) as process:
                good = settled(process)
                os.kill(process.pid, signal.SIGINT)
                process.wait(60)
                checks.check(f"{way}: SIGINT, {name}", good and process.returncode == status,
                             f"settled {good}, status {process.returncode}, wanted {status}")


def ignored_signals(folder):
    """strobe may start with SIGCHLD and SIGPIPE ignored, and commands inherit that."""
    ignoring = [sys.executable, "-c", "import os, signal, sys\n"
                "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                "signal.signal(signal.SIGPIPE, signal.SIG_IGN)\n"
                "os.execv(sys.argv[1], sys.argv[1:])", *ways(folder)["report"], "--"]
    result = run([*ignoring, "sh", "-c", "exit 5"])
    checks.check("ignored signals: the status", result.status == 5, str(result))
    result = run([*ignoring, "grep", "SigIgn", "/proc/self/status"])
    ignored = int(result.out.split("SigIgn:")[1].split()[0], 16) if "SigIgn:" in result.out else 0
    with open("/proc/self/status", encoding="ascii") as file:
        own = int(file.read().split("SigIgn:")[1].split()[0], 16)
    wanted = own | 1 << signal.SIGCHLD - 1 | 1 << signal.SIGPIPE - 1
    checks.check("ignored signals: the command inherits them, and no others",
                 ignored == wanted, str(result))


def on_the_screen(folder):
    try:
        screen = Screen([strobe, "--", os.path.join(folder, "nothing")])
    except ImportError:
        checks.skip("a command that is not there, on the screen", "no pyte")
        return
    status = screen.wait()
    screen.close()
    checks.check("a command that is not there, on the screen",
                 status is not None and os.waitstatus_to_exitcode(status) == 127, f"status {status}")
    screen = Screen([strobe, "--", "sh", "-c", "exit 7"])
    shown = screen.until(lambda text: "status 7" in text or "exit 7" in text and "ended" in text)
    screen.send("q")
    status = screen.wait()
    text = screen.text()
    screen.close()
    checks.check("the screen has a status of its own", shown and status == 0, f"status {status}, {text}")


with tempfile.TemporaryDirectory(prefix="strobe-status-") as top:
    of_commands(top)
    own_failures(top)
    cut_short(top)
    signalled(top)
    ignored_signals(top)
    on_the_screen(top)
checks.finish()
