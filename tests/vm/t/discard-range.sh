#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: discards and write-zeroes of any range read as zeros, are counted exactly, survive a cut once flushed, and free zones
# vm: VM_ZNS=size=160M,zone=4M,cap=3M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

# ranges.py run DEV STATE SEED OPS: writes, discards and zeroes at random and
# checks with flushes between; prints the blocks mapped.  STATE has for each
# block what it may hold: what was last flushed and all since, 0 for a discard.
# Where the drive knows no write-zeroes dm offers none, and zeros are written.
# ranges.py check DEV STATE: after a cut; prints nothing.
cat >"$W/ranges.py" <<'PY'
import fcntl, mmap, os, pickle, random, struct, sys
P, MIB = 4096, 256
BLKDISCARD, BLKZEROOUT = 0x1277, 0x127f
what, dev, state = sys.argv[1:4]
fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
size = os.lseek(fd, 0, os.SEEK_END) // P
buf = mmap.mmap(-1, MIB * P)
view = memoryview(buf)
ZERO = -1 if os.environ["ZEROES"] == "0" else 0
def tag(b, v):
    return struct.pack("<QQ", b, v) * (P // 16) if v > 0 else bytes(P)
def blocks():
    for b in range(0, size, MIB):
        n = min(MIB, size - b)
        assert os.preadv(fd, [view[:n * P]], b * P) == n * P
        for i in range(n):
            yield b + i, view[i * P:(i + 1) * P]

try:
    may = pickle.load(open(state, "rb"))
except FileNotFoundError:
    may = [[0] for b in range(size)]
if what == "check":
    for b, data in blocks():
        fit = [v for v in may[b] if data == tag(b, v)]
        assert fit, "block %d: %r, may be %r" % (b, struct.unpack_from("<QQ", data), may[b])
        may[b] = fit[-1:]
    pickle.dump(may, open(state, "wb"))
    sys.exit()

rnd = random.Random(int(sys.argv[4]))
gen = max(map(max, may))
def extent():
    "any place and length, small ones and tree boundaries more often"
    n = rnd.choice((1, rnd.randint(1, 9), rnd.randint(1, 600), rnd.randint(1, size)))
    b = rnd.choice((rnd.randrange(size), rnd.randrange(size) // 504 * 504, size - n))
    return b, max(1, min(n, size - b))
for op in range(int(sys.argv[5])):
    how = rnd.choice("wwwwdzf")
    b, n = extent()
    if how == "w":
        gen, n = gen + 1, min(n, rnd.choice((1, 4, MIB)))
        for i in range(n):
            view[i * P:(i + 1) * P] = tag(b + i, gen)
            may[b + i].append(gen)
        assert os.pwritev(fd, [view[:n * P]], b * P) == n * P
    elif how == "f":
        os.fsync(fd)
        may = [m[-1:] for m in may]
    else:
        fcntl.ioctl(fd, BLKDISCARD if how == "d" else BLKZEROOUT, struct.pack("QQ", b * P, n * P))
        for i in range(b, b + n):
            may[i].append(0 if how == "d" else ZERO)
    if op % 40 == 39:
        for b, data in blocks():
            assert data == tag(b, may[b][-1]), "block %d after %d operations" % (b, op)
        os.system("dmsetup message %s 0 %s" % (os.path.basename(dev), rnd.choice(("checkpoint", "gc"))))
pickle.dump(may, open(state, "wb"))
print(sum(m[-1] != 0 for m in may))
PY

mapped() { lz_status d mapped_blocks | cut -d/ -f1; }
# some SEED OPS: prints the blocks mapped, which the status must say too
some() {
	local n
	n=$(python3 "$W/ranges.py" run /dev/mapper/d "$W/state" "$@") || fail "seed $1"
	# Blocks overwritten while their leaf is not in RAM count until then.
	must dmsetup message d 0 checkpoint
	equal "$(mapped)" "$n" "seed $1: blocks mapped"
}
restart() {
	local n
	n=$(mapped)
	must lz_remove d
	lz_check "$1"
	must lz_create d "$1" >/dev/null
	equal "$(mapped)" "$n" "blocks mapped after a restart"
	must python3 "$W/ranges.py" check /dev/mapper/d "$W/state"
}
start() {
	must lz_format --quiet "$1"
	must lz_create d "$1" >/dev/null
	rm -f "$W/state"
	free=$(lz_status d zones_free)
	ZEROES=$(cat "/sys/block/$(basename "$(readlink -f /dev/mapper/d)")/queue/write_zeroes_max_bytes")
	export ZEROES
}
# all DEV: a discard of all gives all back
all() {
	must blkdiscard /dev/mapper/d
	must dmsetup message d 0 checkpoint
	equal "$(mapped)" 0 "blocks mapped after a discard of all"
	# What the checkpoint found empty the next commit frees.
	must dmsetup message d 0 commit
	wait_for 20 zones_back || fail "$free zones free at first, now: $(lz_status d)"
	must cmp -n "$(blockdev --getsize64 /dev/mapper/d)" /dev/mapper/d /dev/zero
	must lz_remove d
	lz_check "$1"
}
zones_back() { [ "$(lz_status d zones_free)" -ge "$free" ]; }

note "NVMe"
start "$DEV"
[ "$ZEROES" != 0 ] || fail "no write-zeroes"
some 1 120
restart "$DEV"
some 2 120
all "$DEV"

# No limits: null_blk goes on counting the zones that were open when power went.
dev=$(make_nullb size=160 zone_capacity=3 cache_size=64 zone_max_open=0 zone_max_active=0) ||
	fail "no null_blk"
null=/sys/kernel/config/nullb/${dev##*/}
start "$dev"
for cut in 1 2 3; do
	note "cut $cut"
	some $((10 * cut)) 80
	must python3 "$W/ranges.py" run /dev/mapper/d "$W/state" $((10 * cut + 1)) 30 >/dev/null
	echo 0 >"$null/power"
	must dmsetup remove --force d
	echo 1 >"$null/zone_full"
	echo 1 >"$null/power"
	wait_for 10 test -b "$dev" || fail "no $dev"
	must lz_create d "$dev" >/dev/null
	must python3 "$W/ranges.py" check /dev/mapper/d "$W/state"
done
some 40 40
restart "$dev"
all "$dev"
