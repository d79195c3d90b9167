#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording keeps the names of code that has disappeared: code made at run time, and files that
only a container had.  Other files at their paths on this machine must not name them.

usage: containers.py STROBE JIT
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe, workload = (os.path.abspath(path) for path in sys.argv[1:3])
# The containers have a /tmp of their own.
folder = tempfile.mkdtemp(prefix="strobe-test-containers-", dir="/var/tmp")
spot = os.path.join(folder, "spot")
HOT, COLD = "py::hot:/home/me/a program.py", "py::cold:/home/me/a program.py"
ENV = {"XDG_CACHE_HOME": os.path.join(folder, "cache"), "HOME": folder}
AS_USER = ["unshare", "--map-root-user"]
CONTAINER = ["--mount", "--pid", "--fork", "sh", "-c"]
SOURCE = """#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) void %s(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}
int main(int argc, char **argv)
{
	while (argc > 1 && clock() < atof(argv[1]) * CLOCKS_PER_SEC)
		%s();
	return 0;
}
"""


def unshare():
    return ["unshare"] if os.geteuid() == 0 else AS_USER


def rows(result):
    with contextlib.suppress(ValueError):
        return [row for event in json.loads(result.out)["events"] for row in event["rows"]]
    return []


def samples(result, symbol, image=None):
    return sum(row["samples"] for row in rows(result)
               if row.get("symbol") == symbol and image in (None, row.get("image")))


def run(*arguments, **how):
    return common.run([strobe, *arguments], **{"env": ENV, "cwd": folder, **how})


def report(data, **how):
    return run("report", "--format", "json", data, **how)


def judge(name, result, image):
    """hot has three quarters of the samples in code, within a chance of one in a million."""
    hot, cold, total = samples(result, HOT, image), samples(result, COLD, image), sum(row["samples"] for row in rows(result))
    checks.check(f"{name}: names", hot > 0 and cold > 0 and samples(result, "of another") == 0, str(result)[:3000])
    n = max(hot + cold, 1)
    checks.amount(f"{name}: shares", abs(hot - 0.75 * n) <= 4.9 * (n * 0.1875) ** 0.5 and n > 0.8 * total, (hot, cold, total))


def record(data, command, *options):
    result = run("record", "-e", "cpu-clock", "-F", "997", "-o", data, *options, "--", *command)
    checks.check(f"recorded {data}", result.status == 0, str(result))
    return result


def in_container(script):
    return [*unshare(), *CONTAINER, f"mount -t tmpfs none /tmp && {script}"]


def processes(data):
    result = run("report", "--format", "json", "--group", "process", data)
    return {row["process"] for row in rows(result) if row.get("process")}


@contextlib.contextmanager
def decoys(data):
    """Create maps on this machine that would name all code, for the pids of the recording and for
    pid 1."""
    made = []
    try:
        for pid in processes(data) | {1}:
            path = f"/tmp/perf-{pid}.map"
            if os.path.exists(path):
                continue
            made.append(path)
            with open(path, "w", encoding="ascii") as out:
                out.writelines(f"{high:x}00000000 ffffffff of another\n" for high in range(1, 1 << 16))
        yield
    finally:
        for path in made:
            os.unlink(path)


def elsewhere(name, data, judge_it):
    """Pack the recording and read it from another place, with another home."""
    archive = os.path.join(folder, data + ".tar.zst")
    packed = run("archive", data, "-o", archive)
    checks.check(f"{name}: packed", packed.status == 0, str(packed))
    away = os.path.join(folder, "away")
    os.makedirs(away, exist_ok=True)
    with decoys(data):
        judge_it(f"{name}, archive", report(archive, env={"HOME": away, "XDG_CACHE_HOME": away}, cwd=away))


def maps():
    record("map.data", in_container(f"exec {jit} map 0.5"))
    with decoys("map.data"):
        judge("container", report("map.data"), "perf-1.map")
    elsewhere("container", "map.data", lambda name, result: judge(name, result, "perf-1.map"))
    # Record to a pipe, compressed and uncompressed.
    for name, options in (("pipe", []), ("compressed pipe", ["--compress"])):
        with open(os.path.join(folder, "pipe.data"), "wb") as out:
            subprocess.run([strobe, "record", "-e", "cpu-clock", *options, "-o", "-", "--", *in_container(f"exec {jit} map 0.5")],
                           stdout=out, stderr=subprocess.DEVNULL, env=dict(os.environ, **ENV), check=True, timeout=120)
        judge(name, report("pipe.data"), "perf-1.map")
        with open(os.path.join(folder, "pipe.data"), "rb") as piped:
            piped_result = subprocess.run([strobe, "report", "--format", "json", "-"], stdin=piped, capture_output=True,
                                          env=dict(os.environ, **ENV), check=False, timeout=120)
        judge(f"{name}, read from a pipe", common.Result(0, piped_result.stdout.decode(), "", False), "perf-1.map")
        if shutil.which("perf"):
            for command in (["script", "-i"], ["report", "--stdio", "-i"]):
                read = common.run(["perf", *command, os.path.join(folder, "pipe.data")])
                checks.check(f"{name}: perf {command[0]}", read.status == 0 and "jit" in read.out and
                             not any(word in read.err.lower() for word in ("failed", "error", "invalid")), str(read)[:2000])


