#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: full to the last block and then overwritten at random, four open zones of 32, under every policy
# vm: VM_ZNS=none
# timeout: 540
. tests/vm/lib.sh

dev=$(make_nullb size=128 zone_size=4 zone_capacity=3) || fail "no null_blk"
for policy in zenfs wla sla; do
	for finish in never mismatch; do
		for isolation in persistent initial; do
			note "$policy $finish $isolation"
			must lz_format --quiet --force "$dev"
			must lz_create f "$dev" max_open 4 policy $policy finish $finish \
				gc_isolation $isolation
			size=$(blockdev --getsize64 /dev/mapper/f)
			must timeout 60 dd if=/dev/urandom of=/dev/mapper/f bs=4k count=$((size / 4096)) \
				oflag=direct iflag=fullblock status=none
			timeout 120 fio --name=f --filename=/dev/mapper/f --direct=1 --rw=randwrite \
				--bs=4k --size="$size" --io_size=$((3 * size)) --ioengine=libaio --iodepth=16 \
				--norandommap --serialize_overlap=1 --randseed=7 --minimal \
				>"$W/fio" 2>&1 || fail "fio: $(cat "$W/fio")"
			must dd if=/dev/urandom of="$W/last" bs=4k count=1 status=none
			must dd if="$W/last" of=/dev/mapper/f bs=4k seek=$((size / 4096 - 1)) oflag=direct \
				conv=fsync status=none
			must lz_remove f
			lz_check "$dev"
			must lz_create f "$dev" max_open 4
			dd if=/dev/mapper/f bs=4k skip=$((size / 4096 - 1)) iflag=direct status=none |
				cmp - "$W/last" || fail "the last block differs"
			must blkdiscard /dev/mapper/f
			must dmsetup message f 0 checkpoint
			wait_for 20 test "$(lz_status f mapped_blocks | cut -d/ -f1)" = 0 ||
				fail "discarded, but $(lz_status f mapped_blocks) mapped"
			must lz_remove f
		done
	done
done
