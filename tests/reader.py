#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A reader of lifezone devices, written from Documentation/ondisk-format.rst alone.

reader.py IMAGE
	does steps 1 to 5 of recovery in memory and prints all it found, as JSON.
reader.py --against LIFEZONE IMAGE...
	compares that with what the tool prints, image by image: both must find the
	same, or both refuse.

It shares no code and no declaration with what it is compared with. What it knows
and the document does not say is a fault of the document.
"""
import codecs
import json
import os
import struct
import subprocess
import sys
from collections import Counter
from functools import lru_cache

BLOCK = 4096
MAGIC = 0x4e5a464c
NOWHERE = (1 << 40) - 1
NUMBER_MAX = 1 << 62
NONE = 0xffffffff
SUPER, ROOT, JOURNAL, NODE, ZNODE, SUMMARY = range(1, 7)
FREE, OPEN, FULL, META, ROOTZ, BAD = range(6)
STATES = ["free", "open", "full", "meta", "root", "bad"]
CLASSES = ["not_set", "none", "short", "medium", "long", "extreme", "meta",
           *(f"group{i}" for i in range(11))]
EMPTY, COND_OPEN, COND_FULL, READONLY, OFFLINE = range(5)
NODE_ENTRIES = 504
ZNODE_ENTRIES = 126
MAP, DISCARD, ZOPEN, ZSUM, ZBAD = range(1, 6)
SCAN, BY_GC, CANNOT, WORN, LOST = 1, 2, 4, 8, 16

codecs.register_error("question", lambda e: ("?", e.start + 1))

# Polynomials over bits are numbers whose lowest bit is the highest power.
def times_x(p):
    return p >> 1 ^ (0x82f63b78 if p & 1 else 0)


@lru_cache(maxsize=None)
def power(n):
    """Bits of x to the n, modulo the polynomial of crc32c."""
    p = 1 << 31
    for _ in range(n):
        p = times_x(p)
    return [i for i in range(32) if p >> i & 1]


# The drives compared one after the other are much alike.
@lru_cache(maxsize=20000)
def crc32c(data):
    """The higher half of the powers goes into the lower, again and again: byte by byte, with a
    table, Python takes eight times as long."""
    rest, bits = int.from_bytes(data, "little") ^ NONE, 8 * len(data)
    while bits > 64:
        half = bits // 2
        higher = rest & (1 << half) - 1
        rest = rest >> half << (2 * half + 31 - bits)
        for bit in power(bits - half):
            rest ^= higher << bit
        bits = half + 31
    for _ in range(bits):
        rest = times_x(rest)
    return rest


class Damage(Exception):
    pass


def need(ok, what):
    if not ok:
        raise Damage(what)


class Drive:
    """An image file and the write pointers beside it."""

    def __init__(self, path):
        self.f = open(path, "rb", buffering=0)
        # Most of it are holes, and what lies ahead of one is read for nothing.
        os.posix_fadvise(self.f.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        with open(path + ".zones", encoding="ascii") as f:
            head = f.readline().split()
            self.zone_blocks, self.zone_cap = int(head[2]), int(head[4])
            self.nr_zones = self.f.seek(0, 2) // BLOCK // self.zone_blocks
            self.wp = [0] * self.nr_zones
            self.cond = [EMPTY] * self.nr_zones
            self.torn = [False] * self.nr_zones
            for line in f:
                word = [int(w) for w in line.split()]
                self.cond[word[0]] = word[2]
                # Of a zone that is read-only a drive may report anything.
                self.wp[word[0]] = self.zone_cap if word[2] == READONLY else word[1]
                self.torn[word[0]] = len(word) > 3 and word[3] != 0

    def read(self, addr):
        return os.pread(self.f.fileno(), BLOCK, addr * BLOCK).ljust(BLOCK, b"\0")


class Header:
    def __init__(self, b):
        (self.magic, self.crc, self.uuid, self.type, self.level, self.count, self.epoch,
         self.seq, self.addr, self.index) = struct.unpack_from("<II16sHHIQQQQ", b)


class Reader:
    def __init__(self, drive):
        self.d = drive
        self.uuid = None
        self.epoch = (1 << 64) - 1      # no node is later than the root
        self.findings = []              # what recovery bears, and is still wrong
        self.perhaps = []               # the same, in zones that may be searched anyway
        self.lost = []                  # leaves of the map
        self.journal = []
        self.log_zones = set()
        self.find_super()
        self.find_root()
        self.read_zone_table()
        self.read_map()
        self.table = [dict(z) for z in self.zone]
        self.tree = dict(self.map)
        self.replay()
        self.settle_zones()
        self.check()

    # --- blocks ---------------------------------------------------------------------

    def written(self, addr):
        zone, off = divmod(addr, self.d.zone_blocks)
        return (zone < self.d.nr_zones and off < self.d.wp[zone] and
                self.d.cond[zone] != OFFLINE)

    def block(self, addr, kind, level=0, index=None, sign=None):
        """The block at addr and its header, or None if it is not to be believed."""
        if not self.written(addr):
            return None
        b = self.d.read(addr)
        h = Header(b)
        if (h.magic != MAGIC or h.type != kind or h.level != level or
                h.addr != (addr if sign is None else sign) or
                self.uuid not in (None, h.uuid) or index not in (None, h.index) or
                crc32c(b[:4] + bytes(4) + b[8:]) != h.crc):
            return None
        good = {SUPER: self.good_super, ROOT: self.good_root, JOURNAL: self.good_journal,
                NODE: self.good_node, ZNODE: self.good_znode, SUMMARY: self.good_summary}
        return (h, b) if good[kind](h, b) else None

    def pool(self, addr, n=1):
        """A place on the drive where anything but roots may lie."""
        zone, off = divmod(addr, self.zone_blocks)
        return 2 <= zone < self.nr_zones and off + n <= self.zone_cap

    @staticmethod
    def good_super(h, b):
        version, zones, size, cap, meta, gc, spare, blocks = struct.unpack_from(
            "<I76x6IQ", b, 72)
        if h.count or h.index or b[64:72] != b"LIFEZONE" or not version:
            return False
        # Of another version all that is known is that it is another.
        return version != 1 or (
            0 < cap <= size <= 1 << 24 and not size & (size - 1) and
            zones * size <= NOWHERE and meta + gc + 2 < zones and spare <= 1000 and
            0 < blocks <= (zones - 2 - meta - gc) * cap)

    @staticmethod
    def good_root(h, b):
        addr, seq, commit, write_seq = struct.unpack_from("<4Q", b, 64)
        flags, mapped = struct.unpack_from("<IQ", b, 100)
        return (not h.count and not h.index and min(h.epoch, h.seq, seq) > 0 and
                addr <= NOWHERE and max(h.epoch, h.seq, seq, commit, write_seq) <= NUMBER_MAX and
                flags <= 1 and mapped <= NOWHERE and
                max(struct.unpack_from("<320Q", b, 112)) <= NOWHERE)

    @staticmethod
    def good_node(h, b):
        return h.count <= NODE_ENTRIES and max(struct.unpack_from("<504Q", b, 64)) <= NOWHERE

    def good_znode(self, h, b):
        if h.level:
            return self.good_node(h, b)
        return h.count <= ZNODE_ENTRIES and all(
            z["state"] <= BAD and z["class"] < len(CLASSES) and z["flags"] < 32 and
            z["valid"] <= 1 << 24 and z["wp"] <= 1 << 24 and z["seq"] <= NUMBER_MAX and
            (z["head"] == NONE or z["head"] < 1 << 24) for z in self.zone_entries(h, b))

    def good_journal(self, h, b):
        next_zone, more, first = struct.unpack_from("<IIQ", b, 64)
        return (h.count <= 251 and 0 < first <= h.seq and more <= 1 and
                h.index <= NUMBER_MAX and
                (next_zone == NONE or (not h.count and first == h.seq)) and
                all(self.good_record(*r) for r in self.records(h, b)))

    @staticmethod
    def good_record(kind, lba, n, b):
        return {MAP: n and lba + n <= NOWHERE and b + n <= NOWHERE,
                DISCARD: b and lba + b <= NOWHERE,
                ZOPEN: lba < NONE and n < len(CLASSES) and b >> 32 < 32,
                ZSUM: lba < NONE and n and (b & NONE) + n <= 1 << 24,
                ZBAD: lba < NONE}.get(kind, False)

    @staticmethod
    def good_summary(h, b):
        prev, group, nth = struct.unpack_from("<III", b, 68)
        return (h.count <= 501 and nth < group <= 1 << 24 and
                (prev == NONE or prev < 1 << 24) and
                all(e & NOWHERE != NOWHERE for e in struct.unpack_from(f"<{h.count}Q", b, 88)))

    @staticmethod
    def records(h, b):
        for i in range(h.count):
            a, second = struct.unpack_from("<QQ", b, 80 + 16 * i)
            yield a >> 60, a & NOWHERE, a >> 40 & 0xfffff, second

    @staticmethod
    def zone_entries(h, b):
        names = ("gen", "state", "class", "flags", "valid", "wp", "head", "sum_seq", "seq")
        for i in range(h.count):
            yield dict(zip(names, struct.unpack_from("<IBBHIIIIQ", b, 64 + 32 * i)))

    # --- 1. superblock --------------------------------------------------------------

    def find_super(self):
        best = None
        for zone in range(min(2, self.d.nr_zones)):
            at = zone * self.d.zone_blocks
            found = self.block(at, SUPER) or self.block(at + 1, SUPER)
            if found and (not best or (found[0].epoch, found[0].seq) >
                          (best[0].epoch, best[0].seq)):
                best = found
        need(best, "no superblock")
        h, b = best
        self.uuid = h.uuid
        (self.version, self.compat, self.compat_ro, self.incompat, label, self.nr_zones,
         self.zone_blocks, self.zone_cap, self.meta_zones, self.gc_zones, self.spare_permille,
         self.logical_blocks, self.created) = struct.unpack_from("<4I64s6I2Q", b, 72)
        # JSON is UTF-8: for each byte that begins no character there is a question mark.
        self.label = label.split(b"\0")[0].decode(errors="question")
        need(self.version == 1 and not self.incompat, "of another version")
        need(self.zone_blocks == self.d.zone_blocks and self.zone_cap <= self.d.zone_cap and
             self.nr_zones <= self.d.nr_zones, "the drive is another")
        self.check_layout()

    @staticmethod
    def nodes(leaves, top):
        n = leaves
        while leaves > top:
            leaves = -(-leaves // NODE_ENTRIES)
            n += leaves
        return n

    def check_layout(self):
        cap, spare = self.zone_cap, self.spare_permille
        need(cap >= 8 and 20 <= spare <= 900, "capacity or spare space")
        nodes = (self.nodes(-(-self.nr_zones * cap // NODE_ENTRIES), 256) +
                 self.nodes(-(-self.nr_zones // ZNODE_ENTRIES), 64))
        meta = 2 * -(-nodes // (cap - 1)) + 5
        others = self.nr_zones - meta - 5
        blocks = others * (cap - -(-cap // 502) - min(4, cap // 8)) * (1000 - spare) // 1000
        need(others >= 2 and self.meta_zones >= meta and self.gc_zones >= 2 and
             self.logical_blocks <= blocks, "promises what it cannot hold")

    # --- 2. root --------------------------------------------------------------------

    def find_root(self):
        best = None
        for zone in range(2):
            at = zone * self.zone_blocks
            has_super = self.block(at, SUPER) or self.block(at + 1, SUPER)
            for off in range(min(self.d.wp[zone], self.zone_cap) - 1, 0, -1):
                found = self.block(at + off, ROOT)
                if found:
                    if off < 4 and not has_super:
                        break
                    if not best or found[0].seq > best[0].seq:
                        best = found
                        self.root_zone = zone
                    break
        need(best, "no root")
        other = 1 - self.root_zone
        need(self.d.cond[other] != OFFLINE or self.d.cond[self.root_zone] == COND_OPEN,
             "the newest root may be in a zone that cannot be read")
        h, b = best
        self.epoch, self.number = h.epoch, h.seq
        (self.journal_addr, self.journal_seq, self.commit, self.write_seq, self.node_zone,
         self.flags, self.mapped) = struct.unpack_from("<4Q2IQ", b, 64)
        self.map_top = struct.unpack_from("<256Q", b, 112)
        self.ztab_top = struct.unpack_from("<64Q", b, 2160)
        self.root_commit = self.commit

    # --- 3. trees -------------------------------------------------------------------

    def leaves(self, kind, top, n):
        """Index and block of each leaf; only one of the map may be damaged."""
        levels = [n]
        while levels[-1] > len(top):
            levels.append((levels[-1] + NODE_ENTRIES - 1) // NODE_ENTRIES)
        todo = [(len(levels) - 1, i, a) for i, a in enumerate(top[:levels[-1]])]
        while todo:
            level, index, addr = todo.pop(0)
            if addr == NOWHERE:
                continue
            need(self.pool(addr), f"node at {addr}")
            need(self.written(addr) or self.d.cond[addr // self.zone_blocks] == OFFLINE,
                 f"node at {addr}, past the write pointer")
            self.log_zones.add(addr // self.zone_blocks)
            found = self.block(addr, kind, level, index)
            if found and found[0].epoch > self.epoch:
                found = None
            need(found or (kind == NODE and not level), f"node at {addr}")
            if not level:
                yield index, found
                continue
            first = index * NODE_ENTRIES
            todo += [(level - 1, first + i, a) for i, a in
                     enumerate(struct.unpack_from("<504Q", found[1], 64))
                     if first + i < levels[level - 1]]

    def read_zone_table(self):
        empty = dict.fromkeys(("gen", "state", "class", "flags", "valid", "wp", "sum_seq",
                               "seq"), 0)
        self.zone = [{**empty, "head": NONE} for _ in range(self.nr_zones)]
        n = (self.nr_zones + ZNODE_ENTRIES - 1) // ZNODE_ENTRIES
        for index, (h, b) in self.leaves(ZNODE, self.ztab_top, n):
            first = index * ZNODE_ENTRIES
            need(h.count == min(ZNODE_ENTRIES, self.nr_zones - first),
                 f"zone table leaf {index} has {h.count} entries")
            self.zone[first:first + h.count] = self.zone_entries(h, b)
            need(all(z["valid"] <= self.zone_cap and (z["head"] == NONE or
                                                      z["head"] < self.zone_cap)
                     for z in self.zone_entries(h, b)), "a zone beyond its capacity")

    def read_map(self):
        self.map = {}
        n = (self.logical_blocks + NODE_ENTRIES - 1) // NODE_ENTRIES
        for index, found in self.leaves(NODE, self.map_top, n):
            e = struct.unpack_from("<504Q", found[1], 64) if found else ()
            if not found or any(a != NOWHERE and not (
                    self.pool(a) and index * NODE_ENTRIES + i < self.logical_blocks)
                    for i, a in enumerate(e)):
                self.lost.append(index)
                self.findings.append(f"leaf {index} of the map")
                continue
            count = 0
            for lba, addr in enumerate(e, index * NODE_ENTRIES):
                if addr == NOWHERE:
                    continue
                count += 1
                if lba < self.logical_blocks:
                    self.map[lba] = addr
                else:
                    self.findings.append(f"lba {lba} is mapped")
            if count != found[0].count:
                self.findings.append(f"leaf {index} maps {count}, says {found[0].count}")

    # --- 4. journal -----------------------------------------------------------------

    def is_node(self, addr):
        if not self.written(addr):
            return False
        h = Header(self.d.read(addr))
        return h.type in (NODE, ZNODE) and self.block(addr, h.type, h.level) is not None

    def commit_ends_behind(self, zone, off, seq):
        """One that begins after the block that would have number seq."""
        seen = set()
        while zone is not None:
            seen.add(zone)
            link = None
            for at in range(off, self.zone_blocks):
                found = self.block(zone * self.zone_blocks + at, JOURNAL)
                if not found or found[0].epoch != self.epoch:
                    continue
                next_zone, more, first = struct.unpack_from("<IIQ", found[1], 64)
                if first <= seq:
                    continue
                if next_zone == NONE and not more:
                    return True
                if 2 <= next_zone < self.nr_zones and next_zone not in seen:
                    link = next_zone
            zone, off = link, 0
        return False

    def replay(self):
        addr, seq = self.journal_addr, self.journal_seq
        first, held = None, []
        self.node_zones = set(self.log_zones)
        need(self.pool(addr) and addr % self.zone_blocks <=
             self.d.wp[addr // self.zone_blocks], "the journal begins where nothing can be")
        for z in self.zone:
            z.update(count=z["valid"], valid=0)
        self.since = [{"named": {}, "sums": [], "need": 0 if z["head"] == NONE else
                       z["head"] + 1} for z in self.zone]
        while True:
            zone = addr // self.zone_blocks
            self.log_zones.add(zone)
            need(self.d.cond[zone] != OFFLINE, f"journal zone {zone} cannot be read")
            found = self.block(addr, JOURNAL) if addr % self.zone_blocks < self.zone_cap else None
            if not found or found[0].epoch != self.epoch or found[0].seq != seq:
                if self.is_node(addr):
                    addr += 1
                    continue
                break
            h, b = found
            next_zone, more, belongs = struct.unpack_from("<IIQ", b, 64)
            rows = list(self.records(h, b))
            self.journal.append((addr, seq, h.index, more, next_zone, rows))
            seq += 1
            addr += 1
            if next_zone != NONE:
                need(2 <= next_zone < self.nr_zones, f"a link to zone {next_zone}")
                addr = next_zone * self.zone_blocks
                continue
            held = (held if belongs == first else []) + rows
            first = belongs
            if not more:
                self.apply(held)
                self.commit = h.index
                held = []
        need(not self.commit_ends_behind(zone, addr + 1 - zone * self.zone_blocks, seq),
             f"journal block at {addr}")

    def apply(self, rows):
        for kind in (ZOPEN, ZBAD, DISCARD, MAP, ZSUM):
            for what, lba, n, b in rows:
                if what == kind:
                    self.apply_record(kind, lba, n, b)

    def apply_record(self, kind, lba, n, b):
        if kind in (MAP, DISCARD):
            n = n if kind == MAP else b
            need(lba + n <= self.logical_blocks, f"a record of block {lba + n - 1}")
            for i in range(lba, lba + n):
                if i in self.map:
                    self.zone[self.map.pop(i) // self.zone_blocks]["count"] -= 1
            if kind == DISCARD:
                return
            need(self.pool(b, n), f"a record of address {b}")
            self.map.update((lba + i, b + i) for i in range(n))
            zone, off = divmod(b, self.zone_blocks)
            self.zone[zone]["count"] += n
            since = self.since[zone]
            since["named"].update((off + i, lba + i) for i in range(n))
            since["need"] = max(since["need"], off + n)
            return
        need(2 <= lba < self.nr_zones, f"a record of zone {lba}")
        if lba in self.node_zones:
            return
        need(kind != ZOPEN or lba not in self.log_zones, f"zone {lba} is opened, the journal's")
        z, since = self.zone[lba], self.since[lba]
        off, high = b & NONE, b >> 32
        if kind == ZOPEN:
            z.update({"state": OPEN, "class": n, "gen": off, "flags": high, "head": NONE,
                      "sum_seq": 0})
            since.update(named={}, sums=[], need=0)
        elif kind == ZBAD:
            if z["state"] not in (FREE, META) and (not high or off == z["gen"]):
                z["flags"] |= SCAN | CANNOT
        else:
            need(off + n <= self.zone_cap and n <= 8, f"a summary at {off} of zone {lba}")
            if z["head"] == NONE or high > z["sum_seq"]:
                z.update(head=off, sum_seq=high)
            since["sums"].append((off, n))
            since["need"] = max(since["need"], off + n)

    # --- 5. zones -------------------------------------------------------------------

    def settle_zones(self):
        for addr in self.map.values():
            self.zone[addr // self.zone_blocks]["valid"] += 1
        for n, z in enumerate(self.zone):
            if n < 2:
                z["state"] = ROOTZ
            elif n in self.log_zones:
                z["state"] = META
            elif z["count"] > 0 and z["state"] in (OPEN, FULL, BAD):
                self.settle_data(n, z)
            elif (self.d.cond[n] in (READONLY, OFFLINE) or
                  z["flags"] & (CANNOT | WORN) == CANNOT | WORN):
                z["state"] = BAD
            else:
                z["state"] = FREE

    def settle_data(self, n, z):
        wp, cond, torn = self.d.wp[n], self.d.cond[n], self.d.torn[n]
        since = self.since[n]
        z["end"] = wp if cond in (EMPTY, COND_OPEN) and not torn else self.zone_cap
        if z["flags"] & LOST:
            self.findings.append(f"zone {n} was reset while it was open")
            z["end"], z["state"] = self.zone_cap, BAD
            z["flags"] |= CANNOT | SCAN
        elif cond == EMPTY or (since["need"] > wp and cond == COND_OPEN):
            self.findings.append(f"zone {n} has lost data")
            z["state"] = FULL
        elif cond in (READONLY, OFFLINE) or z["flags"] & CANNOT:
            z["state"] = BAD
            z["flags"] |= CANNOT | SCAN
        elif cond == COND_OPEN and not torn:
            z["state"] = OPEN
        else:
            z["state"] = FULL
            named = set()
            for off, count in since["sums"]:
                for i in range(off, off + count):
                    found = self.summary(n, i)
                    # What cannot be read names nothing, and cannot be done without.
                    named.update(off for off, _ in (found[2] if found else ()))
                    z["flags"] |= 0 if found else SCAN
            if set(since["named"]) - named:
                z["flags"] |= SCAN

    # --- what need not stop recovery ------------------------------------------------

    def summary(self, zone, off):
        """Header, (gen, prev, group, nth) and what it names, or None."""
        if off >= self.zone_cap:
            return None
        found = self.block(zone * self.zone_blocks + off, SUMMARY, index=zone,
                           sign=(1 << 64) - 1)
        if not found or found[0].epoch > self.epoch:
            return None
        h, b = found
        return h, struct.unpack_from("<4I", b, 64), [
            (e >> 40, e & NOWHERE) for e in struct.unpack_from(f"<{h.count}Q", b, 88)]

    def check(self):
        first = self.root_zone * self.zone_blocks
        if not self.block(first, SUPER):
            self.findings.append("a superblock")
        if not self.block(first + 1, SUPER) and not self.block(first + 1, ROOT):
            self.findings.append("a superblock")
        if len(set(self.map.values())) != len(self.map):
            self.findings.append("two lbas share a block")
        tree = Counter(addr // self.zone_blocks for addr in self.tree.values())
        blocks = [{} for _ in self.zone]
        for lba, addr in self.map.items():
            zone, off = divmod(addr, self.zone_blocks)
            blocks[zone][off] = lba
        for n, z in enumerate(self.zone):
            if n >= 2 and tree[n] != self.table[n]["valid"]:
                self.findings.append(f"zone {n}: {tree[n]} blocks valid")
            if blocks[n] and max(blocks[n]) >= z.get("end", 0):
                self.findings.append(f"zone {n}: blocks mapped where none can be")
            if blocks[n] and z["state"] in (OPEN, FULL) and not z["flags"] & SCAN:
                wrong = self.check_summaries(n, z, blocks[n])
                if wrong:
                    (self.perhaps if z["state"] == OPEN else self.findings).append(wrong)

    def check_summaries(self, n, z, blocks):
        named = dict(self.since[n]["named"]) if z["state"] == OPEN else {}
        left, head, seq = dict(blocks), z["head"], z["sum_seq"]
        while head != NONE:
            i, group = 0, 1
            while i < group:
                found = self.summary(n, head + i)
                if not found:
                    return f"zone {n}: no summary at {head + i}"
                h, (gen, prev, group, nth), entries = found
                if gen != z["gen"] or nth != i or h.seq != seq - group + 1 + i:
                    return f"zone {n}: another summary at {head + i}"
                named.update(e for e in entries if blocks.get(e[0]) == e[1])
                i += 1
            if prev != NONE and prev >= head:
                return f"zone {n}: summaries in a circle"
            head, seq = prev, seq - group
        for off, lba in named.items():
            if left.get(off) == lba:
                del left[off]
        return f"zone {n}: {len(left)} blocks no summary names" if left else None

    # --- what is printed ------------------------------------------------------------

    def extents(self, blocks):
        """Runs of blocks; none reaches into another zone."""
        rows = []
        for lba in sorted(blocks):
            addr = blocks[lba]
            last = rows[-1] if rows else {"lba": -1, "addr": -1, "len": 0}
            if lba == last["lba"] + last["len"] and addr == last["addr"] + last["len"] and \
                    addr % self.zone_blocks:
                last["len"] += 1
            else:
                rows.append({"lba": lba, "len": 1, "addr": addr})
        return rows

    @staticmethod
    def zone_rows(zones):
        rows = []
        for n, z in enumerate(zones):
            row = {"zone": n, "state": STATES[z["state"]]}
            # Of a zone without blocks nothing else counts.
            if z["valid"] and z["state"] in (OPEN, FULL, BAD):
                flags = "".join(c for i, c in enumerate("sgbwl") if z["flags"] >> i & 1)
                row.update({"class": CLASSES[z["class"]], "flags": flags or "-",
                            "gen": z["gen"], "valid": z["valid"],
                            "head": None if z["head"] == NONE else z["head"],
                            "sum_seq": z["sum_seq"]})
            rows.append(row)
        return rows

    def state(self):
        return [{"checkpoint": self.number, "epoch": self.epoch, "commit": self.commit,
                 "mapped": len(self.map)}] + self.zone_rows(self.zone) + self.extents(self.map)

    def super(self):
        u = self.uuid.hex()
        return {"header": {"uuid": "-".join((u[:8], u[8:12], u[12:16], u[16:20], u[20:]))},
                **{k: getattr(self, k) for k in (
                    "version", "compat", "compat_ro", "incompat", "label", "nr_zones",
                    "zone_blocks", "zone_cap", "meta_zones", "gc_zones", "spare_permille",
                    "logical_blocks", "created")}}

    def root(self):
        return {"header": {"epoch": self.epoch, "seq": self.number},
                "commit": self.root_commit, "journal_addr": self.journal_addr,
                "journal_seq": self.journal_seq, "write_seq": self.write_seq,
                "node_zone": None if self.node_zone == NONE else self.node_zone,
                "mapped": self.mapped, "clean": bool(self.flags & 1)}

    def journal_rows(self):
        rows = []
        for addr, seq, commit, more, next_zone, records in self.journal:
            head = {"addr": addr, "seq": seq, "commit": commit, "more": bool(more)}
            texts = [self.text(*r) for r in records]
            if next_zone != NONE:
                texts = [f"link to zone {next_zone}"]
            rows += [{**head, "record": t} for t in texts or ["no records"]]
        return rows

    @staticmethod
    def text(kind, lba, n, b):
        low, high = b & NONE, b >> 32
        return {MAP: f"map lba {lba} len {n} addr {b}",
                DISCARD: f"discard lba {lba} len {b}",
                ZOPEN: f"open zone {lba} class {CLASSES[n % len(CLASSES)]} gen {low} flags {high:#x}",
                ZSUM: f"summary zone {lba} offset {low} len {n} number {high}",
                ZBAD: f"aside zone {lba}" + (f" gen {low}" if high else "")}[kind]

    def parts(self):
        return {"super": self.super(), "root": self.root(), "journal": self.journal_rows(),
                "zones": self.zone_rows(self.table), "map": self.extents(self.tree),
                "state": self.state()}


# --- comparing ----------------------------------------------------------------------

def differ(ours, theirs, where=""):
    """The first difference; theirs may say more of a thing."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        # A zone the drive says is open is gone on with only if there is a slot for it.
        if ours.get("state") == "open" and theirs.get("state") == "full":
            ours = {**ours, "state": "full", "flags": theirs["flags"]}
        for k in ours:
            d = differ(ours[k], theirs.get(k, "nothing"), f"{where} {k}")
            if d:
                return d
        return None
    if isinstance(ours, list) and isinstance(theirs, list):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            d = differ(a, b, f"{where}[{i}]")
            if d:
                return f"{d} of {a} and {b}"
        return None if len(ours) == len(theirs) else f"{where}: {len(ours)} and {len(theirs)}"
    return None if ours == theirs else f"{where}: {ours} and {theirs}"


