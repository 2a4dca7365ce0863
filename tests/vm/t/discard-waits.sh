#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: writes do not wait for a discard that waits for a checkpoint
# vm: VM_ZNS=none VM_MEM=1G
# timeout: 120
. tests/vm/lib.sh

no_udev
# Each command takes a seventh of a second, so that a checkpoint of many leaves takes longer than
# as many discards as go beside it, on a slow host, too.
slow=$((150000000 * ${LZ_TEST_SCALE:-1}))
drive=$(make_nullb size=6144 zone_size=64 irqmode=2 completion_nsec=$slow) || fail "no null_blk"
must lz_format --quiet "$drive"
must lz_create p "$drive" commit_ms 600000
top=/dev/mapper/p
cat >"$W/discards.py" <<'PY'
# A block in each of so many leaves (fill), or discards beside them, again and again.
import fcntl, os, struct, sys

LEAF, BLOCK, LEAVES = 504, 4096, 2060
fd = os.open(sys.argv[2], os.O_RDWR)
for n in range(4 * LEAVES if sys.argv[1] == "discard" else LEAVES):
    at = n % LEAVES * LEAF
    if sys.argv[1] == "fill":
        os.pwrite(fd, b"x" * BLOCK, at * BLOCK)
    else:
        at += 9 + n // LEAVES * 120
        fcntl.ioctl(fd, 0x1277, struct.pack("QQ", at * BLOCK, 99 * BLOCK))
        print(n, flush=True)
os.fsync(fd)
PY
must python3 "$W/discards.py" fill $top
# Leaves are on the drive, and not in memory.
must lz_remove p
must lz_create p "$drive" commit_ms 600000

# By another device, as a discard keeps the inode of its own.
must dmsetup create q --table "0 $(blockdev --getsz $top) linear $top 0"
python3 "$W/discards.py" discard /dev/mapper/q >"$W/done" &
pid=$!
count() { wc -l <"$W/done"; }
waits() {
	at=$(count)
	[ -e /proc/$pid ] || fail "no discard has waited: $at done"
	sleep 0.3
	[ "$at" -gt 0 ] && [ "$(count)" = "$at" ] && grep -q '^State:.*D' /proc/$pid/status
}
# The checkpoint may be over just then, but not each time.
for try in 1 2 3; do
	wait_for 30 waits || fail "no discard waits: $(count) done"
	must dd if=/dev/urandom of=$top bs=4k seek="$try" count=1 oflag=direct status=none
	after=$(count)
	[ "$after" != "$at" ] || break
done
equal "$after" "$at" "discards done before a write was, three times"
note "write $try did not wait for discard $at"
kill $pid
wait $pid
must dmsetup remove --retry q
must lz_remove p
