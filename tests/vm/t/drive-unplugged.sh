#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: an NVMe drive unplugged under I/O: every request is answered, one line says so, and it can be plugged in again, by hand or by lifezone@.service
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh
echo 20 >/proc/sys/kernel/hung_task_timeout_secs

must lz_format --quiet "$DEV"
must lz_create u0 "$DEV"
top=/dev/mapper/u0
tests/vm/acked.py write $top "$W/acked" 60 -w 4 -b 4096 >"$W/out" 2>&1 &
writer=$!
dd if=$top of=/dev/null bs=64k iflag=direct status=none 2>/dev/null &
reader=$!
wait_for 60 acknowledged ||
	fail "less than 100 acknowledgements"
dmesg -C
# Other tests want it, too.
trap 'echo 1 >/sys/bus/pci/rescan' EXIT
unplug() { echo 1 >/sys/class/nvme/nvme0/device/remove; }
plug() {
	echo 1 >/sys/bus/pci/rescan
	wait_for 30 test -b "$DEV" || fail "no $DEV"
	udevadm settle 2>/dev/null
}
unplug
for p in $writer $reader; do
	wait_for 30 eval "! kill -0 $p 2>/dev/null" || fail "still waiting: $(cat "/proc/$p/stack")"
done
lz_gone u0

plug
lz_check "$DEV"
must lz_create u0 "$DEV"
must tests/vm/acked.py check $top "$W/acked" -w 4 -b 4096
must lz_remove u0

# unit KEY: does what the unit of the drive has for that, as systemd would
unit() {
	local line
	line=$(sed -n "s/^$1=//p" tools/systemd/lifezone@.service.in)
	line=${line//@SBINDIR@\//} line=${line//%f/$DEV} line=${line//%i/unplugged}
	[ -n "$line" ] || fail "the unit has no $1"
	eval "${line//\$\$/\$}" >"$W/unit" 2>&1
}
for _ in 1 2; do
	must unit ExecStart
	node=$(cat /run/lifezone@unplugged)
	must test -b "$node"
	must dd if=/dev/urandom of="$node" bs=4k count=16 oflag=direct status=none
	unplug
	wait_for 30 eval "! test -e $DEV" || fail "$DEV is still there"
	unit ExecStop
	equal $? 1 "status of a drive that is gone"
	equal "$(wc -l <"$W/unit")" 1 "lines that say so"
	grep -q 'stopped, but what was written last may not be on the drive' "$W/unit" ||
		fail "of a drive that is gone: $(cat "$W/unit")"
	[ -z "$(lifezone list --json | jq -r '.[].name')" ] || fail "still started: $(lifezone list)"
	must unit ExecStopPost
	mustnt test -e /run/lifezone@unplugged
	plug
done
# Without it the drive says which it is.
must unit ExecStart
rm /run/lifezone@unplugged
unit ExecStop || fail "of a drive that is there: $(cat "$W/unit")"
