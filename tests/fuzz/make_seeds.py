#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the fuzz targets' seeds: tests/fuzz/make_seeds.py tests/fuzz/corpus

The seeds in the tree come from this command, which always writes equal bytes.  Only
corpus/fuzz_perfdata/perf-* come from `perf record --no-buildid-cache` of sleep(1) or true(1).
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fixtures'))
import make_perfdata  # noqa: E402
import make_simpleperf  # noqa: E402

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU = (1 << bit for bit in range(8))
PERIOD, STREAM, RAW, BRANCH, REGS, STACK, WEIGHT, SRC, IDENTIFIER = (1 << bit for bit in range(8, 17))
AUX = 1 << 20
USUAL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
EVERYTHING = (1 << 24) - 1
TRAILER = struct.pack('<IIQIIQ', 4711, 4712, 1234567, 3, 0, 99)


def words(*values):
    return struct.pack('<%dQ' % len(values), *(value & (2**64 - 1) for value in values))


def record(kind, payload, misc=0):
    return struct.pack('<IHH', kind, misc, 8 + len(payload)) + payload


def text(name):
    return name + bytes(8 - len(name) % 8)


def case(whole, sample_type=USUAL, read=0, branch=0, user=0, intr=0, id_all=1):
    return words(sample_type, read, branch, user, intr, id_all) + whole


def jitdump(order):
    """Return a jitdump of two functions, the first one moved, with lines, which the reader
    skips."""
    def entry(kind, body):
        return struct.pack(order + 'IIQ', kind, 16 + len(body), 1) + body

    load = struct.pack(order + 'IIQQQQ', 1, 1, 0x1000, 0x1000, 4, 7) + b'first\0' + b'1111'
    other = struct.pack(order + 'IIQQQQ', 1, 1, 0x1002, 0x1002, 4, 8) + b'other\0' + b'2222'
    move = struct.pack(order + 'IIQQQQQ', 1, 1, 0x2000, 0x1000, 0x2000, 4, 7)
    return struct.pack(order + 'IIIIIIQQ', 0x4a695444, 1, 40, 62, 0, 1, 1, 0) + entry(0, load) + \
        entry(2, struct.pack(order + 'QQ', 0x1000, 0)) + entry(0, other) + entry(1, move) + entry(3, b'')


def frame(body, cie=None):
    """Return a record of .eh_frame (cie: distance back to its CIE) or, if cie is a tuple, of
    .debug_frame."""
    word = 0 if cie is None else cie[0] if isinstance(cie, tuple) else cie
    body = struct.pack('<I', word & (2**32 - 1)) + body
    return struct.pack('<I', len(body)) + body


def unwind_table(rules, pages, rows, first=1):
    rules = b''.join(struct.pack('<ihhBBBB', *rule) for rule in rules)
    pages = struct.pack('<%dI' % len(pages), *pages)
    at = 80
    header = struct.pack('<8sIHHIIIIQQQQQQ', b'strobe\0U', 1, 62, 0, len(rules) // 12, len(pages) // 4 - 1, len(rows), first,
                         at, at + len(rules), at + len(rules) + len(pages),
                         at + len(rules) + len(pages) + 4 * len(rows), 48, 16)
    return header + rules + pages + b''.join(struct.pack('<HH', *row) for row in rows)


CIE = frame(b'\1zRS\0\1\x78\x10\1\x00\x0c\7\x08\x90\1')
DEBUG_CIE = frame(b'\1\0\1\x78\x10\x0c\7\x08\x90\1', (-1,))
FDE = struct.pack('<QQ', 0x2000, 0x40)
PROGRAM = bytes.fromhex('410e1086024a0a0d06450b41070641c605060211067e0f0477a00106100603' '77f800') + \
    bytes.fromhex('0f0b770880003f1a3b2a332422')
