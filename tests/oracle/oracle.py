#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares strobe with the truth and with perf, at the same time.

A workload with known shares is sampled by `strobe report` and `perf record` together, attached and
system-wide.  Each share must be within 2 points of the truth and 1.5 of perf's.  A build of
generated C files with make -j2 under --scope inherit and auto must agree with `perf record` within
2 points.

usage: oracle.py STROBE SHARES [CASE...]      CASE: process machine build
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, started  # noqa: E402

TRUTH = {"shares_hot": 70.0, "shares_warm": 20.0, "shares_cool": 10.0}
FROM_TRUTH, FROM_PERF, BUILD_FROM_PERF = 2.0, 1.5, 2.0
# With 30,000 samples, 4 standard deviations are well within the limits.  If a busy machine gives
# fewer samples, their deviation is the limit.
FREQ_HZ, BUILD_FREQ_HZ = 4999, 1999
DURATION_S = 6
checks = Checks()


def common_event():
    """Returns an event that both tools can use without a fallback, or None if perf is refused."""
    for event in ("cycles", "cpu-clock"):
        counted = subprocess.run(["perf", "stat", "-x", ",", "-e", event, "true"],
                                 capture_output=True, text=True, check=False)
        if counted.returncode == 0 and re.search(r"^\d+", counted.stderr, re.MULTILINE):
            return event
    return None


def perf_shares(data, key):
    """Returns {name: percent of self time} of a recording, by perf's sort key sym or dso."""
    found = subprocess.run(
        ["perf", "report", "--stdio", "--no-children", "-g", "none", "--sort", key, "-t", "\t",
         "-i", data], capture_output=True, text=True, check=False)
    shares = {}
    for line in found.stdout.splitlines():
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) == 2 and re.fullmatch(r"[\d.]+%", fields[0]):
            name = re.sub(r"^\[.\]\s+", "", fields[1])
            shares[name] = shares.get(name, 0.0) + float(fields[0][:-1])
    return shares


def strobe_shares(event, key):
    """Returns {name: percent of self time} of strobe's report; all of the kernel is one image."""
    shares = {}
    for row in event["rows"]:
        name = row[key]
        if key == "image" and name.startswith("["):
            name = "[kernel]"
        shares[name] = shares.get(name, 0.0) + row["self_percent"]
    return shares


def merged(shares, rename):
    sums = {}
    for name, share in shares.items():
        sums[rename(name)] = sums.get(rename(name), 0.0) + share
    return sums


def strobe_event(output):
    return json.loads(output)["events"][0]


def side_by_side(strobe, event, target):
    """Runs both over the same seconds; returns (strobe's event, perf's shares by symbol)."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        options = ["-e", event, "-F", str(FREQ_HZ), *target]
        perf = subprocess.Popen(
            ["perf", "record", "-q", "-g", "-o", data, *options, "--", "sleep", str(DURATION_S)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = subprocess.run(
            [strobe, "report", *options, "--duration", str(DURATION_S), "--format", "json"],
            capture_output=True, text=True, timeout=120, check=False)
        perf.wait(timeout=120)
        if found.returncode:
            raise RuntimeError(f"strobe report: status {found.returncode}: {found.stderr}")
        return strobe_event(found.stdout), perf_shares(data, "sym")


def by_chance(share, samples):
    """Returns the largest expected difference of two shares from this number of samples.

    It is 4 standard deviations, in points.
    """
    return 4 * math.sqrt(2 * share * (100 - share) / max(1, samples))


def compare_shares(case, event, perf, names):
    """Compares shares among the workload's own functions, which are the ones with a known truth."""
    ours = {name: share for name, share in strobe_shares(event, "symbol").items() if name in names}
    theirs = {name: share for name, share in perf.items() if name in names}
    samples = sum(row["samples"] for row in event["rows"] if row["symbol"] in names)
    for name, truth in names.items():
        if name not in ours or name not in theirs:
            checks.check(f"{case}: {name}", False, f"strobe has {ours}, perf has {theirs}")
            continue
        mine = 100 * ours[name] / sum(ours.values())
        other = 100 * theirs[name] / sum(theirs.values())
        text = f"strobe {mine:.2f}, perf {other:.2f}, truth {truth:.2f}"
        chance = by_chance(truth, samples)
        good = abs(mine - truth) <= max(FROM_TRUTH, chance) and abs(mine - other) <= max(FROM_PERF, chance)
        checks.check(f"{case}: {name}: {text}", good, f"{samples} samples")


def process(strobe, shares, event):
    with started([shares, "0"]) as work:
        found, perf = side_by_side(strobe, event, ["-p", str(work.pid)])
    compare_shares("one process", found, perf, TRUTH)
    checks.check(f"one process: lost {found['lost']}", found["lost"] == 0)


