# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepares the machine for the tests, independent of earlier use.

Each run has an environment, limits, a home and a folder for temporary files of its own.  A lock in
the folder shows that the run is alive.  Leftovers of killed runs are removed.  A run as root sets
perf's kernel settings to the kernel's defaults, and restores them at its end.  The kernel lowers
some settings after hours of sampling, and killed tests may leave others changed.
"""

import contextlib
import fcntl
import glob
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PREFIX = "strobe-tests-"
SETTINGS = {"perf_cpu_time_max_percent": "25", "perf_event_max_sample_rate": "100000", "perf_event_mlock_kb": "516",
            "perf_event_max_stack": "127", "perf_event_max_contexts_per_stack": "8", "perf_event_paranoid": "2",
            "kptr_restrict": "0"}
CGROUPS = "/sys/fs/cgroup"
LIMITS = {resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_MEMLOCK: 8 << 20, resource.RLIMIT_STACK: 8 << 20,
          resource.RLIMIT_CORE: 0}
UNSET = ("COLUMNS", "DEBUGINFOD_CACHE_PATH", "DEBUGINFOD_URLS", "EDITOR", "LANGUAGE", "LINES", "NO_COLOR", "PAGER",
         "PERF_CONFIG", "PERF_PAGER", "TERMINFO", "VISUAL", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")


def _lock(path):
    """Returns the open file that holds the lock, or None if another process has it."""
    file = open(path, "r+", encoding="ascii")  # pylint: disable=consider-using-with
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except BlockingIOError:
        file.close()
        return None


def _read(name):
    """Returns a setting, or None if this kernel does not have it or does not show it."""
    with contextlib.suppress(OSError), open(f"/proc/sys/kernel/{name}", encoding="ascii") as setting:
        return setting.read().strip()
    return None


def _set(settings):
    for name, value in settings.items():
        with contextlib.suppress(OSError), open(f"/proc/sys/kernel/{name}", "w", encoding="ascii") as setting:
            setting.write(value)


def _unmount(folder):
    """Unmounts all that is mounted below folder.  Returns False if a mount is left."""
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
        below = [line.split()[1] for line in mounts if line.split()[1].startswith(folder + "/")]
    return all(subprocess.run(["umount", "--lazy", path], stderr=subprocess.DEVNULL, check=False).returncode == 0
               for path in reversed(below))


def _remove(folder):
    if _unmount(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _end_processes(folder):
    """Kills the processes of a run: the folder is in their environment."""
    mark = f"TMPDIR={folder}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as environ:
            if mark in environ.read().split(b"\0"):
                os.kill(int(pid), signal.SIGKILL)


def _remove_made(folder):
    """Removes files at fixed places, which the tests list in the folder."""
    with contextlib.suppress(OSError), open(os.path.join(folder, "made"), encoding="ascii") as made:
        for path in made.read().splitlines():
            with contextlib.suppress(OSError):
                os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)


def _remove_cgroups():
    """Removes cgroups of tests that have ended; the names end in the number of a process."""
    for path in glob.glob(f"{CGROUPS}/strobe-test-*") + glob.glob(f"{CGROUPS}/*/strobe-test-*"):
        pid = path.rpartition("-")[2]
        if not pid.isdigit() or os.path.exists(f"/proc/{pid}"):
            continue
        for below, _, _ in os.walk(path, topdown=False):
            # The kernel keeps a cgroup while a process in it is ending.
            end = time.monotonic() + 1
            while os.path.isdir(below) and time.monotonic() < end:
                with contextlib.suppress(OSError):
                    os.rmdir(below)
                time.sleep(0.01)


def clean():
    """Removes leftovers of killed runs."""
    for folder in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), PREFIX + "*")):
        with contextlib.suppress(OSError):
            lock = _lock(os.path.join(folder, "lock"))
            if not lock:
                continue
            with lock:
                print(f"removing what a killed run left: {folder}")
                _end_processes(folder)
                _remove_made(folder)
                with contextlib.suppress(OSError, ValueError), \
                        open(os.path.join(folder, "settings"), encoding="ascii") as settings:
                    _set(json.load(settings))
                _remove(folder)
    _remove_cgroups()


@contextlib.contextmanager
def _settings(folder):
    # In the order of the restore: the rate cannot be set while the share of time has no limit.
    before = {name: value for name in reversed(SETTINGS) if (value := _read(name)) is not None}
    for name, value in before.items():
        if value != SETTINGS[name]:
            print(f"kernel.{name}: {SETTINGS[name]} meanwhile, for {value}")
    with open(os.path.join(folder, "settings"), "w", encoding="ascii") as settings:
        json.dump(before, settings)
    _set(SETTINGS)
    try:
        yield
    finally:
        _set(before)


def _default_limits():
    """Sets each soft limit, if the hard one allows it."""
    for which, soft in LIMITS.items():
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))


def _default_signals():
    """Unblocks all signals, and resets those ignored under nohup or in a script's background."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # SIGTERM must still restore the settings and remove the folder.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


@contextlib.contextmanager
def prepared(settings=True):
    """Prepares the machine for the time of the block; yields the folder."""
    os.umask(0o022)
    _default_limits()
    _default_signals()
    clean()
    folder = tempfile.mkdtemp(prefix=PREFIX)
    with open(os.path.join(folder, "lock"), "x", encoding="ascii"):
        pass
    with _lock(os.path.join(folder, "lock")):
        os.mkdir(os.path.join(folder, "home"))
        # Some tests run as other users.
        os.chmod(folder, 0o1777)
        for name in UNSET:
            os.environ.pop(name, None)
        os.environ.update(TMPDIR=folder, HOME=os.path.join(folder, "home"), LC_ALL="C.UTF-8", TERM="xterm-256color",
                          XDG_CACHE_HOME=os.path.join(folder, "home", ".cache"),
                          STROBE_TESTS_MADE=os.path.join(folder, "made"))
        try:
            with _settings(folder) if settings else contextlib.nullcontext():
                yield folder
        finally:
            _end_processes(folder)
            _remove_made(folder)
            _remove_cgroups()
            _remove(folder)