UNWIND = unwind_table([(8, 0, -8, 1, 0, 1, 0), (16, -16, -8, 2, 1, 1, 0), (24, 0, -8, 4, 0, 1, 2)], [0, 3, 3, 5],
                      [(0, 65535), (16, 0), (32, 1), (0, 2), (16, 65535)])

LATER = (8, *range(11, 13), *range(14, 23))
FIXED = words(99, 0x401000, 4712 << 32 | 4711, 1234567, 3, 1003009)
SAMPLE = record(9, FIXED)
CHAIN = record(9, FIXED + words(4, -512, 0x401000, 0x402000, 0x403000))
MMAP = record(1, words(21 << 32 | 20, 0x400000, 0x5000, 0) + text(b'/usr/bin/demo') + TRAILER)
MMAP2 = record(10, words(21 << 32 | 20, 0x400000, 0x5000, 0, 8 << 32 | 1, 42, 1, 2 << 32 | 5) +
               text(b'/usr/lib/libdemo.so') + TRAILER)
BUILD_ID = record(10, words(21 << 32 | 20, 0x400000, 0x5000, 0) + bytes([20, 0, 0, 0]) +
                  bytes(range(20)) + words(2 << 32 | 5) + text(b'[vdso]') + TRAILER, 1 << 14)
COMM = record(3, words(21 << 32 | 20) + text(b'demo') + TRAILER, 1 << 13)
FORK = record(7, words(10 << 32 | 20, 11 << 32 | 21, 555) + TRAILER)
EXIT = record(4, words(10 << 32 | 20, 11 << 32 | 21, 556) + TRAILER)
LOST = record(2, words(31, 1000) + TRAILER)
LOST_SAMPLES = record(13, words(1000) + TRAILER)
THROTTLE = record(5, words(555, 31, 32) + TRAILER)
WHOLE = record(9, words(
    99, 1, 2, 3, 4, 5, 6, 7, 8,                    # IDENTIFIER to PERIOD
    1, 10, 10, 11, 12, 13,                         # READ of a group of one
    1, 0x401000,                                   # CALLCHAIN
    0x4142434400000004,                            # RAW
    1, 0, 20, 21, 22,                              # BRANCH_STACK with hw_idx
    2, 30, 31,                                     # REGS_USER
    8, 40, 8,                                      # STACK_USER
    50, 51, 52,                                    # WEIGHT, DATA_SRC, TRANSACTION
    1, 60,                                         # REGS_INTR
    70, 71, 72, 73,                                # PHYS_ADDR to CODE_PAGE_SIZE
    8, 80))                                        # AUX

TABLE = (b'strobe\0T' + struct.pack('<IIIIIIIIQQQQQQQ', 7, 2, 1, 8, 1, 1, 1, 0, 104, 136, 140, 144, 168, 184, 208) + b'a\0bc\0m\0\0' +
         struct.pack('<QIIQII', 0x1000, 0x2000, 0, 0x1800, 32, 2) + struct.pack('<HHI', 0, 1, 5) +
         struct.pack('<QQQ', 0x1000, 0x2000, 0x401000) + struct.pack('<QII', 0x1820, 0, 0) +
         struct.pack('<QQII', 1 << 48 | 0x1800, 7, 32, 0))
# Header, two entries (16 bytes apart), a run of two frames, the pool.
CODETAB = (b'strobe\0C' + struct.pack('<IIIIQQQQ', 1, 2, 2, 8, 56, 120, 160, 168) +
           struct.pack('<QQIIHBBI', 0x1000, 0x1010, 1, 0, 2, 16, 2, 0) +
           struct.pack('<QQIIHBBI', 0x1010, 2**64 - 1, 4, 1, 1, 2, 4, 0) +
           struct.pack('<IIIHHI', 1, 4, 7, 3, 1, 6) + struct.pack('<IIIHHI', 4, 4, 30, 0, 0, 29) + b'\0ab\0cde\0')

