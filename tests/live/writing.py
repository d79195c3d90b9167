#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks all files that strobe writes: full disks, limits, links of other users, an empty /dev."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from checks import NOBODY, Checks, run  # noqa: E402

checks = Checks()
strobe = sys.argv[1]
FORMATS = ("folded", "speedscope", "pprof", "callgrind", "svg", "gecko", "script")


def writers(data, out):
    """Returns {name: command} of every command that writes to the file out."""
    commands = {f"export {name}": ["export", data, "--format", name, "-o", out] for name in FORMATS}
    commands["record"] = ["record", "--duration", "0.2", "-o", out]
    commands["archive"] = ["archive", data, "-o", out]
    commands["stat"] = ["stat", "--duration", "0.1", "-o", out]
    commands["stat of intervals"] = ["stat", "--duration", "0.2", "--interval", "50", "-o", out]
    return {name: [strobe, *words] for name, words in commands.items()}


def printers(data):
    """Returns {name: command} of every command that writes to standard output."""
    commands = {f"export {name}": ["export", data, "--format", name] for name in FORMATS}
    commands.update({"report": ["report", data], "report json": ["report", data, "--format", "json"],
                     "report csv": ["report", data, "--format", "csv"], "diff": ["diff", data, data],
                     "record": ["record", "--duration", "0.2", "-o", "-"],
                     "stat": ["stat", "--duration", "0.1"], "list": ["list"], "doctor": ["doctor"],
                     "help": ["--help"], "annotate": ["annotate", data],
                     "a picture": ["live", data, "--snapshot", "80x24"]})
    return {name: [strobe, *words] for name, words in commands.items()}


def names_of(folder):
    return sorted(os.listdir(folder))


def to_full_standard_output(data):
    for name, words in printers(data).items():
        result = run(["sh", "-c", 'exec "$@" > /dev/full', "sh", *words])
        checks.check(f"full standard output: {name}", result.status == 1 and not result.hung
                     and "No space left on device" in result.err, str(result))


def to_full_disk(data, folder):
    """Keeps the old file without a partial file next to it.

    A recording keeps its complete part.
    """
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], check=False).returncode:
        checks.skip("a full disk", "mounting is not permitted")
        return
    try:
        out = os.path.join(disk, "out")
        for name, words in writers(data, out).items():
            if name.startswith("stat"):
                continue  # some hundred bytes, which fit
            for file in names_of(disk):
                os.unlink(os.path.join(disk, file))
            with open(out, "w", encoding="ascii") as file:
                file.write("old\n")
            with open(os.path.join(disk, "filler"), "wb", buffering=0) as file:
                try:
                    while file.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            result = run(words)
            with open(out, "rb") as file:
                kept = file.read() == b"old\n"
            good = kept and names_of(disk) == ["filler", "out"]
            if name == "record":
                # A partial recording replaces the old file, which is renamed.  An empty one changes
                # no file.
                good = good or names_of(disk) == ["filler", "out", "out.old"]
            checks.check(f"a full disk: {name}", result.status == 1 and not result.hung and good
                         and "No space left on device" in result.err,
                         f"{result}, {names_of(disk)}, kept {kept}")
    finally:
        subprocess.run(["umount", disk], check=False)


def to_limit(data, folder):
    """A process that exceeds the file size limit never ends without a message."""
    out = os.path.join(folder, "limited")
    for name, words in writers(data, out).items():
        if name.startswith("stat"):
            continue
        result = run(words, limits={resource.RLIMIT_FSIZE: 128})
        checks.check(f"ulimit -f: {name}", result.status == 1 and "ulimit -f" in result.err, str(result))
    for name, words in printers(data).items():
        if name in ("stat", "diff", "annotate", "a picture"):
            continue  # their output may be shorter
        with open(out, "wb") as file:
            process = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *words], stdout=file,
                                     stderr=subprocess.PIPE, check=False, text=True, timeout=120)
        size = os.path.getsize(out)
        checks.check(f"ulimit -f: standard output of {name}", process.returncode in (0, 1)
                     and (size < 1024 or "ulimit -f" in process.stderr), f"{size} bytes, {process}")


def functions_of(words, folder, limit, **kwargs):
    """Returns the named functions of a report, and its result.

    The cache of symbol tables is empty.
    """
    cache = tempfile.mkdtemp(dir=folder)
    os.chmod(cache, 0o777)
    result = run(["sh", "-c", f'{limit}; exec "$@"', "sh", *words], env={"XDG_CACHE_HOME": cache}, **kwargs)
    rows = json.loads(result.out)["events"][0]["rows"] if result.status == 0 else []
    return sorted((row["image"], row["symbol"]) for row in rows), result


