# SPDX-License-Identifier: GPL-2.0-only
"""spoil.py SEED IMAGE: change a few bytes of used blocks of an image of a drive.

With an odd seed only metadata blocks are changed and their checksums are made
right again, so that what is behind the checksum is tested too.
"""
import random
import sys

BLOCK = 4096
TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    TABLE.append(c)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc


def main():
    seed = int(sys.argv[1])
    r = random.Random(seed)
    with open(sys.argv[2], "r+b") as f:
        data = f.read()
        used = [b for b in range(len(data) // BLOCK)
                if any(data[b * BLOCK:(b + 1) * BLOCK])]
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
