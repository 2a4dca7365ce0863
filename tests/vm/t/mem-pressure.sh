#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: swap on a lifezone device under a memory hog, writers short of memory beside it, on the debug kernel each tenth allocation failing: no I/O waits 30 s, no data is lost
# vm: VM_ZNS=size=832M,zone=16M,cap=12M,open=14,active=14 VM_MEM=512M VM_ICOUNT=idle
# timeout: 600
. tests/vm/lib.sh

hog=tests/vm/hog.py
cgroup=/tmp/lz/cgroup
blocked='blocked for more than 30 seconds'
echo 30 >/proc/sys/kernel/hung_task_timeout_secs
# Each is told, not the first ten.
echo -1 >/proc/sys/kernel/hung_task_warnings

# within MIB COMMAND...: in a cgroup with so much memory
within() {
	local g
	g=$(must mktemp -d "$cgroup/XXXXXX")
	echo "$1M" >"$g/memory.max" || fail "no limit of memory"
	echo $BASHPID >"$g/cgroup.procs" || fail "no cgroup"
	shift
	exec "$@"
}

mkdir -p $cgroup
must mount -t cgroup2 none $cgroup
echo +memory >$cgroup/cgroup.subtree_control || fail "no memory cgroups"

# Below it a device that hands on what it gets, and knows how long the drive takes for it.
must dmsetup create drive --table "0 $(blockdev --getsz "$DEV") linear $DEV 0"
drive=/dev/mapper/drive

# times NAME: how much of all I/O of a device took not so long as each bound, and how much longer
times() {
	local stats
	stats=$(dmsetup message "$1" 0 @stats_print 0)
	echo "${stats##* }" | tr : ' '
}

# slow: what came may be the drive's fault
slow() { echo "FAIL: $*"; exit 9; }

# pressure: all of it once
pressure() {
	local half available swapped pids=() i p status below_1 below_5 below_30 late

	must lz_format --quiet --force $drive
	must lz_create m $drive
	must dmsetup message m 0 @stats_create - /1 1 histogram:1000,5000,30000 >/dev/null
	half=$(($(lz_sectors $drive) / 2 & ~2047))
	must dmsetup create swap --table "0 $half linear /dev/mapper/m 0"
	must dmsetup create fs --table "0 $half linear /dev/mapper/m $half"
	# Full, so that zones have to be cleaned meanwhile.
	must dd if=/dev/zero of=/dev/mapper/m bs=256k oflag=direct count=$((half / 256)) status=none
	must mkfs.ext4 -q -F -E nodiscard /dev/mapper/fs
	must mount /dev/mapper/fs "$MNT"
	must mkswap -q /dev/mapper/swap
	must swapon /dev/mapper/swap

	# All the memory there is, of which the debug kernel leaves less.
	available=$(awk '/^MemAvailable/ { printf "%d", $2 / 1024 }' /proc/meminfo)
	swapped=$(awk '/^pswpout/ { print $2 }' /proc/vmstat)
	note "hogs and writers; $available MiB of memory"
	! debug_kernel || { alloc_faults_begin; alloc_faults 10; }
	for i in 1 2; do
		timeout 300 $hog memory $((available / 2)) 2 $i >"$W/hog.$i" 2>&1 &
		pids+=($!)
	done
	for i in 1 2 3; do
		(within 20 timeout 300 $hog write "$MNT/$i" 48 $i) >"$W/writer.$i" 2>&1 &
		pids+=($!)
	done
	(within 24 timeout 300 $hog memory 48 2 3) >"$W/hog.3" 2>&1 &
	pids+=($!)
	for p in "${pids[@]}"; do
		wait "$p"
		status=$?
		[ $status != 124 ] || slow "one of them was not done in time"
		[ $status = 0 ] || fail "one of them failed: $(cat "$W"/hog.* "$W"/writer.*)"
	done
	! debug_kernel || alloc_faults_end
	swapped=$((($(awk '/^pswpout/ { print $2 }' /proc/vmstat) - swapped) / 256))
	note "$swapped MiB swapped out"
	[ $swapped -ge 100 ] || fail "only $swapped MiB swapped out"

	note "afterwards"
	must swapoff /dev/mapper/swap
	must umount "$MNT"
	must e2fsck -f -n /dev/mapper/fs >/dev/null 2>&1
	must mount /dev/mapper/fs "$MNT"
	for i in 1 2 3; do must $hog check "$MNT/$i" 48 $i; done
	must umount "$MNT"
	read -r below_1 below_5 below_30 late <<<"$(times m)"
	note "I/O shorter than 1, 5, 30 s, longer: $below_1 $below_5 $below_30 $late"
	[ "$late" = 0 ] || slow "$late times I/O waited for more than 30 s"
	[ "$below_1" -gt 1000 ] || fail "too little I/O"
	must lz_remove swap
	must lz_remove fs
	[ "$(lz_status m gc_copies)" -gt 0 ] || fail "nothing was cleaned"
	must lz_remove m
	lz_check $drive
}

# What is left of it when it failed.
clear_up() {
	! debug_kernel || alloc_faults 0
	while pkill -KILL -f $hog; do sleep 0.2; done
	swapoff /dev/mapper/swap
	umount "$MNT"
	for i in swap fs m; do [ ! -e /dev/mapper/$i ] || must lz_remove $i; done
} 2>/dev/null

# Where the drive itself took longer than 5 s for something, it stood still.  Then, and
# only then, what took long is not our doing, and all is done again.  Nothing else is forgiven.
for try in 1 2 3; do
	must dmsetup message drive 0 @stats_create - /1 1 histogram:5000 >/dev/null
	(pressure)
	status=$?
	clear_up
	read -r _ stood <<<"$(times drive)"
	must dmsetup message drive 0 @stats_delete 0
	note "the drive took longer than 5 s for $stood"
	hung=$(dmesg | grep -c "$blocked")
	case $status in 0 | 9) ;; *) break ;; esac
	if [ "$status$hung" = 00 ] || [ "$stood" = 0 ] || [ $try = 3 ]; then break; fi
	note "try $try is not judged: the drive stood still"
	echo "lifezone-test: the drive stood still" >/dev/kmsg
	dmesg -C
done
must lz_remove drive
exit "$status"
