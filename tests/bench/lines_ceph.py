#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions of ceph-osd (380 MB of .debug_info): time, memory, correctness.

The answers are compared with those of llvm-symbolizer.  Times are CPU time, so that a busy machine
does not matter: each program runs in one thread.

usage: lines_ceph.py DUMP_LINES
"""

import collections
import os
import random
import re
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
import benchlib  # noqa: E402
import lines_names  # noqa: E402

FILE = "/usr/bin/ceph-osd"
ADDRESSES, FUNCTIONS = 2000, 8


def skip(reason):
    print(f"skip: lines_ceph: {reason}")
    sys.exit(77)


def debug_file():
    if not os.path.exists(FILE):
        skip("ceph-osd is not installed")
    notes = subprocess.run(["readelf", "-n", FILE], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Build ID: (\w\w)(\w+)", notes)
    path = f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug"
    if not os.path.exists(path):
        skip("ceph-osd-dbg is not installed")
    return path


def cpu_s(command, lines):
    """CPU seconds of a command, and its result."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, input=lines, capture_output=True, encoding="utf-8", errors="surrogateescape",
                            check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def costs(stderr):
    """List (what, ms, {name: KiB}) for each line of dump_lines."""
    found = []
    for line in stderr.splitlines():
        what, ms, *rest = line.split()
        found.append((what, float(ms), {name: int(kib) for name, kib in zip(rest[::2], rest[1::2])}))
    return found


def functions(symbols):
    """Pick some functions across the whole file; for each, every fourth address."""
    large = [row for row in symbols.functions if 500 < row[1] < 20000]
    picked = random.Random(11).sample(large, FUNCTIONS)
    return [list(range(start, start + size, 4)) for start, size, _ in picked]


def quick(command, addresses):
    """CPU seconds until the quick answer for the first address, and the number of wrong quick
    answers.  An answer is wrong if its line differs from that of the complete answer."""
    apart = "\n\n".join(map(hex, addresses))
    _, alone = cpu_s(command[:1] + ["--quick"] + command[1:], apart)
    _, whole = cpu_s(command, "\n".join(map(hex, addresses)))
    wrong = 0
    for one, all_frames in zip(alone.stdout.split("\n\n"), whole.stdout.split("\n\n")):
        places = [[line.split("\t")[1:] for line in text.split("\n")[1:2]] for text in (one, all_frames)]
        wrong += places[0] != places[1] and places[1] != []
    return costs(alone.stderr)[0][1] / 1000, wrong


def main():
    dump, debug = os.path.abspath(sys.argv[1]), debug_file()
    symbols = lines_names.Symbols(debug)
    shown = subprocess.run(["readelf", "-SW", FILE], capture_output=True, text=True, check=True).stdout
    row = re.search(r"\] \.text +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", shown)
    start, length = int(row[1], 16), int(row[2], 16)
    picked = random.Random(4711)
    addresses = sorted({start + picked.randrange(length) for _ in range(ADDRESSES)})
    text = "\n".join(map(hex, addresses))
    command = [dump, FILE, debug]

    ours_s, ours = cpu_s(command, text)
    llvm_s, _ = cpu_s(["llvm-symbolizer", "--obj=" + debug, "--inlines", "--functions=linkage"], text)
    print(f"{len(addresses)} random addresses: strobe {ours_s:.2f} s, llvm-symbolizer {llvm_s:.2f} s")
    benchlib.verdict("2,000 random addresses", ours_s, 4.4, "s")
    benchlib.verdict("2,000 random addresses: ratio", ours_s / llvm_s, 1.0)
    (_, _, memory), = costs(ours.stderr)
    benchlib.verdict("peak memory", memory["VmHWM"] / 1024, 1024, "MiB")
    print(f"    anonymous {memory['RssAnon'] / 1024:.0f} MiB, address space {memory['VmPeak'] / 1024:.0f} MiB")

    quick_s, wrong = quick(command, sorted(picked.sample(addresses, 200)))
    benchlib.verdict("lines alone, cold", quick_s, 0.5, "s")
    benchlib.verdict("lines alone that are told otherwise, of 200", wrong, 0)

    blocks = functions(symbols)
    firsts = []
    for block in blocks[:3]:
        _, result = cpu_s(command, "\n".join(map(hex, block)))
        firsts.append(costs(result.stderr)[0][1] / 1000)
    print("first function, cold: " + ", ".join(f"{value:.2f}" for value in firsts) + " s")
    benchlib.verdict("first function, the slowest", max(firsts), 2.5, "s")
    one_s, _ = cpu_s(["llvm-symbolizer", "--obj=" + debug, "--inlines"], hex(blocks[0][0]))
    print(f"    llvm-symbolizer, one address: {one_s:.2f} s")
    _, result = cpu_s(command, "\n\n".join("\n".join(map(hex, block)) for block in blocks))
    told = costs(result.stderr)
    idle = [ms for what, ms, _ in told if what == "idle"]
    following = [ms for what, ms, _ in told if what == "question"][1:]
    print("next functions: " + ", ".join(f"{value:.0f}" for value in following) +
          f" ms, after {sum(idle) / 1000:.2f} s spent while nobody asked")
    benchlib.verdict("next function, the slowest", max(following), 200, "ms")

    mine, _ = lines_names.ours(dump, [FILE, debug], addresses)
    rules = collections.Counter(
        lines_names.llvm_differs(address, own, other, symbols)
        for address, own, other in zip(addresses, mine, lines_names.of_llvm(debug, addresses)))
    print(f"    as llvm-symbolizer: {rules.pop('', 0)}, by rule: {dict(rules)}")
    benchlib.verdict("addresses that are told otherwise", rules[None], 0)
    benchlib.finish()


if __name__ == "__main__":
    main()
