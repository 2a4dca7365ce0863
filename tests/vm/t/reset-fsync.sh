#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: every acknowledged fsync, on the device and through F2FS, survives resets of the host under load
# vm: VM_ZNS=size=2G,zone=16M,cap=12M,open=14,active=14 VM_REBOOT=1
# timeout: 300
. tests/vm/lib.sh

resets=2
# Outlives the guest, and nothing of it is cached there.
S=/run/lz/reset-fsync
[ "$LZ_BOOT" -gt 1 ] || must mkdir "$S"
[ "$LZ_BOOT" = 1 ] || [ -e "$S/reset.$((LZ_BOOT - 1))" ] || fail "restarted by itself"
note "boot $LZ_BOOT"

# One lifezone for both: the first half as it is, F2FS on the second.
raw=/dev/mapper/raw tree=/dev/mapper/tree
if [ "$LZ_BOOT" = 1 ]; then must lz_format --quiet "$DEV"; else lz_check "$DEV"; fi
must lz_create r "$DEV"
half=$(blockdev --getsz /dev/mapper/r)
half=$((half / 2 - half / 2 % 8))
must dmsetup create raw --table "0 $half linear /dev/mapper/r 0"
must dmsetup create tree --table "0 $half linear /dev/mapper/r $half"
wait_for 10 test -b $raw -a -b $tree || fail "no halves"
[ "$LZ_BOOT" -gt 1 ] || must mkfs.f2fs -q -f $tree
must mount -t f2fs $tree "$MNT"

if [ "$LZ_BOOT" -gt 1 ]; then
	for t in $raw "$MNT"; do
		[ "$(stat -c %s "$S/${t##*/}")" -gt 1600 ] || fail "$t: less than 100 acknowledgements"
		must tests/vm/acked.py check "$t" "$S/${t##*/}"
	done
	must umount "$MNT"
	fsck.f2fs $tree >"$W/fsck" 2>&1 || fail "fsck.f2fs: $(tail -20 "$W/fsck")"
	must mount -t f2fs $tree "$MNT"
fi
if [ "$LZ_BOOT" -le $resets ]; then
	goal=()
	for t in $raw "$MNT"; do
		log=$S/${t##*/}
		touch "$log"
		goal+=("$log" $(($(stat -c %s "$log") + 8000)))
		tests/vm/acked.py write "$t" "$log" 1000 -s "$LZ_BOOT" &
	done
	# However slow the machine is.
	# shellcheck disable=SC2317	# wait_for calls it
	grown() { [ "$(stat -c %s "$1")" -ge "$2" ] && [ "$(stat -c %s "$3")" -ge "$4" ]; }
	wait_for 60 grown "${goal[@]}" || fail "too few acknowledgements"
	sleep 2
	equal "$(jobs -r | wc -l)" 2 "loads running"
	if dmesg | tests/vm/klog; then fail "the kernel log before the reset"; fi
	: >"$S/reset.$LZ_BOOT"
	echo b >/proc/sysrq-trigger
	sleep 60
	fail "not reset"
fi
must umount "$MNT"
must lz_remove raw
must lz_remove tree
must lz_remove r
lz_check "$DEV"
