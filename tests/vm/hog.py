#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Users of more memory than there is, who notice when a page of theirs is another's.

hog.py memory MIB ROUNDS SEED
	so much memory, touched all over in each round, in an order of the seed's:
	what is in a page must be what was put there last.
hog.py write FILE MIB SEED
	a file, through the page cache, then fsync.
hog.py check FILE MIB SEED
	it is as written.
"""
import mmap
import os
import random
import struct
import sys

PAGE = 4096
PIECE = 64  # pages


def content(seed, page, version):
    return struct.pack("<QQ", seed << 32 | page, version) * (PAGE // 16)


def memory(mib, rounds, seed):
    n = mib << 8
    area = mmap.mmap(-1, n * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    version = [0] * n
    r = random.Random(seed)
    for i in range(n):
        area[i * PAGE:(i + 1) * PAGE] = content(seed, i, 0)
    for _ in range(rounds):
        # By stretches, as programs do, so that reading ahead is not all in vain.
        for first in r.sample(range(0, n, PIECE), n // PIECE):
            for i in range(first, min(first + PIECE, n)):
                if area[i * PAGE:(i + 1) * PAGE] != content(seed, i, version[i]):
                    sys.exit(f"hog {seed}: page {i} of {n} is not what it was")
                if r.random() < .5:
                    version[i] += 1
                    area[i * PAGE:(i + 1) * PAGE] = content(seed, i, version[i])


def pieces(mib, seed):
    for first in range(0, mib << 8, PIECE):
        yield b"".join(content(seed, i, 0) for i in range(first, first + PIECE))


def write(path, mib, seed):
    with open(path, "wb", 0) as f:
        for piece in pieces(mib, seed):
            f.write(piece)
        os.fsync(f.fileno())


def check(path, mib, seed):
    with open(path, "rb", 0) as f:
        for i, piece in enumerate(pieces(mib, seed)):
            if f.read(len(piece)) != piece:
                sys.exit(f"{path}: differs within pages {i * PIECE} to {(i + 1) * PIECE - 1}")


def main():
    what, a = sys.argv[1], sys.argv[2:]
    if what == "memory":
        memory(*map(int, a))
    elif what in ("write", "check"):
        (write if what == "write" else check)(a[0], int(a[1]), int(a[2]))
    else:
        sys.exit(__doc__)


main()
