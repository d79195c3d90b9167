#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources of symbols: debug files, .gnu_debugdata, compressed sections, and files shared by dwz.

Debug files are found by build-id and by .gnu_debuglink with its CRC-32, below configured
directories and in the target's mount namespace.  Each is checked live and in recordings.

usage: sources.py STROBE
"""

import contextlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp(prefix="strobe-test-sources-")
ENV = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder, LC_ALL="C.UTF-8")

# hidden_one is in .symtab alone, shown_one in .dynsym as well.
SOURCE = """
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) static void hidden_one(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}
__attribute__((noinline)) void shown_one(void);
void shown_one(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.1;
	do {
		hidden_one();
		shown_one();
	} while (clock() < seconds * CLOCKS_PER_SEC);
}
"""


def tool(*command):
    subprocess.run(command, check=True, env=ENV)


def build(name, *flags, text=SOURCE):
    """Build the program in a folder of its own, with its debug information."""
    place = os.path.join(folder, name)
    os.makedirs(place)
    source = os.path.join(folder, "source.c" if text == SOURCE else "inlined.c")
    with open(source, "w", encoding="ascii") as out:
        out.write(text)
    program = os.path.join(place, name)
    tool("cc", "-g", "-O1", "-rdynamic", *flags, "-o", program, source)
    return program


def build_id(program):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    return notes.split("Build ID:")[1].split()[0]


def split(program, debug, *flags):
    """Move the debug information into a file of its own."""
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    tool("objcopy", "--only-keep-debug", *flags, program, debug)
    tool("strip", program)


def by_build_id(program, below, *flags):
    number = build_id(program)
    split(program, os.path.join(below, ".build-id", number[:2], number[2:] + ".debug"), *flags)


def linked(program, debug, *flags):
    split(program, debug, *flags)
    tool("objcopy", f"--add-gnu-debuglink={debug}", program)


def symbols(text, image):
    with contextlib.suppress(ValueError):
        return {row["symbol"] for event in json.loads(text)["events"] for row in event["rows"]
                if row["image"] == image}
    return set()


def report(*args):
    return subprocess.run([strobe, "report", "--format", "json", *args], capture_output=True, text=True, env=ENV,
                          timeout=120, check=False)


def expect(name, program, good, *options, wanted="hidden_one"):
    """Check the names live, and in a recording."""
    image = os.path.basename(program)
    data = program + ".data"
    live = report("-F", "997", *options, "--", program)
    found = symbols(live.stdout, image)
    checks.check(f"{name}, live", (wanted in found) == good and "shown_one" in found, (found, live.stderr[-500:]))
    taken = subprocess.run([strobe, "record", "-F", "997", "-o", data, "--", program], capture_output=True,
                           text=True, env=ENV, timeout=120, check=False)
    if not os.path.exists(data):
        checks.check(f"{name}, recorded", False, taken)
        return
    later = report("-i", data, *options)
    found = symbols(later.stdout, image)
    checks.check(f"{name}, recorded", (wanted in found) == good and "shown_one" in found,
                 (found, later.stderr[-500:]))


def test_build_id():
    below = os.path.join(folder, "debug-id")
    program = build("by_id")
    by_build_id(program, below)
    expect("without the debug file's directory, no names", program, False)
    expect("a debug file by build-id below --debug-dir", program, True, "--debug-dir", below)
    expect("of two --debug-dir the second", program, True, "--debug-dir", folder, "--debug-dir", below)


def test_link():
    program = build("beside")
    linked(program, program + ".debug")
    expect("a debug file by name in the program's folder", program, True)
    program = build("hidden", "-Wl,--build-id=none")
    linked(program, os.path.join(os.path.dirname(program), ".debug", "hidden.debug"))
    expect("in .debug, where neither file has a build-id", program, True)
    below = os.path.join(folder, "debug-link")
    program = build("far", "-Wl,--build-id=none")
    linked(program, below + os.path.dirname(program) + "/far.debug")
    expect("by name below --debug-dir", program, True, "--debug-dir", below)

    # A nearer debug file with another CRC-32 is skipped.
    wrong = program + ".debug"
    shutil.copy(below + wrong, wrong)
    with open(wrong, "r+b") as debug:
        debug.seek(-1, os.SEEK_END)
        last = debug.read(1)
        debug.seek(-1, os.SEEK_END)
        debug.write(bytes([last[0] ^ 1]))
    expect("another CRC-32: not used", program, False)
    expect("another CRC-32: passed over for the right one", program, True, "--debug-dir", below)


def test_debugdata():
    """Packed like Fedora's find-debuginfo does: only functions missing from .dynsym, in an xz
    file."""
    program = build("packed")
    small = os.path.join(folder, "small")
    tool("objcopy", "--only-keep-debug", program, small + ".debug")
    tool("objcopy", "-S", "--remove-section", ".comment", "--keep-symbol", "hidden_one", small + ".debug", small)
    with open(small, "rb") as plain, open(small + ".xz", "wb") as packed:
        packed.write(lzma.compress(plain.read()))
    tool("strip", program)
    tool("objcopy", "--add-section", f".gnu_debugdata={small}.xz", program)
    expect("names that are packed in .gnu_debugdata", program, True)

    # A truncated or oversized .gnu_debugdata gives no names.
    for name, content in (("cut", lzma.compress(os.urandom(100000))[:5000]),
                          ("bomb", lzma.compress(bytes(80 << 20), preset=0)), ("text", b"no xz at all")):
        broken = build(name)
        tool("strip", broken)
        with open(small + "." + name, "wb") as out:
            out.write(content)
        tool("objcopy", "--add-section", f".gnu_debugdata={small}.{name}", broken)
        live = report("-F", "997", "--", broken)
        found = symbols(live.stdout, name)
        checks.check(f"a broken .gnu_debugdata ({name}) takes nothing away",
                     "shown_one" in found and "hidden_one" not in found, (found, live.stderr[-500:]))


def test_compressed():
    below = os.path.join(folder, "debug-gz")
    for name, flag in (("gz", "--compress-debug-sections=zlib-gabi"), ("zdebug", "--compress-debug-sections=zlib-gnu")):
        program = build(name)
        by_build_id(program, below, flag)
        expect(f"a debug file with compressed sections ({name})", program, True, "--debug-dir", below)
    # A debug file that is compressed as a whole is invalid; the next place has a valid one.
    program = build("whole")
    by_build_id(program, os.path.join(folder, "debug-whole"))
    number = build_id(program)
    name = f".build-id/{number[:2]}/{number[2:]}.debug"
    bad = os.path.join(folder, "debug-bad")
    os.makedirs(os.path.dirname(os.path.join(bad, name)))
    with open(os.path.join(folder, "debug-whole", name), "rb") as plain:
        with open(os.path.join(bad, name), "wb") as packed:
            packed.write(lzma.compress(plain.read()))
    expect("a debug file that is packed as a whole is passed over", program, True, "--debug-dir", bad, "--debug-dir",
           os.path.join(folder, "debug-whole"))


def test_namespace():
    """Only the target's mount namespace has these files below /usr/lib/debug."""
    for name, how in (("by build-id", "id"), ("by .gnu_debuglink", "link")):
        program = build("inside_" + how)
        keep = os.path.join(folder, "keep-" + how)
        if how == "id":
            by_build_id(program, keep)
        else:
            linked(program, keep + program + ".debug")
        script = (f"mount --make-rprivate / && mkdir -p /usr/lib/debug && mount -t tmpfs none /usr/lib/debug && "
                  f"cp -a {keep}/. /usr/lib/debug/ && echo ready && exec {program} 600")
        try:
            with common.started(["unshare", "-m", "sh", "-c", script], wait_for="ready") as target:
                live = report("-F", "997", "--duration", "0.2", "-p", str(target.pid))
        except RuntimeError:
            checks.skip(f"a debug file in the target's mount namespace, {name}", "no mount namespace here")
            continue
        found = symbols(live.stdout, os.path.basename(program))
        checks.check(f"a debug file in the target's mount namespace, {name}", "hidden_one" in found,
                     (found, live.stderr[-500:]))
        shutil.rmtree(keep)


