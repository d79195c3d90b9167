#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks which callchains by frame pointers are whole.

They must end where the source says that the program or thread begins.  Programs with and without
unwind tables, with and without frame pointers, of 64 and 32 bits, stripped, and of Go.  Live, in
strobe's recordings and in perf's.

usage: roots.py STROBE
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks, written  # noqa: E402

checks = Checks()
strobe = os.path.abspath(sys.argv[1])
RATE, ENOUGH = "999", 50
POINTERS, NO_POINTERS = "-fno-omit-frame-pointer", "-fomit-frame-pointer"
TABLES, NO_TABLES = "-fasynchronous-unwind-tables", "-fno-asynchronous-unwind-tables"
OPTIONS = ["-O1", "-fno-optimize-sibling-calls", "-fno-stack-protector", "-fno-pie", "-no-pie", "-static"]
ALONE = ["-nostdlib", *OPTIONS]

WORK = """
static volatile unsigned sink;
__attribute__((noinline)) void leaf(void) { for (unsigned i = 0; i < 100000; i++) sink += i * 7; }
__attribute__((noinline)) void inner(void) { leaf(); sink++; }
__attribute__((noinline)) void outer(void) { inner(); sink++; }
__attribute__((noinline)) void run(void) { for (int i = 0; i < 3000; i++) outer(); }
"""
LEAVE = """
static void leave(void) {
#ifdef __i386__
    __asm__ volatile("int $0x80" :: "a"(1), "b"(0));
#elif defined(__x86_64__)
    __asm__ volatile("syscall" :: "a"(60), "D"(0));
#else
    register long number __asm__("x8") = 93, status __asm__("x0") = 0;
    __asm__ volatile("svc #0" :: "r"(number), "r"(status));
#endif
}
"""
EMPTY = LEAVE + "void _start(void) { leave(); }\n"
# The kernel starts a program with a frame pointer of 0.
COMPILED = WORK + LEAVE + "void _start(void) { run(); leave(); }\n"
ASSEMBLED = WORK + """
__asm__(".globl _start\\n.type _start, @function\\n_start:\\n"
#ifdef __i386__
    "xor %ebp, %ebp\\ncall run\\nmov $1, %eax\\nxor %ebx, %ebx\\nint $0x80\\n"
#else
    "xor %ebp, %ebp\\ncall run\\nmov $60, %eax\\nxor %edi, %edi\\nsyscall\\n"
#endif
    ".size _start, . - _start\\n");
"""
# Like clone(): code is reached by a jump, and call frame information says that it has no caller.
THREAD = WORK + """
static char stack[65536] __attribute__((aligned(64), used));
__asm__(".globl _start\\n.type _start, @function\\n_start:\\n"
#ifdef __i386__
    "mov $stack + 65536, %esp\\njmp begin\\n.size _start, . - _start\\n"
    ".type begin, @function\\nbegin:\\n.cfi_startproc\\n.cfi_undefined eip\\n"
    "xor %ebp, %ebp\\ncall run\\nmov $1, %eax\\nxor %ebx, %ebx\\nint $0x80\\n"
#else
    "mov $stack + 65536, %esp\\njmp begin\\n.size _start, . - _start\\n"
    ".type begin, @function\\nbegin:\\n.cfi_startproc\\n.cfi_undefined rip\\n"
    "xor %ebp, %ebp\\ncall run\\nmov $60, %eax\\nxor %edi, %edi\\nsyscall\\n"
#endif
    ".cfi_endproc\\n.size begin, . - begin\\n");
"""
HOSTED = WORK + """
#include <pthread.h>
static void *begin(void *unused) { run(); return unused; }
int main(void) { pthread_t thread; pthread_create(&thread, 0, begin, 0); run(); return pthread_join(thread, 0); }
"""
GO = """package main
var sink uint32
//go:noinline
func leaf() { for i := uint32(0); i < 100000; i++ { sink += i * 7 } }
//go:noinline
func inner() { leaf(); sink++ }
//go:noinline
func outer() { inner(); sink++ }
func main() { for i := 0; i < 3000; i++ { outer() } }
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", timeout=120, check=False)


def whole_percent(name, done):
    if not checks.check(f"{name}: strobe report", done.returncode == 0, done.stderr):
        return None
    return json.loads(done.stdout)["events"][0].get("chains_whole_percent")


def stacks_of(data):
    """Returns [(frames, ns)] of user space, without the command."""
    found = []
    for line in run(strobe, "export", data, "--format", "folded").stdout.splitlines():
        stack, _, count = line.rpartition(" ")
        found.append((stack.split(";")[1:], int(count)))
    return found


def judge(name, data, roots, least):
    """Whole chains must be those that the source calls whole.

    least: least share of chains from the root, in percent.  0: none is; None: not known.
    """
    stacks = stacks_of(data)
    total = sum(count for _, count in stacks)
    rooted = sum(count for frames, count in stacks if frames and re.fullmatch(roots, frames[0]))
    cut = sum(count for frames, count in stacks if frames and frames[0] == "[truncated]")
    other = [frames for frames, _ in stacks if frames and frames[0] != "[truncated]" and not re.fullmatch(roots, frames[0])]
    done = run(strobe, "report", data, "--format", "json")
    whole = whole_percent(name, done)
    samples = json.loads(done.stdout)["events"][0]["samples"] if whole is not None else 0
    print(f"# {name}: {samples} samples, {total} ns, {rooted} from the root, {cut} cut, whole {whole} %")
    if not checks.check(f"{name}: enough samples", samples >= ENOUGH, samples):
        return
    checks.check(f"{name}: what is not from the root is not told as whole", not other, other[:3])
    checks.check(f"{name}: whole are as many as are from the root",
                 whole is not None and abs(whole - 100 * rooted / total) <= 0.01, (whole, rooted, total))
    if least is None:
        return
    if least:
        checks.check(f"{name}: chains are from the root", 100 * rooted >= least * total, (rooted, total))
    else:
        # A sample in the root itself is whole without any caller.
        called = sum(count for frames, count in stacks if len(frames) > 1 and re.fullmatch(roots, frames[0]))
        checks.check(f"{name}: no chain is from the root", called <= total / 100, (called, total))


def sample(name, program, roots, least=99):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        done = run(strobe, "record", "--call-graph", "fp", "-e", "cpu-clock:u", "-F", RATE, "-o", data, "--", program)
        if checks.check(f"{name}: strobe record", done.returncode == 0, done.stderr):
            judge(name, data, roots, least)


def sample_by_all(name, program, roots):
    """Checks it like sample(), and also live and in perf's recording."""
    sample(name, program, roots)
    whole = whole_percent(name, run(strobe, "report", "--call-graph", "fp", "-e", "cpu-clock:u", "-F", RATE, "--format", "json",
                                    "--", program))
    checks.check(f"{name}, live: {whole} % of the chains are whole", whole is not None and whole >= 99)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        done = run("perf", "record", "-q", "-g", "-e", "cpu-clock:u", "-F", RATE, "-o", data, "--", program) \
            if shutil.which("perf") else None
        if done and done.returncode == 0:
            judge(name + ", perf's recording", data, roots, 99)
        else:
            checks.skip(name + ", perf's recording", "perf record does not work here")


