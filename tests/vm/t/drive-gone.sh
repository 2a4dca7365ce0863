#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a drive that goes away under I/O: every request is answered, one line says so, and what was acknowledged is there when it is back
# vm: VM_ZNS=none
# timeout: 240
. tests/vm/lib.sh
echo 20 >/proc/sys/kernel/hung_task_timeout_secs

dev=$(make_nullb size=256 zone_size=4 zone_capacity=3) || fail "no null_blk"
sectors=$(blockdev --getsz "$dev")
must lz_format --quiet "$dev"
# Between it and the drive, so that the drive can be taken away.
swap() {
	must dmsetup suspend --noflush --nolockfs z0
	must dmsetup load z0 --table "0 $sectors $1 $dev 0"
	must dmsetup resume z0
}
must dmsetup create z0 --table "0 $sectors linear $dev 0"
wait_for 10 test -b /dev/mapper/z0 || fail "no z0"
top=/dev/mapper/g0

# ends SECONDS PID...: within so long
ends() {
	local s=$1 p
	shift
	for p in "$@"; do
		wait_for "$s" eval "! kill -0 $p 2>/dev/null" ||
			fail "after $s s still waiting: $(cat "/proc/$p/stack" 2>/dev/null)"
	done
}
# gone COMMAND...: takes the drive away, under every kind of I/O
gone() {
	local pids=()
	must lz_create g0 /dev/mapper/z0
	rm -f "$W/acked"
	tests/vm/acked.py write $top "$W/acked" 100 -w 4 -b 4096 -s $RANDOM >"$W/out" 2>&1 &
	pids+=($!)
	dd if=$top of=/dev/null bs=64k iflag=direct status=none 2>/dev/null &
	pids+=($!)
	while blkdiscard -o 40M -l 1M $top; do :; done 2>/dev/null &
	pids+=($!)
	dd if=/dev/urandom of=$top bs=1M seek=64 count=100 oflag=direct status=none 2>/dev/null &
	pids+=($!)
	wait_for 60 acknowledged ||
		fail "less than 100 acknowledgements"
	dmesg -C
	"$@"
	ends 30 "${pids[@]}"
	lz_gone g0
}
# back COMMAND...: the drive is there again
back() {
	"$@"
	lz_check /dev/mapper/z0
	must lz_create g0 /dev/mapper/z0
	must tests/vm/acked.py check $top "$W/acked" -w 4 -b 4096
	must lz_remove g0
}

note "every command fails"
gone swap error
back swap linear

note "stop says what it could not save"
# stop_fails PATTERN: in one line, and the device is gone
stop_fails() {
	lifezone stop g0 2>"$W/err"
	equal $? 1 "status of the stop"
	equal "$(wc -l <"$W/err")" 1 "lines of the stop"
	grep -q "^lifezone: g0: stopped, but what was written last may not .*$1" "$W/err" ||
		fail "stop: $(cat "$W/err")"
	mustnt test -e $top
}
# Not committed yet, and then noticed by nobody before.
must lz_create g0 /dev/mapper/z0 commit_ms 600000
must dd if=/dev/urandom of=$top bs=4k seek=20000 count=16 oflag=direct status=none
swap error
stop_fails 'Input/output error'
swap linear
lz_check /dev/mapper/z0
must lz_create g0 /dev/mapper/z0
swap error
mustnt dd if=/dev/urandom of=$top bs=4k seek=20000 count=16 oflag=direct conv=fsync status=none
equal "$(lz_status g0)" Fail status
stop_fails 'the device has failed'
swap linear
lz_check /dev/mapper/z0
# What was saved is.
must lz_create g0 /dev/mapper/z0 commit_ms 600000
must dd if=/dev/urandom of=$top bs=4k seek=20000 count=16 oflag=direct status=none
must lifezone stop g0
must lifezone start --readonly /dev/mapper/z0 g0
swap error
must lifezone stop g0
swap linear
must lz_create g0 /dev/mapper/z0
must dmsetup suspend g0
must lifezone stop g0

note "the drive is switched off"
null=/sys/kernel/config/nullb/${dev##*/}
full() {
	must dmsetup remove --force --retry z0
	echo 1 >"$null/zone_full"
	echo 1 >"$null/power"
	wait_for 10 test -b "$dev" || fail "no $dev"
	must dmsetup create z0 --table "0 $sectors linear $dev 0"
	wait_for 10 test -b /dev/mapper/z0 || fail "no z0"
}
if [ -e "$null/zone_full" ]; then
	off() { echo 0 >"$null/power"; }
	gone off
	back full
fi

note "zones are reset behind our back, while in use"
must lz_remove z0
must lz_create g0 "$dev"
must dd if=/dev/urandom of=$top bs=1M count=40 oflag=direct conv=fsync status=none
must dmsetup message g0 0 checkpoint
# One that was opened for what has just been written, and will be written again.
full=$(($(lifezone dump "$dev" map 5000 --json | jq '.[0].addr') / 1024))
equal "$(lifezone dump "$dev" zones --json | jq -r ".[] | select(.zone == $full).state")" full state
must blkzone reset --force -o $((full * 8192)) -c 1 "$dev"
timeout 60 dd if=$top of=/dev/null bs=1M iflag=direct status=none
timeout 60 dd if=/dev/urandom of=$top bs=1M count=40 oflag=direct conv=fsync status=none ||
	fail "writes after a zone was reset: status $?"
equal "$(lz_status g0 mode)" rw mode
must lz_remove g0
lz_check "$dev"
