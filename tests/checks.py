# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared parts of the scripted tests.

Named cases, skips with a reason, and the closing line.  strobe runs as another user, within
limits, or in a pseudo-terminal."""

import contextlib
import fcntl
import functools
import os
import pty
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

NOBODY = 65534

# Use neither this machine's user settings for strobe nor the state of an earlier test.
os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_STATE_HOME"] = "/dev/null"


# Signals of a crash.  The runner takes a line that begins with "crash: " or "hang: " for more than
# a failed assertion.
FATAL = (signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGSYS)


class _Watched(subprocess.Popen):
    """Prints a "crash: " line when the command ends by a fatal signal, however the test waits for
    it."""

    @property
    def returncode(self):
        return self._status

    @returncode.setter
    def returncode(self, status):
        if status is not None and -status in FATAL:
            print(f"crash: {self.args}: signal {-status}", flush=True)
        self._status = status


subprocess.Popen = _Watched


class Checks:
    """Counts cases; finish() prints the line that the summary reads, and exits."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, good, detail=""):
        if good:
            self.passed += 1
            print(f"ok: {name}")
        else:
            self.failed += 1
            print(f"not ok: {name}:\t{detail}")
        sys.stdout.flush()
        return good

    def amount(self, name, good, detail=""):
        """A case about an amount; it passes unjudged if amounts_count() is false."""
        if amounts_count():
            return self.check(name, good, detail)
        print(f"amount, not judged under a sanitizer: {name}: {detail if not good else 'good'}"[:1000])
        return True

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skip: {name}: {reason}")

    def finds(self, name, *programs):
        """Return whether all of these programs are installed; skip the case otherwise."""
        missing = [program for program in programs if not shutil.which(program)]
        if missing:
            self.skip(name, f"not installed: {', '.join(missing)}")
        return not missing

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed else 0)


def written(folder, name, text):
    """Write a new file with this text and return its path."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Result:
    def __init__(self, status, out, err, hung):
        self.status, self.out, self.err, self.hung = status, out, err, hung

    def __str__(self):
        return f"status {self.status}, hung {self.hung}, out {self.out[-600:]!r}, err {self.err[-600:]!r}"


def _become(user, limits):
    """Return the child's function before exec: sets limits first, which may need the privileges."""

    def prepare():
        for which, value in (limits or {}).items():
            resource.setrlimit(which, (value, value))
        if user is not None:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)

    return prepare


def run(command, user=None, limits=None, timeout=120, env=None, **kwargs):
    """Run a command to its end; one that outlives the (generous) timeout hangs, and is killed."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", **(env or {}))
    if user is not None:
        environment["HOME"] = "/nonexistent"
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment,
                               preexec_fn=_become(user, limits), **kwargs)
    hung = False
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        hung = True
        print(f"hang: {command}: no end within {timeout} s", flush=True)
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
    return Result(process.returncode, out.decode(errors="surrogateescape"),
                  err.decode(errors="surrogateescape"), hung)


def _threads(pid):
    """Return the states of all threads of a process and of its descendants, and their CPU time in
    ns."""
    states, used = "", 0
    with contextlib.suppress(OSError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                folder = f"/proc/{pid}/task/{tid}/"
                with open(folder + "stat", encoding="ascii", errors="replace") as stat:
                    states += stat.read().rsplit(")", 1)[1].split()[0]
                with open(folder + "schedstat", encoding="ascii") as stat:
                    used += int(stat.read().split()[0])
                with open(folder + "children", encoding="ascii") as children:
                    below = [_threads(child) for child in children.read().split()]
                states += "".join(state for state, _ in below)
                used += sum(time_ns for _, time_ns in below)
    return states, used


def settled(process, timeout=120):
    """Wait until a process and its children are idle: they wait for others.

    Idle: at each look for half a second all of their threads sleep and use next to no CPU time.
    A sanitizer's own thread wakes now and then.  Returns False if the process ended or the
    timeout passed.  On any machine, however slow, an idle process has done all that it can do
    alone."""
    end = time.monotonic() + timeout
    since, before = time.monotonic(), 0
    while time.monotonic() < end:
        states, used = _threads(process.pid)
        if process.poll() is not None:
            return False
        if set(states) - set("SZ") or not states or used - before > 5_000_000:
            since, before = time.monotonic(), used
        elif time.monotonic() - since >= 0.5:
            return True
        time.sleep(0.02)
    return False


def rings_settle(process, least, timeout=120):
    """Wait until a profiler has at least `least` events open and opened none for half a second."""
    before, since, end = -1, 0, time.monotonic() + timeout
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError):
            folder = f"/proc/{process.pid}/fd"
            number = sum("[perf_event]" in os.readlink(os.path.join(folder, name)) for name in os.listdir(folder))
            if number != before or number < least:
                before, since = number, time.monotonic()
            elif time.monotonic() - since > 0.5:
                return
        time.sleep(0.02)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def let_run(pid, seconds):
    """Wait until the process had `seconds` more CPU time, however busy the machine is."""
    end = cpu_seconds(pid) + seconds
    while cpu_seconds(pid) < end:
        time.sleep(0.05)


def _map_of(pid):
    """Return the fixed path of the file of names for code made at run time (perf-PID.map).

    The path is also noted for the runner, which removes the file if the test is killed."""
    path = f"/tmp/perf-{pid}.map"
    if os.environ.get("STROBE_TESTS_MADE"):
        with open(os.environ["STROBE_TESTS_MADE"], "a", encoding="ascii") as made:
            made.write(path + "\n")
    return path


def _remove(path):
    with contextlib.suppress(OSError):
        os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)


@contextlib.contextmanager
def started(command, user=None, wait_for=None, **kwargs):
    """Run a process during the block; its process group is killed afterwards."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE if wait_for else subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=_become(user, None), **kwargs)
    names = _map_of(process.pid)
    try:
        if wait_for:
            while wait_for.encode() not in process.stdout.readline():
                if process.poll() is not None:
                    raise RuntimeError(f"{command} ended before it said {wait_for!r}")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _remove(names)


