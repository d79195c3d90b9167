#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of code made at run time: perf-PID.map files that exist, appear and grow, and jitdumps.

Covers other users and namespaces, node and java: live, on the screen, and in recordings,
compared with perf's report.  BPF programs are covered, too.

usage: jit.py STROBE JIT BPF
"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks as common  # noqa: E402

checks = common.Checks()
strobe, jit, bpf = (os.path.abspath(path) for path in sys.argv[1:4])
folder = tempfile.mkdtemp(prefix="strobe-test-jit-")
os.chmod(folder, 0o777)
ENV = {"XDG_CACHE_HOME": os.path.join(folder, "cache")}
HOT, COLD = "py::hot:/home/me/a program.py", "py::cold:/home/me/a program.py"
FOREVER = "1000"


def rows(text):
    with contextlib.suppress(ValueError):
        return [row for event in json.loads(text)["events"] for row in event["rows"]]
    return []


def report(*arguments):
    return common.run([strobe, "report", "--format", "json", *arguments], env=ENV, cwd=folder)


def samples(result, symbol):
    return sum(row["samples"] for row in rows(result.out) if row["symbol"] == symbol)


def judge(name, result, image=None):
    """hot takes three quarters of the time, cold the rest."""
    hot, cold = samples(result, HOT), samples(result, COLD)
    both = hot + cold
    # Allows for chance, and for other work on a busy machine.
    allowed = 0.05 + 5 * (0.75 * 0.25 / max(both, 1)) ** 0.5
    checks.check(f"{name}: both names are there", hot > 0 and cold > 0, (hot, cold, str(result)))
    checks.amount(f"{name}: names and shares", both > 30 and abs(hot / both - 0.75) < allowed, (hot, cold, str(result)))
    if image:
        images = {row["image"] for row in rows(result.out) if row["symbol"] in (HOT, COLD)}
        checks.check(f"{name}: the image is called as the map", images == {image}, images)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return ",".join(children.read().split())


def live(name, how, image="perf-{pid}.map", program=None, user=None):
    with common.started([program or jit, how, FOREVER], wait_for="ready", user=user, cwd=folder) as process:
        pid = process.pid
        if how == "fork":
            pid = int(children_of(pid))
        judge(name, report("-p", str(pid), "--duration", "0.5"), image.format(pid=process.pid))
        if how in ("memfd", "dump"):
            annotated = common.run([strobe, "annotate", "-p", str(pid), "--duration", "0.3", HOT], env=ENV, cwd=folder)
            checks.check(f"{name}: annotated", re.search(r"\s(jne|b\.ne)\s", annotated.out) and
                         ("/src/hot.py:42" in annotated.out) == (how == "dump"), str(annotated))


def judge_places(name, how, one, two):
    """gen_two replaced gen_one halfway through the time; with "part" it took only half of its
    place."""
    share = 0.25 if how == "part" else 0.5
    both = max(one + two, 1)
    allowed = 0.02 + 5 * (share * (1 - share) / both) ** 0.5
    checks.check(f"{name}, {how}: both names are there", one > 0 and two > 0, (one, two))
    checks.amount(f"{name}, {how}: each has its time", both > 300 and abs(two / both - share) < allowed, (one, two))


def remove_maps():
    """Remove the maps: reading a recording must not need them."""
    for path in glob.glob("/tmp/perf-*.map"):
        with contextlib.suppress(OSError):
            about = os.lstat(path)
            # Tests beside this one make maps that are no files, or far too large.
            if not stat.S_ISREG(about.st_mode) or about.st_size > 1 << 20:
                continue
            with open(path, encoding="utf-8", errors="replace") as names:
                if "gen_two" in names.read():
                    os.unlink(path)


