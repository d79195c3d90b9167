#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts that a recording keeps of its run.

Names of deleted programs and of the 32-bit vdso, files of perf record --threads, and exact
addresses.

usage: kept.py STROBE
"""

import contextlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, let_run, run, started  # noqa: E402

checks = Checks()
PATIENCE_S = 120
PROGRAM = """
#include <unistd.h>
volatile unsigned long sum;
__attribute__((noinline)) void %s(void)
{
	for (int i = 0; i < 100000; i++)
		sum += i;
}
int main(int argc, char **argv)
{
	while (access(argv[1], F_OK))
		%s();
	return argc < 1;
}
"""
ALPHA, BETA, DELTA, EPSILON = "a1" * 20, "b2" * 20, "d4" * 20, "e5" * 20  # build-ids
NARROW = "-m32 -O1 -nostdlib -static -fno-pie -no-pie -fno-stack-protector".split()
EXACT = 1 << 14  # PERF_RECORD_MISC_EXACT_IP


def build(path, function, *options):
    """Build a program; True if it was built and runs on this machine."""
    try:
        subprocess.run(["gcc", "-O1", *options, "-x", "c", "-o", path, "-"], input=PROGRAM % (function, function),
                       text=True, check=True, timeout=60, stderr=subprocess.DEVNULL)
        subprocess.run([path, "/"], check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def wait_for(condition, process):
    """Wait for the condition; False if the process ended first or time ran out."""
    end = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < end:
        if process.poll() is not None:
            return bool(condition())
        time.sleep(0.02)
    return bool(condition())


def is_kept(build_id):
    """Return whether the cache has the symbols of this build-id."""
    return any(build_id in name for name in tables())


def tables():
    """Return the symbol tables in the cache.  Unwind tables are read first; they end in -uN.sym."""
    with contextlib.suppress(OSError):
        return [name for name in os.listdir(os.path.join(os.environ["XDG_CACHE_HOME"], "strobe"))
                if name.startswith(("id", "vdso")) and not re.search(r"-u\d+\.sym$", name)]
    return []


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def recording(strobe, data, options, steps):
    """Record until all steps are done; a step is a condition and an action to take when it holds.

    Returns the standard error, or None if the recording is refused."""
    with subprocess.Popen([strobe, "record", "-F", "997", "-o", data, *options], stderr=subprocess.PIPE, text=True) as process:
        for condition, then in steps:
            wait_for(condition, process)
            then()
        err = process.communicate(timeout=PATIENCE_S)[1]
    if process.returncode and not os.path.exists(data):
        checks.skip(os.path.basename(data), err.strip())
        return None
    return err


def samples(result, image):
    """Return {symbol: samples} of an image."""
    found = {}
    with contextlib.suppress(ValueError):
        for row in json.loads(result.out)["events"][0]["rows"]:
            if row["image"] == image and row["symbol"]:
                found[row["symbol"]] = found.get(row["symbol"], 0) + row["samples"]
    return found


def report(strobe, data, *options, **kwargs):
    return run([strobe, "report", data, "--no-call-graph", "--format", "json", *options], **kwargs)


def deleted(strobe, folder):
    """A program that is deleted while it runs keeps its names."""
    path, stop, data = (os.path.join(folder, name) for name in ("gone", "stop1", "gone.data"))
    work = f"cp {folder}/alpha {path}; {path} {stop}"
    err = recording(strobe, data, ["--", "sh", "-c", work],
                    [(lambda: is_kept(ALPHA), lambda: (os.unlink(path), touch(stop)))])
    if err is None:
        return
    result = report(strobe, data)
    found = samples(result, "gone")
    checks.check("a program that was deleted while it ran has its names", found.get("alpha_work", 0) > 0
                 and "cannot read" not in result.out, (found, err, result))
    # Another cache directory is empty, like that of another user or machine.
    other = samples(report(strobe, data, env={"XDG_CACHE_HOME": os.path.join(folder, "other")}), "gone")
    checks.check("the recording has its symbols, for readers without the cache", other == found, (other, found))


def replaced(strobe, folder):
    path, data = os.path.join(folder, "program"), os.path.join(folder, "replaced.data")
    stops = [os.path.join(folder, name) for name in ("stop2", "stop3")]
    work = f"cp {folder}/delta {path}; {path} {stops[0]}; rm {path}; cp {folder}/beta {path}; {path} {stops[1]}"
    err = recording(strobe, data, ["--", "sh", "-c", work],
                    [(lambda: is_kept(DELTA), lambda: touch(stops[0])),
                     (lambda: is_kept(BETA), lambda: touch(stops[1]))])
    if err is None:
        return
    result = report(strobe, data)
    found = samples(result, "program")
    checks.check("two builds that had one path have addresses, and no names of each other",
                 found and all(name.startswith("program+") for name in found), (found, err, result))


def attached(strobe, folder):
    """A program that had lost its path before strobe attached."""
    path, stop, data = (os.path.join(folder, name) for name in ("early", "stop4", "early.data"))
    subprocess.run(["gcc", "-O1", "-Wl,--build-id=0x" + "c3" * 20, "-x", "c", "-o", path, "-"],
                   input=PROGRAM % ("gamma_work", "gamma_work"), text=True, check=True, timeout=60)
    with started([path, stop]) as process:
        os.unlink(path)
        err = recording(strobe, data, ["-p", str(process.pid)], [(lambda: is_kept("c3" * 20), lambda: touch(stop))])
    if err is None:
        return
    result = report(strobe, data)
    found = samples(result, "early")
    checks.check("a program that was deleted before has its names", found.get("gamma_work", 0) > 0, (found, err, result))
    # Users like nobody have no cache.
    other = samples(report(strobe, data, env={"XDG_CACHE_HOME": "/dev/null/none"}), "early")
    checks.check("also for a reader who cannot have a cache", other == found, (other, found))


def without_build_id(strobe, folder):
    """Only the path of a deleted program is known, and another program now has that path."""
    path, stop, data = (os.path.join(folder, name) for name in ("unproven", "stop0", "unproven.data"))
    build(path, "unproven_work", "-Wl,--build-id=none")
    with started([path, stop]) as process:
        os.unlink(path)
        result = run([strobe, "record", "-F", "997", "--duration", "1", "-o", data, "-p", str(process.pid)])
        touch(stop)
    if not os.path.exists(data):
        checks.skip("a program without a build-id", result.err.strip())
        return
    shutil.copy(os.path.join(folder, "beta"), path)
    for home in ("home", "other"):
        read = report(strobe, data, env={"XDG_CACHE_HOME": os.path.join(folder, home)})
        found = samples(read, "unproven")
        checks.check("a deleted program without a build-id has its names, and not those of the file there now",
                     found.get("unproven_work", 0) > 0 and not found.get("beta_work"), (found, result, read))


def mark_exact(data, each):
    """Mark the address of every `each`th sample as exact, like hardware.  Returns their number, and
    that of all samples."""
    with open(data, "rb") as file:
        bytes_ = bytearray(file.read())
    at, size = struct.unpack_from("<QQ", bytes_, 40)
    end, n, marked = at + size, 0, 0
    while at < end:
        kind, misc, length = struct.unpack_from("<IHH", bytes_, at)
        if kind == 9:
            n += 1
            if n % each == 0:
                struct.pack_into("<H", bytes_, at + 4, misc | EXACT)
                marked += 1
        at += length
    with open(data, "wb") as file:
        file.write(bytes_)
    return marked, n


def exact(strobe, folder):
    stop, data = os.path.join(folder, "stop6"), os.path.join(folder, "precise.data")
    err = recording(strobe, data, ["--", os.path.join(folder, "epsilon"), stop],
                    [(lambda: is_kept(EPSILON), lambda: touch(stop))])
    if err is None:
        return
    plain = run([strobe, "report", data])
    checks.check("an event that is never exact has no word about it",
                 "exact" not in plain.out and "exact_percent" not in report(strobe, data).out, plain)
    marked, n = mark_exact(data, 4)
    percent = json.loads(report(strobe, data).out)["events"][0].get("exact_percent", -1)
    checks.check("JSON has the share of exact addresses", abs(percent - 100 * marked / n) < 0.01, (percent, marked, n))
    text = run([strobe, "report", data])
    told = f"addresses exact {100 * marked / n:.1f}%"
    checks.check("the report says it", told in text.out, text)
    annotated = run([strobe, "annotate", data, "epsilon_work"])
    checks.check("annotate says that the others skid",
                 f"{100 * marked / n:.1f}% of the addresses are exact; the others may be of an instruction after" in
                 " ".join(annotated.out.split()), annotated)


def perf(*command):
    with contextlib.suppress(OSError):
        return subprocess.run(["perf", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60,
                              check=False).stdout
    return ""


def beside_perf(strobe, folder):
    """All readers share the kernel's record headers: flags that strobe requests must not reach
    others."""
    theirs, data = os.path.join(folder, "theirs.data"), os.path.join(folder, "beside.data")
    with subprocess.Popen([strobe, "record", "-a", "-o", data, "--duration", "3"], stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: os.path.exists(data), process)
        with contextlib.suppress(OSError):
            done = subprocess.run(["perf", "record", "-q", "-a", "-o", theirs, "--", "sh", "-c", "for i in 1 2 3 4; do sleep .3; done"],
                                  capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            if done.returncode < 0 or done.returncode == 134 or os.path.exists(theirs):
                checks.check("perf record ends well beside strobe record", done.returncode == 0, done)
        process.communicate(timeout=PATIENCE_S)


def incomplete(strobe, data, folder):
    """Files of a directory are missing, even the last one, or truncated."""
    sizes = {name: os.path.getsize(os.path.join(data, name)) for name in os.listdir(data) if name.startswith("data.")}
    for name in sorted({"data.0", f"data.{len(sizes) - 1}"}):
        copy = os.path.join(folder, f"without-{name}")
        shutil.copytree(data, copy)
        os.unlink(os.path.join(copy, name))
        result = report(strobe, copy)
        checks.check(f"a directory without {name} says so", f"{name} of the recording is missing" in result.out, result)
    copy, name = os.path.join(folder, "cut"), max(sizes, key=sizes.get)
    shutil.copytree(data, copy)
    os.truncate(os.path.join(copy, name), sizes[name] - 5)
    result = report(strobe, copy)
    checks.check("a directory with a file cut names it", f"{name} of the recording is cut short at byte" in result.out, result)


def directories(strobe, folder):
    """perf record --threads writes one file for each CPU."""
    for name, options in (("threads", ["-F", "999"]), ("packed", ["-z", "-g", "-F", "4999"])):
        data = os.path.join(folder, name)
        perf("record", "-q", "--threads=cpu", "-o", data, "-a", "-e", "cpu-clock,page-faults", *options, "--",
             "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do ls / > /dev/null; done")
        if not os.path.exists(os.path.join(data, "data.0")):
            checks.skip(f"directories of perf record: {name}", "perf record --threads does not work here")
            continue
        theirs = re.findall(r"(\S+) stats:\s+SAMPLE events:\s+(\d+)", perf("report", "-i", data, "--stats"))
        result = report(strobe, data)
        ours = [(event["name"], str(event["samples"])) for event in json.loads(result.out)["events"] if event["samples"]]
        checks.check(f"{name}: as many samples as perf reads", theirs and ours == theirs, (ours, theirs, result))
        checks.check(f"{name}: all in order", "too late in the file" not in result.out, result)
        weight = json.loads(result.out)["events"][0]["weight"]
        folded = run([strobe, "export", data, "--format", "folded", "-e", ours[0][0]])
        checks.check(f"{name}: exports read it", weight == sum(int(line.split()[-1]) for line in folded.out.splitlines()),
                     (weight, folded))
        script = run([strobe, "export", data, "--format", "script"])
        checks.check(f"{name}: also a second time", script.status == 0 and ours[0][0] in script.out, script)
        checks.check(f"{name}: no file is missing", "of the recording is" not in result.out, result)
        incomplete(strobe, data, os.path.join(folder, f"{name}-incomplete"))
    one = run([strobe, "report", os.path.join(data, "data")])
    checks.check("one file of a directory names the directory", one.status == 1 and "name its directory" in one.err, one)
    packed = run([strobe, "archive", data, "-o", os.path.join(folder, "packed.tar.zst")])
    checks.check("archives are of one file", packed.status != 0 and "is a directory" in packed.err, packed)
    said = set()
    for words in (["report"], ["report", "-i"], ["annotate"], ["annotate", "main"], ["export", "--format", "script"], ["diff", data],
                  ["live"], ["record"], ["stat"], ["archive"]):
        none = run([strobe, *words, folder])
        checks.check(f"another directory is refused: {words}", none.status == 2 and "without a recording" in none.err, none)
        said.add(none.err)
    checks.check("by one and the same sentence", len(said) == 1, said)


def vdso(strobe, folder):
    """The vdso of a 32-bit program exists only in its memory."""
    path, data = (os.path.join(folder, name) for name in ("narrow", "narrow.data"))
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "narrow.c")
    try:
        subprocess.run(["gcc", *NARROW, "-o", path, source], check=True, timeout=60, stderr=subprocess.DEVNULL)
        with started([path]) as process:
            let_run(process.pid, 0.02)
            os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "narrow-home")
            # One table is the program's, one the vdso's.
            err = recording(strobe, data, ["-p", str(process.pid)], [(lambda: len(tables()) > 1, process.kill)])
    except (OSError, subprocess.SubprocessError):
        checks.skip("the vdso of a 32-bit program", "this machine runs none; tests/vm/narrow.py has a guest that does")
        return
    if err is None:
        return
    result = report(strobe, data)
    found = samples(result, "[vdso]")
    checks.check("the vdso of a 32-bit program has names", any("clock_gettime" in name for name in found), (found, err, result))
    theirs = data + ".perf"
    perf("record", "-q", "-e", "cpu-clock", "-o", theirs, "--", "timeout", "1", path)
    if os.path.exists(theirs):
        found = samples(report(strobe, theirs), "[vdso]")
        checks.check("in a recording of perf, too", any("clock_gettime" in name for name in found), found)


def main():
    strobe = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="strobe-test-kept-") as folder:
        os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "home")
        os.mkdir(os.environ["HOME"])
        build(os.path.join(folder, "alpha"), "alpha_work", f"-Wl,--build-id=0x{ALPHA}")
        build(os.path.join(folder, "beta"), "beta_work", f"-Wl,--build-id=0x{BETA}")
        build(os.path.join(folder, "delta"), "delta_work", f"-Wl,--build-id=0x{DELTA}")
        build(os.path.join(folder, "epsilon"), "epsilon_work", f"-Wl,--build-id=0x{EPSILON}")
        deleted(strobe, folder)
        replaced(strobe, folder)
        exact(strobe, folder)
        beside_perf(strobe, folder)
        attached(strobe, folder)
        without_build_id(strobe, folder)
        directories(strobe, folder)
        vdso(strobe, folder)
    checks.finish()


main()
