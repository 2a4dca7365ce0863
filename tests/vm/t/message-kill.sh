#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a message that waits for the drive can be killed, keeps no other waiting, and what it asked for is done
# vm: VM_ZNS=none VM_KMEMLEAK=1
# timeout: 120
. tests/vm/lib.sh

# Nobody else has the device open as it is removed.
no_udev
drive=$(make_nullb size=64 zone_size=1) || fail "no null_blk"
# While this one is suspended the drive answers nothing.
must dmsetup create low --table "0 $(blockdev --getsz "$drive") linear $drive 0"
must lz_format --quiet /dev/mapper/low
must lz_create p /dev/mapper/low commit_ms 600000

dev=$(dmsetup info -c --noheadings --separator : -o major,minor p)
for queue in io busy machine; do
	grep -qxF "kworker/R-lifezone_$queue/$dev" /proc/[0-9]*/comm 2>/dev/null ||
		fail "no work queue lifezone_$queue/$dev: $(grep -h lifezone /proc/[0-9]*/comm)"
done

# There is something to write, and the drive does not answer any more.
hold() {
	must dd if=/dev/urandom of=/dev/mapper/p bs=4k count=1 oflag=direct status=none
	must dmsetup suspend low
}
release() { must dmsetup resume low; }
# On failure nobody is to wait for it for ever.
trap 'dmsetup resume low' EXIT
begin() { dmsetup message p 0 "$@" & pid=$!; }
waits() { grep -qs "^State:.*D" "/proc/$1/status"; }
ended() { [ ! -e "/proc/$1" ] || grep -qs "^State:.*Z" "/proc/$1/status"; }
# end: the message that waits is killed and returns at once
end() {
	wait_for 10 waits $pid || fail "message $1 does not wait"
	kill $pid
	wait_for 5 ended $pid || fail "message $1 goes on: $(grep State: /proc/$pid/status)"
	wait $pid
	equal $? 143 "status of message $1"
}

hung=/proc/sys/kernel/hung_task_timeout_secs
[ -e $hung ] || fail "the kernel does not look for tasks that hang"
for message in checkpoint commit; do
	before=$(lz_status p "$message")
	hold
	begin $message
	wait_for 10 waits $pid || fail "message $message does not wait"
	first=$pid
	begin set commit_ms 600000
	wait_for 10 ended $pid || fail "another message waits for $message"
	must wait $pid
	pid=$first
	read -r secs <$hung
	echo 3 >$hung
	sleep 8
	echo "$secs" >$hung
	end $message
	equal "$(lz_status p "$message")" "$before" "last $message while the drive does not answer"
	release
	later() { [ "$(lz_status p "$message")" -gt "$before" ]; }
	wait_for 10 later || fail "no $message once the drive answers"
done

# All that ends the instance waits for what was asked for.
for what in "suspend p" "remove p"; do
	hold
	for message in commit checkpoint checkpoint; do
		begin $message
		end $message
	done
	# shellcheck disable=SC2086	# words are wanted
	dmsetup $what &
	pid=$!
	wait_for 10 waits $pid || fail "$what does not wait"
	sleep 0.5
	must waits $pid
	release
	must wait $pid
	[ "$what" = "remove p" ] || must dmsetup resume p
done
mustnt test -e /dev/mapper/p
lz_check /dev/mapper/low
must dmsetup remove --retry low
trap - EXIT
