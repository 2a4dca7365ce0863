#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What is on a zoned drive, saved, changed and put back: blocks there cannot be overwritten.

zones.py save DEV IMAGE
	data below the write pointers, and in IMAGE.wp the write pointers.
zones.py restore IMAGE DEV
	DEV, its zones reset first, becomes what was saved. Of a zone that is
	larger than DEV's only the first blocks are written.
zones.py list IMAGE
	a line for each metadata block: its number and type
zones.py set IMAGE OFFSET HEX BLOCK...
	changes bytes of these blocks and makes their checksums right again, unless
	it is the checksum that is changed
"""
import mmap
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from crc32c import crc32c

BLOCK = 4096
CRC = slice(4, 8)
PIECE = 64 * BLOCK


def blkzone(*words):
    import subprocess  # half a second in an emulated guest, and "set" is called most
    return subprocess.run(["blkzone", *words], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def report(dev):
    """Start, size, capacity and write pointer of each zone (bytes)."""
    zones = []
    for line in blkzone("report", dev).splitlines():
        word = line.replace(",", "").split()
        start, size, cap, wp = (int(word[i], 16) * 512 for i in (1, 3, 5, 7))
        # A full zone has no write pointer; what was never written reads as zeros.
        zones.append({"start": start, "size": size, "cap": cap,
                      "wp": cap if "(fu)" in line else wp})
    return zones


def save(dev, image):
    zones = report(dev)
    buf = mmap.mmap(-1, PIECE)
    fd = os.open(dev, os.O_RDONLY | os.O_DIRECT)
    with open(image, "wb") as f:
        for z in zones:
            for at in range(0, z["wp"], PIECE):
                n = min(PIECE, z["wp"] - at)
                os.preadv(fd, [memoryview(buf)[:n]], z["start"] + at)
                f.seek(z["start"] + at)
                f.write(buf[:n])
        f.truncate(zones[-1]["start"] + zones[-1]["size"])
    with open(image + ".wp", "w", encoding="ascii") as f:
        f.writelines("%d %d\n" % (z["start"], z["wp"]) for z in zones)


def saved(image):
    """Start and write pointer of each zone (bytes)."""
    with open(image + ".wp", encoding="ascii") as f:
        return [[int(n) for n in line.split()] for line in f]


def restore(image, dev):
    blkzone("reset", dev)
    fd = os.open(dev, os.O_WRONLY | os.O_DIRECT)
    buf = mmap.mmap(-1, PIECE)
    with open(image, "rb") as f:
        for (start, wp), new in zip(saved(image), report(dev)):
            for at in range(0, min(wp, new["cap"]), PIECE):
                n = min(PIECE, wp - at, new["cap"] - at)
                f.seek(start + at)
                buf[:n] = f.read(n)
                os.pwritev(fd, [memoryview(buf)[:n]], new["start"] + at)


def metadata(image):
    with open(image, "rb") as f:
        for start, wp in saved(image):
            for at in range(start, start + wp, BLOCK):
                f.seek(at)
                h = f.read(26)
                if h[:4] == b"LFZN":
                    print(at // BLOCK, int.from_bytes(h[24:], "little"))


def change(image, offset, data, blocks):
    with open(image, "r+b") as f:
        for block in blocks:
            f.seek(block * BLOCK)
            b = bytearray(f.read(BLOCK))
            b[offset:offset + len(data)] = data
            if offset != CRC.start:
                b[CRC] = bytes(4)
                b[CRC] = crc32c(b).to_bytes(4, "little")
            f.seek(block * BLOCK)
            f.write(b)


def main():
    what, a = sys.argv[1], sys.argv[2:]
    if what == "save":
        save(*a)
    elif what == "restore":
        restore(*a)
    elif what == "list":
        metadata(*a)
    elif what == "set":
        change(a[0], int(a[1]), bytes.fromhex(a[2]), [int(b) for b in a[3:]])
    else:
        sys.exit(__doc__)


main()