def names_under_limit(data, folder):
    """Symbol tables are in memory files, which the limit counts too.

    strobe raises the limit as far as permitted.
    """
    words = [strobe, "report", data, "--format", "json"]
    limits = {"soft": ("ulimit -S -f 1", {})}
    if not os.geteuid():
        os.chmod(folder, 0o755)
        os.chmod(data, 0o644)
        if run(["sh", "-c", "ulimit -f 1; ulimit -f 100000"]).status:
            checks.skip("ulimit -f: names of a report (hard limit)", "without CAP_SYS_RESOURCE it stays")
        else:
            limits["hard"] = ("ulimit -f 1", {})
        limits["soft, of an ordinary user"] = ("ulimit -S -f 1", {"user": NOBODY})
    for name, (limit, more) in limits.items():
        names, _ = functions_of(words, folder, "true", **more)
        found, result = functions_of(words, folder, limit, **more)
        checks.check(f"ulimit -f: names of a report ({name} limit)",
                     len(names) > 1 and found == names and "ulimit" not in result.out,
                     f"{len(set(names) - set(found))} of {len(names)} names are missing: {result.err}")
    # A limit that may not be raised is reported.
    _, result = functions_of(words, folder, "ulimit -f 1", user=NOBODY if not os.geteuid() else None)
    checks.check("ulimit -f: names that it forbids", result.status == 0 and "ulimit -f" in result.out, str(result))


def links_of_others(data, folder):
    if os.geteuid():
        checks.skip("links of others", "needs root, who can make them")
        return
    sticky = os.path.join(folder, "sticky")
    victim = os.path.join(folder, "victim")
    os.mkdir(sticky)
    os.chmod(sticky, 0o1777)
    out = os.path.join(sticky, "out")
    for name, words in writers(data, out).items():
        with open(victim, "w", encoding="ascii") as file:
            file.write("kept\n")
        os.symlink("../victim", out)
        os.lchown(out, NOBODY, NOBODY)
        result = run(words)
        with open(victim, "rb") as file:
            kept = file.read() == b"kept\n"
        checks.check(f"a link of somebody else in a sticky directory: {name}",
                     result.status == 2 and kept and os.path.islink(out) and names_of(sticky) == ["out"]
                     and "symbolic link" in result.err, f"{result}, kept {kept}, {names_of(sticky)}")
        os.unlink(out)
    # A link of the user's own is followed, and stays.
    os.symlink("../victim", out)
    for name, words in writers(data, out).items():
        result = run(words)
        checks.check(f"a link of one's own: {name}", result.status == 0 and os.path.islink(out)
                     and os.path.getsize(victim) > 5, str(result))


def rows_of_csv(data):
    """Each command ends all rows of csv by LF, or by CR LF with --crlf."""
    commands = {"report": ["report", data], "report of trees": ["report", "--tree", data], "diff": ["diff", data, data],
                "annotate": ["annotate", data], "stat": ["stat", "--per", "cpu", "--", "true"],
                "list": ["list", "cpu-clock"]}
    for name, words in commands.items():
        command = [strobe, words[0], "--format", "csv"]
        found = [subprocess.run([*command, *more, *words[1:]], check=False, capture_output=True, timeout=120).stdout
                 for more in ([], ["--crlf"])]
        checks.check(f"rows of csv end by LF: {name}", found[0].count(b"\n") > 1 and b"\r" not in found[0], found[0])
        checks.check(f"rows of csv end by CR LF: {name}", found[1].count(b"\n") > 1
                     and found[1].count(b"\n") == found[1].count(b"\r\n") == found[1].count(b"\r"), found[1])


def without_dev(data, folder):
    """Runs in a file system with an empty /dev, like a chroot may have."""
    root = os.path.join(folder, "root")
    os.mkdir(root)
    script = (f"mount --rbind / {root} && mount -t tmpfs none {root}/dev && exec chroot {root} \"$@\"")
    if subprocess.run(["unshare", "-m", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        checks.skip("an empty /dev", "mounting is not permitted")
        return
    enter = ["unshare", "-m", "sh", "-c", script, "sh"]
    if run([*enter, strobe, "--version"]).status:
        checks.skip("an empty /dev", "a root file system cannot be mounted again")
        return
    commands = {"report": [strobe, "report", data], "diff": [strobe, "diff", data, data],
                "annotate": [strobe, "annotate", data],
                "stat": [strobe, "stat", "--", "true"],
                "record with a command": [strobe, "record", "-o", "-", "--", "true"],
                "export": [strobe, "export", data, "--format", "folded"],
                "archive": [strobe, "archive", data, "-o", os.path.join(folder, "archived")],
                "a picture": [strobe, "live", data, "--snapshot", "80x24"]}
    for name, words in commands.items():
        result = run([*enter, *words])
        checks.check(f"an empty /dev: {name}", result.status == 0 and "No such file" not in result.err,
                     str(result))
    result = run([*enter, "sh", "-c", 'exec "$@" <&-', "sh", strobe, "report", data])
    checks.check("an empty /dev, and standard input is closed", result.status == 0, str(result))


with tempfile.TemporaryDirectory(prefix="strobe-writing-") as top:
    recording = os.path.join(top, "a.data")
    made = run([strobe, "record", "-o", recording, "--", "sh", "-c",
                "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"])
    if made.status:
        checks.skip("everything", f"nothing can be recorded: {made}")
        checks.finish()
    rows_of_csv(recording)
    to_full_standard_output(recording)
    to_full_disk(recording, top)
    to_limit(recording, top)
    names_under_limit(recording, top)
    links_of_others(recording, top)
    without_dev(recording, top)
checks.finish()
