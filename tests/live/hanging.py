#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A target whose program, library and root lie on a file system that stops answering.

strobe still shows the target, reports the files that it could not read, names all other code,
and ends.

usage: hanging.py STROBE SHARES JIT
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402
import fuse  # noqa: E402

checks = common.Checks()
strobe, shares, jit = (os.path.abspath(path) for path in sys.argv[1:4])
# strobe ignores an empty variable like an unset one.
NO_XDG = {"XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}
NOTE = "its file system does not answer"


def judge_report(name, pid):
    result = common.run([strobe, "report", "-e", "cpu-clock", "-p", str(pid), "--duration", "0.5", "-F", "499"])
    checks.check(f"{name}: the report comes", not result.hung and result.status == 0 and "cpu-clock" in result.out, result)
    checks.check(f"{name}: a note names the file", NOTE in result.out + result.err and "stopped/" in result.out + result.err, result)
    checks.check(f"{name}: other files are read", "__libc_start_call_main" in result.out, result)


def judge_unanswered(name, server, pid, image):
    """Check a report whose process cannot be killed until the server answers or is gone."""
    process = subprocess.Popen([strobe, "report", "-e", "cpu-clock", "-p", str(pid), "--duration", "0.5", "-F", "499"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = ""
    while NOTE not in out or image not in out:
        line = process.stdout.readline()
        if not line:
            break
        out += line
    checks.check(f"{name}: the report comes, and names the file", NOTE in out and image in out, out)
    os.kill(server, signal.SIGKILL)
    out += process.stdout.read()
    checks.check(f"{name}: it ends with the server", process.wait(timeout=60) == 0, process.returncode)
    process.stdout.close()
    return out


def judge_screen(name, pid, ends, image="libc.so.6"):
    screen = common.Screen([strobe, "-p", str(pid)], 100, 30)
    try:
        checks.check(f"{name}: the first screen comes", screen.until(image), screen.text())
        if ends == "q":
            screen.send("q")
        else:
            os.kill(screen.pid, signal.SIGTERM)
        checks.check(f"{name}: it ends by {ends}", screen.wait(timeout=60) is not None, screen.text())
    finally:
        screen.close()


def test_library(folder, silent):
    name = "a server that takes questions without an answer" if silent else "a server that stands still"
    point = os.path.join(folder, "silent" if silent else "stopped")
    os.mkdir(point)
    library = os.path.join(os.path.dirname(shares), "libshares_lib.so")
    files = {os.path.basename(path): path for path in (shares, library)}
    with fuse.mounted(point, files) as server:
        with common.started([os.path.join(point, "shares"), "1000"], env=dict(os.environ, LD_LIBRARY_PATH=point)) as target:
            # Wait until all of it is in memory.
            common.let_run(target.pid, 0.5)
            os.kill(server, signal.SIGUSR1 if silent else signal.SIGSTOP)
            if silent:
                judge_unanswered(name, server, target.pid, "libc.so.6")
            else:
                judge_report(name, target.pid)
                judge_screen(name, target.pid, "q")
                judge_screen(name, target.pid, "TERM")


# Runs the loader by its own name, since the folder has no subdirectories.
INSIDE = ["sh", "-c", 'exec chroot "$1" /ld.so --library-path / /shares 1000', "sh"]


def test_root(folder):
    name = "a root that stands still"
    point = os.path.join(folder, "root")
    os.mkdir(point)
    said = common.run(["ldd", shares]).out
    paths = [word for word in said.split() if word.startswith("/") and os.path.exists(word)] + [shares]
    files = {os.path.basename(path): path for path in paths}
    files["ld.so"] = next(path for path in paths if os.path.basename(path).startswith("ld-"))
    with fuse.mounted(point, files) as server:
        with common.started([*INSIDE, point]) as target:
            common.let_run(target.pid, 0.5)
            os.kill(server, signal.SIGSTOP)
            result = common.run([strobe, "report", "-e", "cpu-clock", "-p", str(target.pid), "--duration", "0.5",
                                 "-F", "499"])
            checks.check(f"{name}: the report comes", not result.hung and result.status == 0 and "cpu-clock" in result.out,
                         result)
            checks.check(f"{name}: a note names a file", NOTE in result.out + result.err, result)
            judge_screen(name, target.pid, "q", "shares")


# Mounts that other processes cannot see.
COVERED = ["unshare", "-m", "sh", "-c", 'mount --bind "$1" /tmp && exec "$2" late 1000', "sh"]


def test_map(folder):
    name = "names of code made at run time where nobody answers"
    point = os.path.join(folder, "temporary")
    os.mkdir(point)
    program = os.path.join("/var/tmp", f"strobe-test-hanging-{os.getpid()}")
    shutil.copy(jit, program)
    try:
        with fuse.mounted(point, {"shares": shares}) as server:
            with common.started([*COVERED, point, program]) as target:
                common.let_run(target.pid, 0.5)
                os.kill(server, signal.SIGSTOP)
                result = common.run([strobe, "report", "-e", "cpu-clock", "-p", str(target.pid), "--duration", "0.5",
                                     "-F", "499"])
                checks.check(f"{name}: a note says so", not result.hung and result.status == 0 and
                             re.search(rf"/tmp/perf-\d+\.map' \({NOTE}\)", result.out), result)
    finally:
        os.unlink(program)


def test_debug_file(folder):
    """A debug file opens, but its reads never end: its debug link requires a checksum of it."""
    name = "a debug file that cannot be read to an end"
    program, debug = os.path.join(folder, "linked"), os.path.join(folder, "outside", "linked.debug")
    point = os.path.join(folder, ".debug")
    os.mkdir(point)
    os.mkdir(os.path.dirname(debug))
    common.run(["objcopy", "--only-keep-debug", shares, debug])
    common.run(["objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", f"--add-gnu-debuglink={debug}", shares, program])
    with fuse.mounted(point, {"linked.debug": debug}, mute=["linked.debug"]) as server:
        with common.started([program, "1000"], env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(shares))) as target:
            common.let_run(target.pid, 0.5)
            out = judge_unanswered(name, server, target.pid, "linked.debug")
            checks.check(f"{name}: it holds up nothing",
                         "the wait for symbols ended" not in out and "takes too long to read" not in out, out)
            checks.check(f"{name}: other files are read", "__libc_start_call_main" in out, out)


def ask(screen, key, path):
    screen.send(key)
    screen.until(" to: ")
    screen.send("\x15" + path + "\r")


def test_writing(folder):
    """The screen writes to a file system that has stopped: the session goes on, and ends."""
    point = os.path.join(folder, "out")
    os.mkdir(point)
    with fuse.mounted(point, {"shares": shares}) as server:
        os.kill(server, signal.SIGSTOP)
        for key, file in (("w", "screen.txt"), ("x", "flames.svg"), ("W", "kept.data")):
            name = f"{key} where nobody answers"
            # The screen is wide enough for a sentence with the path of a temporary folder.
            screen = common.Screen([strobe, "--", shares, "0"], 200, 30)
            try:
                screen.until("shares_hot")
                ask(screen, key, os.path.join(point, file))
                if key == "w":
                    checks.check(f"{name}: a sentence says so", screen.until("does not answer"), screen.text())
                screen.send("?")
                checks.check(f"{name}: the session goes on", screen.until("buffers in the kernel"), screen.text())
                screen.send("qq")
                checks.check(f"{name}: it ends", screen.wait(timeout=60) is not None, screen.text())
                if key != "w":
                    checks.check(f"{name}: the end says so", "does not answer" in screen.text(), screen.text())
            finally:
                screen.close()


def test_named(folder):
    """A path on the command line lies there: strobe says so and does not wait."""
    point = os.path.join(folder, "named")
    os.mkdir(point)
    data = os.path.join(folder, "some.data")
    common.run([strobe, "record", "-e", "cpu-clock", "-o", data, "--", shares, "1"])
    with fuse.mounted(point, {"shares": shares}) as server:
        os.kill(server, signal.SIGSTOP)
        file = os.path.join(point, "shares")
        for words in (["report", "--debug-dir", point, data], ["report", "--symfs", point, data], ["report", file],
                      ["diff", data, file], ["--baseline", file, data], ["record", "-o", file, "--", "true"],
                      ["export", "--format", "folded", "-o", file, data], ["annotate", "--source-tree", point, data],
                      ["report", "--", file]):
            result = common.run([strobe, *words])
            checks.check(f"{words[0]} {words[1]}: a sentence says so", not result.hung and result.status in (1, 2) and
                         "its file system does not answer" in result.err, result)
        result = common.run([strobe, "report", "--cache-dir", point, data])
        checks.check("a cache there is not used", result.status == 0 and "shares_hot" in result.out, result)
        for variable, value in (("XDG_CACHE_HOME", point), ("HOME", point), ("HOME", file), ("XDG_CONFIG_HOME", point)):
            result = common.run([strobe, "report", data], env={**NO_XDG, variable: value})
            checks.check(f"{variable} there holds up nothing", not result.hung and result.status == 0 and
                         "shares_hot" in result.out, result)
        result = common.run([strobe, "record", "-o", os.path.join(folder, "never.data"), "--", "no-such-program"],
                            env={"PATH": f"{point}:{os.environ['PATH']}"})
        checks.check("a folder of PATH there is named", not result.hung and NOTE in result.err and point in result.err, result)
        judge_layout(point)


def judge_layout(point):
    """Check that a session ends if its layout, saved at the end, cannot be written."""
    for env in ({"XDG_STATE_HOME": point}, {**NO_XDG, "HOME": point}, {"TERMINFO": point}, {"TERMINFO_DIRS": f"/nowhere:{point}"}):
        screen = common.Screen([strobe, "--", shares, "0"], 100, 30, env=env)
        try:
            screen.until("shares_hot")
            screen.send("q")
            checks.check(f"{', '.join(env)} there: the session ends", screen.wait(timeout=60) is not None, screen.text())
        finally:
            screen.close()


def test_remembered(folder):
    """The kernel has cached attributes of files that nothing can open any more."""
    point = os.path.join(folder, "remembered")
    os.mkdir(point)
    data = os.path.join(folder, "remembered.data")
    common.run([strobe, "record", "-e", "cpu-clock", "-o", data, "--", shares, "1"])
    with fuse.mounted(point, {"shares": shares, "some.data": data}, valid_s=3600) as server:
        files = [os.path.join(point, name) for name in ("some.data", "shares")]
        for file in files:
            os.stat(file)
        os.kill(server, signal.SIGSTOP)
        for words in (["report", files[0]], ["report", "--", files[1]]):
            result = common.run([strobe, *words])
            checks.check(f"{' '.join(words)}: a sentence says so", not result.hung and NOTE in result.err, result)
        screen = common.Screen([strobe, "--config", files[0], "--", shares, "0"], 200, 30)
        try:
            checks.check("a configuration there: the first screen comes", screen.until("shares_hot"), screen.text())
            screen.send("L")
            checks.check("a configuration there: the log says so", screen.until(NOTE), screen.text())
            screen.send("qq")
            checks.check("a configuration there: it ends", screen.wait(timeout=60) is not None, screen.text())
        finally:
            screen.close()


def main():
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        checks.skip("a hanging file system", "needs root and /dev/fuse")
        checks.finish()
    with tempfile.TemporaryDirectory(prefix="strobe-test-hanging-") as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        # A leak checker stops all threads first, and would wait for those blocked in the kernel.
        os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        try:
            test_library(folder, False)
            test_library(folder, True)
            test_root(folder)
            test_debug_file(folder)
            test_writing(folder)
            test_named(folder)
            test_remembered(folder)
            test_map(folder)
        except OSError as error:
            checks.skip("a hanging file system", str(error))
    checks.finish()


main()
