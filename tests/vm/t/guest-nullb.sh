#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: the test drives are what tests ask for (null_blk, emulated ZNS), and clean
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
. tests/vm/lib.sh

dev=$(make_nullb size=256 zone_size=4 zone_capacity=3 zone_max_open=6 zone_max_active=6) || fail "no null_blk"
q=/sys/block/${dev##*/}/queue
equal "$(cat "$q/zoned")" host-managed zoned
equal "$(cat "$q/nr_zones")" 64 zones
equal "$(cat "$q/chunk_sectors")" 8192 "zone size"
equal "$(cat "$q/max_active_zones")" 6 max_active
equal "$(blkzone report -c 1 "$dev" | sed 's/.*cap \([^,]*\),.*/\1/')" 0x001800 capacity
must dd if=/dev/zero of="$dev" bs=4k count=1 oflag=direct status=none
mustnt dd if=/dev/zero of="$dev" bs=4k count=1 seek=5 oflag=direct status=none

equal "$(cat /sys/block/nvme0n1/queue/zoned)" host-managed zoned
equal "$(blkzone report "$DEV" | grep -vc 'zcond: 1(em)')" 0 "zones not empty"

# udev runs: nodes come and go with dmsetup, as on a real system.
plain=$(make_nullb zoned=0 size=64) || fail "no plain null_blk"
must dmsetup create guest0 --table "0 131072 linear $plain 0"
[ -L /dev/mapper/guest0 ] || fail "/dev/mapper/guest0 is not udev's link"
must lz_remove guest0
[ ! -e /dev/mapper/guest0 ] || fail "/dev/mapper/guest0 is still there"
