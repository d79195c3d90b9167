#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of strobe fail, one after another: it must not crash, hang, or hide an error.

A wrong result or a bad exit status needs a sentence.

usage: faults.py STROBE INJECT SHARES [--all] [--only WORD] [--step N] [--jobs N] [--budget N]
                 [--keep FILE]

Each scenario runs once with its calls counted, then once for each chosen call, which fails
(inject.c).  Without --all calls are chosen evenly, BUDGET in sum.  --only: names of runs with
this word.  The healthy result is known: a recording gives the same report each time, and
shares.c burns its time in known shares.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import errno
import json
import math
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, is_sanitized, run, started  # noqa: E402

ON_WEIGHT = 4
RATE = 1999  # Hz
LIMIT = 60  # seconds; a longer run counts as hung

# (call, error, how often) of each fault; "on": all calls from the chosen one on
FAULTS = [
    *[(name, errno.ENOMEM, "once") for name in
      ("malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "mmap", "dlopen")],
    *[(name, errno.EMFILE, "once") for name in
      ("open", "openat", "openat2", "fopen", "opendir", "epoll_create1", "eventfd", "signalfd", "timerfd_create", "socketpair",
       "pipe2", "dup", "fcntl", "memfd_create", "perf_event_open")],
    *[(name, errno.EIO, "once") for name in
      ("read", "pread", "fread", "fgets", "getdelim", "readdir", "lseek", "statx")],
    *[(name, errno.ENOMEM, "once") for name in ("fdopen", "fdopendir", "fstat", "stat", "fstatat", "recvmsg")],
    *[(name, errno.ENOSPC, "once") for name in
      ("write", "pwrite", "fwrite", "fflush", "ftruncate", "renameat", "mkdirat", "epoll_ctl")],
    *[(name, errno.EINTR, "once") for name in ("read", "poll", "epoll_wait")],
    *[(name, errno.EAGAIN, "once") for name in ("fork", "posix_spawn", "pthread_create")],
    ("ioctl", errno.EPERM, "once"), ("sendmsg", errno.ENOBUFS, "once"), ("readlink", errno.EACCES, "once"),
    ("memory", errno.ENOMEM, "on"), ("descriptors", errno.EMFILE, "on"),
    # One kind alone, so that failures of the other kinds do not hide its own.
    ("realloc", errno.ENOMEM, "on"), ("mmap", errno.ENOMEM, "on"), ("pthread_create", errno.EAGAIN, "on"),
]

# strobe's sentences do not end with a colon, and have at least three words.
SENTENCE = re.compile(r"^q*strobe: \S+( \S+){2,}|Out of memory", re.M)

NUMBERS = re.compile(r" samples, \d+ lost")  # record always prints this

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()].|\x1b[>=78]|\r")

# table: {symbol: percent of self} on the screen before the first key; None if it never appeared.
# views: the screen after each key.
Outcome = collections.namedtuple("Outcome", "status out err hung stacks table views", defaults=(None, ""))
ROW = re.compile(r"([0-9]+\.[0-9])%?\s.*?\b(shares_\w+)")


def call_names(inject_source):
    """Return the names of the calls, in the order of their counters."""
    with open(inject_source, encoding="utf-8") as source:
        return re.findall(r"^\tX\((\w+)\)", source.read(), re.M)


def stacks_of(pid):
    """Return the stacks of all threads of a hung process and of its children."""
    text = ""
    gdb = shutil.which("gdb")
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        if gdb:
            text = subprocess.run([gdb, "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], check=False, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60).stdout[-6000:]
    with contextlib.suppress(OSError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/wchan", encoding="ascii") as wchan, \
                    open(f"/proc/{pid}/task/{tid}/comm", encoding="ascii") as comm:
                text += f"{comm.read().strip()} {wchan.read()}\n"
    return text


def run_command(command, env):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        stacks = stacks_of(process.pid)
        process.kill()
        out, err = process.communicate()
        return Outcome(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), True, stacks)
    return Outcome(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), False, "")


def run_screen(command, env, keys, first, wanted=None, **kwargs):
    """Run a session in a pseudo-terminal, and return its Outcome.

    Waits for `first`, then sends each key and waits until something is drawn, and last sends q
    until the session ends.  With `wanted`, the screen must match it within two seconds after an
    Enter.

    err: text on the shell's screen afterwards, with "not restored" if the terminal has changed."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (30, 100))
    before = termios.tcgetattr(slave)
    before[3] &= ~termios.ECHO  # late keys must not echo
    termios.tcsetattr(slave, termios.TCSANOW, before)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True,
                               **kwargs)
    views = []
    raw = bytearray()
    end = time.monotonic() + LIMIT

    def read(timeout):
        if not select.select([master], [], [], timeout)[0]:
            return False
        data = os.read(master, 65536)
        raw.extend(data)
        return bool(data)

    def finish(quiet=0):
        end = time.monotonic() + 3
        while read(quiet) and time.monotonic() < end:
            pass

    def table():
        """Redraw the whole screen and return its rows; waits, since a busy machine draws late."""
        import pyte

        finish(0.2)
        since = len(raw)
        os.write(master, b"\x0c")
        until = time.monotonic() + 5
        while True:
            read(0.1)
            finish(0.1)
            screen = pyte.Screen(100, 30)
            pyte.ByteStream(screen).feed(bytes(raw[since:]))
            found = [ROW.search(line) for line in screen.display]
            if any(found) or process.poll() is not None or time.monotonic() > until:
                return {row[2]: float(row[1]) for row in found if row}

    def look():
        """Keep the screen as drawn so far: a message disappears with the next key, even a
        redraw."""
        import pyte

        until = time.monotonic() + 2
        while process.poll() is None:
            finish(0.1)
            screen = pyte.Screen(100, 30)
            pyte.ByteStream(screen).feed(bytes(raw))
            views.append("\n".join(screen.display))
            if re.search(wanted, views[-1]) or time.monotonic() > until:
                break

    try:
        begun = time.monotonic()
        while process.poll() is None and first not in raw and time.monotonic() < begun + 5:
            read(0.05)
        drawn = table() if first in raw and process.poll() is None else None
        for key in keys:
            if process.poll() is not None:
                break
            os.write(master, key)
            if read(0.5):
                finish()
            if wanted and key.endswith(b"\r"):
                look()
        if first in raw and not drawn and process.poll() is None:
            drawn = table()  # names may have come later
        while process.poll() is None and time.monotonic() < end:
            os.write(master, b"q")
            read(0.05)
        finish()
        hung = process.poll() is None
        stacks = stacks_of(process.pid) if hung else ""
        text = bytes(raw).decode(errors="replace")
        shown, _, after = text.rpartition("\x1b[?1049l")
        if termios.tcgetattr(slave) != before or ("\x1b[?1049h" in text and not shown):
            after += "\nnot restored"
        after = ESCAPES.sub("", after)
        return Outcome(process.returncode, shown, after, hung, stacks, drawn, "\n".join(views))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)
        os.close(slave)


class Scenario:
    """A command of strobe with a healthy result."""

    roles = ("main", "helper")
    live = False  # observes shares.c

    def __init__(self, name, strobe, weight):
        self.name, self.strobe, self.weight = name, strobe, weight
        self.healthy = None

    def go(self, env, folder):
        return run_command(self.command(folder), env)

    def command(self, folder):
        raise NotImplementedError

    def differs(self, outcome, folder):
        """Return why the output of a successful run is wrong; None if it is right or reports a
        problem."""
        raise NotImplementedError

    def is_excused(self, outcome, folder):
        """Return whether strobe cannot help a signal."""
        return False

    def is_healthy(self, outcome, folder):
        return outcome.status == 0 and not outcome.hung and self.differs(outcome, folder) is None

    def judge(self, outcome, folder):
        if outcome.hung:
            return "hangs: " + outcome.stacks
        if (outcome.status < 0 or outcome.status >= 128) and not self.is_excused(outcome, folder):
            return "a signal"
        if "not restored" in outcome.err:
            return "the terminal is not as before"
        if outcome.status > 0:
            return None if told_of(outcome.err) else "a bad status without a sentence"
        return self.differs(outcome, folder)


def told_of(text):
    return [line for line in text.splitlines() if SENTENCE.search(line) and not NUMBERS.search(line)]


def sentences(text):
    return {line for line in text.splitlines() if SENTENCE.search(line) or line.startswith(("note: ", "# "))}


class Text(Scenario):
    """The output for a recording is always the same."""

    def __init__(self, name, strobe, weight, *words):
        super().__init__(name, strobe, weight)
        self.words = words

    def command(self, folder):
        return [self.strobe, *(word.replace("FOLDER", folder) for word in self.words)]

    def differs(self, outcome, folder):
        if self.healthy is None or outcome.out == self.healthy.out:
            return None
        told = sentences(outcome.out + outcome.err) - sentences(self.healthy.out + self.healthy.err)
        return None if told else "another result without a sentence"


class Annotate(Text):
    """The recording has samples: if none is found, strobe must say why."""

    def judge(self, outcome, folder):
        told = told_of(outcome.err)
        if outcome.status > 0 and len(told) == 1 and "no samples" in told[0]:
            return "no samples, and no reason"
        return super().judge(outcome, folder)


class Json(Text):
    """A report of a recording is always the same, except its notes and strobe's own costs."""

    def differs(self, outcome, folder):
        try:
            report = json.loads(outcome.out)
        except ValueError:
            return "no JSON"
        if self.healthy is None:
            return None
        healthy = json.loads(self.healthy.out)
        news = set(report.get("notes", [])) - set(healthy["notes"])
        for one in (report, healthy):
            for key in ("notes", "memory", "overhead"):
                one.pop(key, None)
        # Samples that were dropped when memory ran out are counted.
        dropped = report["dropped"] > healthy["dropped"]
        if report == healthy or news or dropped or SENTENCE.search(outcome.err):
            return None
        return "another result without a note"


class Live(Scenario):
    """A report of shares.c while it runs."""

    live = True

    def __init__(self, name, strobe, weight, pid):
        super().__init__(name, strobe, weight)
        self.pid = pid
        self.usual = set()  # notes of the healthy result

    def command(self, folder):
        return [self.strobe, "report", "-e", "cpu-clock", "-p", str(self.pid), "-F", str(RATE), "--duration", "0.1", "--format", "json"]

    def differs(self, outcome, folder):
        return self.look(outcome.out, outcome.err)

    def look(self, text, err):
        try:
            report = json.loads(text)
        except ValueError:
            return "no JSON"
        notes = {re.sub("[0-9]+", "N", note) for note in report.get("notes", [])}
        if self.healthy is None:
            self.usual |= notes
        if notes - self.usual or SENTENCE.search(err):
            return None
        event = report["events"][0] if report.get("events") else None
        if not event:
            return "no event, and no note"
        # shares.c may get little time on a busy machine: its clock shows how much it had, and
        # coverage how much of that was missed.
        had = event["samples"] + event["lost"] + event["held_back"]
        covered = event["coverage_percent"]
        if had + 5 < RATE * (event["count"] or 0) * (1 if covered is None else covered / 100) / 2e9:
            return f"few samples, and no note: {had}, count {event['count']}, coverage {covered}"
        rows = {row["symbol"]: row["self_percent"] for row in event["rows"]}
        if event["samples"] >= 30 and rows.get("shares_hot", 0) < 25:
            return "shares_hot is missing, and no note"
        if event["coverage_percent"] is not None and event["coverage_percent"] < 30:
            return "low coverage, and no note"
        return None


class Record(Live):
    """A recording, read by a healthy strobe."""

    def command(self, folder):
        return [self.strobe, "record", "-e", "cpu-clock", "-p", str(self.pid), "-F", str(RATE), "--duration", "0.1", "-o", folder + "/new"]

    def go(self, env, folder):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(folder + "/new")
        return super().go(env, folder)

    def differs(self, outcome, folder):
        read = run([self.strobe, "report", folder + "/new", "--format", "json", "--cache-dir", folder + "/warm"])
        told = told_of(outcome.err)
        if read.status:
            return None if told else "a file that cannot be read: " + read.err
        return None if told else self.look(read.out, "")


class Screen(Scenario):
    """A session at the screen, through its views."""

    KEYS = (b"c", b"\r", b"q", b"g", b"t", b"q", b"a", b"s", b"q", b"\r", b"t", b"q", b"t", b"t", b"q", b"m", b"q", b"L",
            b"q", b"?", b"q", b"C", b"q", b"/", b"shares\r", b"I", b"\x7f", b"b", b" ")

    def __init__(self, name, strobe, weight, *words, keys=KEYS):
        super().__init__(name, strobe, weight)
        self.words, self.keys, self.live = words, keys, "-p" in words

    def command(self, folder):
        return [self.strobe, "live", *(word.replace("FOLDER", folder) for word in self.words)]

    def go(self, env, folder):
        return run_screen(self.command(folder), env, self.keys, b"shares_hot")

    def is_excused(self, outcome, folder):
        """curses (6.4) crashes if memory runs out while it starts; it has not changed the terminal
        yet."""
        with open(folder + "/trace", encoding="utf-8") as file:
            return not ESCAPES.sub("", outcome.out).strip() and re.search("newterm|setupterm|tigetstr|doupdate", file.read())

    def differs(self, outcome, folder):
        if outcome.status < 0:
            return None
        text = ESCAPES.sub("", outcome.out) + outcome.err
        if told_of(outcome.err) or re.search("memory|cannot|are shown as", text):
            return None
        if not outcome.table:
            return "nothing is shown, and no sentence"
        if not self.live and self.healthy is not None and outcome.table != self.healthy.table:
            return f"another table, and no sentence: {outcome.table}"
        return None if outcome.table.get("shares_hot", 0) >= 25 else f"shares_hot is missing, and no sentence: {outcome.table}"


class Writes(Screen):
    """Files that the screen writes: each is complete, or a sentence says why it is missing."""

    FILES = (("w", "out.txt"), ("w", "out.svg"), ("x", "out.folded"), ("x", "out.json"))
    LIVE = FILES + (("W", "out.data"),)
    TOLD = re.compile("[Cc]annot|[Oo]ut of memory|does not answer|are shown as")
    DONE = re.compile(TOLD.pattern + "|written to|Exported to|saved .* to")

    def go(self, env, folder):
        shutil.rmtree(folder + "/written", ignore_errors=True)
        os.mkdir(folder + "/written")
        keys = [key for letter, name in self.files() for key in (letter.encode(), f"\x15written/{name}\r".encode())]
        # The log shows why names are missing.
        return run_screen(self.command(folder), env, [*keys, b"L", b"q"], b"shares_hot", self.DONE, cwd=folder)

    def files(self):
        return self.LIVE if self.live else self.FILES

    def is_whole(self, path):
        if path.endswith(".data"):
            read = run([self.strobe, "report", path, "--format", "json"])
            return read.status == 0 and any(event["samples"] for event in json.loads(read.out)["events"])
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".json"):
            return bool(json.loads(text)["profiles"])
        if path.endswith(".svg"):
            return text.endswith("</svg>\n")
        lines = text.splitlines()
        return text.endswith("\n") and (all(re.fullmatch(r".* \d+", line) for line in lines) if path.endswith(".folded")
                                        else len(lines) >= 29)

    def differs(self, outcome, folder):
        if outcome.status < 0:
            return None
        names = [name for _, name in self.files()]
        there = os.listdir(folder + "/written")
        if set(there) - set(names):
            return f"left behind: {there}"
        for name in there:
            with contextlib.suppress(ValueError, KeyError):
                if self.is_whole(f"{folder}/written/{name}"):
                    continue
            return f"{name} is not whole"
        if self.TOLD.search(outcome.views) or told_of(outcome.err):
            return None
        if len(there) < len(names):
            return f"only {there} are written, and no sentence"
        return super().differs(outcome, folder)


class Harness:
    def __init__(self, options, calls, folder):
        self.options, self.calls, self.folder = options, calls, folder
        self.local = threading.local()
        self.lock = threading.Lock()
        self.folders = []

    def place(self):
        """Return the folder of this thread."""
        if not hasattr(self.local, "folder"):
            self.local.folder = tempfile.mkdtemp(dir=self.folder)
            os.chmod(self.local.folder, 0o755)
            shutil.copy2(self.folder + "/data", self.local.folder)  # strobe shows its time
            shutil.copytree(self.folder + "/warm", self.local.folder + "/warm")
        return self.local.folder

    def environment(self, folder, plan):
        counts = folder + "/counts"
        with open(counts, "wb") as file:
            file.write(bytes(16 * len(self.calls)))
        os.chmod(counts, 0o666)  # workers run as user "nobody"
        env = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm-256color", LD_PRELOAD=self.options.inject,
                   STROBE_FAULT_FILE=counts, STROBE_FAULT_TRACES="40", XDG_CACHE_HOME=folder + "/none", DEBUGINFOD_URLS="")
        env.pop("STROBE_FAULT", None)
        if plan:
            env["STROBE_FAULT"] = plan
        return env

    def once(self, scenario, plan):
        folder = self.place()
        shutil.rmtree(folder + "/cold", ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(folder + "/trace")
        outcome = scenario.go(self.environment(folder, plan and f"{plan} {folder}/trace"), folder)
        return outcome, folder

    def counts(self, folder):
        with open(folder + "/counts", "rb") as file:
            numbers = struct.unpack(f"={2 * len(self.calls)}Q", file.read())
        return {"main": dict(zip(self.calls, numbers)), "helper": dict(zip(self.calls, numbers[len(self.calls):]))}

    def prepare(self, scenario):
        """Get the healthy result and all faults that the scenario can meet.

        Returns an outcome and {kind: [(name, plan)]}; None instead if it is not healthy."""
        for _ in range(2):
            outcome, folder = self.once(scenario, None)
            if not scenario.is_healthy(outcome, folder):
                return outcome, None
            scenario.healthy = outcome
        counts = self.counts(folder)
        found = {}
        for role in scenario.roles:
            for call, error, often in FAULTS:
                n = counts[role][call]
                name = f"{scenario.name}: {role} {call} %d {errno.errorcode[error]} {often}"
                if n:
                    found[role, call, error, often] = [(name % i, f"{role} {call} {i} {error} {often}") for i in range(n)]
        return outcome, found

    def choose(self, groups, budget):
        """Choose as many faults of each call as fit, evenly; at least one.

        A call that fails for good gets more: its positions differ most."""
        def number(plans, share):
            return min(len(plans), share * (ON_WEIGHT if plans[0][1].endswith(" on") else 1))

        if self.options.all:
            return [plan for plans in groups for plan in plans[::self.options.step]]
        share = 1
        while share < budget and sum(number(plans, share + 1) for plans in groups) <= budget:
            share += 1
        chosen = []
        for plans in groups:
            n = number(plans, share)
            chosen += [plans[(2 * i + 1) * len(plans) // (2 * n)] for i in range(n)]
        return chosen

    def try_plan(self, scenario, plan):
        outcome, folder = self.once(scenario, plan)
        problem = scenario.judge(outcome, folder)
        callers = ""
        if problem:
            with contextlib.suppress(OSError), open(folder + "/trace", encoding="utf-8") as file:
                callers = " ".join(re.findall(r"strobe\((\+0x[0-9a-f]+)\)", file.read().split("\n\n")[0])[:8])
        return problem, outcome, f"{callers}\t{shlex.join(scenario.command(folder))}"


def left_over(folder):
    """Return processes of this test's strobe that still run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if f"STROBE_FAULT_FILE={folder}".encode() in environ.read():
                    found.append(int(pid))
    return found


def take_turns(prepared, every):
    """Leave each kind to one in `every` of the scenarios that have it, and to at least one.

    prepared: [(scenario, {kind: plans})].  Returns [(scenario, [plans])]."""
    have = collections.Counter(kind for _, groups in prepared for kind in groups)
    numbers = {kind: number for number, kind in enumerate(have)}
    met = collections.Counter()
    left = []
    for scenario, groups in prepared:
        kept = []
        for kind, plans in groups.items():
            if met[kind] % every == numbers[kind] % min(every, have[kind]):
                kept.append(plans)
            met[kind] += 1
        left.append((scenario, kept))
    return left


def try_all(harness, checks, scenarios, share, keep):
    """Run the chosen faults of the scenarios, some at a time, and check that strobe survived and
    told each.

    share: faults for each unit of a scenario's weight."""
    options, prepared, work = harness.options, [], []
    bad, ran = collections.Counter(), collections.Counter()
    for scenario in scenarios:
        outcome, groups = harness.prepare(scenario)
        if groups is None:
            checks.check(f"{scenario.name}: healthy", False, outcome)
        elif not groups:
            checks.skip(scenario.name, "the preloaded library does not fit this build")
        else:
            print(f"{scenario.name}: {sum(map(len, groups.values()))} calls of {len(groups)} kinds")
            prepared.append((scenario, groups))
    room = share * sum(scenario.weight for scenario, _ in prepared)
    every = 1 if options.all else max(1, math.ceil(sum(len(groups) for _, groups in prepared) / max(room, 1)))
    for scenario, groups in take_turns(prepared, every):
        work += [(scenario, plan) for plan in harness.choose(groups, int(share * scenario.weight)) if options.only in plan[0]]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(harness.try_plan, scenario, plan): (scenario, name, plan) for scenario, (name, plan) in work}
        for future in concurrent.futures.as_completed(futures):
            scenario, name, plan = futures[future]
            problem, outcome, command = future.result()
            ran[scenario.name] += 1
            if not problem:
                continue
            bad[scenario.name] += 1
            err = re.sub("qqq+", "qq", outcome.err)
            print(f"bad: {name}: {problem}: status {outcome.status}, err {err[-500:]!r}, out {outcome.out[-200:]!r}, callers {command.split(chr(9))[0]}")
            sys.stdout.flush()
            keep.write(f"{plan}\t{problem[:100]!r}\t{command}\n")
            keep.flush()
    for name, number in ran.items():
        checks.check(f"{name}: {number} faults", not bad[name], f"{bad[name]} were not told, or not survived")


def main():
    parser = argparse.ArgumentParser()
    for name in ("strobe", "inject", "shares"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--budget", type=int, default=600)
    parser.add_argument("--keep", help="a file for all that failed, one a line")
    options = parser.parse_args()
    checks = Checks()
    strobe = options.strobe
    if is_sanitized(strobe):
        checks.skip("all", "a sanitizer has its own preloaded library")
        checks.finish()
    calls = call_names(os.path.join(os.path.dirname(os.path.abspath(__file__)), "inject.c"))
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        made = run([strobe, "record", "-F", str(RATE), "-o", folder + "/data", "--", options.shares, "1"])
        warm = run([strobe, "report", folder + "/data", "--cache-dir", folder + "/warm"])
        if made.status or warm.status:
            checks.skip("all", f"no events here: {made.err[-300:]}{warm.err[-300:]}")
            checks.finish()
        with started([options.shares, "0"]) as process:
            harness = Harness(options, calls, folder)
            cold = ("--cache-dir", "FOLDER/cold")
            known = ("--cache-dir", "FOLDER/warm")
            scenarios = [
                Json("report", strobe, 5, "report", "FOLDER/data", "--format", "json", *known),
                Json("report afresh", strobe, 3, "report", "FOLDER/data", "--format", "json", *cold),
                Text("text", strobe, 2, "report", "FOLDER/data", "--group", "thread,image", *known),
                Annotate("annotate", strobe, 2, "annotate", "FOLDER/data", "shares_hot", *known),
                Text("export", strobe, 2, "export", "FOLDER/data", "--format", "folded", *known),
                Text("export with lines", strobe, 2, "export", "FOLDER/data", "--format", "callgrind", *known),
                Text("diff", strobe, 1, "diff", "FOLDER/data", "FOLDER/data", *known),
                Live("report live", strobe, 3, process.pid),
                Record("record", strobe, 4, process.pid),
                Screen("screen", strobe, 3, "FOLDER/data", *known),
                Screen("screen live", strobe, 2, "-p", str(process.pid), *known),
                Writes("writes", strobe, 1, "FOLDER/data", *known),
                Writes("writes live", strobe, 1, "-p", str(process.pid), *known),
            ]
            share = options.budget / sum(scenario.weight for scenario in scenarios)
            with open(options.keep or os.devnull, "w", encoding="utf-8") as keep:
                # The program burns a CPU, so it runs only while it is observed.
                process.send_signal(signal.SIGSTOP)
                try_all(harness, checks, [each for each in scenarios if not each.live], share, keep)
                process.send_signal(signal.SIGCONT)
                try_all(harness, checks, [each for each in scenarios if each.live], share, keep)
        left = left_over(folder)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        checks.check("no process is left", not left, left)
    checks.finish()


main()
