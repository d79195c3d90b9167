#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of code stay right in unusual files and memory.

Covers files with several names, files touched or replaced while they run, moved text, and memory
that processes share.

usage: places.py STROBE
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp(prefix="strobe-test-places-")
os.chmod(folder, 0o755)
ENV = {"XDG_CACHE_HOME": os.path.join(folder, "cache"), "HOME": folder}

# Says "ready", and works until it is killed; with an argument it waits for a signal first.
WORK = """#include <stdio.h>
#include <signal.h>
#include <unistd.h>
static void wake(int number)
{
	(void)number;
}
__attribute__((noinline)) void work(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}
int main(int argc, char **argv)
{
	signal(SIGUSR1, wake);
	puts("ready");
	fflush(stdout);
	if (argc > 1)
		pause();
	for (;;)
		work();
}
"""


def build(name, source, *options):
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="ascii") as out:
        out.write(source)
    subprocess.run(["gcc", "-g", "-O1", "-o", path, path + ".c", *options], check=True, timeout=60)
    return path


def run(*arguments, program=strobe, user=None):
    env = ENV if user is None else {"XDG_CACHE_HOME": "/nonexistent"}
    return common.run([program, *arguments], env=env, user=user)


def report(*arguments, **how):
    return run("report", "--format", "json", *arguments, **how)


def samples(result, **wanted):
    """Return the number of samples in rows with the wanted values."""
    with contextlib.suppress(ValueError):
        return sum(row["samples"] for event in json.loads(result.out)["events"] for row in event["rows"]
                   if all(row.get(key) == value for key, value in wanted.items()))
    return 0


def hard_links():
    """Each process runs the file under its own name."""
    first = build("first", WORK)
    names = [first] + [os.path.join(folder, name) for name in ("second", "third")]
    for name in names[1:]:
        os.link(first, name)
    with contextlib.ExitStack() as stack:
        pids = {name: stack.enter_context(common.started([name], wait_for="ready")).pid for name in names}
        chosen = ["-p", ",".join(str(pid) for pid in pids.values()), "--duration", "1"]
        result = report(*chosen, "--group", "process,symbol,image")
        for name, pid in pids.items():
            image = os.path.basename(name)
            own, all_ = samples(result, process=pid, symbol="work", image=image), samples(result, process=pid, symbol="work")
            checks.check(f"hard links: the process of {image} shows this name", 0 < own == all_, (own, all_, str(result)))
        lines = run("report", *chosen, "--group", "line")
        checks.check("hard links: lines", re.search(r"\d\.\d\d% .*/first\.c:1[01]\b", lines.out), str(lines))


def judge(name, process, program=strobe, user=None):
    """Check names, instructions with lines, and rows by line."""
    chosen = ["-p", str(process.pid), "--duration", "0.3"]
    result = report(*chosen, program=program, user=user)
    checks.check(f"{name}: names", samples(result, symbol="work") > 0 and "replaced" not in result.out, str(result))
    code = run("annotate", *chosen, "work", program=program, user=user)
    checks.check(f"{name}: annotated", re.search(r"\s(cmp|jle|jg|b\.\w+)\w*\s", code.out) and ".c:" in code.out, str(code))
    lines = run("report", *chosen, "--group", "line", program=program, user=user)
    checks.check(f"{name}: lines", re.search(r"\d% .*\.c:1[01]\b", lines.out), str(lines))


def touched():
    """The file's time changes after attaching, when strobe checks the file, and before the first
    sample."""
    path = build("touched", WORK)
    with common.started([path, "asleep"], wait_for="ready") as process:
        with subprocess.Popen([strobe, "report", "--format", "json", "-p", str(process.pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(os.environ, **ENV)) as profile:
            common.rings_settle(profile, 1)
            os.utime(path, (1000000000, 1000000000))
            process.send_signal(signal.SIGUSR1)
            common.let_run(process.pid, 0.5)
            profile.send_signal(signal.SIGINT)
            out, err = profile.communicate(timeout=120)
        result = common.Result(profile.returncode, out.decode(), err.decode(), False)
        checks.check("touched after attaching: names", samples(result, symbol="work") > 0 and "replaced" not in result.out,
                     str(result))
        judge("touched before", process)


def owned():
    """An ordinary user's program is deleted, replaced by another, or touched and deleted."""
    if os.geteuid() != 0:
        checks.skip("an ordinary user's program", "not root")
        return
    with common.public_copy(strobe) as (copy,):
        home = os.path.join(os.path.dirname(copy), "home")
        os.mkdir(home)
        os.chown(home, common.NOBODY, common.NOBODY)
        path = os.path.join(home, "program")
        for name in ("deleted", "replaced", "touched and deleted"):
            shutil.copy(build("owned", WORK, "-Wl,--build-id=none"), path)
            with common.started([path], user=common.NOBODY, wait_for="ready") as process:
                if name.startswith("touched"):
                    os.utime(path, (1000000000, 1000000000))
                os.unlink(path)
                if name == "replaced":
                    shutil.copy(build("other", WORK.replace("work", "rest"), "-Wl,--build-id=none"), path)
                judge(f"an ordinary user's program, {name}", process, copy, common.NOBODY)
            with contextlib.suppress(OSError):
                os.unlink(path)


# A process shares the memory of its parent, which loads the library that the process runs.
SHARING = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char stack[1 << 20] __attribute__((aligned(16)));
static void *volatile work;
static int run(void *unused)
{
	(void)unused;
	while (!work)
		usleep(1000);
	while (clock() < CLOCKS_PER_SEC / 2)
		((void (*)(void))work)();
	return 0;
}
int main(int argc, char **argv)
{
	int pid = clone(run, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	(void)argc;
	usleep(300000);
	work = dlsym(dlopen(argv[1], RTLD_NOW), "deep");
	return waitpid(pid, NULL, 0) < 0;
}
"""
LIBRARY = "void deep(void)\n{\n\tfor (volatile int i = 0; i < 300000; i++)\n\t\t;\n}\n"


def shared_memory():
    """A mapping made by one of two processes in one address space belongs to both."""
    library = build("libwork.so", LIBRARY, "-shared", "-fPIC")
    path = build("sharing", SHARING, "-ldl")
    data = os.path.join(folder, "sharing.data")
    results = {"live": report("--", path, library)}
    run("record", "-o", data, "--", path, library)
    results["recorded"] = report(data)
    if shutil.which("perf"):
        common.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o", data, "--", path, library])
        results["recorded by perf"] = report(data)
    for name, result in results.items():
        named, unknown = samples(result, symbol="deep", image="libwork.so"), samples(result, symbol="[unknown]")
        checks.check(f"memory shared by two processes, {name}", named > 9 * unknown, (named, unknown, str(result)))


def main():
    try:
        hard_links()
        shared_memory()
        touched()
        owned()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    checks.finish()


main()
