#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--debuginfod and the key D: debug files and programs from a server.

The server is good, slow, empty, cut off, lying or missing.  Without the option or key, strobe
does not use the network.

usage: debuginfod.py STROBE
"""

import contextlib
import ctypes
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp(prefix="strobe-test-debuginfod-")
ENV = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder, LC_ALL="C.UTF-8")
ENV.pop("DEBUGINFOD_URLS", None)
os.environ.pop("DEBUGINFOD_URLS", None)

SOURCE = """
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void hidden_one(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}
__attribute__((noinline)) void shown_one(void)
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
	if (argc > 2)
		unlink(argv[2]);
}
"""


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        path = self.server.files.get(self.path)
        if path is None:
            self.send_error(404)
            return
        with open(path, "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(OSError):
            if self.server.how == "slow":
                self.wfile.write(content[:2000])
                self.wfile.flush()
                self.server.go_on.wait(60)
                self.wfile.write(content[2000:])
            elif self.server.how == "dying":
                self.wfile.write(content[:2000])
                self.wfile.flush()
                self.connection.close()
            else:
                self.wfile.write(content)


@contextlib.contextmanager
def serving(files, how="good"):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.files, server.how, server.asked, server.go_on = files, how, [], threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()


def environment(server):
    """Give each run a cache of its own, so that no earlier answer is known."""
    url = f"http://127.0.0.1:{server.server_address[1]}" if server else "http://127.0.0.1:9"
    return dict(ENV, DEBUGINFOD_URLS=url, DEBUGINFOD_CACHE_PATH=tempfile.mkdtemp(dir=folder), no_proxy="*")


def build(name, *flags):
    """Build a program: (the stripped program, its build-id, its debug file)."""
    program = os.path.join(folder, name)
    with open(program + ".c", "w", encoding="ascii") as out:
        out.write(SOURCE)
    subprocess.run(["cc", "-g", "-O1", f'-DNAME="{name}"', "-Wl,--build-id=0x" + name.encode().hex().ljust(40, "0"),
                    *flags, "-o", program, program + ".c"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, program + ".debug"], check=True)
    subprocess.run(["strip", program], check=True)
    return program, name.encode().hex().ljust(40, "0"), program + ".debug"


def named(result, image, wanted="hidden_one"):
    with contextlib.suppress(ValueError):
        return wanted in {row["symbol"] for event in json.loads(result.stdout)["events"]
                                for row in event["rows"] if row["image"] == image}
    return False


def run(env, *args):
    return subprocess.run([strobe, *args], capture_output=True, text=True, env=env, timeout=120, check=False)


def report(env, program, *options):
    return run(env, "report", "--format", "json", "-F", "997", *options, "--", program)


def test_good():
    program, number, debug = build("good")
    with serving({f"/buildid/{number}/debuginfo": debug}) as server:
        env = environment(server)
        unasked = report(env, program)
        checks.check("nothing is asked of the network unasked", not server.asked and not named(unasked, "good"),
                     (server.asked, unasked))
        asked = report(env, program, "--debuginfod")
        checks.check("live, a server's debug file gives the names",
                     named(asked, "good") and f"/buildid/{number}/debuginfo" in server.asked,
                     (server.asked, asked.stdout[:600], asked.stderr))
        again = report(ENV, program)
        checks.check("and never gets into strobe's own cache", not named(again, "good"), again)


def test_recording():
    program, number, debug = build("elsewhere")
    data = os.path.join(folder, "elsewhere.data")
    run(ENV, "record", "-F", "997", "-o", data, "--", program)
    os.rename(program, program + ".away")
    files = {f"/buildid/{number}/executable": program + ".away", f"/buildid/{number}/debuginfo": debug}
    with serving(files) as server:
        env = environment(server)
        found = run(env, "report", "-i", data, "--format", "json", "--debuginfod")
        checks.check("of a recording, the program itself is fetched, and its debug file", named(found, "elsewhere"),
                     (server.asked, found.stdout[:600], found.stderr))
    other, _, _ = build("other")
    with serving({f"/buildid/{number}/executable": other}) as server:
        found = run(environment(server), "report", "-i", data, "--format", "json", "--debuginfod")
        checks.check("a program of another build-id is not used",
                     server.asked and not named(found, "elsewhere") and found.returncode == 0, (server.asked, found))


def test_deleted():
    """The recording keeps the few symbols of a stripped program that was deleted meanwhile."""
    program, number, debug = build("deleted", "-rdynamic")
    shutil.copy(program, program + ".away")
    data = os.path.join(folder, "deleted.data")
    run(ENV, "record", "-F", "997", "-o", data, "--", program, "0.3", program)
    offline = run(ENV, "report", "-i", data, "--format", "json")
    checks.check("a deleted program has its kept symbols", named(offline, "deleted", "shown_one")
                 and not named(offline, "deleted"), (offline.stdout[:600], offline.stderr))
    files = {f"/buildid/{number}/executable": program + ".away", f"/buildid/{number}/debuginfo": debug}
    with serving(files) as server:
        found = run(environment(server), "report", "-i", data, "--format", "json", "--debuginfod")
        checks.check("a deleted program is fetched, and its debug file", named(found, "deleted")
                     and named(found, "deleted", "shown_one"), (server.asked, found.stdout[:600], found.stderr))
        del files[f"/buildid/{number}/debuginfo"]
        kept = run(environment(server), "report", "-i", data, "--format", "json", "--debuginfod")
        checks.check("without a debug file it has its kept symbols", named(kept, "deleted", "shown_one")
                     and kept.returncode == 0, (server.asked, kept.stdout[:600], kept.stderr))


def test_bad():
    program, number, debug = build("bad")
    files = {f"/buildid/{number}/debuginfo": debug}
    with serving({}) as server:
        result = report(environment(server), program, "--debuginfod")
        checks.check("no server has it: addresses", result.returncode == 0 and server.asked and not named(result, "bad"),
                     result)
    with serving(files, "dying") as server:
        result = report(environment(server), program, "--debuginfod")
        checks.check("the server ends midway: addresses", result.returncode == 0 and server.asked
                     and not named(result, "bad"), result)
    _, _, wrong = build("wrong")
    with serving({f"/buildid/{number}/debuginfo": wrong}) as server:
        result = report(environment(server), program, "--debuginfod")
        checks.check("the debug file of another program is not used", result.returncode == 0 and server.asked
                     and not named(result, "bad"), result)
    result = report(environment(None), program, "--debuginfod")
    checks.check("no network: addresses", result.returncode == 0 and not named(result, "bad"), result)
    result = report(ENV, program, "--debuginfod")
    checks.check("without DEBUGINFOD_URLS a sentence", result.returncode != 0 and "DEBUGINFOD_URLS" in result.stderr,
                 result)


def test_screen():
    if importlib.util.find_spec("pyte") is None:
        checks.skip("the key D", "pyte is not installed")
        return
    program, number, debug = build("shown")
    files = {f"/buildid/{number}/debuginfo": debug}
    with common.started([program, "600"]) as target:
        for how in ("slow, given up", "slow, waited for", "no server"):
            with serving(files, "slow") as server:
                env = environment(server) if how != "no server" else ENV
                env = {name: value for name, value in env.items() if os.environ.get(name) != value and name != "LC_ALL"}
                command = [strobe, "-p", str(target.pid), "-d", "100"]
                with contextlib.closing(common.Screen(command, columns=100, env=env)) as screen:
                    drive(screen, server, how)


def drive(screen, server, how):
    if not checks.check(f"{how}: the screen shows addresses", screen.until("shown+0x"), screen.text()):
        return
    screen.send("D")
    if how == "no server":
        checks.check("D without a server says why", screen.until("DEBUGINFOD_URLS"), screen.text())
        screen.send("q")
        return
    checks.check(f"{how}: D shows the progress", screen.until(lambda text: "Fetching" in text and "kB" in text),
                 screen.text())
    if how == "slow, given up":
        screen.send("\x1b")
        checks.check("Esc gives it up", screen.until("given up") and "hidden_one" not in screen.text(), screen.text())
    else:
        server.go_on.set()
        checks.check("names come when it is here", screen.until("hidden_one"), screen.text())
    screen.send("q")


def has_library():
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        return False
    return True


try:
    if has_library():
        test_good()
        test_recording()
        test_deleted()
        test_bad()
        test_screen()
    else:
        checks.skip("all", "libdebuginfod is not installed")
finally:
    shutil.rmtree(folder, ignore_errors=True)
checks.finish()
