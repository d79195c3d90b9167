# SPDX-License-Identifier: GPL-3.0-or-later
"""A file system in user space, by /dev/fuse and mount(2) alone: one folder, which can stop
answering.

Its files are those of another file system.  It needs root and is read-only.  By default
attributes are valid for no time, so that each stat(2) asks the server.
"""

import contextlib
import ctypes
import errno
import os
import signal
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
OPENDIR, READDIR, RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET = 27, 28, 29, 34, 36, 42
MNT_DETACH = 2


class Server:
    """Answers the kernel's requests in a process of its own, until SIGUSR1 silences it."""

    def __init__(self, fd, files, mute=(), valid_s=0):
        """Reads of the files in mute never get an answer.  The kernel caches attributes for valid_s
        seconds."""
        self.fd, self.files, self.valid_s = fd, files, valid_s  # name: path of the served file
        self.names = sorted(files)
        self.silent, self.mute = False, mute

    def attributes(self, node):
        path = self.files[self.names[node - 2]] if node > 1 else None
        size, mode = (os.path.getsize(path), 0o100755) if path else (0, 0o040755)
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, code, node, body):
        """Return the bytes of an answer, or an errno."""
        if code == INIT:
            minor = min(struct.unpack_from("<II", body)[1], 31)
            return struct.pack("<IIIIHHIIHH8I", 7, minor, 65536, 0, 12, 10, 65536, 1, 16, 0, *[0] * 8)
        if code == LOOKUP:
            name = body.rstrip(b"\0").decode()
            if node != 1 or name not in self.files:
                return errno.ENOENT
            found = self.names.index(name) + 2
            return struct.pack("<QQQQII", found, 0, self.valid_s, self.valid_s, 0, 0) + self.attributes(found)
        if code == GETATTR:
            return struct.pack("<QII", self.valid_s, 0, 0) + self.attributes(node)
        if code in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, 0, 0)
        if code == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            with open(self.files[self.names[node - 2]], "rb") as file:
                file.seek(offset)
                return file.read(size)
        if code == STATFS:
            return struct.pack("<QQQQQIIII6I", 0, 0, 0, 0, 0, 4096, 255, 4096, 0, *[0] * 6)
        if code in (RELEASE, RELEASEDIR, FLUSH, ACCESS, READDIR):
            return b""
        return errno.ENOSYS

    def serve(self):
        while True:
            question = os.read(self.fd, 1 << 17)
            _, code, unique, node = struct.unpack_from("<IIQQ", question)
            if self.silent or code in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            if code == READ and self.names[node - 2] in self.mute:
                continue
            said = self.answer(code, node, question[40:])
            error, said = (-said, b"") if isinstance(said, int) else (0, said)
            os.write(self.fd, struct.pack("<IiQ", 16 + len(said), error, unique) + said)


@contextlib.contextmanager
def mounted(folder, files, mute=(), owner=None, valid_s=0):
    """Mount {name: path} at folder during the block, and yield the pid of the server.

    SIGSTOP keeps the server from taking requests; after SIGUSR1 it takes them without an answer.
    Reads of the files in mute never get an answer.  With an owner, no other user may look into
    the mount.  Attributes are valid for valid_s seconds.  Raises OSError if mounting is not
    permitted."""
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,default_permissions," + (
        "user_id=0,group_id=0,allow_other" if owner is None else f"user_id={owner},group_id={owner}")
    if LIBC.mount(b"strobe-test", folder.encode(), b"fuse", 0, options.encode()):
        os.close(fd)
        raise OSError(ctypes.get_errno(), "a FUSE file system cannot be mounted")
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            server = Server(fd, files, mute, valid_s)
            signal.signal(signal.SIGUSR1, lambda number, frame: setattr(server, "silent", True))
            server.serve()
        os._exit(0)
    os.close(fd)
    try:
        yield pid
    finally:
        # All waiting requests fail when the server is gone.
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        LIBC.umount2(folder.encode(), MNT_DETACH)


if __name__ == "__main__":
    with mounted(sys.argv[1], {os.path.basename(path): path for path in sys.argv[2:]}) as server_pid:
        print(server_pid, flush=True)
        sys.stdin.read()
