#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Overwrites a block device at random, and checks that every block is the latest.

versions.py write DEV LOG [-t TIMES] [-s SEED]
	every block once, from the first to the last, then TIMES as many at random,
	1 to 8 in one write, by 8 workers at once. They also read: what lies there
	must be what they wrote last. LOG gets the version of every block.
versions.py check DEV LOG
	every block is of the version in LOG. Status 1: one is not.
"""
import argparse
import array
import mmap
import os
import random
import struct
import sys
import threading

BLOCK = 4096
PART = 8  # blocks; a part belongs to one worker
WORKERS = 8
SPAN = 256  # blocks read or filled at a time
bad = []


def data(block, versions):
    return b"".join(struct.pack("<QQ", block + i, v) * (BLOCK // 16) for i, v in enumerate(versions))


class Dev:
    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.buf = mmap.mmap(-1, SPAN * BLOCK)

    def put(self, block, versions):
        n = len(versions) * BLOCK
        self.buf[:n] = data(block, versions)
        if os.pwritev(self.fd, [memoryview(self.buf)[:n]], block * BLOCK) != n:
            bad.append("block %d: written in part" % block)

    def check(self, block, versions):
        n = len(versions) * BLOCK
        if os.preadv(self.fd, [memoryview(self.buf)[:n]], block * BLOCK) != n:
            bad.append("block %d: read in part" % block)
        elif self.buf[:n] != data(block, versions):
            for i, v in enumerate(versions):
                got = self.buf[i * BLOCK : (i + 1) * BLOCK]
                if got != data(block + i, [v]):
                    bad.append("block %d: (%d, %d), want version %d"
                               % (block + i, *struct.unpack_from("<QQ", got), v))


def spans(n):
    return [(b, min(b + SPAN, n)) for b in range(0, n, SPAN)]


def write(a, blocks):
    versions = array.array("Q", [1]) * blocks
    dev = Dev(a.dev)
    for b, e in spans(blocks):
        dev.put(b, versions[b:e])

    def work(w):
        rnd = random.Random(a.seed * 100 + w)
        mine = range(w * PART, blocks, WORKERS * PART)
        todo = int(a.times * blocks / WORKERS)
        try:
            own = Dev(a.dev)
            while todo > 0 and not bad:
                part = rnd.choice(mine)
                end = min(part + PART, blocks)
                b = rnd.randrange(part, end)
                e = min(b + rnd.choice((1, 1, 1, 2, 8)), end)
                if rnd.random() < 0.1:
                    own.check(part, versions[part:end])
                for i in range(b, e):
                    versions[i] += 1
                own.put(b, versions[b:e])
                todo -= e - b
        except OSError as err:
            bad.append(str(err))

    threads = [threading.Thread(target=work, args=(w,)) for w in range(WORKERS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with open(a.log, "wb") as f:
        versions.tofile(f)


def check(a, blocks):
    versions = array.array("Q")
    with open(a.log, "rb") as f:
        versions.fromfile(f, blocks)
    dev = Dev(a.dev)
    for b, e in spans(blocks):
        dev.check(b, versions[b:e])


p = argparse.ArgumentParser()
p.add_argument("what", choices=("write", "check"))
p.add_argument("dev")
p.add_argument("log")
p.add_argument("-t", "--times", type=float, default=2)
p.add_argument("-s", "--seed", type=int, default=1)
a = p.parse_args()
with open(a.dev, "rb") as f:
    size = f.seek(0, os.SEEK_END) // BLOCK
(write if a.what == "write" else check)(a, size)
for line in bad[:10]:
    print(line)
if bad:
    print("%d blocks wrong" % len(bad))
sys.exit(1 if bad else 0)