@functools.cache
def is_sanitized(program):
    """Return whether a program was built with AddressSanitizer or ThreadSanitizer."""
    with open(program, "rb") as file:
        content = file.read()
    return b"__asan_init" in content or b"__tsan_init" in content


def amounts_count():
    """Return whether bounds on time, CPU, memory, shares and numbers of samples are judged.

    They are not under a sanitizer, which changes them all.  The test's arguments name the
    program."""
    return not any(os.path.basename(path) == "strobe" and is_sanitized(path) for path in sys.argv[1:])


@contextlib.contextmanager
def sysctl(path, value):
    """Change a setting of the system during the block."""
    with open(path, encoding="ascii") as setting:
        before = setting.read()
    try:
        with open(path, "w", encoding="ascii") as setting:
            setting.write(str(value))
        yield
    finally:
        with open(path, "w", encoding="ascii") as setting:
            setting.write(before)


@contextlib.contextmanager
def public_copy(*paths):
    """Make copies that an ordinary user may run, wherever the build directory is."""
    folder = tempfile.mkdtemp(prefix="strobe-test-")
    try:
        os.chmod(folder, 0o755)
        copies = []
        for path in paths:
            copy = shutil.copy(path, folder)
            os.chmod(copy, 0o755)
            copies.append(copy)
        yield copies
    finally:
        shutil.rmtree(folder)


class Screen:
    """A command in a pseudo-terminal, drawn by a pyte terminal, for end-to-end tests."""

    def __init__(self, command, columns=80, rows=24, term="xterm-256color", env=None, user=None):
        import pyte

        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status = None
        environment = dict(os.environ, TERM=term, LC_ALL="C.UTF-8", **(env or {}))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                # The child sets the size itself.  The parent could be too late for a program that
                # asks once.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                _become(user, None)()
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def send(self, keys):
        os.write(self.fd, keys.encode() if isinstance(keys, str) else keys)

    def read(self, timeout):
        """Add the output that comes within the timeout; False after the other side has closed."""
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        if not data:
            return False
        self.raw += data
        self.stream.feed(data)
        return True

    def until(self, wanted, timeout=60):
        """Wait until wanted(text) holds or the substring is on the screen; False on timeout."""
        test = wanted if callable(wanted) else lambda text: wanted in text
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if test(self.text()):
                return True
            if not self.read(min(0.2, max(0.0, end - time.monotonic()))):
                return test(self.text())
        return test(self.text())

    def wait(self, timeout=60):
        """Return the wait status after the end, None on timeout; output is drained meanwhile."""
        end = time.monotonic() + timeout
        while self.status is None and time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
                if os.WIFSIGNALED(status) and os.WTERMSIG(status) in FATAL:
                    print(f"crash: the screen: signal {os.WTERMSIG(status)}", flush=True)
        while self.read(0):
            if not select.select([self.fd], [], [], 0)[0]:
                break
        if self.status is None:
            print(f"hang: the screen: no end within {timeout} s", flush=True)
        return self.status

    def close(self):
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
