#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: what was discarded, zeroed or never written is zeros to every reader, also after a cut; parts of blocks neither
# vm: VM_ZNS=none
# timeout: 240
. tests/vm/lib.sh

top=/dev/mapper/l
leak=tests/vm/leak.py
# No limits: null_blk goes on counting the zones that were open when power went.
# Of larger blocks it reads wrongly into memory that is not aligned to them.
dev=$(make_nullb size=64 blocksize=512 zone_capacity=3 cache_size=64 zone_max_open=0 \
	zone_max_active=0) || fail "no null_blk"

power_cut() {
	nullb_off_on "$dev" l
	must lz_create l "$dev" >/dev/null
}

note "a drive full of something else"
head -c 3M < <(yes SECRET) >"$W/zone"
for z in $(seq 0 15); do
	must dd if="$W/zone" of="$dev" bs=1M seek=$((z * 4)) oflag=direct conv=notrunc,fsync status=none
done
grep -q -a -m1 SECRET "$dev" || fail "the drive is not full of it"
must lz_format --quiet --force "$dev"
must lz_create l "$dev" commit_ms 600000
must $leak none $top
must $leak fill $top 9
must $leak none $top 9
power_cut
must $leak none $top 9
# With room to spare, no checkpoint comes before the cut. Block 900 holds something.
must blkdiscard -f -l $((901 * 4096)) $top
must blkdiscard -f -o $((905 * 4096)) $top
must sync $top
power_cut
must $leak none $top

# gone COMMAND...: after it nothing is left of a full device, but what is written then
gone() {
	note "${1##*/} ${*:2}"
	must $leak fill $top
	if $leak none $top 2>/dev/null; then fail "leak.py does not see what there is"; fi
	must "$@"
	must sync $top
	power_cut
	must $leak none $top
	must $leak fill $top 7
	must $leak none $top 7
	must dmsetup message l 0 gc 3
	must dmsetup message l 0 checkpoint
	must $leak none $top 7
}
blocks=$(($(blockdev --getsz $top) / 8))
# Ranges of every length up to all that is left, in no order.
pieces() {
	local b=0 n list=''
	while [ $b -lt $blocks ]; do
		n=$((1 + RANDOM % (1 << RANDOM % 10)))
		[ $((b + n)) -le $blocks ] || n=$((blocks - b))
		list+="$((RANDOM % 2)) $b $n"$'\n'
		b=$((b + n))
	done
	shuf <<<"${list%$'\n'}" | while read -r zero b n; do
		[ "$zero" = 0 ] || set -- -z
		blkdiscard -f "$@" -o $((b * 4096)) -l $((n * 4096)) $top || return 1
		set --
	done
}
gone blkdiscard -f $top
gone blkdiscard -f -z $top
RANDOM=1
gone pieces

note "parts of blocks"
must blkdiscard -f $top
must $leak fill $top 2
before=$(data_sum $top)
for o in '-o 512 -l 4096' '-o 0 -l 512' '-o 4096 -l 4608' '-o 2048 -l 1048576'; do
	# shellcheck disable=SC2086	# words are wanted
	for z in '' -z; do mustnt blkdiscard -f $z $o $top 2>/dev/null; done
done
mustnt dd if=/dev/zero of=$top bs=512 count=1 oflag=direct conv=notrunc status=none 2>/dev/null
equal "$(data_sum $top)" "$before" "the device after what was refused"
# Block 1 was never written since, 2 holds something.
for at in $((4096 + 1000)) $((8192 + 1000)); do
	printf WORDS | dd of=$top bs=1 seek=$at conv=notrunc,fsync status=none || fail "byte $at"
done
python3 - $top >"$W/want" <<'PY'
import struct, sys
secret = struct.pack("<8sQ", b"SECRET\n\0", 2) * 256
for b in bytes(4096), secret:
    sys.stdout.buffer.write(b[:1000] + b"WORDS" + b[1005:])
PY
power_cut
must cmp -n 8192 -i 4096:0 $top "$W/want"

note "formatted again"
must $leak fill $top
must lz_remove l
must lz_format --quiet --force "$dev"
must lz_create l "$dev"
must $leak none $top
must lz_remove l
lz_check "$dev"
