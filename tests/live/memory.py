#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe's account of its own memory against the kernel's: on the help screen, and in JSON.

usage: memory.py STROBE
"""

import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe = os.path.abspath(sys.argv[1])
UNITS = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
NAMES = ("of memory", "history", "names and tables", "symbols", "program and libraries", "freed and kept", "not touched yet")


def account(text):
    """Return the numbers of the sentence, in bytes."""
    text = " ".join(text.split())
    found = {}
    for name in NAMES:
        number = re.search(r"([0-9.]+) ([kMG]?B) " + name, text)
        if number:
            found[name] = float(number.group(1)) * UNITS[number.group(2)]
    return found


def kernel(pid):
    """Return the resident bytes, and the untouched bytes of writable private anonymous memory.

    Stacks do not count as untouched; a stack follows a guard page."""
    resident = untouched = size = 0
    guarded = stack = private = False
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as smaps:
        for line in smaps:
            fields = line.split()
            if re.match(r"^[0-9a-f]+-[0-9a-f]+ ", line):
                start, end = (int(part, 16) for part in fields[0].split("-"))
                stack = guarded or "[stack" in line
                guarded = fields[1] == "---p" and end - start == 4096
                private = fields[1] == "rw-p" and fields[4] == "0" and not stack
            elif fields[0] == "Size:":
                size = int(fields[1]) * 1024
            elif fields[0] == "Rss:":
                resident += int(fields[1]) * 1024
                untouched += size - int(fields[1]) * 1024 if private else 0
    return resident, untouched


def test_screen():
    screen = common.Screen([strobe, "live", "-a", "-F", "997"], columns=120, rows=40)
    try:
        if not screen.until(" samples "):
            checks.skip("the account on the help screen", "no samples of the whole machine here: " + screen.text()[:300])
            return
        screen.send("?")
        if not checks.check("? tells what memory is taken for", screen.until("buffers in the kernel"), screen.text()):
            return
        # The account is refreshed every few seconds, so wait until it agrees with the kernel's
        # numbers.
        seen = []

        def agrees(text):
            told = account(text)
            resident, untouched = kernel(screen.pid)
            seen[:] = [told, resident, untouched]
            parts = sum(told.get(name, 0) for name in NAMES[1:-1])
            return (abs(told.get("of memory", 0) - resident) < 0.06 * resident and
                    abs(parts - untouched - resident) < 0.10 * resident)

        checks.amount("its sum is what the kernel says is resident, within a tenth", screen.until(agrees), seen)
        screen.send("qq")
        checks.check("it ends", screen.wait() is not None, screen.text())
    finally:
        screen.close()


def test_json():
    result = common.run([strobe, "report", "-F", "997", "--format", "json", "--", "sh", "-c", "for i in 1 2 3; do ls -R /etc >/dev/null; done"])
    try:
        memory = json.loads(result.out)["memory"]
    except (ValueError, LookupError) as error:
        checks.check("JSON tells of memory", False, (error, str(result)))
        return
    parts = sum(memory[name + "_bytes"] for name in ("history", "tables", "symbols", "program", "unused"))
    checks.check("JSON: each part is there, and the history is within its limit", parts > 0 and
                 0 < memory["history_bytes"] <= memory["history_limit_bytes"] <= 256 << 20, memory)


def limited(size, *command):
    """Run a command in a cgroup with a memory limit, and return its result; None if no cgroup can
    be made."""
    for root, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = f"{root}/strobe-test-{os.getpid()}"
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            with open(f"{folder}/{file}", "w", encoding="ascii") as limit:
                limit.write(str(size))
            return common.run(["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', folder, *command])
        except OSError:
            continue
        finally:
            # The processes have ended, but the kernel may need a moment to notice.
            for _ in range(500):
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    time.sleep(0.01)
    return None


def test_limit():
    name = "a limit of the cgroup"
    command = [strobe, "report", "-a", "-g", "-F", "4999", "--duration", "1", "--format", "json"]
    result = limited(64 << 20, *command)
    if result is None or "cannot create" in result.err:
        checks.skip(name, "no cgroup can be made that limits memory")
        return
    try:
        told = json.loads(result.out)
        checks.check(f"{name}: the history takes a quarter", told["memory"]["history_limit_bytes"] == 16 << 20, told["memory"])
        checks.check(f"{name}: a note says so", any("cgroup of strobe" in note for note in told["notes"]), told["notes"])
        told = json.loads(limited(64 << 20, *command, "--memory", "20M").out)
        checks.check(f"{name}: --memory goes before it", told["memory"]["history_limit_bytes"] == 20 << 20 and
                     not any("cgroup of strobe" in note for note in told["notes"]), told["notes"])
    except (ValueError, LookupError) as error:
        checks.check(name, False, (error, str(result)))


test_json()
if common.is_sanitized(strobe):
    checks.skip("the account on the help screen", "a sanitizer's memory is nobody's")
else:
    test_limit()
    test_screen()
checks.finish()
