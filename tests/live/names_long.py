#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions with names of thousands of bytes that differ only in their own part.

usage: names_long.py STROBE
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
ENV = dict(os.environ)

# A doubled type turns a few mangled bytes into 40 kB of a demangled name.  The many types have no
# shorter form.
SOURCE = """
volatile unsigned long sum;
#define SPIN for (unsigned long i = 0; i < 3000000; i++) sum += i
#define KEPT __attribute__((noinline, noclone))
template <class A, class B> struct doubled { };
typedef doubled<int, long> t1; typedef doubled<t1, t1> t2; typedef doubled<t2, t2> t3; typedef doubled<t3, t3> t4;
typedef doubled<t4, t4> t5; typedef doubled<t5, t5> t6; typedef doubled<t6, t6> t7; typedef doubled<t7, t7> t8;
typedef doubled<t8, t8> t9; typedef doubled<t9, t9> t10; typedef doubled<t10, t10> t11;
template <class T> struct holder { static KEPT void first() { SPIN; } static KEPT void second(T *) { SPIN; } };
template <int N> struct one_of_many_types { };
template <class... T> struct many { static KEPT int third() { SPIN; return 1; } template <class U> static KEPT U fourth(U) { SPIN; return 2; } };
template <int K, int... N> struct make : make<K - 1, K, N...> { };
template <int... N> struct make<0, N...> {
	static void go() { many<one_of_many_types<N>...>::third(); many<one_of_many_types<N>...>::fourth(1); }
};
int main() { for (int i = 0; i < 10; i++) { holder<t11>::first(); holder<t11>::second(0); make<500>::go(); } }
"""
OWN = ("first", "second", "third", "fourth<int>")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=ENV, **options)


def own_part(symbol):
    """Return which of the four functions a name belongs to."""
    return next((own for own in OWN if re.search(rf">::{re.escape(own)}\(", symbol)), symbol)


def check(strobe, path):
    rows = json.loads(run([strobe, "report", path, "--format", "json"]).stdout)["events"][0]["rows"]
    rows = {row["symbol"]: row["samples"] for row in rows if row["image"] == "long" and row["samples"]}
    samples = collections.Counter()
    for symbol, n in rows.items():
        samples[own_part(symbol)] += n
    checks.check("report: a row for each, by its own name", len(rows) == 4 and set(samples) == set(OWN), [row[-200:] for row in rows])
    folded = run([strobe, "export", path, "--format", "folded"]).stdout
    leaves = {line.rsplit(" ", 1)[0].rsplit(";", 1)[-1] for line in folded.splitlines()}
    for own in OWN:
        checks.check(f"folded: {own}", sum(leaf.endswith(f">::{own}") for leaf in leaves) == 1, [leaf[-100:] for leaf in leaves])
        name = ("holder::" if own in ("first", "second") else "many::") + own.replace("<int>", "")
        found = json.loads(run([strobe, "report", path, "--format", "json", "--symbol", name]).stdout)["events"][0]
        checks.check(f"--symbol {name}", samples[own] and found["samples"] == samples[own], (found["samples"], samples[own]))


def main():
    strobe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        ENV.update(XDG_CACHE_HOME=folder)
        source, program, path = (os.path.join(folder, name) for name in ("long.cc", "long", "long.data"))
        with open(source, "w", encoding="ascii") as out:
            out.write(SOURCE)
        made = run(["c++", "-O1", "-w", "-fno-omit-frame-pointer", "-o", program, source])
        if made.returncode:
            checks.skip("long names", made.stderr[-200:])
            checks.finish()
        mangled = run(["nm", program]).stdout.split()
        checks.check("a mangled name is longer than 4096 bytes", max(map(len, mangled)) > 4096)
        found = run(["perf", "record", "-q", "-F", "1999", "-g", "-e", "cpu-clock:u", "-o", path, "--", program])
        if not os.path.exists(path):
            checks.skip("long names", f"perf record: {found.stderr[-200:]}")
            checks.finish()
        check(strobe, path)
        compared = json.loads(run([strobe, "diff", path, path, "--format", "json"]).stdout)
        rows = [row for event in compared["events"] for row in event["rows"] if row["image"] == "long"]
        checks.check("diff: four rows, in both", len(rows) == 4 and {own_part(row["symbol"]) for row in rows} == set(OWN),
                     [row["symbol"][-100:] for row in rows])
    checks.finish()


main()
