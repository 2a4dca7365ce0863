# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# counters.sh FIGURE...: what is written below for what is written above, by the
# drive's own counters: exact, whatever the machine.  Also sourced by the guest
# tests wear-*, which ask for the same bounds at a smaller size.

. tests/bench/lib.sh

# zipf DEV TENTHS OPTION...: Zipf-distributed 4 KiB overwrites of a device so full, all
# of one lifetime: $low blocks below for $half above in the second half of them
zipf() {
	local dev=$1 tenths=$2 fill n0 n1 dist

	shift 2
	must lz_format "$dev" --force --quiet
	must lz_create lz0 "$dev" "$@"
	fill=$(($(blockdev --getsz /dev/mapper/lz0) * tenths / 80))
	# Skewed, and hashed by fio, so that what is hot lies anywhere.
	dist="--random_distribution=zipf:0.99 --norandommap"
	half=$((fill * 3 / 4))
	fio_json /dev/mapper/lz0 fill --rw=write --bs=128k --size=$((fill * 4))k || fail "fio"
	# shellcheck disable=SC2086	# words are wanted
	fio_json /dev/mapper/lz0 zipf-1 --rw=randwrite --bs=4k --size=$((fill * 4))k \
		--number_ios=$half $dist || fail "fio"
	low=$(written "$dev") n0=$(lz_sysfs lz0 user_written_blocks)
	# shellcheck disable=SC2086	# words are wanted
	fio_json /dev/mapper/lz0 zipf-2 --rw=randwrite --bs=4k --size=$((fill * 4))k \
		--number_ios=$half --randseed=1234567 $dist || fail "fio"
	low=$((($(written "$dev") - low) / 8)) n1=$(lz_sysfs lz0 user_written_blocks)
	equal $((n1 - n0)) "$half" "blocks written by the user"
	note "in all: $(lz_sysfs lz0 gc_copied_blocks) copied, $(lz_sysfs lz0 gc_victims) victims," \
		"$(lz_sysfs lz0 meta_written_blocks) metadata, $(lz_sysfs lz0 stalls) stalls"
	lz_remove lz0
	lz_check "$dev"
}

# A device 80 % full
wear_zipf() {
	local dev low half

	dev=$(make_nullb size="${BENCH_WA_MB:-1024}" zone_size="${BENCH_WA_ZONE_MB:-4}") ||
		fail "no drive"
	zipf "$dev" 8
	figure "write amplification, Zipf 0.99, second half" "$low" "$half" \
		"$(calc "$low / $half")" "<=" 2.0
	nullb_remove "$dev"
}

# One that is full: what inferring lifetimes spares
wear_infer() {
	local dev low half was

	dev=$(make_nullb size="${BENCH_WA_MB:-1024}" zone_size=1) || fail "no drive"
	zipf "$dev" 10 policy wla
	was=$low
	zipf "$dev" 10 policy adaptive
	figure "blocks below, full, Zipf 0.99, policy=adaptive to wla" "$low" "$was" \
		"$(calc "$low / $was")" "<=" 0.9
	nullb_remove "$dev"
}

# sync_fio NAME FILE OPTION...: 4 KiB writes, an fsync after each
sync_fio() {
	local name=$1 file=$2
	shift 2
	# At its end fio leaves the last fsync out, unless told.
	fio_json "$file" "$name" --ioengine=psync --iodepth=1 --rw=randwrite --bs=4k \
		--fsync=1 --end_fsync=1 --norandommap "$@" || fail "fio"
}

