#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares strobe annotate with perf annotate on the same recordings, by instruction.

Addresses and samples are equal.  Percentages are equal except for rounding.  Also checks the output
formats, the refusals, and the tree of sources.

usage: annotate.py STROBE WORKLOADS
"""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
STROBE = os.path.abspath(sys.argv[1])
WORK = os.path.abspath(sys.argv[2])

HEAD = re.compile(r"\|\s*Source code & Disassembly of (\S+) for (\S+) \((\d+) samples")
ROW = re.compile(r"^\s*([\d.]+)\s*:\s+([0-9a-f]+):\s+(\S.*)$")

# All of its time is in libc.
COPIES = r"""
#include <stdlib.h>
#include <string.h>
int main(void)
{
	char *to = malloc(8 << 20), *from = malloc(8 << 20);
	memset(from, 1, 8 << 20);
	for (int i = 0; i < 150; i++) {
		memcpy(to, from, 8 << 20);
		from[i] = to[i] ^ 1;
	}
	return to[3];
}
"""

# One function is inlined, one has a source path that leads out of the tree, and one has the same
# name in two programs.
PROGRAM = r"""
#include <stdlib.h>
static volatile unsigned sum;
static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
	return x * 2654435761u
		+ (x >> 3);
}
__attribute__((noipa)) unsigned work(unsigned n)
{
	unsigned x = 1;
	for (unsigned i = 0; i < n; i++)
		x = inner(x);
	return x;
}
#line 1 "../../../../../../../../evil/../evil.c"
__attribute__((noipa)) unsigned evil_work(unsigned n)
{
	unsigned x = 1;
	for (unsigned i = 0; i < n; i++)
		x = x * 3 + n;
	return x;
}
int main(int argc, char **argv)
{
	for (int i = atoi(argv[argc - 1]); i; i--)
		sum += work(100000) + evil_work(100000);
	return 0;
}
"""


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                          timeout=300, **options)


def annotate(*words):
    return run([STROBE, "annotate", "--cache-dir", "", *words])


def build(folder, name, text):
    """Builds a program in the folder, next to its source.  Returns whether that succeeded."""
    compiler = shutil.which("cc")
    source = os.path.join(folder, name + ".c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    if not compiler:
        return False
    built = run([compiler, "-O2", "-g", "-o", os.path.join(folder, name), source])
    return checks.check(f"{name}: built", built.returncode == 0, built.stderr[-300:])


def record(data, options, command):
    found = run(["perf", "record", "-q", "-N", "-o", data, *options, "--", *command])
    if os.path.exists(data) and os.path.getsize(data) > 1000:
        return True
    checks.skip(os.path.basename(data), f"perf record: {found.stderr.strip()[-200:]}")
    return False


# --- against perf ---

def perf_sections(data, images, *options):
    """Returns {(image, event): {address: number}} of some images, by perf."""
    out = run(["perf", "annotate", "--stdio", "--no-source", "--percent-type", "local-period",
               "-d", ",".join(images), *options, "-i", data])
    sections, where = {}, None
    for line in out.stdout.splitlines():
        head = HEAD.search(line)
        if head:
            where = sections.setdefault((os.path.basename(head.group(1)), head.group(2)), {})
            continue
        row = ROW.match(line)
        if row and where is not None:
            where[int(row.group(2), 16)] = float(row.group(1))
    return sections


def our_sections(text):
    """Returns {(image, event): {address: (samples, percent)}} of strobe's JSON."""
    top = json.loads(text)
    sections = {}
    for function in top["functions"]:
        if not function["path"].startswith("/"):
            continue
        for row in function["rows"]:
            if row["kind"] != "code":
                continue
            for i, event in enumerate(top["events"]):
                where = sections.setdefault((function["image"], event["name"]), {})
                where[row["address"]] = (row["samples"][i], row["percent"][i])
    return sections


def compare(name, data, wanted):
    """Compares both.  wanted: images that must be present."""
    samples = perf_sections(data, wanted, "--show-nr-samples")
    percents = perf_sections(data, wanted)
    found = annotate(data, "--rows", "0", "--mode", "assembly", "--format", "json")
    if not checks.check(f"{name}: annotated", found.returncode == 0, found.stderr[-300:]):
        return
    ours = our_sections(found.stdout)
    compared, total, wrong = 0, 0, []
    for key, theirs in samples.items():
        mine = ours.get(key, {})
        if key[0].startswith("["):
            continue
        total += sum(theirs.values())
        for address, count in theirs.items():
            have = mine.get(address)
            compared += 1
            if have is None:
                wrong.append(f"{key[0]} {address:x} is no instruction here")
            elif have[0] != count:
                wrong.append(f"{key} {address:x}: {have[0]} samples, perf {count:.0f}")
            elif abs(have[1] - percents[key][address]) > 0.00501:
                wrong.append(f"{key} {address:x}: {have[1]}%, perf {percents[key][address]}%")
        missed = [f"{address:x}" for address, row in mine.items() if row[0] and address not in theirs]
        if missed:
            wrong.append(f"{key}: perf has nothing at {', '.join(missed[:5])}")
    checks.check(f"{name}: {compared} instructions, {total:.0f} samples as perf's", compared and total > 20 and not wrong,
                 "; ".join(wrong[:8]))
    images = {key[0] for key in samples}
    checks.check(f"{name}: {', '.join(wanted)} compared", set(wanted) <= images, f"perf has {images}")


