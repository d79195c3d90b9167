#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching to independent programs, and whether the counts add up.

usage: targets.py STROBE SHARES NAMES FORKS
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, Screen, cpu_seconds, let_run, rings_settle, run, started  # noqa: E402

checks = Checks()

NODE = "let x = 0; console.log('ready'); for (;;) x = (x * 31 + JSON.stringify({x}).length) % 65521;"
PYTHON = "print('ready', flush=True)\nwhile True: sum(i * i for i in range(1000))\n"
JAVA = """
public class Busy {
    static long spin(long n) { long x = 1; for (long i = 0; i < n; i++) x = x * 31 + i; return x; }
    public static void main(String[] a) throws Exception {
        System.out.println("ready");
        for (;;) if (spin(1000000) == 42) System.out.println("never");
    }
}
"""
CXX = """
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>
namespace busy {
template <typename T> __attribute__((noinline)) T grind(T seed, int n)
{
    for (int i = 0; i < n; i++)
        seed = seed * 31 + static_cast<T>(i ^ (seed >> 3));
    return seed;
}
}
int main()
{
    std::atomic<unsigned long> sum{0};
    std::vector<std::thread> threads;
    std::puts("ready");
    std::fflush(stdout);
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&sum, t] {
            for (;;)
                sum += busy::grind<unsigned long>(static_cast<unsigned long>(t), 100000);
        });
    for (auto &thread : threads)
        thread.join();
}
"""
LEADER = """
#include <pthread.h>
#include <unistd.h>
static volatile unsigned long turns;
__attribute__((noinline)) void outlives_its_leader(void) { for (;;) turns++; }
static void *run(void *unused) { outlives_its_leader(); return unused; }
int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, run, 0) || write(1, "ready\\n", 6) != 6)
        return 1;
    pthread_exit(0);
}
"""
NAMELESS = """
#include <sys/mman.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    static const unsigned char loop[] = {0xeb, 0xfe}, loop_arm[] = {0, 0, 0, 0x14};
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef __aarch64__
    memcpy(page, loop_arm, sizeof(loop_arm));
#else
    memcpy(page, loop, sizeof(loop));
#endif
    __builtin___clear_cache(page, (char *)page + 4096);
    if (write(1, "ready\\n", 6) == 6)
        ((void (*)(void))page)();
}
"""
SLEEPING_LEADER = """
import threading
def work():
    print("ready", flush=True)
    while True: pass
threading.Thread(target=work, daemon=True).start()
threading.Event().wait()
"""
FORKS = "echo ready; while :; do i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done; done"


def report(strobe, *arguments, duration="1", timeout=60):
    result = run([strobe, "report", "--duration", duration, "--format", "json", *arguments],
                 timeout=timeout)
    try:
        return json.loads(result.out), result
    except ValueError:
        return None, result


def rows_of(found):
    return [row for event in found["events"] for row in event["rows"]] if found else []


def is_counted(event):
    """Return whether an event reports no more hits than the kernel counted."""
    return event["samples"] > 0 and told(event) <= event["count"]


def told(event):
    return sum(event.get(key, 0) for key in ("samples", "lost", "filtered", "held_back"))


def is_whole(event):
    """Return whether all hits that the kernel counted are sampled, lost, filtered or held back.

    Another profiler makes the kernel count a few hits of CPU events without samples
    (doc/decisions/023-*).  strobe must report them as held back."""
    return event["count"] - told(event) <= os.cpu_count() and event["held_back"] <= event["count"] / 100


def check_sums(name, found, result):
    event = found["events"][0] if found else {}
    shown = (f"{ {k: v for k, v in event.items() if k != 'rows'} } "
             f"{found and found['unknown_records']} unknown {result.err}")
    if checks.check(f"{name}: no more than was counted", bool(event) and is_counted(event), shown):
        checks.amount(name, is_whole(event), shown)


