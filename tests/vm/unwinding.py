#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Callchains of programs without frame pointers on arm64, live: each has the true callers.

The processor signs return addresses.

usage: unwinding.py FOLDER STROBE [NATIVE STROBE]
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "fixtures")]
from chains_arm64 import CALLS, LIBC, PATHS, SIGNAL, SMALL, is_known, source, stacks  # noqa: E402
from checks import Checks  # noqa: E402
from guest import Machine, why_not  # noqa: E402

# without SVE, whose registers would fill a signal frame
PROCESSOR = "max,sve=off,pauth-impdef=on"
SCRIPT = """
grep -m 1 Features /proc/cpuinfo >features
run() { # NAME OPTIONS
    name=$1
    shift
    strobe export --format folded "$@" >$name.folded
}
run whole -e instructions:u -c 160009 --call-graph dwarf,65528 -- chains_arm64
run dwarf -e instructions:u -c 40009 --call-graph dwarf -- chains_arm64
run auto -e instructions:u -F 999 -- chains_arm64
run clock -e cpu-clock -F 999 -- chains_arm64
run often -e cpu-clock -F 1997 --call-graph dwarf,8192 -- chains_arm64
run libc -e instructions:u -c 40009 --call-graph dwarf -- chains_libc
strobe report -e instructions:u -c 160009 --call-graph dwarf,65528 --format json -- chains_arm64 >report.json
strobe record -e instructions:u -c 160009 --call-graph dwarf,65528 -o own.data -- chains_arm64
strobe export own.data --format folded >own.folded
"""


def check_small(checks, left, name, copies):
    """copies: "whole" stacks, or their "first" 16 KiB, which end within large()."""
    found, in_kernel = stacks(left.text(name + ".folded"))
    # A clock also ticks in the program's execve().
    found.pop("[truncated];[unknown]", None)
    cut = {stack for stack in found if stack.startswith("[truncated]")}
    wrong = {stack for stack in found.keys() - cut if not is_known(stack)}
    checks.check(f"{name}: each chain is one of the program's", found and not wrong, f"{wrong} {found} {left}")
    wanted = {path for path in PATHS if copies == "whole" or "large" not in path}
    checks.check(f"{name}: all paths are there", wanted <= found.keys(), f"{wanted - found.keys()}: {found}")
    # A clock also ticks in large() and middle() themselves.
    allowed = set() if copies == "whole" else {"[truncated];begin;large;middle;spin"}
    early = {stack for stack in cut if any(one.startswith(stack + ";") for one in allowed) and "large" in stack}
    checks.check(f"{name}: none is cut but by the copy", cut - early == allowed, cut)
    # No copy contains a page that was touched for the first time.
    edges = {(caller, callee) for stack in in_kernel for caller, callee in zip(stack.split(";"), stack.split(";")[1:])}
    odd = [edge for edge in edges if edge[0] != "[truncated]" and edge[1] not in CALLS.get(edge[0], ())]
    checks.check(f"{name}: in the kernel, callers are the program's", not odd, f"{odd}: {in_kernel}")


def check_libc(checks, left):
    found, _ = stacks(left.text("libc.folded"))
    program = {"main", "sorted", "caught", "compare", "handler", "spin", SIGNAL, "_start"}
    short = {}
    for stack, weight in found.items():
        names = [name for name in stack.split(";") if name in program or name == "[truncated]"]
        short[";".join(names)] = short.get(";".join(names), 0) + weight
    wanted = {"_start;main;sorted;compare;spin", f"_start;main;caught;{SIGNAL};handler;spin"}
    checks.check("libc: chains pass qsort() and raise()", wanted <= short.keys(), f"{short} {found} {left}")
    whole = sum(short.get(stack, 0) for stack in wanted)
    checks.check("libc: nearly all samples are there", whole >= sum(found.values()) * 0.95, short)


def main():
    checks = Checks()
    reason = why_not("arm64", sys.argv[1])
    if reason:
        checks.skip("call chains on arm64", reason)
        checks.finish()
    with tempfile.TemporaryDirectory() as made:
        files = {}
        for name, options in (("chains_arm64", SMALL), ("chains_libc", LIBC)):
            files["bin/" + name] = os.path.join(made, name)
            subprocess.run(["aarch64-linux-gnu-gcc", f"--sysroot={sys.argv[1]}/sysroot", *options, "-o",
                            files["bin/" + name], source(name)], check=True)
        left = Machine("arm64", sys.argv[1], sys.argv[2]).run(SCRIPT, files, cpus=1, processor=PROCESSOR)
    if not checks.check("the guest ran", left.status == 0, left):
        checks.finish()
    checks.check("return addresses are signed", "paca" in left.text("features"), left.text("features"))
    for name, copies in (("whole", "whole"), ("dwarf", "first"), ("auto", "first"), ("clock", "first"), ("often", "first"),
                         ("own", "whole")):
        check_small(checks, left, name, copies)
    check_libc(checks, left)
    try:
        percent = json.loads(left.text("report.json"))["events"][0]["chains_whole_percent"]
    except (ValueError, LookupError) as error:
        percent = f"{error}: {left.text('report.json')[-1000:]}"
    checks.check("report: it says that nearly all are whole", isinstance(percent, (int, float)) and percent > 95, percent)
    checks.finish()


if __name__ == "__main__":
    main()
