#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a failed write sets its zone aside and is repeated elsewhere; a lost zone costs its own blocks only; events tell
# vm: VM_ZNS=none
# timeout: 300
. tests/vm/lib.sh

io() {
	timeout 200 fio --name=io --filename=/dev/mapper/e0 --direct=1 --ioengine=io_uring \
		--iodepth=16 --rw=randwrite --serialize_overlap=1 --verify=crc32c --minimal \
		"$@" >"$W/fio" 2>&1 || fail "fio $*: status $?: $(cat "$W/fio")"
}
zone_sectors=8192

dev=$(make_nullb size=512 zone_size=4 zone_capacity=3 zone_max_open=6 zone_max_active=6) ||
	fail "no null_blk"
must lz_format --quiet "$dev"
must lz_create e0 "$dev"
cd "$W" || fail "no $W"
echo 1 >$trace/events/lifezone/enable || fail "no tracepoints"

io --bs=4k-64k --size=60M --do_verify=0 --end_fsync=1

note "zones that fail in the middle"
for z in 30 31 32 40; do
	must nullb_set "$dev" badblocks "+$((z * zone_sectors + 3000))-$((z * zone_sectors + 3100))"
done
dmsetup wait e0 >/dev/null &
wait_pid=$!
udevadm monitor --kernel --property >"$W/udev" &
udev_pid=$!
sleep 0.5
io --bs=4k-64k --offset=60M --size=100M --do_verify=1 --end_fsync=1
io --bs=4k-64k --size=60M --verify_only=1
set_aside() { [ "$(lz_sysfs e0 zones_set_aside)" -ge 4 ]; }
wait_for 10 set_aside || fail "$(lz_sysfs e0 zones_set_aside) zones set aside"
equal "$(lz_status e0 mode)" rw mode
wait_for 10 eval "! kill -0 $wait_pid 2>/dev/null" || fail "no dm event"
wait_for 10 grep -q DM_LIFEZONE_EVENT=zone_aside "$W/udev" || fail "no udev event"
kill $udev_pid
for e in lifezone_zone_state lifezone_place lifezone_commit; do
	grep -q " $e: " $trace/trace || fail "no $e in the trace"
done
echo 0 >$trace/events/lifezone/enable
must lz_remove e0
lz_check "$dev"
nullb_remove "$dev"

note "zones that are lost"
# unreadable: how many of the first 60 MiB, MiB by MiB
unreadable() {
	local i n=0
	for i in $(seq 0 59); do
		dd if=/dev/mapper/e0 of=/dev/null bs=1M count=1 skip="$i" iflag=direct status=none 2>/dev/null ||
			n=$((n + 1))
	done
	echo $n
}

dev=$(make_nullb size=512 zone_size=4 zone_capacity=3) || fail "no null_blk"
must lz_format --quiet "$dev"
must lz_create e0 "$dev"
must dd if=/dev/urandom of=/dev/mapper/e0 bs=1M count=60 oflag=direct status=none
must dmsetup message e0 0 checkpoint
# The two oldest full zones, by sector of the drive.
mapfile -t full < <(lifezone dump "$dev" zones --json |
	jq -r '[.[] | select(.state == "full")] | sort_by(.seq) | .[].zone')
must nullb_set "$dev" zone_offline $((full[0] * zone_sectors))
must nullb_set "$dev" zone_readonly $((full[1] * zone_sectors))
n=$(unreadable)
[[ $n -ge 3 && $n -le 4 ]] || fail "$n MiB cannot be read, of a zone of 3 MiB"
equal "$(lz_status e0 mode)" rw mode
must dd if=/dev/urandom of=/dev/mapper/e0 bs=1M count=60 oflag=direct status=none
equal "$(unreadable)" 0 "MiB that cannot be read once all is written again"
must lz_remove e0
lz_check "$dev"
must lz_create e0 "$dev"
equal "$(unreadable)" 0 "MiB that cannot be read after a restart"
equal "$(lz_status e0 zones_bad)" 2 zones_bad
must lz_remove e0