INLINED = """
#include <stdlib.h>
#include <time.h>
static volatile long sink;
static inline __attribute__((always_inline)) void inlined_one(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}
__attribute__((noinline)) void outer_one(int n)
{
	inlined_one(n);
}
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.1;
	do
		outer_one(300000);
	while (clock() < seconds * CLOCKS_PER_SEC);
}
"""
INLINED_LINES = {7, 8}


def share(name):
    """Build two programs in a folder of their own, with the file "common" that dwz made of both."""
    program = build(name, "-O2", text=INLINED)
    source = os.path.join(folder, "inlined.c")
    tool("cc", "-g", "-O2", "-DTWIN", "-o", program + "-twin", source)
    subprocess.run(["dwz", "-m", "common", name, name + "-twin"], cwd=os.path.dirname(program), check=True, env=ENV)
    return program


def has_inlined(result):
    """True if most of the samples in the source lie in the lines of the inlined function."""
    rows = []
    with contextlib.suppress(ValueError):
        rows = [row for row in json.loads(result.stdout)["events"][0]["rows"]
                if os.path.join(folder, "inlined.c:") in row["line"]]
    inside = sum(row["samples"] for row in rows if int(row["line"].rsplit(":", 1)[1]) in INLINED_LINES)
    return 2 * inside > sum(row["samples"] for row in rows)


def test_common():
    """The file that programs share debug information in lies beside them."""
    if not shutil.which("dwz"):
        checks.skip("a common debug file", "dwz is not installed")
        return
    program = share("shared")
    data = program + ".data"
    live = report("-F", "997", "--group", "line", "--", program)
    checks.check("a common debug file, live", has_inlined(live), (live.stdout[:900], live.stderr[-500:]))
    subprocess.run([strobe, "record", "-F", "997", "-o", data, "--", program], capture_output=True, env=ENV,
                   timeout=120, check=False)
    later = report("-i", data, "--group", "line")
    checks.check("a common debug file, recorded", has_inlined(later), (later.stdout[:900], later.stderr[-500:]))

    place, copy = os.path.dirname(program), os.path.join(folder, "copy")
    script = (f"mount --make-rprivate / && cp -a {place} {copy} && mount -t tmpfs none {place} && "
              f"cp -a {copy}/. {place} && echo ready && exec {program} 600")
    try:
        with common.started(["unshare", "-m", "sh", "-c", script], wait_for="ready") as target:
            os.remove(os.path.join(place, "common"))
            inside = report("-F", "997", "--duration", "0.2", "--group", "line", "-p", str(target.pid))
        checks.check("a common debug file in the target's mount namespace", has_inlined(inside),
                     (inside.stdout[:900], inside.stderr[-500:]))
    except RuntimeError:
        checks.skip("a common debug file in the target's mount namespace", "no mount namespace here")
        os.remove(os.path.join(place, "common"))
    missing = report("-F", "997", "--group", "line", "--format", "text", "--", program)
    checks.check("a common debug file that is missing has a note", f"'{place}/common' (of dwz) is not here" in
                 missing.stdout, (missing.stdout[:900], missing.stderr[-500:]))


try:
    test_build_id()
    test_link()
    test_debugdata()
    test_compressed()
    test_namespace()
    test_common()
finally:
    shutil.rmtree(folder, ignore_errors=True)
checks.finish()
