#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: every acknowledged fsync survives a power cut that drops the drive's cache and its write pointers
# vm: VM_ZNS=none
# timeout: 240
. tests/vm/lib.sh

# No limits: null_blk goes on counting the zones that were open when power went.
dev=$(make_nullb size=256 zone_size=4 zone_capacity=3 cache_size=64 zone_max_open=0 \
	zone_max_active=0) || fail "no null_blk"
null=/sys/kernel/config/nullb/${dev##*/}
[ -e "$null/zone_full" ] || fail "this null_blk cannot come back with its zones full"
must lz_format --quiet "$dev"
for cut in 1 2 3; do
	note "cut $cut"
	must lz_create p "$dev"
	if [ $cut -gt 1 ]; then
		must tests/vm/acked.py check /dev/mapper/p "$W/acked" -w 4 -b 4096
	fi
	tests/vm/acked.py write /dev/mapper/p "$W/acked" 20 -w 4 -b 4096 -s $cut >"$W/out" 2>&1 &
	sleep 6
	# Gone with all that was not flushed; what is on top learns it by errors.
	echo 0 >"$null/power"
	wait $!
	dmsetup remove --force p || fail "not removable"
	echo 1 >"$null/zone_full"
	echo 1 >"$null/power"
	wait_for 10 test -b "$dev" || fail "no $dev"
done
[ "$(stat -c %s "$W/acked")" -gt 1600 ] || fail "only $(stat -c %s "$W/acked") bytes of acknowledgements"
must lz_create p "$dev"
must tests/vm/acked.py check /dev/mapper/p "$W/acked" -w 4 -b 4096
must lz_remove p
lz_check "$dev"