# 4 KiB write and fsync, one thread; NAME SIZE BOUNDED
sync_one() {
	local n=${BENCH_SYNC_IOS:-10000} low fl syncs commits ckpts writes

	low=$(written "$DEV") fl=$(flushed "$DEV") commits=$(lz_sysfs lz0 commits)
	ckpts=$(lz_sysfs lz0 checkpoints) syncs=$(lz_sysfs lz0 flushes)
	sync_fio "$1" /dev/mapper/lz0 --size="$2" --number_ios="$n"
	low=$((($(written "$DEV") - low) / 8)) fl=$(($(flushed "$DEV") - fl))
	commits=$(($(lz_sysfs lz0 commits) - commits)) ckpts=$(($(lz_sysfs lz0 checkpoints) - ckpts))
	writes=$(jq '.jobs[0].write.total_ios' "$W/$1.json")
	syncs=$(($(lz_sysfs lz0 flushes) - syncs))
	equal "$writes" "$n" "writes"
	equal "$syncs" "$n" "fsyncs that arrived"
	note "$1: $n fsyncs, $low blocks, $fl flushes, $commits commits, $ckpts checkpoints"
	if [ -n "$3" ]; then
		figure "4 KiB write + fsync in $2: blocks below for each" "$low" "$n" \
			"$(calc "$low / $n")" "<=" 2.1
		# A checkpoint cuts the journal and then writes its root: two more.
		figure "... and flushes, but for those of $ckpts checkpoints" $((fl - 2 * ckpts)) "$n" \
			"$(calc "($fl - 2 * $ckpts) / $n")" "==" 1
	else
		figure "4 KiB write + fsync all over the device: blocks below for each" "$low" "$n" \
			"$(calc "$low / $n")"
	fi
}

sync_write() {
	must lz_format "$DEV" --force --quiet
	must lz_create lz0 "$DEV"
	fio_json /dev/mapper/lz0 fill --rw=write --bs=128k --size=64m || fail "fio"
	sync_one sync-64 64m bounded
	lz_remove lz0
	lz_check "$DEV"
}

sync_span() {
	must lz_format "$DEV" --force --quiet
	must lz_create lz0 "$DEV"
	fio_json /dev/mapper/lz0 fill --rw=write --bs=128k || fail "fio"
	sync_one sync-all 100% ''
	lz_remove lz0
	lz_check "$DEV"
}

# 16 threads that write and fsync share commits
sync_threads() {
	local n=${BENCH_SYNC_IOS:-10000} commits flushes

	must lz_format "$DEV" --force --quiet
	must lz_create lz0 "$DEV"
	commits=$(lz_sysfs lz0 commits) flushes=$(lz_sysfs lz0 flushes)
	sync_fio sync-16 /dev/mapper/lz0 --size=64m --numjobs=16 --number_ios=$((n / 16))
	commits=$(($(lz_sysfs lz0 commits) - commits)) flushes=$(($(lz_sysfs lz0 flushes) - flushes))
	equal "$flushes" $((n / 16 * 16)) "fsyncs that arrived"
	figure "16 threads of 4 KiB write + fsync: commits for each fsync" "$commits" "$flushes" \
		"$(calc "$commits / $flushes")" "<=" 0.999
	lz_remove lz0
}

# counters DEV: of metadata into $meta, of the drive into $below; no commit came between
counters() {
	meta=''
	while [ "$meta" != "$(lz_sysfs lz0 meta_written_blocks)" ]; do
		meta=$(lz_sysfs lz0 meta_written_blocks)
		below=$(written "$1")
	done
}

# metadata of a device written from its first block to its last, twice
wear_seq() {
	local dev meta user below meta_was below_was s=${BENCH_SEQ_META_MB:-1024}

	dev=$(make_nullb size="$s" zone_size=8) || fail "no drive"
	must lz_format "$dev" --force --quiet
	must lz_create lz0 "$dev"
	counters "$dev"
	meta_was=$meta below_was=$below
	fio_json /dev/mapper/lz0 seq --rw=write --bs=128k --loops=2 --end_fsync=1 || fail "fio"
	user=$(lz_sysfs lz0 user_written_blocks)
	counters "$dev"
	meta=$((meta - meta_was))
	below=$(((below - below_was) / 8))
	equal "$below" $((user + meta + $(lz_sysfs lz0 gc_copied_blocks))) \
		"blocks the drive counts, against ours"
	figure "metadata of sequential writes, against the data" "$meta" "$user" \
		"$(calc "$meta / $user")" "<=" 0.01
	lz_remove lz0
	lz_check "$dev"
	nullb_remove "$dev"
}

for f in "$@"; do "$f"; done