def make(folder, name, source, *options, compiler="gcc"):
    """Returns the program's path, or None."""
    path = os.path.join(folder, re.sub(r"\W+", "-", name))
    written(folder, os.path.basename(path) + ".c", source)
    done = run(compiler, *options, path + ".c", "-o", path)
    if done.returncode:
        checks.skip(name, f"{compiler} {' '.join(options)} does not make it")
        return None
    return path


def runs_narrow(folder):
    """Returns True if 32-bit programs can be made and run here."""
    path = make(folder, "programs of 32 bits", EMPTY, "-m32", *ALONE)
    if not path:
        return False
    try:
        subprocess.run([path], timeout=60, check=False)
    except OSError as error:
        checks.skip("programs of 32 bits", f"this kernel does not run them: {error.strerror}")
        return False
    return True


def check_alone(folder, bits):
    """Checks programs without a libc."""
    for name, source, options, roots in (
            ("without tables", COMPILED, [NO_TABLES], "_start"), ("with tables", COMPILED, [TABLES], "_start"),
            ("in assembly", ASSEMBLED, [NO_TABLES], "_start"), ("by a jump", THREAD, [NO_TABLES], "begin|_start")):
        name = f"{name}, {bits[2:]} bits"
        path = make(folder, name, source, bits, POINTERS, *options, *ALONE)
        if path and source in (COMPILED, THREAD):
            sample_by_all(name, path, roots)
        elif path:
            sample(name, path, roots)
        bare = path and make(folder, name + ", without frame pointers", source, bits, NO_POINTERS, *options, *ALONE)
        if bare:
            sample(name + ", without frame pointers", bare, roots, 0)


def check_stripped(folder, bits):
    """A stripped program's chains have no names to look at."""
    path = make(folder, f"stripped, {bits[2:]} bits", ASSEMBLED, bits, POINTERS, NO_TABLES, "-s", *ALONE)
    if path:
        with tempfile.TemporaryDirectory() as place:
            data = os.path.join(place, "data")
            run(strobe, "record", "--call-graph", "fp", "-e", "cpu-clock:u", "-F", RATE, "-o", data, "--", path)
            whole = whole_percent("stripped", run(strobe, "report", data, "--format", "json"))
            checks.check(f"stripped, {bits[2:]} bits: {whole} % of the chains are whole", whole is not None and whole >= 99)


def check_hosted(folder, bits):
    """Debian's libc has no frame pointers: only chains that passed it anyway are whole."""
    path = make(folder, f"hosted, {bits[2:]} bits", HOSTED, bits, POINTERS, *OPTIONS, "-pthread")
    if path:
        sample(f"hosted, {bits[2:]} bits", path, r"_start|(__)?clone3?", None)


def check_go(folder):
    if not checks.finds("stripped Go", "go"):
        return
    source = written(folder, "work.go", GO)
    path = os.path.join(folder, "go-work")
    environment = dict(os.environ, GOCACHE=os.path.join(folder, "cache"), GO111MODULE="off", GOFLAGS="")
    done = subprocess.run(["go", "build", "-ldflags=-s -w", "-o", path, source], env=environment, capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode:
        checks.skip("stripped Go", done.stderr.strip())
        return
    sample("stripped Go", path, r"runtime\.(goexit|rt0_go|mstart)", 95)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if os.uname().machine == "x86_64":
            narrow = runs_narrow(folder)
            for bits in ("-m64", "-m32") if narrow else ("-m64",):
                check_alone(folder, bits)
                check_stripped(folder, bits)
            if narrow:
                check_hosted(folder, "-m32")
        else:
            path = make(folder, "without tables", COMPILED, POINTERS, NO_TABLES, *ALONE)
            if path:
                sample_by_all("without tables", path, "_start")
        check_go(folder)
    checks.finish()


main()
