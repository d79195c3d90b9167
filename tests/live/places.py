#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A name holds at its place: files with several names, live.

usage: places.py STROBE
"""

import contextlib
import json
import os
import re
import shutil
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

# Says "ready", and works until it is killed.
WORK = """#include <stdio.h>
__attribute__((noinline)) void work(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}
int main(void)
{
	puts("ready");
	fflush(stdout);
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


def report(*arguments, user=None):
    return common.run([strobe, "report", "--format", "json", *arguments], env=ENV, user=user)


def samples(result, **wanted):
    """Of the rows that have what is wanted."""
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
        lines = common.run([strobe, "report", *chosen, "--group", "line"], env=ENV)
        checks.check("hard links: lines", re.search(r"9\d\.\d\d% .*/first\.c:[45]\b", lines.out), str(lines))


def main():
    try:
        hard_links()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    checks.finish()


main()
