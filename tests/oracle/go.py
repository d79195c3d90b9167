#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stripped Go programs have names, lines and inlined calls from Go's own table.

They equal those from the debug information of the same programs: static, position-independent, with
cgo, and linked by another linker.

usage: go.py STROBE DUMP_LINES
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe, dump = (os.path.abspath(path) for path in sys.argv[1:3])
ADDRESSES = 3000

PROGRAM = """
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type pair[T any] struct{ a, b T }

//go:noinline
func long(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += helper(i)
	}
	return s
}

func helper(i int) int { return inner(i*3) ^ 7 }
func inner(i int) int  { return i*i + 1 }

//go:noinline
func generic[T any](p pair[T]) string { return fmt.Sprint(p.a, p.b) }

func main() {
	words := strings.Fields("some words to sort")
	sort.Slice(words, func(i, j int) bool { return words[i] < words[j] })
	t := 0
	for i := 0; i < 400; i++ {
		t += long(2000000)
	}
	done := make(chan int)
	for i := 0; i < 100; i++ {
		go func() { done <- long(2000000) }()
	}
	for i := 0; i < 100; i++ {
		t += <-done
	}
	fmt.Fprintln(os.Stderr, t, words, generic(pair[int]{1, 2}))
}
"""
CGO = """
package main

// int cwork(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
import "C"

func init() { C.cwork(1000) }
"""
LINKS = {"static": (False, []), "pie": (False, ["-buildmode=pie"]), "cgo": (True, []),
         "external-pie": (True, ["-buildmode=pie", "-ldflags=-linkmode=external"])}


def build(folder, name, with_cgo, options):
    """Returns (program, None), or (None, the reason)."""
    place = os.path.join(folder, "source-" + name)
    os.mkdir(place)
    for file, text in {"main.go": PROGRAM, "go.mod": "module example.com/program\ngo 1.18\n",
                       **({"cgo.go": CGO} if with_cgo else {})}.items():
        with open(os.path.join(place, file), "w", encoding="ascii") as out:
            out.write(text)
    env = dict(os.environ, GOCACHE=os.path.join(folder, "cache"), GOPATH=os.path.join(folder, "path"), GOFLAGS="-mod=mod",
               GOTOOLCHAIN="local", GOPROXY="off", HOME=folder, CGO_ENABLED="1" if with_cgo else "0")
    path = os.path.join(folder, name)
    made = subprocess.run(["go", "build", *options, "-o", path, "."], cwd=place, env=env, capture_output=True, text=True,
                          check=False)
    return (path, None) if made.returncode == 0 else (None, made.stderr[:300])


def functions(path):
    """Returns [(address, size)] of Go's functions."""
    said = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in said.splitlines()]
    return [(int(word[0], 16), int(word[1], 16)) for word in words
            if len(word) == 4 and word[2] in "tT" and "." in word[3] and not word[3].endswith("(.text)")]


def frames(path, addresses):
    """Returns {address: [(function, file, line)]}.

    Types and calling conventions are left out: only debug information has them.
    """
    said = subprocess.run([dump, path], input="".join(f"{address:x}\n" for address in addresses), capture_output=True,
                          text=True, check=False).stdout
    found = {}
    for block in said.split("\n\n"):
        first, *rest = block.strip("\n").split("\n")
        if first.startswith("0x"):
            fields = [line.split("\t") for line in rest]
            found[int(first, 16)] = [(field[0].partition("[")[0].removesuffix(".abi0"), os.path.basename(field[1]), field[2])
                                     for field in fields]
    return found


def compare(name, path, stripped):
    rng = random.Random(name)
    addresses = sorted({start + rng.randrange(size) for start, size in rng.choices(functions(path), k=ADDRESSES)})
    right, ours = frames(path, addresses), frames(stripped, addresses)
    known = [address for address in addresses if right.get(address)]
    wrong = [(hex(address), right[address], ours.get(address)) for address in known if right[address] != ours.get(address)]
    inlined = sum(len(right[address]) > 1 for address in known)
    # Debug information leaves out the bodies inlined into wrappers, and has some better lines.
    checks.check(f"{name}: {len(known)} places, {inlined} of them inlined, are as debug information has them",
                 len(known) > ADDRESSES / 2 and inlined > ADDRESSES / 20 and len(wrong) < len(known) / 200,
                 f"{len(wrong)} are not: {wrong[:3]}")


def events(*options):
    done = common.run([strobe, "report", "--format", "json", *options])
    try:
        return json.loads(done.out[done.out.index("{"):])["events"], str(done)
    except ValueError:
        return [], str(done)[:600]


def rows(*options):
    told, said = events(*options)
    return [row for event in told for row in event["rows"]], said


def run_it(name, stripped):
    """Runs the program: nearly all of its time is in one function, with two others inlined."""
    found, said = rows("--", stripped)
    total = sum(row["samples"] for row in found if row["image"] == os.path.basename(stripped))
    ours = sum(row["samples"] for row in found if row["symbol"] == "main.long")
    checks.check(f"{name}: the hot function has its name", total and ours > 0.9 * total, said[:600])
    found, said = rows("--group", "line", "--", stripped)
    lines = sorted(((row["samples"], row["line"]) for row in found), reverse=True)
    ours = sum(n for n, line in lines if re.search(r"main\.go:(1[4-9]|2[0-3])$", line))
    checks.check(f"{name}: the hottest lines are its own", ours > 0.8 * sum(n for n, _ in lines),
                 f"{ours} of {lines[:4]} {said[:300]}")


def reaches_the_root(name, path):
    """Chains end at the start of the goroutines: 100 workers and main."""
    for mode in ("auto", "dwarf", "fp"):
        told, said = events("-e", "cpu-clock:u", "--call-graph", mode, "--", path)
        whole = told[0].get("chains_whole_percent", 0) if told else 0
        checks.check(f"{name}: --call-graph {mode}: {whole} % of the chains are whole", whole >= 99, said[:600])


def named(stripped):
    """A probe by name finds its address in the table."""
    done = common.run([strobe, "stat", "--format", "csv", "-e", f"uprobe:{stripped}:main.long", "--", stripped])
    if "not permitted" in done.err or "no such" in done.err:
        checks.skip("a probe by name", done.err[:200])
        return
    checks.check("a probe by name counts each call", re.search(r"(^|,)500,", done.out, re.MULTILINE), str(done)[:600])


def main():
    if not shutil.which("go"):
        checks.skip("Go programs", "there is no go")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        for name, (with_cgo, options) in LINKS.items():
            path, reason = build(folder, name, with_cgo, options)
            if not path:
                checks.skip(name, f"go build: {reason}")
                continue
            stripped = path + "-stripped"
            subprocess.run(["strip", "-s", "-o", stripped, path], check=True)
            compare(name, path, stripped)
            run_it(name, stripped)
            reaches_the_root(name, path)
        if os.path.exists(os.path.join(folder, "static-stripped")):
            named(os.path.join(folder, "static-stripped"))
    checks.finish()


if __name__ == "__main__":
    main()
