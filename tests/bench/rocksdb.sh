# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# rocksdb.sh rocksdb_FS|rocksdb_timely...: the first study of Documentation/placement.rst with the
# real store, at a 16th of its size: db_bench puts 1.4 GB of keys in random order, no key twice, on a
# file system on a drive of 256 zones of 8 MiB; files of 4 MiB, level multiplier 2.
#
# RocksDB merges as its threads find time, so no two runs write the same. What each one wrote is
# therefore recorded, and placed once more by each of the settings in "lifezone sim".
#
# rocksdb_timely: the fourth study with the same store, on F2FS: with its discards as they come, with
# "lifezone trim --watch", and at deletion.
#
# BENCH_ROCKSDB_MB: megabytes (10^6 bytes) that are put; BENCH_ROCKSDB_JOBS: flushes and merges at a
# time, at most (2; the more, the more room the store needs: 1,150 MB with eight);
# BENCH_ROCKSDB_AGAIN: so many times as much is put then, keys drawn of those there are (0; the store
# needs up to twice the room: 750 MB)

. tests/bench/lib.sh

VALUE=984 KEY=16
SETTINGS=("zenfs reset eager" "wla reset lazy" "sla reset eager" "sla reset lazy"
	"adaptive reset adaptive")
OURS=4

# placed RUN NR: what the run RUN wrote, by the setting NR; sets $copied and $erased
placed() {
	local words=${SETTINGS[$2]/ reset / --opt reset=}

	# shellcheck disable=SC2046,SC2086	# words are wanted
	must lifezone sim --json --skip 0 --fills 1000 --load "trace:$W/csv.$1" \
		--policy $words $(tail -1 "$W/geometry") >"$W/placed"
	copied=$(jq '.[0].copied_blocks' "$W/placed") erased=$(jq '.[0].erased_zones' "$W/placed")
	note "what ${SETTINGS[$1]} wrote, by ${SETTINGS[$2]}: $copied copied, $erased erased"
}

# puts FS NR [watch]: fills a store on a new device with the setting NR and sets $user, $copies,
# $resets and $short, of SHORT zones, $zones that are in use and $hinted, per cent of the blocks that
# came with a hint; what was written is in csv.NR; F2FS has $f2fs_settings
puts() {
	local fs=$1 set=${SETTINGS[$2]} n=$((${BENCH_ROCKSDB_MB:-1400} * 1000000 / (KEY + VALUE)))
	local top=/dev/mapper/rocksdb watched=${3:-} benchmarks=filluniquerandom i class status

	for ((i = 0; i < ${BENCH_ROCKSDB_AGAIN:-0}; i++)); do
		benchmarks+=,overwrite
	done

	must lz_format "$dev" --force --quiet
	# shellcheck disable=SC2086	# words are wanted
	must lz_create rocksdb "$dev" policy $set >/dev/null
	must sim_geometry "$dev" "$(lz_sysfs rocksdb zone_budget)" >"$W/geometry"
	record $top
	must "mkfs.$fs" -q -f $top
	must mount -t "$fs" -o discard $top "$MNT"
	f2fs_set "$fs" $top
	[ -z "$watched" ] || watch rocksdb
	# The WAL goes out as it is written, as ZenFS has it.
	db_bench --benchmarks="$benchmarks" --db="$MNT/db" --num=$n --key_size=$KEY --value_size=$VALUE \
		--seed=1 --compression_type=none --write_buffer_size=$((4 << 20)) \
		--target_file_size_base=$((4 << 20)) --max_bytes_for_level_base=$((16 << 20)) \
		--max_bytes_for_level_multiplier=2 --use_direct_io_for_flush_and_compaction=true \
		--wal_bytes_per_sync=$((64 << 10)) --stats_per_interval=0 \
		--max_background_jobs="${BENCH_ROCKSDB_JOBS:-2}" >"$W/db_bench" 2>&1 || {
		status=$?
		tail -5 "$W/db_bench"
		fail "db_bench: status $status"
	}
	note "$(grep -E '^(filluniquerandom|overwrite)' "$W/db_bench")"
	must sync -f "$MNT"
	if [ -n "$watched" ]; then
		unwatch
		note "asked for discards $(lz_sysfs rocksdb trims_wanted) times"
	fi
	recorded "$W/csv.$2"
	# Long discards count with the next checkpoint, and what they emptied is reset by a commit.
	must dmsetup message rocksdb 0 checkpoint
	must dmsetup message rocksdb 0 commit
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
	set+=${watched:+, timely}${f2fs_settings:+, at deletion}
	note "$set: $user blocks written, $hinted % of them with a hint, $copies copied," \
		"$resets resets, $short of them SHORT, $zones zones in use"
	figure "RocksDB on $fs, $set: zones in use" "$zones" 256 "$(calc "$zones / 256")"
	figure "... blocks copied, to those written" "$copies" "$user" "$(calc "$copies / $user")"
	figure "... resets of SHORT zones, to all" "$short" "$resets" "$(calc "$short / $resets")"
}

