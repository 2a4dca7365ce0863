#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: on sectors of 512 bytes, zones whose last block was written in part, before a start or after it, are closed, and nothing in them is lost
# vm: VM_ZNS=none
# timeout: 180
. tests/vm/lib.sh

dev=$(make_nullb size=128 blocksize=512 zone_size=4 zone_capacity=3 zone_max_open=6 \
	zone_max_active=6) || fail "no null_blk"
must lz_format --quiet "$dev"
table=$(lifezone table "$dev")

fill() {	# SEED: writes with every lifetime, read back
	local h jobs=()
	for h in 0 1 2 3 4 5; do
		jobs+=("--name=f$h" --filename="$(node_with_hint /dev/mapper/t0 $h)" "--offset=$((h * 8))M")
	done
	must fio --direct=1 --rw=randwrite --bs=4k-64k --size=8M --io_size=6M --fsync=16 \
		--randseed="$1" --verify=crc32c --do_verify=1 --verify_fatal=1 --verify_state_save=0 \
		--minimal "${jobs[@]}" >"$W/fio" 2>&1
}

# Root zones are the first two, the log and the data lie in the others.
for zones in '^[12]$' '^([3-9]|..)$' .; do
	note "zones $zones"
	must dmsetup create t0 --table "$table"
	fill 1
	before=$(md5sum </dev/mapper/t0)
	must lz_remove t0
	n=$(nullb_tear "$dev" "$zones") || fail "$n"
	[ "$n" -gt 0 ] || fail "no zone to tear"
	lz_check "$dev"
	must dmsetup create t0 --table "$table"
	equal "$(md5sum </dev/mapper/t0)" "$before" "what was written"
	fill 2
	equal "$(lz_sysfs t0 zones_set_aside)" 0 "zones set aside"
	must lz_remove t0
	lz_check "$dev"
done

# While it runs: what is written then lands out of step, and goes elsewhere. In three zones one after
# the other a write may not fail.
must dmsetup create t0 --table "$table"
fill 3
must dmsetup suspend t0
n=$(nullb_tear "$dev" '^([3-9]|..)$' 2) || fail "$n"
must dmsetup resume t0
[ "$n" -eq 2 ] || fail "no zones to tear"
fill 4
dmesg | grep -q 'landed within a block' || fail "nobody noticed: $(dmesg | tail -5)"
[ "$(lz_sysfs t0 zones_set_aside)" -gt 0 ] || fail "no zone was set aside"
before=$(md5sum </dev/mapper/t0)
must dmsetup message t0 0 checkpoint
must lz_remove t0
lz_check "$dev"
must dmsetup create t0 --table "$table"
equal "$(md5sum </dev/mapper/t0)" "$before" "what was written out of step"
must lz_remove t0
