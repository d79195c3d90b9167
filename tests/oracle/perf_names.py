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


def pretty(symbols):
    """The names of symbols as binutils demangle them, parameters and all; perf leaves those out."""
    text = "\n".join(symbols) + "\n"
    shown = subprocess.run(["c++filt", "--no-verbose"], input=text.encode(errors="surrogateescape"),
                           capture_output=True, check=True)
    return [named(bare(name)) for name in shown.stdout.decode(errors="surrogateescape").split("\n")[:-1]]


def demangled(counts):
    """Counts by (..., symbol) with demangled names."""
    keys = list(counts)
    sums = collections.Counter()
    for key, name in zip(keys, pretty(key[-1] for key in keys)):
        sums[(*key[:-1], name)] += counts[key]
    return sums


def symbol_files(path):
    """The file itself and its debug file, where there is one."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, check=False).stdout.decode(errors="replace")
    found = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", notes)
    return [path, f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug"] if found else [path]


def aliases(path):
    """{name: one name for all of its address}: identical functions may be folded into one.  Names that stand for several
    addresses, as those of static functions may, have no alias."""
    rows = set()
    for file in symbol_files(path):
        for table in ([], ["-D"]):
            shown = subprocess.run(["nm", *table, "--defined-only", file], capture_output=True, check=False)
            found = [line.split() for line in shown.stdout.decode(errors="surrogateescape").splitlines()]
            rows |= {(row[0], row[2]) for row in found if len(row) == 3 and row[1] in "tTwWi"}
    rows = sorted(rows)
    addresses, names = collections.defaultdict(set), collections.defaultdict(set)
    for (address, _), name in zip(rows, pretty(symbol for _, symbol in rows)):
        addresses[name].add(address)
        names[address].add(name)
    single = {name for name, where in addresses.items() if len(where) == 1}
    return {name: min(names[address] & single) for name in single for address in addresses[name]}


def with_aliases(ours, theirs, paths):
    """Both counts, by one name for all names of the same code, in images where they differ."""
    images = {key[-2] for key in set(ours) | set(theirs) if ours[key] != theirs[key]} & set(paths)
    known = {image: aliases(paths[image]) for image in images}

    def renamed(counts):
        sums = collections.Counter()
        for (*rest, image, symbol), n in counts.items():
            sums[(*rest, image, known.get(image, {}).get(symbol, symbol))] += n
        return sums

    return (renamed(ours), renamed(theirs)) if known else (ours, theirs)


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
