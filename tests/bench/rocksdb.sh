# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# rocksdb.sh rocksdb_FS...: the first study of Documentation/placement.rst with the real store,
# at a 16th of its size: db_bench puts 1.4 GB of keys in random order, no key twice, on a file
# system on a drive of 256 zones of 8 MiB; files of 4 MiB, level multiplier 2.
#
# BENCH_ROCKSDB_MB: megabytes (10^6 bytes) that are put

. tests/bench/lib.sh

VALUE=984 KEY=16

# puts FS OPTION...: fills a store on a new device and sets $user, $copies, $resets and $short,
# of SHORT zones, $zones that are in use and $hinted, per cent of the blocks that came with a hint
puts() {
	local fs=$1 n=$((${BENCH_ROCKSDB_MB:-1400} * 1000000 / (KEY + VALUE))) class top

	shift
	must lz_format "$dev" --force --quiet
	must lz_create rocksdb "$dev" "$@" >/dev/null
	top=/dev/mapper/rocksdb
	must "mkfs.$fs" -q -f $top
	must mount -t "$fs" -o discard $top "$MNT"
	# The WAL goes out as it is written, as ZenFS has it.
	db_bench --benchmarks=filluniquerandom --db="$MNT/db" --num=$n --key_size=$KEY --value_size=$VALUE \
		--seed=1 --compression_type=none --write_buffer_size=$((4 << 20)) \
		--target_file_size_base=$((4 << 20)) --max_bytes_for_level_base=$((16 << 20)) \
		--max_bytes_for_level_multiplier=2 --use_direct_io_for_flush_and_compaction=true \
		--wal_bytes_per_sync=$((64 << 10)) --stats_per_interval=0 >"$W/db_bench" 2>&1 || {
		tail -5 "$W/db_bench"
		fail "db_bench: $?"
	}
	note "$(grep '^filluniquerandom' "$W/db_bench")"
	must sync -f "$MNT"
	user=$(lz_sysfs rocksdb user_written_blocks) copies=$(lz_sysfs rocksdb gc_copied_blocks)
	resets=$(($(lz_sysfs rocksdb resets_user) + $(lz_sysfs rocksdb resets_gc)))
	short=$(lz_sysfs rocksdb short/resets)
	zones=$(($(lz_sysfs rocksdb zones_open) + $(lz_sysfs rocksdb zones_full)))
	hinted=0
	for class in short medium long extreme; do
		hinted=$((hinted + $(lz_sysfs rocksdb $class/writes)))
	done
	hinted=$((hinted * 100 / user))
	[ "$(lz_sysfs rocksdb discarded_blocks)" -gt 0 ] || fail "nothing was discarded"
	must umount "$MNT"
	lz_remove rocksdb
	lz_check "$dev"
	note "$*: $user blocks written, $hinted % of them with a hint, $copies copied," \
		"$resets resets, $short of them SHORT, $zones zones in use"
	figure "RocksDB on $fs, $*: zones in use" "$zones" 256 "$(calc "$zones / 256")"
	figure "... blocks copied, to those written" "$copies" "$user" "$(calc "$copies / $user")"
	figure "... resets of SHORT zones, to all" "$short" "$resets" "$(calc "$short / $resets")"
}

rocksdb() {
	local fs=$1 dev user copies resets short zones hinted eager was sla_resets

	dev=$(make_nullb size=2048 zone_size=8) || fail "no drive"
	puts "$fs" policy zenfs reset eager
	eager=$copies
	puts "$fs" policy wla reset lazy
	puts "$fs" policy sla reset eager
	was=$resets
	puts "$fs" policy sla reset lazy
	figure "RocksDB on $fs: blocks copied, sla+lazy to zenfs+eager" "$copies" "$eager" \
		"$(calc "$copies / ($eager ? $eager : 1)")"
	figure "... resets, sla+lazy to sla+eager" "$resets" "$was" "$(calc "$resets / $was")"
	was=$copies sla_resets=$resets
	puts "$fs" policy adaptive reset adaptive
	figure "RocksDB on $fs: blocks copied, adaptive+adaptive to sla+lazy" "$copies" "$was" \
		"$(calc "$copies / ($was ? $was : 1)")"
	figure "... resets, adaptive+adaptive to sla+lazy" "$resets" "$sla_resets" \
		"$(calc "$resets / $sla_resets")"
	nullb_remove "$dev"
}

for f in "$@"; do rocksdb "${f#rocksdb_}"; done
