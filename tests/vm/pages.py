#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A database that overwrites in place, as InnoDB does: pages.py DIR LIVE WRITE SYSFS [LOAD REST]

LIVE MiB of tables, a doublewrite buffer and a redo log, then WRITE MiB of them written: batches
of pages of 16 KiB, four of five to a fifth of the tables, the log of each before it is synced,
each page to the doublewrite buffer, synced, and then to its place, synced. Through the page
cache. LOAD REST: rests REST seconds after each LOAD seconds. Prints what counters.py counts of
SYSFS during the second half of WRITE.
"""
import os
import random
import sys
import time

from counters import counters

MIB = 1 << 20
PAGE = 16 << 10
BATCH = 64  # pages
LOG = 32 * MIB
RECORDS = 64 << 10  # of the log, for a batch

top, live, write, sysfs = sys.argv[1], int(sys.argv[2]) * MIB, int(sys.argv[3]) * MIB, sys.argv[4]
load, rest = map(float, sys.argv[5:7]) if len(sys.argv) > 5 else (0, 0)
rnd = random.Random(1)
data = rnd.randbytes(BATCH * PAGE)


def create(name, size):
    fd = os.open("%s/%s" % (top, name), os.O_RDWR | os.O_CREAT)
    for at in range(0, size, len(data)):
        os.pwrite(fd, data[: size - at], at)
    os.fsync(fd)
    return fd


def some_page():
    hot = pages // 5
    return rnd.randrange(hot) if rnd.randrange(5) else hot + rnd.randrange(pages - hot)


def batch(number):
    at = number * RECORDS % LOG
    os.pwrite(log, data[:RECORDS], at)
    os.fdatasync(log)
    os.pwrite(twice, data, number % 2 * len(data))
    os.fdatasync(twice)
    for i in range(BATCH):
        os.pwrite(tables, data[i * PAGE : (i + 1) * PAGE], some_page() * PAGE)
    os.fsync(tables)
    return RECORDS + 2 * len(data)


log = create("log", LOG)
twice = create("doublewrite", 2 * len(data))
pages = (live - LOG - 2 * len(data)) // PAGE
tables = create("tables", pages * PAGE)
number, written, half = 0, 0, None
since = time.monotonic()
while written < write:
    written += batch(number)
    number += 1
    if not half and written >= write // 2:
        half = counters(sysfs, written)
    if load and time.monotonic() - since >= load:
        time.sleep(rest)
        since = time.monotonic()
print(*(now - was for now, was in zip(counters(sysfs, written), half)))
