#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples that wait for unwind tables keep the meaning of their time: the program, its name and its
libraries may be others when the tables arrive.

usage: waiting.py STROBE
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, is_sanitized, run  # noqa: E402

checks = Checks()
LINKS = 8

SPIN = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
#define WORK(name) __attribute__((noinline)) void name(double s) { \
	static volatile unsigned long n; for (double end = now() + s; now() < end;) for (int i = 0; i < 50000; i++) n += i; }
"""
# Each program executes the next one, which has other code at the same addresses.
LINK = SPIN + """
WORK(work_%(n)d)
int main(void) { work_%(n)d(0.03); execl("%(next)s", "%(next)s", (char *)0); return 0; }
"""
LIBRARY = SPIN + "WORK(from_%(name)s)\nvoid entry(double s) { from_%(name)s(s); }\n"
# Libraries take turns at one address.
LOADER = SPIN + r"""
int main(int n, char **names)
{
	double used[8] = {0};
	for (int turn = 0; turn < 16; turn++)
		for (int i = 1; i < n; i++) {
			void *lib = dlopen(names[i], RTLD_NOW);
			void (*entry)(double) = (void (*)(double))dlsym(lib, "entry");
			double begun = now();
			entry(0.002 * i);
			used[i] += now() - begun;
			dlclose(lib);
		}
	for (int i = 1; i < n; i++)
		fprintf(stderr, "%f\n", used[i]);
}
"""


def build(folder, name, text, *options):
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="ascii") as out:
        out.write(text)
    subprocess.run(["cc", "-O1", "-g", "-w", "-o", path, path + ".c", *options], check=True)
    return path


def rows(strobe, keys, command):
    """Returns {key texts: samples}, and what was printed besides.  No table is in the cache."""
    with tempfile.TemporaryDirectory() as cache:
        said = run([strobe, "report", "-e", "cpu-clock", "-F", "1999", "--group", keys, "--format", "csv", "--cache-dir", cache,
                    "--", *command])
    found = csv.DictReader(io.StringIO(said.out))
    names = keys.split(",")
    return {tuple(row[name] for name in names): int(row["samples"]) for row in found}, said.err


def chain_of_programs(strobe, folder):
    """Each has the same time; a program's function runs under its own name alone."""
    for n in range(LINKS):
        build(folder, f"link{n}", LINK % {"n": n, "next": os.path.join(folder, f"link{n + 1}")}, "-no-pie")
    found, err = rows(strobe, "command,symbol", [os.path.join(folder, "link0")])
    counts = [found.get((f"link{n}", f"work_{n}"), 0) for n in range(LINKS)]
    wrong = {key: samples for key, samples in found.items()
             if (match := re.fullmatch(r"work_(\d)", key[1])) and key[0] != "link" + match[1]}
    checks.check("exec: no function under another program's name", not wrong, (wrong, err))
    checks.check("exec: each program has its function", all(counts), (counts, err))
    if not is_sanitized(strobe):
        # 60 samples each; a tenth is lost to what is not this function.
        checks.check("exec: equal shares", min(counts) * 2 > max(counts), counts)


def libraries_in_turn(strobe, folder):
    libraries = [build(folder, f"lib{name}.so", LIBRARY % {"name": name}, "-shared", "-fPIC") for name in "abc"]
    loader = build(folder, "loader", LOADER, "-ldl")
    found, err = rows(strobe, "image,symbol", [loader, *libraries])
    used = [float(line) for line in re.findall(r"^[\d.]+$", err, re.M)]
    names = [(f"lib{name}.so", f"from_{name}") for name in "abc"]
    counts = [found.get(name, 0) for name in names]
    wrong = {key: samples for key, samples in found.items() if key[0].startswith("lib") and key[1].startswith("from_") and key not in names}
    checks.check("dlopen: no function of another library", not wrong, (wrong, err))
    if checks.check("dlopen: all three", all(counts) and len(used) == 3, (found, err)) and not is_sanitized(strobe):
        for name, count, own in zip(names, counts, used):
            share, right, n = count / sum(counts), own / sum(used), sum(counts)
            bound = 5 * (right * (1 - right) / n) ** 0.5 + 0.02
            checks.check(f"dlopen: share of {name[1]}", abs(share - right) < bound, (share, right, bound))


def main():
    strobe = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        chain_of_programs(strobe, folder)
        libraries_in_turn(strobe, folder)
    checks.finish()


main()
