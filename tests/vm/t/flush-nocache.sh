#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: on a drive without a write cache flush and FUA still commit, and what they acknowledged survives
# vm: VM_ZNS=none
# timeout: 120
. tests/vm/lib.sh

dev=$(make_nullb size=256 zone_size=4 zone_capacity=3 cache_size=0 zone_max_open=0 \
	zone_max_active=0) || fail "no null_blk"
must lz_format --quiet "$dev"
# No commit but those that are asked for.
must lz_create n "$dev" commit_ms 600000
top=/dev/mapper/n
queue=/sys/block/$(basename "$(readlink -f $top)")/queue
equal "$(cat "/sys/block/${dev##*/}/queue/write_cache")" "write through" "the drive's cache"
equal "$(cat "$queue/write_cache")" "write back" "our cache"
equal "$(cat "$queue/fua")" 1 "our FUA"

# rise FLUSHES COMMITS DD-OPTION...: so many of each come of 10 writes
rise() {
	local flushes commits f=$1 c=$2 i
	shift 2
	flushes=$(lz_sysfs n flushes) commits=$(lz_sysfs n commits)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		must dd if=/dev/urandom of=$top bs=4k count=1 seek=$((5000 + i * 7)) status=none "$@"
	done
	equal $(($(lz_sysfs n flushes) - flushes)) "$f" "flushes by $*"
	equal $(($(lz_sysfs n commits) - commits)) "$c" "commits by $*"
}
rise 0 0 oflag=direct
[ "$(lz_status n uncommitted)" -ge 10 ] || fail "committed without a flush"
rise 10 10 oflag=direct conv=fsync
equal "$(lz_status n uncommitted)" 0 uncommitted
# A write with FUA; the flush that Linux sends after it has nothing to commit.
rise 20 10 oflag=direct,dsync

# Dead without a stop: the drive has all writes, we must find them.
nullb_cut "$dev" n
must lz_create n "$dev"
nullb_cut_check n
must lz_remove n
lz_check "$dev"