# to WHAT NR TO ARRAY: a figure, of what ARRAY has for these two settings
to() {
	local -n of=$4

	figure "$1" "${of[$2]}" "${of[$3]}" "$(calc "${of[$2]} / (${of[$3]} ? ${of[$3]} : 1)")"
}

# compare WHAT COPIES RESETS: figures of WHAT, of arrays by setting
compare() {
	to "$1: blocks copied, sla+lazy to zenfs+eager" 3 0 "$2"
	to "... resets, sla+lazy to sla+eager" 3 2 "$3"
	to "$1: blocks copied, adaptive+adaptive to sla+lazy" 4 3 "$2"
	to "... resets, adaptive+adaptive to sla+lazy" 4 3 "$3"
}

rocksdb() {
	local fs=$1 dev user copies resets short zones hinted nr run copied erased counted=0 own=0
	local -a all_copies all_resets sim_copies sim_resets

	dev=$(make_nullb size=2048 zone_size=8) || fail "no drive"
	for nr in "${!SETTINGS[@]}"; do
		puts "$fs" "$nr"
		# shellcheck disable=SC2034	# "to" knows them by name
		all_copies[nr]=$copies all_resets[nr]=$resets
	done
	nullb_remove "$dev"
	compare "RocksDB on $fs" all_copies all_resets
	for run in "${!SETTINGS[@]}"; do
		for nr in "${!SETTINGS[@]}"; do
			placed "$run" "$nr"
			sim_copies[nr]=$((${sim_copies[nr]:-0} + copied))
			sim_resets[nr]=$((${sim_resets[nr]:-0} + erased))
			[ "$run" != "$nr" ] || own=$((own + copied))
		done
		counted=$((counted + all_copies[run]))
	done
	figure "All five runs, blocks copied, to the simulator's" $counted $own \
		"$(calc "$counted / ($own ? $own : 1)")"
	compare "Simulated" sim_copies sim_resets
}

timely() {
	local dev user copies resets short zones hinted f2fs_settings='' late timely soon

	dev=$(make_nullb size=2048 zone_size=8) || fail "no drive"
	puts f2fs $OURS
	late=$(amplified)
	puts f2fs $OURS watch
	timely=$(amplified)
	f2fs_settings=$F2FS_AT_DELETION
	puts f2fs $OURS
	soon=$(amplified)
	nullb_remove "$dev"
	figure "RocksDB on F2FS: write amplification, to discards at deletion" "$late" "$soon" \
		"$(calc "$late / $soon")"
	figure "... timely discards" "$timely" "$soon" "$(calc "$timely / $soon")" "<=" 1.05
}

for f in "$@"; do
	case $f in
	rocksdb_timely)	timely ;;
	*)		rocksdb "${f#rocksdb_}" ;;
	esac
done
