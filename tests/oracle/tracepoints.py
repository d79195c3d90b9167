#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares lines of tracepoints with the text of the kernel and of perf script.

formats: strobe knows all formats of this machine; each gives a line by its print format, except for
a few.
kernel: both the kernel and strobe print the records of one ring buffer of ftrace.
perf: both perf script and strobe export print the samples of one recording.  If they differ, the
kernel's text decides.

usage: tracepoints.py STROBE DUMP formats|kernel|perf [all]
"""

import collections
import glob
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402

checks = Checks()
TRACEFS = next((path for path in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
                if os.path.exists(path + "/events")), None)
FALLBACKS_MAX = 8
# Printed by functions of their own, not by their print formats.
OWN_TEXT = ("syscalls", "ftrace")
# Values that only the printing kernel knows: its addresses, its clock, the bits of its enumerators.
KNOWN_BY_KERNEL = re.compile(r"\b(vmemmap_base|jiffies)\b")
SAMPLE = ("sched", "timer", "signal", "task", "block", "ext4", "jbd2", "writeback", "tcp", "sock", "skb", "net", "udp",
          "kmem", "irq", "workqueue", "filemap", "vmscan", "exceptions", "mmap", "maple_tree", "rcu", "fib", "neigh", "cgroup",
          "migrate", "oom", "printk", "module", "filelock", "ipi", "napi", "qdisc", "raw_syscalls", "power", "notifier", "csd",
          "percpu", "tlb", "iomap", "huge_memory", "compaction", "pagemap")
SYSCALLS = re.compile(r"/sys_(enter|exit)_(openat|read|write|close|mmap|munmap|clone|wait4|socket|connect|accept4|sendto|recvfrom|"
                      r"rename|mkdir|unlink|fsync|fallocate|rt_sigaction|setitimer|execve|exit_group|newfstatat|brk)/")
# Number of events that strobe can distinguish in one recording.
AT_ONCE = 60
# A frame's line, which is all that is printed if the text is missing.
PLACE = re.compile(r"^\s*[0-9a-f]{16} .*\)$")
OFTEN = 1000


def is_made(subsystem):
    """Returns whether the subsystem consists of probes, which come and go."""
    return re.match(r"strobe_|[ku]probes$|perf|probe_", subsystem)


def formats():
    return sorted(path for path in glob.glob(TRACEFS + "/events/*/*/format") if not is_made(name_of(path)))


def name_of(path):
    return "/".join(path.split("/")[-3:-1])


def load(folder):
    """Fires events of all kinds that need no module and no special hardware."""
    path = os.path.join(folder, "file")
    with open(path, "wb") as file:
        for i in range(40):
            file.write(os.urandom(65536))
            if not i % 8:
                file.flush()
                os.fsync(file.fileno())
        os.posix_fallocate(file.fileno(), 1 << 22, 1 << 22)
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 16):
            pass
    for i in range(20):
        os.mkdir(f"{path}.{i}")
        os.symlink(path, f"{path}.{i}/link")
        os.link(path, f"{path}.{i}/hard")
        os.rename(f"{path}.{i}/hard", f"{path}.{i}/other")
        os.unlink(f"{path}.{i}/other")
        os.unlink(f"{path}.{i}/link")
        os.rmdir(f"{path}.{i}")
    os.truncate(path, 1000)
    os.unlink(path)
    subprocess.run(["sh", "-c", f"dd if=/dev/zero of={path}.dd bs=64k count=64 conv=fsync; sync; cat {path}.dd > /dev/null; "
                    f"rm {path}.dd; for i in 1 2 3 4 5; do /bin/true; done; kill -USR1 $$; :"], capture_output=True, check=False)
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        talk(family, address)
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for _ in range(20):
        time.sleep(0.003)
    signal.setitimer(signal.ITIMER_REAL, 0)
    for _ in range(10):
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
    os.sync()


def talk(family, address):
    """Makes connections that end well, one that is refused, one that is reset, and datagrams."""
    try:
        server = socket.socket(family, socket.SOCK_STREAM)
        server.bind((address, 0))
    except OSError:
        return
    server.listen(8)
    for i in range(8):
        client = socket.create_connection(server.getsockname()[:2])
        other, _ = server.accept()
        client.sendall(b"x" * 100000)
        if i:
            client.shutdown(socket.SHUT_WR)
            while other.recv(65536):
                pass
        other.close()
        client.close()
    port = server.getsockname()[1]
    server.close()
    refused = socket.socket(family, socket.SOCK_STREAM)
    refused.connect_ex((address, port))
    refused.close()
    first, second = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_DGRAM)
    first.bind((address, 0))
    for _ in range(8):
        second.sendto(b"y" * 500, first.getsockname())
        first.recv(1000)
    first.close()
    second.sendto(b"z", (address, port))
    second.close()


def run_dump(dump, commands):
    done = subprocess.run([dump, TRACEFS], input=("\n".join(commands) + "\n").encode(), capture_output=True, check=False,
                          timeout=600)
    checks.check("the tool ends well", done.returncode == 0, done.stderr[-300:])
    # Only LF ends a line here: texts may have other line ends.
    return [line.decode("utf-8", "replace").split("\t", 1) for line in done.stdout.split(b"\n") if line]


# --- formats ---

def check_formats(dump):
    paths = formats()
    commands = []
    for path in paths:
        commands += ["format " + path, "raw " + "00" * 512, "raw " + "01" * 512]
    lines = run_dump(dump, commands)
    causes, bad = collections.Counter(), []
    for i, path in enumerate(paths):
        made = {line[0] for line in lines[2 * i:2 * i + 2]}
        for how in made:
            causes[how] += 1
        if made != {"format"}:
            bad.append(name_of(path))
    print("made by:", dict(causes), "of", len(paths))
    print("name=value:", " ".join(bad))
    checks.check("formats: each is understood but for few", paths and len(bad) <= FALLBACKS_MAX, " ".join(bad))
    checks.check("formats: none is without a line", not causes["none"], causes)


# --- the kernel's own text ---

def raw_records(path):
    """Reads an ftrace ring buffer (Documentation/trace/ring-buffer-design.rst).

    The events are raw data, oldest first.
    """
    out, lost = [], False
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    while True:
        try:
            page = os.read(fd, 65536)
        except BlockingIOError:
            break
        if len(page) < 16:
            break
        commit = struct.unpack_from("=Q", page, 8)[0]
        lost |= bool(commit & 1 << 31)
        at, end = 16, 16 + (commit & 0xfffff)
        while at + 4 <= end:
            head = struct.unpack_from("=I", page, at)[0]
            kind, delta = head & 31, head >> 5
            at += 4
            if kind == 29:
                if not delta:
                    break
                at += struct.unpack_from("=I", page, at)[0]
            elif kind in (30, 31):
                at += 4
            elif kind == 0:
                size = struct.unpack_from("=I", page, at)[0]
                out.append(page[at + 4:at + size])
                at += size
            else:
                out.append(page[at:at + 4 * kind])
                at += 4 * kind
    os.close(fd)
    return out, lost


def normal(text):
    """Returns the text with addresses in one form.

    perf and strobe write 0x12.  The kernel writes all digits, and the length of a function.
    """
    text = text.replace("(nil)", "0x0")
    text = re.sub(r"(\+0x[0-9a-f]+)/0x[0-9a-f]+( \[\w+\])?", r"\1", text)
    text = re.sub(r"(?<![0-9a-fx])([0-9a-f]{16})(?![0-9a-f])", lambda match: hex(int(match.group(1), 16)), text)
    return " ".join(text.split())


def record_with_ftrace(subsystems, folder):
    """Returns [(event, raw, text)] of the events that fired."""
    instance = f"{TRACEFS}/instances/strobe_test_{os.getpid()}"
    found = []

    def put(name, text):
        with open(f"{instance}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    os.mkdir(instance)
    try:
        put("tracing_on", "0")
        put("buffer_size_kb", "8000")
        put("options/hash-ptr", "0")
        for subsystem in subsystems:
            if os.path.isdir(f"{instance}/events/{subsystem}") and subsystem not in OWN_TEXT:
                put(f"events/{subsystem}/enable", "1")
        put("tracing_on", "1")
        load(folder)
        put("tracing_on", "0")
        put("events/enable", "0")
        for cpu in sorted(glob.glob(instance + "/per_cpu/cpu*")):
            found += pairs(cpu)
    finally:
        os.rmdir(instance)
    return found


def pairs(cpu):
    ids = {}
    for path in glob.glob(TRACEFS + "/events/*/*/id"):
        if is_made(name_of(path)):
            continue
        with open(path, encoding="ascii") as file:
            ids[int(file.read())] = name_of(path)
    with open(cpu + "/trace", "rb") as file:
        text = file.read().decode("utf-8", "replace")
    raws, _ = raw_records(cpu + "/trace_pipe_raw")
    head = re.compile(r"^ *.{1,16}-\d+ +(?:\([ \d-]+\) +)?\[\d+\] +\S+ +\d+\.\d+: (\w+): ?(.*)$")
    out, at = [], 0
    for line in text.split("\n"):
        match = head.match(line)
        if not match:
            # The text of a message may have several lines.
            if out and not line.startswith("#"):
                out[-1] = (*out[-1][:2], out[-1][2] + "\n" + line)
            continue
        # A record may have no line in this form, if the kernel prints it otherwise.
        for ahead in range(at, min(at + 50, len(raws))):
            name = ids.get(struct.unpack_from("=H", raws[ahead])[0], "?")
            if name.split("/")[1:] == [match.group(1)]:
                out.append((name, raws[ahead], match.group(2)))
                at = ahead + 1
                break
    return out


def check_kernel(dump, subsystems):
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        found = [entry for entry in record_with_ftrace(subsystems, folder) if entry[0].split("/")[0] not in OWN_TEXT]
    by_event = collections.defaultdict(list)
    for name, raw, text in found:
        by_event[name].append((raw, text))
    commands = []
    for name, records in by_event.items():
        commands.append(f"format {TRACEFS}/events/{name}/format")
        commands += ["raw " + raw.hex() for raw, _ in records]
    lines = iter(run_dump(dump, commands))
    equal, wrong, empty = [], {}, []
    for name, records in by_event.items():
        differs = None
        for _, text in records:
            how, line = next(lines)
            if normal(line) != normal(text) and not KNOWN_BY_KERNEL.search(line):
                differs = differs or (line, text)
            if text and not line or how != "format":
                empty.append(name)
        if differs:
            wrong[name] = differs
        else:
            equal.append(name)
    print(f"{len(found)} records of {len(by_event)} events, {len(equal)} equal, {len(wrong)} differ")
    for name, (ours, theirs) in sorted(wrong.items()):
        print(f"{name}\n  strobe {ours}\n  kernel {theirs}")
    checks.check("kernel: something fired", len(by_event) >= 30, len(by_event))
    checks.check("kernel: no line is missing", not empty, sorted(set(empty)))
    checks.check("kernel: lines are those of the kernel", not wrong, sorted(wrong))
    return set(equal), {name: len(records) for name, records in by_event.items()}


# --- perf's text ---

HEAD = re.compile(r"^ *(.*?) +(-?\d+) \[(\d+)\] +(\d+\.\d+): +(?:\d+ +)?([\w-]+):(\w+): ?(.*)$")


def texts_of(command):
    """Returns {(cpu, time, event): [text]} of lines of perf script or of strobe."""
    done = subprocess.run(command, capture_output=True, check=False, timeout=600)
    checks.check(f"{os.path.basename(command[0])} ends well", done.returncode == 0, done.stderr[-300:])
    found = collections.defaultdict(list)
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        match = HEAD.match(line)
        if match:
            found[match.group(3), match.group(4), match.group(5) + "/" + match.group(6)].append(match.group(7))
    return found


def record_with_perf(events, folder):
    path = os.path.join(folder, "perf.data")
    pipe = os.pipe()
    child = os.fork()
    if not child:
        os.close(pipe[1])
        os.read(pipe[0], 1)
        load(folder)
        os._exit(0)
    named = ",".join(event.replace("/", ":") for event in events)
    perf = subprocess.Popen(["perf", "record", "-q", "-a", "-m", "2048", "-e", named, "-o", path, "--", "sh", "-c",
                             f"echo >&{pipe[1]}; while kill -0 {child} 2> /dev/null && ! grep -q ') Z' /proc/{child}/stat; "
                             "do sleep 0.1; done"], pass_fds=[pipe[1]], stderr=subprocess.PIPE)
    os.close(pipe[0])
    error = perf.communicate(timeout=300)[1]
    os.close(pipe[1])
    os.waitpid(child, 0)
    return path if os.path.exists(path) else error.decode("utf-8", "replace")


def check_perf(strobe, dump, subsystems, everything):
    """Checks each event: all its lines equal perf's, or its records have the kernel's own text."""
    vouched, fired = check_kernel(dump, [name for name in subsystems if name not in OWN_TEXT])
    # Events that fire all the time were compared with the kernel; perf script is slow.
    chosen = sorted(name for name, n in fired.items() if everything or n <= OFTEN) + [name_of(path) for path in glob.glob(f"{TRACEFS}/events/syscalls/*/format")
                      if everything or SYSCALLS.search(path)]
    events, samples, differ, empty = set(), 0, {}, set()
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        for i in range(0, len(chosen), AT_ONCE):
            path = record_with_perf(chosen[i:i + AT_ONCE], folder)
            if not os.path.exists(path):
                checks.skip(f"perf: {chosen[i]} and on", path[-200:])
                continue
            theirs = texts_of(["perf", "script", "-i", path])
            ours = texts_of([strobe, "export", path, "--format", "script"])
            os.unlink(path)
            checks.check(f"perf: the same samples of {chosen[i]} and on", set(theirs) == set(ours),
                         (len(theirs), len(ours), sorted(set(theirs) ^ set(ours))[:3]))
            for key, texts in theirs.items():
                events.add(key[2])
                samples += len(texts)
                if len(ours.get(key, [])) != len(texts):
                    differ.setdefault(key[2], (f"{len(ours.get(key, []))} samples", f"{len(texts)} samples"))
                for mine, text in zip(ours.get(key, []), texts):
                    if normal(mine) != normal(text) and not KNOWN_BY_KERNEL.search(mine):
                        differ.setdefault(key[2], (mine, text))
                    if text and (not mine or PLACE.match(mine)):
                        empty.add(key[2])
    wrong = {name: texts for name, texts in differ.items() if name not in vouched}
    print(f"{samples} samples of {len(events)} events; {len(differ)} differ from perf, {len(wrong)} of them not vouched for")
    for name, (mine, text) in sorted(differ.items()):
        print(f"{name}{' (the kernel agrees)' if name in vouched else ''}\n  strobe {mine}\n  perf   {text}")
    if events:
        checks.check("perf: there were samples", samples > 0)
    checks.check("perf: no line is missing", not empty, sorted(empty))
    checks.check("perf: lines are perf's or the kernel's", not wrong, sorted(wrong))


def existing(subsystems):
    return [name for name in subsystems
            if os.path.isdir(f"{TRACEFS}/events/{name}") and name != "ftrace" and not is_made(name)]


def main():
    strobe, dump, case = sys.argv[1:4]
    everything = "all" in sys.argv[4:]
    if not TRACEFS or os.geteuid():
        checks.skip("tracepoints", "needs root and tracefs")
    elif case == "formats":
        check_formats(dump)
    elif not os.path.exists(TRACEFS + "/options/hash-ptr"):
        checks.skip("tracepoints: the kernel's text", "this kernel shows no addresses in it")
    elif not os.path.exists("/sys/kernel/btf/vmlinux"):
        checks.skip("tracepoints: the kernel's text", "this kernel tells no types, which enumerators are known by")
    elif case == "kernel":
        check_kernel(dump, existing(sorted(os.listdir(TRACEFS + "/events")) if everything else SAMPLE))
    elif not shutil.which("perf"):
        checks.skip("tracepoints: perf", "no perf")
    else:
        check_perf(strobe, dump, existing(sorted(os.listdir(TRACEFS + "/events")) if everything else SAMPLE), everything)
    checks.finish()


main()
