#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe may not, cannot, or must stop: it prints a sentence, does not hang, and leaves nothing.

usage: refusals.py STROBE SHARES THREADS SHARES_LIB   (the program, and the workloads)
"""

import errno
import contextlib
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import NOBODY, Checks, Screen, let_run, public_copy, run, started, sysctl  # noqa: E402
import fuse  # noqa: E402

PARANOID = "/proc/sys/kernel/perf_event_paranoid"
checks = Checks()


def refused(name, result, *wanted, status=1):
    """stderr has one sentence that matches all of `wanted` (regular expressions), and the status is
    right."""
    missing = [text for text in wanted if not re.search(text, result.err, re.IGNORECASE)]
    good = (not result.hung and result.status == status and result.err.startswith("strobe: ")
            and not missing)
    checks.check(name, good, f"missing {missing}; {result}")


def profiled(name, result, *wanted):
    """A JSON report has samples, and stderr or the report matches all of `wanted`."""
    try:
        report = json.loads(result.out)
        samples = sum(event["samples"] for event in report["events"])
    except (ValueError, KeyError):
        samples = -1
    missing = [text for text in wanted
               if not re.search(text, result.err + result.out, re.IGNORECASE)]
    checks.check(name, not result.hung and result.status == 0 and samples > 0 and not missing,
                 f"{samples} samples, missing {missing}; {result}")


def silenced(strobe):
    """In a user namespace an event that can hit in user space is counted there alone; other events
    are refused, since they would count nothing."""
    for event, fires in (("sched:sched_switch", False), ("syscalls:sys_enter_write", True)):
        if not os.path.isdir("/sys/kernel/tracing/events/" + event.replace(":", "/")):
            checks.skip(f"a user namespace: {event}", "there is no such tracepoint")
            continue
        for command in (["report", "-c", "1"], ["stat"]):
            name = f"a user namespace: strobe {command[0]} -e {event}"
            result = run(["unshare", "-Ur", strobe, *command, "-e", event, "--format", "json", "--", "echo"], cwd="/")
            if "unshare" in result.err.split("strobe: ")[0]:
                checks.skip(name, "no user namespaces here")
            elif fires:
                try:
                    told = json.loads(result.out[result.out.index("{"):])
                    found = told["events"][0].get("samples", told["events"][0]["count"])
                except (ValueError, LookupError):
                    told, found = {"notes": []}, -1
                checks.check(name, found == 1 and any("user space only" in note for note in told["notes"]), str(result))
            else:
                checks.check(name, "in the kernel alone" in result.err + result.out
                             and (command[0] == "stat" or result.status == 1), str(result))


def json_report(strobe, *arguments):
    return [strobe, "report", "--duration", "0.5", "--format", "json", *arguments]


def perf_events(pid):
    """Return the number of events that a process has open, its trial events included."""
    found = 0
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for fd in os.listdir(folder):
            with contextlib.suppress(OSError):
                found += "perf_event" in os.readlink(os.path.join(folder, fd))
    return found


def leftovers(strobe):
    """Return processes of this binary that stay; one may still be exiting after its parent has
    ended."""
    for _ in range(600):
        found = subprocess.run(["pgrep", "-f", "^" + re.escape(strobe)], capture_output=True, text=True,
                               check=False).stdout.split()
        if not found:
            break
        time.sleep(0.1)
    return found


def targets(strobe, shares):
    gone = subprocess.Popen(["true"])
    gone.wait()
    refused("a process that does not exist", run(json_report(strobe, "-p", str(gone.pid))),
            str(gone.pid), "no such process|does not exist|not there")
    refused("a thread that does not exist", run(json_report(strobe, "-t", str(gone.pid))),
            str(gone.pid))
    refused("a name that nothing has", run(json_report(strobe, "-n", "no-such-name-here")),
            "no-such-name-here")
    refused("a user who does not exist", run(json_report(strobe, "-u", "no-such-user-here")),
            "no-such-user-here", status=2)

    profiled("a CPU that does not exist, beside one that does",
             run(json_report(strobe, "-C", "0,4095", "-e", "cpu-clock")), "CPU 4095 is not online")
    with started(["sleep", "600"]) as work:
        result = run([strobe, "stat", "--duration", "0.1", "-p", f"{work.pid},{gone.pid}"])
        checks.check("strobe stat of a process that does not exist, beside one that does",
                     result.status == 0 and f"process {gone.pid}: there is no such process" in result.out
                     and f"process {work.pid}" not in result.out, str(result))

    zombie = os.fork()
    if zombie == 0:
        os._exit(0)
    os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
    refused("a zombie", run(json_report(strobe, "-p", str(zombie))), str(zombie), "zombie|ended")
    os.waitpid(zombie, 0)

    result = run(json_report(strobe, "-p", "2"))
    checks.check("a kernel thread", not result.hung and result.status == 0, str(result))

    with started([shares, "0"]) as work:
        process = subprocess.Popen([strobe, "report", "-p", str(work.pid), "--format", "json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while True:
            # One event per CPU reports new tasks, and two belong to the thread: sampling has begun.
            if perf_events(process.pid) >= os.cpu_count() + 2 or process.poll() is not None:
                break
            time.sleep(0.01)
        os.kill(work.pid, signal.SIGKILL)
        try:
            out, err = process.communicate(timeout=120)
            checks.check("a target that is killed ends the report",
                         process.returncode == 0 and b'"events"' in out, f"{out!r} {err!r}")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            checks.check("a target that is killed ends the report", False, "it hung")

    result = run(json_report(strobe, "--", "sh", "-c", f"exec {shares} 1 >/dev/null"))
    profiled("a command that executes another", result)
    refused("a command that does not exist", run(json_report(strobe, "--", "/no/such/program")),
            "/no/such/program", status=127)
    result = run([strobe, "report", "--", "sh", "-c", "exit 3"])
    checks.check("a command's exit status is told", "3" in result.err and not result.hung, str(result))


def commands(strobe):
    """Reports about a command with chosen CPUs, and about a limit of frames."""
    result = run([strobe, "report", "-C", "0", "--", "sh", "-c", "exit 3"])
    checks.check("chosen CPUs for as long as a command runs", result.status == 3
                 and "'sh -c exit 3' ended with status 3" in result.err
                 and "whole machine on CPU 0" in result.out and not result.hung, str(result))
    with open("/proc/sys/kernel/perf_event_max_stack", encoding="ascii") as file:
        more = int(file.read()) + 1
    if more <= 1024:
        said = {run([strobe, "report", *words, "--", "true"]).err
                for words in (["-e", "cpu-clock", "--max-stack", str(more)], ["-e", f"cpu-clock/max-stack={more}/"])}
        checks.check("more frames than the kernel allows are refused by one sentence",
                     len(said) == 1 and f"{more} frames are more than the kernel allows" in min(said), said)
    for words in (["report"], ["stat"], ["record", "-o", "/dev/null"]):
        result = run([strobe, *words, "-p", str(os.getpid()), "--", "/no/such/program"])
        refused(f"{words[0]}: a stopwatch that does not exist", result, "/no/such/program", status=127)


def ended_by_signal(strobe, number, command, twice=False):
    """Send a signal to a report of a command, after the command has said that it runs."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "ready")
        os.mkfifo(fifo)
        process = subprocess.Popen([strobe, "report", "--", "sh", "-c", command, "sh", fifo],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        with open(fifo, encoding="ascii") as ready:
            pid = int(ready.readline())
            process.send_signal(number)
            if twice:
                select.select([ready], [], [], 120)
        try:
            if twice:
                # The command holds the pipes open, and strobe must not wait for that.
                process.send_signal(number)
                process.wait(timeout=120)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            process.communicate()
            return None, "", "it hung"
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            err += b"(it was still there)"
        return process.returncode, out.decode(), err.decode()


def signals(strobe):
    """A signal that ends strobe also ends its command, and strobe prints the samples so far."""
    busy = 'exec 3>"$1"; echo $$ >&3; while :; do :; done'
    deaf = 'exec 3>"$1"; trap "echo told >&3" TERM; echo $$ >&3; while :; do :; done'
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        status, out, err = ended_by_signal(strobe, number, busy)
        checks.check(f"{number.name} ends a report and its command",
                     status == 128 + signal.SIGTERM and "SYMBOL" in out and "killed by SIGTERM" in err
                     and "still" not in err, f"{status} {out!r} {err!r}")
    status, out, err = ended_by_signal(strobe, signal.SIGTERM, deaf, twice=True)
    checks.check("a command that does not listen is told of", status == 0 and "SYMBOL" in out
                 and "is still running: it was told to end" in err, f"{status} {out!r} {err!r}")


def usage(strobe):
    for name, arguments, wanted in (
        ("an unknown option", ["--no-such-option"], "no-such-option"),
        ("an unknown event", ["report", "-e", "cpu-clok"], "cpu-clok.*cpu-clock"),
        ("an unknown modifier", ["report", "-e", "cpu-clock:x"], "x"),
        ("a pid that is no number", ["report", "-p", "12x"], "12x"),
        ("a frequency of zero", ["report", "-F", "0"], "0"),
        ("a negative period", ["report", "-c", "-5"], "-5"),
        ("both frequency and period", ["report", "-F", "99", "-c", "1000"], "-F|-c|--freq"),
        ("a CPU list that ends early", ["report", "-C", "0-"], "0-"),
        ("a format that does not exist", ["report", "--format", "xml"], "xml"),
        ("a memory size without sense", ["report", "--memory", "12Q"], "12Q"),
        ("a command that is missing", ["report", "--"], "command"),
    ):
        refused(name, run([strobe, *arguments]), wanted, status=2)


def output(strobe, shares):
    with started([shares, "0"]) as work:
        with open("/dev/full", "w", encoding="ascii") as full:
            process = subprocess.run([strobe, "report", "--duration", "0.3", "-p", str(work.pid)],
                                     stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
        checks.check("a full disk under stdout", process.returncode == 1
                     and process.stderr.startswith(b"strobe: "), str(process))

        # A file opened first must not get the descriptor of a closed stream: the error would be
        # another one.
        process = subprocess.run(["sh", "-c", 'exec "$@" <&- >&-', "sh", strobe, "report", "--duration",
                                  "0.3", "-p", str(work.pid)],
                                 stderr=subprocess.PIPE, timeout=120, check=False)
        checks.check("standard input and output closed", process.returncode == 1
                     and b"it is closed" in process.stderr, str(process))

        result = run([strobe, "--duration", "0.5", "-p", str(work.pid)])
        checks.check("without a terminal the report is printed",
                     result.status == 0 and "SYMBOL" in result.out and "\x1b" not in result.out,
                     str(result))
        result = run([strobe, "report", "--duration", "0.5", "-p", str(work.pid)],
                     env={"XDG_CACHE_HOME": "/dev/null/x"})
        checks.check("a cache folder that cannot be", result.status == 0, str(result))


def terminals(strobe, shares):
    try:
        import pyte  # noqa: F401
    except ImportError:
        checks.skip("terminals", "python3-pyte is not installed")
        return
    with started([shares, "0"]) as work:
        tiny = Screen([strobe, "-p", str(work.pid)], 20, 5)
        seen = tiny.until(lambda text: text.strip() != "")
        tiny.send("q")
        checks.check("a 20x5 terminal", seen and tiny.wait() == 0, repr(tiny.text()))
        tiny.close()

        dumb = Screen([strobe, "--duration", "0.5", "-p", str(work.pid)], 80, 24, term="dumb")
        status = dumb.wait()
        checks.check("TERM=dumb", status == 0 and b"SYMBOL" in dumb.raw and b"\x1b" not in dumb.raw,
                     f"{status} {dumb.raw!r}")
        dumb.close()

        unknown = Screen([strobe, "--duration", "0.5", "-p", str(work.pid)], term="no-such-term")
        status = unknown.wait()
        checks.check("a TERM that terminfo does not know", status == 0 and b"SYMBOL" in unknown.raw,
                     f"{status} {unknown.raw!r}")
        unknown.close()


def sentences(strobe):
    """On a terminal, rows end between words; elsewhere a sentence is one line."""
    try:
        import pyte  # noqa: F401
    except ImportError:
        checks.skip("sentences on a terminal", "python3-pyte is not installed")
        return
    for name, columns, arguments in (
        ("a wrong command line", 30, ["report", "-e", "cpu-clok"]),
        ("a target that is gone", 40, ["report", "--duration", "1", "-p", "2147483646"]),
        ("the screen of it", 40, ["--duration", "1", "-p", "2147483646"]),
        ("nothing listed", 30, ["list", "no-such-event-here"]),
        ("a file that is not there", 30, ["export", "/nonexistent/it", "--format", "folded"]),
    ):
        line = run([strobe, *arguments]).err.split("strobe: ")[-1].split("\n")[0]
        screen = Screen([strobe, *arguments], columns)
        screen.wait()
        checks.check(f"{name}: words stay whole",
                     len(line) > columns and line in " ".join(screen.text().split()), f"{line!r} {screen.text()}")
        screen.close()


def few_descriptors(strobe, pid, user=None):
    """Each step of the start in turn runs out of descriptors."""
    for count in range(5, 18):
        for target in (["-p", str(pid)], ["--", "true"]):
            result = run(json_report(strobe, *target), user=user,
                         limits={resource.RLIMIT_NOFILE: count})
            good = result.status == 0 or re.search(f"RLIMIT_NOFILE is {count}.* ulimit -n [0-9]+",
                                                   result.err)
            checks.check(f"{count} file descriptors, {target[0]}, user {user or 'as we are'}",
                         not result.hung and result.status in (0, 1) and good, str(result))


def few_descriptors_for_files(strobe, shares):
    """The limit of open files and its remedy are named for recordings too, instead of the system's
    error text."""
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        data = os.path.join(folder, "data")
        run([strobe, "record", "-e", "cpu-clock", "-o", data, "--", shares, "1"])
        for words in (["report", data], ["export", data, "--format", "folded"], ["diff", data, data],
                      ["archive", data, "-o", os.path.join(folder, "tar")]):
            for count in range(6, 28):
                result = run([strobe, *words], limits={resource.RLIMIT_NOFILE: count})
                told = "limit of open files" in result.err and "ulimit -n" in result.err
                checks.check(f"{words[0]}: {count} file descriptors", not result.hung and result.status in (0, 1)
                             and (result.status == 0 or told) and "Too many open" not in result.out + result.err, str(result))


def few_descriptors_for_cpus(strobe):
    """Events that do not fit on all CPUs have no known coverage, and the limit named is enough."""
    if len(os.sched_getaffinity(0)) < 2:
        checks.skip("few file descriptors, -a", "one CPU")
        return
    events = ("page-faults,context-switches,cpu-migrations,minor-faults,major-faults,alignment-faults,"
              "emulation-faults,dummy,cpu-clock,task-clock")
    command = json_report(strobe, "-a", "-e", events)
    result = run(command, limits={resource.RLIMIT_NOFILE: 40})
    report = json.loads(result.out) if result.status == 0 else {"events": [], "notes": []}
    faults = [event["coverage_percent"] for event in report["events"] if event["name"] == "page-faults"]
    notes = " ".join(report["notes"])
    needed = re.search(r"too low for every event on every CPU\. Raise it with: ulimit -n ([0-9]+)", notes)
    checks.check("40 file descriptors, -a: coverage is not known", faults == [None], str(result))
    checks.check("40 file descriptors, -a: a note names the CPU and the limit",
                 needed and "on CPU " in notes and "with -a" not in notes, str(result))
    if needed:
        result = run(command, limits={resource.RLIMIT_NOFILE: int(needed.group(1))})
        checks.check("the limit that is named is enough",
                     result.status == 0 and "too low" not in result.out and "on CPU " not in result.out, str(result))


def deleted_files(strobe, shares, library):
    """Files that an ordinary user runs and has deleted: the program has names, the library a reason
    and a remedy."""
    if os.geteuid() != 0:
        checks.skip("deleted files of ordinary users", "only root can become one")
        return
    with public_copy(strobe, shares, library) as (strobe, shares, library):
        with started(["env", f"LD_LIBRARY_PATH={os.path.dirname(library)}", shares, "0"], user=NOBODY) as own:
            let_run(own.pid, 0.2)
            os.unlink(shares)
            os.unlink(library)
            result = run([strobe, "report", "--cache-dir", "", "--duration", "0.5", "-p", str(own.pid)], user=NOBODY)
            checks.check("an own program that is deleted has names", "shares_hot" in result.out, str(result))
            if "shares_warm" not in result.out:
                checks.check("an own library that is deleted: why, and the remedy", re.search(
                    "libshares_lib.so', which was deleted .Operation not permitted.*Restart its program, or let root",
                    " ".join(result.out.split())), str(result))


def fuse_of_another(strobe, shares, library):
    """The kernel lets only its owner into such a mount."""
    folder = tempfile.mkdtemp(prefix="strobe-test-fuse-")
    os.chmod(folder, 0o755)
    files = {os.path.basename(path): path for path in (shares, library)}
    try:
        with fuse.mounted(folder, files, owner=NOBODY):
            with started(["env", f"LD_LIBRARY_PATH={folder}", os.path.join(folder, "shares"), "0"], user=NOBODY) as own:
                let_run(own.pid, 0.2)
                result = run([strobe, "report", "--cache-dir", "", "--duration", "0.5", "-p", str(own.pid)])
                # One note covers both the program and its library, and names either.
                checks.check("a FUSE mount of another user is told", re.search(
                    f"shares(_lib.so)?' lies in a FUSE mount of user {NOBODY}.*strobe of that user sees names",
                    " ".join(result.out.split())), str(result))
                result = run([strobe, "report", "--cache-dir", "", "--duration", "0.5", "-p", str(own.pid)], user=NOBODY)
                checks.check("and that user sees names", "shares_hot" in result.out and "FUSE" not in result.out, str(result))
    except OSError as error:
        checks.skip("a FUSE mount of another user", str(error))
    finally:
        os.rmdir(folder)


def user_only_names(strobe):
    """An event without its refused kernel part has a name of its own, the same everywhere."""
    with tempfile.TemporaryDirectory(prefix="strobe-test-") as folder:
        os.chmod(folder, 0o777)
        recordings = [os.path.join(folder, name) for name in ("whole", "user")]
        for path, user in zip(recordings, (None, NOBODY)):
            run([strobe, "record", "-e", "page-faults", "-c", "1", "-o", path, "--", "true"], user=user)
        shape, command = ["-e", "page-faults", "--format", "json"], ["--", "true"]
        found = {name: run([strobe, *arguments], user=user) for name, arguments, user in (
            ("report", ["report", *shape, *command], NOBODY), ("stat", ["stat", *shape, *command], NOBODY),
            ("a recording", ["report", recordings[1], "--format", "json"], None))}
        diff = run([strobe, "diff", *recordings])
        asked = run([strobe, "report", "-e", "page-faults", recordings[1]])
        both = os.path.join(folder, "both")
        run([strobe, "record", "-e", "page-faults,page-faults:u", "-c", "1", "-o", both, "--", "true"], user=NOBODY)
        two = run([strobe, "report", "--format", "json", both])
        one = run([strobe, "report", "--format", "json", "-e", "page-faults", both])
    checks.check("an event is found by the name that was asked for", re.search(r"page-faults:u.*: \d+ samples", asked.out), str(asked))
    names = [re.findall(r'"name":"(page-faults[^"]*)"', result.out) for result in (two, one)]
    checks.check("two events have two names", names == [["page-faults", "page-faults:u"], ["page-faults"]], str(names))
    for name, result in found.items():
        checks.check(f"{name}: an event without the kernel is named so", '"name":"page-faults:u"' in result.out, str(result))
    checks.check("diff: an event with the kernel and one without it are two",
                 re.search("page-faults:u is in .*user alone", diff.out), str(diff))


def ordinary_user(strobe, shares, library):
    if os.geteuid() != 0:
        checks.skip("ordinary users", "only root can become one")
        return
    with public_copy(strobe, shares, library) as (strobe, shares, _):
        with started([shares, "0"]) as roots, started([shares, "0"], user=NOBODY) as own:
            with sysctl(PARANOID, 2):
                profiled("paranoid 2: an own process, user space only",
                         run(json_report(strobe, "-p", str(own.pid)), user=NOBODY), "user")
                refused("paranoid 2: somebody else's process",
                        run(json_report(strobe, "-p", str(roots.pid)), user=NOBODY),
                        str(roots.pid), "permi|allow|belongs")
                refused("paranoid 2: the whole machine",
                        run(json_report(strobe, "-a"), user=NOBODY), "perf_event_paranoid",
                        "CAP_PERFMON")
                profiled("paranoid 2: nothing named: the user's own processes",
                         run(json_report(strobe), user=NOBODY))
                profiled("paranoid 2: a command",
                         run(json_report(strobe, "--", "sh", "-c", f"{shares} 1 >/dev/null"),
                             user=NOBODY))
                for command in ("report", "stat"):
                    refused(f"paranoid 2: strobe {command} of what the kernel alone does",
                            run([strobe, command, "-e", "cpu-clock/name=mine/k", "--", "true"],
                                user=NOBODY), "mine", "perf_event_paranoid")
                profiled("64 KiB of locked memory",
                         run(json_report(strobe, "-p", str(own.pid)), user=NOBODY,
                             limits={resource.RLIMIT_MEMLOCK: 65536}))
                profiled("64 file descriptors",
                         run(json_report(strobe, "-p", str(own.pid)), user=NOBODY,
                             limits={resource.RLIMIT_NOFILE: 64}))
                few_descriptors(strobe, own.pid, user=NOBODY)
                user_only_names(strobe)
                result = run([strobe, "doctor"], user=NOBODY)
                checks.check("doctor as an ordinary user",
                             result.status == 0 and "perf_event_paranoid" in result.out
                             and "\x1b" not in result.out, str(result))
            with sysctl(PARANOID, 0):
                profiled("paranoid 0: the whole machine, with the kernel",
                         run(json_report(strobe, "-a"), user=NOBODY))
            with sysctl(PARANOID, -1):
                profiled("paranoid -1: the whole machine",
                         run(json_report(strobe, "-a"), user=NOBODY))
            for level in (3, 4):
                with sysctl(PARANOID, level):
                    # Levels above 2 come from a distribution's patch; other kernels treat them like
                    # 2.
                    result = run(json_report(strobe, "-p", str(own.pid)), user=NOBODY)
                    if result.status == 0:
                        profiled(f"paranoid {level}: means 2 on this kernel", result)
                    else:
                        refused(f"paranoid {level}: refused", result, "perf_event_paranoid")


def scarce(strobe, shares, threads):
    with started([shares, "0"]) as work:
        profiled("64 file descriptors as root", run(json_report(strobe, "-p", str(work.pid)),
                                                   limits={resource.RLIMIT_NOFILE: 64}))
        few_descriptors(strobe, work.pid)
    few_descriptors_for_files(strobe, shares)
    few_descriptors_for_cpus(strobe)
    with started([threads, "200"]) as work:
        result = run(json_report(strobe, "-p", str(work.pid)), limits={resource.RLIMIT_NOFILE: 64})
        checks.check("200 threads and 64 descriptors: says so, profiles what it can",
                     not result.hung and re.search("RLIMIT_NOFILE|file descriptors|ulimit -n",
                                                   result.err + result.out) is not None,
                     str(result))
    with started([shares, "0"]) as work, tempfile.TemporaryDirectory() as folder:
        quiet = ["unshare", "-m", "sh", "-c",
                 "umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec \"$@\"", "sh"]
        profiled("no tracefs", run(quiet + json_report(strobe, "-p", str(work.pid)),
                                   env={"TMPDIR": folder}))


def filters(strobe):
    """The kernel only returns EINVAL for a filter; strobe's sentence names the existing fields."""
    if os.geteuid() != 0:
        checks.skip("filters of tracepoints", "only root may open tracepoints")
        return
    if not os.path.isdir("/sys/kernel/tracing/events"):
        checks.skip("filters of tracepoints", "tracefs is not mounted")
        return
    event = ["-a", "--duration", "0.2", "-e", "sched:sched_switch", "--filter"]
    wanted = ["has no field 'prev_pidd'", "fields are: .*prev_pid"]
    refused("a filter with a field that is not there",
            run([strobe, "report", *event, "prev_pidd != 0"]), *wanted)
    refused("the same of strobe stat", run([strobe, "stat", *event, "prev_pidd != 0"]), *wanted)
    refused("a filter with an open quote", run([strobe, "stat", *event, 'prev_comm == "a']),
            "no expression", "fields are: .*prev_pid")
    refused("a filter that is no expression", run([strobe, "stat", *event, "prev_pid == "]),
            "no expression", "fields are: .*prev_pid")
    refused("strobe stat cannot count, not sample",
            run([strobe, "stat", "-a", "-C", "4000", "-e", "cpu-clock", "--duration", "0.2"]),
            "cannot count 'cpu-clock'")


def rights(strobe, shares, library):
    """Events that no setting permits, and for which capabilities are useless: strobe names the
    cause and the remedy."""
    if os.geteuid() != 0:
        checks.skip("events that need CAP_SYS_ADMIN", "only root can give away what it may")
        return
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    perfmon = [*become, "--inh-caps=+perfmon", "--ambient-caps=+perfmon"]
    # Any kernel address will do: the kernel checks permission before the address.
    breakpoint = "mem:0xffffffff81000100:w"
    wrong = ("security module", "seccomp", "modifier :u")
    with public_copy(strobe, shares, library) as (strobe, shares, _), started(["sleep", "600"]) as roots:
        probe = f"uprobe:{shares}:main"
        for name, who in (("an ordinary user", become), ("CAP_PERFMON", perfmon), ("a user namespace", ["unshare", "-Ur"])):
            for command in ("stat", "report"):
                for event, cause in ((probe, "a probe changes code"), (breakpoint, "a breakpoint in the kernel stops")):
                    result = run([*who, strobe, command, "-e", event, "--", "true"], cwd="/")
                    helps = "user namespace.*as root outside of it" if who[0] == "unshare" else "Run strobe as root"
                    if who[0] == "unshare" and "unshare" in result.err.split("strobe: ")[0]:
                        checks.skip(f"{command} -e {event}", "no user namespaces here")
                        continue
                    refused(f"{name}: strobe {command} -e {event.split(':')[0]}", result, cause, "CAP_SYS_ADMIN", helps)
                    said = [text for text in wrong if text in result.err]
                    checks.check(f"{name}: no wrong cause, strobe {command} -e {event.split(':')[0]}", not said, str(result))
        with sysctl(PARANOID, 2):
            silenced(strobe)
            refused("a user namespace: strobe stat of the whole machine", run(["unshare", "-Ur", strobe, "stat", "-a"], cwd="/"),
                    "whole CPUs.*user namespace.*outside of it")
            refused("strobe stat of somebody else's process", run([strobe, "stat", "-p", str(roots.pid)], user=NOBODY, cwd="/"),
                    "belongs to another user")
            refused("strobe stat of an address that cannot be watched",
                    run([strobe, "stat", "-e", "mem:0x1001:w", "--", "true"], user=NOBODY, cwd="/"), "no multiple")


def pid_namespace(strobe, shares):
    """A container's pid namespace hides the pids of other processes: strobe says so, and does not
    take their work for idle."""
    if os.geteuid() != 0:
        checks.skip("a pid namespace", "only root can make one")
        return
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    with contextlib.ExitStack() as stack:
        for _ in range(2 * os.cpu_count()):
            stack.enter_context(started([shares, "0"]))
        result = run(inside + json_report(strobe, "-a", "--no-idle"))
        try:
            event = json.loads(result.out)["events"][0]
            unknown = sum(row["self_percent"] for row in event["rows"]
                          if row["symbol"] == "[unknown]")
        except (ValueError, KeyError, IndexError):
            unknown = -1
        checks.check("a pid namespace is told of, and the others' work is not hidden",
                     result.status == 0 and unknown > 0 and "pid namespace" in result.err,
                     f"{unknown}% unknown; {result}")
        checks.amount("the others' work in a pid namespace has its share", unknown > 20,
                      f"{unknown}% unknown; {result}")
        data = os.path.join(os.environ["XDG_CACHE_HOME"], "inside.data")
        run(inside + [strobe, "record", "-a", "-e", "cpu-clock", "--duration", "0.5", "-o", data])
        result = run([strobe, "report", "--no-idle", "--format", "json", data])
        rows = json.loads(result.out)["events"][0]["rows"]
        work = sum(row["samples"] for row in rows if row["symbol"] == "[unknown]")
        checks.check("a recording of a pid namespace: the others' work is not hidden outside of it", work > 0, str(result))
        for form in ("folded", "script"):
            result = run([strobe, "export", "--no-idle", "--format", form, data])
            checks.check(f"nor in exports: {form}", result.status == 0 and "[unknown]" in result.out, result.out[:2000])
        result = run(inside + [strobe, "export", "-a", "--no-idle", "--format", "folded", "-e", "cpu-clock", "--duration", "0.5"])
        checks.check("nor in exports of a pid namespace itself", "[unknown]" in result.out, str(result))
        result = run(inside + [strobe, "doctor"])
        checks.check("doctor in a pid namespace", "in a pid namespace" in result.out, str(result))
    result = run(json_report(strobe, "-a"))
    checks.check("no pid namespace, nothing is told of one",
                 os.stat("/proc/self/ns/pid").st_ino != 0xEFFFFFFC
                 or "pid namespace" not in result.err + result.out, str(result))


def main():
    strobe, shares, threads, library = (os.path.abspath(path) for path in sys.argv[1:5])
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        targets(strobe, shares)
        commands(strobe)
        signals(strobe)
        usage(strobe)
        output(strobe, shares)
        terminals(strobe, shares)
        sentences(strobe)
        ordinary_user(strobe, shares, library)
        deleted_files(strobe, shares, library)
        with public_copy(strobe) as (copy,):
            fuse_of_another(copy, shares, library)
        rights(strobe, shares, library)
        scarce(strobe, shares, threads)
        filters(strobe)
        pid_namespace(strobe, shares)
        left = leftovers(strobe)
        checks.check("nothing is left running", not left, f"still there: {left}")
    checks.finish()


if __name__ == "__main__":
    main()
