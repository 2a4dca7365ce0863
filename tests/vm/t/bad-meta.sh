#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: damaged and foreign metadata, drives in use: one line says what, a fitting errno, nothing written
# vm: VM_ZNS=none
# timeout: 420
. tests/vm/lib.sh

# It takes longest, and would read what cannot be read as well.
no_udev
zones() { must tests/vm/zones.py "$@"; }
# bad OFFSET HEX BLOCK...: the image to put
bad() { zones set "$W/bad" "$@"; }
# spoilt BLOCK...: the same, their checksums wrong
spoilt() { bad 4 00000000 "$@"; }

# put: the drive becomes the image, and that what it was
put() {
	zones restore "$W/bad" "$dev"
	must cp --sparse=always "$W/good" "$W/bad"
	before=$(drive_sum "$dev")
	dmesg -C
}

# told PATTERN: the kernel log has such lines; their number
told() {
	dmesg >"$W/log"
	! tests/vm/klog "$W/log" || fail "the kernel is not well"
	grep -c -E -- "lifezone: ([0-9:]+: )?$1" "$W/log" || fail "no '$1': $(cat "$W/log")"
}

# fails PATTERN ERRNO COMMAND...: with one line in the kernel log
fails() {
	local pat=$1 errno=$2
	shift 2
	mustnt "$@" 2>"$W/err"
	grep -q ": $errno\$" "$W/err" || fail "want '$errno': $(cat "$W/err")"
	equal "$(told "$pat")" 1 "lines '$pat'"
}

# refused PATTERN ERRNO: and by the tool, in one line; the drive is as it was
refused() {
	fails "$@" dmsetup create b0 --table "$table"
	mustnt lifezone start "$dev" b0 2>"$W/err"
	equal "$(wc -l <"$W/err")" 1 "lines: $(cat "$W/err")"
	equal "$(drive_sum "$dev")" "$before" "the drive after '$1'"
	equal "$(dmsetup ls)" "No devices found" "devices left behind"
}