def walked(machine, chain_len, registers, chain, stack):
    """Return an input of fuzz_unwind with rules by sp, of the root, of a signal frame and by bp;
    the rest is empty."""
    rules = struct.pack('<ihhBBBB', 16, 0, -8, 1, 0, 1, 0) + struct.pack('<ihhBBBB', 0, 0, 0, 7, 0, 0, 0)
    rules += struct.pack('<ihhBBBB', 24, 16, 32, 6, 1, 0, 1) + struct.pack('<ihhBBBB', 16, -16, -8, 2, 1, 1, 0)
    words = [*registers, *[0] * (4 - len(registers)), *chain, *stack]
    return bytes((machine, chain_len)) + rules + bytes(12 * 12) + struct.pack(f'<{len(words)}Q', *words)


SEEDS = {
    'fuzz_record': {
        'sample': case(SAMPLE),
        'chain': case(CHAIN, USUAL | CALLCHAIN),
        'everything': case(WHOLE, EVERYTHING, 0x1f, 1 << 17 | 8, 3, 1),
        'mmap': case(MMAP), 'mmap2': case(MMAP2), 'build-id': case(BUILD_ID), 'comm': case(COMM),
        'fork': case(FORK), 'lost': case(LOST), 'lost-samples': case(LOST_SAMPLES),
        'throttle': case(THROTTLE), 'no-trailer': case(FORK, id_all=0),
        **{f'type-{kind}': case(record(kind, payload[:-len(TRAILER)] + TRAILER, misc), read=4)
           for kind, payload, misc in make_perfdata.Machine().records() if kind in LATER},
    },
    'fuzz_ring': {
        'in-order': words(0, len(SAMPLE + CHAIN + COMM)) + SAMPLE + CHAIN + COMM,
        'wrapping': words(4096 - 32, 32 + len(CHAIN) - 32 + len(EXIT)) +
                    CHAIN[32:] + EXIT + bytes(4096 - 32 - len(CHAIN[32:] + EXIT)) + CHAIN[:32],
        'size-0': words(0, 64) + bytes(64),
        'past-the-head': words(0, 16) + SAMPLE,
        'too-far': words(0, 8192) + SAMPLE,
    },
    'fuzz_backward': {
        'newest-first': words(-len(SAMPLE + CHAIN), 0) + bytes(4096 - len(SAMPLE + CHAIN)) + CHAIN + SAMPLE,
        'wrapping': words(-4096 - 32, 0) + CHAIN[32:] + EXIT + bytes(4096 - 32 - len(CHAIN[32:] + EXIT)) + CHAIN[:32],
        'full': words(-4096, 0) + record(9, bytes(56)) * 64,
        'since': words(-8192, 8192 - 64 * 3) + record(9, bytes(56)) * 64,
        'size-0': words(-64, 0) + bytes(64),
        'odd': words(-63, 0) + SAMPLE,
    },
    'fuzz_event': {
        'list': b'cycles:u,page-faults, cs', 'modifiers': b'cycles:ukhGHIppp',
        'tracepoint': b'sched:sched_switch:u', 'raw': b'r1a8:k',
        'pmu': b'cpu/event=0x3c,umask=1/u,cs', 'breakpoint': b'mem:0x1000/8:rw',
        'group': b'{cycles,instructions}:u', 'cache': b'L1-dcache-load-misses', 'misspelt': b'cycels:u',
        'terms': b'cpu/asks,umask=2,period=3/p', 'glob': b'*:*sys*', 'uprobe': b'uprobe:/bin/x:f(int)/ref_ctr_offset=3/u',
        'kprobe': b'kretprobe:vfs_read+4', 'uncore': b'uncore_imc/cas_count_read/,inst_retired', 'symbol': b'mem:ns::a+0x10/8:w',
        'long': b'uprobe:x:f' + b'c' * 80 + b'(int:u',
    },
    'fuzz_fields': {
        'flags': b'\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n'
                 b'\tfield:long state;\toffset:24;\tsize:8;\tsigned:1;\n\nprint fmt: "%s %s%s", REC->comm, '
                 b'(REC->state & ((0x40 + 1) << 1)) ? __print_flags(REC->state & 0xff, "|", { 0x01, "S" }, '
                 b'{ (1UL << 1), "D" }) : "R", REC->state & 0x100 ? "+" : ""\n\0' + bytes(8) + b'bash' + bytes(20),
        'texts': b'\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n'
                 b'\tfield:__rel_loc u32[] list;\toffset:12;\tsize:4;\tsigned:0;\n'
                 b'\tfield:void * ip;\toffset:16;\tsize:8;\tsigned:0;\nprint fmt: "%s %pS", __get_str(name), REC->ip\n\0' +
                 bytes(8) + b'\x18\0\x05\0\x08\0\x08\0' + bytes(8) + b'name\0' + bytes(3),
        'calls': b'\tfield:u8 sa[28];\toffset:8;\tsize:28;\tsigned:0;\n\tfield:u32 n;\toffset:36;\tsize:4;\tsigned:0;\n'
                 b'\tfield:const char * s;\toffset:40;\tsize:8;\tsigned:0;\n'
                 b'\tfield:__data_loc u64[] a;\toffset:48;\tsize:4;\tsigned:0;\nprint fmt: "%pISpc %.*s %*pbl %s %s " "%#x", '
                 b'REC->sa, REC->n, REC->s, 9, REC->sa, __print_array(__get_dynamic_array(a), __get_dynamic_array_len(a) / '
                 b'sizeof(u64), sizeof(u64)), REC->n == 1 ? __print_symbolic(REC->n & 7, { 1, "A" "B" }) : '
                 b'__print_flags((1 << REC->n), ", ", { 2, "b" }), ({ int x = (REC->n); x + FOO; })\n\0' +
                 bytes(8) + b'\x0a\0\0\x50' + bytes(24) + b'\x01\0\0\0' + bytes(8) + b'\x34\0\x08\0' + bytes(8),
    },
    'fuzz_proc': {
        'stat': b'4711 (a) b (c) S 1 4711 4711 0 -1 4194560 1 2 0 0 310 27 5 6 20 -5 9 0 123456 7 8\n',
        'cpus': b'0-3,8\n', 'overlap': b'8,1-2,2-3,1',
    },
    'fuzz_jit': {
        'map': b'1000 10 JS:*fib x.js:1:13\n1008 10 again\n0x2000 0 py::f:/a b.py\r\nbad\n3000 10 cut',
        'dump': jitdump('<'),
        'other-order': jitdump('>'),
    },
    'fuzz_kallsyms': {
        'core': b'ffffffff81000000 T _stext\n0000000000000000 A fixed_percpu_data\n',
        'module': b'ffffffffc0a01000 t nft_do_chain\t[nf_tables]\n', 'hidden': b'0000000000000000 T x',
    },
    'fuzz_cgroup': {
        'both': b'cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/perf\\040event cgroup rw,perf_event 0 0\n',
        'other': b'cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n', 'path': b'/system.slice/docker-0123456789abcdef.scope',
    },
    'fuzz_disasm': {
        'x86': bytes.fromhex('00554889e5e80000000066900f1f4000c3'), 'intel': bytes.fromhex('04488b05f0ffffff62f17c4858c2f30f1efa'),
        'i386': bytes.fromhex('015589e58b4508c3'), 'arm64': bytes.fromhex('02fd7bbfa9fd030091c0035fd6'),
        'arm': bytes.fromhex('0304e02de51eff2fe1'),
    },
    'fuzz_expr': {
        'terms': b'comm~^nginx.* & !image:libc*|ld* & cpu:0-2,8 & malloc\nstd::sort<int>(int*)',
        'quoted': b'symbol:"operator&&(a|b) \\"x\\\\"\noperator<<(std::ostream&)', 'colon': b'comm:":7"\n:C',
        'fields': b'field:comm:a & prev_pid:0x10-20 & pid:1|2\n(anonymous namespace)::f()',
    },
    'fuzz_features': {
        'hostname': b'\3\0' + struct.pack('<I', 8) + b'machine\0',
        'cmdline': b'\x0b\0' + struct.pack('<II', 2, 8) + b'perf\0\0\0\0' + struct.pack('<I', 8) + b'record\0\0',
        'numbers': b'\7\1' + struct.pack('>II', 8, 4), 'build-id': b'\2\0' + record(
            0, struct.pack('<i', -1) + bytes(range(20)) + b'\x14\0\0\0' + text(b'/bin/a')),
        'one-build-id': b'\x80\4' + record(0, struct.pack('<i', -1) + bytes(24) + text(b'/bin/a')),
        'told': b'\x84\0' + make_simpleperf.Simpleperf().files(),
        'told-fixed': b'\x80\0' + make_simpleperf.Simpleperf(make_simpleperf.file1).files(),
        'meta': b'\x81\0' + make_simpleperf.Simpleperf().meta(),
        'tracing': b'\1\2' + b'\x17\x08\x44tracing0.6\0\0\4' + struct.pack('<I', 4096) + b'header_page\0' + bytes(8),
    },
    'fuzz_text': {
        'rust': b'\x20\1<alloc::vec::Vec<T> as core::iter::Extend<&T>>::extend::h0123456789abcdef',
        'template': b'\x18\1std::map<int, std::string>::operator[](int const&) [clone .constprop.0]',
        'bytes': b'\7\1a\x1b[31m\xff\xc2\x85\xe2\x80\xae\xe4\xb8\xad\xe6\x96\x87', 'file': b'\x0c\0libabsl_strings.so.20220623.0.0',
    },
    'fuzz_perfdata': {name: make() for name, make in {
        **make_perfdata.FILES, 'simpleperf': lambda: make_simpleperf.Simpleperf(piece=80).file(),
        'simpleperf-packed': lambda: make_simpleperf.Simpleperf(packed=True, piece=80).file()}.items()},
    'fuzz_codetab': {
        'table': CODETAB, 'cut': CODETAB[:150], 'empty': CODETAB[:12] + bytes(12),
    },
    'fuzz_cfi': {
        'eh': b'\0\xff' + CIE + frame(FDE + b'\0' + PROGRAM, len(CIE) + 4) + bytes(8),
        'debug': b'\4\0' + DEBUG_CIE + frame(FDE + PROGRAM, (0,)),
        'both': b'\1\x80' + CIE.replace(b'\x10\1\0', b'\x1e\1\x1b') + frame(b'\0\1\0\0\x40\0\0\0\0\x41\x2d', len(CIE) + 4) +
        DEBUG_CIE.replace(b'\x10\x0c', b'\x1e\x0c') + frame(FDE + b'\x41\x0e\x20', (0,)),
    },
    'fuzz_unwtab': {
        'table': UNWIND, 'cut': UNWIND[:120], 'empty': unwind_table([], [0], []),
    },
    'fuzz_unwind': {
        'x86_64': walked(2, 3, (0, 0x7000, 0x400010), [0xfffffffffffffe00, 0x400010, 0x402020],
                         [0, 0x403020, 0x401010, 1, 2, 3, 0x7040, 0x401010]),
        'signal': walked(2, 0, (0x7028, 0x7000, 0x402010), [], [7, 8, 9, 0x7028, 0x400010, 0, 0x401010]),
        'arm64': walked(3, 0, (0x7008, 0x400020, 0x7000, 0x403010), [], [0, 0x7028, 0x900010, 1, 2, 0, 0x401010]),
    },
    'fuzz_table': {
        'table': TABLE, 'cut': TABLE[:80], 'empty': TABLE[:12] + bytes(12),
    },
}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for target, seeds in SEEDS.items():
        folder = os.path.join(sys.argv[1], target)
        os.makedirs(folder, exist_ok=True)
        for name, data in seeds.items():
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(data)


if __name__ == '__main__':
    main()
