#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The vdso of a 32-bit program on a 64-bit kernel: a recording names it after the program's end.

usage: narrow.py FOLDER STROBE [NATIVE STROBE]      with a native one on amd64
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from checks import Checks  # noqa: E402
from guest import Machine, why_not  # noqa: E402

OPTIONS = "-m32 -O1 -nostdlib -static -fno-pie -no-pie -fno-stack-protector".split()
# The program may end when the symbols of both the program and its vdso are cached.
SCRIPT = """
narrow &
strobe record -e cpu-clock -F 497 -o narrow.data -p $! &
while [ "$(ls /root/.cache/strobe | grep -cE '^(id|vdso)')" -lt 2 ]; do sleep 0.2; done
killall narrow
wait
strobe report narrow.data --no-call-graph --format json >report.json
"""


def main():
    checks = Checks()
    folder, native = sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None
    why = why_not("amd64", folder) if native else "there is no strobe for amd64"
    if why:
        checks.skip("a 32-bit program", why)
        checks.finish()
    with tempfile.TemporaryDirectory() as made:
        program = os.path.join(made, "narrow")
        subprocess.run(["gcc", *OPTIONS, "-o", program, os.path.join(HERE, "..", "fixtures", "narrow.c")], check=True)
        left = Machine("amd64", folder, native).run(SCRIPT, {"bin/narrow": program}, cpus=1)
    try:
        rows = json.loads(left.text("report.json"))["events"][0]["rows"]
    except (ValueError, LookupError) as error:
        checks.check("a 32-bit program is recorded", False, f"{error} {left}")
        checks.finish()
    named = sum(row["samples"] for row in rows if row["image"] == "[vdso]" and row["symbol"] == "__vdso_clock_gettime64")
    whole = sum(row["samples"] for row in rows)
    checks.check("its vdso has names in the recording", named > whole / 2, rows[:10])
    checks.finish()


if __name__ == "__main__":
    main()
