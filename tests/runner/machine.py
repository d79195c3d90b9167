# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine as the tests expect it, whatever was done on it before.

Tests get an environment, a home and a folder for temporary files of their own.  As root, settings of perf that the
kernel lowers after hours of sampling, or that a killed test left, have the kernel's defaults meanwhile.  Processes,
mounts and cgroups of killed runs are removed.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

PREFIX = "strobe-tests-"
SETTINGS = {"perf_cpu_time_max_percent": "25", "perf_event_max_sample_rate": "100000", "perf_event_mlock_kb": "516",
            "perf_event_max_stack": "127", "perf_event_max_contexts_per_stack": "8"}
UNSET = ("COLUMNS", "DEBUGINFOD_CACHE_PATH", "DEBUGINFOD_URLS", "EDITOR", "LANGUAGE", "LINES", "NO_COLOR", "PAGER",
         "PERF_CONFIG", "PERF_PAGER", "TERMINFO", "VISUAL", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")


def _folders():
    top = tempfile.gettempdir()
    for name in os.listdir(top):
        if re.fullmatch(PREFIX + r"\d+", name):
            yield os.path.join(top, name), int(name.removeprefix(PREFIX))


def _is_alive(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as command:
        return b"python" in command.read()
    return False


def _unmount(folder):
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
        below = [line.split()[1] for line in mounts if line.split()[1].startswith(folder + "/")]
    for path in reversed(below):
        subprocess.run(["umount", "--lazy", path], stderr=subprocess.DEVNULL, check=False)


def _end_orphans(build):
    """Programs of the build whose test was killed: their parent is the system's first process."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError, ProcessLookupError):
            program = os.readlink(f"/proc/{pid}/exe")
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                parent = stat.read().rpartition(")")[2].split()[1]
            if parent == "1" and program.startswith(os.path.abspath(build) + "/"):
                print(f"ended a program that an earlier run left: {program} ({pid})")
                os.kill(int(pid), signal.SIGKILL)


def _remove_cgroups():
    for root, names, _ in os.walk("/sys/fs/cgroup", topdown=False):
        for name in names:
            if name.startswith("strobe-test"):
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.join(root, name))


def clean(build):
    """Removes what killed runs left."""
    _end_orphans(build)
    for folder, pid in list(_folders()):
        if not _is_alive(pid):
            _unmount(folder)
            shutil.rmtree(folder, ignore_errors=True)
    if os.geteuid() == 0:
        _remove_cgroups()


@contextlib.contextmanager
def _settings():
    before = {}
    for name, value in SETTINGS.items():
        with contextlib.suppress(OSError), open(f"/proc/sys/kernel/{name}", "r+", encoding="ascii") as setting:
            was = setting.read().strip()
            if was != value:
                setting.seek(0)
                setting.write(value)
                setting.flush()
                before[name] = was
                print(f"kernel.{name}: {value} meanwhile, for {was}")
    try:
        yield
    finally:
        for name, value in reversed(before.items()):
            with contextlib.suppress(OSError), open(f"/proc/sys/kernel/{name}", "w", encoding="ascii") as setting:
                setting.write(value)


@contextlib.contextmanager
def prepared(build):
    """For the time of the block; the build's folder tells whose processes are the tests'."""
    os.umask(0o022)
    clean(build)
    folder = os.path.join(tempfile.gettempdir(), f"{PREFIX}{os.getpid()}")
    os.makedirs(os.path.join(folder, "home"))
    # Tests become other users.
    os.chmod(folder, 0o1777)
    for name in UNSET:
        os.environ.pop(name, None)
    os.environ.update(TMPDIR=folder, HOME=os.path.join(folder, "home"), LC_ALL="C.UTF-8", TERM="xterm-256color",
                      XDG_CACHE_HOME=os.path.join(folder, "home", ".cache"))
    try:
        with _settings():
            yield
    finally:
        _unmount(folder)
        shutil.rmtree(folder, ignore_errors=True)
