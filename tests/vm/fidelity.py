#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# One load for the module and for the simulator, as CSV (lifezone sim --load trace:FILE):
#
#   fidelity.py make BLOCKS SEED FILLS >CSV     to write the blocks there are so many times
#   fidelity.py merges BLOCKS SEED FILLS >CSV   the same, of a store of files only
#   fidelity.py idle BLOCKS SEED FILLS >CSV     the same, overwritten, and now and then a short file
#   fidelity.py play CSV DEVICE ZONES           to a device, with pauses while fewer zones are free
#
# What is made: a log (short, overwritten in turn), files (medium to extreme, written in pieces,
# several at a time, discarded when they make room for others) and overwrites at random, of which
# some blocks get most (no hint, and long). It is played in order, one request at a time.
#
# The store merges files of half a zone: four are written, then four are discarded, of which one is
# what the merge before wrote last. Zones that end a merge are left alone then.
#
# A short file is half a zone that is discarded at once: nobody comes to that zone for long then.
#
# Most is at random on purpose: where little is copied but what a few files left behind, one
# block more in the load can change the copies by a tenth, in the simulator as in the module.
#   fidelity.py compare COUNTERS[,COUNTERS...] BOUND CSV WORD...
#                                               counters of the module, in the mean of runs, with
#                                               those of "lifezone sim"
import fcntl, json, mmap, os, random, stat, struct, subprocess, sys, time

BLOCK = 4096
BLKDISCARD = 0x1277
F_SET_RW_HINT = 1036
RUNS, MANY = 4, 32	# where one of the module counts, and where the mean of several does
SHORT, MEDIUM, LONG, EXTREME = 2, 3, 4, 5

def request(op, lba, n, hint):
    print("0,%s,%d,%d,%d" % (op, lba * BLOCK, n * BLOCK, hint))

