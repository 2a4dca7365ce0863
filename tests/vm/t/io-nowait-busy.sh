#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: requests with RWF_NOWAIT do not wait for a busy drive, nor for GC
# vm: VM_ZNS=size=64M,zone=2M,cap=1M
# timeout: 180
. tests/vm/lib.sh

must lz_format --quiet "$DEV"
echo 4 >/sys/block/nvme0n1/queue/nr_requests || fail "nr_requests"
# Somebody else has most of its tags, most of the time.
fio --name=busy --filename="$DEV" --direct=1 --rw=randread --bs=64k --ioengine=libaio \
	--iodepth=16 --time_based --runtime=3600 --minimal >/dev/null 2>&1 &
busy=$!
nowait 1 20 map_cache_mb 0
kill $busy
[ "$reads_again" -gt 10 ] || fail "$reads_again reads found the drive busy: nothing is shown"
[ "$writes_again" -gt 10 ] || fail "$writes_again writes found no space: nothing is shown"
