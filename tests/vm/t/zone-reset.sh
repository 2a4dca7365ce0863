#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: an open zone reset behind our back under load is noticed: what it held gives errors until it is written again, nothing reads wrong
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

top=/dev/mapper/z0
sectors=32768
region="--name=v --filename=$top --offset=64M --size=24M --direct=1 --rw=randwrite --bs=4k --ioengine=libaio
	--iodepth=16 --verify=crc32c --randseed=1 --verify_state_save=0 --minimal"

# old_data: what was written first is there, or cannot be read; how many blocks cannot
old_data() {
	dd if=$top of="$W/got" bs=4k count=1536 iflag=direct conv=noerror,sync status=noxfer 2>"$W/err"
	python3 - "$W/old" "$W/got" "$(grep -c 'error reading' "$W/err")" <<'PY' || fail "the old data"
import sys
old, got = (open(name, "rb").read() for name in sys.argv[1:3])
assert len(got) == len(old), f"{len(got)} bytes"
changed = sum(old[i:i + 4096] != got[i:i + 4096] for i in range(0, len(old), 4096))
assert changed == int(sys.argv[3]), f"{changed} blocks differ, {sys.argv[3]} give errors"
print(changed)
PY
}
# shellcheck disable=SC2086	# a list of arguments
load() { fio $region "$@" >"$W/fio" 2>&1; }

must lz_format --quiet --force "$DEV"
must lz_create z0 "$DEV"
must dd if=/dev/urandom of="$W/old" bs=4k count=1536 status=none
must dd if="$W/old" of=$top bs=64k oflag=direct conv=fsync status=none
must dmsetup message z0 0 checkpoint
equal "$(old_data)" 0 "blocks lost before"
zone=$(lifezone dump "$DEV" zones --json |
	jq '[.[] | select(.state == "open")] | max_by(.valid).zone')
# Data that came later is in the zone, too.
written() {
	local wp
	wp=$(blkzone report -o $((zone * sectors)) -c 1 "$DEV" | sed -E 's/.*wptr 0x0*(\w+) .*/\1/')
	[ $((0x$wp)) -gt $((13 * 1024)) ]
}
dmesg -C

note "zone $zone is reset under load"
load --do_verify=0 --rate=1M &
job=$!
wait_for 30 written || fail "nobody writes to zone $zone: $(blkzone report -o $((zone * sectors)) -c 1 "$DEV")"
must blkzone reset --force -o $((zone * sectors)) -c 1 "$DEV"
wait $job || fail "the load: status $?: $(cat "$W/fio")"
equal "$(lz_status z0 mode)" rw mode
lost=$(old_data) || exit 1
note "$lost of 1536 blocks are lost"
[ "$lost" -gt 0 ] || fail "nothing is lost"
load --verify_only --continue_on_error=io --ignore_error=EIO,EIO,EIO --verify_fatal=0 ||
	fail "the load's data: status $?: $(cat "$W/fio")"
equal "$(dmesg | grep -c "lifezone: .*zone $zone set aside, what it held is lost: .*was it reset by someone else?")" 1 "lines that say so: $(dmesg)"

note "and after a restart"
must lz_remove z0
lifezone check "$DEV" >"$W/out" 2>&1 && fail "check finds nothing"
grep -q -E "zone $zone: [0-9]+ blocks in use that the drive has lost" "$W/out" ||
	fail "check says: $(cat "$W/out")"
must lz_create z0 "$DEV"
equal "$(old_data)" "$lost" "blocks lost after a restart"

note "all is well once it is written again"
must dd if="$W/old" of=$top bs=64k oflag=direct conv=fsync status=none
load --do_verify=1 --verify_fatal=1 || fail "the same again: status $?: $(cat "$W/fio")"
equal "$(old_data)" 0 "blocks lost once all is written again"
must lz_remove z0
lz_check "$DEV"