def attach(strobe, name, command, wanted, wait_for="ready", least=0):
    """Attach to a running command: it has samples, and self shares that sum to 100.

    One row satisfies `wanted`, and has more than `least` percent."""
    with started(command, wait_for=wait_for) as work:
        found, result = report(strobe, "-p", str(work.pid))
        rows = rows_of(found)
        total = sum(row["self_percent"] for row in rows)
        checks.check(name, result.status == 0 and len(rows) > 0 and abs(total - 100) < 1
                     and any(wanted(row) for row in rows[:40]),
                     f"sum {total}, first rows {rows[:5]}, {result.err}")
        if least:
            checks.amount(f"{name}: nearly all of its time",
                          any(wanted(row) and row["self_percent"] > least for row in rows[:40]),
                          f"first rows {rows[:5]}, {result.err}")


def programs(strobe, folder):
    if shutil.which("node"):
        attach(strobe, "node", ["node", "-e", NODE], lambda row: "node" in row["image"] or
               "anon" in row["image"])
    else:
        checks.skip("node", "node is not installed")

    java = shutil.which("java") and shutil.which("javac")
    if java:
        with open(os.path.join(folder, "Busy.java"), "w", encoding="ascii") as source:
            source.write(JAVA)
        subprocess.run(["javac", "-d", folder, os.path.join(folder, "Busy.java")], check=True)
        attach(strobe, "java", ["java", "-cp", folder, "Busy"], lambda row: row["self_percent"] > 0)
    else:
        checks.skip("java", "no java and javac here")

    attach(strobe, "python3", [os.path.realpath(sys.executable), "-c", PYTHON],
           lambda row: "python" in row["image"] or "Py" in row["symbol"])

    if shutil.which("g++"):
        source, program = os.path.join(folder, "busy.cc"), os.path.join(folder, "busy")
        with open(source, "w", encoding="ascii") as out:
            out.write(CXX)
        subprocess.run(["g++", "-O1", "-fno-omit-frame-pointer", "-pthread", "-o", program, source],
                       check=True)
        attach(strobe, "a C++ program with 8 threads, names demangled", [program],
               lambda row: "busy::grind<unsigned long>" in row["symbol"], least=80)
    else:
        checks.skip("a C++ program", "g++ is not installed")

    program = os.path.join(folder, "leader")
    if subprocess.run([shutil.which("cc") or "gcc", "-O1", "-pthread", "-x", "c", "-o", program, "-"],
                      input=LEADER, text=True, check=False).returncode == 0:
        attach(strobe, "a process whose first thread has ended", [program],
               lambda row: row["symbol"] == "outlives_its_leader", least=80)
    else:
        checks.skip("a process whose first thread has ended", "no C compiler")

    attach(strobe, "a shell that forks thousands of processes", ["sh", "-c", FORKS],
           lambda row: row["image"].startswith("[kernel") or "libc" in row["image"])


def counts(strobe, shares):
    """Samples + lost = the kernel's count; an event of period 1 counts itself."""
    with started(["sh", "-c", FORKS], wait_for="ready") as work:
        for scope in ("task", "cpu", "inherit"):
            found, result = report(strobe, "-p", str(work.pid), "-e", "page-faults", "-c", "1",
                                   "--scope", scope)
            check_sums(f"samples and lost add up to the count, scope {scope}", found, result)
    # Another profiler has the same event: the kernel gives samples the id of the first event.  That
    # is a task's event, which precedes the CPU's events at every switch.
    with started(["sh", "-c", FORKS], wait_for="ready") as work, \
            started([strobe, "report", "-p", str(work.pid), "--scope", "inherit", "-e", "page-faults",
                     "-c", "1", "--duration", "60"]):
        found, result = report(strobe, "-p", str(work.pid), "-e", "page-faults", "-c", "1",
                               "--scope", "cpu", duration="3")
        check_sums("they add up beside another profiler of the same event", found, result)
    with started([shares, "0"]) as work:
        for extra in ([], ["--no-credit"], ["--no-call-graph"]):
            found, result = report(strobe, "-p", str(work.pid), "-F", "20000", *extra)
            event = found["events"][0] if found else {}
            rows = sum(row["samples"] for row in event.get("rows", []))
            checks.check(f"the rows' samples add up to the event's {' '.join(extra)}",
                         found is not None and rows == event["samples"] > 0,
                         f"rows {rows}, { {k: v for k, v in event.items() if k != 'rows'} }")


