#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layering: sampler/ and symbols/ know neither each other nor tui/.

Checks the sources' includes, and the undefined symbols of each static library against the layers
that define them.  System libraries that belong to one layer count too: curses is tui's, libbfd
is symbols', perf_event_open(2) is sampler's.  Within tui/, one module knows curses, and views
know only the model.

usage: layering.py TOP SAMPLER.a SYMBOLS.a TUI.a
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

# Layers that a layer may include, and system headers that it must not include.
MAY = {"sampler": {"sampler"}, "symbols": {"symbols"}, "tui": {"sampler", "symbols", "tui"}}
MUST_NOT = {
    "sampler": r"n?curses|bfd\.h|dis-asm|json",
    "symbols": r"n?curses|linux/perf_event|json",
    "tui": r"bfd\.h|dis-asm",
}
# Headers that only one module may include, and what the files below a folder must not.
ONLY = {r"n?curses": "tui/terminal/term.c", r"bfd\.h": "symbols/elf/binfile.c"}
NOT_BELOW = {"tui/views/": r"sampler/engine\.h|symbols/symbols\.h|tui/(session|term)\.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def wrong_includes(top):
    wrong = []
    for layer, allowed in MAY.items():
        for folder, _, files in sorted(os.walk(os.path.join(top, layer))):
            for name in sorted(files):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as source:
                    text = source.read()
                for quote, header in INCLUDE.findall(text):
                    where = os.path.relpath(path, top)
                    shown = f"{where} includes {header}"
                    if quote == '"' and header.split("/")[0] not in allowed:
                        wrong.append(shown)
                    elif header.startswith(tuple(other + "/" for other in MAY)) and (
                        header.split("/")[0] not in allowed
                    ):
                        wrong.append(shown)
                    elif re.match(MUST_NOT[layer], header):
                        wrong.append(shown)
                    elif any(re.match(name, header) and where != user
                             for name, user in ONLY.items()):
                        wrong.append(shown)
                    elif any(where.startswith(folder) and re.match(names, header)
                             for folder, names in NOT_BELOW.items()):
                        wrong.append(shown)
    return wrong


def symbols_of(archive):
    """Return the (defined, undefined) global symbols of a static library."""
    # nm fails for an archive without members, so its status is ignored.
    nm = subprocess.run(["nm", "-g", archive], capture_output=True, text=True, check=False)
    defined, undefined = set(), set()
    for line in nm.stdout.splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[0] in "Uw":
            undefined.add(fields[1])
        elif len(fields) == 3 and fields[1] not in "VW" and not fields[2].startswith("__odr_asan"):
            defined.add(fields[2])
    return defined, undefined - defined


def wrong_references(libraries):
    symbols = {layer: symbols_of(path) for layer, path in libraries.items()}
    wrong = []
    for layer, (defined, undefined) in symbols.items():
        for other, (others, _) in symbols.items():
            if other == layer:
                continue
            if other not in MAY[layer]:
                wrong += [f"{layer} uses {name} of {other}" for name in sorted(undefined & others)]
            if other > layer:
                both = sorted(defined & others)
                wrong += [f"{layer} and {other} both define {name}" for name in both]
    return wrong


def finds_violations():
    """Return whether the checks above find planted violations."""
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(os.path.join(top, "sampler"))
        with open(os.path.join(top, "sampler", "a.c"), "w", encoding="utf-8") as source:
            source.write('#include "tui/b.h"\n#include <ncurses.h>\nint f(void) { return g(); }\n')
        planted = "int g(void); int f(void) { return g(); }", "int g(void) { return 1; }"
        paths = {}
        for layer, code in zip(("sampler", "symbols"), planted):
            paths[layer] = os.path.join(top, layer + ".o")
            compiler = os.environ.get("CC", "cc").split()
            command = compiler + ["-x", "c", "-c", "-", "-o", paths[layer]]
            subprocess.run(command, input=code, text=True, check=True)
        return len(wrong_includes(top)) == 2 and len(wrong_references(paths)) == 1


def main(top, sampler, symbols, tui):
    checks = Checks()
    libraries = {"sampler": sampler, "symbols": symbols, "tui": tui}
    for name, wrong in (
        ("includes", wrong_includes(top)),
        ("references", wrong_references(libraries)),
    ):
        checks.check(name, not wrong, "; ".join(wrong))
    checks.check("planted violations are found", finds_violations())
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
