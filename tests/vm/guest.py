# SPDX-License-Identifier: GPL-3.0-or-later
"""Emulated machines (QEMU, no KVM) that run one shell script each, with strobe and test programs.

arm64 has a PMU with exact and reproducible counts (-icount).  amd64 has kprobes, but no PMU.  A
guest has no Python: strobe's output goes to files below /out, and is checked here.
"""

import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

# libraries that strobe loads on demand, never in a guest
NOT_NEEDED = ("libarchive.so", "libdebuginfod.so")
KERNEL_ARGUMENTS = "nokaslr randomize_kstack_offset=off panic=-1 quiet loglevel=3"
# If a busy machine runs the emulator too late, the kernel misses ticks of its timer and panics.
AMD64_ARGUMENTS = "no_timer_check"

# Mounts the usual file systems, runs the test, sends the files below /out, and powers off.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /out /root /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing
mount -t tmpfs tmpfs /tmp
export HOME=/root PATH=/bin:/sbin:/usr/bin:/usr/sbin TERM=linux LC_ALL=C.UTF-8
echo 0 >/proc/sys/kernel/kptr_restrict
# Emulated interrupts are slow by the guest's clock; the kernel is not to sample less for it.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
cd /out
sh /test.sh >/out/log 2>&1
echo $? >/out/status
stty -F {port} raw
tar -c -z -C /out . >{port}
sync
poweroff -f
"""


class Cpio:
    """Makes an initial file system (newc format).  Times are 0: equal guests have equal bytes."""

    def __init__(self):
        self.out, self.number, self.seen = io.BytesIO(), 0, set()

    def _entry(self, name, mode, data=b"", device=(0, 0)):
        self.number += 1
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        for part in (head, data):
            self.out.write(part + b"\0" * (-len(part) % 4))

    def folder(self, path):
        if path and path not in self.seen:
            self.folder(os.path.dirname(path))
            self.seen.add(path)
            self._entry(path, 0o040755)

    def add(self, path, data, mode=0o755):
        path = path.lstrip("/")
        if path not in self.seen:
            self.folder(os.path.dirname(path))
            self.seen.add(path)
            self._entry(path, 0o100000 | mode, data)

    def console(self):
        self.folder("dev")
        self._entry("dev/console", 0o020600, device=(5, 1))

    def finish(self):
        self._entry("TRAILER!!!", 0)
        return self.out.getvalue()


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Machine:
    """Starts guests of one architecture, and finds their libraries."""

    def __init__(self, arch, folder, strobe):
        self.arch, self.folder, self.strobe = arch, folder, strobe
        kernel = os.path.join(folder, "kernel-" + arch)
        boot = os.path.join(kernel, "boot")
        self.image = os.path.join(boot, next(name for name in sorted(os.listdir(boot)) if name.startswith("vmlinuz")))
        release = os.path.basename(self.image).split("-", 1)[1]
        self.modules = os.path.join(kernel, "lib/modules", release)
        self.programs = os.path.join(folder, "programs-" + arch)
        if arch == "arm64":
            sysroot = os.path.join(folder, "sysroot")
            self.triplet, self.root, self.busybox = "aarch64-linux-gnu", sysroot, os.path.join(sysroot, "bin/busybox")
            self.emulator, self.console, self.port = "qemu-system-aarch64", "ttyAMA0", "/dev/ttyS0"
            self.arguments = KERNEL_ARGUMENTS
        else:
            self.triplet, self.root, self.busybox = "x86_64-linux-gnu", "/", "/bin/busybox"
            self.emulator, self.console, self.port = "qemu-system-x86_64", "ttyS0", "/dev/ttyS1"
            self.arguments = f"{KERNEL_ARGUMENTS} {AMD64_ARGUMENTS}"

    def command(self, cpus, nodes, initrd, out, processor="cortex-a57"):
        """The emulator's command line.  processor: for arm64 only."""
        command = [self.emulator, "-kernel", self.image, "-initrd", initrd, "-m", "1G", "-nographic", "-no-reboot",
                   "-net", "none", "-append", f"console={self.console} {self.arguments}"]
        if nodes > 1:
            share = cpus // nodes
            command += ["-smp", f"{cpus},sockets={nodes},cores={share},threads=1"]
            for node in range(nodes):
                command += ["-object", f"memory-backend-ram,id=m{node},size={1024 // nodes}M", "-numa",
                            f"node,nodeid={node},memdev=m{node},cpus={node * share}-{node * share + share - 1}"]
        else:
            command += ["-smp", str(cpus)]
        if self.arch == "arm64":
            return command + ["-M", "virt,gic-version=3,dtb-randomness=off", "-cpu", processor, "-seed", "1",
                              "-icount", "shift=3,sleep=off", "-rtc", "base=2024-01-01,clock=vm",
                              "-chardev", f"file,id=o,path={out}", "-device", "pci-serial,chardev=o"]
        return command + ["-accel", "tcg", "-cpu", "max", "-serial", "stdio", "-serial", f"file:{out}", "-monitor", "none"]

    def library(self, name):
        for folder in (f"lib/{self.triplet}", f"usr/lib/{self.triplet}", "lib", "lib64", "usr/lib"):
            path = os.path.join(self.root, folder, name)
            if os.path.exists(path):
                return path
        return None

    def _needed(self, path):
        """Names of the libraries that a program is linked with; strobe: also those it may load."""
        said = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        names = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))
        if path == self.strobe:
            names |= {name.decode() for name in re.findall(rb"lib[a-z0-9._+-]+\.so(?:\.\d+)*", read(path))}
        return {name for name in names if not name.startswith(NOT_NEEDED)}

    def add_strobe(self, cpio):
        cpio.add("bin/strobe", read(self.strobe))
        wanted, known = self._needed(self.strobe), set()
        while wanted:
            name = wanted.pop()
            path = self.library(name)
            known.add(name)
            if path:
                cpio.add(f"lib/{self.triplet}/{name}", read(path))
                wanted |= self._needed(path) - known
        loader = "ld-linux-aarch64.so.1" if self.arch == "arm64" else "ld-linux-x86-64.so.2"
        cpio.add(("lib/" if self.arch == "arm64" else "lib64/") + loader, read(self.library(loader)))

    def initrd(self, script, files):
        cpio = Cpio()
        cpio.console()
        cpio.add("bin/busybox", read(self.busybox))
        cpio.add("init", INIT.format(port=self.port).encode())
        cpio.add("etc/passwd", b"root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n", 0o644)
        cpio.add("etc/group", b"root:x:0:\nnogroup:x:65534:\n", 0o644)
        self.add_strobe(cpio)
        for name in sorted(os.listdir(self.programs)):
            cpio.add("bin/" + name, read(os.path.join(self.programs, name)))
        for name, path in files.items():
            cpio.add(name, read(path))
        cpio.add("test.sh", script.encode())
        return cpio.finish()

    def module(self, name):
        """The path of a kernel module's file; None if there is none."""
        for folder, _, files in sorted(os.walk(self.modules)):
            if name + ".ko" in files:
                return os.path.join(folder, name + ".ko")
        return None

    def run(self, script, files=None, cpus=2, nodes=1, timeout=300, **kinds):
        """Boots, runs the script, returns its files.  Kills the guest after timeout seconds."""
        with tempfile.TemporaryDirectory(prefix="strobe-guest-") as folder:
            initrd, out = os.path.join(folder, "initrd"), os.path.join(folder, "out")
            with open(initrd, "wb") as file:
                file.write(self.initrd(script, files or {}))
            try:
                done = subprocess.run(self.command(cpus, nodes, initrd, out, **kinds), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False)
                console = done.stdout
            except subprocess.TimeoutExpired as late:
                console = (late.stdout or b"") + f"\nno end after {timeout} s".encode()
            return Left(out, console.decode(errors="replace"))


class Left:
    """The files that a guest left below /out."""

    def __init__(self, path, console):
        self.files, self.console = {}, console
        try:
            with tarfile.open(path) as archive:
                for member in archive:
                    if member.isfile():
                        self.files[member.name.removeprefix("./")] = archive.extractfile(member).read()
        except (OSError, EOFError, tarfile.TarError) as error:
            self.console += f"\nnothing came back: {error}"

    def text(self, name):
        return self.files.get(name, b"").decode(errors="replace")

    @property
    def status(self):
        return int(self.text("status") or -1)

    def __str__(self):
        """One line, since a summary repeats the whole failure."""
        return f"status {self.status}, log {self.text('log')[-3000:]!r}, console {self.console[-2000:]!r}"


def why_not(arch, folder):
    """The reason that such a guest cannot run here, or None."""
    emulator = "qemu-system-aarch64" if arch == "arm64" else "qemu-system-x86_64"
    if not shutil.which(emulator):
        return f"{emulator} is not installed"
    if not os.path.isdir(os.path.join(folder, "kernel-" + arch)):
        return f"there is no kernel for {arch}"
    return None
