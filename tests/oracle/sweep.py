#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks names of random addresses of ELF files, and of copies stripped in several ways.

An address is in a function of .eh_frame, or in a symbol with a size.  Its name is right if a symbol
of the file (or its separate debug file) has it and covers the address: by its size, or from its
start to the next function or symbol.  Without a name, the start must be the function's.  A name
reported as uncertain is counted.

usage: sweep.py DUMP_NAMES [--at N] [--copies] [PATH...]

N addresses of each file (200); with --copies, also of stripped copies.  PATH: files and folders;
without any, programs made here.
"""

import argparse
import bisect
import collections
import lzma
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

STRIPPED = {"-x": ["-x"], "-s": ["-s"], "-s -K main": ["-s", "-K", "main"]}
BATCH = 50

# A stub without a size, and after it a function whose name does not survive.
STUB = """
	.text
	.globl stub
stub:
	ret
	.section .note.GNU-stack,"",@progbits
"""
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
void stub(void);
static __attribute__((noinline)) int inner(int x) { volatile int y = x * rand(); return y + 1; }
__attribute__((noinline, visibility("hidden"))) int outer(int x) { return inner(x) + inner(x + 1) * 2; }
static int compare(const void *a, const void *b) { return *(const int *)a - outer(*(const int *)b); }
int main(int argc, char **argv)
{
    int numbers[20];
    stub();
    for (int i = 0; i < 20; i++)
        numbers[i] = outer(argc + i);
    qsort(numbers, 20, sizeof(int), compare);
    printf("%d %s\\n", numbers[3], argv[0]);
    return 0;
}
"""


