#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hundred malformed ELF files as executed mappings of a live target: none disturbs the profile.

usage: bad_images.py STROBE STUBS SOURCE_ELF MAKE_BAD_ELF

The files' own pages hold no sensible code, so the target (tests/workloads/stubs.c) runs a loop
in private copies of them.  For the kernel and strobe these are still mappings of the files.  A
third of the files have names with escape sequences.  The target's own CPU time is the expected
result.  Further cases are valid images that are easily mistaken for others: the vdso of a 32-bit
program, and files on overlay mounts.
"""

import contextlib
import json
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, run, started  # noqa: E402

checks = Checks()

POINTS = 2.0
EVIL = "\033]0;owned\007\033[2J\r\n"


def make_files(make_bad_elf, folder, source):
    """Make the files, give a third of them names with escape sequences, and return their number."""
    subprocess.run([sys.executable, make_bad_elf, folder, source], check=True)
    names = sorted(os.listdir(folder))
    for name in names[::3]:
        os.rename(os.path.join(folder, name), os.path.join(folder, name + EVIL))
    return len(names)


def raw_bytes(text):
    return [c for c in text if ord(c) < 32 and c not in "\n\r\t" or 0x7f <= ord(c) < 0xa0]


def counters(path):
    with open(path, "rb") as file:
        return struct.unpack("QQ", file.read(16))


def children(pid):
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    return found


def is_helper(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read() == "strobe-symbols\n"
    return False


class Killer(threading.Thread):
    """Kills the first worker, or both it and its spawner, of the next strobe of this process."""

    def __init__(self, spawner_too):
        super().__init__()
        self.spawner_too = spawner_too
        self.killed = 0
        self.ended = threading.Event()

    def helpers(self):
        for strobe in children(os.getpid()):
            for spawner in filter(is_helper, children(strobe)):
                for worker in filter(is_helper, children(spawner)):
                    return [spawner, worker]
        return []

    def run(self):
        while not self.killed and not self.ended.wait(0.001):
            found = self.helpers()
            for pid in found if self.spawner_too else found[1:]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.killed += 1


def profile(strobe, counts, *arguments):
    """Report on the target: (rows, notes, result, truth). truth: the target's own count of its
    known work in percent."""
    before = counters(counts)
    result = run([strobe, "report", "--duration", "3", "-F", "4000", "--format", "json", *arguments],
                 timeout=120)
    after = counters(counts)
    try:
        found = json.loads(result.out)
    except ValueError:
        return [], [], result, 0
    known, pages = after[0] - before[0], after[1] - before[1]
    return found["events"][0]["rows"], found["notes"], result, 100 * known / max(1, known + pages)


def check_profile(name, files, rows, result, truth):
    """The known function's share is right, and each file has a share of its own."""
    bad = [row for row in rows if re.match(r"\d\d-", row["image"])]
    images = {row["image"] for row in bad}
    known = sum(row["self_percent"] for row in rows if row["symbol"] == "stubs_known"
                and row["image"] == "stubs")
    rest = sum(row["self_percent"] for row in bad)
    # Neither sum has time in the kernel: compare within the time that both sides see.
    share = 100 * known / max(1e-9, known + rest)
    checks.check(f"{name}: the known function is there", result.status == 0 and known > 0, f"{rows[:3]}, {result}")
    checks.amount(f"{name}: the known function's share", abs(share - truth) < POINTS,
                  f"{share} instead of {truth}, {rows[:3]}, {result}")
    checks.check(f"{name}: files are there, and no others", 0 < len(images) <= files,
                 f"{len(images)} of {files}: {result}")
    checks.amount(f"{name}: all files are there", len(images) == files, f"{len(images)} of {files}: {result}")
    most = max((sum(row["self_percent"] for row in bad if row["image"] == image) for image in images),
               default=100)
    checks.amount(f"{name}: none has another's share", most < 4 * rest / max(1, files), f"{most} of {rest}")
    names = "".join(row["symbol"] + row["image"] for row in rows)
    raw = raw_bytes(result.out + result.err + names)
    checks.check(f"{name}: nothing of a name comes out raw", not raw, f"{raw[:5]}")


NARROW = """
        .globl _start
_start: mov (%esp), %eax
        lea 8(%esp,%eax,4), %esi        # the environment
1:      lodsl
        test %eax, %eax
        jnz 1b
2:      lodsl                           # the auxiliary vector, up to AT_SYSINFO
        mov %eax, %ecx
        lodsl
        cmp $32, %ecx
        jne 2b
        mov %eax, %edi
        mov $4, %eax
        mov $1, %ebx
        mov $ready, %ecx
        mov $6, %edx
        int $0x80
3:      mov $20, %eax                   # getpid(2), by way of the vdso
        call *%edi
        jmp 3b
ready:  .ascii "ready\\n"
"""