def against_perf(folder):
    def program(name):
        return os.path.join(WORK, name)
    cases = {
        "shares": (["-e", "cpu-clock:u", "-F", "1999"], [program("shares"), "1"], ["shares", "libshares_lib.so"]),
        "cxx": (["-e", "cpu-clock:u", "-F", "1999"], [program("hot_cxx"), "1"], ["hot_cxx"]),
        "events": (["-e", "cpu-clock:u,page-faults/period=7/u"], [program("faults"), "2000", "2"], ["faults"]),
    }
    if build(folder, "copies", COPIES):
        cases["libc"] = (["-e", "cpu-clock:u", "-F", "1999"], [os.path.join(folder, "copies")], ["libc.so.6"])
    else:
        checks.skip("libc", "there is no C compiler")
    for name, (options, command, wanted) in cases.items():
        data = os.path.join(folder, name + ".data")
        if record(data, options, command):
            compare(name, data, wanted)


# --- forms and refusals ---

def code_rows(function):
    return [row for row in function["rows"] if row["kind"] == "code"]


def check_json(data):
    mixed = json.loads(annotate(data, "work", "--format", "json").stdout)
    source = json.loads(annotate(data, "work", "--format", "json", "--mode", "source").stdout)
    assembly = json.loads(annotate(data, "work", "--format", "json", "--mode", "assembly").stdout)
    top = mixed["functions"][0]
    checks.check("json: the function", top["symbol"] == "work" and top["has_code"] and top["has_lines"] and top["has_source"] and
                 set(mixed) == {"functions", "events", "target", "duration_s", "notes", "strobe_version"}, str(top)[:300])
    keys = {"kind", "depth", "offset", "bytes", "address", "is_target", "file", "line", "text", "target_offset", "target",
            "target_row", "percent", "samples", "weight"}
    strange = {key for row in top["rows"] for key in row} - keys
    checks.check("json: keys of rows", not strange, str(strange))
    code = [(row["offset"], row["samples"], row["text"]) for row in code_rows(top)]
    checks.check("json: mixed has the instructions of assembly",
                 code == [(row["offset"], row["samples"], row["text"]) for row in code_rows(assembly["functions"][0])])
    checks.check("json: instructions join on to each other", all(
        row["offset"] + row["bytes"] == after["offset"] for row, after in zip(code_rows(top), code_rows(top)[1:])))
    totals = [sum(row["samples"][0] for row in one["functions"][0]["rows"] if row["kind"] == kind)
              for one, kind in ((mixed, "code"), (source, "line"), (mixed, "line"))]
    checks.check("json: samples of instructions, of lines and of the function are the same",
                 totals == [top["samples"][0]] * 3, f"{totals} of {top['samples']}")
    checks.check("json: percentages are of the function",
                 abs(sum(row["percent"][0] for row in code_rows(top)) - 100) < 0.01)
    jumps = [row for row in code_rows(top) if "target_row" in row]
    checks.check("json: a jump leads to its row", jumps and all(
        top["rows"][row["target_row"]]["offset"] == row["target_offset"] and top["rows"][row["target_row"]]["is_target"]
        for row in jumps), str(jumps))
    heads = [(row["text"], row["depth"]) for row in top["rows"] if row["kind"] == "function"]
    checks.check("json: the inlined function has a head", heads[0] == ("work", 0) and ("inner", 1) in heads, str(heads))
    lines = [row["text"].strip() for row in source["functions"][0]["rows"] if row["kind"] == "line"]
    checks.check("json: source lines", any("x = inner(x);" in line for line in lines) and "return x * 2654435761u" in lines, str(lines))


def check_forms(data):
    check_json(data)
    text = annotate(data, "work").stdout
    checks.check("text: shares, addresses, source", re.search(r"^ +\d+\.\d\d% +>?[0-9a-f]+:  \S", text, re.M) and
                 "inner (inlined)" in text and re.search(r"<\+0x[0-9a-f]+>", text), text[-600:])
    checks.check("text: no escapes where no terminal is", "\033" not in text)
    table = list(csv.DictReader(io.StringIO(annotate(data, "work", "--format", "csv").stdout)))
    code = [row for row in table if row["kind"] == "code"]
    checks.check("csv: sums", code and sum(float(row["cpu-clock:u percent"]) for row in code) > 99.9 and
                 all(row["symbol"] == "work" for row in table), str(table[:3]))
    intel = annotate(data, "work", "--mode", "assembly", "--syntax", "intel").stdout
    checks.check("--syntax intel", "%eax" not in intel and "eax" in intel, intel[-300:])
    both = json.loads(annotate(data, "--rows", "2", "--format", "json").stdout)
    checks.check("the hottest two", {function["symbol"] for function in both["functions"]} == {"work", "evil_work"})
    some = json.loads(annotate(data, "--percent-limit", "10", "--format", "json").stdout)
    checks.check("--percent-limit", all(function["percent"][0] >= 10 for function in some["functions"]))


