#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings opened as users do: by name, from standard input, cut, broken off, on the screen.

usage: recordings.py STROBE SHARES
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, Screen, run, settled  # noqa: E402

checks = Checks()
HOT = "shares_hot"


def on_one_cpu():
    """Run on one CPU: records are then in order of time, so the first half of a recording has the
    names."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def record(shares, path, *options):
    with open(path if "-" in options else os.devnull, "wb") as out:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", *options,
                        *([] if "-" in options else ["-o", path]), "--", shares, "1"],
                       stdout=out, stderr=subprocess.DEVNULL, timeout=60, check=False, preexec_fn=on_one_cpu)
    return os.path.exists(path) and os.path.getsize(path) > 10000


def samples_of(text):
    return json.loads(text)["events"][0]["samples"]


def reports(strobe, path, pipe):
    named = run([strobe, "report", path])
    checks.check("a recording by its name", named.status == 0 and HOT in named.out and "recorded 20" in named.out
                 and " on " in named.out, named)
    whole = samples_of(run([strobe, "report", path, "--format", "json"]).out)
    chains, leaves = (json.loads(run([strobe, "report", path, "--format", "json", *option]).out)["events"][0]["rows"]
                      for option in ((), ("--no-call-graph",)))
    checks.check("chains left unread change no share of a function's own",
                 {(row["symbol"], row["image"], row["samples"]) for row in chains if row["samples"]} ==
                 {(row["symbol"], row["image"], row["samples"]) for row in leaves} and
                 all(row["self_percent"] == row["total_percent"] for row in leaves) and
                 any(row["self_percent"] < row["total_percent"] for row in chains), (chains[:3], leaves[:3]))
    with open(path, "rb") as data:
        given = subprocess.run([strobe, "report", "-"], stdin=data, capture_output=True, text=True, timeout=60,
                               check=False)
    checks.check("from standard input", given.returncode == 0 and HOT in given.stdout, given)
    with open(pipe, "rb") as data:
        through = subprocess.run(f"cat | {strobe} report -", shell=True, stdin=data, capture_output=True, text=True,
                                 timeout=60, check=False)
    checks.check("through a pipe", through.returncode == 0 and HOT in through.stdout, through)
    halves = [samples_of(run([strobe, "report", path, "--format", "json", "--time", part]).out)
              for part in ("0,0.5", "0.5,100")]
    checks.check(f"two parts of its time, {halves}, are {whole} together", sum(halves) == whole and min(halves) > 0)
    with open(path, "rb") as data, open(path + ".cut", "wb") as cut:
        cut.write(data.read()[:-8000])
    short = run([strobe, "report", path + ".cut"])
    checks.check("a cut one is read up to the cut, which is told",
                 short.status == 0 and HOT in short.out and "is cut short at byte" in short.out, short)
    with open(path + ".bad", "wb") as bad:
        bad.write(b"PERFILE2" + b"\xff" * 200)
    broken = run([strobe, "report", path + ".bad"])
    checks.check("a broken one is refused with a sentence", broken.status == 1 and "cut short or broken" in broken.err, broken)


def interrupted(strobe, pipe):
    """A pipe that never ends: Ctrl-C ends loading, and strobe prints the part it has read."""
    process = subprocess.Popen([strobe, "report", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=False)
    with open(pipe, "rb") as data:
        content = data.read()
    process.stdin.write(content[:len(content) * 3 // 4])
    process.stdin.flush()
    waited = settled(process)
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=60)
        hung = False
    except subprocess.TimeoutExpired:
        process.kill()
        hung = True
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    process.stdin.close()
    checks.check("an interrupted pipe: what was read is printed",
                 waited and not hung and process.returncode == 0 and HOT in out,
                 (waited, hung, process.returncode, out[-500:], err[-500:]))


def fifos(strobe, path, folder):
    """A pipe by name is read once, so its writer sees no early close; and strobe does not wait for
    ever."""
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    writer = subprocess.Popen(["cp", path, fifo], stderr=subprocess.PIPE)
    read = run([strobe, "report", fifo])
    if read.status:
        writer.kill()
    checks.check("a recording through a FIFO",
                 read.status == 0 and HOT in read.out and writer.wait() == 0 and not writer.stderr.read(), read)
    for command in (["report", fifo], ["export", fifo, "--format", "folded"], ["diff", path, fifo]):
        process = subprocess.Popen([strobe, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        waited = settled(process)
        process.send_signal(signal.SIGTERM)
        try:
            (out, err), hung = process.communicate(timeout=60), False
        except subprocess.TimeoutExpired:
            process.kill()
            (out, err), hung = process.communicate(), True
        checks.check(f"a signal ends {command[0]} of a FIFO that nobody writes to, which is told",
                     waited and not hung and process.returncode == 1 and b"interrupted" in err and not out,
                     (waited, hung, process.returncode, out, err))
    reader = subprocess.Popen(["head", "-c", "10000", fifo], stdout=subprocess.DEVNULL)
    left = run([strobe, "record", "-a", "-e", "cpu-clock", "-F", "4999", "-o", fifo, "--duration", "60"])
    reader.wait()
    if "not permitted" in left.err:
        checks.skip("record into a FIFO", left.err.strip())
    else:
        checks.check("record ends when the reader of its FIFO leaves", left.status == 1 and "Broken pipe" in left.err,
                     left)


def full_disk(strobe, path):
    for form in ("folded", "callgrind", "script"):
        with open("/dev/full", "wb") as full:
            made = subprocess.run([strobe, "export", path, "--format", form], stdout=full, stderr=subprocess.PIPE,
                                  timeout=60, check=False)
        checks.check(f"a full disk is told: {form}",
                     made.returncode == 1 and b"No space left on device" in made.stderr, made)


def left_reader(strobe, path):
    """A reader closes the pipe, like head(1): strobe prints no error, but does not succeed
    either."""
    for command in (["report", path], ["diff", path, path], ["export", path, "--format", "folded"],
                    ["export", path, "--format", "script"], ["archive", path, "-o", "-"], ["doctor"], ["--help"],
                    ["--version"]):
        reader, writer = os.pipe()
        os.close(reader)
        made = subprocess.run([strobe, *command], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(writer)
        checks.check(f"{command[0]} says nothing of a reader that left",
                     made.returncode == 1 and b"write" not in made.stderr and b"ipe" not in made.stderr, made)


def waits_for_reader(process):
    """Return whether a process waits in a write to a full pipe or in the open of a FIFO.  If the
    kernel does not show it, any sleep counts."""
    places = []
    for tid in os.listdir(f"/proc/{process.pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/task/{tid}/wchan", encoding="ascii") as wchan:
            places.append(wchan.read())
    return any("pipe_write" in place or "wait_for_partner" in place for place in places) or set(places) <= {"", "0"}


def settled_at_reader(process):
    """Wait until a process waits for a reader; it may sleep half a second for other reasons, such
    as a slow disk."""
    end = time.monotonic() + 120
    while settled(process) and time.monotonic() < end:
        if waits_for_reader(process):
            return True
    return False


def stalled(strobe, path, folder):
    """A reader stops reading, or a FIFO has no reader: a signal ends the wait, and no files are
    left."""
    if "TSAN_OPTIONS" in os.environ:
        checks.skip("readers that do not read", "ThreadSanitizer keeps signals back while the C library writes")
        return
    packed, fifo = os.path.join(folder, "packed"), os.path.join(folder, "unread")
    scratch = os.path.join(folder, "scratch")
    os.mkdir(scratch)
    os.mkfifo(fifo)
    checks.check("packed", run([strobe, "archive", path, "-o", packed]).status == 0)
    for number, command in (
            (signal.SIGINT, ["report", packed]), (signal.SIGTERM, ["report", packed, "--format", "json"]),
            (signal.SIGHUP, ["diff", packed, packed]), (signal.SIGINT, ["archive", path, "-o", "-"]),
            (signal.SIGTERM, ["archive", path, "-o", fifo]), (signal.SIGINT, ["export", packed, "--format", "folded", "-o", fifo]),
            *((signal.SIGINT, ["export", packed, "--format", form, "-o", "-"])
              for form in ("folded", "speedscope", "pprof", "callgrind", "svg", "script", "gecko")),
            # giveup.c repeats an early signal as SIGALRM after a second.  The last command writes
            # in another thread than the main one.
            (signal.SIGALRM, ["export", packed, "--format", "script", "-o", "-"])):
        reader, writer = os.pipe()
        # Fill the pipe, so that strobe's writes wait.
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        process = subprocess.Popen([strobe, *command], stdout=writer, stderr=subprocess.PIPE,
                                   env=dict(os.environ, TMPDIR=scratch))
        # A signal during loading would only end the loading, and strobe would write the part it has
        # read.
        waited = settled_at_reader(process)
        process.send_signal(number)
        try:
            err, hung = process.communicate(timeout=60)[1], False
        except subprocess.TimeoutExpired:
            process.kill()
            err, hung = process.communicate()[1], True
        os.close(reader)
        os.close(writer)
        what = " ".join(command).replace(folder + os.sep, "")
        checks.check(f"{signal.Signals(number).name} ends {what} that nobody reads",
                     waited and not hung and process.returncode == 1 and b"interrupted: " in err and
                     not os.listdir(scratch),
                     (waited, hung, process.returncode, err, os.listdir(scratch)))


def fields(strobe, folder):
    """Samples selected by one of their fields: every command that reads a recording agrees with the
    report's rows by that field."""
    path = os.path.join(folder, "fields.data")
    made = run([strobe, "record", "-e", "sched:sched_switch", "-o", path, "--", "sh", "-c", "sleep 0.05; sleep 0.05"])
    if made.status or "sched:sched_switch" in made.err:
        checks.skip("samples by one of their fields", made.err.strip())
        return
    rows = json.loads(run([strobe, "report", path, "--group", "prev_comm", "--format", "json"]).out)["events"][0]["rows"]
    counts = {row["prev_comm"]: row["samples"] for row in rows}
    only = ["--only", "prev_comm:sleep"]
    found = run([strobe, "report", path, *only, "--format", "json"])
    told = sum(row["samples"] for row in json.loads(found.out)["events"][0]["rows"]) if not found.status else found
    folded = run([strobe, "export", path, *only, "--format", "folded"])
    lines = sum(int(line.split()[-1]) for line in folded.out.splitlines())
    checks.check("report and export of samples by one of their fields",
                 counts.get("sleep", 0) > 0 and told == lines == counts["sleep"], (counts, told, folded))
    diff = run([strobe, "diff", path, path, *only])
    checks.check("diff of samples by one of their fields", f" {told} samples in" in diff.out, diff)


