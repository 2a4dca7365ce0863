#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: discards and write-zeroes of any range read as zeros, are counted exactly, survive a cut once flushed, and free zones
# vm: VM_ZNS=size=256M,zone=4M,cap=3M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

mapped() { lz_status d mapped_blocks | cut -d/ -f1; }
# some SEED OPS: prints the blocks mapped, which the status must say too
some() {
	local n
	n=$(tests/vm/ranges.py run /dev/mapper/d "$W/state" "$@") || fail "seed $1"
	# Blocks overwritten while their leaf is not in RAM count until then.
	must dmsetup message d 0 checkpoint
	equal "$(mapped)" "$n" "seed $1: blocks mapped"
}
restart() {
	local n
	n=$(mapped)
	must lz_remove d
	lz_check "$1"
	must lz_create d "$1" reset lazy >/dev/null
	equal "$(mapped)" "$n" "blocks mapped after a restart"
	must tests/vm/ranges.py check /dev/mapper/d "$W/state"
}
start() {
	must lz_format --quiet "$1"
	must lz_create d "$1" reset lazy >/dev/null
	rm -f "$W/state"
	free=$(lz_status d zones_free)
}
# all DEV: a discard of all gives all back; with reset=adaptive what is open is left to be filled
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
[ "$(cat "/sys/block/$(basename "$(readlink -f /dev/mapper/d)")/queue/write_zeroes_max_bytes")" != 0 ] ||
	fail "no write-zeroes"
some 1 120
restart "$DEV"
some 2 120
all "$DEV"

# No limits: null_blk goes on counting the zones that were open when power went.
# Of larger blocks it reads wrongly into memory that is not aligned to them.
dev=$(make_nullb size=160 blocksize=512 zone_capacity=3 cache_size=64 zone_max_open=0 zone_max_active=0) ||
	fail "no null_blk"
start "$dev"
for cut in 1 2 3; do
	note "cut $cut"
	some $((10 * cut)) 80
	must tests/vm/ranges.py run /dev/mapper/d "$W/state" $((10 * cut + 1)) 30 >/dev/null
	nullb_off_on "$dev" d
	must lz_create d "$dev" reset lazy >/dev/null
	must tests/vm/ranges.py check /dev/mapper/d "$W/state"
done
some 40 40
restart "$dev"
all "$dev"
