#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe does not use a /proc of another pid namespace, and reports unreadable mappings.

usage: proc_faults.py STROBE SHARES
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, run, started  # noqa: E402

checks = Checks()
HOT = "shares_hot"
FOREIGN = "/proc is that of another pid namespace"
UNREAD = "cannot read the mappings of process"

# The first FAIL_N opens of another process's /proc/PID/maps fail with FAIL_ERRNO.
PRELOAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static FILE *open_or_fail(const char *name, const char *path, const char *mode)
{
	static int left = -1;
	FILE *(*real)(const char *, const char *) = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, name);
	size_t len = strlen(path);
	if (left < 0)
		left = getenv("FAIL_N") ? atoi(getenv("FAIL_N")) : 0;
	if (left && !strncmp(path, "/proc/", 6) && path[6] != 's' && len > 5 && !strcmp(path + len - 5, "/maps")) {
		left--;
		errno = atoi(getenv("FAIL_ERRNO"));
		return NULL;
	}
	return real(path, mode);
}
FILE *fopen(const char *path, const char *mode) { return open_or_fail("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return open_or_fail("fopen64", path, mode); }
"""


def inside(script, mount=""):
    """Run in a pid namespace of its own; without `mount`, /proc stays that of the outer
    namespace."""
    return run(["unshare", "--pid", "--fork", *([mount] if mount else []), "sh", "-c", script])


def other_namespace(strobe, shares):
    if run(["unshare", "--pid", "--fork", "true"]).status:
        checks.skip("/proc of another pid namespace", "no pid namespace here")
        return
    # Process 2 is a kernel thread outside, and the workload inside.
    script = f"{shares} 60 >/dev/null & {strobe} %s; status=$?; kill -9 $!; exit $status"
    attached = inside(script % "report -p $! --duration 0.5")
    checks.check("a process is not looked up in /proc of others", attached.status == 1 and FOREIGN in attached.err
                 and "mount" in attached.err and not attached.out, attached)
    for command in ("report -n sh --duration 0.1", "stat -p $! --duration 0.1", "record -p $! -o /dev/null --duration 0.1",
                    "live -p $! --snapshot 80x24 --duration 0.1", "report -u root --duration 0.1"):
        refused = inside(script % command)
        checks.check(f"nor by strobe {command}", refused.status != 0 and FOREIGN in refused.err, refused)
    machine = inside(script % "report -a --duration 1 --group process")
    checks.check("the whole machine has no names out of it, and one note",
                 machine.status == 0 and re.search(r"\(2\)", machine.out) and "kthreadd" not in machine.out
                 and machine.out.count(FOREIGN) == 1, machine)
    command = inside(f"{strobe} report -- {shares} 1")
    checks.check("a command is profiled all the same", command.status == 0 and HOT in command.out, command)
    mounted = inside(script % "report -p $! --duration 0.5", "--mount-proc")
    checks.check("with /proc of its own there is nothing to tell", mounted.status == 0 and HOT in mounted.out
                 and FOREIGN not in mounted.out + mounted.err, mounted)


def unreadable(strobe, shares, folder):
    library = os.path.join(folder, "fail.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=PRELOAD, text=True, check=True,
                   timeout=60)

    def report(n, error, *command):
        return run([strobe, *(command or ("report", "-p", str(process.pid), "--duration", "1"))],
                   env={"LD_PRELOAD": library, "FAIL_N": str(n), "FAIL_ERRNO": str(error)})

    with started([shares, "600"]) as process:
        if HOT not in run([strobe, "report", "-p", str(process.pid), "--duration", "0.5"],
                          env={"LD_PRELOAD": library}).out:
            checks.skip("mappings that cannot be read", "the preloaded library does not fit this build")
            return
        for name, error, remedy in (("EMFILE", 24, "ulimit -n"), ("ENOMEM", 12, "until they can be read"),
                                    ("EACCES", 13, "cap_sys_ptrace"), ("EIO", 5, "until they can be read")):
            always = report(1000000, error)
            checks.check(f"mappings that cannot be read for {name} are told of, once, with a remedy",
                         always.status == 0 and "[unknown]" in always.out and always.out.count(UNREAD) == 1
                         and str(process.pid) in always.out and remedy in always.out, always)
        once = report(1, 12)
        checks.check("what fails once is tried again", once.status == 0 and HOT in once.out and UNREAD not in once.out,
                     once)
        later = report(4, 24, "report", "-p", str(process.pid), "--duration", "3")
        checks.check("what can be read later is read later, and no more told as unread",
                     later.status == 0 and HOT in later.out and UNREAD not in later.out, later)
        recorded = report(1000000, 24, "record", "-p", str(process.pid), "--duration", "0.5", "-o",
                          os.path.join(folder, "data"))
        checks.check("strobe record tells of it", recorded.status == 0 and UNREAD in recorded.err, recorded)
        gone = report(1000000, 3)
        checks.check("a process that is gone is nothing to tell of", UNREAD not in gone.out, gone)


def main():
    strobe, shares = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        if os.geteuid():
            checks.skip("/proc of another pid namespace", "root alone makes one")
        else:
            other_namespace(strobe, shares)
        unreadable(strobe, shares, folder)
    checks.finish()


main()
