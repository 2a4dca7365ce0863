# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# icount.sh FIGURE...: what an I/O costs, in a guest whose clock counts
# instructions: one nanosecond is one instruction, of kernel and fio together.

. tests/bench/lib.sh

# While the guest waits for its own disk this clock leaps ahead: that is no hang.
echo 0 >/proc/sys/kernel/hung_task_timeout_secs

ZONE="zoned=1 zone_size=8 zone_max_open=14 zone_max_active=14 submit_queues=1"

# 128 KiB writes one after the other, to a zoned drive and to lifezone on it
seq_write() {
	local dev raw lz n=${BENCH_SEQ_MB:-384}

	# shellcheck disable=SC2086	# words are wanted
	dev=$(make_nullb size=512 $ZONE) || fail "no drive"
	fio_json "$dev" seq-raw --rw=write --bs=128k --size="${n}m" --zonemode=zbd || fail "fio"
	blkzone reset "$dev"
	must lz_format "$dev" --force --quiet
	must lz_create lz0 "$dev"
	fio_json /dev/mapper/lz0 seq-lz --rw=write --bs=128k --size="${n}m" || fail "fio"
	raw=$(per_io seq-raw write) lz=$(per_io seq-lz write)
	figure "sequential 128 KiB writes, against the zoned drive" "$lz" "$raw" \
		"$(calc "$raw / $lz")" ">=" 0.90
	lz_remove lz0
	nullb_remove "$dev"
}

# 4 KiB overwrites in random order, no GC: of blocks that are all mapped
rand_write() {
	local plain dev lin lz n=${BENCH_RANDW_MB:-192}

	plain=$(make_nullb size=1024 zoned=0 submit_queues=1) || fail "no drive"
	must linear lin0 "$plain"
	fio_json /dev/mapper/lin0 fill --rw=write --bs=128k --size="${n}m" || fail "fio"
	fio_json /dev/mapper/lin0 randw-lin --rw=randwrite --bs=4k --size="${n}m" || fail "fio"
	dmsetup remove lin0
	nullb_remove "$plain"
	# shellcheck disable=SC2086	# words are wanted
	dev=$(make_nullb size=1024 $ZONE) || fail "no drive"
	must lz_format "$dev" --force --quiet
	must lz_create lz0 "$dev"
	fio_json /dev/mapper/lz0 fill --rw=write --bs=128k --size="${n}m" || fail "fio"
	fio_json /dev/mapper/lz0 randw-lz --rw=randwrite --bs=4k --size="${n}m" || fail "fio"
	equal "$(lz_sysfs lz0 gc_copied_blocks)" 0 "blocks copied by GC"
	lin=$(per_io randw-lin write) lz=$(per_io randw-lz write)
	figure "random 4 KiB writes without GC, against dm-linear" "$lz" "$lin" \
		"$(calc "$lin / $lz")" ">=" 0.50
	lz_remove lz0
	nullb_remove "$dev"
}

# 4 KiB reads in random order, after a fill of everything in random order
rand_read() {
	local plain dev lin lz s=${BENCH_RANDR_MB:-512} n=${BENCH_RANDR_IOS:-100000} sectors

	# shellcheck disable=SC2086	# words are wanted
	dev=$(make_nullb size="$s" $ZONE) || fail "no drive"
	must lz_format "$dev" --force --quiet
	must lz_create lz0 "$dev"
	sectors=$(lz_sectors "$dev")
	plain=$(make_nullb size="$s" zoned=0 submit_queues=1) || fail "no drive"
	must dmsetup create lin0 --table "0 $sectors linear $plain 0"
	wait_for 10 test -b /dev/mapper/lin0
	fio_json /dev/mapper/lin0 fill --rw=randwrite --bs=4k || fail "fio"
	fio_json /dev/mapper/lin0 randr-lin --rw=randread --bs=4k --number_ios="$n" || fail "fio"
	fio_json /dev/mapper/lz0 fill --rw=randwrite --bs=4k || fail "fio"
	equal "$(lz_sysfs lz0 mapped_blocks)" $((sectors / 8)) "mapped blocks"
	fio_json /dev/mapper/lz0 randr-lz --rw=randread --bs=4k --number_ios="$n" || fail "fio"
	lin=$(per_io randr-lin read) lz=$(per_io randr-lz read)
	figure "random 4 KiB reads, all mapped, against dm-linear" "$lz" "$lin" \
		"$(calc "$lin / $lz")" ">=" 0.70
	lz_remove lz0
	dmsetup remove lin0
	nullb_remove "$dev"
	nullb_remove "$plain"
}

# The same with room in RAM for an eighth of the map. The plain device is smaller:
# what it costs does not depend on its size, and both have to fit in memory.
rand_read_cache() {
	local plain dev lin lz s=${BENCH_CACHE_MB:-4608} n=${BENCH_RANDR_IOS:-100000} leaves max

	plain=$(make_nullb size=512 zoned=0 submit_queues=1) || fail "no drive"
	must linear lin0 "$plain"
	fio_json /dev/mapper/lin0 fill --rw=write --bs=128k || fail "fio"
	fio_json /dev/mapper/lin0 randr-lin --rw=randread --bs=4k --number_ios="$n" || fail "fio"
	dmsetup remove lin0
	nullb_remove "$plain"
	# shellcheck disable=SC2086	# words are wanted
	dev=$(make_nullb size="$s" $ZONE) || fail "no drive"
	must lz_format "$dev" --force --quiet
	must lz_create lz0 "$dev"
	fio_json /dev/mapper/lz0 fill --rw=randwrite --bs=4k || fail "fio"
	leaves=$(lz_sysfs lz0 leaves)
	lz_remove lz0
	must lz_create lz0 "$dev" map_cache_mb $(((leaves / 256 + 7) / 8))
	max=$(lz_sysfs lz0 leaves_max)
	fio_json /dev/mapper/lz0 randr-lz --rw=randread --bs=4k --number_ios="$n" || fail "fio"
	lin=$(per_io randr-lin read) lz=$(per_io randr-lz read)
	figure "... with $max of $leaves map leaves in RAM" "$lz" "$lin" "$(calc "$lin / $lz")"
	lz_remove lz0
	nullb_remove "$dev"
}

for f in "$@"; do "$f"; done
