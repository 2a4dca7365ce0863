#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: the tool on drives: what it formats and refuses, and finds when udev asks
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

# refused WANT-STATUS PATTERN ARGUMENT...: one line, like this
refused() {
	local want=$1 pat=$2 st
	shift 2
	lifezone "$@" >"$W/out" 2>"$W/err"
	st=$?
	[ $st = "$want" ] || fail "lifezone $*: status $st, want $want: $(cat "$W/err")"
	[ "$(wc -l <"$W/err")" = 1 ] || fail "lifezone $*: not one line: $(cat "$W/err")"
	grep -q -E -- "$pat" "$W/err" || fail "lifezone $*: '$(cat "$W/err")', want '$pat'"
}

note "ZNS drive"
refused 2 'no lifezone (device|superblock)' probe "$DEV"
refused 8 'no lifezone (device|superblock)' check "$DEV"
must lifezone format "$DEV" --label drive
must lz_check "$DEV"
equal "$(lifezone probe "$DEV" --export | sed -n 's/^ID_FS_LABEL=//p')" drive label
equal "$(lifezone table "$DEV")" "0 $(lifezone dump "$DEV" --sectors) lifezone $DEV" "table line"
before=$(lifezone dump "$DEV" super)
refused 1 'already holds lifezone device .* drive' format "$DEV"
equal "$(lifezone dump "$DEV" super)" "$before" superblock
must lifezone format --force --quiet "$DEV"
must lz_check "$DEV"
blkzone reset "$DEV"
refused 2 'no lifezone (device|superblock)' probe "$DEV"

note "what it has zones of"
d=$(make_nullb zoned=0) || fail "no null_blk"
refused 1 'not a zoned device' format "$d"
refused 1 'not a zoned device' probe "$d"
nullb_remove "$d"
d=$(make_nullb size=16) || fail "no null_blk"
refused 1 "^lifezone: $d: .*zones" format "$d"
nullb_remove "$d"
d=$(make_nullb zone_max_open=3 zone_max_active=3) || fail "no null_blk"
refused 1 'allows 3 open zones' format "$d"
nullb_remove "$d"
d=$(make_nullb zone_nr_conv=128) || fail "no null_blk"
refused 1 "^lifezone: $d: .*zones" format "$d"
nullb_remove "$d"

note "no append of two blocks: refused before anything is erased"
d=$(make_nullb size=128 zone_append_max_sectors=8) || fail "no null_blk"
must dd if=/dev/urandom of="$d" bs=1M count=1 oflag=direct status=none
before=$(drive_sum "$d")
refused 1 'takes 1 blocks a command: at least 2' format --force "$d"
equal "$(drive_sum "$d")" "$before" "the drive"
nullb_remove "$d"

note "conventional zones first: left alone"
d=$(make_nullb zone_nr_conv=3 zone_capacity=3) || fail "no null_blk"
must dd if=/dev/urandom of="$d" bs=1M count=12 oflag=direct status=none
sum=$(dd if="$d" bs=1M count=12 iflag=direct status=none | md5sum)
must lifezone format "$d"
must lz_check "$d"
equal "$(lifezone dump "$d" zones --json | jq length)" 125 "zones"
equal "$(dd if="$d" bs=1M count=12 iflag=direct status=none | md5sum)" "$sum" "conventional zones"
nullb_remove "$d"

note "what is left in them is not found by udev"
d=$(make_nullb zone_nr_conv=3 zone_capacity=3) || fail "no null_blk"
printf 'still here' | dd of="$W/text" bs=4096 conv=sync status=none
for mkfs in 'mkfs.ext4 -q -F DEV 8M' 'mkswap DEV'; do
	must dd if=/dev/zero of="$d" bs=1M count=12 oflag=direct status=none
	read -ra words <<<"${mkfs/DEV/$d}"
	must "${words[@]}" >/dev/null
	must dd if="$W/text" of="$d" bs=4096 seek=2600 oflag=direct status=none
	refused 1 'already holds' format "$d"
	[ -n "$(blkid -p -o export "$d")" ] || fail "$mkfs: wiped, though refused"
	must lifezone format --force --quiet "$d"
	equal "$(blkid -p -o value -s TYPE "$d")" "" "$mkfs: still there"
	must lz_check "$d"
	must cmp -n 4096 "$W/text" <(dd if="$d" bs=4096 skip=2600 count=1 iflag=direct status=none)
done
nullb_remove "$d"

note "foreign data in sequential zones is overwritten only when forced"
d=$(make_nullb zone_nr_conv=0) || fail "no null_blk"
truncate -s 512M "$W/fs"
must mkswap "$W/fs" >/dev/null
must dd if="$W/fs" of="$d" bs=64K count=1 oflag=direct status=none
refused 1 'already holds data, type swap' format "$d"
equal "$(dd if="$d" bs=64K count=1 iflag=direct status=none | md5sum)" \
	"$(dd if="$W/fs" bs=64K count=1 status=none | md5sum)" "swap signature"
must lifezone format --force "$d"
must lz_check "$d"

note "a device in use"
n=$(lz_sectors "$d")
must dmsetup create hold --table "0 $(blockdev --getsz "$d") linear $d 0"
refused 1 'in use by hold' format --force "$d"
refused 8 'in use by hold' check "$d"
must lifezone probe "$d"
equal "$(lz_sectors "$d")" "$n" sectors
must dmsetup remove --retry hold
must lz_check "$d"

note "a dead zone"
must lifezone format --force "$d"
must nullb_set "$d" zone_offline $((60 * 8192))
must nullb_set "$d" zone_readonly $((61 * 8192))
must lifezone format --force "$d"
must lz_check "$d"
