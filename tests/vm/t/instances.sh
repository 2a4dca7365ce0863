#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: two devices under load side by side; every option changed by reload and by message meanwhile, with suspends; no data lost
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 240
. tests/vm/lib.sh

# io NAME: verified I/O over its first 48 MiB, until $W/stop.NAME.  Records in
# $W/io.NAME how it ended and in $W/rounds.NAME how often all was verified.
io() {
	local n=0
	while [ ! -e "$W/stop.$1" ]; do
		(cd "$W" && timeout 300 fio --name="$1" --filename="/dev/mapper/$1" --direct=1 \
			--ioengine=libaio --iodepth=16 --rw=randwrite --bssplit=4k/50:16k/30:128k/20 \
			--size=48m --fsync=200 --randseed=$n --verify=crc32c --verify_fatal=1 \
			--do_verify=1 --minimal) >"$W/fio.$1" 2>&1 ||
			{ echo "fio: status $?: $(cat "$W/fio.$1")" >"$W/io.$1"; return; }
		n=$((n + 1))
		echo $n >"$W/rounds.$1"
	done
	echo well >"$W/io.$1"
}
running() { [ ! -e "$W/io.$1" ] || fail "$1: $(cat "$W/io.$1")"; }

null=$(make_nullb size=160 zone_capacity=3) || fail "no null_blk"
declare -A dev=([i0]=$DEV [i1]=$null)
for name in i0 i1; do
	must lz_format --quiet "${dev[$name]}"
	must lz_create $name "${dev[$name]}" >/dev/null
	io $name &
done
# A second device on a drive is refused.
mustnt dmsetup create i2 --table "$(dmsetup table i1)" 2>/dev/null
dmsetup remove i2 2>/dev/null

sectors() { blockdev --getsz "/dev/mapper/$1"; }
key=''
values="policy zenfs adaptive wla sla reset eager adaptive lazy finish mismatch cost never gc_isolation initial adaptive persistent victim greedy mdc cost_benefit auto commit_ms 20 500 1000 gc_ahead 0 64 4"

note "reloads"
for options in "policy zenfs reset eager" "policy wla finish mismatch victim greedy" \
	"policy sla gc_isolation initial map_cache_mb 1" "policy sla finish mismatch max_open 5" "policy adaptive" \
	"policy zenfs victim greedy reset eager finish mismatch gc_isolation initial commit_ms 50 gc_ahead 0"; do
	for name in i0 i1; do
		writes=$(lz_status $name user_writes)
		# shellcheck disable=SC2086	# words are wanted
		set -- $options
		must timeout 60 dmsetup load $name --table "0 $(sectors $name) lifezone ${dev[$name]} $# $*"
		must timeout 60 dmsetup resume $name
		while [ $# -gt 0 ]; do
			equal "$(lz_status $name "$1")" "$2" "$name: $1 after reload"
			shift 2
		done
		[ "$(lz_status $name user_writes)" -ge "$writes" ] || fail "$name: user_writes went back"
		running $name
	done
	sleep 1
done

note "messages"
for word in $values; do
	case $word in
	policy | reset | finish | gc_isolation | victim | commit_ms | gc_ahead) key=$word; continue ;;
	esac
	for name in i0 i1; do
		must timeout 60 dmsetup message $name 0 set "$key" "$word"
		equal "$(lz_status $name "$key")" "$word" "$name: $key after a message"
		equal "$(lz_sysfs $name "$key")" "$word" "$name: $key in sysfs"
	done
done
mustnt dmsetup message i0 0 set policy none 2>/dev/null
mustnt dmsetup message i1 0 set map_cache_mb 2 2>/dev/null
for name in i0 i1; do
	must timeout 60 dmsetup suspend $name
	mustnt timeout 60 dmsetup message $name 0 set policy wla 2>/dev/null
	must timeout 60 dmsetup resume $name
	must timeout 60 dmsetup suspend --noflush --nolockfs $name
	must timeout 60 dmsetup resume $name
	equal "$(lz_status $name policy)" sla "$name: policy after suspend"
	must timeout 60 dmsetup message $name 0 gc 2
	running $name
done
# What was set by message is in the table line: loaded again, it is the same.
must dmsetup message i1 0 set policy zenfs
line=$(dmsetup table i1)
must timeout 60 dmsetup load i1 --table "$line"
must timeout 60 dmsetup resume i1
equal "$(dmsetup table i1)" "$line" "table after its own line"
equal "$(lz_status i1 policy)" zenfs "policy after the table's own line"

touch "$W/stop.i0" "$W/stop.i1"
wait
for name in i0 i1; do
	equal "$(cat "$W/io.$name")" well "$name: I/O"
	note "$name: $(cat "$W/rounds.$name") rounds, $(lz_status $name gc_copies) copies"
	equal "$(lz_status $name mode)" rw "$name: mode"
	equal "$(lz_sysfs $name zones_set_aside)" 0 "$name: zones set aside"
done
[ "$(lz_status i1 gc_copies)" -gt 0 ] || fail "nothing collected"
must lz_remove i0
must lz_remove i1
lz_check "$DEV"
lz_check "$null"
