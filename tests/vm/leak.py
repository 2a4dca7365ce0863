#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fills a device, and after it was discarded looks whether anything of it is left.

leak.py fill DEV [EVERY]	every block, or one in so many, says which it is
leak.py none DEV [EVERY]	nothing but zeros can be read, except for one block in
				so many, which says which it is

Read is all of the device, in several ways, and into memory full of something else.
"""
import mmap
import os
import random
import struct
import sys

BLOCK, SPAN = 4096, 256
what, dev = sys.argv[1:3]
every = int(sys.argv[3]) if len(sys.argv) > 3 else 0
rnd = random.Random(1)
align = open("/sys/block/%s/queue/dma_alignment" % os.path.basename(os.path.realpath(dev)))
align = int(align.read()) + 1
size = os.lseek(os.open(dev, os.O_RDONLY), 0, os.SEEK_END) // BLOCK
view = memoryview(mmap.mmap(-1, (SPAN + 1) * BLOCK))
poison = b"\xa5" * len(view)


def secret(b):
    return struct.pack("<8sQ", b"SECRET\n\0", b) * (BLOCK // 16)


def fill():
    fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
    step = SPAN if every == 0 else 1
    for b in range(0, size, every or SPAN):
        n = min(step, size - b)
        view[: n * BLOCK] = b"".join(map(secret, range(b, b + n)))
        assert os.pwritev(fd, [view[: n * BLOCK]], b * BLOCK) == n * BLOCK
    os.fsync(fd)


def look(how, flags, length, offset):
    """All of the device, as many blocks at a time and as far into a page as drawn."""
    fd = os.open(dev, os.O_RDONLY | flags)
    if not flags:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    b = 0
    while b < size:
        n = min(length(), size - b)
        view[:] = poison
        at = offset()
        assert os.preadv(fd, [view[at : at + n * BLOCK]], b * BLOCK) == n * BLOCK
        want = b"".join(secret(i) if every and i % every == 0 else bytes(BLOCK)
                        for i in range(b, b + n))
        # A view would be compared byte by byte.
        got = bytes(view[at : at + n * BLOCK])
        if got != want:
            i = next(i for i in range(n * BLOCK) if got[i] != want[i])
            sys.exit("%s: block %d, byte %d of it: %r, want %r"
                     % (how, b + i // BLOCK, i % BLOCK, got[i : i + 16], want[i : i + 16]))
        b += n


if what == "fill":
    fill()
else:
    look("direct", os.O_DIRECT, lambda: SPAN, lambda: 0)
    look("direct, pieces", os.O_DIRECT, lambda: rnd.choice((1, 2, rnd.randint(1, SPAN))),
         lambda: rnd.randrange(0, BLOCK, align))
    look("buffered", 0, lambda: SPAN, lambda: 0)
