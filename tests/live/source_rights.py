#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Source files named by a hostile program are read only with its owner's rights.

The names come from the program's debug information.  Covers annotate, live and of recordings and
archives, with --source-tree and --source-prefix, and of processes in another root.  The user's
own files are shown as usual.

usage: source_rights.py STROBE
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp(prefix="strobe-test-rights-")
SECRET = "no_eyes_but_roots"
PROGRAM = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void spin(void)
{
#line 1 "%s"
	for (int i = 0; i < 100000; i++) sink += sink * i;
}
int main(int argc, char **argv)
{
	while (clock() < (argc > 1 ? atof(argv[1]) : 0.3) * CLOCKS_PER_SEC)
		spin();
}
"""


def path(*parts):
    return os.path.join(folder, *parts)


def write(name, text, mode=0o644, owner=0):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "w", encoding="ascii") as out:
        out.write(text)
    os.chown(path(name), owner, owner)
    os.chmod(path(name), mode)
    return path(name)


def build(name, source, owner):
    """Build a program that belongs to `owner`, and whose hot line is the first line of another
    file."""
    code = write(f"{name}.c", PROGRAM % source)
    os.makedirs(path("bin"), exist_ok=True)
    subprocess.run(["gcc", "-g", "-O1", "-static", "-o", path("bin", name), code], check=True)
    os.unlink(code)
    os.chown(path("bin", name), owner, owner)
    return path("bin", name)


def annotate(*args):
    rate = [] if "-i" in args else ["-F", "997"]
    return common.run([strobe, "annotate", "--mode", "source", *rate, "spin", *args],
                      env={"XDG_CACHE_HOME": path("cache")})


def shown(name, source, owner, text, wanted):
    """Live: the source is shown only if the program's owner may read it."""
    program = build(name, source, owner)
    result = annotate("--", program)
    checks.check(f"{name}: the source is {'shown' if wanted else 'not shown'}",
                 "spin" in result.out and (text in result.out) == wanted and SECRET not in
                 (result.out if not wanted else ""), result)
    return program


def test_owners():
    nobody = common.NOBODY
    secret = write("secret/key", SECRET + "\n", 0o600)
    os.chmod(path("secret"), 0o755)
    shown("own-private", secret, 0, SECRET, True)
    shown("others-private", secret, nobody, SECRET, False)
    shown("others-open", write("open/a.c", "everybody_may\n"), nobody, "everybody_may", True)
    shown("others-own", write("theirs/a.c", "it_is_theirs\n", 0o600, nobody), nobody, "it_is_theirs", True)
    hidden = write("hidden/a.c", SECRET + "\n", 0o644)
    os.chmod(path("hidden"), 0o700)
    shown("others-closed-directory", hidden, nobody, SECRET, False)
    os.symlink(secret, path("theirs", "link.c"))
    shown("others-link", path("theirs", "link.c"), nobody, SECRET, False)
    shown("others-dots", path("open", "..", "secret", "key"), nobody, SECRET, False)


def test_recordings():
    secret = path("secret", "key")
    program = build("recorded", secret, common.NOBODY)
    common.run([strobe, "record", "-F", "997", "-o", path("data"), "--", program])
    result = annotate("-i", path("data"))
    checks.check("of a recording: not shown", "spin" in result.out and SECRET not in result.out, result)
    result = common.run([strobe, "archive", "-o", path("archive.tar"), path("data")])
    checks.check("it can be archived", result.status == 0, result)
    os.unlink(program)
    result = annotate("-i", path("archive.tar"))
    checks.check("of an archive: not shown", "spin" in result.out and SECRET not in result.out, result)
    return path("archive.tar")


def test_tree():
    program = path("bin", "others-private")
    result = common.run([strobe, "annotate", "-F", "997", "--source-tree", path("tree"), "--", program])
    found = subprocess.run(["grep", "-rl", SECRET, path("tree")], capture_output=True, text=True, check=False)
    checks.check("--source-tree does not copy it", os.listdir(path("tree")) and not found.stdout, (result, found.stdout))


def test_prefix():
    """No path leads out of the directory that the user named."""
    program = path("bin", "others-dots")
    os.makedirs(path("mine") + folder + "/open", exist_ok=True)
    result = annotate("--source-prefix", path("mine"), "--", program)
    checks.check("dots do not lead out of --source-prefix", "spin" in result.out and SECRET not in result.out, result)
    os.makedirs(path("mine") + folder + "/secret", exist_ok=True)
    os.symlink(path("secret", "key"), path("mine") + folder + "/secret/key")
    result = annotate("--source-prefix", path("mine"), "--", path("bin", "others-private"))
    checks.check("links do not lead out of --source-prefix", "spin" in result.out and SECRET not in result.out, result)
    os.unlink(path("mine") + folder + "/secret/key")
    write("mine" + folder + "/secret/key", "what_the_user_gave\n", 0o600)
    result = annotate("--source-prefix", path("mine"), "--", path("bin", "others-private"))
    checks.check("what lies below --source-prefix is shown", "what_the_user_gave" in result.out, result)


def test_roots():
    """root in another root must not reveal a file that only root outside may read; files that all
    users there may read are shown."""
    program = build("inside", path("secret", "key"), 0)
    plain = build("inside-open", "/src/a.c", 0)
    for name, how, enter in (
            ("in a chroot", "", "chroot {root}"),
            ("in another mount namespace", "unshare -m", "chroot {root}")):
        root = path(name.replace(" ", "-"))
        os.makedirs(root + "/src", exist_ok=True)
        shutil.copy(program, root + "/inside")
        shutil.copy(plain, root + "/inside-open")
        with open(root + "/src/a.c", "w", encoding="ascii") as out:
            out.write("of_that_root\n")
        for what, wanted in (("inside", False), ("inside-open", True)):
            command = f"{how} {enter.format(root=root)} /{what} 600".split()
            with common.started(command) as target:
                pids = [target.pid]
                common.let_run(pids[0], 0.1)
                result = annotate("--duration", "0.5", "-p", str(pids[0]))
            text = "of_that_root" if wanted else SECRET
            checks.check(f"{name}: {what} is {'shown' if wanted else 'not shown'}",
                         "spin" in result.out and (text in result.out) == wanted, result)


try:
    if os.geteuid():
        checks.skip("whose source files are read", "only root can act for others")
    else:
        os.chmod(folder, 0o755)
        test_owners()
        test_recordings()
        test_tree()
        test_prefix()
        test_roots()
finally:
    shutil.rmtree(folder, ignore_errors=True)
checks.finish()