def unknown_figures(strobe, shares, folder):
    """Figures that a recording lacks are not made up: times, the only rate, the kernel's count."""
    told = {}
    for name, options in (("times", ["--no-timestamp"]), ("samples", ["-n"]), ("counts", [])):
        path = os.path.join(folder, name)
        run(["perf", "record", "-q", *options, "-e", "cpu-clock", "-o", path, "--", shares, "1"])
        told[name] = run([strobe, "report", path]), json.loads(run([strobe, "report", path, "--format", "json"]).out)
    text, report = told["times"]
    checks.check("a recording without times: so it says",
                 "without times" in text.out.split("\n", maxsplit=1)[0] and report["duration_s"] is None, text)
    path = os.path.join(folder, "times")
    for line in (f"{strobe} report {path}", f"{strobe} export --format folded {path}", f"cat {path} | {strobe} report -"):
        result = run(["sh", "-c", f"{line} --time 0,0.1"])
        checks.check(f"a recording without times: --time is refused: {line}",
                     result.status == 1 and not result.out and "has samples without times" in result.err, result)
    result = run([strobe, "diff", "--normalize", "second", path, path])
    checks.check("a recording without times: nothing per second", result.status == 1 and not result.out and
                 "nothing per second is known: its samples have no times" in result.err, result)
    text, report = told["samples"]
    checks.check("a recording without samples has no rates",
                 "cpu-clock: 0 samples" in text.out and report["events"][0].get("period") == 0, text)
    text, report = told["counts"]
    checks.check("a recording does not know what the kernel counted", report["duration_s"] > 0
                 and report["events"][0]["samples"] and report["events"][0]["count"] is None, report["events"][0])


