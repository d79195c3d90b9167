#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A target works as it does without strobe: it can fork, and a command starts in an equal state.

usage: harmless.py STROBE FORKS   (the program, and a workload)
"""

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, Screen, public_copy, run  # noqa: E402

TRACING = "/sys/kernel/tracing"
TIMES = 20
checks = Checks()


def groups():
    """Return strobe's groups in tracefs."""
    found = set()
    for name in ("uprobe_events", "kprobe_events"):
        with contextlib.suppress(OSError):
            with open(f"{TRACING}/{name}", encoding="utf-8", errors="replace") as file:
                found |= set(re.findall(r":(strobe_[^/ ]+)/", file.read()))
    return found


def kernel_address():
    """Return an address in the kernel's code, which can be watched as data; None if the kernel
    hides it."""
    with open("/proc/kallsyms", encoding="ascii", errors="replace") as file:
        for line in file:
            address, kind, name = line.split()[:3]
            if kind in "tT" and name == "kernel_clone" and int(address, 16):
                return "0x" + address
    return None


def children(strobe, forks, folder):
    """No fork() or pthread_create() of the target fails for any kind of event, and none of their
    hits is missed."""
    probe = f"{forks}:forks_target"
    events = [f"uprobe:{probe}", f"uretprobe:{probe}", f"uprobe:{probe}:u", f"uprobe:{probe}+0",
              f"{{task-clock,uprobe:{probe}}}", "page-faults", "context-switches", "cpu-clock", "mem:0x10000:w",
              "mem:0x10000:x", "sched:sched_process_fork", "bpf-output", "msr/tsc/"]
    if not os.path.isdir("/sys/bus/event_source/devices/msr"):
        events.remove("msr/tsc/")
    recording = os.path.join(folder, "forks.data")
    ways = [["stat"], ["stat", "--per", "cpu"], ["stat", "--no-inherit"], ["report", "--scope", "inherit"],
            ["record", "-s", "-o", recording]]
    probed = [["report", "--scope", "auto"], ["report", "--scope", "task"], ["report", "--scope", "cpu"],
              ["record", "-o", recording]]
    for event in events:
        for way in ways + (probed if event is events[0] else []):
            result = run([strobe, *way, "-e", event, "--", forks, str(TIMES)])
            checks.check(f"{' '.join(way[:3])} -e {event}: everything can be started",
                         f"0 of {2 * TIMES} failed: none" in result.out, str(result))
    checks.check("no probe of ours is left", not groups(), groups())


def hits(strobe, forks, folder):
    """Inherited probes count and sample each hit, under the names given by the user."""
    name, back = f"uprobe:{forks}:forks_target", f"uretprobe:{forks}:forks_target"
    for more in ([], ["--per", "cpu"], ["--per", "thread"]):
        path = os.path.join(folder, "hits.json")
        result = run([strobe, "stat", *more, "-e", f"{name},{name}:u,{back}", "--format", "json", "-o", path, "--",
                      forks, str(TIMES)])
        told = {}
        with contextlib.suppress(OSError, ValueError, LookupError), open(path, encoding="utf-8") as file:
            for event in json.load(file)["events"]:
                told[event["name"]] = told.get(event["name"], 0) + (event["count"] or 0)
        checks.check(f"each hit is counted {' '.join(more)}",
                     told == {name: 2 * TIMES, f"{name}:u": 2 * TIMES, back: 2 * TIMES}, f"{told} {result}")
    odd = os.path.join(folder, "a name (with) blanks #1")
    os.link(forks, odd)
    for way in (["report", "--scope", "inherit"], ["record", "-s"], ["record"], ["report", "--scope", "cpu"]):
        path = os.path.join(folder, "hits.data")
        command = [strobe, *way, "-e", f"uprobe:{odd}:forks_target", "-c", "1"]
        command += ["-o", path] if way[0] == "record" else ["--format", "json"]
        result = run([*command, "--", forks, str(TIMES)])
        if way[0] == "record":
            checks.check(f"nothing is said to be missing: {' '.join(way)}",
                         f" {2 * TIMES} samples, 0 lost\n" in result.err, result.err)
            result = run([strobe, "report", path, "--format", "json"])
        text = result.out[result.out.find("{"):]
        try:
            event = json.loads(text)["events"][0]
            told = (event["name"], event["samples"], event["rows"][0]["symbol"])
        except (ValueError, LookupError):
            told = None
        checks.check(f"each hit is sampled: {' '.join(way)}",
                     told == (f"uprobe:{odd}:forks_target", 2 * TIMES, "forks_target"), f"{told} {result}")
    with contextlib.suppress(FileNotFoundError):
        result = run(["perf", "script", "-i", os.path.join(folder, "hits.data"), "-F", "event"])
        checks.check("perf has the user's names", result.out.count("uprobe:") == 2 * TIMES and "strobe_" not in result.out,
                     str(result))


