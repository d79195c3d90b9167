#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe archive: a packed recording has equal names on a machine without the programs.

Packs a recording and reports on it with empty mounts over the programs' directories, in a mount
namespace of its own.  Replaced files are neither packed nor used.  Broken, foreign and hostile
archives are refused, and leave no files.

usage: archive.py STROBE SHARES
"""

import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
strobe, shares = (os.path.abspath(path) for path in sys.argv[1:3])
folder = tempfile.mkdtemp(prefix="strobe-test-archive-")
tmp = os.path.join(folder, "tmp")
os.mkdir(tmp)
home = os.path.join(folder, "home")
os.mkdir(home)
ENV = dict(os.environ, TMPDIR=tmp, HOME=home, XDG_CACHE_HOME=os.path.join(folder, "cache"))


def run(*args, **more):
    return subprocess.run([strobe, *args], capture_output=True, text=True, env=more.pop("env", ENV),
                          timeout=120, check=False, **more)


def rows(text):
    """Return [(image, symbol, samples)], sorted."""
    event = json.loads(text)["events"][0]
    return sorted((row["image"], row["symbol"], row["samples"]) for row in event["rows"])


def named(found):
    return [row for row in found if "+0x" not in row[1]]


def record(data, command):
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--",
                           *command], capture_output=True, env=ENV, timeout=60, check=False)
    return done.returncode == 0 and os.path.exists(data)


def names_of(archive):
    listing = subprocess.run(["tar", "--zstd", "-tf", archive], capture_output=True, text=True, check=True)
    return listing.stdout.split()


def write_archive(path, entries):
    """entries: (name, bytes), or a TarInfo without data."""
    with tempfile.TemporaryFile() as plain:
        with tarfile.open(fileobj=plain, mode="w") as tar:
            for entry in entries:
                if isinstance(entry, tarfile.TarInfo):
                    tar.addfile(entry)
                    continue
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                tar.addfile(info, io.BytesIO(entry[1]))
        plain.seek(0)
        with open(path, "wb") as out:
            subprocess.run(["gzip", "-c"], stdin=plain, stdout=out, check=True)


def test_elsewhere(data, program):
    archive = os.path.join(folder, "packed")
    here = run("report", data, "--format", "json")
    packed = run("archive", data, "-o", archive)
    if not checks.check("an archive is written", packed.returncode == 0 and os.path.exists(archive), packed):
        return None
    names = names_of(archive)
    checks.check("it begins with its mark and the recording", names[:2] == ["strobe-archive", "perf.data"], names)
    checks.check("binaries are in it by build-id", sum(name.endswith("/elf") for name in names) >= 2, names)
    checks.check("nothing unfinished is left", not [name for name in os.listdir(folder) if "packed." in name])
    wanted = rows(here.stdout)
    checks.check("the recording has names here", ("shares_hot" in str(wanted)), wanted[:5])

    # Only strobe's own needs are copied; all other places are hidden.
    away = os.path.join(folder, "away")
    os.mkdir(away)
    script = (f"mount --make-rprivate / && mount -t tmpfs none {os.path.dirname(program)} && "
              f"mkdir -p {away}/empty && "
              f"for dir in /usr/lib/debug /root/.debug; do "
              f"[ ! -d $dir ] || mount --bind {away}/empty $dir; done; "
              f"exec {away}/strobe report {archive} --format json")
    shutil.copy(strobe, f"{away}/strobe")
    env = dict(ENV, XDG_CACHE_HOME=os.path.join(folder, "other-cache"))
    there = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, env=env,
                           timeout=120, check=False)
    if there.returncode != 0:
        if "unshare" in there.stderr or "mount" in there.stderr:
            checks.skip("names elsewhere", f"no mount namespace here: {there.stderr.strip()}")
        else:
            checks.check("names elsewhere", False, there)
    else:
        found = rows(there.stdout)
        checks.check("names are the same where the programs are not",
                     found == wanted, sorted(set(found) ^ set(wanted))[:6])
    checks.check("nothing is left of what was unpacked", not os.listdir(tmp), os.listdir(tmp))
    return archive


def test_replaced(data, program):
    """The program was replaced after the recording."""
    subprocess.run(["objcopy", "--remove-section", ".note.gnu.build-id", program, program + ".new"], check=True)
    os.rename(program + ".new", program)
    report = run("report", data, "--format", "json", env=dict(ENV, XDG_CACHE_HOME=os.path.join(folder, "fresh")))
    mine = [row for row in rows(report.stdout) if row[0] == os.path.basename(program)]
    checks.check("another build gives no names, and is marked",
                 mine and all("+0x" in row[1] and "(other build)" in row[1] for row in mine), mine[:4])
    packed = run("archive", data, "-o", os.path.join(folder, "partly"))
    checks.check("another build is not packed, and named",
                 packed.returncode == 0 and f"not packed: '{program}'" in packed.stderr, packed)


def test_symfs(data, program, copy):
    tree = os.path.join(folder, "symfs")
    os.makedirs(tree + os.path.dirname(program))
    shutil.copy(copy, tree + program)
    fresh = dict(ENV, XDG_CACHE_HOME=os.path.join(folder, "fresh2"))
    report = run("report", data, "--symfs", tree, "--format", "json", env=fresh)
    checks.check("--symfs gives the names", "shares_hot" in str(rows(report.stdout)), report)


def test_pipes(archive, data):
    """A FIFO or pipe is written to, not replaced; no bytes follow the archive."""
    fifo, got = os.path.join(folder, "fifo"), os.path.join(folder, "through")
    os.mkfifo(fifo)
    with open(got, "wb") as out:
        reader = subprocess.Popen(["cat", fifo], stdout=out)
        packed = run("archive", data, "-o", fifo)
        if packed.returncode:
            reader.kill()
        reader.wait()
    checks.check("a FIFO is written to", packed.returncode == 0 and stat.S_ISFIFO(os.stat(fifo).st_mode), packed)
    wanted = names_of(archive)
    for what in ("FIFO", "pipe"):
        if what == "pipe":
            with open(got, "wb") as out:
                subprocess.run(f"{strobe} archive {data} -o - | cat", shell=True, stdout=out, env=ENV,
                               stderr=subprocess.DEVNULL, timeout=120, check=True)
        result = run("report", got)
        checks.check(f"an archive through a {what} can be read", result.returncode == 0, result)
        checks.check(f"an archive through a {what} is the same", names_of(got) == wanted)


def test_hostile(archive, data):
    with open(data, "rb") as file:
        recording = file.read()
    mark = ("strobe-archive", b"1\n")
    link = tarfile.TarInfo("way-out")
    link.type, link.linkname = tarfile.SYMTYPE, "/"
    hard = tarfile.TarInfo("etc")
    hard.type, hard.linkname = tarfile.LNKTYPE, "/etc/passwd"
    pipe = tarfile.TarInfo("pipe")
    pipe.type = tarfile.FIFOTYPE
    cases = {
        "no archive of ours": [("perf.data", recording)],
        "no recording": [mark, ("other", b"x")],
        "an absolute path": [mark, (folder + "/escaped", b"x"), ("perf.data", recording)],
        "a path upwards": [mark, ("../escaped", b"x"), ("perf.data", recording)],
        "a path upwards within": [mark, ("a/../../escaped", b"x"), ("perf.data", recording)],
        "a symbolic link": [mark, link, ("way-out" + folder + "/escaped", b"x"), ("perf.data", recording)],
        "a hard link": [mark, hard, ("perf.data", recording)],
        "a pipe": [mark, pipe, ("perf.data", recording)],
        "a name twice": [mark, ("a", b"x"), ("a", b"y"), ("perf.data", recording)],
        "a file as directory": [mark, ("a", b"x"), ("a/b", b"y"), ("perf.data", recording)],
        "a path too long to be removed again": [mark, ("d/" * 3000 + "x", b"x"), ("perf.data", recording)],
    }
    path = os.path.join(folder, "hostile")
    for name, entries in cases.items():
        write_archive(path, entries)
        result = run("report", path)
        checks.check(f"refused: {name}", result.returncode == 1 and "strobe: '" in result.stderr and
                     not os.path.exists(folder + "/escaped") and not os.listdir(tmp), result)
    with open(archive, "rb") as file:
        whole = file.read()
    with open(path, "wb") as file:
        file.write(whole[:len(whole) // 2])
    result = run("report", path)
    checks.check("refused: half an archive", result.returncode == 1 and not os.listdir(tmp), result)
    bomb = os.path.join(folder, "bomb")
    with open(bomb, "wb") as out:
        make = ("import tarfile,sys,io\nt=tarfile.open(fileobj=sys.stdout.buffer,mode='w|')\n"
                "i=tarfile.TarInfo('strobe-archive');i.size=2;t.addfile(i,io.BytesIO(b'1\\n'))\n"
                "class Z:\n def read(self,n=-1): return bytes(n)\n"
                "i=tarfile.TarInfo('zeros');i.size=3<<30;t.addfile(i,Z())\nt.close()\n")
        packer = subprocess.Popen(["zstd", "-q", "-c"], stdin=subprocess.PIPE, stdout=out) \
            if shutil.which("zstd") else None
        if packer:
            subprocess.run([sys.executable, "-c", make], stdout=packer.stdin, check=True)
            packer.stdin.close()
            packer.wait()
    if not packer:
        checks.skip("refused: a bomb", "no zstd here to make one")
        return
    result = run("report", bomb)
    checks.check("refused: a bomb", result.returncode == 1 and "larger" in result.stderr and
                 not os.listdir(tmp), result)


def test_interrupted(archive, data):
    """A signal leaves neither a partial archive nor unpacked files."""
    for args, what in ((["archive", data, "-o", os.path.join(folder, "broken-off")], "packing"),
                       (["report", archive], "unpacking")):
        for delay in (0.02, 0.1, 0.3):
            process = subprocess.Popen([strobe, *args], env=ENV, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=120)
        left = [name for name in os.listdir(folder) if name.startswith("broken-off.")] + os.listdir(tmp)
        checks.check(f"a signal while {what} leaves nothing", not left, left)


def main():
    # This directory can be hidden without hiding strobe.
    place = os.path.join(folder, "bin")
    os.mkdir(place)
    program = shutil.copy(shares, os.path.join(place, "shares"))
    kept = shutil.copy(shares, os.path.join(folder, "kept"))
    data = os.path.join(folder, "perf.data")
    if not shutil.which("perf") or not record(data, [program, "1"]):
        checks.skip("all", "perf record does not work here")
        checks.finish()
    archive = test_elsewhere(data, program)
    if archive:
        test_pipes(archive, data)
        test_hostile(archive, data)
        test_interrupted(archive, data)
    shutil.rmtree(os.path.join(home, ".debug"), ignore_errors=True)
    test_replaced(data, program)
    test_symfs(data, program, kept)
    checks.finish()


try:
    main()
finally:
    shutil.rmtree(folder, ignore_errors=True)