def compare(tool, image):
    """None, or how the reader and the tool differ about it; and if both refuse it."""
    def dump(what):
        return subprocess.run([tool, "dump", image, what, "--json"], capture_output=True,
                              text=True, errors="replace", check=False)
    got = dump("state")
    try:
        reader = Reader(Drive(image))
    except Damage as e:
        if not got.returncode or got.stdout:
            return f"only the reader refuses: {e}", True
        return None, True
    if not got.stdout:
        return f"only the tool refuses: {got.stderr}", True
    if got.returncode and not reader.findings + reader.perhaps:
        return f"only the tool finds: {got.stderr}", True
    if reader.findings and not got.returncode:
        return f"only the reader finds: {reader.findings}", True
    parts = reader.parts()
    if reader.lost:
        del parts["map"]    # dump prints more of it than can be believed
    for what, ours in parts.items():
        p = got if what == "state" else dump(what)
        theirs = json.loads(p.stdout)
        if what == "journal":
            theirs.pop()    # why it ends
            if p.returncode:    # where recovery went on
                return f"only dump journal finds: {p.stderr}", True
        d = differ(ours, theirs, what)
        if d:
            return d, bool(got.returncode)
    return None, bool(got.returncode)


def main():
    if len(sys.argv) == 2:
        json.dump(Reader(Drive(sys.argv[1])).parts(), sys.stdout, indent=1)
        print()
        return
    differing = damaged = 0
    for image in sys.argv[3:]:
        what, refused = compare(sys.argv[2], image)
        damaged += refused
        if what:
            print(f"{image}: {what}")
            differing += 1
    print(f"{len(sys.argv) - 3} images, {damaged} damaged, {differing} differ")
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
