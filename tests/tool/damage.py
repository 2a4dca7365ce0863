#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damage to metadata: does check find it, and does repair mend it without a guess?

damage.py pool LZCRASH IMAGES SEED N
	images of N worlds, and of more until there is one for each kind of damage below;
	large ones are left out.
damage.py deep LIFEZONE LZCRASH IMAGES SEED
	one more image, of a drive whose map has nodes above its leaves.
damage.py links LIFEZONE LZCRASH IMAGES SEED
	the row of links of the table below, on images of drives whose links all lie within
	a commit, which takes an LZCRASH whose commits are of many blocks.
damage.py table LIFEZONE IMAGES
	each kind of damage there is, on an image of the folder that it can be done to. Check
	must say what the table below says; then repair must leave a device that check
	calls clean, in which every block holds what it may, or is named as lost.
damage.py moved LIFEZONE IMAGES
	the newest root in a zone without a superblock, the other root zone full, and power
	cut at each write of the repair in turn: the next one loses nothing.
damage.py random LIFEZONE IMAGES SEED N
	the same N times with one to three damages drawn at random, and with a power cut
	somewhere in the repair in one of four.

LIFEZONE_PRELOAD names what is built from preload.c.
Images are those of "lzcrash --export": IMAGE, IMAGE.zones, IMAGE.allowed.
"""
import filecmp
import functools
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import reader as fmt  # noqa: E402  pylint: disable=wrong-import-position

filecmp.BUFSIZE = 1 << 20    # images are large

BLOCK = fmt.BLOCK
DATA_MAGIC = 0x5441446b636f6c42
LBA_MASK = (1 << 24) - 1
NAMES = {fmt.SUPER: "super", fmt.ROOT: "root", fmt.JOURNAL: "journal", fmt.NODE: "node",
         fmt.ZNODE: "ztab", fmt.SUMMARY: "summary"}


class Image:
    """An image, what the reader makes of it, and what metadata it has where."""

    def __init__(self, path):
        self.path = path
        self.r = fmt.Reader(fmt.Drive(path))
        self.cap = self.r.d.zone_cap
        self.find_blocks()

    def read(self, addr):
        return self.r.d.read(addr)

    def write(self, addr, block):
        with open(self.path, "r+b") as f:
            f.seek(addr * BLOCK)
            f.write(block)

    def used(self, zone):
        return min(self.r.d.wp[zone], self.cap) if zone < self.r.nr_zones else 0

    def addr(self, zone, off):
        return zone * self.r.zone_blocks + off

    def whole(self, addr):
        """Header of a metadata block, or None."""
        b = self.read(addr)
        h = fmt.Header(b)
        if h.magic != fmt.MAGIC or h.uuid != self.r.uuid or \
                fmt.crc32c(b[:4] + bytes(4) + b[8:]) != h.crc:
            return None
        return h

    def find_blocks(self):
        r = self.r
        self.all = {}
        for zone in [0, 1] + sorted(r.log_zones):
            for off in range(self.used(zone)):
                h = self.whole(self.addr(zone, off))
                if h and h.addr == self.addr(zone, off):
                    self.all[h.addr] = h
        first = r.root_zone * r.zone_blocks
        self.super = [a for a in (first, first + 1) if a in self.all and
                      self.all[a].type == fmt.SUPER]
        self.roots = [a for a, h in self.all.items() if h.type == fmt.ROOT]
        self.newest = [a for a in self.roots if self.all[a].seq == r.number]
        # Those of the other zone, if it is certain that they are older.
        in_zone = [[a for a in self.roots if a // r.zone_blocks == zone] for zone in (0, 1)]
        self.old_roots = in_zone[r.root_zone ^ 1] if \
            max(in_zone[r.root_zone]) % r.zone_blocks + 1 == self.used(r.root_zone) else []
        self.leaf, self.inner = self.nodes(fmt.NODE, r.map_top, r.logical_blocks, 504)
        self.ztab, self.zinner = self.nodes(fmt.ZNODE, r.ztab_top, r.nr_zones, 126)
        commits = [j[2] for j in r.journal if j[4] == fmt.NONE]
        last = max((c for c, j in zip(commits, (j for j in r.journal if j[4] == fmt.NONE))
                    if not j[3]), default=-1)
        ends = [j[0] for j in r.journal if not j[3] and j[4] == fmt.NONE]
        self.journal = [j[0] for j in r.journal if j[4] == fmt.NONE and j[2] < last]
        self.later = [j[0] for j in r.journal if j[4] == fmt.NONE and j[2] >= last]
        self.end = ends[-1:]
        at = [j[0] for j in r.journal]
        # A link is missed where a commit begins and ends after it.
        # One within a commit has the number of that commit, and is not missed for it.
        self.link = [j[0] for i, j in enumerate(r.journal) if j[4] != fmt.NONE and
                     sum(k[0] in ends and k[2] > j[2] for k in r.journal[i + 1:]) > 1]
        self.inside = [j[0] for i, j in enumerate(r.journal) if j[0] in self.link and
                       r.journal[i - 1][2] == r.journal[i + 1][2]]
        self.long = [j[0] for j in r.journal if j[0] in self.journal and j[3]]
        # Where it ends, if that is not where it begins, and no nodes are there.
        zones = [a // r.zone_blocks for a in at]
        nodes = {a // r.zone_blocks for a in self.leaf + self.inner + self.ztab + self.zinner}
        zone, off = divmod(r.journal_addr, r.zone_blocks)
        self.front = [self.addr(zone, i) for i in range(4)] if \
            off >= 4 and zone not in nodes and zones[:1] == [zone] and self.super[1:] else []
        self.goes_on = [z for z in zones[-1:] if z != zones[0] and z not in nodes]
        self.data = [n for n, z in enumerate(r.zone) if z["valid"] and
                     z["state"] in (fmt.OPEN, fmt.FULL)]
        self.summary = []
        for n in self.data:
            z = r.zone[n]
            if z["head"] != fmt.NONE and not z["flags"] & fmt.SCAN and \
                    r.d.cond[n] == fmt.COND_FULL:
                self.summary.append(self.addr(n, z["head"]))
        self.live = set(at + self.leaf + self.inner + self.ztab + self.zinner)

    def nodes(self, kind, top, n, per):
        """Addresses of the leaves and of the inner nodes the newest root leads to."""
        levels = [-(-n // per)]
        while levels[-1] > len(top):
            levels.append(-(-levels[-1] // 504))
        todo = [(len(levels) - 1, a) for a in top[:levels[-1]]]
        leaf, inner = [], []
        while todo:
            level, a = todo.pop(0)
            if a == fmt.NOWHERE:
                continue
            (inner if level else leaf).append(a)
            if level:
                todo += [(level - 1, c) for c in struct.unpack_from("<504Q", self.read(a), 64)]
        return leaf, inner

    def moves(self):
        """Without its superblocks the root zone with the newest root has to be begun anew."""
        return bool(self.super[1:]) and min(self.newest) % self.r.zone_blocks >= 4 and \
            self.used(self.r.root_zone ^ 1) >= self.cap

    def older(self, addr):
        """Another, older block of the same kind and place in its tree, or None."""
        h = self.all.get(addr)
        same = [a for a, o in self.all.items() if h and (o.type, o.level) == (h.type, h.level) and
                (o.index == h.index or h.type == fmt.JOURNAL) and o.seq < h.seq]
        return self.read(max(same, key=lambda a: self.all[a].seq)) if same else None

    # --- zones ----------------------------------------------------------------------

    def set_zone(self, zone, wp, cond):
        with open(self.path + ".zones", encoding="ascii") as f:
            head, *rows = f.read().splitlines()
        rows = [row for row in rows if int(row.split()[0]) != zone]
        rows.append(f"{zone} {wp} {cond}")
        with open(self.path + ".zones", "w", encoding="ascii") as f:
            print(head, *rows, sep="\n", file=f)
        with open(self.path, "r+b") as f:
            f.seek(self.addr(zone, wp) * BLOCK)
            f.write(bytes((self.r.zone_blocks - wp) * BLOCK))


class Untouched(Image):
    """Tells whether something can be done to it, and stays as it is."""

    def write(self, addr, block):
        pass

    def set_zone(self, zone, wp, cond):
        pass


def mended(b):
    b = bytearray(b)
    b[4:8] = bytes(4)
    b[4:8] = fmt.crc32c(bytes(b)).to_bytes(4, "little")
    return bytes(b)


# --- ways to damage a block ------------------------------------------------------------

def zeros(img, addr, r):
    img.write(addr, bytes(BLOCK))
    return True


def flip(img, addr, r):
    b = bytearray(img.read(addr))
    b[r.randrange(BLOCK)] ^= 1 << r.randrange(8)
    img.write(addr, bytes(b))
    return True


def garbage(img, addr, r):
    img.write(addr, r.randbytes(BLOCK))
    return True


def other(img, addr, r):
    """Another block's contents, whole and of this device."""
    img.write(addr, img.read(r.choice([a for a in img.all if a != addr])))
    return True