def perf_reads():
    if not shutil.which("perf"):
        checks.skip("perf reads what has copies", "perf is not installed")
        return
    path = os.path.join(folder, "map.data")
    ours = sum(row["samples"] for row in rows(report("map.data")))
    script = common.run(["perf", "script", "-F", "ip,sym", "-G", "-i", path])
    checks.check("perf script reads all samples", script.status == 0 and len(script.out.splitlines()) == ours,
                 (ours, str(script)[:2000]))
    read = common.run(["perf", "report", "--stdio", "-i", path])
    checks.check("perf report", read.status == 0 and "jit" in read.out, str(read)[:2000])
    injected = common.run(["perf", "inject", "-i", path, "-o", path + ".injected"])
    checks.check("perf inject", injected.status == 0 and
                 sum(row["samples"] for row in rows(report(path + ".injected"))) == ours, str(injected))


def removed():
    """A process removes its map: one of this machine, and a child whose parent has written it."""
    record("removed.data", ["sh", "-c", f"{jit} map 0.5 & pid=$!; wait $pid; rm /tmp/perf-$pid.map"])
    judge("removed by its process", report("removed.data"), None)
    with common.started([jit, "fork", "60"], wait_for="ready") as parent:
        with open(f"/proc/{parent.pid}/task/{parent.pid}/children", encoding="ascii") as children:
            child = children.read().split()[0]
        run("record", "-e", "cpu-clock", "-F", "997", "-o", "child.data", "-p", child, "--duration", "0.5")
    judge("map of the parent", report("child.data"), f"perf-{parent.pid}.map")


def none():
    """The process had no map, so a map on this machine belongs to another process."""
    record("none.data", in_container(f"exec {jit} late 0.5"))
    with decoys("none.data"):
        result = report("none.data")
    checks.check("container without a map: no names", samples(result, "of another") == 0 and samples(result, "[anon]") > 0,
                 str(result)[:2000])


def dumps():
    record("dump.data", in_container(f"cd /tmp && exec {jit} dump 0.5"))
    judge("jitdump", report("dump.data"), "jit-1.dump")
    elsewhere("jitdump", "dump.data", lambda name, result: judge(name, result, "jit-1.dump"))
    annotated = run("annotate", "dump.data", HOT)
    checks.check("jitdump: annotated", "jne" in annotated.out or "b.ne" in annotated.out, str(annotated))


def changed():
    """Code replaced other code: a sample has the name of its time, by how the map grew."""
    record("changed.data", in_container(f"exec {jit} mapped 6"))
    result = report("changed.data")
    one, two = samples(result, "gen_one", "perf-1.map"), samples(result, "gen_two", "perf-1.map")
    checks.amount("code in the place of other code", one > 0.3 * (one + two) > 0 and two > 0.3 * (one + two), str(result)[:2000])


def large():
    """A map that is too large keeps only its two ends, and strobe says so."""
    record("large.data", in_container(
        f"{jit} map 1 & sleep 0.1; dd if=/dev/zero of=/tmp/perf-2.map bs=1M count=1 seek=8191 status=none; wait"))
    size = os.stat(os.path.join(folder, "large.data")).st_size
    checks.check("large map: bounded", size < 256 << 20, size)


def build(path, function, *options):
    subprocess.run(["gcc", "-O1", *options, "-x", "c", "-o", path, "-"], input=SOURCE % (function, function), text=True,
                   check=True, timeout=60)


def files():
    """Programs at a path that holds another program on this machine, with and without a
    build-id."""
    os.mkdir(spot)
    for name, options in (("build-id", []), ("no build-id", ["-Wl,--build-id=none"])):
        build(os.path.join(folder, "inner"), "in_container", *options)
        build(os.path.join(spot, "prog"), "of_another", *options)
        data = name.replace(" ", "-") + ".data"
        record(data, [*unshare(), *CONTAINER,
                      f"mount -t tmpfs none {spot} && cp {folder}/inner {spot}/prog && exec {spot}/prog 0.5"])

        def judge_it(what, result):
            named, others = samples(result, "in_container"), samples(result, "of_another")
            checks.check(f"{what}: the container's names", named > 0 and others == 0, (named, others, str(result)[:2000]))

        judge_it(f"file with {name}", report(data))
        elsewhere(f"file with {name}", data, judge_it)
        annotated = run("annotate", data, "in_container")
        checks.check(f"file with {name}: no code of another", "of_another" not in annotated.out, str(annotated))


def ordinary_user():
    if os.geteuid() != 0:
        checks.skip("an ordinary user's container", "not root")
        return
    with common.public_copy(strobe) as (copy,):
        home = os.path.join(folder, "home")
        os.mkdir(home)
        os.chown(home, common.NOBODY, common.NOBODY)
        how = {"user": common.NOBODY, "cwd": home, "env": {"XDG_CACHE_HOME": os.path.join(home, "cache")}}
        recorded = common.run([copy, "record", "-e", "cpu-clock:u", "-o", "user.data", "--", *AS_USER, *CONTAINER,
                               f"mount -t tmpfs none /tmp && exec {jit} map 0.5"], **how)
        if recorded.status:
            checks.skip("an ordinary user's container", str(recorded))
            return
        judge("an ordinary user's container", common.run([copy, "report", "--format", "json", "user.data"], **how), "perf-1.map")


def main():
    global jit
    try:
        os.chmod(folder, 0o755)
        jit = shutil.copy(workload, os.path.join(folder, "jit"))
        refused = common.run(in_container("exec true"))
        tests = [maps, perf_reads, removed, none, dumps, changed, large, files, ordinary_user]
        if refused.status:
            checks.skip("containers", str(refused))
            tests = []
        for test in tests:
            test()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    checks.finish()


main()
