#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes with fsync, and checks after a crash that nothing acknowledged is lost.

acked.py write TARGET LOG SECONDS [-w WORKERS] [-b BLOCKS] [-s SEED] [--pause SECONDS]
		[--rounds N]
	until SECONDS are over, or each worker has written N times, or the target fails.
	TARGET: a block device, or a folder, in which files are made. Every block says which one it is and has
	a version that only grows. Worker 0 never syncs: its blocks are what is
	in flight. LOG gets one record for each acknowledged fsync, synchronously.
	Prints the number of fsyncs. Status 1: the target failed.
acked.py check TARGET LOG [-w WORKERS] [-b BLOCKS]
	every block holds the version last acknowledged or a later one of its own;
	one never acknowledged may also be empty. Status 1: something is lost.

LOG may be used by several runs after each other on one target.
"""
import argparse
import math
import mmap
import os
import random
import stat
import struct
import sys
import threading
import time
import zlib

BLOCK = 4096
HEAD = struct.Struct("<8sIQQ")  # magic, crc of the rest, block, version
MAGIC = b"ACKED\0\0\1"
RECORD = struct.Struct("<QQ")  # block, version
FILE_BLOCKS = 64  # blocks of a file, in a folder


def make(block, version):
    body = struct.pack("<QQ", block, version) * ((BLOCK - 12) // 16)
    body = body.ljust(BLOCK - 12, b"\xa5")
    return MAGIC + struct.pack("<I", zlib.crc32(body)) + body


def version_of(data, block):
    """The version in a block's data, 0 for an empty block, None for a wrong one."""
    if data == bytes(len(data)):
        return 0
    if len(data) != BLOCK or data[:8] != MAGIC:
        return None
    magic, crc, got, version = HEAD.unpack_from(data)
    if crc != zlib.crc32(data[12:]) or got != block:
        return None
    return version


