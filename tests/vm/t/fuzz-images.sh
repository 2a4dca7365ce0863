#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: drives of the fuzzer's corpus and drives with crafted counts are refused or used, and the kernel stays well
# vm: VM_ZNS=size=3M,zone=128K,cap=96K,open=0,active=0
# timeout: 400
. tests/vm/lib.sh
no_udev

loaded=0 refused=0 stuck=0

# quietly COMMAND...: may fail, as it does on a drive with damage.  Where counts are
# wrong a write may wait for space that never comes: then it must be possible to
# take the device away below it.
quietly() {
	"$@" >/dev/null 2>&1 &
	wait_for 6 gone $! && return
	stuck=$((stuck + 1))
	must timeout 60 dmsetup suspend --noflush --nolockfs x
	must dmsetup load x --table "0 $sectors error"
	must timeout 60 dmsetup resume x
	wait_for 20 gone $! || fail "no end: $*"
}
# Block by block: past an error next to the end, dd would seek beyond it, fail, and try for ever.
read_all() { dd if=/dev/mapper/x of=/dev/null bs=4k iflag=direct conv=noerror; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# try NAME: what was put on the drive
try() {
	sectors=$(timeout 60 lifezone dump --sectors "$DEV" 2>/dev/null)
	sectors=${sectors:-1152}
	if timeout 60 dmsetup create x --table "0 $sectors lifezone $DEV" 2>/dev/null; then
		loaded=$((loaded + 1))
		must test -b /dev/mapper/x
		quietly read_all
		quietly dd if=/dev/urandom of=/dev/mapper/x bs=16k count=20 oflag=direct conv=fsync
		quietly blkdiscard -o 64k -l 256k /dev/mapper/x
		quietly dmsetup message x 0 checkpoint
		quietly dmsetup message x 0 gc 2
		quietly read_all
		must timeout 60 dmsetup remove --retry x
	else
		refused=$((refused + 1))
	fi
	dmesg -c >"$W/log"
	! tests/vm/klog "$W/log" || fail "$1: the kernel is not well"
}

# put_and_try INPUT [FIELD...]
put_and_try() {
	local input=$1
	shift
	"$LZ_BUILD/guest/fuzz/put" "$input" "$DEV" "$@"
	case $? in
	0)	try "$input $*" ;;
	77)	;;	# its drive has other zones
	*)	fail "$input was not put" ;;
	esac
}

# enough N: both kinds were seen more than N times
enough() { [[ $loaded -gt $1 && $refused -gt $1 ]]; }

# A kernel that sees what others do not is shown more.
times=1
! debug_kernel || times=8

note "corpus"
# Inputs are named by their hash, so those that come first are a fair sample; how many of
# them are refused is chance all the same, so it goes on until enough of both were seen.
for input in tests/fuzz/corpus/load/*; do
	enough 3 && [ $((loaded + refused)) -ge $((12 * times)) ] && break
	put_and_try "$input"
done
note "$loaded loaded, $refused refused, $stuck without space"
enough 3 || fail "$loaded loaded, $refused refused"

note "crafted counts"
# type:offset:width of every field of superblock, root, journal, map and zone table nodes,
# summary that counts or points; and what no sound drive has there, or only by chance
fields='1:28:4 1:40:8 1:152:4 1:156:4 1:160:4 1:164:4 1:168:4 1:172:4 1:176:8
	2:28:4 2:40:8 2:64:8 2:72:8 2:80:8 2:88:8 2:96:4 2:104:8 2:112:8 2:2160:8 2:2672:8
	3:28:4 3:40:8 3:56:8 3:64:4 3:68:4 3:72:8 3:80:8 3:88:8 4:26:2 4:28:4 4:56:8 4:64:8 4:4088:8
	5:26:2 5:28:4 5:56:8 5:64:4 5:68:1 5:69:1 5:70:2 5:72:4 5:76:4 5:80:4 5:84:4 5:88:8
	6:28:4 6:56:8 6:64:4 6:68:4 6:72:4 6:76:4 6:88:8'
# Seeds: a device in use, and one cut off.
printf '\1%015d' 0 | tr 0 '\0' >"$W/used"
printf '\2%015d' 0 | tr 0 '\0' >"$W/cut"
for f in $fields; do
	for v in 0 1 0x7fffffff -1 0xffffffffff; do echo "$f:$v"; done
done >"$W/fields"
every=$(($(wc -l <"$W/fields") / (8 * times)))
awk -v n=$every 'NR % n == 0' "$W/fields" >"$W/some"
loaded=0 refused=0 n=0
while read -r field; do
	n=$((n + 1))
	if [ $((n % 2)) = 0 ]; then put_and_try "$W/used" "$field"; else put_and_try "$W/cut" "$field"; fi
done <"$W/some"
note "$loaded loaded, $refused refused, $stuck without space"
enough 1 || fail "$loaded loaded, $refused refused"

note "sound again once it is formatted"
must lz_format --quiet --force "$DEV"
must lz_create x "$DEV"
must dd if=/dev/urandom of=/dev/mapper/x bs=16k count=20 oflag=direct conv=fsync status=none
must lz_remove x
lz_check "$DEV"