# starts [PATTERN]: with all that was acknowledged
starts() {
	put
	must dmsetup create b0 --table "$table"
	[ $# = 0 ] || equal "$(told "$1")" 1 "lines '$1'"
	equal "$(data_sum /dev/mapper/b0)" "$want" "data"
	must lz_remove b0
}

# format_refused PATTERN ARGUMENT...
format_refused() {
	local pat=$1
	shift
	mustnt lifezone format "$@" "$dev" 2>"$W/err"
	grep -q "$pat" "$W/err" || fail "want '$pat': $(cat "$W/err")"
}

# saved: what is on the drive now is what put takes
saved() {
	zones save "$dev" "$W/good"
	must cp "$W/good.wp" "$W/bad.wp"
	must cp --sparse=always "$W/good" "$W/bad"
}

# other KEY=VALUE...: another drive
other() {
	dev=$(make_nullb "$@") || fail "no null_blk"
	table="${table% *} $dev"
}

dev=$(make_nullb size=40 zone_size=2) || fail "no null_blk"
first=$dev
must lz_format --quiet "$dev"
table=$(lifezone table "$dev")
must dmsetup create b0 --table "$table 2 commit_ms 600000"
must dd if=/dev/urandom of=/dev/mapper/b0 bs=64k count=80 oflag=direct status=none
must dmsetup message b0 0 checkpoint
for i in 1 2 3 4 5 6; do
	must dd if=/dev/urandom of=/dev/mapper/b0 bs=64k count=1 seek=$((i * 10)) oflag=direct \
		conv=fsync status=none
done
# As a power cut would leave it now.
saved
want=$(data_sum /dev/mapper/b0)
must lz_remove b0
zones list "$W/good" >"$W/list"
blocks() { awk -v t="$1" '$2 == t { print $1 }' "$W/list"; }
mapfile -t supers < <(blocks 1)
mapfile -t roots < <(blocks 2)
mapfile -t journal < <(blocks 3)
mapfile -t leaves < <(blocks 4)
mapfile -t ztab < <(blocks 5)
equal "${#supers[@]} ${#roots[@]}" "2 6" "superblocks, roots"

note "undamaged"
starts 'recovered: checkpoint 3 and 6 commits'

note "a format of tomorrow"
bad 72 02000000 "${supers[@]}"
put
refused 'format version 2 with features 0x0: this code knows version 1' 'Protocol not supported'
bad 84 04000000 "${supers[@]}"
put
refused 'format version 1 with features 0x4: this code knows version 1' 'Protocol not supported'
bad 80 04000000 "${supers[@]}"
put
refused 'features 0x4 allow reading only' 'Protocol not supported'
must dmsetup create b0 --readonly --table "$table"
equal "$(data_sum /dev/mapper/b0)" "$want" "data, read-only"
must lz_remove b0
equal "$(drive_sum "$dev")" "$before" "the drive after reading only"

note "superblocks"
spoilt "${supers[0]}"
starts 'superblock in zone 0: superblock at block 0: crc'
spoilt "${supers[1]}"
starts
spoilt "${supers[@]}"
put
refused 'no superblock is whole' 'Structure needs cleaning'

note "roots"
spoilt "${roots[5]}"
starts 'root zone 0: 1 blocks after checkpoint 3 .* are no roots'
spoilt "${roots[4]}"
starts
spoilt "${roots[@]:4}"
starts 'root zone 0: 2 blocks after checkpoint 2 .* are no roots'
spoilt "${roots[@]}"
put
refused 'no valid checkpoint root' 'Structure needs cleaning'

note "journal"
at=${journal[-3]}
spoilt "$at"
put
refused "journal: zone $((at / 512)), offset $((at % 512)) is damaged" 'Structure needs cleaning'

note "trees"
spoilt "${ztab[-1]}"
put
refused "metadata: zone table node at block ${ztab[-1]}: crc" 'Structure needs cleaning'
# What a leaf maps cannot be read; all else can. It is read anew, and told, after a second.
spoilt "${leaves[-1]}"
put
must dmsetup create b0 --table "$table"
fails "map leaf 2: map node at block ${leaves[-1]}: crc" 'Input/output error' \
	dd if=/dev/mapper/b0 of=/dev/null bs=4k skip=1270 count=1 iflag=direct status=none
must dd if=/dev/mapper/b0 of=/dev/null bs=4k count=1008 iflag=direct status=none
must lz_remove b0

note "on another drive"
for d in '20 4 4' '40 1 1' '20 2 1' '18 2 2'; do
	read -r n size cap <<<"$d"
	other size=$((n * size)) zone_size="$size" zone_capacity="$cap"
	put
	refused "formatted for 20 zones of 512 blocks, capacity 512; the drive has $n of $((
		size * 256)), capacity $((cap * 256))" 'Invalid argument'
	format_refused 'already holds a lifezone device of a drive with other zones'
	equal "$(drive_sum "$dev")" "$before" "the drive after format"
	nullb_remove "$dev"
done
# More zones than were formatted are as if they were not there.
other size=50 zone_size=2
starts
nullb_remove "$dev"

note "in use"
dev=$first
table="${table% *} $dev"
put
# As a mount does.
python3 -c 'import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_EXCL); print(flush=True)
sys.stdin.read()' "$dev" < <(sleep 60 & echo $! >"$W/sleep"; wait) >"$W/open" &
wait_for 20 test -s "$W/open" || fail "not opened"
refused 'Device is in use' 'Device or resource busy'
format_refused 'in use' --force
kill "$(cat "$W/sleep")"
wait $!
must dmsetup create b0 --table "$table"
fails '.* in use by another mapped device' 'Device or resource busy' dmsetup create b1 --table "$table"
format_refused 'in use by b0' --force
equal "$(data_sum /dev/mapper/b0)" "$want" "data while others tried"
must lz_remove b0
fails 'Cannot open device' 'No such file or directory' \
	dmsetup create b0 --table "${table% *} /dev/nowhere"

# Zones written as far as they were formatted would still count as open.
note "on a drive of a larger capacity"
other size=40 zone_size=2 zone_capacity=1
must lz_format --quiet --force "$dev"
table=$(lifezone table "$dev")
saved
nullb_remove "$dev"
other size=40 zone_size=2
put
fails "formatted for zones of capacity 256; the drive's have 512" 'Invalid argument' \
	dmsetup create b0 --table "$table"
equal "$(drive_sum "$dev")" "$before" "the drive"
