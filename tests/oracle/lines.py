#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares source lines and inlined functions with llvm-symbolizer and addr2line.

The addresses are random.  The files are libc with its separate debug file, and a C++ program that
gcc and clang build at -O2 with DWARF 4 and 5.  The program is plain, compressed, split, a package
of split units, or has the common parts of its units in another file.

usage: lines.py DUMP_LINES [--many]

--many: 2,000 addresses of each, and the standard library in the program
"""

import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
import lines_names  # noqa: E402

checks = Checks()
dump = os.path.abspath(sys.argv[1])
many = "--many" in sys.argv
COUNT = 2000 if many else 200
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lines_program.cc")
ENOUGH_LINES = 60  # in 100 addresses


def text_of(file):
    """Returns (address, length) of the code."""
    shown = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True).stdout
    row = re.search(r"\] \.text +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", shown)
    return int(row[1], 16), int(row[2], 16)


def some_addresses(file):
    start, length = text_of(file)
    picked = random.Random(4711)
    return sorted({start + picked.randrange(length) for _ in range(COUNT)})


def compare(name, files, addresses, theirs, symbols):
    """Checks strobe's lines of the files; returns them."""
    mine, _ = lines_names.ours(dump, files, addresses)
    rules, wrong = collections.Counter(), []
    for address, own, other in zip(addresses, mine, theirs):
        rule = lines_names.llvm_differs(address, own, other, symbols)
        if rule is None:
            wrong.append(f"{address:#x}: {own}, llvm-symbolizer {other}")
        elif rule:
            rules[rule] += 1
    known = sum(frames[0][2] > 0 for frames in mine)
    inlined = sum(len(frames) > 1 for frames in mine)
    checks.check(f"{name}: as llvm-symbolizer", len(mine) == len(theirs) == len(addresses) and not wrong,
                 f"{len(wrong)} of {len(addresses)} differ: " + "; ".join(wrong[:3]))
    checks.check(f"{name}: lines are known", 100 * known > ENOUGH_LINES * len(addresses) and inlined,
                 f"{known} of {len(addresses)}, {inlined} inlined")
    print(f"    {len(addresses)} addresses, {known} with a line, {inlined} inlined; by rule: {dict(rules)}")
    return mine


def check_addr2line(name, file, addresses, mine, knows_inlining):
    """Prints how addr2line differs where strobe and llvm-symbolizer agree (lines_names.py)."""
    try:
        theirs = lines_names.of_addr2line(file, addresses)
    except subprocess.CalledProcessError as error:
        print(f"    addr2line fails: {error}")
        return
    kinds = collections.Counter(lines_names.addr2line_differs(own, other) for own, other in zip(mine, theirs))
    equal = kinds.pop("", 0)
    print(f"    addr2line: {equal} equal, otherwise: {dict(kinds)}")
    if knows_inlining:
        checks.check(f"{name}: inlined as for addr2line", not kinds["stack"], dict(kinds))


def check_libc():
    path = next((path for path in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6")
                 if os.path.exists(path)), None)
    notes = subprocess.run(["readelf", "-n", path or "/"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"Build ID: (\w\w)(\w+)", notes)
    debug = f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug" if found else ""
    if not os.path.exists(debug):
        checks.skip("libc", "libc6-dbg is not installed")
        return
    addresses = some_addresses(path)
    mine = compare("libc", [path, debug], addresses, lines_names.of_llvm(debug, addresses), lines_names.Symbols(debug))
    check_addr2line("libc", debug, addresses, mine, True)


def build(folder, compiler, *options):
    os.mkdir(folder)
    common = [compiler, "-O2", "-g", *options, *(["-DWITH_STD"] if many else [])]
    for unit, extra in (("one", []), ("two", ["-DOTHER"])):
        subprocess.run([*common, *extra, "-c", PROGRAM, "-o", unit + ".o"], cwd=folder, check=True)
    subprocess.run([compiler, *options, "one.o", "two.o", "-o", "program"], cwd=folder, check=True)
    return os.path.join(folder, "program")


def check_package(name, program, addresses, mine):
    """A package gives the same frames; without it, only the lines are known."""
    folder = os.path.dirname(program)
    subprocess.run(["llvm-dwp", "-e", "program", "-o", "program.dwp"], cwd=folder, check=True)
    for unit in ("one.dwo", "two.dwo"):
        os.remove(os.path.join(folder, unit))
    package, _ = lines_names.ours(dump, [program, "-", "-", program + ".dwp"], addresses)
    checks.check(f"{name}: as a package", package == mine)
    without, _ = lines_names.ours(dump, [program], addresses)
    checks.check(f"{name}: lines without the split units", [frames[0][1:] for frames in without] ==
                 [frames[0][1:] for frames in mine] and all(len(frames) == 1 for frames in without))


def check_common(name, program, addresses, mine):
    if not shutil.which("dwz"):
        checks.skip(f"{name}: alternate file", "dwz is not installed")
        return
    folder = os.path.dirname(program)
    shutil.copy(program, os.path.join(folder, "a"))
    shutil.copy(program, os.path.join(folder, "b"))
    subprocess.run(["dwz", "-m", "common", "a", "b"], cwd=folder, check=True)
    moved, _ = lines_names.ours(dump, [os.path.join(folder, "a"), "-", os.path.join(folder, "common")], addresses)
    checks.check(f"{name}: alternate file", moved == mine)


def check_program(work, compiler, version, way):
    name = " ".join(filter(None, (compiler, f"DWARF {version}", way)))
    program = build(os.path.join(work, name.replace(" ", "")), compiler, f"-gdwarf-{version}", *filter(None, [way]))
    addresses = some_addresses(program)
    mine = compare(name, [program], addresses, lines_names.of_llvm(program, addresses), lines_names.Symbols(program))
    check_addr2line(name, program, addresses, mine, compiler == "g++" and way != "-gsplit-dwarf")
    if way == "-gsplit-dwarf":
        check_package(name, program, addresses, mine)
    elif not way and compiler == "g++":
        check_common(name, program, addresses, mine)


def main():
    if not shutil.which("llvm-symbolizer"):
        checks.skip("all", "llvm-symbolizer is not installed")
        checks.finish()
    check_libc()
    with tempfile.TemporaryDirectory(prefix="strobe-lines-") as work:
        for compiler in ("g++", "clang++"):
            if not shutil.which(compiler):
                checks.skip(compiler, "not installed")
                continue
            for version in (4, 5):
                for way in ("", "-gz", "-gsplit-dwarf"):
                    check_program(work, compiler, version, way)
    checks.finish()


if __name__ == "__main__":
    main()
