#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: bad blocks, moved write pointers and read-only zones under the journal, the nodes and the roots cost nothing
# vm: VM_ZNS=none
# timeout: 240
. tests/vm/lib.sh
echo 20 >/proc/sys/kernel/hung_task_timeout_secs

zone_sectors=8192
dev=$(make_nullb size=256 zone_size=4 zone_capacity=3 zone_max_open=8 zone_max_active=8) ||
	fail "no null_blk"
must lz_format --quiet "$dev"
must lz_create z0 "$dev"
top=/dev/mapper/z0

# write_pointers: "ZONE BLOCK" of those open
write_pointers() {
	blkzone report "$dev" | sed -E -n 's/.*start: 0x0*([0-9a-f]+),.*wptr 0x0*([0-9a-f]+) .*\((oi|oe|cl)\).*/\1 \2/p' |
		while read -r start wp; do echo $((0x$start / zone_sectors)) $((0x${start:-0} + 0x${wp:-0})); done
}
# open_of KIND: zone and write pointer (sector) of those the log, or the roots, stand in
open_of() {
	local zone sector kinds
	kinds=$(lifezone dump "$dev" zones --json |
		jq -r --arg k "$1" '.[] | select(.state == $k) | .zone' | tr '\n' ' ')
	write_pointers | while read -r zone sector; do
		[[ " $kinds" != *" $zone "* ]] || echo "$zone $sector"
	done
}

# served: what is written with fsync is there, now and after a restart
version=0
served() {
	version=$((version + 1))
	must fio --name=v --filename=$top --direct=1 --rw=randwrite --bs=4k-16k --size=8M --io_size=2M \
		--fsync=8 --randseed=$version --verify=crc32c --do_verify=1 --verify_fatal=1 \
		--verify_state_save=0 --minimal >"$W/fio" 2>&1
	for _ in 1 2 3; do must dmsetup message z0 0 checkpoint; done
	equal "$(lz_status z0 mode)" rw "mode after $1"
	sum=$(md5sum <$top)
	must lz_remove z0
	lz_check "$dev"
	must lz_create z0 "$dev"
	equal "$(md5sum <$top)" "$sum" "the data after $1 and a restart"
}
# said PATTERN: one line, and no storm of them
said() {
	local n
	n=$(dmesg | grep -c -E "lifezone: .*$1")
	[[ $n -ge 1 && $n -le 4 ]] || fail "$n lines '$1': $(dmesg | tail -20)"
	dmesg -C
}
served "nothing"
dmesg -C

for kind in meta root; do
	# What is in a root zone once it is left, and what is said then.
	if [ $kind = meta ]; then left='zone [0-9]+ of the metadata log left'
	else left='root zone [01]: write error'; fi

	note "$kind: bad blocks ahead of the write pointer"
	open_of $kind >"$W/open"
	[ -s "$W/open" ] || fail "no open zone of $kind"
	while read -r zone sector; do must nullb_set "$dev" badblocks "+$sector-$((sector + 7))"; done <"$W/open"
	served "bad blocks ($kind)"
	said "$left"
	while read -r zone sector; do must nullb_set "$dev" badblocks "-$sector-$((sector + 7))"; done <"$W/open"

	note "$kind: the write pointer moves under a write"
	open_of $kind >"$W/open"
	while read -r zone sector; do
		must dd if=/dev/urandom of="$dev" bs=4k count=1 seek="$sector" oflag=direct,seek_bytes \
			conv=notrunc status=none seek=$((sector * 512))
	done <"$W/open"
	served "moved write pointers ($kind)"
	said "$left"
done

note "zones of the log that can no longer be written"
open_of meta >"$W/open"
while read -r zone sector; do
	must nullb_set "$dev" zone_readonly $((zone * zone_sectors))
done <"$W/open"
served "zones that became read-only"
said 'zone [0-9]+ of the metadata log left'
must lz_remove z0

note "a root zone that cannot be read: without it, or not at all if it is the newest"
for zone in 0 1; do
	must nullb_set "$dev" badblocks "+$((zone * zone_sectors))-$((zone * zone_sectors + 6143))"
	dmesg -C
	if lz_create z0 "$dev" 2>/dev/null; then
		equal "$(md5sum <$top)" "$sum" "the data without root zone $zone"
		must lz_remove z0
	else
		said "root zone $zone cannot be read, and may hold a newer checkpoint"
		refused=1
	fi
	must nullb_set "$dev" badblocks "-$((zone * zone_sectors))-$((zone * zone_sectors + 6143))"
done
[ "${refused:-0}" = 1 ] || fail "neither root zone was missed"
must lz_create z0 "$dev"
equal "$(md5sum <$top)" "$sum" "the data with both"
must lz_remove z0
