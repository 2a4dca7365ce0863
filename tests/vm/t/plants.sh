#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: every bug planted in the kernel shell is found by a check that passes without it
# vm: VM_ZNS=none VM_PLANTS=1
# timeout: 300
. tests/vm/lib.sh

no_udev
plant=/sys/module/dm_lifezone/parameters/plant
[ -e $plant ] || fail "the module has no planted bugs"
list=dm-lifezone/core/plants.h
nr_of() { grep -o '^LZ_PLANT([A-Z_]*' $list | grep -n -x "LZ_PLANT($1" | cut -d: -f1; }

top=/dev/mapper/p
# No limits: null_blk goes on counting the zones that were open when power went.
cached() {
	dev=$(make_nullb size=128 zone_capacity=3 cache_size=64 zone_max_open=0 zone_max_active=0 "$@") ||
		fail "no null_blk"
	must lz_format --quiet "$dev"
	# No commit but those that are asked for.
	must lz_create p "$dev" commit_ms 600000
}
plain() {
	dev=$(make_nullb size=128 zone_capacity=3 "$@") || fail "no null_blk"
	must lz_format --quiet "$dev"
	must lz_create p "$dev"
}
write() {	# FILE MIB
	must dd if=/dev/urandom of="$1" bs=1M count="$2" status=none
	must dd if="$1" of=$top bs=1M oflag=direct status=none
}
over() {
	must lz_remove p
	lz_check "$dev"
}

# --- the checks ------------------------------------------------------------------

# Power goes right after the last fsync was answered, which had something to commit: one of
# several workers may find that all is, and by its flush make good what was left out. A fast
# machine must not write so much (8,192 blocks, or all zones) that a commit is due without fsync.
check_fsync() {
	cached
	must tests/vm/acked.py write $top "$W/acked" 1 -b 1024 --rounds 200
	must tests/vm/acked.py write $top "$W/acked" 0.2 -b 1024 --rounds 50 --only 1
	nullb_off_on "$dev" p
	must lz_create p "$dev"
	must tests/vm/acked.py check $top "$W/acked" -b 1024
	over
}

# Overwritten in place by ext4 with FUA, and no flush after it: none of its own accord either,
# after some seconds, by its journal or by the thread that zeroes the tables of inodes.
check_fua() {
	cached
	must mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 $top
	must mount -o noatime,commit=600 $top "$MNT"
	must dd if=/dev/urandom of="$W/new" bs=64k count=4 status=none
	must dd if=/dev/urandom of="$MNT/file" bs=64k count=4 conv=fsync status=none
	must sync -f "$MNT"
	must xfs_io -d -c "pwrite -q -V 1 -D -b 64k -i $W/new 0 256k" "$MNT/file"
	nullb_off "$dev"
	umount "$MNT"
	nullb_on "$dev" p
	must lz_create p "$dev"
	must mount $top "$MNT"
	cmp "$W/new" "$MNT/file" || fail "the file is not what was written"
	must umount "$MNT"
	over
}

# Any range written, discarded, zeroed and read, in appends of 32 KiB at most.
# (Of larger blocks null_blk reads wrongly into memory that is not aligned to them.)
check_ranges() {
	plain blocksize=512 zone_append_max_sectors=64
	must tests/vm/ranges.py run $top "$W/state" 1 80
	over
}

# A read reaches the drive late, when what it reads has long been overwritten.
check_reader() {
	local nr
	plain
	write "$W/old" 8
	must dmsetup message p 0 checkpoint
	must dmsetup message p 0 set reset eager
	must mount -t cgroup2 none "$MNT"
	echo +io >"$MNT/cgroup.subtree_control" || fail "no io controller"
	mkdir -p "$MNT/late"
	nr=$(lsblk -dno MAJ:MIN "$dev" | tr -d ' ')
	echo "$nr rbps=16" >"$MNT/late/io.max" || fail "no limit of reads"
	{
		echo 0 >"$MNT/late/cgroup.procs"
		exec dd if=$top of="$W/got" bs=4k count=1 iflag=direct status=none
	} &
	sleep 0.5
	wait_for 10 grep -q '^State:.*D' /proc/$!/status || fail "the read does not wait"
	write "$W/new" 8
	must dmsetup message p 0 commit
	wait_for 10 some_reset || fail "no zone was reset"
	kill -0 $! 2>/dev/null || fail "the read was not late"
	echo "$nr rbps=max" >"$MNT/late/io.max"
	wait $! || fail "not read"
	rmdir "$MNT/late"
	cmp -n 4096 "$W/got" "$W/old" || fail "neither the old nor the new block was read"
	over
}
some_reset() { [ "$(lz_sysfs p resets_user)" -gt 0 ]; }

# One writer overwrites a full device, and waits for GC.
check_room() {
	local pid was now='' still=0
	plain size=64 zone_capacity=2
	# A thread, as its process is what is killed below.
	fio --name=room --filename=$top --direct=1 --ioengine=psync --rw=randwrite --bs=64k \
		--io_size=64M --thread --minimal >"$W/fio" 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		was=$now
		now=$(lz_status p user_writes)
		if [ "$now" != 0 ] && [ "$now" = "$was" ]; then still=$((still + 1)); else still=0; fi
		if [ $still = 4 ]; then
			# Anything that comes takes those who wait along.
			kill -KILL $pid
			echo 0 >$plant
			dd if=/dev/zero of=$top bs=4k count=1 oflag=direct status=none
			wait $pid
			fail "a writer waits for ever"
		fi
		sleep 5
	done
	wait $pid || fail "fio: $(cat "$W/fio")"
	[ "$(lz_status p stalls)" -gt 0 ] || fail "nobody had to wait"
	over
}

