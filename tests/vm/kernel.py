#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's code, annotated from /proc/kcore and compared with objdump; a module loaded later.

usage: kernel.py FOLDER STROBE [NATIVE STROBE]      with a native one on amd64 too
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from guest import Machine, why_not  # noqa: E402

# Loading raid6_pq runs each of its algorithms for some milliseconds.  A guest's clock goes on while
# a busy machine gives the guest no CPU time.  The script waits for /proc, not for a fixed time.
SCRIPT = """
strobe annotate -e cpu-clock -F 1000 --format json {function} -- calls 300000 >annotate.json
kernelbytes {function} >bytes
strobe report -a -e cpu-clock -F 1000 --format json >module.json &
until ls -l /proc/$!/fd | grep -q perf_event; do sleep 0.2; done
sleep 1
insmod /raid6_pq.ko
kill -TERM $!
wait $!
"""
MACHINES = {
    "arm64": ("__arm64_sys_getppid", ["aarch64-linux-gnu-objdump", "-m", "aarch64"]),
    "amd64": ("__x64_sys_getppid", ["objdump", "-m", "i386:x86-64"]),
}


def disassembled(objdump, begin, code):
    """{address: text of the instruction} from objdump."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        said = subprocess.run([*objdump, "-D", "-z", "-w", "-b", "binary", "--no-show-raw-insn",
                               f"--adjust-vma={begin:#x}", file.name], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(.*?)\s*$", said, re.MULTILINE)
    return {int(address, 16): " ".join(text.split()) for address, text in lines}


def row_text(row):
    text = " ".join(row["text"].split())
    return f"{text} {row['target_offset']:#x}".strip() if "target_offset" in row else text


def instructions(checks, arch, left):
    function, objdump = MACHINES[arch]
    try:
        got = json.loads(left.text("annotate.json"))["functions"][0]
        begin, _, size, code = left.text("bytes").split()
        begin, size, code = int(begin, 16), int(size, 16), bytes.fromhex(code)
    except (ValueError, LookupError) as error:
        checks.check(f"{arch}: {function} is annotated from memory", False, f"{error} {left}")
        return
    rows = {row["address"]: row_text(row) for row in got["rows"] if row["kind"] == "code"}
    true = disassembled(objdump, begin, code)
    wrong = [(hex(address), rows.get(address), true.get(address)) for address in sorted(rows.keys() | true.keys())
             if rows.get(address) != true.get(address)]
    checks.check(f"{arch}: {function} is annotated from memory, as objdump has it", len(rows) > 5 and not wrong
                 and size == len(code), wrong[:5])
    at = {row["address"] for row in got["rows"] if row["kind"] == "code" and sum(row["samples"])}
    checks.check(f"{arch}: its samples lie on instructions", sum(got["samples"]) > 0 and at and at <= true.keys(), at)


def module(checks, arch, left):
    try:
        rows = json.loads(left.text("module.json"))["events"][0]["rows"]
    except (ValueError, LookupError) as error:
        checks.check(f"{arch}: a module loaded meanwhile is named", False, f"{error} {left}")
        return
    inside = [row for row in rows if row["image"] == "[raid6_pq]"]
    checks.check(f"{arch}: a module loaded meanwhile is named, with its functions",
                 sum(row["samples"] for row in inside) > 20
                 and any(row["symbol"].startswith("raid6_") and row["symbol"].endswith("_gen_syndrome") for row in inside),
                 rows[:10])


def main():
    checks = Checks()
    for arch, strobe in zip(("arm64", "amd64"), sys.argv[2:]):
        reason = why_not(arch, sys.argv[1])
        if reason:
            checks.skip(arch, reason)
            continue
        machine = Machine(arch, sys.argv[1], strobe)
        left = machine.run(SCRIPT.format(function=MACHINES[arch][0]), {"raid6_pq.ko": machine.module("raid6_pq")})
        checks.check(f"{arch}: the guest ran", left.status == 0, left)
        instructions(checks, arch, left)
        module(checks, arch, left)
    checks.finish()


if __name__ == "__main__":
    main()
