#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: of all the drive's I/O a hundredth, a twentieth, half fails: writes are answered well or by the end of the device, nothing acknowledged is lost
# vm: VM_ZNS=size=256M,zone=2M,cap=1M,open=14,active=14
# timeout: 300
# kernel: debug
. tests/vm/lib.sh
no_udev
echo 30 >/proc/sys/kernel/hung_task_timeout_secs

f=/sys/kernel/debug/fail_make_request
budget=1000000000
[ -d $f ] || fail "no fail_make_request"
echo 0 >$f/verbose
echo 1 >$f/interval
echo 1 >"/sys/block/${DEV##*/}/make-it-fail" || fail "no make-it-fail"
# faults PERCENT: so many of the drive's bios, whatever they ask for
faults() {
	echo $budget >$f/times
	echo "$1" >$f/probability
}
# faults_over: none any more; how many there were in $injected
faults_over() {
	echo 0 >$f/probability
	injected=$((budget - $(cat $f/times)))
}

top=/dev/mapper/f0
mode() { if [ "$(lz_status f0)" = Fail ]; then echo fail; else lz_status f0 mode; fi; }
# ends SECONDS PID: within so long
ends() {
	wait_for "$1" eval "! kill -0 $2 2>/dev/null" ||
		fail "after $1 s still waiting: $(cat /proc/"$2"/task/*/stack 2>/dev/null)"
}
acked() { tests/vm/acked.py "$1" $top "$W/acked" "${@:2}" -w 4 -b 2048; }
# fio_on OPTION...: on what is not acked's. Reads may fail, but not give anything wrong.
fio_on() {
	fio --name=io --filename=$top --direct=1 --ioengine=libaio --iodepth=8 --offset=16M --size=32M \
		--bs=4k-64k --rw=randwrite --serialize_overlap=1 --verify=crc32c --verify_fatal=1 \
		--verify_state_save=0 --output-format=json --output="$W/fio" "$@" >"$W/fio.err" 2>&1
}

# round PERCENT SECONDS: load under faults, then without, and after a restart
round() {
	local percent=$1 seconds=$2 pid saver now refused=0 errors
	note "$percent % of all I/O fails"
	rm -f "$W/acked"
	must lz_format --quiet --force "$DEV"
	must lz_create f0 "$DEV"
	must acked write 1 -s 1
	must lz_remove f0

	# A load that meets an error may be refused, and no more than that.
	faults "$percent"
	while dmesg -C; ! lz_create f0 "$DEV" commit_ms 100 2>/dev/null; do
		equal "$(dmsetup ls)" "No devices found" "devices left behind"
		refused=$((refused + 1))
		[ $refused -lt 5 ] || break
	done
	if [ $refused = 5 ]; then
		faults_over
		must lz_create f0 "$DEV" commit_ms 100
		faults "$percent"
	fi

	while sleep 0.5; do
		dmsetup message f0 0 checkpoint
		dmsetup message f0 0 gc 1
		blkdiscard -o 48M -l 1M $top
	done >/dev/null 2>&1 &
	saver=$!
	acked write "$seconds" -s 2 >"$W/acked.out" 2>&1 &
	pid=$!
	fio_on --continue_on_error=read --time_based --runtime="$seconds" --do_verify=1
	ends $((seconds + 60)) $pid
	kill $saver
	wait $saver 2>/dev/null
	faults_over
	now=$(mode)
	note "$injected failed, $refused loads refused; $(lz_status f0)"
	[ "$injected" -gt 0 ] || fail "nothing failed"
	! grep -q 'verify: bad' "$W/fio.err" || fail "wrong data: $(cat "$W/fio.err")"

	# An error of a write is the end of the device, or of its space, or it failed three times.
	errors=$(cat "$W/fio.err" "$W/acked.out" | grep -E 'error|ended by' |
		grep -v -i -E 'func=.*read|: read offset|no space')
	case $now in
	rw)	[ "$(grep -c . <<<"$errors")" -le "$(dmesg | grep -c 'failed in 3 zones')" ] || fail "$errors" ;;
	*)	equal "$(dmesg | grep -c 'lifezone: .*device is now')" 1 "lines that say that it is $now" ;;
	esac

	if [ "$now" = rw ]; then must acked check; fi
	must timeout 30 dmsetup remove --retry f0
	lz_check "$DEV"
	must lz_create f0 "$DEV"
	must acked check
	equal "$(mode)" rw "mode after a restart"
	must acked write 1 -s 3
	must acked check
	must lz_remove f0
	lz_check "$DEV"
}

round 1 15
round 5 15
round 50 5
