#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares chains of perf record --call-graph dwarf, unwound by strobe, with perf script's.

The chains are compared frame by frame.  perf cuts chains at 127 frames, at code made at run time,
and in programs without a header of unwind data.  These are equal up to the cut, if strobe's reach a
root.  Each program is recorded with the largest copies.

usage: unwound.py STROBE [RECORDING...]
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from perf_names import bare, named  # noqa: E402

checks = Checks()
strobe = os.path.abspath(sys.argv[1])
HEAD = re.compile(r"^\S.*?\s(\d+)(?:/\d+)?\s+(?:\[\d+\]\s+)?(\d+\.\d+):")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")
ROOTS = {"_start", "clone", "clone3", "__clone", "__clone3", "_dl_start_user", "_dl_start"}
PYTHON = """
import json, re, time
while time.process_time() < 4:
    d = {str(i): [i] * 5 for i in range(3000)}
    s = json.dumps(d); json.loads(s); sorted(s); s.encode().decode(); re.sub('1', '22', s)
"""
NODE = """
let o;
while (process.cpuUsage().user < 3e6) {
    o = [];
    for (let i = 0; i < 2e4; i++) o.push({a: 'x' + i, b: [i, i]});
    JSON.parse(JSON.stringify(o)); o.sort((p, q) => p.a < q.a ? -1 : 1);
}
"""


def frame_name(symbol):
    """Returns the comparable name of a symbol, without the offset at its end."""
    return named(bare(re.sub(r"\+0x[0-9a-f]+$", "", symbol) if "[unknown]" not in symbol else symbol))


def pretty(names):
    """Returns {raw: name}, demangled by binutils."""
    raw = sorted(names)
    shown = subprocess.run(["c++filt", "--no-verbose", "--no-params"], input="\n".join(raw) + "\n", capture_output=True, text=True,
                           errors="surrogateescape", check=True).stdout.split("\n")
    return dict(zip(raw, shown))


def chains(text, mangled):
    """Returns {(tid, time): [names from the leaf]}.

    If a thread has several samples at one time, the last one counts.
    """
    found, current = {}, None
    known = pretty({frame[2] for frame in map(FRAME.match, text.splitlines()) if frame}) if mangled else {}
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            current = found.setdefault((head[1], head[2]), [])
            current.clear()
            one = re.search(r":\s+([0-9a-f]+) (.*) \((.*)\)$", line[head.end() - 1:])
            if one:
                current.append(frame_name(one[2]))
            continue
        frame = FRAME.match(line)
        if frame and current is not None:
            current.append(frame_name(known.get(frame[2], frame[2])))
    return found


def first_difference(theirs, ours):
    for i, (a, b) in enumerate(zip(theirs, ours)):
        if a != b and "?" not in (a, b) and "[truncated]" not in (a, b):
            return i
    return None


def compare(name, data, least):
    perf = subprocess.run(["perf", "script", "-i", data, "--no-inline", "--no-demangle", "-F", "comm,tid,time,ip,sym,dso"],
                          capture_output=True, text=True, errors="surrogateescape", check=True).stdout
    our = subprocess.run([strobe, "export", data, "--format", "script"], capture_output=True, text=True,
                         errors="surrogateescape", check=True).stdout
    theirs, ours = chains(perf, True), chains(our, False)
    equal, longer, shorter, different = 0, 0, 0, collections.Counter()
    for key, chain in theirs.items():
        mine = ours.get(key, [])
        if mine and mine[-1] == "[truncated]":
            mine = mine[:-1]
        at = first_difference(chain, mine)
        if at is not None:
            different[(tuple(chain[at:at + 2]), tuple(mine[at:at + 2]))] += 1
        elif len(mine) < len(chain):
            shorter += 1
            different[("shorter", tuple(mine[-2:]), tuple(chain[len(mine):len(mine) + 2]))] += 1
        elif len(mine) > len(chain) and mine[-1] in ROOTS:
            longer += 1
        elif len(mine) > len(chain):
            different[("longer", tuple(chain[-2:]), tuple(mine[len(chain) - 1:len(chain) + 2]), mine[-1])] += 1
        else:
            equal += 1
    whole = json.loads(subprocess.run([strobe, "report", data, "--format", "json"], capture_output=True, text=True,
                                      check=True).stdout)["events"][0].get("chains_whole_percent", -1)
    n = len(theirs)
    share = 100 * (equal + longer) / max(n, 1)
    print(f"# {name}: {n} chains, {equal} equal, {longer} longer, {shorter} shorter, whole {whole:.2f} %")
    checks.check(f"{name}: enough samples", n >= 200, n)
    checks.check(f"{name}: {share:.2f} % of {n} chains as perf has them", share >= least, different.most_common(8))
    checks.check(f"{name}: {whole:.2f} % of the chains are whole", whole >= least, whole)


def record(name, command, least=99.0):
    if not shutil.which(command[0]):
        checks.skip(name, f"no {command[0]} here")
        return
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "299", "--call-graph", "dwarf,65528", "-o",
                               data, "--", *command], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            checks.skip(name, f"perf record does not work here: {done.stderr.strip()}")
            return
        compare(name, data, least)


if len(sys.argv) > 2:
    for path in sys.argv[2:]:
        compare(os.path.basename(path), path, 99.0)
else:
    record("python", ["/usr/bin/python3", "-c", PYTHON])
    # Assembly that keeps the caller's stack pointer in rax, rsi, r9 or r11, or in a word with index
    # r9.
    for cipher in ("sha256", "aes-256-gcm", "chacha20-poly1305"):
        record(f"openssl {cipher}", ["openssl", "speed", "-seconds", "3", "-bytes", "1024", "-evp", cipher])
    record("openssl ecdsap384", ["openssl", "speed", "-seconds", "2", "ecdsap384"])
checks.finish()