def torn(data, block):
    """Does it mix versions of that block, and nothing else? What is written again
    while it is on its way may do so, if it was never synced: page and drive are not in step."""
    pairs = struct.iter_unpack("<QQ", data[12 : 12 + (BLOCK - 12) // 16 * 16])
    return data[:8] == MAGIC and all(b == block for b, _ in pairs)


class Raw:
    def __init__(self, path, _worker):
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.buf = mmap.mmap(-1, BLOCK)

    def put(self, block, data):
        self.buf[:] = data
        os.pwritev(self.fd, [self.buf], block * BLOCK)

    def sync(self):
        os.fdatasync(self.fd)

    def told(self, _block):
        return "a block device"

    def get(self, block):
        if os.preadv(self.fd, [self.buf], block * BLOCK) != BLOCK:
            return b""
        return self.buf[:]


class Tree:
    """A folder: files of FILE_BLOCKS blocks, buffered, each synced by itself."""

    def __init__(self, path, worker):
        self.path, self.worker, self.fds, self.dirty = path, worker, {}, set()

    def open(self, block, flags):
        n = block // FILE_BLOCKS
        if n not in self.fds:
            name = "%s/d%d" % (self.path, n % 7)
            if flags & os.O_CREAT:
                os.makedirs(name, exist_ok=True)
            self.fds[n] = os.open("%s/w%d.%d" % (name, self.worker, n), flags)
        return self.fds[n]

    def put(self, block, data):
        fd = self.open(block, os.O_RDWR | os.O_CREAT)
        os.pwrite(fd, data, block % FILE_BLOCKS * BLOCK)
        self.dirty.add(fd)

    def sync(self):
        for fd in self.dirty:
            os.fsync(fd)
        self.dirty.clear()

    def get(self, block):
        try:
            fd = self.open(block, os.O_RDONLY)
        except FileNotFoundError:
            return b""
        return os.pread(fd, BLOCK, block % FILE_BLOCKS * BLOCK)

    def told(self, block):
        """What there is of its file."""
        try:
            size = os.fstat(self.open(block, os.O_RDONLY)).st_size
        except FileNotFoundError as e:
            return "no file " + e.filename
        return "block %d of a file of %g" % (block % FILE_BLOCKS, size / BLOCK)


def target(path):
    return Raw if stat.S_ISBLK(os.stat(path).st_mode) else Tree


def acknowledged(path):
    acked = {}
    try:
        with open(path, "rb") as f:
            data = f.read()
    except FileNotFoundError:
        return acked
    for block, version in RECORD.iter_unpack(data[: len(data) // RECORD.size * RECORD.size]):
        acked[block] = max(acked.get(block, 0), version)
    return acked


def write(a):
    log = os.open(a.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.ftruncate(log, os.fstat(log).st_size // RECORD.size * RECORD.size)
    lock = threading.Lock()
    # A version is a time, so that it is larger than that of any run before.
    base = time.time_ns()
    end = time.monotonic() + a.seconds
    syncs = [0] * a.workers
    failed = []

    def work(w):
        rnd = random.Random(a.seed * 100 + w)
        t = target(a.target)(a.target, w)
        n = 0
        try:
            # At least once: the machine may have stood still meanwhile.
            while (not n or time.monotonic() < end) and n < a.rounds and not failed:
                mine = set()
                for _ in range(rnd.choice((1, 1, 2, 8, 24))):
                    mine.add(rnd.randrange(a.blocks // a.workers) * a.workers + w)
                n += 1
                for b in mine:
                    t.put(b, make(b, base + n))
                if not w:
                    continue
                a.mark("worker %d: to sync %s" % (w, sorted(mine)))
                t.sync()
                with lock:
                    os.write(log, b"".join(RECORD.pack(b, base + n) for b in mine))
                    a.mark("worker %d: synced %s" % (w, sorted(mine)))
                syncs[w] += 1
                time.sleep(rnd.random() * a.pause)
        except OSError as e:
            failed.append(e)

    workers = range(a.workers) if a.only is None else [a.only]
    threads = [threading.Thread(target=work, args=(w,)) for w in workers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(sum(syncs))
    if failed:
        print("ended by: %s" % failed[0], file=sys.stderr)
    return 1 if failed else 0


def check(a):
    acked = acknowledged(a.log)
    trees = {}
    lost = 0
    held = 0
    mixed = 0
    for b in range(a.blocks // a.workers * a.workers):
        w = b % a.workers
        if w not in trees:
            trees[w] = target(a.target)(a.target, w)
        want = acked.get(b, 0)
        data = b""
        try:
            data = trees[w].get(b)
            got = version_of(data, b)
        except OSError as e:
            got = None
            print("block %d: %s" % (b, e))
        if got is None and not w and isinstance(trees[w], Tree) and torn(data, b):
            mixed += 1
        elif got is None or got < want:
            lost += 1
            if lost <= 5:
                print("block %d: version %s, acknowledged %d; %s" % (
                    b, got, want, trees[w].told(b)))
                if got is None:
                    print("\n".join(data[i : i + 64].hex() for i in range(0, len(data), 64)))
        held += got is not None and got > 0
    if mixed:
        print("%d blocks, never synced, of several versions" % mixed)
    print("%d blocks acknowledged, %d with data, %d lost" % (len(acked), held, lost))
    return 1 if lost or not acked else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=("write", "check"))
    p.add_argument("target")
    p.add_argument("log")
    p.add_argument("seconds", nargs="?", type=float, default=5)
    p.add_argument("-w", "--workers", type=int, default=4)
    p.add_argument("-b", "--blocks", type=int, default=4096)
    p.add_argument("-s", "--seed", type=int, default=1)
    p.add_argument("--pause", type=float, default=0, help="after an fsync, seconds at most")
    p.add_argument("--rounds", type=float, default=math.inf, help="of each worker, at most")
    p.add_argument("--only", type=int, help="the one worker that writes")
    p.set_defaults(mark=lambda text: None)
    a = p.parse_args()
    return write(a) if a.what == "write" else check(a)


if __name__ == "__main__":
    sys.exit(main())
