# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and inlined functions from llvm-symbolizer 14 and addr2line 2.40.

The rules here explain how these tools differ from strobe's reader.  Each rule is for single frames
of one address; any other difference is a fault.
"""

import re
import subprocess

NOTHING = [("", "", 0, 0)]


def blocks_of(text):
    return [block.split("\n") for block in text.strip("\n").split("\n\n")] if text.strip() else []


def place_of(text):
    """Returns (file, line, column) of "file:line:column"."""
    file, line, column = text.rsplit(":", 2)
    return ("" if file in ("??", "<invalid>") else file), int(line), int(column)


def ours(dump, files, addresses, environment=None):
    """Returns ([frames of each address], standard error).

    A frame is (function, file, line, column).
    """
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
    """Returns [frames of each address] from addr2line, which has no columns: they are 0."""
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
    """The symbol table of a file, to find out which names llvm-symbolizer took from it."""

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
        """Returns whether the symbol covers the address.

        One without a size ends at the next symbol.
        """
        for start, size in self.starts.get(name, []):
            if start <= address < start + size:
                return True
            if size == 0 and start <= address and not any(start < other <= address for other, _, _ in self.functions):
                return True
        return False


def llvm_differs(address, mine, theirs, symbols):
    """Returns why llvm-symbolizer differs: "" if it does not, a rule's name, or None for a fault.

    "symbol": the name of the function itself (the last frame) comes from the symbol table.  It may
    be a clone's (".cold", ".part.0", ".isra.0"), or another one of several at an address.  It may
    be the constructor that the compiler made of the one in the source (C2 for C4).  It may be the
    mangled name of a static function or a thunk; gcc's debug information has none for them.

    "file symbol": without debug information, it prints the name of the file (STT_FILE) that the
    symbol is under, with line 0.  That is no path, and strobe does not print it.
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
    """Returns how addr2line differs where strobe and llvm-symbolizer agree; "" if it does not.

    "file": with the right line, it names the unit's own file for code of an included file (libc's
    wcstof.c for strtod.c, whose functions it makes).  Or it prints the file symbol, see above.

    "line": after the last line of a part of the code (end_sequence) it continues with that line.
    Thunks get the place of the function before them.

    "stack": it does not know split units.  It knows too little of range lists of clang's DWARF 5:
    functions inlined in several places are missing.
    """
    if [frame[1:3] for frame in mine] == [frame[1:3] for frame in theirs]:
        return ""
    if len(mine) != len(theirs):
        return "stack"
    return "file" if any(a[2] == b[2] and a[1] != b[1] for a, b in zip(mine, theirs)) else "line"
