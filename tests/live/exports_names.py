#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions in exports stay apart: names that differ only within brackets, which equal perf's, and
equal names of different functions.

usage: exports_names.py STROBE
"""

import collections
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()

SOURCE = """
volatile unsigned long sum;
#define SPIN for (unsigned long i = 0; i < 2000000; i++) sum += i
#define KEPT __attribute__((noinline, noclone))
static KEPT void fa() { SPIN; }
static KEPT void fb() { SPIN; }
template <void (*F)()> KEPT void run() { SPIN; F(); SPIN; }
template <class T> struct function;
template <class R, class... A> struct function<R(A...)> { KEPT void call() { SPIN; } };
template <class T> KEPT int work(T) { SPIN; return 1; }
template <class T> KEPT void (*get(T))(int) { SPIN; return 0; }
KEPT void over(int) { SPIN; }
KEPT void over(double) { SPIN; }
namespace { KEPT void hidden(int) { SPIN; } }
namespace ns { namespace { KEPT void deep() { SPIN; } } }
struct ptr {
	typedef void (*fn)();
	KEPT ptr *operator->() { SPIN; return this; }
	KEPT void operator()(int) { SPIN; }
	KEPT operator fn() { SPIN; return fa; }
	KEPT bool operator<(int) { SPIN; return true; }
	KEPT ptr &operator<<(int) { SPIN; return *this; }
	void own() {}
};
int main()
{
	ptr p;
	for (int i = 0; i < 8; i++) {
		run<fa>(); run<fb>(); function<void()>().call(); function<void(int)>().call();
		work(1); work(1L); get(1); over(1); over(1.0); hidden(1); ns::deep();
		p->own(); p(1); (void)(ptr::fn)p; p < 1; p << 1;
	}
}
"""
# perf's names; it writes addresses of functions in one of two ways.
NAMES = ("fa", "fb", "run<&fa>", "run<&fb>", "function<void ()>::call", "function<void (int)>::call", "work<int>", "work<long>",
         "get<int>", "(anonymous namespace)::hidden", "ns::(anonymous namespace)::deep", "ptr::operator->", "ptr::operator()",
         "ptr::operator void (*)()", "ptr::operator<", "ptr::operator<<", "main")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)


def plain(name):
    """Write &(fa()) as &fa."""
    return re.sub(r"&\((\w+)\(\)\)", r"&\1", name)


def pprof(strobe, path, folder):
    if not shutil.which("go"):
        checks.skip("pprof: go tool pprof", "go (golang-go) is not installed")
        return
    packed = os.path.join(folder, "names.pb.gz")
    run([strobe, "export", path, "--format", "pprof", "-o", packed])
    top = run(["go", "tool", "pprof", "-top", "-nodefraction=0", packed], env=dict(os.environ, HOME=folder, PPROF_TMPDIR=folder))
    shown = [plain(line.split("%")[-1].strip()) for line in top.stdout.splitlines() if line.count("%") == 3]
    wanted = ("void run<&fa>()", "void run<&fb>()", "function<void ()>::call()", "function<void (int)>::call()",
              "over(int)", "over(double)", "int work<int>(int)", "int work<long>(long)")
    for name in wanted:
        checks.check(f"pprof: go shows {name}", shown.count(name) == 1, (shown, top.stderr[-200:]))


def leaves(text):
    """Return the leaves of the folded stacks."""
    return {plain(line.rsplit(" ", 1)[0].rsplit(";", 1)[-1]) for line in text.splitlines()}


def folded(strobe, path):
    found = leaves(run([strobe, "export", path, "--format", "folded"]).stdout)
    # The parameters are kept if two functions share a name.
    for name in (*NAMES[:-1], "over(int)", "over(double)"):
        checks.check(f"folded: {name}", name in found, sorted(found))


def frames(text):
    """Count how often each function of the program is in perf script's text."""
    lines = (re.match(r"\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(/[^() ]*/names\)$", line) for line in text.splitlines())
    return collections.Counter(plain(line.group(1)) for line in lines if line)


def script(strobe, path):
    wanted = frames(run(["perf", "script", "--no-inline", "-i", path]).stdout)
    found = frames(run([strobe, "export", path, "--format", "script"]).stdout)
    for name in (*NAMES, "over"):
        checks.check(f"script: {name} as often as in perf script", wanted[name] and found[name] == wanted[name],
                     (found[name], wanted[name]))


def symbols(strobe, path):
    """Options that take names of functions accept the same forms."""
    rows = {}
    for name in ("work", "work<int>", "int work<int>(int)", "work<int>(int)", "_Z4workIiEiT_"):
        shown = run([strobe, "report", path, "--format", "csv", "--symbol", name]).stdout
        rows[name] = {row["symbol"]: int(row["samples"]) for row in csv.DictReader(io.StringIO(shown)) if int(row["samples"])}
        found = run([strobe, "annotate", name, path])
        checks.check(f"annotate {name}", "work<int>(int)" in found.stdout + found.stderr, (found.stdout + found.stderr)[:200])
    checks.check("--symbol work: all that are made from the template", set(rows["work"]) == {"int work<int>(int)", "int work<long>(long)"},
                 rows["work"])
    for name, found in rows.items():
        checks.check(f"--symbol {name}", name == "work" or found and set(found) == {"int work<int>(int)"}, found)