def narrow(strobe, folder):
    """The vdso of a 32-bit program differs from strobe's own."""
    name, program = "a 32-bit program's vdso", os.path.join(folder, "narrow")
    built = subprocess.run(["cc", "-m32", "-nostdlib", "-static", "-no-pie", "-x", "assembler", "-o", program, "-"],
                           input=NARROW, text=True, capture_output=True, check=False)
    if built.returncode:
        checks.skip(name, f"cannot be built here: {built.stderr[:200]}")
        return
    try:
        with started([program], wait_for="ready") as work:
            result = run([strobe, "report", "--duration", "1", "--format", "json", "-p", str(work.pid)],
                         timeout=120)
    except (OSError, RuntimeError) as error:
        checks.skip(name, f"cannot be run here: {error}")
        return
    rows = json.loads(result.out)["events"][0]["rows"]
    found = {row["symbol"] for row in rows if row["image"] == "[vdso]"}
    checks.check(name, found == {"__kernel_vsyscall"}, f"{found} {result}")


# The program uses the library next to it: LD_LIBRARY_PATH is unset.
LAYERS = """
mount -t tmpfs none {at} && mkdir {at}/upper {at}/work {at}/merged &&
mount -t overlay overlay -o lowerdir={lower},upperdir={at}/upper,workdir={at}/work {at}/merged &&
unset LD_LIBRARY_PATH && {change} echo ready && exec {at}/merged/shares 0
"""


def layers(strobe, folder, shares):
    """Two containers share a layer: one file has two devices, but is one image.  A file that one
    container has changed is another image."""
    lower, at = os.path.join(folder, "lower"), os.path.join(folder, "at")
    os.mkdir(lower)
    os.mkdir(at)
    for path in (shares, os.path.join(os.path.dirname(shares), "libshares_lib.so")):
        shutil.copy(path, lower)
    # A changed build-id makes the library a different file.
    build_id = "$(LC_ALL=C grep -obUaP 'GNU\\x00' {lib} | head -1 | cut -d: -f1)"
    lib = f"{at}/merged/libshares_lib.so"
    change = (f"printf X | dd of={lib} bs=1 conv=notrunc status=none "
              f"seek=$(( {build_id.format(lib=lib)} + 4 )) &&")
    try:
        with contextlib.ExitStack() as stack:
            pids = [stack.enter_context(started(
                ["unshare", "-m", "sh", "-c", LAYERS.format(at=at, lower=lower, change=step)],
                wait_for="ready")).pid for step in ("", change)]
            result = run([strobe, "report", "--duration", "2", "--format", "json", "-p",
                          ",".join(map(str, pids))], timeout=120)
    except (OSError, RuntimeError) as error:
        checks.skip("containers with a common layer", f"no overlay mounts here: {error}")
        return
    rows = json.loads(result.out)["events"][0]["rows"]
    for symbol, wanted, low, high in (("shares_hot", 1, 60, 80), ("shares_warm", 2, 12, 28)):
        found = [row["self_percent"] for row in rows if row["symbol"] == symbol]
        checks.check(f"containers with a common layer: {symbol}", len(found) == wanted, f"{found} {result}")
        checks.amount(f"containers with a common layer: the share of {symbol}", low < sum(found) < high,
                      f"{found} {result}")


def main():
    if platform.machine() != "x86_64":
        checks.skip("malformed images", "the code to run in them is for x86-64 only")
        checks.finish()
    strobe, stubs, source, make_bad_elf = (os.path.abspath(path) for path in sys.argv[1:5])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        files, counts = os.path.join(folder, "files"), os.path.join(folder, "counters")
        n = make_files(make_bad_elf, files, source) - 1  # one file has no bytes to run
        with started([stubs, files, "map", counts], wait_for=f"ready {n}") as work:
            rows, notes, result, truth = profile(strobe, counts, "-p", str(work.pid))
            check_profile("mapped before", n, rows, result, truth)
            checks.check("what cannot be read is said", any("it is damaged" in note for note in notes)
                         and any("of no format that is known here" in note for note in notes), str(notes))
            # The checks above judge whether all files have samples.
            named = [row["symbol"] for row in rows if "note-id" in row["image"]]
            checks.check("a good name is still found in a file with some of its tables broken",
                         "_init" in named or not named, str((named, rows[:20])))
            for name, spawner_too in (("its worker killed", False), ("worker and spawner killed", True)):
                os.environ["XDG_CACHE_HOME"] = os.path.join(folder, name)
                killer = Killer(spawner_too)
                killer.start()
                rows, notes, result, truth = profile(strobe, counts, "-p", str(work.pid))
                killer.ended.set()
                killer.join()
                checks.check(f"{name}: it was", killer.killed == 1 + spawner_too, str(killer.killed))
                check_profile(name, n, rows, result, truth)
                checks.check(f"{name}: names still come",
                             any(row["symbol"] == "_init" for row in rows)
                             and not any("cannot be started" in note for note in notes), str(notes))
        with started([stubs, files, "remap", counts], wait_for=f"ready {n}") as work:
            rows, notes, result, truth = profile(strobe, counts, "-p", str(work.pid))
            check_profile("mapped meanwhile", n, rows, result, truth)
        narrow(strobe, folder)
        layers(strobe, folder, source)
    checks.finish()


if __name__ == "__main__":
    main()
