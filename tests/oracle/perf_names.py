# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of images and symbols by perf 6.1, made comparable with strobe's.

Each rule is for single names and used for both sides; any other difference is a fault.
"""

import collections
import re
import subprocess

# The kernel's memory, and names that perf uses for memory without a file.  strobe has one name for
# it.
KERNEL = re.compile(r"\[kernel\.kallsyms\].*|\[kernel\]|\[guest\.kernel\.kallsyms\]")
ANON = re.compile(r"(?:/tmp/)?perf-\d+\.map|\[JIT\] tid \d+|//anon|\[heap\]|\[stack.*\]|anon_inode:.*|/dev/zero|/SYSV.*|"
                  r"\[vsyscall\]|\[uprobes\]")


def image_of(dso):
    """Returns strobe's name of perf's image."""
    dso = dso.removesuffix(" (deleted)")
    if KERNEL.fullmatch(dso):
        return "[kernel]"
    if re.fullmatch(r"bpf_(prog|trampoline|dispatcher|struct_ops)_\w+", dso):
        return "[bpf]"
    return "[anon]" if ANON.fullmatch(dso) else dso


def in_kernel(image):
    """Returns the image of an address in the kernel's half of memory.

    perf calls it unknown if no mapping of the kernel has it.  BPF programs are like that if their
    loading was not recorded.
    """
    return "[kernel]" if image == "[unknown]" else image


def bare(symbol):
    """Removes the letter of the level, and the version, which perf cuts off in one of two forms."""
    symbol = re.sub(r"^\[.\]\s+", "", symbol)
    return re.sub(r"@@?[A-Z]+_[\w.]+$", "", symbol)


def is_nameless(symbol):
    return bool(re.search(r"\+0x[0-9a-f]+$|^0x[0-9a-f]+$", symbol)) or symbol == "[unknown]"


def named(symbol):
    """Returns a name that both have; "?" for code that either cannot name, one per image.

    perf knows only the entries of .plt, counts them from the end of one header, and takes their
    names from the relocations in order.  Entries of indirect functions have no name there ("@plt").
    Those of .plt.got and .plt.sec are not known at all.  perf gives the header before the first
    entry to _init.  That symbol has no size, so perf stretches it to the next symbol, over the end
    of its section.
    """
    return "?" if is_nameless(symbol) or symbol == "_init" or symbol.endswith("@plt") else symbol


def pretty(symbols):
    """Returns the names as binutils demangle them, with parameters, which perf leaves out."""
    text = "\n".join(symbols) + "\n"
    shown = subprocess.run(["c++filt", "--no-verbose"], input=text.encode(errors="surrogateescape"),
                           capture_output=True, check=True)
    return [named(bare(name)) for name in shown.stdout.decode(errors="surrogateescape").split("\n")[:-1]]


def demangled(counts):
    """Returns counts by (..., symbol) with demangled names."""
    keys = list(counts)
    sums = collections.Counter()
    for key, name in zip(keys, pretty(key[-1] for key in keys)):
        sums[(*key[:-1], name)] += counts[key]
    return sums


def symbol_files(path):
    """Returns the file itself and its debug file, if it has a build-id."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, check=False).stdout.decode(errors="replace")
    found = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", notes)
    return [path, f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug"] if found else [path]


def aliases(path):
    """Returns {name: one name for all of its address}: identical functions may be folded.

    Names of several addresses, such as some static functions, have no alias.
    """
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
    """Returns both counts, with one name for each piece of code, in images where they differ."""
    images = {key[-2] for key in set(ours) | set(theirs) if ours[key] != theirs[key]} & set(paths)
    known = {image: aliases(paths[image]) for image in images}

    def renamed(counts):
        sums = collections.Counter()
        for (*rest, image, symbol), n in counts.items():
            sums[(*rest, image, known.get(image, {}).get(symbol, symbol))] += n
        return sums

    return (renamed(ours), renamed(theirs)) if known else (ours, theirs)


def sizeless(path):
    """Returns functions without a size, such as symbol versions written in assembly."""
    shown = subprocess.run(["readelf", "-W", "--syms", "--dyn-syms", path], capture_output=True, check=False)
    rows = (line.split() for line in shown.stdout.decode(errors="surrogateescape").splitlines())
    return {bare(row[7]) for row in rows if len(row) >= 8 and row[2] == "0" and row[3] in ("FUNC", "NOTYPE", "IFUNC")}


def not_stretched(theirs, ours, paths):
    """Returns perf's counts without those that it gives to a stretched symbol.

    perf stretches a section's last symbol without a size over the code of the next sections (.fini,
    .plt), which has no name.  paths: {image name: path}.
    """
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
