#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: the module loaded, used and unloaded over and over (200 times on the debug kernel) leaves no memory behind
# vm: VM_ZNS=size=64M,zone=2M,cap=1M VM_KMEMLEAK=1
# timeout: 400
. tests/vm/lib.sh
no_udev

leaks=/sys/kernel/debug/kmemleak
times=30
[ ! -e $leaks ] || times=200

ko=$W/dm-lifezone.ko
must strip -g -o "$ko" "$LZ_BUILD/module-$(uname -r)/dm-lifezone/dm-lifezone.ko"
must lz_format --quiet "$DEV"
table="0 $(lz_sectors "$DEV") lifezone $DEV"
must rmmod dm_lifezone
[ ! -e $leaks ] || echo clear >$leaks
for i in $(seq $times); do
	must insmod "$ko"
	# One that is refused has to give back what it took as well.
	mustnt dmsetup create c --table "$table 2 policy none" 2>/dev/null
	must dmsetup create c --table "$table"
	must test -b /dev/mapper/c
	must dd if=/dev/zero of=/dev/mapper/c bs=16k count=4 seek="$i" oflag=direct conv=fsync status=none
	must lz_remove c
	wait_for 10 rmmod dm_lifezone 2>/dev/null || fail "cycle $i: the module does not go"
done

# With the module its symbols are gone, so it is whose code has no name.
grep -E "$nameless" /proc/vmallocinfo && fail "arrays of the module's"
! pgrep -l '^kworker/R-life' || fail "threads of the module's"
if [ -e $leaks ]; then
	kmemleak_scan "$W/lost"
	awk -v RS= -v ours="$nameless" '$0 ~ ours' "$W/lost" >"$W/ours"
	note "$times cycles; objects lost: $(grep -c ^unref "$W/lost"), of the module's $(grep -c ^unref "$W/ours")"
	[ ! -s "$W/ours" ] || fail "$(grep -c ^unref "$W/ours") objects lost: $(cat "$W/ours")"
fi
must insmod "$ko"
lz_check "$DEV"
