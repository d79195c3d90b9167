# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of images and symbols as perf 6.1 has them, made comparable with strobe's: what it names otherwise, and why.

All are rules for single names, used for both sides; whatever else differs is a fault.
"""

import collections
import re
import subprocess

# The kernel's memory, and what perf takes for memory without a file (strobe has one name for it).
KERNEL = re.compile(r"\[kernel\.kallsyms\].*|\[kernel\]|\[guest\.kernel\.kallsyms\]")
ANON = re.compile(r"(?:/tmp/)?perf-\d+\.map|\[JIT\] tid \d+|//anon|\[heap\]|\[stack.*\]|anon_inode:.*|/dev/zero|/SYSV.*|"
                  r"\[vsyscall\]|\[uprobes\]")


def image_of(dso):
    """perf's name of an image as strobe's."""
    dso = dso.removesuffix(" (deleted)")
    if KERNEL.fullmatch(dso):
        return "[kernel]"
    if re.fullmatch(r"bpf_(prog|trampoline|dispatcher|struct_ops)_\w+", dso):
        return "[bpf]"
    return "[anon]" if ANON.fullmatch(dso) else dso


def in_kernel(image):
    """The same for an address in the kernel's half: what lies in none of the kernel's mappings, as BPF programs do whose
    loading was not recorded, perf calls unknown.  It is the kernel's."""
    return "[kernel]" if image == "[unknown]" else image


def bare(symbol):
    """Without the letter of its level, and without the version, which perf cuts off in one of two forms."""
    symbol = re.sub(r"^\[.\]\s+", "", symbol)
    return re.sub(r"@@?[A-Z]+_[\w.]+$", "", symbol)


def is_nameless(symbol):
    return bool(re.search(r"\+0x[0-9a-f]+$|^0x[0-9a-f]+$", symbol)) or symbol == "[unknown]"


def named(symbol):
    """A name that both have; "?" for code that either cannot name, which is counted as one per image.

    Of stubs (PLT) perf knows the entries of .plt alone, counts them from the end of one header, and takes their names
    from the relocations in order: those of indirect functions have none there ("@plt"), .plt.got and .plt.sec
    are not known at all.  The header in front of the first entry it gives to _init, which has no size, so
    that perf stretches it to the next symbol, over the end of its section.
    """
    return "?" if is_nameless(symbol) or symbol == "_init" or symbol.endswith("@plt") else symbol


def demangled(counts):
    """Counts by (..., symbol) with names as binutils demangle them, parameters and all; perf leaves those out."""
    keys = list(counts)
    text = "\n".join(key[-1] for key in keys) + "\n"
    shown = subprocess.run(["c++filt", "--no-verbose"], input=text.encode(errors="surrogateescape"),
                           capture_output=True, check=True)
    names = shown.stdout.decode(errors="surrogateescape").split("\n")
    sums = collections.Counter()
    for key, name in zip(keys, names):
        sums[(*key[:-1], named(bare(name)))] += counts[key]
    return sums


def sizeless(path):
    """Functions without a size, as those of symbol versions written in assembler are."""
    shown = subprocess.run(["readelf", "-W", "--syms", "--dyn-syms", path], capture_output=True, check=False)
    rows = (line.split() for line in shown.stdout.decode(errors="surrogateescape").splitlines())
    return {bare(row[7]) for row in rows if len(row) >= 8 and row[2] == "0" and row[3] in ("FUNC", "NOTYPE", "IFUNC")}


def not_stretched(theirs, ours, paths):
    """perf's counts, without those of symbols that have no size: it stretches the last one of a section over the code of
    the next sections (.fini, .plt), which has no name.  Paths are those of images by name."""
    counts = collections.Counter(theirs)
    known = {}
    for (*rest, image, symbol), n in theirs.items():
        more = n - ours[(*rest, image, symbol)]
        if more <= 0 or symbol == "?" or image not in paths:
            continue
        if image not in known:
            known[image] = sizeless(paths[image])
        if symbol in known[image]:
            counts[(*rest, image, symbol)] -= more
            counts[(*rest, image, "?")] += more
    return +counts
