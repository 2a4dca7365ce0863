#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: no hibernation beneath a device, as GC would go on behind its back; with it removed, and sleep at any time, all is as ever
# vm: VM_ZNS=none
# kernel: stock
. tests/vm/lib.sh

# As far as everybody being frozen, and back.
try() { echo "$1" >/sys/power/state; }
said() { dmesg | grep -c "no hibernation while there are devices ($1)"; }
refused() {	# HOW-MANY
	local n
	n=$(said "$1")
	try disk 2>/dev/null && fail "hibernation beneath a device"
	equal "$(said "$1")" $((n + 1)) "lines that say so"
}
load() {
	must fio --name=load --filename=/dev/mapper/lz0 --direct=1 --ioengine=libaio --iodepth=8 \
		--rw=randwrite --bs=16k --size=32M --time_based --runtime="$1" --fsync=50 \
		--verify=crc32c --do_verify=0 --verify_state_save=0 --minimal >"$W/fio" 2>&1
}

must [ -w /sys/power/pm_test ]
echo freezer >/sys/power/pm_test
echo 1 >/sys/module/suspend/parameters/pm_test_delay	# seconds
a=$(make_nullb size=160 zone_size=4 zone_capacity=3) || fail "no null_blk"
b=$(make_nullb size=160 zone_size=4 zone_capacity=3) || fail "no null_blk"
for dev in "$a" "$b"; do
	must lz_format --quiet "$dev"
done
must lz_create lz0 "$a"
must lz_create lz1 "$b"
refused 2
must lz_remove lz1
refused 1

note "sleep, with I/O"
load 10 &
sleep 3
must try mem
wait $! || fail "I/O across a sleep: $(cat "$W/fio")"
equal "$(lz_status lz0 mode)" rw mode

note "hibernation"
must dmsetup suspend lz0
refused 1
must dmsetup resume lz0
refused 1
load 3
must lz_remove lz0
must try disk
# A table that never was resumed counts for nothing.
must dmsetup create lz0 --notable
must dmsetup load lz0 --table "0 $(lz_sectors "$a") lifezone $a"
must try disk
must dmsetup resume lz0
refused 1
# One that only reads would, too, wake up with its map behind.
must dmsetup create -r lz1 --table "0 $(lz_sectors "$b") lifezone $b"
refused 2
must lz_remove lz0
refused 1
must lz_remove lz1
must try disk
lz_check "$a"