def refused(name, found, *wanted):
    said = found.stderr
    checks.check(name, found.returncode == 1 and not found.stdout and said.startswith("strobe: ") and
                 all(word in said for word in wanted), f"status {found.returncode}: {said[-300:]!r} {found.stdout[-100:]!r}")


def check_refusals(data, folder):
    refused("no such function", annotate(data, "no_such_function"), "no samples in a function called", "work")
    refused("several", annotate(data, "wor"), "may be one of", "evil_work")
    refused("no samples", annotate(data, "work", "--comm", "nobody"), "no samples that pass the filters")
    refused("none is as hot", annotate(data, "--percent-limit", "100"), "100%")
    full = os.path.join(folder, "full")
    os.mkdir(full)
    with open(os.path.join(full, "mine"), "w", encoding="ascii") as file:
        file.write("mine")
    refused("a directory that is not empty", annotate(data, "--source-tree", full), "not empty")
    refused("no directory", annotate(data, "--source-tree", data), "no directory")
    checks.check("nothing was written there", os.listdir(full) == ["mine"])


def check_missing(data, program, folder):
    """Reads the recording after source, debug information, and finally the program are gone."""
    source = os.path.join(folder, "program.c")
    os.rename(source, source + ".moved")
    found = annotate(data, "work")
    checks.check("no source: file and line", "program.c:" in found.stdout and "is not here" in found.stdout and
                 "imul" in found.stdout, found.stdout[-300:])
    moved = os.path.join(folder, "elsewhere")
    os.mkdir(moved)
    os.rename(source + ".moved", os.path.join(moved, "program.c"))
    found = annotate(data, "work", "--source-prefix", f"{folder}={moved}")
    checks.check("--source-prefix", "return x * 2654435761u" in found.stdout, found.stdout[-300:])
    run(["strip", "-g", program])
    found = annotate(data, "work")
    checks.check("no debug information: instructions alone", "no debug information" in found.stdout and "imul" in found.stdout
                 and "program.c" not in found.stdout, found.stdout[-300:])
    refused("no tree without lines", annotate(data, "--image", "program", "--source-tree", os.path.join(folder, "none")),
            "no source line")
    os.unlink(program)
    refused("no program, no names", annotate(data, "work"), "no samples in a function called")


def check_tree(data, folder):
    inside = os.path.join(folder, "inside")
    tree = os.path.join(inside, "tree")
    os.mkdir(inside)
    before = set(os.listdir(folder))
    found = annotate(data, "--source-tree", tree)
    if not checks.check("tree: written", found.returncode == 0 and "source files below" in found.stdout, found.stderr[-300:]):
        return
    files = [os.path.relpath(os.path.join(where, name), tree) for where, _, names in os.walk(tree) for name in names]
    copy = (os.path.join(folder, "program.c")).lstrip("/")
    checks.check("tree: files by their paths", copy in files and "SUMMARY.txt" in files and any("evil.c" in file for file in files),
                 str(files))
    checks.check("tree: nothing is outside", os.listdir(inside) == ["tree"] and set(os.listdir(folder)) == before and
                 not os.path.exists("/evil.c"), str(os.listdir(folder)))
    source = json.loads(annotate(data, "work", "--format", "json", "--mode", "source").stdout)["functions"][0]
    want = {row["line"]: row["samples"][0] for row in source["rows"] if row["kind"] == "line" and row["samples"][0]}
    with open(os.path.join(tree, copy), encoding="utf-8") as file:
        lines = file.read().splitlines()[2:]
    have = {number: int(line.split()[0]) for number, line in enumerate(lines, 1) if not line.split(" : ")[0].isspace()}
    have = {number: count for number, count in have.items() if number in want}
    checks.check("tree: counts of lines", want and have == want, f"{have} not {want}")
    with open(os.path.join(folder, "program.c"), encoding="utf-8") as file:
        text = file.read().splitlines()
    checks.check("tree: text of lines", [line.split(" : ", 1)[1] for line in lines[:len(text)]] == text)
    refused("tree: not twice", annotate(data, "--source-tree", tree), "not empty")


def forms(folder):
    program, data = (os.path.join(folder, name) for name in ("program", "program.data"))
    if not build(folder, "program", PROGRAM):
        checks.skip("forms", "there is no C compiler")
        return
    if not record(data, ["-e", "cpu-clock:u", "-F", "1999"], [program, "600"]):
        return
    check_forms(data)
    check_refusals(data, folder)
    check_tree(data, folder)
    check_missing(data, program, folder)


def main():
    if not shutil.which("perf"):
        checks.skip("annotate", "perf is not installed")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        against_perf(folder)
    with tempfile.TemporaryDirectory() as folder:
        forms(os.path.realpath(folder))
    checks.finish()


main()
