# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions as llvm-symbolizer 14 and addr2line 2.40 tell them, and the rules by which they tell
otherwise than strobe's reader.

All are rules for single frames of one address; whatever else differs is a fault.
"""

import re
import subprocess

NOTHING = [("", "", 0, 0)]


def blocks_of(text):
    return [block.split("\n") for block in text.strip("\n").split("\n\n")] if text.strip() else []


def place_of(text):
    """(file, line, column) out of "file:line:column"."""
    file, line, column = text.rsplit(":", 2)
    return ("" if file in ("??", "<invalid>") else file), int(line), int(column)


def ours(dump, files, addresses, environment=None):
    """[frames of each address]: (function, file, line, column)."""
    result = subprocess.run([dump, *files], input="\n".join(map(hex, addresses)), capture_output=True,
                            encoding="utf-8", errors="surrogateescape", check=True, env=environment)
    answers = []
    for block in blocks_of(result.stdout):
        frames = [line.split("\t") for line in block[1:]]
        answers.append([(name, file, int(line), int(column)) for name, file, line, column in frames] or NOTHING)
    return answers, result.stderr


def of_llvm(file, addresses):
    result = subprocess.run(["llvm-symbolizer", "--obj=" + file, "--inlines", "--functions=linkage", "--no-demangle"],
                            input="\n".join(map(hex, addresses)), capture_output=True, encoding="utf-8",
                            errors="surrogateescape", check=True)
    return [[("" if name == "??" else name, *place_of(place)) for name, place in zip(block[::2], block[1::2])]
            for block in blocks_of(result.stdout)]


def of_addr2line(file, addresses):
    """The same without columns, which it does not have: 0."""
    result = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", file], input="\n".join(map(hex, addresses)),
                            capture_output=True, encoding="utf-8", errors="surrogateescape", check=True)
    answers = []
    lines = result.stdout.splitlines()
    at = 0
    while at < len(lines):
        if re.fullmatch(r"0x[0-9a-f]{16}", lines[at]):
            answers.append([])
            at += 1
            continue
        file, line = re.sub(r" \(discriminator \d+\)$", "", lines[at + 1]).rsplit(":", 1)
        answers[-1].append((lines[at].replace("??", ""), file.replace("??", ""), int(line) if line != "?" else 0, 0))
        at += 2
    return answers


class Symbols:
    """The symbol table of a file, to tell what llvm-symbolizer took from it."""

    def __init__(self, file):
        self.functions, self.files = [], set()
        shown = subprocess.run(["readelf", "-sW", file], capture_output=True, encoding="utf-8",
                               errors="surrogateescape", check=True).stdout
        for row in shown.splitlines():
            fields = row.split()
            if len(fields) < 8 or not fields[0][:-1].isdigit():
                continue
            name = fields[7].split("@")[0]
            if fields[3] == "FILE":
                self.files.add(name)
            elif fields[3] in ("FUNC", "IFUNC", "NOTYPE") and fields[6] != "UND":
                self.functions.append((int(fields[1], 16), int(fields[2], 0), name))
        self.functions.sort()
        self.starts = {}
        for start, size, name in self.functions:
            self.starts.setdefault(name, []).append((start, size))

    def covers(self, name, address):
        """Is this a symbol there?  One without a size goes on until the next one."""
        for start, size in self.starts.get(name, []):
            if start <= address < start + size:
                return True
            if size == 0 and start <= address and not any(start < other <= address for other, _, _ in self.functions):
                return True
        return False


def llvm_differs(address, mine, theirs, symbols):
    """Why llvm-symbolizer may tell otherwise: "" where it does not, a rule's name, or None where it may not.

    "symbol": the name of the function itself (the last frame) it takes from the symbol table, where there is a
    symbol: a clone's (".cold", ".part.0", ".isra.0"), another one of several at an address, the constructor that the
    compiler made out of the one in the source (C2 for C4), the mangled name of a static function, to which gcc
    gives none in its debug information, that of a thunk, which has no name there at all.

    "file symbol": where there is no debug information, it tells the name of the file (STT_FILE) that
    the symbol is under, with line 0.  That is no path, and strobe does without.
    """
    if mine == theirs:
        return ""
    if len(mine) != len(theirs) or mine[:-1] != theirs[:-1]:
        return None
    if not symbols.covers(theirs[-1][0].split("@")[0], address):
        return None
    if mine[-1][1:] == theirs[-1][1:]:
        return "symbol"
    if mine == NOTHING and theirs[-1][1] in symbols.files and theirs[-1][2:] == (0, 0):
        return "file symbol"
    return None


def addr2line_differs(mine, theirs):
    """In what addr2line tells otherwise where strobe and llvm-symbolizer agree: "" where it does not.

    "file": with the right line, it names the unit's own file where code came from one that it includes
    (libc's wcstof.c for strtod.c, whose functions it makes); and the file symbol, see above.

    "line": behind the last line of a part of the code (end_sequence) it goes on with that line, so that
    thunks get the place of the function before them.

    "stack": it knows nothing of split units, and of range lists of clang's DWARF 5 so little that functions inlined in
    several places are not shown.
    """
    if [frame[1:3] for frame in mine] == [frame[1:3] for frame in theirs]:
        return ""
    if len(mine) != len(theirs):
        return "stack"
    return "file" if any(a[2] == b[2] and a[1] != b[1] for a, b in zip(mine, theirs)) else "line"
