#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: memory in pieces is taken as by an ordinary drive; one block in pieces: right or refused
# vm: VM_ZNS=size=512M,zone=8M,cap=6M,open=14,active=14
# timeout: 120
. tests/vm/lib.sh

# The drive is like no other test's, so that the boot is this test's own: once a flusher
# has written to an NVMe drive, lockdep (6.12) takes the removal of a SCSI disk for a
# possible deadlock with the making of an NVMe namespace.

# Pieces of memory: page (none touches another), offset, bytes.
cat >"$W/gaps.py" <<'PY'
import ctypes, errno, fcntl, mmap, os, struct, sys
P = 4096
area = mmap.mmap(-1, 128 * P)
base = ctypes.addressof(ctypes.c_char.from_buffer(area))
SHAPES = {
    "pages": [(i, 0, P) for i in range(3)],
    "blocks across pages": [(i, 512, P) for i in range(3)],
    "pieces side by side": [(0, i * 512, 512) for i in range(16)],
    "halves that meet at page ends": [(i, (i + 1) % 2 * 2048, 2048) for i in range(4)],
    "gap in the only block": [(0, 0, 2048), (1, 2048, 2048)],
    "gap in the second block": [(0, 0, P), (1, 0, 512), (2, 512, 3584)],
    "pieces of 512": [(i, i % 8 * 512, 512) for i in range(16)],
    "pieces of 512 at page starts": [(i, 0, 512) for i in range(8)],
    "off by 256": [(i, 256, P) for i in range(2)],
    "off by 4": [(i, 4, P) for i in range(2)],
    "off by 1": [(i, 1, P) for i in range(2)],
    "too short": [(0, 0, 3584)],
}
def at(shape):
    return [(base + i * 2 * P + o, n) for i, o, n in shape]

def direct(fd, write, shape, lba):
    vecs = [memoryview(area)[a - base:a - base + n] for a, n in at(shape)]
    try:
        return (os.pwritev if write else os.preadv)(fd, vecs, lba * P)
    except OSError as e:
        return errno.errorcode[e.errno]

# By SG_IO: the pieces reach the drive as they are, whatever their lengths.
def scsi(fd, write, shape, lba):
    n = sum(n for _, n in at(shape))
    iov = ctypes.create_string_buffer(b"".join(struct.pack("QQ", a, n) for a, n in at(shape)))
    cdb = struct.pack(">BBIBHB", 0x2A if write else 0x28, 0, lba, 0, n // P, 0)
    cdb = ctypes.create_string_buffer(cdb)
    sense = ctypes.create_string_buffer(64)
    h = bytearray(88)
    struct.pack_into("=iiBBHIQQQI", h, 0, ord("S"), -2 if write else -3, 10, 64, len(shape), n,
                     ctypes.addressof(iov), ctypes.addressof(cdb), ctypes.addressof(sense), 20000)
    try:
        fcntl.ioctl(fd, 0x2285, h)
    except OSError as e:
        return errno.errorcode[e.errno]
    return n if not struct.unpack_from("I", h, 80)[0] & 1 else "EIO"

def run(how, dev, verify):
    fd, out = os.open(dev, os.O_RDWR | os.O_DIRECT), {}
    for k, (name, shape) in enumerate(SHAPES.items()):
        if how is scsi and sum(n for *_, n in shape) % P:
            continue
        for write in 1, 0:
            # 6.12 itself reads wrongly into memory with a gap in a block.
            if how is scsi and not write and out[name, 1] == "EIO":
                continue
            data = b"".join(bytes([k + 16 * i + 1]) * n for i, (*_, n) in enumerate(shape))
            area[:] = b"\xee" * len(area)
            pos = 0
            for a, n in at(shape) if write else []:
                area[a - base:a - base + n] = data[pos:pos + n]
                pos += n
            r = out[name, write] = how(fd, write, shape, k * 4)
            got = b"".join(area[a - base:a - base + n] for a, n in at(shape))
            if write and r == len(data) and verify:
                check = mmap.mmap(-1, 4 * P)
                assert os.preadv(fd, [check], k * 4 * P) == 4 * P
                assert check[:r] == data, name + ": other data written"
            elif not write and r == len(data) and r == out[name, 1] and verify:
                assert got == data, name + ": other data read"
    return out

how = {"direct": direct, "scsi": scsi}[sys.argv[1]]
ours = run(how, sys.argv[2], True)
other = run(how, sys.argv[3], False) if len(sys.argv) > 3 else ours
assert ours["pages", 1] == ours["pages", 0] == 3 * P, "what has no gaps is refused: %s" % ours
for k in ours:
    print("%-30s %5s: %6s, other %s" % (k[0], ("read", "write")[k[1]], ours[k], other[k]))
assert ours == other
PY

must lz_format --quiet "$DEV"
must lz_create g "$DEV"

note "direct I/O, beside dm-linear on an ordinary drive of such blocks"
# Later kernels let this drive have gaps.
gaps=$(cat "/sys/block/${DEV##*/}/queue/virt_boundary_mask")
plain=$(make_nullb zoned=0 virt_boundary=$((gaps != 0))) || fail "no null_blk"
must dmsetup create plain --table "0 $(blockdev --getsz "$plain") linear $plain 0"
queue() { cat "/sys/block/$(basename "$(readlink -f "/dev/mapper/$1")")/queue/$2"; }
for q in virt_boundary_mask dma_alignment logical_block_size; do
	equal "$(queue g $q)" "$(queue plain $q)" $q
done
must python3 "$W/gaps.py" direct /dev/mapper/g /dev/mapper/plain
equal "$(lz_sysfs g zones_set_aside)" 0 "zones set aside"

note "SCSI commands"
# Or it is built in.
t=/sys/kernel/config/target
modprobe -a target_core_iblock tcm_loop sd_mod || [ -d $t ] || skip "no SCSI target"
l=$t/loopback/naa.6001405000000001
untarget() {
	rm -f $l/tpgt_1/lun/lun_0/lz
	rmdir $l/tpgt_1/lun/lun_0
	echo NULL >$l/tpgt_1/nexus
	rmdir $l/tpgt_1 $l $t/loopback $t/core/iblock_0/lz $t/core/iblock_0
}
trap untarget EXIT
mkdir -p $t/core/iblock_0/lz $l/tpgt_1
echo udev_path=/dev/mapper/g >$t/core/iblock_0/lz/control || fail "no SCSI disk"
echo 1 >$t/core/iblock_0/lz/enable || fail "no SCSI disk"
echo naa.6001405000000002 >$l/tpgt_1/nexus || fail "no SCSI disk"
mkdir $l/tpgt_1/lun/lun_0
ln -s $t/core/iblock_0/lz $l/tpgt_1/lun/lun_0/lz || fail "no SCSI disk"
disk() { ls -d /sys/block/sd? 2>/dev/null; }
wait_for 20 disk >/dev/null || fail "no SCSI disk"
udevadm settle
sd=/dev/$(basename "$(disk)")
equal "$(blockdev --getss "$sd")" 4096 "block size"
must python3 "$W/gaps.py" scsi "$sd"
equal "$(lz_sysfs g zones_set_aside)" 0 "zones set aside for gaps in blocks"
equal "$(lz_status g mode)" rw mode
trap - EXIT
must untarget
must lz_remove g
lz_check "$DEV"
