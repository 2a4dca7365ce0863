#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: under constant load the device asks for discards, "lifezone trim" has F2FS and XFS send them, and less is copied
# vm: VM_ZNS=none
# timeout: 240
. tests/vm/lib.sh

dev=$(make_nullb size=512 zone_size=2) || fail "no null_blk"

# --- what it does on what is there, and on what is not
top=/dev/mapper/lz0
must lz_format "$dev" --quiet
must lz_create lz0 "$dev" >/dev/null
# refuses PATTERN WHAT: in one line, with status 1
refuses() {
	lifezone trim "$2" >"$W/out" 2>"$W/err"
	equal "$?" 1 "status of trim $2"
	equal "$(wc -l <"$W/err")" 1 "lines: $(cat "$W/err")"
	grep -q "$1" "$W/err" || fail "$(cat "$W/err")"
}
# trims WHAT: more than 20 MiB of what it holds
trims() {
	must dd if=/dev/zero of="$MNT/f" bs=1M count=32 oflag=direct status=none
	rm "$MNT/f"
	must lifezone trim "$1" --json >"$W/out"
	[ "$(jq '.[0].mapped_before - .[0].mapped_after' "$W/out")" -gt 5120 ] ||
		fail "trim $1: $(cat "$W/out")"
	equal "$(jq -r '.[0].directory' "$W/out")" "$MNT" directory
}
refuses 'no file system on it is mounted' lz0
refuses 'not of a file system on a started lifezone device' /tmp
must mkfs.f2fs -q -f $top
settings() { grep -H . /sys/fs/f2fs/dm-*/{*discard*,gc_urgent} 2>/dev/null | grep -v pending_discard; }
for option in discard nodiscard; do
	must mount -o $option $top "$MNT"
	settings >"$W/before"
	trims lz0
	settings | diff "$W/before" - || fail "settings of F2FS are not put back"
	must mount -o remount,ro "$MNT"
	refuses 'mounted read-only' "$MNT"
	must umount "$MNT"
done
# Another file system mounted over it is not meant, nor trimmed.
must mount $top "$MNT"
must mount -t tmpfs none "$MNT"
refuses 'not of a file system on a started lifezone device' "$MNT"
refuses 'mounted over, so that f2fs on it cannot be reached' lz0
must umount "$MNT"
# Where it can be reached by another way, that is taken.
must mkdir "$W/elsewhere"
must mount --bind "$MNT" "$W/elsewhere"
must mount -t tmpfs none "$MNT"
must lifezone trim lz0 --json >"$W/out"
equal "$(jq -r '.[0].directory' "$W/out")" "$W/elsewhere" directory
must umount "$MNT"
# So it is where only reading is allowed by this way.
must mount -o remount,bind,ro "$MNT"
must lifezone trim lz0 --json >"$W/out"
equal "$(jq -r '.[0].directory' "$W/out")" "$W/elsewhere" directory
must mount -o remount,bind,rw "$MNT"
must umount "$W/elsewhere"
# pieces N: blocks that were freed one by one, so that it takes a while
pieces() {
	head -c $(($1 * 2 * 4096)) /dev/zero | split -b 4096 -a 4 -d - "$MNT/piece"
	sync -f "$MNT"
	rm "$MNT"/piece*[02468]
}
# Whoever ends it, and however many there are, settings are put back.
settings >"$W/before"
changed() { ! settings | diff -q "$W/before" - >/dev/null; }
for signal in HUP TERM INT QUIT; do
	pieces 1000
	lifezone trim lz0 --share 1 >"$W/out" 2>&1 &
	pid=$!
	lifezone trim lz0 --share 1 >"$W/out.2" 2>&1 &
	wait_for 20 changed ||
		fail "settings are not changed: $(cat "$W/out" "$W/out.2")"
	must kill -$signal $pid $!
	for p in $pid $!; do
		wait "$p"
		equal $? 1 "status after $signal"
	done
	rm "$MNT"/piece*
	settings | diff "$W/before" - || fail "settings of F2FS are not put back after $signal"
