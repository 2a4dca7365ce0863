#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: check and dump work on images of used drives, and end in order on damaged ones
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 420
. tests/vm/lib.sh

d=$(make_nullb size=128 zone_size=1) || fail "no null_blk"
must lifezone format --quiet "$d" --label image
must lz_create lz0 "$d" commit_ms 50
must fio --name=a --filename=/dev/mapper/lz0 --direct=1 --rw=randwrite --bs=4k-64k --size=48M \
	--io_size=160M --randseed=7 --ioengine=libaio --iodepth=8 --output=/dev/null
must blkdiscard -o 4M -l 8M /dev/mapper/lz0
must dd if=/dev/urandom of=/dev/mapper/lz0 bs=4k count=64 seek=1100 oflag=direct conv=fsync status=none
want=$(md5sum <(dd if=/dev/mapper/lz0 bs=1M count=60 iflag=direct status=none))

note "as a power cut would leave it"
must dd if="$d" of="$W/live" bs=1M iflag=direct conv=sparse status=none
geo="--zone-size 1M"
# shellcheck disable=SC2086	# option and value
must lifezone check -v "$W/live" $geo
# shellcheck disable=SC2086
must lifezone dump "$W/live" journal $geo >"$W/out"
grep -q 'map lba' "$W/out" || fail "nothing in the journal"
# shellcheck disable=SC2086
equal "$(lifezone dump "$W/live" map 1100 1050 --json $geo | jq -c 'map([.lba, .addr == null])')" \
	'[[1100,false],[1050,true]]' "a block written and one discarded"

note "after a stop"
must lifezone stop lz0
must lz_check "$d"
must dd if="$d" of="$W/clean" bs=1M iflag=direct conv=sparse status=none
# shellcheck disable=SC2086
must lifezone check -v "$W/clean" $geo
# shellcheck disable=SC2086
equal "$(lifezone dump "$W/clean" root --json $geo | jq .clean)" true "clean"
must lifezone start "$d" lz0
equal "$(md5sum <(dd if=/dev/mapper/lz0 bs=1M count=60 iflag=direct status=none))" "$want" "data"
must lifezone stop lz0

note "damaged"
for seed in $(seq 1 8); do
	image=$W/live
	[ $((seed % 4)) -lt 2 ] || image=$W/clean
	cp --sparse=always "$image" "$W/bad"
	must python3 tests/tool/spoil.py "$seed" "$W/bad"
	for c in check probe 'dump super' 'dump root' 'dump roots' 'dump zones' 'dump map' \
		'dump journal' 'dump map 1 1100 9999' 'dump summary 9'; do
		# shellcheck disable=SC2086	# words are wanted
		set -- $c
		cmd=$1
		shift
		# shellcheck disable=SC2086
		timeout 60 lifezone "$cmd" "$W/bad" "$@" $geo >"$W/out" 2>"$W/err"
		st=$?
		case $st in
		0 | 1 | 2 | 4 | 8) ;;
		*) fail "seed $seed: lifezone $c: status $st: $(tail -3 "$W/err")" ;;
		esac
	done
done