def older(img, addr, r):
    b = img.older(addr)
    if b:
        img.write(addr, b)
    return b is not None


NO_BLOCK = b"cannot be read. " * (BLOCK // 16)
UNREAD = set()


def unread(img, addr, r):
    """Reading it is an error, until it is written again."""
    img.write(addr, NO_BLOCK)
    UNREAD.add(addr)
    return True


def unreadable(path):
    """What was so damaged and is so still, for the preload."""
    with open(path, "rb") as f:
        return " ".join(str(a) for a in sorted(UNREAD)
                        if f.seek(a * BLOCK) >= 0 and f.read(BLOCK) == NO_BLOCK)


def field(at, size, change):
    """A field of the header changed, the checksum made right."""
    def way(img, addr, r):
        b = bytearray(img.read(addr))
        v = int.from_bytes(b[at:at + size], "little")
        b[at:at + size] = (change(v) % (1 << 8 * size)).to_bytes(size, "little")
        img.write(addr, mended(b))
        return True
    return way


WAYS = {
    "zeros": zeros, "flip": flip, "garbage": garbage, "other": other, "older": older,
    "uuid": field(8, 16, lambda v: v ^ 1), "epoch": field(32, 8, lambda v: v + (1 << 50)),
    "place": field(48, 8, lambda v: v + 1), "unread": unread,
}
PLAIN = ("zeros", "flip", "garbage", "unread", "other", "older")


# --- damage of contents, checksums made right --------------------------------------------

def leaf_entries(img, wanted):
    """A leaf of so many entries at least that the journal does not replace, and these."""
    for a in img.leaf:
        b = bytearray(img.read(a))
        e = struct.unpack_from("<504Q", b, 64)
        first = img.all[a].index * 504
        at = [i for i, v in enumerate(e) if v != fmt.NOWHERE and
              img.r.map.get(first + i) == img.r.tree.get(first + i)]
        if len(at) >= wanted:
            return a, b, e, at
    return None


def map_twice(img, r):
    found = leaf_entries(img, 2)
    if not found:
        return False
    a, b, e, at = found
    struct.pack_into("<Q", b, 64 + 8 * at[0], e[at[1]])
    img.write(a, mended(b))
    return True


def map_past_wp(img, r):
    found = leaf_entries(img, 1)
    if not found:
        return False
    a, b, e, at = found
    # In another zone, so that the counts of both are wrong as well.
    zones = [z for z in img.data if img.r.d.cond[z] == fmt.COND_OPEN and
             img.used(z) < img.cap and z != e[at[0]] // img.r.zone_blocks]
    if not zones:
        return False
    struct.pack_into("<Q", b, 64 + 8 * at[0], img.addr(zones[0], img.used(zones[0])))
    img.write(a, mended(b))
    return True


def leaf_count(img, r):
    # A full one could not claim one more.
    leaf = next((a for a in img.leaf if img.all[a].count < 504), None)
    if leaf is None:
        return False
    return field(28, 4, lambda v: v ^ 1)(img, leaf, r)


def late_leaf(img, r):
    return bool(img.leaf) and field(40, 8, lambda v: v + (3 << 60))(img, img.leaf[0], r)


def late_root(img, r):
    """A whole one, which can be read."""
    return all([field(88, 8, lambda v: 3 << 60)(img, a, r) for a in img.newest])


def valid_count(img, r):
    zone = next((z for z in img.data if z < 126 and
                 1 < img.r.table[z]["valid"] < img.cap), None)
    if zone is None or not img.ztab:
        return False
    a = next((a for a in img.ztab if img.all[a].index == 0), None)
    b = bytearray(img.read(a))
    at = 64 + 32 * zone + 8
    struct.pack_into("<I", b, at, struct.unpack_from("<I", b, at)[0] + 1)
    img.write(a, mended(b))
    return True


def same_life(img):
    """A zone of data that the checkpoint knows already."""
    return next((z for z in img.data if z < 126 and img.r.table[z]["valid"] and
                 img.r.table[z]["gen"] == img.r.zone[z]["gen"]), None)


def lost_flag(img, r):
    """As the module leaves it when it finds an open zone reset."""
    zone = same_life(img)
    a = next((a for a in img.ztab if img.all[a].index == 0), None)
    if zone is None or a is None:
        return False
    return field(64 + 32 * zone + 6, 2, lambda v: v | fmt.LOST)(img, a, r)


def zone_aside(img, r):
    """A zone was set aside since the checkpoint, and then a superblock was damaged."""
    zone = next((z for z in img.data if img.r.table[z]["state"] in (fmt.OPEN, fmt.FULL) and
                 img.r.table[z]["gen"] == img.r.zone[z]["gen"]), None)
    if zone is None or not img.end or not img.super[1:]:
        return False
    b = bytearray(img.read(img.end[0]))
    count = struct.unpack_from("<I", b, 28)[0]
    # A full one ends otherwise.
    if count + 1 >= 251:
        return False
    struct.pack_into("<I", b, 28, count + 1)
    struct.pack_into("<QQ", b, 80 + 16 * count, zone | fmt.ZBAD << 60,
                     img.r.zone[zone]["gen"] | 1 << 32)
    img.write(img.end[0], mended(b))
    return flip(img, img.super[0], r)


def aside(path):
    """Zones with data that are set aside."""
    return {n for n, z in enumerate(fmt.Reader(fmt.Drive(path)).zone)
            if z["valid"] and z["flags"] & fmt.CANNOT}


# --- damage of zones ----------------------------------------------------------------------

def data_zone(img, least=1):
    """One whose blocks in use are not all of one kind of fate: zone, last offset in use."""
    last = {}
    for a in img.r.map.values():
        last.setdefault(a // img.r.zone_blocks, []).append(a % img.r.zone_blocks)
    for z in img.data:
        if len(last.get(z, ())) >= least and img.r.d.cond[z] in (fmt.COND_OPEN, fmt.COND_FULL) \
                and max(last[z]) > 0:
            return z, max(last[z])
    return None, 0


def zone_short(img, r):
    zone, off = data_zone(img)
    if zone is None:
        return False
    img.set_zone(zone, off, fmt.COND_OPEN)
    return True


def zone_cond(cond):
    def plant(img, r):
        zone, _ = data_zone(img)
        if zone is None:
            return False
        wp = {fmt.EMPTY: 0}.get(cond, img.used(zone))
        img.set_zone(zone, wp, cond)
        return True
    return plant


def old_roots(img, r):
    """What follows older roots cannot have been a later one."""
    if len(img.old_roots) < 3:
        return False
    return zeros(img, max(img.old_roots), r) and zone_cond(fmt.EMPTY)(img, r)


def log_reset(img, r):
    zones = {a // img.r.zone_blocks for a in img.leaf + img.ztab}
    img.set_zone(r.choice(sorted(zones)), 0, fmt.EMPTY)
    return True


def journal_front(img, r):
    """The blocks before it in its zone, which nothing is wanted of, and a superblock."""
    return bool(img.front) and all([zeros(img, a, r) for a in img.front] +
                                   [flip(img, img.super[0], r)])


def ztab_behind(img, r):
    """Its first leaf, where the journal ends; it cannot be read."""
    zone = max(img.end, default=0) // img.r.zone_blocks
    to = img.addr(zone, img.used(zone))
    if not img.end or img.zinner or img.r.d.cond[zone] != fmt.COND_OPEN or \
            img.used(zone) + 1 >= img.cap:
        return False
    for a in img.newest:
        b = bytearray(img.read(a))
        struct.pack_into("<Q", b, 112 + 8 * 256, to)
        img.write(a, mended(b))
    img.set_zone(zone, img.used(zone) + 1, fmt.COND_OPEN)
    return unread(img, to, r)


def log_short(img, r):
    """To where one of the newest nodes was."""
    addr = r.choice(img.leaf + img.inner + img.ztab + img.zinner)
    zone, off = divmod(addr, img.r.zone_blocks)
    img.set_zone(zone, off, fmt.COND_OPEN if off else fmt.EMPTY)
    return True


def journal_offline(img, r):
    """The zone in which it goes on; commits in it were answered."""
    for zone in img.goes_on:
        img.set_zone(zone, 0, fmt.OFFLINE)
    return bool(img.goes_on)


def super_of_another(img, r):
    """Whole, and first: it is believed, and nothing on the drive is of its device."""
    h = img.all[img.super[0]] if img.super else None
    # One of the other root zone that is newer is believed instead.
    if not h or any(o.type == fmt.SUPER and a // img.r.zone_blocks != img.r.root_zone and
                    (o.epoch, o.seq) > (h.epoch, h.seq) for a, o in img.all.items()):
        return False
    return WAYS["uuid"](img, img.super[0], r)


def sealed_at(b, addr, epoch, seq):
    """A whole block with other numbers, for another place."""
    b = bytearray(b)
    struct.pack_into("<QQQ", b, 32, epoch, seq, addr)
    return mended(b)


def forged_root(img, r):
    """A user's, in data, while there are roots in one root zone only, which is full."""
    front = {a // img.r.zone_blocks for a in img.r.map.values() if a % img.r.zone_blocks < 4}
    zone = next((z for z in img.data if z not in front and img.used(z) > 4 and
                 img.r.zone[z]["valid"] and
                 not any(img.whole(img.addr(z, off)) for off in range(4))), None)
    if zone is None or not img.super[1:]:
        return False
    h = img.all[img.newest[0]]
    root = bytearray(img.read(h.addr))
    # It maps nothing.
    struct.pack_into("<256Q", root, 112, *[fmt.NOWHERE] * 256)
    for off in range(4):
        block = img.read(img.super[off]) if off < 2 else root
        img.write(img.addr(zone, off), sealed_at(block, img.addr(zone, off), h.epoch, h.seq + 1))
    img.set_zone(img.r.root_zone, img.cap, fmt.COND_FULL)
    img.set_zone(img.r.root_zone ^ 1, 0, fmt.EMPTY)
    return True


def forged_and_super(img, r):
    return forged_root(img, r) and flip(img, img.super[0], r)


def root_zone_reset(img, r):
    img.set_zone(img.r.root_zone, 0, fmt.EMPTY)
    return img.used(img.r.root_zone ^ 1) > 0


# --- the table -------------------------------------------------------------------------------

def blocks(kind, which=lambda a: a[:1]):
    """Damage to each way of blocks of a kind: a maker of plants."""
    def plant(way):
        def do(img, r):
            at = which(getattr(img, kind))
            return bool(at) and all([WAYS[way](img, a, r) for a in at])
        return do
    return plant


# Where drives take few blocks at a time there is but one of each.
def first_of_two(a):
    return a[:1] if a[1:] else []


def last_of_two(a):
    return a[-1:] if a[1:] else []


def everything(a):
    return a


def middle(a):
    return a[len(a) // 2:len(a) // 2 + 1]


def last(a):
    return a[-1:]


# --- what at most may be lost of an image --------------------------------------------------

def led_to(img, addr):
    """Blocks that a node of the map leads to."""
    h = img.all[addr]
    span = 504 ** (h.level + 1)
    return set(range(h.index * span, (h.index + 1) * span))


def below(kind, which):
    return lambda img: led_to(img, which(getattr(img, kind))[0])


def entries(n):
    """The first so many of a leaf with as many."""
    def most(img):
        a, _, _, at = leaf_entries(img, n)
        return {img.all[a].index * 504 + i for i in at[:n]}
    return most


def in_zone(which):
    def most(img):
        zone = which(img)
        return {lba for lba, a in img.r.map.items() if a // img.r.zone_blocks == zone}
    return most


in_data_zone = in_zone(lambda img: data_zone(img)[0])


# What is damaged; how it can be done; what check says, if not "cannot be read"; what repair
# makes of it:
#   all	nothing is lost and nothing of uncertain age
#   told	what is lost, or may be old, is named
#   each	the same, and on each image that it can be done to
#   none	there is nothing to repair: check said a note, or what the drive lost
#   sure	the same, and none is of uncertain age
#   aside	nothing is lost, and zones that were set aside stay so
#   never	it refuses, and writes nothing
#   safe	nothing is lost and nothing of uncertain age, if it does not refuse
# or what gives the blocks that may be lost; then none is of uncertain age
TABLE = [
    ("superblock, the first", blocks("super", first_of_two), tuple(w for w in WAYS if w != "uuid"),
     "superblock at block", "all"),
    ("superblock, the first", lambda w: super_of_another, ("uuid",), "no valid checkpoint root",
     "never"),
    ("superblock, the second", blocks("super", lambda a: a[1:]), tuple(WAYS),
     "superblock at block", "all"),
    ("superblock, both", blocks("super", everything), PLAIN[:4],
     "superblock (in|at)|no superblock (is whole|can be read)|no lifezone superblock|"
     "note: root zone [01], not in use: a superblock is damaged|metadata|map leaf|"
     "root: the journal goes on|journal: zone", None),
    ("newest root, the last", blocks("newest", last_of_two), tuple(WAYS),
     "note: root zone .*damaged, or cut short|a root older than|that is not of the epoch", "safe"),
    ("newest root, both", blocks("newest", everything), PLAIN[:4],
     "note: root zone .*damaged, or cut short|a (later|newer) one is damaged|"
     "a newer root|a root or a link|no valid checkpoint root|cannot be|metadata|map leaf|"
     "journal: zone", None),
    ("all roots", blocks("roots", everything), PLAIN[:4], "no valid checkpoint root", "told"),
    # With one root in it, and all there that the older one needs, nothing is lost or wrong.
    ("root zone reset", lambda w: root_zone_reset, ("zone",),
     "no lifezone superblock|no valid checkpoint root|metadata( node|:)|map leaf [0-9]+: |"
     "journal: zone|root: the journal goes on|a (later|newer) one is damaged|"
     "a newer root is damaged|a root or a link is damaged|^clean, ", None),
    ("root in a user's data", lambda w: forged_root, ("mended",), "^clean, ", "none"),
    ("the same, and a superblock", lambda w: forged_and_super, ("mended",), "superblock at block",
     "all"),
    # Where it lies among the journal's blocks, those behind it are not found.
    ("root, of a late write clock", lambda w: late_root, ("mended",),
     "metadata counts to [0-9]{19}, which no device gets to", "none"),
    ("map leaf", blocks("leaf", middle), tuple(WAYS),
     "map leaf [0-9]+: map node at block|journal: zone [0-9]+, offset [0-9]+ is damaged",
     below("leaf", middle)),
    # Numbers that no device gets to are as wrong as those next to the root's.
    ("map leaf, of a late checkpoint", lambda w: late_leaf, ("mended",),
     "a node of epoch [0-9]+, number [0-9]{19}, does not belong|journal: zone",
     below("leaf", lambda a: a[:1])),
    ("map node above the leaves", blocks("inner", last), ("zeros", "unread", "other", "older"),
     "map node at block|metadata|a root or a link is damaged|journal: zone",
     below("inner", last)),
    ("zone table", blocks("ztab"), tuple(WAYS), "zone table node at block", "all"),
    # It could be one of the journal's, but for the root that leads to it.
    ("zone table, behind the journal", lambda w: ztab_behind, ("unread",),
     "zone table node at block", "all"),
    ("journal, start of a commit", blocks("journal"), tuple(WAYS),
     "journal: zone [0-9]+, offset [0-9]+ is damaged|a root or a link is damaged", "told"),
    # Seldom is a commit so long; then these are left out.
    ("journal, middle of a commit", blocks("long", last), tuple(WAYS),
     "journal: zone [0-9]+, offset [0-9]+ is damaged|a root or a link is damaged", "told"),
    ("journal, zone of another front", lambda w: journal_front, ("zeros",), "superblock at block",
     "all"),
    ("journal, link", blocks("link"), tuple(WAYS), "a root or a link is damaged", "told"),
    # Not what a power cut leaves: nobody can say whether it was answered.
    ("journal, end of the newest commit", blocks("end"), ("unread",), "^journal: zone", "each"),
    ("summary", blocks("summary"), tuple(w for w in WAYS if w not in ("place", "older", "other")),
     "zone [0-9]+, summary at offset [0-9]+: ", "all"),
    ("two blocks at one place", lambda w: map_twice, ("mended",),
     "shares drive block|counts|neither a summary", entries(2)),
    # A zone that loading would finish counts as full.
    ("mapped past the write pointer", lambda w: map_past_wp, ("mended",),
     "past its write pointer|the zone table counts", entries(1)),
    ("count in a map leaf", lambda w: leaf_count, ("mended",),
     "map leaf [0-9]+: says it maps", "all"),
    ("count in the zone table", lambda w: valid_count, ("mended",),
     "zone [0-9]+: the zone table counts", "all"),
    ("zone set aside, and a superblock", lambda w: zone_aside, ("mended",), "superblock at block",
     "aside"),
    ("data zone, write pointer too low", lambda w: zone_short, ("zone",),
     "was it reset by someone else|past its write pointer|that the drive has lost", in_data_zone),
    ("data zone, reset", lambda w: zone_cond(fmt.EMPTY), ("zone",),
     "was it reset by someone else|that the drive has lost", in_data_zone),
    ("the same, and the last of old roots", lambda w: old_roots, ("zeros",),
     "was it reset by someone else|that the drive has lost", "sure"),
    ("data zone, reset while it was open", lambda w: lost_flag, ("mended",),
     "blocks in use that the drive has lost", in_zone(same_life)),
    ("data zone, read-only", lambda w: zone_cond(fmt.READONLY), ("zone",),
     "note: zone [0-9]+ is read-only", "none"),
    ("data zone, offline", lambda w: zone_cond(fmt.OFFLINE), ("zone",),
     "zone [0-9]+ is offline: [0-9]+ blocks in use cannot be read", "none"),
    ("log zone, reset", lambda w: log_reset, ("zone",),
     "metadata|root: the journal goes on", "told"),
    ("journal zone, offline", lambda w: journal_offline, ("zone",),
     "journal: zone [0-9]+ is offline: what it says is lost", "told"),
    ("log zone, write pointer too low", lambda w: log_short, ("zone",),
     "metadata|root: the journal goes on", "told"),
]


# --- running the tool ------------------------------------------------------------------------

class Wrong(Exception):
    pass


class NoRoom(Exception):
    """What is no fault of it: the drive has no room for new metadata beside the old."""


def need(ok, what):
    if not ok:
        raise Wrong(what)


PRELOAD = os.environ["LIFEZONE_PRELOAD"]


def run(tool, *args, **cut):
    """With CUT=N or KILL=N as preload.c has them."""
    env = dict(os.environ, LD_PRELOAD=PRELOAD, LIFEZONE_UNREADABLE=unreadable(args[1]),
               **{"LIFEZONE_" + how: str(n) for how, n in cut.items()})
    try:
        p = subprocess.run([tool, *args], capture_output=True, text=True, errors="replace",
                           check=False, timeout=300, env=env, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as e:
        raise Wrong(str(e)) from e
    killed = "KILL" in cut and p.returncode == -signal.SIGKILL
    need((p.returncode >= 0 or killed) and "Sanitizer" not in p.stderr,
         f"{' '.join(args)}: status {p.returncode}: {p.stderr[-600:]}")
    return p


def lbas(runs):
    return {lba for row in runs for lba in range(row["lba"], row["lba"] + row["len"])}


def allowed_tags(path):
    with open(path, encoding="ascii") as f:
        return [[int(t, 16) for t in line.split()] for line in f]


def contents(tool, path):
    """What each block holds: lba to tag; None if it lies in a zone that is offline."""
    p = run(tool, "dump", path, "state", "--json")
    need(p.stdout, f"no state: {p.stderr}")
    drive = fmt.Drive(path)
    tags = {}
    for row in json.loads(p.stdout):
        for i in range(row.get("len", 0) if "lba" in row else 0):
            addr = row["addr"] + i
            b = drive.read(addr)
            head, tag = struct.unpack_from("<QQ", b)
            lost = drive.cond[addr // drive.zone_blocks] == fmt.OFFLINE
            tags[row["lba"] + i] = None if lost else tag if head == DATA_MAGIC else -1
    return tags


def verify(tool, path, allowed, report):
    """Every block holds what it may, or is named; returns how many were named."""
    gone, aged = lbas(report["lost"]), lbas(report["aged"])
    need(len(gone) == report["lost_blocks"] and len(aged) == report["aged_blocks"],
         "the lists are not as long as they say")
    tags = contents(tool, path)
    for lba, may in enumerate(allowed):
        tag = tags.get(lba, 0)
        if tag is None:
            continue
        if lba in gone:
            need(not tag, f"block {lba} is lost, but holds {tag:x}")
        elif lba in aged:
            need(not tag or (tag > 0 and tag & LBA_MASK == lba),
                 f"block {lba}, of uncertain age, holds {tag:x}")
        else:
            need(tag in may, f"block {lba} holds {tag:x}, may hold "
                 f"{' '.join(f'{t:x}' for t in may)}")
    return len(gone), len(aged)


def copy_file(path, to):
    """Some are large, and mostly holes."""
    subprocess.run(["cp", "--sparse=always", path, to], check=True)


def copy(path, to):
    UNREAD.clear()
    for end in ("", ".zones", ".allowed"):
        copy_file(path + end, to + end)


def same(a, b):
    # What it remembers it knows by time stamps, which may be the same.
    filecmp.clear_cache()
    return all(filecmp.cmp(a + end, b + end, shallow=False) for end in ("", ".zones"))


def room(p):
    if p.returncode == 8 and re.search("zones would be open|no room beside the old", p.stderr):
        raise NoRoom


def mend(tool, path, **cut):
    """Repairs it. Returns the report, or None if it was refused; NoRoom if it cannot be."""
    before = path + "-before"
    for end in ("", ".zones"):
        copy_file(path + end, before + end)
    p = run(tool, "repair", path, "--dry-run", "--json")
    need(same(path, before), "a dry run wrote something")
    room(p)
    need(p.returncode in (0, 4, 8), f"a dry run ended with {p.returncode}")
    plan = json.loads(p.stdout) if p.stdout else None
    if not plan or plan["findings"] == ["no superblock is whole"]:
        need(len(p.stderr.splitlines()) >= 1, "refused without a word")
        q = run(tool, "repair", path, "--yes", "--json")
        need(q.returncode in (4, 8) and same(path, before), "refused, but not with --yes")
        return None
    if cut:
        run(tool, "repair", path, "--yes", "--json", **cut)
        # It is repaired, or has been.
        again = run(tool, "repair", path, "--yes", "--json")
        room(again)
        need(again.returncode in (0, 1, 4) and again.stdout, f"after a cut: {again.stderr}")
        report = json.loads(again.stdout)
        # Where but a root zone was left to be written the first has named all.
        return report if report["lost_blocks"] + report["aged_blocks"] else plan
    p = run(tool, "repair", path, "--yes", "--json")
    room(p)
    need(p.returncode in (0, 1, 4), f"repair ended with {p.returncode}: {p.stderr}")
    done = json.loads(p.stdout)
    need(done["repaired"] == (not same(path, before)), "it wrote, or did not, as it does not say")
    need(p.returncode == 4 or done["repaired"] == (p.returncode == 1),
         "repaired is not as its status says")
    need(bool(done["left"]) == (p.returncode == 4 and done["repaired"]),
         "what is left is not as its status says")
    need({**done, "repaired": False, "left": []} == {**plan, "repaired": False},
         "it did something else than the dry run said")
    return done


def agrees(tool, path):
    """The reader, which shares no code with the tool, finds the same; it can read all."""
    if not unreadable(path):
        differs, _ = fmt.compare(tool, path)
        need(not differs, f"the reader: {differs}")


def clean(tool, path):
    p = run(tool, "check", path)
    bad = [line for line in p.stdout.splitlines()
           if not re.search("is offline|no device gets to|ERRORS|note:|clean", line)]
    need(p.returncode in (0, 4) and not bad and not p.stderr,
         f"after the repair: {p.stdout}{p.stderr}")
    agrees(tool, path)


def said(tool, path):
    p = run(tool, "check", path)
    need(p.returncode in (0, 4, 8), f"check ended with {p.returncode}")
    return p.returncode, [re.sub(r"^(lifezone: )?[^:]*: ", "", line)
                          for line in (p.stdout + p.stderr).splitlines()]


def images(folder):
    return sorted(os.path.join(folder, f[:-len(".zones")]) for f in os.listdir(folder)
                  if f.startswith("world-") and f.endswith(".zones") and os.path.exists(
                      os.path.join(folder, f[:-len(".zones")] + ".allowed")))


def sound(tool, path):
    """Nothing is wrong with it, to begin with."""
    return run(tool, "check", path).returncode == 0


# --- the table, once through -------------------------------------------------------------------

def inflict(row, way, img):
    """Does a damage of the table to an image. False: it cannot be done to this one."""
    what, kind = row[:2]
    return kind(way)(img, random.Random(f"{what} {way}"))


def seldom(what, way):
    """Not every drive has an older block of each kind, or so long a commit."""
    return way == "older" or "middle" in what


def table(tool, folder, rows=None):
    sane = [Untouched(p) for p in images(folder) if sound(tool, p)]
    to = os.path.join(folder, "damaged")
    failed = done = 0
    for row in rows or TABLE:
        what, _, ways, tells, outcome = row
        for way in ways:
            says = tells + ("|cannot be read" if way == "unread" else "")
            line = found = named = "no image"

            for source in sane:
                if not inflict(row, way, source):
                    continue
                copy(source.path, to)
                inflict(row, way, img := Image(to))
                found, named = "not found", ""
                try:
                    status, lines = said(tool, to)
                    match = [s for s in lines if re.search(says, s)]
                    line = (match or lines or ["nothing"])[0]
                    need(match, f"check says: {lines}")
                    found = "note" if not status else "found"
                    agrees(tool, to)
                    was = aside(to) if outcome == "aside" else set()
                    report = mend(tool, to)
                    named = "refused"
                    if report:
                        lost, aged = verify(tool, to, allowed_tags(to + ".allowed"), report)
                        clean(tool, to)
                        named = f"lost {lost}, aged {aged} of {len(img.r.map)}"
                        need(outcome not in ("all", "aside", "safe") or not lost + aged,
                             f"repair: {named}")
                        need(not callable(outcome) or not aged and
                             lbas(report["lost"]) <= outcome(source),
                             f"repair: {named}, and others than may be")
                        need(was <= aside(to) if was else outcome != "aside",
                             f"zones {was} are not set aside any more")
                        need(outcome != "sure" or not aged, f"repair: {named}")
                        need(outcome != "none" or not report["repaired"], "something was repaired")
                    need(report or outcome in (None, "safe", "never"), "repair refused")
                    need(not report or outcome != "never", "repair did not refuse")
                    if outcome != "each":
                        break
                except NoRoom:
                    found = "no image"
                except Wrong as e:
                    print(f"FAIL {what}, {way}: {os.path.basename(source.path)}: {e}")
                    failed += 1
                    break
            done += 1
            print(f"{what:34} {way:8} {found:9} {named:28} {line[:100]}")
            if found == "no image" and not seldom(what, way):
                failed += 1
                print(f"FAIL {what}, {way}: no image has one")
    print(f"{done} kinds of damage, {failed} failed")
    return failed


# --- images to do it to -----------------------------------------------------------------------

MOST_WORLDS = 40
# Drives whose links all lie within commits.
LINKS = 3
# What is written of an image, in bytes: each is copied and compared a hundred times.
LARGE = 64 << 20


def export(lzcrash, folder, seed, world, every, *options):
    """Images of a world."""
    subprocess.run([lzcrash, "--seed", seed, "--world", str(world), *options, "--export", folder,
                    "--every", str(every)], check=True, stdout=subprocess.DEVNULL)
    return [p for p in images(folder) if os.path.basename(p).startswith(f"world-{world}-")]


def drop(path):
    for end in ("", ".zones", ".allowed"):
        os.unlink(path + end)


def pool(tool, lzcrash, folder, seed, worlds):
    # Drives with nodes above the leaves are another command's.
    missing = {f"{row[0]}, {way}": functools.partial(inflict, row, way)
               for row in TABLE for way in row[2]
               if not seldom(row[0], way) and "above the leaves" not in row[0]}
    missing["moved"] = Image.moves
    for world in range(MOST_WORLDS):
        if world >= worlds and not missing:
            break
        for path in export(lzcrash, folder, seed, world, 250):
            large = os.stat(path).st_blocks * 512 > LARGE
            # Only what is sound is damaged, to see what comes of that.
            img = Untouched(path) if not large and sound(tool, path) else None
            has = [what for what, can in missing.items() if can(img)] if img else []
            UNREAD.clear()
            if large or world >= worlds and not has:
                drop(path)
            for what in has:
                del missing[what]
    for what in missing:
        print("no drive for", what)
    print(f"{len(images(folder))} images")
    return len(missing)


def deep(tool, lzcrash, folder, seed):
    """A drive of which the map has nodes above its leaves: large, and seldom drawn."""
    for world in range(MOST_WORLDS, MOST_WORLDS + 5):
        new = export(lzcrash, folder, seed, world, 20, "--deep")
        keep = next((p for p in new if sound(tool, p) and Image(p).inner), None)
        for path in new:
            if path != keep:
                drop(path)
        if keep:
            return 0
    return 1


def links(tool, lzcrash, folder, seed):
    """Of a commit that goes on behind a lost link nothing is lost."""
    found = 0
    for world in range(4 * MOST_WORLDS):
        for path in export(lzcrash, folder, seed, world, 250):
            img = Image(path) if found < LINKS and sound(tool, path) else None
            if img and img.link and img.inside == img.link:
                found += 1
            else:
                drop(path)
        if found == LINKS:
            break
    rows = [(what, kind, ("zeros", "unread"), tells, "each")
            for what, kind, _, tells, _ in TABLE if what == "journal, link"]
    return table(tool, folder, rows) + LINKS - found


# --- at random -------------------------------------------------------------------------------

def draw(img, r):
    """Damages it somehow; what was done. Of the journal one block at most: see the table."""
    kinds = ["super", "newest", "roots", "leaf", "leaf", "leaf", "inner", "ztab", "journal",
             "journal", "link", "summary", "zone", "dead"]
    done = []
    for _ in range(r.choice((1, 1, 1, 2, 2, 3))):
        kind = r.choice(kinds)
        if kind == "zone":
            plant = r.choice((zone_short, zone_cond(fmt.EMPTY), zone_cond(fmt.OFFLINE), log_reset,
                              log_short))
            if plant(img, r):
                done.append("zone")
            continue
        if kind in ("journal", "link") and any(d.split()[0] in ("journal", "link") for d in done):
            continue
        at = sorted(set(img.all) - img.live - set(img.super) - set(img.newest)) if \
            kind == "dead" else getattr(img, kind)
        if not at:
            continue
        addr = r.choice(at)
        way = r.choice(PLAIN)
        # An old summary can be whole, and lead to others that are.
        if kind == "summary" and way in ("other", "older"):
            way = "flip"
        if WAYS[way](img, addr, r):
            done.append(f"{kind} {addr} {way}")
    return done


def most_lost(img, done):
    """
    All that may be lost, nothing being old; None: that depends. Where root, journal and zones are
    as they were all but what damaged nodes of the map led to is proven. A dead block that cannot be
    read may have been more of the journal.
    """
    damage = [d.split() for d in done]
    if any(d[0] not in ("leaf", "inner", "ztab", "summary", "dead") or
           (d[0] == "dead" and d[2] == "unread") for d in damage):
        return None
    return set().union(*(led_to(img, int(d[1])) for d in damage if d[0] in ("leaf", "inner")))


def at_random(tool, folder, seed, times):
    from_ = images(folder)
    to = os.path.join(folder, "damaged")
    held = lost = aged = repaired = refused = healthy = exact = 0
    for i in range(times):
        r = random.Random(f"{seed} {i}")
        path = from_[i % len(from_)]
        copy(path, to)
        done = []
        try:
            done = draw(img := Image(to), r)
            most = most_lost(img, done)
            status, _ = said(tool, to)
            agrees(tool, to)
            report = mend(tool, to, **{r.choice(("CUT", "KILL")): r.randrange(1, 40)}
                          if r.randrange(4) == 0 else {})
            if report is None:
                refused += 1
                continue
            clean(tool, to)
            one, two = verify(tool, to, allowed_tags(to + ".allowed"), report)
            need(most is None or not two and lbas(report["lost"]) <= most,
                 f"lost {one}, aged {two} of {len(img.r.map)}, and others than may be")
        except NoRoom:
            refused += 1
            continue
        except Wrong as e:
            print(f"FAIL seed {seed}, {i}: {os.path.basename(path)}, {'; '.join(done)}: {e}")
            return 1
        held += len(img.r.map)
        healthy += not status
        repaired += status != 0
        exact += status != 0 and not one + two
        lost += one
        aged += two
    # Where all superblocks or roots are gone, or there is no room; seldom.
    if refused * 10 > times:
        print(f"FAIL seed {seed}: {refused} of {times} drives were refused")
        return 1
    # Most blocks are named by a summary, whatever else is gone.
    if times >= 100 and lost * 2 > held:
        print(f"FAIL seed {seed}: {lost} of {held} blocks are lost")
        return 1
    print(f"seed {seed}: {times} drives: {repaired} repaired, {exact} of them without loss; "
          f"{healthy} without errors, {refused} refused; {lost} of {held} blocks lost, "
          f"{aged} of uncertain age")
    return 0


# --- cut at each write ------------------------------------------------------------------------

MOST_CUTS = 100              # eight are usual


def moved(tool, folder):
    """The root zone that is to be begun anew is the one with the newest root."""
    to = os.path.join(folder, "damaged")
    spoilt = to + "-spoilt"
    done = cuts = 0
    for path in images(folder):
        img = Untouched(path)
        if not img.moves() or not sound(tool, path):
            continue
        copy(path, spoilt)
        img = Image(spoilt)
        for addr in img.super:
            zeros(img, addr, None)
        done += 1
        cut = code = 0
        try:
            while code != 1:
                copy(spoilt, to)
                cut += 1
                need(cut <= MOST_CUTS, "repair does not come to its end")
                p = run(tool, "repair", to, "--yes", "--json", KILL=cut)
                room(p)
                code = p.returncode
                report = mend(tool, to) if code != 1 else json.loads(p.stdout)
                lost, aged = verify(tool, to, allowed_tags(to + ".allowed"), report)
                need(not lost + aged, f"lost {lost}, aged {aged} of {len(img.r.map)}")
                clean(tool, to)
        except NoRoom:
            done -= 1
        except Wrong as e:
            print(f"FAIL {os.path.basename(path)}, cut at write {cut}: {e}")
            return 1
        cuts += cut
    print(f"{done} drives, {cuts} cuts")
    return not done


# --- with little memory ------------------------------------------------------------------------

def little(tool, folder, pages_so, seed):
    """Repair says that there is not enough, or does what it does with more."""
    r = random.Random(seed)
    path = next(p for p in reversed(images(folder)) if sound(tool, p) and Image(p).inner)
    for kind in ("leaf", "inner"):
        short_of(tool, path, kind, pages_so, r)


def short_of(tool, path, kind, pages_so, r):
    """With one such node damaged."""
    folder = os.path.dirname(path)
    to, whole, before = (os.path.join(folder, name) for name in ("damaged", "whole", "before"))
    copy(path, before)
    flip(img := Image(before), getattr(img, kind)[0], random.Random(0))

    def attempt(image, first):
        p = subprocess.run([tool, "repair", image, "--yes", "--json"], capture_output=True,
                           text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
                           env=dict(os.environ, LD_PRELOAD=pages_so, LIFEZONE_NO_PAGES=str(first)))
        need(p.returncode >= 0, f"page {first}: status {p.returncode}: {p.stderr}")
        return p, int(p.stderr.split()[-2])

    def fresh(image):
        copy(before, image)
        os.utime(image, (0, 0))

    def written(image):
        return os.stat(image).st_mtime != 0

    fresh(whole)
    p, asked = attempt(whole, -1)
    need(p.returncode == 1, f"status {p.returncode}: {p.stderr}")
    lost, there = json.loads(p.stdout)["lost_blocks"], contents(tool, whole)
    refused = repaired = 0
    fresh(to)
    for first in range(r.randrange(1, 9), asked + 1, 8):
        if written(to):
            fresh(to)
        p, _ = attempt(to, first)
        if p.returncode == 8:
            need("memory" in p.stderr, f"page {first}: {p.stderr}")
            if not written(to):
                refused += 1
                continue
            # It was being written, or has been: as after a cut it can be done again.
            p, _ = attempt(to, -1)
        need(p.returncode in (0, 1), f"page {first}: status {p.returncode}: {p.stderr}")
        now = json.loads(p.stdout)["lost_blocks"] if p.returncode else lost
        need(now == lost, f"page {first}: {now} blocks lost, not {lost}")
        need(contents(tool, to) == there, f"page {first}: other contents")
        repaired += 1
    need(refused and repaired, f"{refused} refused, {repaired} repaired")
    print(f"{kind}: {refused} refused, {repaired} repaired")


if __name__ == "__main__":
    if sys.argv[1:2] == ["little"]:
        sys.exit(little(*sys.argv[2:6]))
    if sys.argv[1:2] == ["pool"]:
        sys.exit(pool(*sys.argv[2:6], int(sys.argv[6])) > 0)
    if sys.argv[1:2] == ["deep"]:
        sys.exit(deep(*sys.argv[2:6]))
    if sys.argv[1:2] == ["links"]:
        sys.exit(links(*sys.argv[2:6]) > 0)
    if sys.argv[1:2] == ["table"]:
        sys.exit(table(*sys.argv[2:4]) > 0)
    if sys.argv[1:2] == ["moved"]:
        sys.exit(moved(*sys.argv[2:4]))
    if sys.argv[1:2] == ["random"]:
        sys.exit(at_random(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])))
    sys.exit(__doc__)
