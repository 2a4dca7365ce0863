#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: the map gives its memory back when the system wants it, reads stay right and bring it in again, while devices come and go, too
# vm: VM_ZNS=size=4G,zone=16M,cap=12M,open=14,active=14
# timeout: 240
. tests/vm/lib.sh

# leaves.py write|check DEV LEAVES ROUND: a block of each leaf of the map
cat >"$W/leaves.py" <<'PY'
import mmap, os, struct, sys
what, dev, leaves, version = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
buf = mmap.mmap(-1, 4096)
for i in range(leaves):
    block = struct.pack("<QQ", i, version) * 256
    if what == "write":
        buf[:] = block
        assert os.pwrite(fd, buf, i * 504 * 4096) == 4096
    else:
        assert os.preadv(fd, [buf], i * 504 * 4096) == 4096 and buf[:] == block, "leaf %d" % i
os.fsync(fd)
PY
leaves() { must python3 "$W/leaves.py" "$1" /dev/mapper/m "$leaves" "$2"; }
cached() { lz_sysfs m leaves_cached; }
all_cached() { equal "$(cached)" "$leaves" "leaves in memory $*"; }
drop() { echo 2 >/proc/sys/vm/drop_caches; }
few_cached() { [ "$(cached)" -lt $((leaves / 2)) ]; }
# given_back: soon, as the machine does it
given_back() {
	drop
	wait_for 5 few_cached || fail "$(cached) of $leaves leaves in memory after a shrink"
	note "$(cached) of $leaves leaves are left"
}

must lz_format --quiet "$DEV"
# What the option says is the most.
for option in 0 16; do
	must lz_create m "$DEV" map_cache_mb $option
	leaves=$(lz_sysfs m leaves)
	[ "$leaves" -gt 1000 ] || fail "only $leaves leaves"
	max=$(lz_sysfs m leaves_max)
	leaves write $option
	must dmsetup message m 0 checkpoint
	leaves check $option
	all_cached "at first"

	given_back
	equal "$(lz_sysfs m leaves_max)" "$max" leaves_max
	equal "$(lz_status m leaves)" "$(cached)/$max" status
	leaves check $option
	all_cached "once read again"

	note "all the time"
	while [ ! -e "$W/stop" ]; do drop; done &
	leaves check $option
	leaves write $((option + 1))
	must dmsetup message m 0 checkpoint
	leaves check $((option + 1))
	touch "$W/stop"
	wait $!
	rm "$W/stop"

	must lz_remove m
	lz_check "$DEV"
done

note "while it comes and goes"
line=$(lifezone table "$DEV")
while [ ! -e "$W/stop" ]; do drop; done &
for _ in 1 2 3; do
	must dmsetup create m --table "$line"
	leaves check 17
	must timeout 60 dmsetup suspend m
	must timeout 60 dmsetup resume m
	must timeout 60 dmsetup load m --table "$line"
	leaves check 17
	must timeout 60 dmsetup resume m
	leaves check 17
	must lz_remove m
done
touch "$W/stop"
wait $!

note "at rest it keeps what it has"
must dmsetup create m --table "$line"
leaves check 17
must dmsetup suspend m
before=$(lz_status m leaves)
drop
sleep 1
equal "$(lz_status m leaves)" "$before" "leaves of a suspended device"
must dmsetup resume m
given_back
leaves check 17
must lz_remove m
lz_check "$DEV"