# --- functions of one name ---

PART = """
volatile unsigned long sum_%(part)s;
static __attribute__((noinline)) void hash(void) { for (unsigned long i = 0; i < %(turns)s; i++) sum_%(part)s += i; }
void %(part)s(void) { hash(); sum_%(part)s++; }
"""
LIST = ("folded", "callgrind", "speedscope", "gecko", "svg")
PARTS = ("one", "two")  # a quarter and three quarters of the time


def make_namesakes(folder, name, first=""):
    """Build a program with two functions "hash".  Returns its path and {part: text of its hash}."""
    program = os.path.join(folder, name)
    sources = []
    for part, turns in (("one", 3000000), ("two", 9000000)):
        sources.append(os.path.join(folder, part + ".c"))
        with open(sources[-1], "w", encoding="ascii") as out:
            out.write(first + PART % {"part": part, "turns": turns})
        first = ""
    with open(os.path.join(folder, "main.c"), "w", encoding="ascii") as out:
        out.write("void one(void), two(void); int main(void) { for (int i = 0; i < 100; i++) { one(); two(); } }")
    made = run(["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", program, *sources, out.name])
    symbols = run(["nm", "-n", program]).stdout if not made.returncode else ""
    starts = re.findall(r"^([0-9a-f]+) t hash$", symbols, re.M)
    return program, {part: f"hash [{int(start, 16):#x}]" for part, start in zip(PARTS, starts)}


def namesakes(strobe, folder):
    data, other = (os.path.join(folder, name) for name in ("same.data", "other.data"))
    packed = os.path.join(folder, "same.pb.gz")
    program, marks = make_namesakes(folder, "same")
    if len(marks) != 2:
        checks.skip("functions of one name", "cc made no such program")
        return
    made = run([strobe, "record", "-e", "cpu-clock", "-F", "1999", "-o", data, "--", program])
    texts = {form: run([strobe, "export", data, "--format", form, "-o", "-"]).stdout for form in LIST}
    for form, text in texts.items():
        for mark in marks.values():
            checks.check(f"{form}: {mark}", mark in text, (made.stderr[-200:], text[:300]))
    for part, mark in marks.items():
        lines = [line for line in texts["folded"].splitlines() if ";hash [" in line and f";{part};" in line]
        checks.check(f"folded: {part} calls its own hash", lines and all(f";{part};{mark}" in line for line in lines), lines)
    if shutil.which("go"):
        run([strobe, "export", data, "--format", "pprof", "-o", packed])
        top = run(["go", "tool", "pprof", "-top", packed], env=dict(os.environ, HOME=folder, PPROF_TMPDIR=folder)).stdout
        checks.check("pprof: both", all(mark in top for mark in marks.values()), top)
    # Rates are those of the part within --time.
    said = run([strobe, "diff", data, data, "--normalize", "second", "--time", "0.05,0.15", "--format", "json"]).stdout
    checks.check("diff: the length within --time", said.count('"duration_s":0.100') == 2, said[:200])
    if shutil.which("go"):
        run([strobe, "export", data, "--format", "pprof", "--time", "0.05,0.15", "-o", packed])
        raw = run(["go", "tool", "pprof", "-raw", packed], env=dict(os.environ, HOME=folder, PPROF_TMPDIR=folder)).stdout
        checks.check("pprof: the length within --time", "Duration: 100" in raw, raw[:300])
    # Another build, in which the functions lie elsewhere.
    os.mkdir(os.path.join(folder, "other"))
    moved, _ = make_namesakes(os.path.join(folder, "other"), "same", "int pad(int x) { return 3 * x; }")
    run([strobe, "record", "-e", "cpu-clock", "-F", "999", "-o", other, "--", moved])
    said = run([strobe, "diff", data, other, "--format", "csv"])
    rows = [row for row in csv.DictReader(io.StringIO(said.stdout)) if row["symbol"] == "hash"]
    checks.check("diff: two rows, in both recordings", len(rows) == 2 and all(row["state"] == "both" for row in rows),
                 (said.stderr, rows))
    checks.check("diff: each with itself", all((float(row["percent_1"]) > 50) == (float(row["percent_2"]) > 50) for row in rows), rows)


def main():
    strobe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        source, program, path = (os.path.join(folder, name) for name in ("names.cc", "names", "names.data"))
        with open(source, "w", encoding="ascii") as out:
            out.write(SOURCE)
        made = run(["c++", "-O1", "-g", "-fno-omit-frame-pointer", "-w", "-o", program, source])
        if made.returncode:
            checks.skip("names of C++", made.stderr[-200:])
            checks.finish()
        found = run(["perf", "record", "-q", "-F", "1999", "-g", "-e", "cpu-clock:u", "-o", path, "--", program])
        if not os.path.exists(path):
            checks.skip("names of C++", f"perf record: {found.stderr[-200:]}")
            checks.finish()
        pprof(strobe, path, folder)
        folded(strobe, path)
        script(strobe, path)
        symbols(strobe, path)
        namesakes(strobe, folder)
    checks.finish()


main()
