#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the seeds of fuzz_dwarf: tests/fuzz/make_dwarf_seeds.py tests/fuzz/corpus

Builds small programs with gcc and clang: DWARF 4 and 5, packed, split, unlinked, and with an
alternate file.  The seeds in the tree come from gcc 12, clang 14 and dwz 0.15 of Debian 12;
other versions give other bytes.
"""
import os
import struct
import subprocess
import sys
import tempfile

SOURCE = """
static volatile int source;
namespace a {
struct s { int v; int get() const { return source + v; } };
template <typename T> inline int twice(T t) { return t.get() + source * t.get(); }
static inline __attribute__((always_inline)) int more(int b) { if (b > source) return twice(s{b}); return source; }
int cold(int b) { return source / b; }
}
extern "C" int _start(int b) { return a::more(b) + a::twice(a::s{3}) + (__builtin_expect(b < 0, 0) ? a::cold(b) : 0); }
"""


def run(folder, *command):
    subprocess.run(command, cwd=folder, check=True)


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def seed(program, part=b"", alternate=b""):
    return struct.pack("<II", len(program), len(part)) + program + part + alternate


def build(folder, compiler, version, way):
    with open(os.path.join(folder, "a.cc"), "w", encoding="ascii") as file:
        file.write(SOURCE)
    # Keep only the code at 0x1000 and the debug information.
    run(folder, compiler, "-O2", "-g", f"-gdwarf-{version}", *filter(None, [way]), "-fno-asynchronous-unwind-tables",
        "-fno-exceptions", "-fdebug-prefix-map=" + folder + "=.", "-c", "a.cc", "-o", "a.o")
    run(folder, "ld", "--no-warn-rwx-segments", "-static", "--build-id=none", "-z", "noseparate-code", "-Ttext=0x1000", "-Tdata=0x3000", "-N",
        *(["--compress-debug-sections=zlib"] if way == "-gz" else []), "a.o", "-o", "program")
    run(folder, "objcopy", "--strip-all", "--keep-section=.debug_*", "program", "program")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = os.path.join(sys.argv[1], "fuzz_dwarf")
    os.makedirs(target, exist_ok=True)
    for compiler in ("g++", "clang++"):
        for version in (4, 5):
            for way in ("", "-gz", "-gsplit-dwarf"):
                with tempfile.TemporaryDirectory(prefix="strobe-seeds-") as folder:
                    build(folder, compiler, version, way)
                    parts = {"": seed(read(folder, "program"))}
                    if way == "-gsplit-dwarf":
                        # llvm-dwp 14 never ends on a single DWARF 5 file of gcc.
                        kinds = (".dwo",) if (compiler, version) == ("g++", 5) else (".dwo", ".dwp")
                        if ".dwp" in kinds:
                            run(folder, "timeout", "10", "llvm-dwp", "a.dwo", "-o", "a.dwp")
                        parts = {kind: seed(read(folder, "program"), read(folder, "a" + kind)) for kind in kinds}
                    elif not way and compiler == "g++":
                        run(folder, "cp", "program", "b")
                        run(folder, "cp", "program", "c")
                        run(folder, "dwz", "-m", "common", "b", "c")
                        parts[".o"] = seed(read(folder, "a.o"))
                        parts["-alternate"] = seed(read(folder, "b"), alternate=read(folder, "common"))
                    for kind, data in parts.items():
                        with open(os.path.join(target, f"{compiler}-{version}{way}{kind}"), "wb") as file:
                            file.write(data)


if __name__ == "__main__":
    main()