def kernel_breakpoints(strobe, forks):
    """A breakpoint in the kernel is not inherited, since at fork() the kernel would ask the task
    for CAP_SYS_ADMIN."""
    address = kernel_address()
    if not address:
        checks.skip("breakpoints in the kernel", "the kernel shows no addresses")
        return
    event = f"mem:{address}:w"
    for way in (["stat"], ["report", "--scope", "inherit"]):
        result = run([strobe, *way, "-e", event, "--", forks, str(TIMES)])
        checks.check(f"{way[0]}: a breakpoint in the kernel is not inherited, and why",
                     "fork() would fail" in result.err and "failed:" not in result.out, str(result))
    for way in (["stat", "--no-inherit"], ["report", "--scope", "task"], ["report", "--scope", "auto"]):
        result = run([strobe, *way, "-e", event, "--", forks, str(TIMES)])
        checks.check(f"{' '.join(way)}: with a breakpoint in the kernel", f"0 of {2 * TIMES} failed: none" in result.out,
                     str(result))


@contextlib.contextmanager
def target(forks):
    process = subprocess.Popen([forks, str(TIMES), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def counting(strobe, forks, pid, prefix=()):
    """Run strobe stat with an inherited probe; the block begins after the probe exists."""
    before = groups()
    process = subprocess.Popen([*prefix, strobe, "stat", "-e", f"uprobe:{forks}:forks_target", "-p", str(pid)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGQUIT, signal.SIG_DFL))
    while process.poll() is None and not groups() - before:
        time.sleep(0.01)
    try:
        yield process, groups() - before
    finally:
        process.kill()
        process.communicate()


def leftovers(strobe, forks):
    """Probes in tracefs disappear with their strobe, however it ends, and not before."""
    with target(forks) as work:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with counting(strobe, forks, work.pid) as (process, _):
                process.send_signal(number)
                out = process.communicate(timeout=120)[0]
            checks.check(f"{number.name} leaves no probe", not groups() or number == signal.SIGQUIT, f"{groups()} {out}")
        # A second strobe runs in a pid namespace with other numbers.
        for prefix in ([], ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]):
            with target(forks) as other, contextlib.ExitStack() as stack:
                pid = other.pid if not prefix else 1
                inside = stack.enter_context(counting(strobe, forks, pid, prefix))
                with counting(strobe, forks, work.pid) as (process, dead):
                    process.kill()
                    process.wait()
                    left = groups()
                run([strobe, "stat", "-e", "cpu-clock", "--", "true"])
                checks.check(f"a dead strobe's probe goes, a living one's stays {' '.join(prefix[:2])}",
                             len(dead) == 1 and dead < left and groups() == inside[1] and inside[0].poll() is None,
                             f"dead {dead}, left {left}, now {groups()}, living {inside[1]}")
        run([strobe, "stat", "-e", "cpu-clock", "--", "true"])
        checks.check("nothing is left in the end", not groups(), groups())


THROWS = """
#include <cstdio>
__attribute__((noinline)) int thrower(int n) { if (n % 2) throw n; return n; }
__attribute__((noinline)) int middle(int n) { return thrower(n) + 1; }
extern "C" __attribute__((noinline)) int plain(int n) { __asm__ volatile(""); return n + 1; }
int main() { int caught = 0; for (int i = 0; i < 100; i++) try { plain(middle(i)); } catch (int) { caught++; } std::printf("%d caught\\n", caught); }
"""


def exceptions(strobe, folder):
    """An exception that reaches the return address of a probe would end the program."""
    program = os.path.join(folder, "throws")
    try:
        subprocess.run(["c++", "-O1", "-x", "c++", "-o", program, "-"], input=THROWS, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        checks.skip("return probes where exceptions pass", "no C++ compiler")
        return
    for way in ("stat", "report"):
        for name in ("_Z6middlei", "middle(int)", "thrower"):
            result = run([strobe, way, "-e", f"uretprobe:{program}:{name}", "--", program])
            checks.check(f"{way}: a return probe of {name} is refused, and why",
                         result.status != 0 and "Probe the entry: uprobe:" in result.err and "caught" not in result.out,
                         str(result))
        for event in (f"uprobe:{program}:middle", f"uretprobe:{program}:plain"):
            result = run([strobe, way, "-e", event, "--", program])
            checks.check(f"{way} -e {event}: exceptions are caught", "50 caught" in result.out, str(result))


# Writes its initial state to a file, since standard output and error are equal in both runs.
ABOUT = """
exec >"$1"
for fd in /proc/self/fd/*; do readlink "$fd"; done
grep -E "^(Sig|Shd|Cap|Umask|Groups|NoNewPrivs|Seccomp|Cpus_allowed|Uid|Gid)" /proc/self/status | grep -v SigQ
cat /proc/self/limits /proc/self/oom_score_adj /proc/self/timerslack_ns /proc/self/cgroup /proc/self/coredump_filter
ulimit -a; umask; nice; pwd; env | grep -v "^_=" | sort
cut -d" " -f 6-8,18,19,41 /proc/self/stat
"""


def strange_beginning():
    """Start strobe in an unusual state, which a command must inherit unchanged."""
    for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGUSR2, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGALRM, signal.SIGTERM])
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 20, 1 << 21))
    os.umask(0o057)
    os.nice(3)
    os.dup2(2, 77)


