# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared parts of the benchmarks of the whole program.

A bare pseudo-terminal keeps raw bytes and their times, without a terminal emulation next to the
measured program.  Further: the cost of a process tree, medians, and the line with a ratio and its
limit."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

# Use neither this machine's user settings nor the layout of an earlier run.
os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_STATE_HOME"] = "/dev/null"

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
# CSI and other escape sequences, and the shifts of character sets.
ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Za-z0-9]|[=>78])|[\x0e\x0f]")

verdicts = []


class Terminal:
    """A command in a pseudo-terminal and session of its own, timed from just before its exec."""

    def __init__(self, command, columns=120, rows=40):
        self.raw = b""
        self.usage = None
        environment = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8")
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        ready_read, ready_write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
                for fd in (0, 1, 2):
                    os.dup2(terminal, fd)
                os.read(ready_read, 1)
                os.closerange(3, 64)
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)
        os.close(terminal)
        os.close(ready_read)
        self.fd = controller
        self.start = time.monotonic()
        os.write(ready_write, b"x")
        os.close(ready_write)

    def send(self, keys):
        os.write(self.fd, keys)

    def read(self, timeout):
        """Add the output that comes within the timeout (s); False after the other side has
        closed."""
        if not select.select([self.fd], [], [], max(0.0, timeout))[0]:
            return True
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return False
        self.raw += data
        return bool(data)

    def text_from(self, offset=0):
        return ESCAPES.sub(b"", self.raw[offset:])

    def until(self, pattern, timeout, offset=0):
        """Seconds from the start until the text since `offset` matches; None on timeout."""
        end = time.monotonic() + timeout
        while True:
            if re.search(pattern, self.text_from(offset)):
                return time.monotonic() - self.start
            left = end - time.monotonic()
            if left <= 0 or not self.read(min(left, 0.5)):
                return None

    def drain_for(self, seconds, each=None):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.read(min(0.1, end - time.monotonic())):
                break
            if each:
                each()
            if len(self.raw) > 1 << 22:
                self.raw = self.raw[-(1 << 16):]

    def close(self, keys=b"q"):
        """End the command, politely first.  Returns its CPU seconds; self.usage includes its
        children."""
        with contextlib.suppress(OSError):
            self.send(keys)
        deadline = time.monotonic() + 5
        while self.usage is None:
            pid, _, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.usage = usage
                break
            if time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
                    os.kill(self.pid, signal.SIGKILL)
                _, _, self.usage = os.wait4(self.pid, 0)
                break
            self.read(0.02)
        os.close(self.fd)
        return self.usage.ru_utime + self.usage.ru_stime


class Tree:
    """CPU time and peak memory of a process and all its descendants, sampled while they live."""

    def __init__(self, root):
        self.known = {root}
        self.cpu_s, self.peak_kib = {}, {}

    def look(self):
        parents, cpu_s = {}, {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            parents[int(name)] = int(fields[1])
            cpu_s[int(name)] = (int(fields[11]) + int(fields[12])) * TICK_S
        # Children of children, in any order; a known process stays known when its parent ends.
        found = -1
        while found != len(self.known):
            found = len(self.known)
            self.known |= {pid for pid, parent in parents.items() if parent in self.known}
        for pid in self.known & set(parents):
            self.cpu_s[pid] = cpu_s[pid]
            try:
                with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
                    peak = re.search(r"VmHWM:\s+(\d+)", status.read())
                if peak:
                    self.peak_kib[pid] = max(self.peak_kib.get(pid, 0), int(peak.group(1)))
            except OSError:
                continue

    def cpu_total_s(self):
        return sum(self.cpu_s.values())

    def peak_total_mib(self):
        return sum(self.peak_kib.values()) / 1024


@contextlib.contextmanager
def workload(command, wait_for=None, stdout=subprocess.DEVNULL):
    """Run a command in its own process group during the block, with its output in a file."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        process.output = output
        try:
            if wait_for:
                deadline = time.monotonic() + 60
                while wait_for.encode() not in output_of(process):
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"{command} did not say {wait_for!r}")
                    time.sleep(0.05)
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def output_of(process):
    process.output.seek(0)
    return process.output.read()


def median(values):
    known = [value for value in values if value is not None]
    # A run that never got there is slower than any that did.
    return statistics.median(known) if len(known) > len(values) // 2 else None


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def shown(value, unit):
    return "never" if value is None else f"{value:.4g} {unit}"


def verdict(name, value, limit, unit=""):
    """Print a measured value next to its limit, and remember whether it is within the limit."""
    good = value is not None and value <= limit
    verdicts.append(good)
    print(f"{'ok' if good else 'MISSED'}: {name}: {shown(value, unit)} (at most {limit:g} {unit})")
    sys.stdout.flush()


def compare(name, ours, theirs, limit, unit):
    """Print two medians and their ratio next to its limit."""
    ratio = ours / theirs if ours is not None and theirs else None
    print(f"{name}: strobe {shown(ours, unit)}, perf {shown(theirs, unit)}")
    if theirs is None:
        print("    no ratio: perf never got there")
        return
    verdict(f"    {name}: ratio", ratio, limit)


def finish():
    missed = verdicts.count(False)
    print(f"{len(verdicts) - missed} limits kept, {missed} missed")
    sys.exit(1 if missed else 0)
