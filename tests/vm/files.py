#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A store of files under constant load: files.py DIR LIVE WRITE SYSFS [LOAD REST]

LIVE MiB of files, then WRITE MiB of others, for each of which some that are there are
deleted: most of them young, as the upper levels of an LSM tree. Written past the page cache,
and synced when whole, like SSTs. LOAD REST: rests REST seconds after each LOAD seconds.
Prints what counters.py counts of SYSFS during the second half of WRITE.
"""
import mmap
import os
import random
import sys
import time

from counters import counters

SIZES = [n << 17 for n in (1, 2, 4, 8, 16, 32)]

top, live, write, sysfs = sys.argv[1], int(sys.argv[2]) << 20, int(sys.argv[3]) << 20, sys.argv[4]
load, rest = map(float, sys.argv[5:7]) if len(sys.argv) > 5 else (0, 0)
rnd = random.Random(1)
data = memoryview(mmap.mmap(-1, SIZES[-1]))
data[:] = rnd.randbytes(len(data))


def add(number):
    size = rnd.choice(SIZES)
    fd = os.open("%s/%07d" % (top, number), os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    if os.write(fd, data[:size]) != size:
        raise OSError("short write")
    os.fsync(fd)
    os.close(fd)
    return number, size


def delete(files):
    """The youngest of four, three times of four."""
    i = rnd.randrange(len(files))
    if rnd.randrange(4):
        i = max(rnd.randrange(len(files)) for _ in range(4))
    number, size = files.pop(i)
    os.unlink("%s/%07d" % (top, number))
    return size


files, used, number, written, half = [], 0, 0, 0, None
since = time.monotonic()
while written < live + write:
    files.append(add(number))
    number += 1
    used += files[-1][1]
    written += files[-1][1]
    while used > live:
        used -= delete(files)
    if not half and written >= live + write // 2:
        half = counters(sysfs, written)
    if load and time.monotonic() - since >= load:
        time.sleep(rest)
        since = time.monotonic()
print(*(now - was for now, was in zip(counters(sysfs, written), half)))
