#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A short load of blocks that say who they are, drawn from a seed, for lz-log.

stamps.py DEV -s SEED [-n REQUESTS] [-r ROUND] [-m NAME]
	workers, each in a part of the device of its own, so that a block changes by
	one request at a time: writes (some FUA), flushes, discards, zeros. They read
	anywhere. A
	block has a stamp (tests/kernel/log.h) with a tag that is never used again
	if every run on a device has its own ROUND. NAME: of the lifezone device,
	which is sent messages meanwhile. What is read is judged by who reads the log.
"""
import argparse
import fcntl
import mmap
import os
import random
import struct
import subprocess
import sys
import threading
import time

BLOCK = 4096
STAMP = 0x5441446B636F6C42
BLKDISCARD, BLKZEROOUT = 0x1277, 0x127F
MOST = 32  # blocks of a request with data
MASK = (1 << 64) - 1

p = argparse.ArgumentParser()
p.add_argument("dev")
p.add_argument("-s", "--seed", type=int, default=1)
p.add_argument("-n", "--requests", type=int, default=120)
p.add_argument("-r", "--round", type=int, default=0)
p.add_argument("-m", "--messages")
a = p.parse_args()
rnd = random.Random(a.seed * 8 + a.round)
fd = os.open(a.dev, os.O_RDWR | os.O_DIRECT)
blocks = os.lseek(fd, 0, os.SEEK_END) // BLOCK
workers = rnd.choice((1, 2, 4, 8))
longest = rnd.choice((1, 4, 8, MOST))
weights = (60, rnd.choice((0, 2, 10)), rnd.choice((2, 5, 20)), rnd.choice((0, 3, 10)),
           rnd.choice((0, 2)), rnd.choice((2, 10, 30)))
hot = rnd.choice((16, 64, blocks))
fill = rnd.random() < 0.6 and not a.round
failed = []


def stamp(buf, lba, n, version):
    for i in range(n):
        tag = (a.round + 1) << 56 | version << 24 | (lba + i)
        struct.pack_into("<QQ", buf, i * BLOCK, STAMP, tag)
        struct.pack_into("<QQ", buf, (i + 1) * BLOCK - 16, tag, ~tag & MASK)


def work(w):
    r = random.Random(a.seed * 1000 + a.round * 100 + w)
    first, end = blocks * w // workers, blocks * (w + 1) // workers
    buf = mmap.mmap(-1, MOST * BLOCK)
    version = w << 24

    def write(lba, n, fua):
        nonlocal version
        version += 1
        stamp(buf, lba, n, version)
        flags = os.RWF_DSYNC if fua else 0
        if os.pwritev(fd, [memoryview(buf)[: n * BLOCK]], lba * BLOCK, flags) != n * BLOCK:
            failed.append("block %d: written in part" % lba)

    try:
        if fill:
            for lba in range(first, end, MOST):
                write(lba, min(MOST, end - lba), False)
        for _ in range(a.requests // workers):
            what = r.choices(("write", "fua", "flush", "discard", "zeroes", "read"), weights)[0]
            lba = first + r.randrange(min(hot, end - first))
            n = min(r.randint(1, longest), end - lba)
            if what in ("write", "fua"):
                write(lba, n, what == "fua")
            elif what == "flush":
                os.fdatasync(fd)
            elif what == "read":
                lba = blocks * r.randrange(workers) // workers
                lba = min(lba + r.randrange(min(hot, blocks)), blocks - 1)
                n = min(r.choice((1, 1, 2, 8, MOST)), blocks - lba)
                buf[: n * BLOCK] = b"\xee" * (n * BLOCK)
                if os.preadv(fd, [memoryview(buf)[: n * BLOCK]], lba * BLOCK) != n * BLOCK:
                    failed.append("block %d: read in part" % lba)
            else:
                n = min(r.choice((1, 1, 4, 40, 200)), end - lba)
                fcntl.ioctl(fd, BLKDISCARD if what == "discard" else BLKZEROOUT,
                            struct.pack("QQ", lba * BLOCK, n * BLOCK))
    except OSError as e:
        failed.append(str(e))


threads = [threading.Thread(target=work, args=(w,)) for w in range(workers)]
for t in threads:
    t.start()
while a.messages and any(t.is_alive() for t in threads):
    message = rnd.choice(("checkpoint", "gc 1", "gc 4", "commit"))
    subprocess.run(["dmsetup", "message", a.messages, "0"] + message.split(), check=True)
    time.sleep(rnd.choice((0, 0.05, 0.2)))
for t in threads:
    t.join()
for line in failed[:10]:
    print(line)
sys.exit(1 if failed else 0)