def machine(strobe, shares, event):
    with started([shares, "0"]):
        found, perf = side_by_side(strobe, event, ["-a"])
    compare_shares("whole machine", found, perf, TRUTH)
    kernel = [row for row in found["rows"] if row["image"].startswith("[kernel")]
    named = [row for row in kernel if "+0x" not in row["symbol"]]
    with open("/proc/kallsyms", encoding="ascii", errors="replace") as symbols:
        hidden = not any(int(line.split()[0], 16) for line, _ in zip(symbols, range(4096)))
    if hidden:
        checks.skip("whole machine: kernel symbols", "kptr_restrict hides their addresses")
    else:
        checks.check(f"whole machine: {len(named)} of {len(kernel)} kernel rows have names",
                     bool(kernel) and len(named) > 0.9 * len(kernel))


def project(folder):
    """Writes a C project that takes some seconds to build: many small files with some work each."""
    body = "\n".join(
        f"int f{{n}}_{i}(int a, int b) {{{{ int s = 0; for (int k = 0; k < a; k++) "
        f"{{{{ s += (k ^ b) * {i + 3}; if (s & {1 << (i % 7)}) s = s / (b + 1); }}}} "
        f"switch (s & 7) {{{{ case 1: return s + b; case 3: return s * a; default: return s; }}}} }}}}"
        for i in range(40))
    files = 40
    for number in range(files):
        with open(os.path.join(folder, f"f{number}.c"), "w", encoding="ascii") as source:
            source.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
            source.write(body.format(n=number))
    with open(os.path.join(folder, "Makefile"), "w", encoding="ascii") as makefile:
        objects = " ".join(f"f{number}.o" for number in range(files))
        makefile.write(f"all: {objects}\n%.o: %.c\n\t@cc -O2 -c -o $@ $<\n"
                       "clean:\n\t@rm -f *.o\n")


def build(strobe, _, event):
    if not shutil.which("make") or not shutil.which("cc"):
        checks.skip("a build", "make or cc is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        project(folder)
        command = ["--", "make", "-s", "-C", folder, "-j2"]
        options = ["-e", event, "-F", str(BUILD_FREQ_HZ)]
        data = os.path.join(folder, "data")
        subprocess.run(["make", "-s", "-C", folder, "-j2"], check=True)  # warm the page cache
        subprocess.run(["make", "-s", "-C", folder, "clean"], check=True)
        subprocess.run(["perf", "record", "-q", "-o", data, *options, *command], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        perf = {"image": perf_shares(data, "dso"), "symbol": perf_shares(data, "sym")}
        subprocess.run(["make", "-s", "-C", folder, "clean"], check=True)
        mine = {}
        for scope in ("inherit", "auto"):
            subprocess.run(["make", "-s", "-C", folder, "clean"], check=True)
            found = subprocess.run(
                [strobe, "report", "--scope", scope, *options, "--format", "json", *command],
                capture_output=True, text=True, timeout=600, check=False)
            if not checks.check(f"a build, --scope {scope}", found.returncode == 0, found.stderr):
                return
            mine[scope] = strobe_event(found.stdout)
    for scope, event in mine.items():
        for key, count in (("image", 5), ("symbol", 8)):
            compare_build(scope, key, count, event, perf[key])


def compare_build(scope, key, count, event, perf):
    """Compares the largest shares.

    Events of threads, like perf's, end before the thread releases its memory.  Events of CPUs see
    that too (unmap_page_range), so the kernel is left out for them.
    """
    ours = strobe_shares(event, key)
    if key == "symbol":
        # perf shows C++ without parameters, and also has names from separate debug files.
        ours = merged(ours, lambda name: name.split("(")[0])
        theirs = {name: share for name, share in perf.items() if name in ours}
    else:
        theirs = merged(perf, lambda name: "[kernel]" if name.startswith("[") else name)
    scale = {}
    if scope == "auto" and key == "image":
        scale = {who: 100 / (100 - shares.pop("[kernel]", 0.0)) for who, shares in (("ours", ours), ("theirs", theirs))}
    top = sorted(theirs, key=lambda name: -theirs[name])[:count]
    checks.check(f"a build, --scope {scope}: there is a {key} to compare", bool(top), str(ours)[:300])
    for name in top:
        share, other = ours.get(name, 0.0) * scale.get("ours", 1.0), theirs[name] * scale.get("theirs", 1.0)
        checks.check(f"a build, --scope {scope}: {name}: strobe {share:.2f}, perf {other:.2f}",
                     abs(share - other) <= BUILD_FROM_PERF)


def main(strobe, shares, *chosen):
    cases = {"process": process, "machine": machine, "build": build}
    if not shutil.which("perf"):
        checks.skip("oracle", "perf is not here")
        checks.finish()
    event = common_event()
    if not event:
        checks.skip("oracle", "perf is refused here")
        checks.finish()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        for name in chosen or cases:
            cases[name](os.path.abspath(strobe), os.path.abspath(shares), event)
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