done
# Who wants to unmount it need not wait.
pieces 4000
lifezone trim lz0 --share 1 >"$W/out" 2>&1 &
pid=$!
wait_for 20 changed || fail "settings are not changed: $(cat "$W/out")"
wait_for 5 umount "$MNT" || fail "cannot be unmounted: $(cat "$W/out")"
wait $pid
equal $? 0 "status once it is unmounted: $(cat "$W/out")"
# A watch rests, whatever the file system discards by.
must mount -o nodiscard $top "$MNT"
rm "$MNT"/piece*
watch --share 1 lz0
wait_for 20 grep -q hrtimer_nanosleep "/proc/$watcher/stack" || fail "no rest: $(cat "$W/watch")"
must umount "$MNT"
unwatch
# Through another mapped device, which may not let discards pass.
must dmsetup create above --table "0 $(blockdev --getsz $top) crypt cipher_null-ecb - 0 $top 0"
for discards in '' ' 1 allow_discards'; do
	must dmsetup suspend above
	must dmsetup load above --table \
		"0 $(blockdev --getsz $top) crypt cipher_null-ecb - 0 $top 0$discards"
	must dmsetup resume above
	wait_for 10 test -b /dev/mapper/above || fail "no device"
	must mkfs.ext4 -q -F /dev/mapper/above
	must mount /dev/mapper/above "$MNT"
	if [ -z "$discards" ]; then
		refuses 'ext4 cannot be made to discard' lz0
		# Each request has it synced, after which a watch rests,
		must dd if=/dev/zero of="$MNT/f" bs=1M count=32 status=none
		watch --share 1 lz0
		wait_for 20 grep -q hrtimer_nanosleep "/proc/$watcher/stack" ||
			fail "no rest: $(cat "$W/watch")"
		unwatch
		# but this is not to go on for nothing. It is looked at once for each name.
		watch --share 100 lz0 lz0 lz0
		watching
		unwatch
		equal "$(cat "$W/watch")" "lifezone: $MNT: ext4 cannot be made to discard" "what is said"
	else
		trims $top
		trims "$MNT"
	fi
	must umount "$MNT"
done
must dmsetup remove --retry above

# It lets a suspended device be,
must mount $top "$MNT"
must dmsetup suspend lz0
watch lz0
watching
must dmsetup resume lz0
wait_for 30 grep -q "$MNT" "$W/watch" || fail "not trimmed after a resume: $(cat "$W/watch")"
unwatch
must umount "$MNT"

# and ends when the device does.
watch "$dev"
watching
kill -0 "$watcher" || fail "the watch is gone: $(cat "$W/watch")"
must lz_remove lz0
watch_ends
# Who ends one that has ended already is told.
if (unwatch; true) >"$W/out"; then fail "a watch that is gone is ended, and it is no error"; fi
grep -q '^FAIL: the watch is gone' "$W/out" || fail "$(cat "$W/out")"

# --- F2FS under constant load, and XFS mounted without discard
# load FS OPTIONS PERCENT MIB: without and with a watch
load() {
	local plain pid begun=$SECONDS told
	udevadm monitor --kernel --property >"$W/udev" &
	pid=$!
	store "$dev" "$1" "$2" "$3" "$4" no
	kill $pid
	wait $pid
	note "$1: $user written, $copies copied, asked $asked times"
	[ "$asked" -gt 0 ] || fail "nobody was asked"
	# udev looks at the device with each of these.
	told=$(grep -c '^DM_LIFEZONE_EVENT=trim' "$W/udev")
	{ [ "$told" -gt 0 ] && [ "$told" -le $(((SECONDS - begun) / 10 + 1)) ]; } ||
		fail "udev told $told times in $((SECONDS - begun)) s"
	[ "$copies" -gt $((user / 20)) ] || fail "$copies copies: nothing is shown"
	plain=$copies
	store "$dev" "$1" "$2" "$3" "$4" watch
	note "$1, timely discards: $user written, $copies copied, asked $asked times"
	cat "$W/watch"
	[ "$copies" -lt $((plain * 6 / 10)) ] || fail "$copies blocks copied, $plain without discards"
}
if slow_kernel; then
	# How much less is copied does not depend on the kernel.
	store "$dev" f2fs discard 60 450 watch
	[ "$asked" -gt 0 ] || fail "nobody was asked"
	cat "$W/watch"
	grep -q '^ *store  *f2fs ' "$W/watch" || fail "nothing was trimmed"
else
	load f2fs discard 60 900
	load xfs nodiscard 85 700
fi
lz_check "$dev"