def hostile_names(strobe, names):
    """Escape sequences in names of commands and symbols reach no output unescaped."""
    with started([names]) as work:
        for form in ("text", "csv", "json"):
            result = run([strobe, "report", "--duration", "0.5", "--format", form, "-p",
                          str(work.pid)])
            raw = [c for c in result.out + result.err if ord(c) < 32 and c not in "\n\r\t"
                   or 0x7f <= ord(c) < 0xa0]
            checks.check(f"escape sequences in names, {form}", result.status == 0 and not raw,
                         f"{raw[:5]} in {result}")


def executes(strobe, shares):
    """A followed process that executes another program gets the new program's name, even after it
    has ended."""
    waiting = ["sh", "-c", 'echo ready; read line; exec "$0" 0', shares]

    def begin():
        process = subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        return process

    def go_on(process):
        process.stdin.write("go\n")
        process.stdin.flush()

    with begin() as process:
        screen = Screen([strobe, "-p", str(process.pid)], 100, 30)
        try:
            checks.check("the title has the first name", screen.until(f"sh ({process.pid})"), screen.text())
            go_on(process)
            checks.check("the title has the new program's name", screen.until(f"shares ({process.pid})"), screen.text())
            process.kill()
            process.wait()
            checks.check("and keeps it when it has ended", screen.until("ended") and f"shares ({process.pid})" in screen.text(),
                         screen.text())
        finally:
            screen.close()
    with begin() as process:
        reporting = subprocess.Popen([strobe, "report", "-p", str(process.pid), "-F", "499"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
        rings_settle(reporting, 1)
        go_on(process)
        let_run(process.pid, 0.3)
        process.kill()
        process.wait()
        out, err = reporting.communicate(timeout=60)
        checks.check("a report has the new name of a process that has ended", out.startswith(f"shares ({process.pid})"), out + err)


def state_of_thread(strobe):
    """The view of threads shows each thread's own state, not that of its process."""
    with started(["/usr/bin/python3", "-c", SLEEPING_LEADER], wait_for="ready") as process:
        tid = next(name for name in os.listdir(f"/proc/{process.pid}/task") if name != str(process.pid))
        screen = Screen([strobe, "-p", str(process.pid)], 120, 30)
        try:
            screen.until("%")
            screen.send("t")
            checks.check("a busy thread of a sleeping process is running",
                         screen.until(lambda text: re.search(rf"\b{tid}\b.*\brunning\b", text)), screen.text())
        finally:
            screen.close()


def executes_while_counted(strobe, shares):
    """Counts also get the new name, for a command that ends and a process that continues."""
    counts = [strobe, "stat", "--format", "json", "-e", "task-clock", "--per"]
    for per in ("process", "thread"):
        result = run([*counts, per, "--", "sh", "-c", f"exec {shares} 1 >/dev/null"])
        checks.check(f"a command that executes another is counted under the new name: per {per}",
                     '"command":"shares"' in result.out and '"command":"sh"' not in result.out, str(result))
    link = os.path.join(os.environ["XDG_CACHE_HOME"], "shares-with-a-long-name")
    os.symlink(shares, link)
    result = run([*counts, "process", "--", link, "1"])
    checks.check("a long name is whole", '"command":"shares-with-a-long-name"' in result.out, str(result))
    waiting = ["sh", "-c", 'read line; exec "$0" 0', shares]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        # The timing command lets the process continue, and ends after the exec.
        result = run([*counts, "process", "-p", str(process.pid), "--", "sh", "-c",
                      f"echo > /proc/{process.pid}/fd/0; until grep -q shares /proc/{process.pid}/comm; do :; done"])
        process.kill()
        checks.check("a process that executes another while it is counted has the new name",
                     f'"target":"shares ({process.pid})"' in result.out and '"command":"shares"' in result.out, str(result))


def nameless(strobe, folder):
    """The hottest named function may have almost no samples: strobe says so."""
    path = os.path.join(folder, "nameless")
    with open(path + ".c", "w", encoding="ascii") as file:
        file.write(NAMELESS)
    if subprocess.run(["cc", "-o", path, path + ".c"], check=False).returncode:
        checks.skip("annotate of code without names", "no C compiler")
        return
    with started([path], wait_for="ready") as work:
        result = run([strobe, "annotate", "--duration", "1", "-p", str(work.pid)])
        said = " ".join((result.out + result.err).split())
        checks.check("annotate says if the hottest code has no name", "lie in code whose functions are not known, such as [anon]" in said
                     or "no function has a name" in said, str(result))


def processes(strobe, recording, *more):
    """Return the samples of each process."""
    found = json.loads(run([strobe, "report", "--format", "json", "--group", "process", *more, recording]).out)
    return {row["process"]: row["samples"] for row in rows_of(found)}


def stopwatch(strobe, shares, folder):
    """A command given with a target only sets the sampling time, as with perf; it is not part of
    the target."""
    data, busy = os.path.join(folder, "stopwatch.data"), ["sh", "-c", "echo $$; i=0; "
                                                          "while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 3"]
    with started([shares]) as work:
        for name, target in {"-p": ["-p", str(work.pid)], "-t": ["-t", str(work.pid)],
                             "-p, -C": ["-p", str(work.pid), "-C", ",".join(map(str, sorted(os.sched_getaffinity(0))))]}.items():
            before = cpu_seconds(work.pid)
            result = run([strobe, "record", "-o", data, "-e", "cpu-clock", *target, "--", *busy])
            found, used = processes(strobe, data), cpu_seconds(work.pid) - before
            checks.check(f"{name} while a command runs: only what was named", result.status == 3 and list(found) == [work.pid]
                         and "ended with status 3" in result.err, f"{found} {result}")
            checks.amount(f"{name} while a command runs: not longer", found.get(work.pid, 0) / 997 < used + 0.1,
                          f"{found}, {used} s")
        for name, target in {"-a": ["-a"], "-C": ["-C", f"0-{os.cpu_count() - 1}"]}.items():
            result = run([strobe, "record", "-o", data, "-e", "cpu-clock", *target, "--", *busy])
            found, command = processes(strobe, data), int(result.out)
            checks.check(f"{name} while a command runs: the command as well", result.status == 3
                         and {work.pid, command} <= set(found), f"{command}: {found} {result}")
        before = cpu_seconds(work.pid)
        result = run([strobe, "stat", "--format", "json", "-e", "task-clock", "-p", str(work.pid), "--", *busy])
        used = cpu_seconds(work.pid) - before
        counted = json.loads(result.out[result.out.index("{"):])["events"][0]["count"] / 1e9
        checks.check("stat -p while a command runs", result.status == 3 and 0 < counted < used + 0.1, f"{used} {result}")
    result = run([strobe, "record", "-o", data, "-p", str(work.pid), "--", "sh", "-c", "echo never"])
    checks.check("a stopwatch of what is gone does not start", result.status == 1 and not result.out, str(result))


def missed(strobe, forks):
    """Tasks that begin and end while strobe is stopped are reported, each of them."""
    wanted = 200
    command = ["sh", "-c", 'kill -STOP $PPID; "$@" >&2; kill -CONT $PPID', "sh", forks, str(wanted // 2)]
    found, result = report(strobe, "--scope", "task", "-e", "cpu-clock", "--", *command, duration="60")
    # The program that makes the tasks is a task, too.
    checks.check("tasks that ended before their events could be opened", found is not None
                 and (found["side_band_lost"] or wanted <= found["tasks_missed"] <= wanted + 1),
                 f"{found and found['tasks_missed']} of {wanted}: {result.err}")


def main():
    strobe, shares, names, forks = (os.path.abspath(path) for path in sys.argv[1:5])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        programs(strobe, folder)
        counts(strobe, shares)
        hostile_names(strobe, names)
        executes(strobe, shares)
        nameless(strobe, folder)
        executes_while_counted(strobe, shares)
        stopwatch(strobe, shares, folder)
        missed(strobe, forks)
    checks.finish()


if __name__ == "__main__":
    main()
