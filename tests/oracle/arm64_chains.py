#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads an arm64 recording of perf record --call-graph dwarf on any machine.

Each sample has the program's callers.  fixtures/chains_arm64.tar.xz has the recording, the program
(fixtures/chains_arm64.c) and the vdso, both by build-id.  It was made in the guest of tests/vm on
QEMU's -cpu max,sve=off,pauth-impdef=on, one CPU, with perf 6.1:

    perf record -e instructions:u -c 1000003 --call-graph dwarf,65528 -o perf.data -- chains_arm64

perf script shows no more than the leaf's caller.  The program's code gives the expected chains.

usage: arm64_chains.py STROBE FIXTURE
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "fixtures")]
from chains_arm64 import PATHS, SIGNAL, is_known, stacks  # noqa: E402
from checks import Checks  # noqa: E402

checks = Checks()
strobe = os.path.abspath(sys.argv[1])
PERIOD = 1000003
SAMPLES = {
    "_start;begin;plain;middle;spin": 7,
    "_start;begin;moved;middle;spin": 8,
    "_start;begin;large;middle;spin": 7,
    "_start;begin;recurse;recurse;recurse;recurse;recurse;spin": 8,
    "_start;begin;often": 2,
    "_start;begin;often;twice;leaf": 3,
    f"_start;begin;signalled;interrupted;{SIGNAL};handler;handled;spin": 8,
}


def run(folder, *arguments):
    """Runs strobe, which finds files only below the folder."""
    environment = os.environ | {"HOME": folder, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
    return subprocess.run([strobe, *arguments], capture_output=True, text=True, check=False, env=environment, cwd=folder)


def read(folder):
    done = run(folder, "export", "perf.data", "--symfs", folder, "--format", "folded")
    found, in_kernel = stacks(done.stdout)
    return {stack: weight // PERIOD for stack, weight in found.items()}, in_kernel, done.stderr


def percent(folder):
    done = run(folder, "report", "perf.data", "--symfs", folder, "--format", "json")
    try:
        return json.loads(done.stdout)["events"][0]["chains_whole_percent"]
    except (ValueError, LookupError) as error:
        return f"{error}: {done.stdout[-500:]} {done.stderr}"


with tempfile.TemporaryDirectory() as made:
    with tarfile.open(sys.argv[2]) as archive:
        archive.extractall(made)
    got, kernel, said = read(made)
    checks.check("all samples have the program's chains", got == SAMPLES, f"{got} {said}")
    checks.check("all paths are among them", PATHS <= got.keys() and all(map(is_known, got)), got)
    # large() touches a page for the first time: the kernel copied no stack, and x30 has the caller.
    checks.check("a chain without a copy is cut behind the leaf's caller", kernel == {"[truncated];begin;large": PERIOD}, kernel)
    checks.check("the report says how many are whole", percent(made) == 97.7273, percent(made))
    script = run(made, "export", "perf.data", "--symfs", made, "--format", "script").stdout
    cut = [line for line in script.splitlines() if "[truncated]" in line]
    checks.check("in a script the cut is a frame without a place", cut == [f"\t{0:16} [truncated] ([unknown])"], cut)

    shutil.rmtree(os.path.join(made, ".build-id", "0e"))
    shutil.rmtree(os.path.join(made, "cache"), ignore_errors=True)
    got, kernel, said = read(made)
    unnamed = {stack.replace(SIGNAL, "[[vdso]]"): samples for stack, samples in SAMPLES.items()}
    checks.check("without the vdso its trampoline is known all the same", got == unnamed, f"{got} {said}")

    shutil.rmtree(os.path.join(made, ".build-id", "4c"))
    shutil.rmtree(os.path.join(made, "cache"), ignore_errors=True)
    checks.check("without the program no chain is called whole", percent(made) == 0, percent(made))
checks.finish()
