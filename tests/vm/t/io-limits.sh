#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: while a control group is held back by io.max, on the drive or on the device, others write and checkpoints are made
# vm: VM_ZNS=size=64M,zone=2M,cap=1M
# timeout: 180
. tests/vm/lib.sh

cgroup=$W/cgroup
mkdir -p "$cgroup"
must mount -t cgroup2 none "$cgroup"
echo +io >"$cgroup/cgroup.subtree_control" || fail "no control groups of I/O"
mkdir "$cgroup/slow" || fail "no control group"

# limit DEVICE: who is in the group writes four blocks a second, more than others give it time for
limit() {
	local slow i from of

	must lz_format --quiet --force "$DEV"
	must lz_create m "$DEV"
	of=$(must lsblk -dno MAJ:MIN "$1")
	echo "$of wbps=16384" >"$cgroup/slow/io.max" || fail "no limit"
	(
		echo $BASHPID >"$cgroup/slow/cgroup.procs" || fail "not in the group"
		exec fio --name=slow --filename=/dev/mapper/m --direct=1 --rw=randwrite --bs=4k \
			--ioengine=libaio --iodepth=32 --size=1M --io_size=8M --minimal
	) >/dev/null &
	slow=$!
	sleep 2
	for i in 1 2 3 4; do
		from=${EPOCHREALTIME/./}
		# More than a zone: those that slow's writes wait for are full.
		must fio --name=others --filename=/dev/mapper/m --direct=1 --rw=randwrite --bs=4k \
			--offset=1M --ioengine=libaio --iodepth=8 --io_size=2M --minimal >/dev/null
		must timeout 5 dmsetup message m 0 checkpoint
		note "limit on $1: 2 MiB and checkpoint $i took $(((${EPOCHREALTIME/./} - from) / 1000)) ms"
	done
	kill -0 $slow || fail "nobody was held back any more: nothing is shown"
	echo "$of wbps=max" >"$cgroup/slow/io.max" || fail "the limit stays"
	must wait $slow
	must lz_remove m
	lz_check "$DEV"
}

limit "$DEV"
limit /dev/mapper/m