class Elf:
    """Sections, symbols, and functions of .eh_frame, read by this script alone."""

    def __init__(self, data):
        self.data = data
        if self.data[:4] != b"\x7fELF" or self.data[5] != 1:
            raise ValueError("no ELF file of this byte order")
        self.wide = self.data[4] == 2
        self.type = struct.unpack_from("<H", self.data, 16)[0]
        at, = struct.unpack_from("<Q" if self.wide else "<I", self.data, 40 if self.wide else 32)
        each, count, names = struct.unpack_from("<HHH", self.data, 58 if self.wide else 46)
        form = "<IIQQQQIIQQ" if self.wide else "<IIIIIIIIII"
        headers = [struct.unpack_from(form, self.data, at + i * each) for i in range(count)]
        self.sections = {}
        for header in headers:
            name_at = headers[names][4] + header[0]
            name = self.data[name_at:self.data.index(b"\0", name_at)].decode(errors="replace")
            self.sections.setdefault(name, header)
        self.code = sorted((h[3], h[3] + h[5]) for h in headers if h[1] == 1 and h[2] & 6 == 6)
        self.linkage = [(h[3], h[3] + h[5]) for name, h in self.sections.items() if name.startswith(".plt")]
        self.headers = headers

    def has_code_at(self, address):
        return any(start <= address < end for start, end in self.code)

    def symbols(self, section):
        """Yields (start, size, name) of each symbol that may be a function."""
        header = self.sections.get(section)
        if not header or header[1] not in (2, 11):
            return
        strings = self.headers[header[6]][4]
        form, each = ("<IBBHQQ", 24) if self.wide else ("<IIIBBH", 16)
        for fields in struct.iter_unpack(form, self.data[header[4]:header[4] + header[5] // each * each]):
            if self.wide:
                name, info, _, index, value, size = fields
            else:
                name, value, size, info, _, index = fields
            if info & 15 in (0, 2, 10) and name and index and (index < 0xff00 or index == 0xffff) \
                    and self.has_code_at(value):
                at = strings + name
                yield value, size, self.data[at:self.data.index(b"\0", at)].decode(errors="replace")

    def leb(self, at):
        value = shift = 0
        while True:
            byte = self.data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value, at

    def encoded(self, at, encoding, vaddr):
        """Returns a value and its length.  vaddr: virtual address of the value."""
        word = "<Q" if self.wide else "<I"
        form = {0: word, 2: "<H", 3: "<I", 4: "<Q", 8: word, 10: "<h", 11: "<i", 12: "<q"}.get(encoding & 15)
        if form is None or encoding & 0x60:
            raise ValueError("an encoding that compilers do not use")
        value, = struct.unpack_from(form, self.data, at)
        value += vaddr if encoding & 0x10 else 0
        return value & ((1 << 64 if self.wide else 1 << 32) - 1), struct.calcsize(form)

    def functions(self):
        """Returns [(start, end)] of the functions in .eh_frame."""
        header = self.sections.get(".eh_frame")
        found, encodings = {}, {}
        if not header or header[1] == 8:
            return []
        at, end = header[4], header[4] + header[5]
        shift = header[3] - header[4]
        while at + 4 <= end:
            length, = struct.unpack_from("<I", self.data, at)
            body = at + 4
            if length == 0:
                at = body
                continue
            cie, = struct.unpack_from("<I", self.data, body)
            if cie == 0:
                letters = self.data[body + 5:self.data.index(b"\0", body + 5)].decode()
                place = body + 5 + len(letters) + 1
                for _ in range(3):
                    _, place = self.leb(place)
                encodings[at] = 0
                if letters.startswith("z"):
                    _, place = self.leb(place)
                    for letter in letters[1:]:
                        if letter == "R":
                            encodings[at] = self.data[place]
                        if letter == "P":
                            place += 1 + self.encoded(place + 1, self.data[place] & 15, 0)[1]
                        elif letter in "RL":
                            place += 1
            else:
                encoding = encodings[body - cie]
                start, width = self.encoded(body + 4, encoding, body + 4 + shift)
                size, _ = self.encoded(body + 4 + width, encoding & 7, 0)
                if size and self.has_code_at(start):
                    found.setdefault(start, start + size)
            at = body + length
        return sorted(found.items())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def plain_go(name):
    """Returns the name in Go's own table: no calling convention, and [...] for types."""
    name = name.removesuffix(".abi0").replace("·", ".")
    return name.partition("[")[0] + "[...]" + name.rpartition("]")[2] if "[" in name else name


class Truth:
    """The names that each address may have."""

    def __init__(self, path, debug):
        elf = Elf(read(path))
        self.elf = elf
        self.functions = elf.functions()
        self.starts = [start for start, _ in self.functions]
        symbols = {*elf.symbols(".symtab"), *elf.symbols(".dynsym")}
        packed = elf.sections.get(".gnu_debugdata")
        for more in ([read(debug)] if debug else []) + \
                ([lzma.decompress(elf.data[packed[4]:packed[4] + packed[5]])] if packed else []):
            other = Elf(more)
            other.code = elf.code
            symbols |= {*other.symbols(".symtab")}
        # Names have the version that .symtab has, like in strobe and perf.
        self.sized = sorted((start, start + size, name) for start, size, name in symbols if size)
        self.longest = max((end - start for start, end, _ in self.sized), default=0)
        self.labels = collections.defaultdict(set)
        for start, size, name in symbols:
            if not size:
                self.labels[start].add(name)
        self.is_go = any("gopclntab" in name or name == ".go.buildinfo" for name in elf.sections)
        self.ends = sorted({*self.labels, *self.starts, *(start for start, _, _ in self.sized)})

    def function_at(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.functions[i] if i >= 0 and address < self.functions[i][1] else None

    def names_at(self, address):
        names = set()
        i = bisect.bisect_left(self.sized, (address + 1,)) - 1
        while i >= 0 and self.sized[i][0] > address - self.longest:
            start, end, name = self.sized[i]
            if start <= address < end:
                names.add(name)
            i -= 1
        i = bisect.bisect_right(self.ends, address) - 1
        while i >= 0 and not names:
            names |= self.labels.get(self.ends[i], set())
            # The rules of a signal frame begin one byte before its code.
            if self.ends[i] in self.labels or self.ends[i] not in self.starts:
                break
            names |= self.labels.get(self.ends[i] + 1, set())
            break
        function = self.function_at(address)
        if function:
            names |= self.labels.get(function[0], set()) | self.labels.get(function[0] + 1, set())
        # Go's own table has the names of Go, and adds the padding up to the next function.
        if self.is_go:
            i = bisect.bisect_right(self.ends, address) - 1
            names |= {name for start, _, name in self.sized[bisect.bisect_left(self.sized, (self.ends[i],)):][:20]
                      if start == self.ends[i]} if i >= 0 else set()
            names = {plain_go(name) for name in names}
        return names

    def pick(self, rng, n):
        """Returns n random addresses in functions, and n / 4 anywhere in the code."""
        places = [(s, e) for s, e in self.functions if not any(a <= s < b for a, b in self.elf.linkage)] or \
            [(s, e) for s, e, _ in self.sized]
        code = [(s, e) for s, e in self.elf.code if s < e and (s, e) not in self.elf.linkage]
        chosen = [rng.choice(places) for _ in range(n if places else 0)]
        chosen += rng.choices(code, [e - s for s, e in code], k=n // 4) if code else []
        return sorted({rng.randrange(start, end) for start, end in chosen})

    def judge(self, address, answer):
        """Returns named, start, uncertain, none, outside, or wrong.

        start: only the start of its function is known.  outside: in no function.
        """
        if answer == "-":
            return "none" if self.function_at(address) else "outside"
        start, _, name, uncertain = answer.split("\t")
        if uncertain:
            return "uncertain"
        if not name:
            function = self.function_at(address)
            # The rules of a signal frame begin one byte before its code.
            return "start" if function and int(start, 16) - function[0] in (0, 1) else "wrong"
        right = self.names_at(address)
        if self.is_go and all(name.endswith("(.text)") for name in right):
            return "outside"  # its .symtab has only the object file's name
        return "named" if {name, name.partition("@")[0], plain_go(name)} & right else "wrong"


def build_id(path):
    said = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, errors="replace", check=False).stdout
    return next((line.split()[-1] for line in said.splitlines() if "Build ID:" in line), None)


def debug_file(path):
    number = build_id(path) if os.path.isdir("/usr/lib/debug/.build-id") else None
    debug = f"/usr/lib/debug/.build-id/{number[:2]}/{number[2:]}.debug" if number else ""
    return debug if os.path.exists(debug) else None


def ask(dump, asked):
    """Returns the answers about [(path, addresses)], path by path."""
    lines = [f"{i} {address:x}\n" for i, (_, addresses) in enumerate(asked) for address in addresses]
    done = subprocess.run([dump, *(path for path, _ in asked)], input="".join(lines), capture_output=True, text=True,
                          errors="replace", check=False, timeout=600)
    answers = iter(done.stdout.split("\n"))
    return [[next(answers, "lost") for _ in addresses] for _, addresses in asked]


def cut_section_headers(path, copy):
    """Makes a copy like strip --strip-section-headers, which the binutils here may not know.

    Returns False for a program without PT_GNU_EH_FRAME, such as a static one: nothing left would
    describe its functions.
    """
    with open(path, "rb") as file:
        header = bytearray(file.read(64))
        if len(header) < 64 or header[4:6] != b"\x02\x01":
            return False
        at, = struct.unpack_from("<Q", header, 0x20)
        each, n = struct.unpack_from("<HH", header, 0x36)
        file.seek(at)
        kinds = [file.read(each)[:4] for _ in range(n)]
        if struct.pack("<I", 0x6474e550) not in kinds:
            return False
        shutil.copyfile(path, copy)
    header[0x28:0x30], header[0x3c:0x40] = bytes(8), bytes(4)
    with open(copy, "r+b") as file:
        file.write(header)
    return True


class Sweep:
    def __init__(self, dump, at, folder):
        self.dump, self.at, self.folder = dump, at, folder
        self.waiting = []
        self.sums = collections.defaultdict(collections.Counter)
        self.wrong = []

    def add(self, path, with_copies, debug=None):
        try:
            truth = Truth(path, debug if debug else debug_file(path))
            addresses = truth.pick(random.Random(os.path.basename(path)), self.at)
        except (ValueError, KeyError, IndexError, struct.error, OSError):
            return False
        # This script does not read the names of stripped Go programs; go.py does.
        if not addresses or truth.elf.type not in (2, 3) or (truth.is_go and ".symtab" not in truth.elf.sections):
            return False
        self.waiting.append((path, path, "as it is", truth, addresses))
        for way, options in STRIPPED.items() if with_copies and ".symtab" in truth.elf.sections else ():
            copy = os.path.join(self.folder, f"{len(self.waiting)}{way.replace(' ', '')}")
            if subprocess.run(["strip", *options, "-o", copy, path], capture_output=True, check=False).returncode == 0:
                self.waiting.append((path, copy, way, truth, addresses))
        copy = os.path.join(self.folder, f"{len(self.waiting)}headers")
        if with_copies and cut_section_headers(path, copy):
            self.waiting.append((path, copy, "no section headers", truth, addresses))
        if len(self.waiting) >= BATCH:
            self.flush()
        return True

    def flush(self):
        while self.waiting:
            batch, self.waiting = self.waiting[:BATCH], self.waiting[BATCH:]
            for (path, copy, way, truth, addresses), answers in zip(
                    batch, ask(self.dump, [(copy, addresses) for _, copy, _, _, addresses in batch])):
                for address, answer in zip(addresses, answers):
                    verdict = truth.judge(address, answer) if answer != "lost" else "wrong"
                    self.sums[way][verdict] += 1
                    if verdict == "wrong":
                        self.wrong.append(f"{path} ({way}) {address:x}: {answer!r}, right: {truth.names_at(address)} "
                                          f"{truth.function_at(address)}")
                if copy != path:
                    os.remove(copy)


def elf_files(paths):
    seen = set()
    for top in paths:
        for folder, _, names in os.walk(top) if os.path.isdir(top) else [("", [], [top])]:
            for name in sorted(names):
                path = os.path.realpath(os.path.join(folder, name))
                try:
                    status = os.stat(path)
                    with open(path, "rb") as file:
                        is_elf = file.read(4) == b"\x7fELF"
                except OSError:
                    continue
                if is_elf and (status.st_dev, status.st_ino) not in seen and not path.startswith("/usr/lib/debug"):
                    seen.add((status.st_dev, status.st_ino))
                    yield path


def make_programs(folder):
    """Links programs in several ways; returns {name: path}."""
    made = {}
    for name, text in (("stub.s", STUB), ("program.c", PROGRAM)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
    sources = [os.path.join(folder, name) for name in ("stub.s", "program.c")]
    for name, options in {"pie": ["-rdynamic"], "fixed": ["-no-pie", "-rdynamic"], "static": ["-static"],
                          "ld_x": ["-rdynamic", "-Wl,-x"], "lld": ["-rdynamic", "-fuse-ld=lld"]}.items():
        path = os.path.join(folder, name)
        if subprocess.run(["gcc", "-O2", *options, *sources, "-o", path], capture_output=True, check=False).returncode == 0:
            made[name] = path
    return made


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("dump")
    parser.add_argument("--at", type=int, default=200)
    parser.add_argument("--copies", action="store_true")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_intermixed_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(os.path.abspath(options.dump), options.at, folder)
        files = 0
        if options.paths:
            for path in elf_files(options.paths):
                files += sweep.add(path, options.copies)
        elif shutil.which("gcc"):
            made = make_programs(folder)
            checks.check("programs were made", {"pie", "fixed", "ld_x"} <= set(made), made)
            for path in made.values():
                files += sweep.add(path, True)
            for path in ("/bin/sh", sys.executable):
                files += sweep.add(os.path.realpath(path), True)
        else:
            checks.skip("sweep", "there is no gcc")
            checks.finish()
        sweep.flush()
    for way, sums in sweep.sums.items():
        print(f"{way}: " + ", ".join(f"{sums[verdict]} {verdict}" for verdict in
                                     ("named", "start", "uncertain", "none", "outside", "wrong")))
        if way != "-s":
            checks.check(f"{way}: names were found", sums["named"] > 0)
        checks.check(f"{way}: no address of a known function is without its start", sums["none"] <= sums.total() / 100 or
                     options.paths, sums["none"])
    checks.check(f"no wrong name in {files} files", not sweep.wrong, f"{len(sweep.wrong)}: " + "; ".join(sweep.wrong[:8]))
    checks.finish()


if __name__ == "__main__":
    main()
