#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes, discards and write-zeroes of any range, each block's value known exactly.

ranges.py run DEV STATE SEED OPS
	writes, discards and zeroes at random, and checks with flushes between;
	prints the blocks mapped. STATE has for each block what it may hold: what
	was last flushed and all since, 0 for a discard.
ranges.py check DEV STATE
	after a cut: every block holds one of these. Prints nothing. Zeros that may have been
	written, and be mapped, or not, are discarded.

Reads go to memory that is full of something else, at any offset a drive takes.
Where the device knows no write-zeroes the kernel writes zeros: these are mapped.
"""
import fcntl
import mmap
import os
import pickle
import random
import struct
import sys

BLOCK, SPAN = 4096, 256
BLKDISCARD, BLKZEROOUT = 0x1277, 0x127F
POISON = b"\xa5" * BLOCK

what, dev, state = sys.argv[1:4]
seed, ops = map(int, sys.argv[4:6]) if what == "run" else (0, 0)
rnd = random.Random(seed)
fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
size = os.lseek(fd, 0, os.SEEK_END) // BLOCK
rdev = os.stat(dev).st_rdev
queue = "/sys/dev/block/%d:%d/queue/" % (os.major(rdev), os.minor(rdev))
align = int(open(queue + "dma_alignment").read()) + 1
written = int(open(queue + "write_zeroes_max_bytes").read()) == 0
view = memoryview(mmap.mmap(-1, (SPAN + 1) * BLOCK))


def tag(b, v):
    return struct.pack("<QQ", b, v) * (BLOCK // 16) if v > 0 else bytes(BLOCK)


def blocks():
    """Every block and what is read of it."""
    b = 0
    while b < size:
        n = min(rnd.choice((1, rnd.randint(1, SPAN), SPAN, SPAN)), size - b)
        view[:] = POISON * (SPAN + 1)
        at = rnd.randrange(0, BLOCK, align)
        part = view[at : at + n * BLOCK]
        assert os.preadv(fd, [part], b * BLOCK) == n * BLOCK
        for i in range(n):
            # A view would be compared byte by byte.
            yield b + i, bytes(part[i * BLOCK : (i + 1) * BLOCK])
        b += n


def extent():
    """Any place and length, small ones and tree boundaries more often."""
    n = rnd.choice((1, rnd.randint(1, 9), rnd.randint(1, 600), rnd.randint(1, size)))
    b = rnd.choice((rnd.randrange(size), rnd.randrange(size) // 504 * 504, size - n))
    return b, max(1, min(n, size - b))


def run(may):
    gen = max(map(max, may))
    for op in range(ops):
        how = rnd.choice("wwwwdzf")
        b, n = extent()
        if how == "w":
            gen, n = gen + 1, min(n, rnd.choice((1, 4, SPAN)))
            for i in range(n):
                view[i * BLOCK : (i + 1) * BLOCK] = tag(b + i, gen)
                may[b + i].append(gen)
            assert os.pwritev(fd, [view[: n * BLOCK]], b * BLOCK) == n * BLOCK
        elif how == "f":
            os.fsync(fd)
            may = [m[-1:] for m in may]
        else:
            zero = how == "z"
            where = struct.pack("QQ", b * BLOCK, n * BLOCK)
            fcntl.ioctl(fd, BLKZEROOUT if zero else BLKDISCARD, where)
            for i in range(b, b + n):
                may[i].append(-1 if zero and written else 0)
        if op % 40 == 39:
            for b, data in blocks():
                want = tag(b, may[b][-1])
                assert data == want, "block %d after %d operations: %r, want %r" % (
                    b, op, data[:16], want[:16])
            message = rnd.choice(("checkpoint", "gc"))
            os.system("dmsetup message %s 0 %s" % (os.path.basename(dev), message))
    print(sum(m[-1] != 0 for m in may))
    return may


def check(may):
    for b, data in blocks():
        fit = [v for v in may[b] if data == tag(b, v)]
        assert fit, "block %d: %r, may be %r" % (b, struct.unpack_from("<QQ", data), may[b])
        may[b] = fit[-1:]
        if 0 in fit and -1 in fit:
            fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", b * BLOCK, BLOCK))
            may[b] = [0]
    return may


try:
    may = pickle.load(open(state, "rb"))
except FileNotFoundError:
    may = [[0] for b in range(size)]
may = run(may) if what == "run" else check(may)
pickle.dump(may, open(state, "wb"))
