#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks scripts/deps on other systems than this one.

scripts/deps runs with a PATH of its own.  There, dpkg-query, apt-get, id and sudo are stand-ins
that write down their calls.

usage: scripts.py TOP
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

TOOLS = ("sh", "env", "sort", "cut", "tr", "head", "tail", "mktemp", "rm", "cat", "grep", "true")
checks = Checks()


class System:
    """A folder for PATH, with some tools and some stand-ins."""

    def __init__(self, folder, **stand_ins):
        self.folder, self.calls = folder, os.path.join(folder, "calls")
        for tool in TOOLS:
            os.symlink(shutil.which(tool), os.path.join(folder, tool))
        for name, script in stand_ins.items():
            path = os.path.join(folder, name.replace("_", "-"))
            with open(path, "w", encoding="ascii") as out:
                out.write(f'#!/bin/sh\necho "{name.replace("_", "-")} $*" >>"{self.calls}"\n{script}\n')
            os.chmod(path, 0o755)

    def run(self, script, *arguments):
        done = subprocess.run([script, *arguments], env={"PATH": self.folder}, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)
        try:
            with open(self.calls, encoding="ascii") as calls:
                return done, calls.read()
        except FileNotFoundError:
            return done, ""


def on(script, arguments, **stand_ins):
    with tempfile.TemporaryDirectory() as folder:
        return System(folder, **stand_ins).run(script, *arguments)


def deps(script):
    absent = 'case "$*" in *libcap-dev*) exit 1 ;; esac; echo installed'
    root, user = "echo 0", "echo 1000"

    done, calls = on(script, ["run"], dpkg_query="echo installed", apt_get="", id=root)
    checks.check("nothing is missing: nothing is run", done.returncode == 0
                 and "apt-get" not in calls and not done.stderr, f"{done} {calls}")

    done, calls = on(script, ["run"], dpkg_query=absent, apt_get="", id=root)
    lines = [line for line in calls.splitlines() if line.startswith("apt-get")]
    checks.check("root: lists are renewed, then what is missing is installed",
                 done.returncode == 0 and len(lines) == 2 and lines[0].endswith(" update")
                 and " install " in lines[1] and lines[1].endswith(" libcap-dev"), f"{done} {calls}")

    done, calls = on(script, ["run"], dpkg_query=absent, apt_get="", id=user,
                       sudo='[ "$1" != -n ] || shift; exec "$@"')
    checks.check("a user with sudo installs through it", done.returncode == 0
                 and "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get" in calls
                 and "libcap-dev" in calls, f"{done} {calls}")

    done, calls = on(script, ["run"], dpkg_query=absent, apt_get="", id=user)
    checks.check("a user without sudo is told the command", done.returncode == 1
                 and "apt-get install --no-install-recommends libcap-dev" in done.stderr
                 and "apt-get" not in calls, f"{done} {calls}")

    done, calls = on(script, ["run"], dpkg_query=absent, apt_get="", id=user, sudo="exit 1")
    checks.check("so is one whom sudo refuses", done.returncode == 1
                 and "apt-get install --no-install-recommends libcap-dev" in done.stderr,
                 f"{done} {calls}")

    done, _ = on(script, ["run"], dpkg_query=absent, id=root)
    checks.check("without apt-get the packages are named", done.returncode == 1
                 and "apt-get is not here" in done.stderr and "libcap-dev" in done.stderr, str(done))

    done, _ = on(script, ["run"], dpkg_query=absent, id=root,
                 apt_get='case "$*" in *install*) echo E: no route; exit 100 ;; esac')
    checks.check("a failing apt-get is quoted", done.returncode == 1
                 and "E: no route" in done.stderr and "libcap-dev" in done.stderr, str(done))

    done, _ = on(script, ["run"], id=root, meson="", ninja="", pkg_config="exit 1")
    checks.check("elsewhere commands and libraries are named", done.returncode == 1
                 and "the command cc " in done.stderr and "the library libcap " in done.stderr
                 and "the command meson " not in done.stderr, str(done))

    done, _ = on(script, ["tset"], dpkg_query="echo installed", id=root)
    checks.check("an unknown purpose is a usage error",
                 done.returncode == 2 and "'tset'" in done.stderr, str(done))


def main(top):
    deps(os.path.join(top, "scripts/deps"))
    checks.finish()


if __name__ == "__main__":
    main(sys.argv[1])