def make(blocks, seed, fills):
    rnd = random.Random(seed)
    log, small, piece = blocks // 20, blocks // 32 * 16, 32
    files = (blocks - log - small) // 64
    at = lambda f: log + small + f * 64
    free, kept = list(range(files)), {MEDIUM: [], LONG: [], EXTREME: []}
    keep = {MEDIUM: files // 8, LONG: files // 4, EXTREME: files // 2}
    begun = {}    # by class: the file that is written, and how much of it is
    todo, head = fills * blocks, 0

    def say(op, lba, n, hint):
        nonlocal todo
        request(op, lba, n, hint)
        todo -= n * (op == "write")

    for lba in range(0, small, 16):
        say("write", log + lba, 16, 0)
    while todo > 0:
        what = rnd.random()
        if what < 0.12:
            n = min(8, log - head)
            say("write", head, n, SHORT)
            head = (head + n) % log
            continue
        if what < 0.95:
            lba = int(small // 16 * rnd.random() ** 2) * 16
            say("write", log + lba, 16, LONG if lba // 16 % 4 == 3 else 0)
            continue
        hint = MEDIUM if what < 0.975 else LONG if what < 0.99 else EXTREME
        if hint not in begun:
            if len(kept[hint]) >= keep[hint] or not free:
                of = hint if kept[hint] else max(kept, key=lambda h: len(kept[h]))
                # The oldest most often go first.
                gone = kept[of].pop(int(len(kept[of]) * rnd.random() ** 3))
                for part in range(0, 64, piece):
                    say("discard", at(gone) + part, piece, 0)
                free.append(gone)
            begun[hint] = free.pop(rnd.randrange(len(free))), 0
        f, done = begun[hint]
        say("write", at(f) + done, piece, hint)
        begun[hint] = f, done + piece
        if done + piece == 64:
            kept[hint].append(begun.pop(hint)[0])

def merges(blocks, seed, fills):
    rnd = random.Random(seed)
    size, piece = 128, 32
    files = blocks // size
    free = list(range(files))
    rnd.shuffle(free)
    kept, todo = [], fills * blocks

    def whole(op, f, hint):
        for part in range(0, size, piece):
            request(op, f * size + part, piece, hint)

    while todo > 0:
        made = [free.pop() for _ in range(4)]
        for f in made:
            whole("write", f, EXTREME)
            todo -= size
        gone = [kept.pop()] if kept else []
        while len(kept) + len(gone) > files * 4 // 5 and len(gone) < 4:
            gone.append(kept.pop(int(len(kept) * rnd.random() ** 3)))
        for f in gone:
            whole("discard", f, 0)
        free = gone + free
        kept += made

def idle(blocks, seed, fills):
    rnd = random.Random(seed)
    half, piece = 128, 16
    for lba in range(half, blocks - piece, piece):
        request("write", lba, piece, LONG)
    for n in range(fills * blocks // piece):
        if n % (blocks // piece // 8) == 0:
            for op in "write", "discard":
                for lba in range(0, half, 32):
                    request(op, lba, 32, SHORT)
        request("write", rnd.randrange(half // piece, blocks // piece) * piece, piece, LONG)

# What is written directly has the hint of the device node's inode: a node for each.
def node(device, hint):
    name = "/tmp/lz/hint.%d" % hint
    os.mknod(name, 0o600 | stat.S_IFBLK, os.stat(device).st_rdev)
    fd = os.open(name, os.O_RDWR | os.O_DIRECT)
    os.unlink(name)
    fcntl.fcntl(fd, F_SET_RW_HINT, struct.pack("Q", hint))
    return fd

def play(csv, device, enough):
    fds = [node(device, hint) for hint in range(6)]
    data = mmap.mmap(-1, 64 * BLOCK)
    data.write(os.urandom(64 * BLOCK))
    view = memoryview(data)
    free = os.open("/sys/dev/block/%d:%d/lifezone/zones_free" % (
        os.major(os.stat(device).st_rdev), os.minor(os.stat(device).st_rdev)), os.O_RDONLY)
    for n, line in enumerate(open(csv)):
        # GC that is behind is let catch up: in the simulator it takes no time.
        for _ in range(20):
            if n % 4 or int(os.pread(free, 16, 0)) >= enough:
                break
            time.sleep(0.005)
        _, op, offset, length, hint = line.split(",")
        offset, length = int(offset), int(length)
        if op == "discard":
            fcntl.ioctl(fds[0], BLKDISCARD, struct.pack("QQ", offset, length))
        elif os.pwrite(fds[int(hint)], view[:length], offset) != length:
            raise OSError("short write at %d" % offset)

# What the simulator counts: the mean of runs that differ by a few blocks written twice, as the
# figures of one run are those of many that are as good.
def simulate(csv, words, many):
    load, runs = open(csv).read().split("\n"), []
    for n in range(many):
        with open(csv + ".run", "w") as f:
            f.write("\n".join(load[:2000] + load[2000:2000 + n] + load[2000:]))
        said = subprocess.run(["lifezone", "sim", "--json", "--load", "trace:%s.run" % csv, *words],
                              check=True, stdout=subprocess.PIPE)
        runs += json.loads(said.stdout)
    return {k: sum(r[k] for r in runs) / many for k in runs[0] if isinstance(runs[0][k], int)}

# Is one of the module's counters, a line for each, further from that than @bound? Of finishes, in
# parts of all zones that were closed: with little room whose turn it is decides.
def compare(modules, bound, csv, words):
    modules = modules.split(",")
    said = [line.split() for m in modules for line in open(m)]
    s, wrong = simulate(csv, words, MANY if len(modules) > 1 else RUNS), False
    for what, ours, names in (("copied blocks", "copied_blocks", ["gc_copied_blocks"]),
                              ("resets", "erased_zones", ["resets_user", "resets_gc"]),
                              ("finishes", "finished_zones", ["finishes_mismatch"])):
        n = sum(int(v) for k, v in said if k in names) / len(modules)
        of = s["erased_zones" if "finish" in ours else ours]
        off = (n - s[ours]) / of
        wrong |= abs(off) > bound
        print("%-14s module %9.1f  simulator %9.1f  off by %+.4f" % (what, n, s[ours], off))
    return wrong

made = {"make": make, "merges": merges, "idle": idle}
if sys.argv[1] in made:
    made[sys.argv[1]](*map(int, sys.argv[2:5]))
elif sys.argv[1] == "play":
    play(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    sys.exit(compare(sys.argv[2], float(sys.argv[3]), sys.argv[4], sys.argv[5:]))
