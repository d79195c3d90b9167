#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens recordings made by strobe with perf: no warning, and the same counts as strobe's.

For each recording, both agree on every sample, the number of each record type, and the counts per
command, image and symbol.  perf report, script and annotate print no complaint.

usage: record.py STROBE DUMP WORKLOADS [CASE...]
"""

import collections
import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import recordings_counts as counts  # noqa: E402
from checks import amounts_count  # noqa: E402
from perf_names import in_kernel  # noqa: E402
from recordings_counts import checks, run, text_of  # noqa: E402

SECONDS = "2"
LOST = re.compile(rb"Warning:\nProcessed \d+ events and lost \d+ chunks!\n\nCheck IO/CPU overload!\n\n")
KILLED_BYTES = 1 << 20  # some thousand samples
PATIENCE_S = 60  # for a step that takes a second on a quiet machine
counts.TYPES[67] = "BUILD_ID"


def cases(work):
    """Returns {name: (options of strobe record, command or None, workload to attach or None)}."""
    def program(name):
        return os.path.join(work, name)
    shares = [program("shares"), "20"]
    storm = [program("spawner"), "tree", "300", "2000"]
    return {
        "process": (["--duration", SECONDS, "-F", "4999"], None, shares),
        "machine": (["-a", "--duration", SECONDS], None, shares),
        "events": (["-e", "cpu-clock,page-faults,context-switches", "-F", "1999"], storm, None),
        "period": (["-e", "page-faults", "-c", "1"], [program("faults"), "2000", "3"], None),
        "flat": (["--no-call-graph", "-a", "--duration", SECONDS], None, shares),
        "forks": (["-F", "4999"], storm, None),
        "tasks": (["-F", "4999", "--scope", "task"], [program("spawner"), "exec", "60", "20000"], None),
        "inherit": (["-F", "4999", "--scope", "inherit", "--stat"], [program("spawner"), "exec", "60", "20000"], None),
        "threads": (["--duration", SECONDS, "-F", "1999"], None, [program("threads"), "100", "40"]),
        "compressed": (["-z", "-a", "--duration", SECONDS, "-F", "4999"], None, shares),
        "pipe": (["-a", "--duration", SECONDS, "-o", "-"], None, shares),
        "lost": (["-a", "-F", "20000", "--no-credit", "--ring-pages", "1", "--duration", SECONDS], None,
                 [program("deep"), "20", "2"]),
        "packed-pipe": (["-z", "-a", "--duration", SECONDS, "-o", "-"], None, shares),
    }


def record(strobe, options, command, path):
    """Returns (result of strobe record, number of samples that it says it wrote; -1 if none)."""
    line = [strobe, "record", *options]
    if "-o" not in options:
        line += ["-o", path]
    if command:
        line += ["--", *command]
    with open(path if "-o" in options else os.devnull, "wb") as out:
        made = subprocess.run(line, stdout=out, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120, check=False)
    told = re.search(rb": [\d.]+ \w+, (\d+) samples, (\d+) lost", made.stderr)
    return made, int(told[1]) if told else -1


def attach(workload):
    """Starts a workload of its own, which ends with the case."""
    return subprocess.Popen(workload, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if condition():
                return True
        time.sleep(0.05)
    return False


def is_running(pid, command):
    """Returns whether pid runs the program already, with all the threads that it should have."""
    with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as comm:
        wanted = int(command[1]) if os.path.basename(command[0]) == "threads" else 1
        return comm.read().strip() == os.path.basename(command[0]) and len(os.listdir(f"/proc/{pid}/task")) >= wanted


def is_silent(name, what, command):
    made = run(command, stdin=subprocess.DEVNULL)
    # A strobe with a sanitizer may lose samples.
    said = made.stderr if amounts_count() else LOST.sub(b"", made.stderr)
    checks.check(f"{name}: {what} has no warning", made.returncode == 0 and not said,
                 f"status {made.returncode}: {made.stderr[-400:]!r}")


def look_at(strobe, dump, name, path, said, machine):
    samples, types, events, others = counts.our_dump(dump, path)
    checks.check(f"{name}: {said:,} samples were written", said == sum(samples.values()) and said > 0,
                 f"{sum(samples.values())} were read")
    # perf report --stats ignores the compression that a pipe announces, also in perf's own
    # recordings.
    if name != "packed-pipe":
        counts.compare_types(name, path, types)
    counts.compare_lost(name, path, events, others)
    if name == "lost":
        return  # perf rightly complains; each program has its own way to make up for lost forks
    is_silent(name, "perf report", ["perf", "report", "--no-children", "-g", "none", "--stdio", "-i", path])
    is_silent(name, "perf script", ["perf", "script", "-i", path])
    theirs, strange = counts.perf_samples(path)
    counts.compare_samples(name, samples, kernel_samples(theirs), strange, machine)
    compare_counts(strobe, name, path, machine)


def images_of_others(rows):
    kept = collections.Counter()
    for (command, image, symbol), n in rows.items():
        known = command in counts.WORKLOADS
        kept[(command, image if known else in_kernel(image), symbol if known else "")] += n
    return kept


def kernel_samples(samples):
    return collections.Counter({(*key[:7], in_kernel(key[7]) if key[6].startswith("ffff") else key[7]): n
                                for key, n in samples.items()})


def compare_counts(strobe, name, path, machine):
    """Compares all symbols of the workload.

    Other rows of a single program's recording are compared by image only: demanglers differ.
    """
    made = run([strobe, "report", path, "--group", "command,image,symbol", "--format", "json"])
    for event in json.loads(made.stdout)["events"]:
        ours, theirs = counts.our_counts(event), counts.perf_counts(path, event["name"])
        if machine:
            ours, theirs = counts.comparable(ours), counts.comparable(theirs)
        else:
            ours, theirs = images_of_others(ours), images_of_others(theirs)
        ours, theirs = counts.with_aliases(ours, theirs, counts.paths_of(path))
        checks.check(f"{name}: {event['name']}: {len(ours)} rows of command, image and symbol are equal",
                     ours == theirs, counts.difference(ours, theirs))


def annotate(name, path, symbol):
    is_silent(name, "perf annotate", ["perf", "annotate", "--stdio", "-i", path, "-s", symbol])
    shown = text_of(["perf", "annotate", "--stdio", "-i", path, "-s", symbol])
    checks.check(f"{name}: perf annotate shows the code of {symbol}", re.search(r"^\s+[1-9]\d*\.\d+ ", shown, re.MULTILINE),
                 shown[:300])


def streams(strobe, name, path):
    """Both tools read the same bytes through a pipe."""
    for reader in (["perf", "report", "-i", "-", "--stdio", "--no-children", "-g", "none"], [strobe, "report", "-"]):
        with open(path, "rb") as recording:
            made = subprocess.run(["cat"], stdin=recording, capture_output=True, check=True)
        got = run(reader, input=made.stdout)
        checks.check(f"{name}: {os.path.basename(reader[0])} reads it from standard input",
                     got.returncode == 0 and not got.stderr and b"shares" in got.stdout, repr(got.stderr[-400:]))


def killed(strobe, dump, work, path):
    """A recorder that is killed leaves the records it has written."""
    for name, content in ((path, "one"), (path + ".old", "two")):
        with open(name, "w", encoding="ascii") as file:
            file.write(content)
    workload = attach([os.path.join(work, "shares"), "100"])
    recorder = subprocess.Popen([strobe, "record", "-a", "-F", "4999", "-o", path], stderr=subprocess.DEVNULL)
    wait_for(lambda: os.path.getsize(path) > KILLED_BYTES)
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    workload.kill()
    workload.wait()
    left = sorted(name for name in os.listdir(os.path.dirname(path)) if name.startswith(os.path.basename(path)))
    with open(path + ".old", encoding="ascii") as file:
        checks.check("killed: what was there is renamed, and nothing else is left",
                     file.read() == "one" and left == [os.path.basename(path), os.path.basename(path) + ".old"], left)
    ours = sum(counts.our_dump(dump, path)[0].values())
    theirs, _ = counts.perf_samples(path)
    checks.check(f"killed: {ours:,} samples are read", ours > 1000 and ours == sum(theirs.values()),
                 f"perf reads {sum(theirs.values())}")
    made = run([strobe, "report", path])
    checks.check("killed: strobe report reads it and tells", made.returncode == 0 and b"shares_hot" in made.stdout,
                 repr(made.stderr[-400:]))


def on_screen(command, keys):
    """Returns the output of a screen.

    keys: (pattern, keys), each typed as soon as the screen shows the pattern.  q follows at the
    end.
    """
    child, screen = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(command[0], command)
    shown = b""
    for pattern, text in [*keys, (None, None)]:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and not (pattern and re.search(pattern, shown)):
            if not select.select([screen], [], [], 0.1)[0]:
                continue
            try:
                got = os.read(screen, 65536)
            except OSError:
                got = b""
            if not got:
                break
            shown += got
        if text:
            os.write(screen, text.encode())
    os.close(screen)
    os.waitpid(child, 0)
    return shown


def saved(strobe, dump, work, folder):
    """A key writes the samples of the live screen to a file."""
    path = os.path.join(folder, "saved.data")
    workload = attach([os.path.join(work, "shares"), "100"])
    shown = on_screen([strobe, "live", "-a", "-F", "1999"],
                      [(rb"shares_hot", "W\x15" + path + "\r"), (rb"saved \d+ samples", "q")])
    workload.kill()
    workload.wait()
    told = re.findall(rb"saved (\d+) samples", shown)
    if checks.check("saved: the screen tells how many samples", told, repr(shown[-300:])):
        look_at(strobe, dump, "saved", path, int(told[0]), True)


def refusals(strobe, work, folder):
    """A failure to write is reported, and the old file stays."""
    path = os.path.join(folder, "kept.data")
    command = ["--", "true"]
    for content in ("one", "two"):
        with open(path, "w", encoding="ascii") as file:
            file.write(content)
        made = run([strobe, "record", "-o", path, "--", os.path.join(folder, "missing")])
        with open(path, encoding="ascii") as file:
            checks.check(f"a command that is not there: the file is as before ({content})",
                         made.returncode == 127 and file.read() == content and not os.path.exists(path + ".old"),
                         repr(made.stderr))
    made = run([strobe, "record", "-o", path, *command])
    with open(path + ".old", encoding="ascii") as file:
        checks.check("what was there is renamed", made.returncode == 0 and file.read() == "two", repr(made.stderr))
    made = run([strobe, "record", "-o", os.path.join(folder, "no", "such"), *command])
    checks.check("a folder that is not there is told", made.returncode == 2 and b"there is no directory" in made.stderr,
                 repr(made.stderr))
    with open("/dev/full", "wb") as full:
        made = subprocess.run([strobe, "record", "-o", "-", *command], stdout=full, stderr=subprocess.PIPE, timeout=60,
                              check=False)
    checks.check("a full device is told", made.returncode == 1 and b"No space left" in made.stderr, repr(made.stderr))
    reader, writer = os.pipe()
    os.close(reader)
    made = subprocess.run([strobe, "record", "-a", "-o", "-", "--duration", "20"], stdout=writer, stderr=subprocess.PIPE,
                          timeout=60, check=False)
    os.close(writer)
    checks.check("a reader that went away is told", made.returncode == 1 and b"Broken pipe" in made.stderr,
                 repr(made.stderr))


def full_disk(strobe, dump, work, folder):
    place = os.path.join(folder, "small")
    os.mkdir(place)
    if run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", place]).returncode:
        checks.skip("full disk", "no file system can be mounted here")
        return
    try:
        path = os.path.join(place, "full.data")
        workload = attach([os.path.join(work, "shares"), "20"])
        made = run([strobe, "record", "-a", "-F", "9999", "-o", path, "--duration", "20"])
        workload.kill()
        workload.wait()
        checks.check("full disk: it is told, and ends the recording",
                     made.returncode == 1 and b"No space left on device" in made.stderr, repr(made.stderr))
        ours = sum(counts.our_dump(dump, path)[0].values())
        theirs, _ = counts.perf_samples(path)
        checks.check(f"full disk: {ours:,} samples can be read", ours > 100 and ours == sum(theirs.values()),
                     f"perf reads {sum(theirs.values())}")
        is_silent("full disk", "perf report", ["perf", "report", "--stdio", "-i", path])
    finally:
        run(["umount", place])


def one(strobe, dump, work, name, folder):
    options, command, workload = cases(work)[name]
    path = os.path.join(folder, name + ".data")
    running = attach(workload) if workload else None
    if running and "-a" not in options:
        wait_for(lambda: is_running(running.pid, workload))
        options = [*options, "-p", str(running.pid)]
    made, said = record(strobe, options, command, path)
    if running:
        running.kill()
        running.wait()
    if not checks.check(f"{name}: strobe record succeeds", made.returncode == 0, repr(made.stderr)):
        return
    look_at(strobe, dump, name, path, said, "-a" in options)
    if name == "process":
        annotate(name, path, "shares_hot")
    if name in ("pipe", "packed-pipe"):
        streams(strobe, name, path)


def main():
    strobe, dump, work, *wanted = sys.argv[1:]
    if run(["perf", "--version"]).returncode:
        checks.skip("recordings", "there is no perf here")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted or [*cases(work), "killed", "saved", "refusals", "full-disk"]:
            if name == "killed":
                killed(strobe, dump, work, os.path.join(folder, "killed.data"))
            elif name == "saved":
                saved(strobe, dump, work, folder)
            elif name == "refusals":
                refusals(strobe, work, folder)
            elif name == "full-disk":
                full_disk(strobe, dump, work, folder)
            else:
                one(strobe, dump, work, name, folder)
    checks.finish()


if __name__ == "__main__":
    main()
