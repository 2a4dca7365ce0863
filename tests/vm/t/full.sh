#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: full to the last block and overwritten at random, four open zones of 32, every block is right under each policy
# vm: VM_ZNS=none
# timeout: 540
. tests/vm/lib.sh

native=$(make_nullb size=64 zone_size=2 zone_capacity=1) || fail "no null_blk"
emulated=$(make_nullb size=64 zone_size=2 zone_capacity=1 zone_append_max_sectors=0) ||
	fail "no null_blk without native append"

# By number: all combinations of three options; the others so that every pair of two occurs.
victims=(auto greedy) resets=(lazy eager adaptive) finishes=(never mismatch cost)
isolations=(persistent initial adaptive) policies=(zenfs wla sla adaptive) devs=("$native" "$emulated")
all_mapped() {
	local mapped
	mapped=$(lz_status f mapped_blocks)
	[ "${mapped%/*}" = "${mapped#*/}" ]
}
none_mapped() { [ "$(lz_status f mapped_blocks | cut -d/ -f1)" = 0 ]; }

# Two of each policy, drawn; with "0 1 2 3 4 5 6 7 8 9 10 11 12 15 30" all pairs.
draw() { shuf -n 2 -e "$@"; }
runs=$(draw 0 1 2 3; draw 4 5 6 7; draw 8 9 10 11; draw 12 15 30)
# Every value once; no other would show such a kernel anything new.
! slow_kernel || runs='1 5 9 14 30'
for i in ${LZ_TEST_RUNS:-$runs}; do
	# From 16 on once more, with the next value of finish.
	p=$((i % 16 / 4)) f=$((i / 2 % 2 + i / 16)) g=$((i % 3))
	opts="policy ${policies[p]} finish ${finishes[f]} gc_isolation ${isolations[g]}"
	opts+=" victim ${victims[(p + f + g) % 2]} reset ${resets[(p + f + g) % 3]}"
	dev=${devs[(p + g) % 2]}
	note "$opts on $dev"
	must lz_format --quiet --force "$dev"
	# shellcheck disable=SC2086	# words are wanted
	must lz_create f "$dev" max_open 4 $opts
	must timeout 240 tests/vm/versions.py write /dev/mapper/f "$W/versions" -t 1 -s "$i"
	[ "$(lz_status f gc_copies)" -gt 0 ] || fail "nothing was cleaned"
	# A block GC is about to map is counted twice for a moment.
	wait_for 10 all_mapped || fail "mapped blocks: $(lz_status f mapped_blocks)"
	must lz_remove f
	lz_check "$dev"
	must lz_create f "$dev" max_open 4
	must tests/vm/versions.py check /dev/mapper/f "$W/versions"
	must blkdiscard /dev/mapper/f
	must dmsetup message f 0 checkpoint
	wait_for 20 none_mapped ||
		fail "discarded, but $(lz_status f mapped_blocks) mapped"
	must lz_remove f
done
