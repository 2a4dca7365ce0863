#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: zones reset behind our back and drives that are not ours are refused with one reason each, nothing written
# vm: VM_ZNS=none
# timeout: 180
. tests/vm/lib.sh

# refused PATTERN: the table does not come up, the log says why, the drive is as it was
refused() {
	local before
	before=$(drive_sum "$dev")
	dmesg -C
	mustnt dmsetup create b0 --table "$table" 2>/dev/null
	dmesg | grep -q -E -- "lifezone: .*$1" || fail "want '$1', got: $(dmesg)"
	mustnt lifezone start "$dev" b0 2>/dev/null
	mustnt lifezone check "$dev" >/dev/null 2>&1
	equal "$(drive_sum "$dev")" "$before" "the drive after '$1'"
	equal "$(dmsetup ls)" "No devices found" "devices left behind"
}

fresh() {
	must lz_format --quiet --force "$dev"
	table=$(lifezone table "$dev")
	must dmsetup create b0 --table "$table"
	must dd if=/dev/urandom of=/dev/mapper/b0 bs=64k count=200 oflag=direct status=none
	must lz_remove b0
}

# zones STATE: their numbers
zones() { lifezone dump "$dev" zones --json | jq -r ".[] | select(.state == \"$1\") | .zone"; }
reset_zone() { must blkzone reset -o $(($1 * 4096)) -c 1 "$dev"; }

dev=$(make_nullb size=64 zone_size=2 zone_capacity=1) || fail "no null_blk"

note "a data zone"
fresh
reset_zone "$(zones full | head -1)"
refused 'blocks in use, but its write pointer is 0'

note "a zone of the metadata log"
fresh
for z in $(zones meta); do reset_zone "$z"; done
refused 'metadata|root: the journal goes on'

note "the root zones"
fresh
reset_zone 0
reset_zone 1
refused 'no lifezone superblock'

note "a formatted drive whose zones have all been reset"
fresh
must blkzone reset "$dev"
refused 'no lifezone superblock'

note "sound again once it is formatted"
fresh
lz_check "$dev"
