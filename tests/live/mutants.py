#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged jitdumps and separate debug files, with the whole of strobe.

Each report comes, with or without names, and no process crashes on a file.

usage: mutants.py STROBE JIT MAKE_BAD_ELF
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures"))
import checks as common  # noqa: E402
from make_bad_elf import Numbers  # noqa: E402

checks = common.Checks()
strobe, jit, make_bad_elf = (os.path.abspath(path) for path in sys.argv[1:4])
HOT = "py::hot:/home/me/a program.py"
ENV = {"XDG_CACHE_HOME": "/dev/null"}
SOURCE = "int main(void) { volatile int i = 0; while (i < 300000000) i++; return 0; }"
# Every fifth malformed file is enough for one run.
STEP = 5


def look(name, wanted, *arguments):
    """Report on a recording; True if the report contains the wanted name."""
    result = common.run([strobe, "report", *arguments], env=ENV, timeout=60)
    said = result.out + result.err
    good = result.status == 0 and not result.hung and "cpu-clock" in result.out
    if not good or "is not read again" in said:
        checks.check(name, False, result)
    return wanted in result.out


def dump_mutants(whole):
    """Yield dumps that are cut, have flipped bits, or have other sizes and counts."""
    numbers = Numbers(7)
    for _ in range(8):
        yield whole[:numbers.below(len(whole))]
    for _ in range(12):
        data = bytearray(whole)
        for _ in range(1 + numbers.below(16)):
            data[numbers.below(len(data))] ^= 1 << numbers.below(8)
        yield bytes(data)
    # Offsets of words in the header and records: sizes, addresses, line counts.
    for word in (0, 0x7fffffff):
        for at in (4, 8, 12, 40, 44, 56, 64, 72, 80, 88):
            if at + 4 <= len(whole):
                yield whole[:at] + word.to_bytes(4, "little") + whole[at + 4:]


def jitdumps(folder):
    data = os.path.join(folder, "jit.data")
    made = common.run([strobe, "record", "-e", "cpu-clock", "-F", "499", "-o", data, "--", jit, "dump", "0.3"], cwd=folder)
    dumps = [name for name in os.listdir(folder) if name.startswith("jit-")]
    if made.status or len(dumps) != 1:
        checks.skip("jitdumps", f"nothing can be recorded: {made}")
        return
    path = os.path.join(folder, dumps[0])
    with open(path, "rb") as file:
        whole = file.read()
    checks.check("a sound jitdump has names", look("a sound jitdump", HOT, data))
    named = failed = n = 0
    before = checks.failed
    for mutant in dump_mutants(whole):
        with open(path, "wb") as file:
            file.write(mutant)
        named += look(f"jitdump {n}", HOT, data)
        n += 1
    failed = checks.failed - before
    checks.check(f"{n} damaged jitdumps are read without harm", n and not failed and 0 < named < n, (named, failed))


def debug_files(folder):
    program, whole = os.path.join(folder, "program"), os.path.join(folder, "whole")
    built = subprocess.run(["cc", "-g", "-O0", "-x", "c", "-Wl,--build-id=sha1", "-o", program, "-"], input=SOURCE, text=True,
                           capture_output=True, check=False)
    if built.returncode or not shutil.which("objcopy"):
        checks.skip("debug files", f"cannot be made here: {built.stderr[:200]}")
        return
    said = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", said)[1]
    subprocess.run(["objcopy", "--only-keep-debug", program, whole], check=True)
    subprocess.run(["strip", "-s", program], check=True)
    data, bad = os.path.join(folder, "program.data"), os.path.join(folder, "bad")
    made = common.run([strobe, "record", "-e", "cpu-clock", "-F", "499", "-o", data, "--", program])
    if made.status:
        checks.skip("debug files", f"nothing can be recorded: {made}")
        return
    place = os.path.join(folder, "debug/.build-id", build_id[:2])
    os.makedirs(place)
    place = os.path.join(place, build_id[2:] + ".debug")
    options = [data, "--debug-dir", os.path.join(folder, "debug")]
    shutil.copy(whole, place)
    checks.check("a sound debug file has names", look("a sound debug file", " main ", *options))
    subprocess.run([sys.executable, make_bad_elf, bad, whole], check=True)
    names = sorted(os.listdir(bad))[::STEP]
    before = checks.failed
    named = 0
    for name in names:
        shutil.copy(os.path.join(bad, name), place)
        named += look(f"debug file {name}", " main ", *options)
    failed = checks.failed - before
    checks.check(f"{len(names)} damaged debug files are read without harm", names and not failed,
                 (named, failed))


def main():
    with tempfile.TemporaryDirectory(prefix="strobe-test-mutants-") as folder:
        jitdumps(folder)
        debug_files(folder)
    checks.finish()


main()
