#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Style of every file: a licence line, a bounded length, no leftovers, clean line ends.  Sentences
for users say in words what failed, without names such as EINVAL.

usage: style.py TOP
"""

import errno
import os
import re
import sys

SOURCES = (".c", ".h", ".py", ".sh", ".cc", ".S")
LINES_MAX = 800
WIDTH_MAX = 100
LEFTOVER = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|X" + r"XX)\b")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ERRNO = re.compile(r"\bE[A-Z0-9]{3,}\b")
SKIPPED_FOLDERS = re.compile(r"^(\.git|build.*|__pycache__|fixtures|golden|reference)$")


def sources(top):
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not SKIPPED_FOLDERS.match(name))
        for name in sorted(files):
            path = os.path.join(folder, name)
            where = os.path.relpath(folder, top)
            if name.endswith(SOURCES) or where in ("scripts", ".ci"):
                yield path


def errno_names(line):
    """Return the names of errno.h in the strings of a line."""
    return [name for text in STRING.findall(line) for name in ERRNO.findall(text) if hasattr(errno, name)]


def faults(path, for_users):
    with open(path, "rb") as source:
        data = source.read()
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return ["is not UTF-8"]
    found = []
    if not any("SPDX-License-Identifier: GPL-3.0-or-later" in line for line in lines[:2]):
        found.append("has no SPDX line at its head")
    if len(lines) - 1 > LINES_MAX:
        found.append(f"has {len(lines) - 1} lines, more than {LINES_MAX}")
    if not data.endswith(b"\n"):
        found.append("does not end in a newline")
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            found.append(f"line {number} ends in blanks")
        if LEFTOVER.search(line):
            found.append(f"line {number} leaves work undone")
        if path.endswith((".c", ".h")) and len(line.expandtabs(8)) > 2 * WIDTH_MAX:
            found.append(f"line {number} is far too wide")
        if for_users and errno_names(line):
            found.append(f"line {number} says {errno_names(line)[0]} to users")
    if path.endswith(".h"):
        if re.search(r"^\s*typedef\s+struct\b", "\n".join(lines), re.MULTILINE):
            found.append("hides a struct behind a typedef")
    return found


def main(top):
    passed = failed = 0
    for path in sources(top):
        found = faults(path, os.path.relpath(path, top).startswith("tui" + os.sep))
        for fault in found[:10]:
            print(f"{os.path.relpath(path, top)} {fault}")
        failed += 1 if found else 0
        passed += 0 if found else 1
    if not passed:
        print("no sources found")
        failed += 1
    # Files are no test cases: together they count as one.
    print(f"{passed} files are clean, {failed} are not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
