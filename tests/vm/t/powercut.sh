#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: every acknowledged fsync survives a power cut that drops the drive's cache and its write pointers
# vm: VM_ZNS=none
# timeout: 240
. tests/vm/lib.sh

# No limits: null_blk goes on counting the zones that were open when power went.
dev=$(make_nullb size=256 zone_size=4 zone_capacity=3 cache_size=64 zone_max_open=0 \
	zone_max_active=0) || fail "no null_blk"
must lz_format --quiet "$dev"
must lz_create p "$dev"
for cut in 1 2 3; do
	note "cut $cut"
	nullb_cut "$dev" p $cut
	must lz_create p "$dev"
	nullb_cut_check p
done
must lz_remove p
lz_check "$dev"
