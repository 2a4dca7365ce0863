#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: each allocation of a load fails in turn, and a tenth of all while the device is used: no harm, no data lost
# vm: VM_ZNS=size=64M,zone=2M,cap=1M,open=14,active=14
# timeout: 600
# kernel: debug
. tests/vm/lib.sh
no_udev

alloc_faults_begin
must lz_format --quiet "$DEV"
table="0 $(lz_sectors "$DEV") lifezone $DEV"
lz_create a "$DEV"
must dd if=/dev/urandom of="$W/data" bs=1M count=8 status=none
must dd if="$W/data" of=/dev/mapper/a bs=64k oflag=direct conv=fsync status=none
must lz_remove a

note "each allocation of a load"
failed=0 well=0
for n in $(seq 2000); do
	# The count is this process's, which becomes dmsetup.
	if bash -c 'echo "$1" >/proc/self/fail-nth; exec dmsetup create a --table "$2"' - "$n" "$table" 2>/dev/null; then
		must cmp -n 8M "$W/data" /dev/mapper/a
		must lz_remove a
		well=$((well + 1))
	else
		failed=$((failed + 1)) well=0
		equal "$(dmsetup ls)" "No devices found" "devices left behind"
	fi
	# There are no more; some in a row are for debugfs to show a shrinker, and may fail.
	[ $well -lt 24 ] || break
done
note "$failed loads failed"
[ $failed -ge 10 ] || fail "only $failed loads failed: nothing is shown"
[ $well -ge 24 ] || fail "a load has still not come through"
lz_check "$DEV"

note "one in ten while it is used"
lz_create a "$DEV" map_cache_mb 1
must dmsetup message a 0 @stats_create - /1 1 histogram:1000,5000,30000 >/dev/null
alloc_faults 10
while sleep 1; do
	dmsetup message a 0 checkpoint
	dmsetup message a 0 gc 1
	lz_status a
	lz_sysfs a zones_set_aside
done >/dev/null 2>&1 &
bystander=$!
must timeout 200 tests/vm/versions.py write /dev/mapper/a "$W/versions"
kill $bystander
alloc_faults_end
stats=$(dmsetup message a 0 @stats_print 0)
note "I/O shorter than 1, 5, 30 s, longer: ${stats##* }"
equal "${stats##*:}" 0 "I/O that waited for more than 30 s"
equal "$(lz_status a mode)" rw mode
must tests/vm/versions.py check /dev/mapper/a "$W/versions"
must lz_remove a
lz_check "$DEV"
must lz_create a "$DEV"
must tests/vm/versions.py check /dev/mapper/a "$W/versions"
must lz_remove a
