# SPDX-License-Identifier: GPL-2.0-only
"""spoil.py SEED IMAGE: change a few bytes of used blocks of an image of a drive.

With an odd seed only metadata blocks are changed and their checksums are made
right again, so that what is behind the checksum is tested too. With every eighth
a write pointer in IMAGE.zones is changed instead.
"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from crc32c import crc32c

BLOCK = 4096


def spoil_zone(r, image):
    path = image + ".zones"
    with open(path, encoding="ascii") as f:
        head, *zones = f.read().splitlines()
    size, cap = (int(head.split()[i]) for i in (2, 4))
    i = r.randrange(len(zones))
    zone, wp = (int(w) for w in zones[i].split()[:2])
    wp = r.choice((0, max(wp - 1, 0), r.randrange(cap), cap))
    zones[i] = f"{zone} {wp} {r.choice((3, 4)) if r.random() < .1 else (wp > 0) + (wp == cap)}"
    with open(path, "w", encoding="ascii") as f:
        print(head, *zones, sep="\n", file=f)
    with open(image, "r+b") as f:
        f.seek((zone * size + wp) * BLOCK)
        f.write(bytes((cap - wp) * BLOCK))


def main():
    seed = int(sys.argv[1])
    r = random.Random(seed)
    # Without its write pointers an image ends each zone at its last block.
    if not seed % 8 and os.path.exists(sys.argv[2] + ".zones"):
        spoil_zone(r, sys.argv[2])
        return
    with open(sys.argv[2], "r+b") as f:
        data = f.read()
        used = [b for b in range(len(data) // BLOCK)
                if data[b * BLOCK:(b + 1) * BLOCK] != bytes(BLOCK)]
        if seed % 2:
            used = [b for b in used if data[b * BLOCK:b * BLOCK + 4] == b"LFZN"]
        for _ in range(r.choice((1, 1, 3, 20))):
            b = r.choice(used)
            f.seek(b * BLOCK)
            block = bytearray(f.read(BLOCK))
            at = r.choice((r.randrange(8, 64), r.randrange(8, BLOCK), r.randrange(64, 300)))
            block[at] = r.choice((0, 255, block[at] ^ 1 << r.randrange(8)))
            if seed % 2:
                block[4:8] = bytes(4)
                block[4:8] = crc32c(block).to_bytes(4, "little")
            f.seek(b * BLOCK)
            f.write(block)


main()