def places():
    """Replaced code keeps its name."""
    for how in ("again", "mapped", "anew", "other", "split", "part"):
        result = report("--", jit, how, "2")
        judge_places("live", how, samples(result, "gen_one"), samples(result, "gen_two"))
    # The process ends before strobe looks a second time.
    for how in ("mapped", "anew"):
        result = report("--", jit, how, "0.9")
        judge_places("live, soon over", how, samples(result, "gen_one"), samples(result, "gen_two"))
    for how in ("mapped", "anew", "other", "split"):
        data = os.path.join(folder, f"{how}.data")
        made = common.run([strobe, "record", "-o", data, "--", jit, how, "2"], env=ENV, cwd=folder)
        remove_maps()
        result = report(data)
        judge_places("recording", how, samples(result, "gen_one"), samples(result, "gen_two"))
        checks.check(f"recording, {how}: it was made", made.status == 0, made.err)
    for how in ("again", "part"):
        data = os.path.join(folder, f"{how}.data")
        made = common.run([strobe, "record", "-o", data, "--", jit, how, "2"], env=ENV, cwd=folder)
        if made.status:
            checks.skip(f"recording, {how}", made.err)
            continue
        result = report(data)
        one, two = samples(result, "gen_one"), samples(result, "gen_two")
        judge_places("recording", how, one, two)
        begin = report(data, "--time", "0,0.3")
        checks.check(f"recording, {how}: of its beginning", samples(begin, "gen_one") and not samples(begin, "gen_two"),
                     str(begin)[:900])
        for form in ("folded", "script"):
            out = common.run([strobe, "export", "--format", form, data], env=ENV, cwd=folder).out
            counted = [sum(int(line.rsplit(" ", 1)[1]) if form == "folded" else 1 for line in out.splitlines()
                           if re.search(name, line)) for name in ("gen_one", "gen_two")]
            judge_places(f"recording as {form}", how, *(n if form == "script" else n // 1000000 for n in counted))
        for name, turns in ("gen_one", "0xea60"), ("gen_two", "0xea61"):
            annotated = common.run([strobe, "annotate", data, name], env=ENV, cwd=folder).out
            checks.check(f"recording, {how}: {name} annotated with its own code", f"${turns}," in annotated or
                         f"#{turns}" in annotated, annotated[:900])
            checks.check(f"recording, {how}: addresses of {name} are those of the process",
                         all(len(address) <= 12 for address in re.findall(r"(?m)^.{13}([0-9a-f]{10,}):", annotated)) and
                         re.search(r"at 0x[0-9a-f]{10,12}\n", annotated), annotated[:900])


def screens():
    """A map that appears, and one that grows, during a live session."""
    try:
        import pyte  # noqa: F401
    except ImportError:
        checks.skip("live screen", "pyte is not installed")
        return
    for how, before, after in (("late", "[anon]", HOT), ("grow", HOT, COLD)):
        with common.started([jit, how, FOREVER], wait_for="ready", cwd=folder) as process:
            screen = common.Screen([strobe, "-p", str(process.pid)], 120, 30, env=ENV)
            try:
                named = screen.until(before)
                checks.check(f"screen, {how}: without the map", named and after not in screen.text(), screen.text())
                process.send_signal(signal.SIGUSR1)
                checks.check(f"screen, {how}: the map is read again",
                             screen.until(lambda text: after in text and f"perf-{process.pid}.map" in text and
                                          (how == "grow" or COLD in text)), screen.text())
            finally:
                screen.close()


def saved():
    """A recording saved from the screen has the names of its time, too."""
    try:
        import pyte  # noqa: F401
    except ImportError:
        checks.skip("what is saved", "pyte is not installed")
        return
    data = os.path.join(folder, "saved.data")
    screen = common.Screen([strobe, "--", jit, "anew", "2"], 120, 30, env=ENV)
    try:
        there = screen.until(lambda text: "gen_one" in text and "gen_two" in text and "ended" in text)
        checks.check("saved: both names were there", there, screen.text())
        screen.send("W\x15" + data + "\r")
        checks.check("saved: it is told", screen.until(" samples to "), screen.text())
        screen.send("q")
        screen.wait(60)
    finally:
        screen.close()
    remove_maps()
    result = report(data)
    judge_places("saved", "anew", samples(result, "gen_one"), samples(result, "gen_two"))


def namespaces():
    """A process with a /tmp, process numbers and a user of its own."""
    if os.geteuid() != 0:
        checks.skip("namespaces", "not root")
        return
    with common.public_copy(jit) as (copy,):
        # The directory stays reachable below the new /tmp.
        script = "mount -t tmpfs tmpfs /tmp && exec setpriv --reuid 65534 --regid 65534 --clear-groups ./" + \
            os.path.basename(copy) + " map " + FOREVER
        command = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", script]
        try:
            with common.started(command, wait_for="ready", cwd=os.path.dirname(copy)) as process:
                pid = children_of(process.pid)
                judge("unshare --mount --pid", report("-p", pid, "--duration", "0.5"), "perf-1.map")
        except RuntimeError as error:
            checks.skip("unshare --mount --pid", str(error))


def left_behind():
    """A map older than its process belongs to an earlier process with that pid, unless the process
    has it open."""
    if os.geteuid() != 0:
        checks.skip("a map that was left behind", "not root")
        return
    own_tmp = os.path.join(folder, "tmp")
    os.mkdir(own_tmp)
    left = os.path.join(own_tmp, "perf-1.map")
    with open(left, "w", encoding="ascii") as out:
        # These ranges cover any place of code.
        out.writelines(f"{high:x}00000000 ffffffff of another\n" for high in range(1, 1 << 16))
    while time.time() < os.stat(left).st_ctime + 5:
        time.sleep(0.2)
    for how, opened in (("closed", ""), ("open", "9<>/tmp/perf-1.map")):
        command = ["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                   f"cp {jit} {own_tmp}/jit; mount --bind {own_tmp} /tmp && exec /tmp/jit late {FOREVER} {opened}"]
        try:
            with common.started(command, wait_for="ready") as process:
                result = report("-p", children_of(process.pid), "--duration", "0.5")
        except RuntimeError as error:
            checks.skip("a map that was left behind", str(error))
            return
        named, told = samples(result, "of another"), "was last changed before its process began" in result.out
        checks.check(f"a map that was left behind, {how}", (named > 0) == bool(opened) and told == (not opened), str(result))


# --- recordings ---

def perf_names(path):
    """Return {symbol: percent of samples} of perf report."""
    text = common.run(["perf", "report", "-i", path, "--no-children", "--stdio", "-F", "overhead,sym", "-g", "none"]).out
    return {symbol.strip(): float(percent)
            for percent, symbol in re.findall(r"^\s*([\d.]+)%\s+\[.\]\s+(.*)$", text, re.M)}


def compare(name, path, result, symbols):
    theirs, total = perf_names(path), sum(row["samples"] for row in rows(result.out))
    ours = {symbol: 100.0 * samples(result, symbol) / max(total, 1) for symbol in symbols}
    checks.check(f"{name}: as perf reports", symbols and all(
        abs(ours[symbol] - theirs.get(symbol, 0.0)) < 0.02 for symbol in symbols), (ours, theirs))


def record(path, command, *options):
    return common.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", *options, "-o", path, "--", *command],
                      cwd=folder)


def recordings():
    if not checks.finds("recordings", "perf"):
        return
    data, archive = os.path.join(folder, "map.data"), os.path.join(folder, "map.tar.zst")
    if record(data, [jit, "map", "0.4"]).status:
        checks.skip("recordings", "perf record is refused here")
        return
    result = report(data)
    judge("recording, map", result)
    compare("recording, map", data, result, [HOT, COLD])
    checks.check("recording, map: marked as not verified", "nothing tells" in common.run([strobe, "report", data]).out)
    folded = common.run([strobe, "export", "--format", "folded", data])
    checks.check("export", re.search(re.escape(HOT) + r" \d", folded.out), str(folded)[:600])

    # An archive carries the map, and has names without the file.
    packed = common.run([strobe, "archive", data, "-o", archive], env=ENV)
    used = common.run(["perf", "script", "-i", data, "-F", "pid"]).out.split()[0]
    os.unlink(f"/tmp/perf-{used}.map")
    judge("archive", report(archive)) if packed.status == 0 else checks.check("archive", False, str(packed))
    checks.check("recording without its map", samples(report(data), HOT) == 0)

    data = os.path.join(folder, "dump.data")
    if record(data, [jit, "dump", "0.4"], "-k", "mono").status == 0:
        judge("recording, jitdump", report(data))
        # The dump contains the code itself.
        annotated = common.run([strobe, "annotate", data, HOT], env=ENV, cwd=folder)
        checks.check("recording, jitdump: annotated", re.search(r"\s(jne|b\.ne)\s", annotated.out), str(annotated))
        checks.check("recording, jitdump: lines", re.search(r"\b42\b", annotated.out) and "hot.py" in annotated.out,
                     str(annotated))
        grouped = common.run([strobe, "report", data, "--group", "line"], env=ENV, cwd=folder)
        checks.check("recording, jitdump: by line", re.search(r"\d% .*/src/hot\.py:4[12]\b", grouped.out), str(grouped))
        injected = common.run(["perf", "inject", "--jit", "-i", data, "-o", data + ".jitted"], cwd=folder)
        if injected.status == 0:
            judge("recording, perf inject", report(data + ".jitted"))
            grouped = common.run([strobe, "report", data + ".jitted", "--group", "line"], env=ENV, cwd=folder)
            checks.check("recording, perf inject: by line", re.search(r"\d% .*/src/hot\.py:4[12]\b", grouped.out), str(grouped))
            # Remove the program headers: perf wrote none before Linux 6.1.
            for name in os.listdir(folder):
                if name.startswith("jitted-"):
                    with open(os.path.join(folder, name), "r+b") as out:
                        out.seek(32)
                        out.write(bytes(8))
                        out.seek(54)
                        out.write(bytes(4))
            judge("recording, perf inject of old", common.run(
                [strobe, "report", "--format", "json", data + ".jitted"], cwd=folder,
                env={"XDG_CACHE_HOME": os.path.join(folder, "other cache")}))
        for path in glob.glob(os.path.join(folder, "jit-*.dump")):
            os.unlink(path)
        without = common.run([strobe, "report", data], env=ENV)
        checks.check("recording without its jitdump: so it says", HOT not in without.out and re.search(
            r"the names of code made at run time were in '.*jit-\d+\.dump', which cannot be opened", without.out), str(without))


def own_recordings():
    """A recording by strobe itself, of a process that had its code already."""
    for how in ("map", "memfd"):
        data = os.path.join(folder, f"own-{how}.data")
        with common.started([jit, how, FOREVER], wait_for="ready", cwd=folder) as process:
            recorded = common.run([strobe, "record", "-p", str(process.pid), "-F", "997", "-o", data, "--duration", "0.5"], env=ENV)
            if recorded.status:
                checks.skip(f"own recording, {how}", str(recorded))
                continue
            judge(f"own recording, {how}", report(data))


def dumps_of_others():
    """A jitdump of another user.  A recording does not tell the process's user, so strobe's own one
    keeps a copy."""
    if os.geteuid():
        checks.skip("dumps of others", "not root")
        return
    if not checks.finds("dumps of others", "perf"):
        return
    data = os.path.join(folder, "others.data")
    with common.public_copy(jit) as (copy,), tempfile.TemporaryDirectory(prefix="strobe-test-") as place:
        os.chmod(place, 0o755)
        shutil.chown(place, common.NOBODY)
        with common.started([copy, "dump", FOREVER], wait_for="ready", user=common.NOBODY, cwd=place) as process:
            pid = str(process.pid)
            made = common.run([strobe, "record", "-p", pid, "-F", "997", "-o", data, "--duration", "0.5"], env=ENV)
            theirs = common.run(["perf", "record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "997", "-p", pid, "-o", data + ".perf",
                                 "--", "sleep", "0.5"], cwd=folder)
        if made.status or theirs.status:
            checks.skip("dumps of others", str(made) + str(theirs))
            return
        told = common.run([strobe, "report", data + ".perf"], env=ENV)
        checks.check("perf's recording, a dump of another user: why there are no names", HOT not in told.out and
                     "belongs neither to this user nor to root" in told.out, str(told))
        judge("perf's recording, a dump of another user that is asked for", report(data + ".perf", "--symfs", "/"))
    judge("own recording, a dump of another user", report(data))


# --- runtimes ---

FIB_JS = "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nfor (;;) fib(25);\n"
FIB_JAVA = """public class Fib {
	static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] arguments) {
		System.out.println("ready");
		for (long sum = 0;; sum += fib(25))
			if (sum < 0) System.out.println(sum);
	}
}
"""


def share(result, pattern):
    found = [row for row in rows(result.out) if re.search(pattern, row["symbol"])]
    return sum(row["self_percent"] for row in found), {row["image"] for row in found}


def node():
    if not checks.finds("node", "node"):
        return
    path = common.written(folder, "fib.js", FIB_JS)
    with common.started(["node", "--perf-basic-prof", path], cwd=folder) as process:
        # Wait until fib is compiled by the optimizing compiler.
        seen = ""
        while not re.search(r"JS:\*fib", seen) and process.poll() is None:
            with contextlib.suppress(FileNotFoundError), open(f"/tmp/perf-{process.pid}.map", encoding="utf-8",
                                                              errors="replace") as lines:
                seen = lines.read()
        percent, images = share(report("-p", str(process.pid), "--duration", "0.7"), r"^JS:\*fib .*fib\.js")
        checks.amount("node: JS:*fib has nearly all of the time", percent > 85, percent)
        checks.check("node: the image is called as the map", images == {f"perf-{process.pid}.map"}, images)


def java():
    """jcmd writes the map while strobe samples."""
    if not checks.finds("java", "java", "javac", "jcmd"):
        return
    common.written(folder, "Fib.java", FIB_JAVA)
    if common.run(["javac", "-J-Xshare:auto", "-J-XX:TieredStopAtLevel=1", "Fib.java"], cwd=folder).status:
        checks.skip("java", "javac does not work")
        return
    with common.started(["java", "-cp", folder, "Fib"], wait_for="ready") as process:
        profile = subprocess.Popen([strobe, "report", "--format", "json", "-p", str(process.pid)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, **ENV))
        # jcmd and strobe may start slowly on a busy machine, so wait for both.
        common.run(["jcmd", str(process.pid), "Compiler.perfmap"])
        common.rings_settle(profile, 1)
        common.let_run(process.pid, 1.5)
        profile.send_signal(signal.SIGINT)
        out, err = profile.communicate(timeout=120)
        result = common.Result(profile.returncode, out.decode(), err.decode(), False)
        percent, images = share(result, r"Fib\.fib\(int\)")
        checks.amount("java: Fib.fib has nearly all of the time", percent > 75, (percent, str(result)))
        checks.check("java: the image is called as the map", images == {f"perf-{process.pid}.map"}, images)


# --- BPF ---

FILTER = re.compile(r"^bpf_prog_[0-9a-f]{16}_strobe_filter$")


def samples_already(pid):
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if "perf_event" in os.readlink(f"/proc/{pid}/fd/{number}"):
                    return True
    return False


def bpf_programs():
    refused = common.run([bpf, "0", "0"])
    with open("/proc/sys/net/core/bpf_jit_enable", encoding="ascii") as enabled:
        compiled = enabled.read().strip() != "0"
    if refused.status or not compiled:
        checks.skip("BPF", refused.out.strip() or "net.core.bpf_jit_enable is 0")
        return

    def check(name, result):
        found = [row for row in rows(result.out) if FILTER.match(row["symbol"])]
        checks.check(f"BPF, {name}", {row["image"] for row in found} == {"[bpf]"}, (found, str(result)[:900]))
        checks.amount(f"BPF, {name}: several samples", sum(row["samples"] for row in found) >= 5,
                      (found, str(result)[:900]))

    # Loaded while strobe runs, in one process and on the whole machine, and loaded before.
    check("loaded meanwhile", report("--duration", "20", "--", bpf, "0.3", "0.5"))
    with common.started([bpf, "0.3", FOREVER]) as process:
        # A busy machine leaves the program little of a second, so wait until it had enough CPU
        # time.
        profile = subprocess.Popen([strobe, "report", "--format", "json", "-a"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=dict(os.environ, **ENV), cwd=folder)
        while profile.poll() is None and not samples_already(profile.pid):
            time.sleep(0.05)
        common.let_run(process.pid, 0.8)
        profile.send_signal(signal.SIGINT)
        out, err = profile.communicate(timeout=120)
        check("whole machine", common.Result(profile.returncode, out.decode(), err.decode(), False))
        check("loaded before", report("-p", str(process.pid), "--duration", "0.8"))
    data = os.path.join(folder, "bpf.data")
    made = common.run([strobe, "record", "-o", data, "--", bpf, "0", "0.4"], env=ENV)
    check("strobe record", report(data) if made.status == 0 else made)
    if shutil.which("perf") and record(data, [bpf, "0", "0.4"]).status == 0:
        result = report(data)
        check("perf record", result)
        symbol = next((row["symbol"] for row in rows(result.out) if FILTER.match(row["symbol"])), None)
        text = common.run(["perf", "report", "-i", data, "--stdio", "-F", "overhead,sym"]).out
        theirs = re.search(r"([\d.]+)%\s+\[k\]\s+" + re.escape(symbol or "-"), text)
        total = sum(row["samples"] for row in rows(result.out))
        checks.check("BPF: as perf reports", symbol and theirs and abs(
            float(theirs[1]) - 100.0 * samples(result, symbol) / total) < 0.02, (symbol, text[:900]))


def main():
    try:
        live("map", "map")
        live("memory that is mapped twice", "memfd")
        live("forked process", "fork")
        live("jitdump", "dump", "jit-{pid}.dump")
        if os.geteuid() == 0:
            with common.public_copy(jit) as (copy,):
                live("another user", "map", program=copy, user=common.NOBODY)
        else:
            checks.skip("another user", "not root")
        places()
        screens()
        saved()
        namespaces()
        left_behind()
        recordings()
        own_recordings()
        dumps_of_others()
        node()
        java()
        bpf_programs()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    checks.finish()


main()
