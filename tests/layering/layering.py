#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layering test: which room (folder) may use which other ones.

MAY is the architecture: each room lists the rooms that it may include and link, all of them above
it in the table, so there is no cycle.  Rooms of sampler/ and symbols/ know neither each other nor
tui/.  The test reads the includes of all sources, and the symbols that the objects of the static
libraries define and leave undefined.  Libraries of the system that belong to one layer count, too:
curses is tui's, libbfd is symbols', perf_event_open(2) is sampler's.

usage: layering.py TOP SAMPLER.a SYMBOLS.a TUI.a
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

MAY = {
    "sampler/base": "",
    "sampler/machine": "sampler/base",
    "sampler/kernel": "sampler/machine",
    "sampler/events": "sampler/base sampler/machine sampler/kernel",
    "sampler/fields": "sampler/base sampler/machine sampler/kernel sampler/events",
    "sampler/store": "sampler/base sampler/machine sampler/kernel sampler/fields",
    "sampler/control": "sampler/events sampler/store",
    "sampler/accounting": "sampler/base sampler/kernel sampler/store",
    "sampler/engine": "sampler/base sampler/machine sampler/kernel sampler/events sampler/fields "
                      "sampler/store sampler/control sampler/accounting",
    "sampler/counting": "sampler/base sampler/machine sampler/kernel sampler/events "
                        "sampler/control",
    "sampler/perfdata": "sampler/base sampler/machine sampler/kernel sampler/events "
                        "sampler/store",
    "sampler/recording": "sampler/base sampler/machine sampler/kernel sampler/events "
                         "sampler/fields sampler/store sampler/control sampler/perfdata",
    "symbols/base": "",
    "symbols/wire": "symbols/base",
    "symbols/elf": "symbols/base symbols/wire",
    "symbols/dwarf": "symbols/base symbols/wire symbols/elf",
    "symbols/jit": "symbols/base symbols/wire",
    "symbols/worker": "symbols/base symbols/wire symbols/elf symbols/dwarf symbols/jit",
    "symbols/loader": "symbols/base symbols/wire symbols/elf symbols/dwarf symbols/jit "
                      "symbols/worker",
    "symbols/client": "symbols/base symbols/wire symbols/worker symbols/loader",
    "tui/base": "sampler/base sampler/machine sampler/kernel symbols/base",
    "tui/names": "sampler/base sampler/machine sampler/store symbols/base symbols/client "
                 "tui/base",
    "tui/query": "sampler/base sampler/machine sampler/kernel sampler/events sampler/fields "
                 "sampler/store sampler/control symbols/base tui/base tui/names",
    "tui/tables": "sampler/base sampler/store tui/base tui/names tui/query",
    "tui/annotate": "sampler/store symbols/wire symbols/client tui/base tui/names tui/query",
    "tui/explain": "sampler/machine sampler/events sampler/control symbols/client tui/base "
                   "tui/names",
    "tui/session": "sampler/base sampler/machine sampler/events sampler/store sampler/control "
                   "sampler/engine sampler/recording symbols/base symbols/wire symbols/client "
                   "tui/base tui/names tui/query tui/explain",
    "tui/export": "sampler/base sampler/events sampler/fields sampler/store sampler/control "
                  "sampler/perfdata sampler/recording symbols/base symbols/client tui/base "
                  "tui/names tui/query tui/session",
    "tui/controls": "tui/base",
    "tui/options": "sampler/machine sampler/events sampler/fields sampler/control sampler/perfdata "
                   "symbols/base tui/base tui/query tui/explain tui/session tui/export "
                   "tui/controls",
    "tui/commands": "sampler/base sampler/machine sampler/kernel sampler/events sampler/store "
                    "sampler/control sampler/counting sampler/recording symbols/base symbols/wire "
                    "symbols/client tui/base tui/names tui/query tui/tables tui/annotate "
                    "tui/explain tui/session tui/export tui/options",
    "tui/model": "sampler/machine sampler/events sampler/store sampler/control sampler/engine "
                 "sampler/recording symbols/base symbols/client tui/base tui/names tui/query "
                 "tui/tables tui/annotate tui/explain tui/session tui/export tui/commands",
    "tui/terminal": "symbols/base tui/base tui/controls",
    "tui/screen": "sampler/machine sampler/events sampler/control sampler/engine symbols/base "
                  "symbols/client tui/base tui/names tui/query tui/explain tui/session tui/export "
                  "tui/controls tui/options tui/model tui/terminal",
    "tui/views": "sampler/events tui/base tui/names tui/query tui/tables tui/annotate "
                 "tui/explain tui/controls tui/commands tui/model tui/terminal tui/screen",
}
MAY = {room: set(rooms.split()) for room, rooms in MAY.items()}
TOPS = ("sampler", "symbols", "tui")
# System headers that a top level must not include.
MUST_NOT = {
    "sampler": r"n?curses|bfd\.h|dis-asm|json",
    "symbols": r"n?curses|linux/perf_event|json",
    "tui": r"bfd\.h|dis-asm",
}
# System headers that only one file may include.
ONLY = {r"n?curses": "tui/terminal/term.c", r"bfd\.h": "symbols/elf/binfile.c"}
# Headers of an allowed room that a room must not include.
NOT_ALL = {"tui/views": {"tui/terminal/term.h"}}
# Files that join everything.
MAIN = {"tui/main.c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
GENERATED = {"profile.pb-c.c.o": "tui/export"}


def wrong_matrix(may):
    """Rooms that the table does not have, or has below the room that uses them."""
    order = {room: number for number, room in enumerate(may)}
    strangers = [f"{room} may use {other}, though {TOPS[0]}/ and {TOPS[1]}/ know only themselves"
                 for room, others in may.items() for other in sorted(others)
                 if room.split("/")[0] in TOPS[:2] and room.split("/")[0] != other.split("/")[0]]
    return strangers + [f"{room} may use {other}, which the table does not have above it"
            for room, others in may.items() for other in sorted(others)
            if order.get(other, len(order)) >= order[room]]


def judge_include(where, quote, header, may):
    """Returns the rule that an include breaks, or None."""
    room, top = os.path.dirname(where), where.split("/")[0]
    other = os.path.dirname(header)
    if quote == '"' or header.split("/")[0] in TOPS:
        if where in MAIN or (other in (room, *may[room]) and header not in NOT_ALL.get(room, ())):
            return None
        return f"{room} may not use {header if other in may[room] else other}"
    if re.match(MUST_NOT[top], header):
        return f"{top}/ may not use {header}"
    for name, user in ONLY.items():
        if re.match(name, header) and where != user:
            return f"{header} is for {user} alone"
    return None


def wrong_includes(top, may):
    wrong = []
    for layer in TOPS:
        for folder, _, files in sorted(os.walk(os.path.join(top, layer))):
            room = os.path.relpath(folder, top)
            sources = sorted(name for name in files if name.endswith((".c", ".h")))
            if sources and room not in may and {f"{room}/{name}" for name in sources} - MAIN:
                wrong.append(f"{room} is not in the table")
                continue
            for name in sources:
                with open(os.path.join(folder, name), encoding="utf-8") as source:
                    text = source.read()
                for quote, header in INCLUDE.findall(text):
                    rule = judge_include(f"{room}/{name}", quote, header, may)
                    if rule:
                        wrong.append(f"{room}/{name} includes {header}: {rule}")
    return wrong


def room_of(layer, member):
    """Returns the room of an object: meson calls store/slices.c store_slices.c.o."""
    for name, room in GENERATED.items():
        if member.endswith(name):
            return room
    return f"{layer}/{member.split('_')[0]}"


def symbols_of(layer, archive):
    """Returns {room: (defined, undefined)}: the global symbols of a static library."""
    nm = subprocess.run(["nm", "-g", "-A", archive], capture_output=True, text=True, check=False)
    found = collections.defaultdict(lambda: (set(), set()))
    for line in nm.stdout.splitlines():
        place, _, rest = line.rpartition(":")
        fields = rest.split()
        defined, undefined = found[room_of(layer, re.split(r"[/:\[]", place.rstrip("]"))[-1])]
        if len(fields) == 2 and fields[0] in "Uw":
            undefined.add(fields[1])
        elif len(fields) == 3 and fields[1] not in "VW" and not fields[2].startswith("__odr_asan"):
            defined.add(fields[2])
    return found


def wrong_references(libraries, may):
    rooms = {}
    for layer, archive in libraries.items():
        rooms.update(symbols_of(layer, archive))
    owner = {}
    wrong = [f"no object of {room} was found" for room in may if room not in rooms]
    for room, (defined, _) in sorted(rooms.items()):
        for name in sorted(defined):
            if name in owner:
                wrong.append(f"{owner[name]} and {room} both define {name}")
            owner[name] = room
    for room, (_, undefined) in sorted(rooms.items()):
        for name in sorted(undefined):
            other = owner.get(name, room)
            if other not in (room, *may.get(room, ())):
                wrong.append(f"{room} uses {name} of {other}: {room} may not use {other}")
    return wrong


def finds_violations():
    """Returns True if the checks above see violations that are planted."""
    may = {"sampler/base": set(), "sampler/store": {"sampler/base"}, "tui/base": {"sampler/base"}}
    linked = {"sampler/base": set(), "tui/base": {"sampler/base"}}
    views = {"tui/terminal": set(), "tui/views": {"tui/terminal"}}
    with tempfile.TemporaryDirectory() as top:
        for path, text in (("sampler/base/a.c", '#include "sampler/store/b.h"\n#include <ncurses.h>\n'),
                           ("sampler/store/b.c", '#include "sampler/base/a.h"\n#include "tui/base/c.h"\n'),
                           ("tui/base/c.c", '#include "sampler/store/b.h"\n#include <curses.h>\n'),
                           ("tui/lost/d.c", "\n")):
            os.makedirs(os.path.join(top, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as source:
                source.write(text)
        libraries = {}
        for layer, name, code in (("sampler", "base_a", "int g(void); int f(void); int f(void) { return g(); }"),
                                  ("tui", "base_c", "int g(void); int g(void) { return 1; }")):
            member = os.path.join(top, f"{name}.c.o")
            compiler = os.environ.get("CC", "cc").split()
            subprocess.run([*compiler, "-x", "c", "-c", "-", "-o", member], input=code, text=True, check=True)
            libraries[layer] = os.path.join(top, layer + ".a")
            subprocess.run(["ar", "rcs", libraries[layer], member], check=True)
        cycle = {"a": {"b"}, "b": {"a"}}
        strange = {"sampler/base": set(), "symbols/base": {"sampler/base"}}
        return (len(wrong_includes(top, may)) == 6 and len(wrong_references(libraries, linked)) == 1
                and len(wrong_references(libraries, may)) == 2
                and len(wrong_matrix(cycle)) == 1 and len(wrong_matrix(strange)) == 1
                and judge_include("tui/views/a.c", '"', "tui/terminal/term.h", views)
                and not judge_include("tui/views/a.c", '"', "tui/terminal/canvas.h", views))


def main(top, sampler, symbols, tui):
    checks = Checks()
    libraries = {"sampler": sampler, "symbols": symbols, "tui": tui}
    for name, wrong in (("the table has no cycle", wrong_matrix(MAY)), ("includes", wrong_includes(top, MAY)),
                        ("references", wrong_references(libraries, MAY))):
        checks.check(name, not wrong, "; ".join(wrong))
    checks.check("planted violations are found", finds_violations())
    checks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
