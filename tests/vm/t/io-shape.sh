#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: requests of many segments and odd memory go where they should: native or emulated append, conventional zones or none
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 240
. tests/vm/lib.sh

# scatter.py DEV SEGMENTS: direct I/O from memory in pieces that do not touch
# each other, up to more segments than the lower drive takes.
cat >"$W/scatter.py" <<'PY'
import mmap, os, random, struct, sys
P, N, SIZE = 4096, 300, 9000		# page; most blocks at a time; blocks used
dev, most = sys.argv[1], int(sys.argv[2])
fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
area = memoryview(mmap.mmap(-1, (2 * N + 2) * P))
rnd = random.Random(1)
model, gen = {}, 0

# Memory for n blocks: iovecs.
def page(i, at=0):
    return area[i * P + at:i * P + at + P]
def pages(n):
    return [page(i) for i in rnd.sample(range(0, 2 * N, 2), n)]
def halves(n):		# each in two pages: a gap after each block, none in it
    return [page(i, 2048) for i in rnd.sample(range(0, 2 * N, 2), n)]
def shifted(n):		# no page holds a whole block
    return [area[512:512 + n * P]]
def tag(b):
    return struct.pack("<QQ", b, model[b]) * (P // 16) if b in model else bytes(P)

def put(vecs, lba, n):
    global gen
    gen += 1
    model.update(dict.fromkeys(range(lba, lba + n), gen))
    data, at = b"".join(map(tag, range(lba, lba + n))), 0
    for v in vecs:
        v[:] = data[at:at + len(v)]
        at += len(v)
    assert os.pwritev(fd, vecs, lba * P) == n * P
def get(vecs, lba, n):
    for v in vecs:
        v[:] = b"\xee" * len(v)
    assert os.preadv(fd, vecs, lba * P) == n * P
    data = b"".join(vecs)
    for i in range(n):
        assert data[i * P:i * P + P] == tag(lba + i), "block %d of %d at %d" % (i, n, lba)

shapes = [pages, halves, shifted]
sizes = [most + 1, 256, N, most, 200, 3, 128]
for i in range(63):
    n, lba = sizes[i % 7], rnd.randrange(SIZE - N)
    put(shapes[i % 3](n), lba, n)
    get(shapes[i // 3 % 3](n), lba, n)
for lba in range(0, SIZE, 200):
    get(pages(200), lba, 200)
PY

# requests DEV: writes the device got so far
requests() { awk '{ print $5 }' "/sys/block/$(basename "$(readlink -f "$1")")/stat"; }

# shape DRIVE: the whole of it; the target stays
shape() {
	local dev=$1 q=/sys/block/${1##*/}/queue segs up low meta
	must lz_format --quiet "$dev"
	must lz_create s "$dev" commit_ms 600000
	segs=$(cat "$q/max_segments")
	[ "$segs" -lt 256 ] || fail "$dev takes $segs segments: no limit for a bio"

	# One request above is several below: what is tested is there.
	up=$(requests /dev/mapper/s) low=$(requests "$dev") meta=$(lz_sysfs s meta_written_blocks)
	must python3 - /dev/mapper/s <<-'PY'
	import mmap, os, sys
	m = memoryview(mmap.mmap(-1, 1 << 21))
	assert os.pwritev(os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT), [m[i << 13:(i << 13) + 4096] for i in range(256)], 0) == 1 << 20
	PY
	equal $(($(requests /dev/mapper/s) - up)) 1 "requests of 256 pages"
	low=$(($(requests "$dev") - low - $(lz_sysfs s meta_written_blocks) + meta))
	[ $low -ge $(((256 + segs - 1) / segs)) ] || fail "$low requests below for 256 segments"
	must blkdiscard -o 0 -l 1M /dev/mapper/s

	must python3 "$W/scatter.py" /dev/mapper/s "$segs"
	equal "$(lz_sysfs s zones_set_aside)" 0 "zones set aside"
}

note "NVMe"
shape "$DEV"
# A gap inside a block: refused, or right.  No fault of the zones.
must python3 - /dev/mapper/s <<'PY'
import errno, mmap, os, sys
m = memoryview(mmap.mmap(-1, 2 << 20))
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
for n in (1, 2, 64):		# the first n - 1 blocks would do
    vecs = [m[i << 13:(i << 13) + 4096] for i in range(n - 1)]
    vecs += [m[1 << 19:(1 << 19) + 2048], m[3 << 18:(3 << 18) + 2048]]
    for v in vecs:
        v[:] = os.urandom(len(v))
    try:
        assert os.pwritev(fd, vecs, 0) == n << 12
        back = m[1 << 20:(1 << 20) + (n << 12)]
        assert os.preadv(fd, [back], 0) == n << 12 and back == b"".join(vecs), "wrong data"
    except OSError as e:
        assert e.errno == errno.EINVAL, e
PY
equal "$(lz_sysfs s zones_set_aside)" 0 "zones set aside for a gap in a block"
must lz_remove s
lz_check "$DEV"

# With blocks of 4 KiB null_blk miscopies what lies across a page boundary.
for how in "" "zone_append_max_sectors=0 zone_nr_conv=3"; do
	note "null_blk $how"
	# shellcheck disable=SC2086	# words are wanted
	dev=$(make_nullb size=160 zone_capacity=3 blocksize=512 $how) || fail "no null_blk $how"
	shape "$dev"
	size=$(blockdev --getsize64 /dev/mapper/s)
	part=$((size / 4 / 65536 * 65536))
	copies=$(lz_status s gc_copies)
	note "filled and overwritten"
	must blkdiscard /dev/mapper/s
	(cd "$W" && timeout 300 fio --name=s --filename=/dev/mapper/s --direct=1 --ioengine=libaio \
		--iodepth=8 --numjobs=4 --size=$part --offset_increment=$part --rw=randwrite \
		--bssplit=4k/60:12k/20:64k/20 --loops=2 --verify=crc32c --verify_fatal=1 \
		--do_verify=1 --minimal) >"$W/fio" 2>&1 || fail "fio: $(cat "$W/fio")"
	[ "$(lz_status s gc_copies)" -gt "$copies" ] || fail "nothing collected"
	equal "$(lz_sysfs s zones_set_aside)" 0 "zones set aside"
	must lz_remove s
	lz_check "$dev"
	nullb_remove "$dev"
done