def on_screen(strobe, path):
    seconds = int(json.loads(run([strobe, "report", path, "--format", "json"]).out)["duration_s"])
    with contextlib.closing(Screen([strobe, "live", path], columns=120)) as screen:
        good = screen.until(HOT) and screen.until("recorded 20") and screen.until(
            # it may round up
            lambda text: f" all {seconds}" in text or f" all {seconds + 1}" in text)
        checks.check("the screen shows all of it", good, screen.text())
        screen.send("P")
        checks.check("there is nothing to attach to", screen.until("This is a recording"), screen.text())
        screen.send("q")
        checks.check("q ends it", screen.wait() == 0, screen.status)


def main():
    strobe, shares = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path, pipe = os.path.join(folder, "perf.data"), os.path.join(folder, "pipe.data")
        if not record(shares, path) or not record(shares, pipe, "-o", "-"):
            checks.skip("recordings", "perf record does not work here")
        else:
            fields(strobe, folder)
            reports(strobe, path, pipe)
            interrupted(strobe, pipe)
            fifos(strobe, path, folder)
            full_disk(strobe, path)
            left_reader(strobe, path)
            stalled(strobe, path, folder)
            unknown_figures(strobe, shares, folder)
            on_screen(strobe, path)
    checks.finish()


if __name__ == "__main__":
    main()