# The open zone fails at its write pointer.
check_aside() {
	local zone at
	plain
	# So that its zone is the one of its hint.
	must lifezone set p policy wla
	write "$W/data" 1
	zone=$(lz_sysfs p not_set/open_zone)
	at=$((zone * 8192 + 2048))
	must nullb_set "$dev" badblocks "+$at-$((zone * 8192 + 8191))"
	# What it has in flight for ever only a dead drive lets go.
	trap 'nullb_off "$dev"; dmsetup message p 0 checkpoint' EXIT
	write "$W/data" 4
	must cmp -n 4M "$W/data" $top
	equal "$(lz_sysfs p zones_set_aside)" 1 "zones set aside"
	trap - EXIT
	over
}

# A block was written in part when power went.
check_torn() {
	plain blocksize=512
	write "$W/data" 5
	must lz_remove p
	must nullb_tear "$dev" .
	must lz_create p "$dev"
	write "$W/data" 10
	must cmp -n 10M "$W/data" $top
	# None is gone on with that is out of step.
	equal "$(lz_sysfs p zones_set_aside)" 0 "zones set aside"
	over
}

# Everything on the drive is as before a read-only table.
check_readonly() {
	local before
	cached size=64
	write "$W/data" 4
	must sync $top
	nullb_off_on "$dev" p
	before=$(drive_sum "$dev")
	must dmsetup create p --readonly --table "$(lifezone table "$dev")"
	must cmp -n 4M "$W/data" $top
	must lz_remove p
	[ "$(drive_sum "$dev")" = "$before" ] || fail "the read-only table has written"
}

# Two mapped devices on one drive.
check_two() {
	plain
	if dmsetup create q --table "$(dmsetup table p)" 2>/dev/null; then fail "two have the drive"; fi
	over
}

# --- which check finds which -----------------------------------------------------------

declare -A secs
# run CHECK [PLANT]: the check on a module with that bug; its status in $status,
# what it says in /run/out
run() {
	local t0 nr=0
	[ $# = 1 ] || nr=$(nr_of "$2")
	echo "$nr" >$plant
	t0=$(date +%s%N)
	(check_"$1") >/run/out 2>&1
	status=$?
	echo 0 >$plant
	secs[${2:-$1}]=$((($(date +%s%N) - t0) / 100000000))
	(lz_cleanup) || { cat /run/out; fail "not removable after $*"; }
	mkdir -p "$MNT"
}
tenths() { echo "$(($1 / 10)).$(($1 % 10)) s"; }

found='' wrong=''
not_so() { cat /run/out; note "wrong: $*"; wrong+="; $*"; }
# finds CHECK PATTERN PLANT...: it passes without them, with each it fails and says that
finds() {
	local check=$1 pattern=$2 p
	shift 2
	if [ -z "${secs[$check]:-}" ]; then
		run "$check"
		[ $status = 0 ] || { not_so "$check: status $status without a bug"; return; }
		note "$check: passed in $(tenths "${secs[$check]}")"
	fi
	for p; do
		[ -n "$(nr_of "$p")" ] || fail "no LZ_PLANT($p)"
		run "$check" "$p"
		if [ $status != 1 ] || ! grep -q -E "$pattern" /run/out || [ "${secs[$p]}" -gt 600 ]; then
			not_so "$check: $p: status $status after $(tenths "${secs[$p]}")"
			continue
		fi
		note "$check: $p found in $(tenths "${secs[$p]}"): $(grep -m1 -E "$pattern" /run/out)"
		found+=" $p"
	done
}

finds fsync ', [1-9][0-9]* lost$|cannot be started as p.* needs cleaning' SHELL_NO_PREFLUSH \
	SHELL_NO_FUA SHELL_FLUSH_AT_ONCE NO_PREFLUSH FLUSH_WITHOUT_COMMIT
finds fua 'the file is not what was written' SHELL_FUA_IGNORED
finds ranges 'AssertionError: block [0-9]+ after' SHELL_LANDING_IGNORED SHELL_PIECE_NOT_ADVANCED \
	SHELL_HOLE_NOT_ZEROED
finds reader 'neither the old nor the new' SHELL_READ_NOT_HELD
finds room 'a writer waits for ever' SHELL_RESUME_LOST
finds torn 'zones set aside: got .[1-9]| differ: |cmp: .*Input/output error' SHELL_TORN_UNSEEN
finds readonly 'the read-only table has written' SHELL_READ_ONLY_WRITES
finds two 'two have the drive' SHELL_TWO_WRITERS
finds aside 'dd: error writing' SHELL_NO_RETRY
finds aside 'dd: error writing|zones set aside: got .0' SHELL_RESERVATION_KEPT

sed -n 's/^LZ_PLANT(\(SHELL_[A-Z_]*\),.*/\1/p' $list >"$W/shell"
[ "$(wc -l <"$W/shell")" -ge 10 ] || fail "less than ten bugs in the shell"
[ -z "$wrong" ] || fail "not as it should be: ${wrong#; }"
while read -r p; do
	[[ " $found " = *" $p "* ]] || fail "no check is said to find $p"
done <"$W/shell"
