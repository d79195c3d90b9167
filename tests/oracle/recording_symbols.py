#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares names of thousands of sampled addresses with perf's, on perf's recordings.

perf script and strobe report count samples by (image, symbol).  The counts are equal, except for
names that perf has otherwise (perf_names.py), and for code made by runtimes.

usage: recording_symbols.py STROBE
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
from perf_names import named, with_aliases  # noqa: E402
from recordings_counts import paths_of  # noqa: E402

checks = Checks()
strobe = os.path.abspath(sys.argv[1])
ENOUGH = 1000

# Both run for a fixed CPU time, so that a busy machine gives as many samples.
PYTHON = """
import json, re, time
while time.process_time() < 6:
    d = {str(i): [i] * 5 for i in range(3000)}
    s = json.dumps(d); json.loads(s); sorted(s); s.encode().decode(); re.sub('1', '22', s)
    [bytes(i % 3000 + 1) for i in range(4000)]
"""
NODE = """
let o;
while (process.cpuUsage().user < 5e6) {
    o = [];
    for (let i = 0; i < 2e4; i++) o.push({a: 'x' + i, b: [i, i]});
    JSON.parse(JSON.stringify(o)); o.sort((p, q) => p.a < q.a ? -1 : 1);
}
"""


def perf_counts(data):
    """Returns ({(image, symbol): samples}, number of distinct addresses)."""
    out = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso", "-G", "--no-demangle"],
                         capture_output=True, text=True, check=True).stdout
    found = [match.groups() for match in
             (re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line) for line in out.splitlines()) if match]
    raw = sorted({row[1] for row in found})
    pretty = subprocess.run(["c++filt", "--no-verbose"], input="\n".join(raw), capture_output=True, text=True,
                            check=True).stdout.split("\n")
    names = dict(zip(raw, pretty))
    counts = collections.Counter()
    for _, symbol, image in found:
        image = image.rsplit("/", 1)[-1].replace("[kernel.kallsyms]", "[kernel]")
        counts[normal(image, names[symbol])] += 1
    return counts, len({row[0] for row in found})


def normal(image, symbol):
    if image.startswith("perf-") or image == "[anon]":
        return "[anon]", "?"
    return image, named(symbol)


def strobe_counts(data):
    out = subprocess.run([strobe, "report", data, "--format", "json"], capture_output=True, text=True,
                         check=True).stdout
    counts = collections.Counter()
    for row in json.loads(out)["events"][0]["rows"]:
        if row["samples"]:
            counts[normal(row["image"], row["symbol"])] += row["samples"]
    return counts


def compare(name, command):
    if not shutil.which(command[0]):
        checks.skip(name, f"no {command[0]} here")
        return
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "4999", "-g", "-o", data, "--",
                               *command], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            checks.skip(name, f"perf record does not work here: {done.stderr.strip()}")
            return
        theirs, addresses = perf_counts(data)
        ours, theirs = with_aliases(strobe_counts(data), theirs, paths_of(data))
    different = {key: (theirs[key], ours[key]) for key in set(theirs) | set(ours) if theirs[key] != ours[key]}
    checks.check(f"{name}: enough addresses to judge by", addresses >= ENOUGH, addresses)
    checks.check(f"{name}: {len(theirs)} symbols of {addresses} addresses as perf names them", not different,
                 sorted(different.items())[:10])


compare("python", ["python3", "-c", PYTHON])
compare("node", ["node", "-e", NODE])
checks.finish()