def beginning(strobe, forks, folder):
    """A command starts with the state that strobe itself was started with."""

    def told(prefix, start):
        path = os.path.join(folder, "about")
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        result = subprocess.run([*prefix, "/bin/sh", "-c", ABOUT, "sh", path], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=120, check=False, preexec_fn=start, close_fds=False, start_new_session=False)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = re.sub(r"(pipe|socket):\[\d+\]", r"\1", file.read())
            # The C library uses signals 32 and 33 itself.
            return re.sub(r"(?<=SigIgn:\t)\w+", lambda mask: f"{int(mask[0], 16) & ~(3 << 31):016x}", text)
        except OSError:
            return str(result)

    recording = os.path.join(folder, "about.data")
    for name, start in (("plain", None), ("strange", strange_beginning), ("no standard input", lambda: os.close(0))):
        wanted = told([], start)
        for way in (["stat"], ["stat", "-e", f"uprobe:{forks}:forks_target"], ["report"], ["report", "--scope", "inherit"],
                    ["report", "--scope", "task"], ["record", "-o", recording], ["export", "--format", "folded"]):
            got = told([strobe, *way, "--"], start)
            differ = [pair for pair in zip(wanted.splitlines(), got.splitlines()) if pair[0] != pair[1]]
            checks.check(f"a command begins as without strobe: {name}, {' '.join(way[:3])}",
                         got.count("\n") == wanted.count("\n") and not differ, f"{differ[:5]} {got[-300:]}")


def screen(strobe, forks):
    """An event added on the screen."""
    try:
        import pyte  # noqa: F401
    except ImportError:
        checks.skip("events added on the screen", "python3-pyte is not installed")
        return
    with target(forks) as work:
        terminal = Screen([strobe, "--scope", "inherit", "-e", "task-clock", "-p", str(work.pid)], 120, 30)
        terminal.until("task-clock")
        terminal.send("E")
        terminal.until("Events")
        terminal.send(f":uprobe:{forks}:forks_target\r")
        added = terminal.until(lambda _: bool(groups()))
        out = work.communicate("go\n", timeout=120)[0]
        checks.check("an event added on the screen", added and f"0 of {2 * TIMES} failed: none" in out,
                     f"{out} {terminal.text()}")
        terminal.send("qq")
        terminal.wait()
        terminal.close()
        checks.check("its probe goes with the screen", not groups(), groups())


def main():
    strobe, forks = (os.path.abspath(path) for path in sys.argv[1:3])
    if os.geteuid() != 0:
        checks.skip("all of it", "only root may open probes")
        checks.finish()
    if not os.path.exists(f"{TRACING}/uprobe_events"):
        checks.skip("all of it", "this kernel has no uprobes, or tracefs is not mounted")
        checks.finish()
    with tempfile.TemporaryDirectory() as cache, public_copy(strobe, forks) as (strobe, forks):
        os.environ["XDG_CACHE_HOME"] = cache
        children(strobe, forks, cache)
        hits(strobe, forks, cache)
        kernel_breakpoints(strobe, forks)
        leftovers(strobe, forks)
        exceptions(strobe, cache)
        beginning(strobe, forks, cache)
        screen(strobe, forks)
    checks.finish()


if __name__ == "__main__":
    main()
