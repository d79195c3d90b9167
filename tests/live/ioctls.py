#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel opens an event but refuses to enable it: strobe reports the cause, and fails without
samples or counts.

A seccomp filter refuses single ioctls, like that of a container.

usage: ioctls.py STROBE SHARES                 (the program, and a workload)
       ioctls.py --refuse CALL ARGUMENT VALUE ERRNO COMMAND...   (a command under such a filter)
"""

import ctypes
import errno
import json
import os
import platform
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, run, started  # noqa: E402

checks = Checks()
ENABLE, REFRESH, SET_OUTPUT, ID = 0x2400, 0x2402, 0x2405, 0x80082407
SET_FILTER = 0x40082406
IOCTL, PRCTL = {"x86_64": (16, 157), "aarch64": (29, 167)}.get(platform.machine(), (None, None))
PR_TASK_PERF_EVENTS_ENABLE = 32
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN, ALLOW, REFUSE = 0x20, 0x15, 0x06, 0x7fff0000, 0x00050000


def refuse(call, argument, value, error):
    """Make calls with this argument fail in this process and its children from now on."""
    program = b"".join(struct.pack("=HBBI", *line) for line in [
        (LOAD, 0, 0, 0),  # the system call's number
        (EQUAL, 0, 3, call),
        (LOAD, 0, 0, 16 + 8 * argument),  # its lower half
        (EQUAL, 0, 1, value),
        (RETURN, 0, 0, REFUSE | error),
        (RETURN, 0, 0, ALLOW),
    ])
    lines = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(lines))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0):
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def refusing(call, argument, value, error, command):
    numbers = [str(number) for number in (call, argument, value, error)]
    return [sys.executable, os.path.abspath(__file__), "--refuse", *numbers, *command]


def under(request, error, command):
    return run(refusing(IOCTL, 1, request, error, command))


def refused(name, result, *wanted, head="cannot sample"):
    missing = [text for text in wanted if not re.search(text, result.err)]
    checks.check(name, not result.hung and result.status == 1 and not missing
                 and len(re.findall(head, result.err)) == 1, f"missing {missing}; {result}")


def stat(strobe):
    """strobe stat names the ioctl, not a cause that the same error has when an event is opened."""
    command = [strobe, "stat", "-e", "page-faults", "--", "true"]
    for error in (errno.EPERM, errno.EBUSY, errno.EINVAL, errno.ENODEV):
        refused(f"stat: ID is refused, {errno.errorcode[error]}", under(ID, error, command),
                "cannot count 'page-faults'", "opened the event, and PERF_EVENT_IOC_ID", head="cannot count")
    refused("stat: ID is refused, default events", under(ID, errno.EBUSY, [strobe, "stat", "--", "true"]),
            "PERF_EVENT_IOC_ID", head="cannot count")
    refused("stat: ID is refused, in a group",
            under(ID, errno.EBUSY, [strobe, "stat", "-e", "{page-faults,minor-faults}", "--", "true"]),
            "cannot count 'page-faults'", "PERF_EVENT_IOC_ID", head="cannot count")
    everything = [strobe, "stat", "--format", "json", "-e", "task-clock,page-faults", "-a", "--", "true"]
    result = under(ENABLE, errno.EPERM, everything)
    checks.check("stat: one call enables all events, without ENABLE", result.status == 0, result)
    refused("stat: that call and ENABLE are refused",
            under(ENABLE, errno.EPERM, refusing(PRCTL, 0, PR_TASK_PERF_EVENTS_ENABLE, errno.EPERM, everything)),
            "cannot count 'task-clock'", "PERF_EVENT_IOC_ENABLE", "seccomp", head="cannot count")
    filtered = [strobe, "stat", "-e", "sched:sched_switch", "--filter", "prev_pid > 0", "--", "true"]
    if run(filtered).status:
        checks.skip("stat: SET_FILTER is refused", "no tracepoints for this user")
        return
    for error, why in ((errno.EPERM, "seccomp"), (errno.EBUSY, os.strerror(errno.EBUSY))):
        refused(f"stat: SET_FILTER is refused, {errno.errorcode[error]}", under(SET_FILTER, error, filtered),
                "the filter 'prev_pid > 0'", "PERF_EVENT_IOC_SET_FILTER", why, head="is refused:")


def main():
    strobe, shares = sys.argv[1:3]
    command = ["--", "sh", "-c", f"exec {shares} 1 >/dev/null"]
    if not IOCTL:
        checks.skip("all", f"no number of ioctl(2) on {platform.machine()} is known here")
        checks.finish()
    plain = run([strobe, "report", "-e", "cpu-clock", *command])
    if plain.status or under(REFRESH, errno.EPERM, ["true"]).status:
        checks.skip("all", f"no events, or no seccomp filters for this user: {plain.err.strip()[-200:]}")
        checks.finish()
    # A command's own events are enabled by its exec, without an ioctl.
    with started([shares, "0"]) as work:
        for scope in ("task", "cpu", "inherit"):
            for event, period in (("cpu-clock", []), ("page-faults", ["-c", "1"])):
                refused(f"ENABLE is refused, {event}, --scope {scope}",
                        under(ENABLE, errno.EPERM, [strobe, "report", "-e", event, *period, "--no-credit",
                                                    "--scope", scope, "-p", str(work.pid), "--duration", "0.3"]),
                        event, "PERF_EVENT_IOC_ENABLE", "seccomp")
    with tempfile.TemporaryDirectory() as folder:
        refused("record: ENABLE is refused",
                under(ENABLE, errno.EPERM, [strobe, "record", "-o", os.path.join(folder, "data"), "-e", "cpu-clock",
                                            "-a", "--duration", "0.3"]), "PERF_EVENT_IOC_ENABLE")
    # cpu-clock replaces cycles if there is no hardware counter.
    default = [strobe, "report", "--format", "json", "-a", "--no-credit", "--duration", "0.1"]
    name = json.loads(run(default).out)["events"][0]["name"]
    refused(f"ENABLE is refused, {name} opened by default", under(ENABLE, errno.EPERM, default),
            f"cannot sample '{re.escape(name)}'", "PERF_EVENT_IOC_ENABLE")
    refused("an ioctl that the kernel does not have",
            under(ENABLE, errno.ENOTTY, [strobe, "report", "-e", "cpu-clock", "-a", "--no-credit",
                                         "--duration", "0.1"]), "PERF_EVENT_IOC_ENABLE", "kernel")
    for request, text in ((SET_OUTPUT, "PERF_EVENT_IOC_SET_OUTPUT"), (ID, "PERF_EVENT_IOC_ID")):
        for scope in ("task", "cpu"):
            refused(f"{text} is refused, --scope {scope}",
                    under(request, errno.EPERM, [strobe, "report", "-e", "cpu-clock", "--scope", scope, *command]),
                    text)
    for scope in ("task", "cpu"):
        result = under(REFRESH, errno.EPERM, [strobe, "report", "--format", "json", "-e", "cpu-clock",
                                              "--scope", scope, *command])
        try:
            samples = json.loads(result.out)["events"][0]["samples"]
        except (ValueError, KeyError, IndexError):
            samples = -1
        checks.check(f"without REFRESH it samples without a limit, and says so, --scope {scope}",
                     result.status == 0 and samples > 0 and "PERF_EVENT_IOC_REFRESH" in result.out,
                     f"{samples} samples; {result}")
    stat(strobe)
    checks.finish()


if __name__ == "__main__":
    if sys.argv[1] == "--refuse":
        refuse(*(int(word) for word in sys.argv[2:6]))
        os.execvp(sys.argv[6], sys.argv[6:])
    main()
