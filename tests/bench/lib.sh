# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by the benchmarks: devices, fio, figures.
#
# figure prints one row for the table of "run":
#	#fig NAME|VALUE|REFERENCE|RATIO|BOUND|verdict

. tests/vm/lib.sh

# fio_iops FILE NAME [OPTION...]: runs fio and leaves what it prints in W;
# prints I/Os a second.  In the instruction clock 10^9 / that is instructions.
fio_json() {
	local file=$1 name=$2
	shift 2
	fio --name="$name" --filename="$file" --ioengine=libaio --iodepth=16 --direct=1 \
		--thread --randrepeat=1 --randseed=8675309 --group_reporting \
		--output-format=json --output="$W/$name.json" "$@" >&2 || {
		cat "$W/$name.json" >&2
		return 1
	}
}
iops() { jq -r ".jobs[0].$2.iops" "$W/$1.json"; }
# per_io NAME read|write: instructions an I/O (ns of the instruction clock)
per_io() { awk -v i="$(iops "$1" "$2")" 'BEGIN { printf "%d", 1e9 / i }'; }
calc() { awk "BEGIN { printf \"%.3f\", $* }"; }

# figure NAME VALUE REFERENCE RATIO ">=|<=|==" BOUND; without a bound it is reported only
figure() {
	local verdict=reported bound=''
	if [ $# = 6 ]; then
		bound="$5 $6"
		verdict=$(awk -v r="$4" -v op="$5" -v b="$6" 'BEGIN {
			ok = op == ">=" ? r + 0 >= b + 0 : op == "<=" ? r + 0 <= b + 0 : r + 0 == b + 0
			print ok && r != "" ? "pass" : "short" }')
	fi
	echo "#fig $1|$2|$3|$4|$bound|$verdict"
}

# written DEV: sectors written to DEV so far; flushed DEV: flushes sent to it
written() { awk '{ print $7 }' "/sys/block/$(basename "$1")/stat"; }
flushed() { awk '{ print $16 }' "/sys/block/$(basename "$1")/stat"; }

linear() {	# NAME DEV
	dmsetup create "$1" --table "0 $(blockdev --getsz "$2") linear $2 0" || return 1
	wait_for 10 test -b "/dev/mapper/$1"
}

# amplified: by users' blocks and GC's copies, in $user and $copies
amplified() { calc "($user + $copies) / $user"; }

# F2FS's thread that discards, from a sleep begun before the settings were changed.
F2FS_WAKE='gc_urgent=1 gc_urgent=0'
# It waits for nobody, and not for long.
# shellcheck disable=SC2034	# for the benchmarks
F2FS_AT_DELETION="discard_io_aware=0 discard_granularity=1 max_discard_request=256
	min_discard_issue_time=10 max_discard_issue_time=100 cp_interval=1 $F2FS_WAKE"

# record TOP: the writes and discards it is sent, from now on
record() {
	local dev=$(((0x$(stat -Lc %t "$1") << 20) | 0x$(stat -Lc %T "$1")))

	[ -d $trace/events/kprobes/requests ] ||
		echo 'p:requests submit_bio_noacct dev=bio->bi_bdev->bd_dev:u32 op=bio->bi_opf:x32' \
			'at=bio->bi_iter.bi_sector:u64 n=bio->bi_iter.bi_size:u32' \
			'hint=bio->bi_write_hint:u8' >>$trace/kprobe_events || fail "no kprobe"
	echo global >$trace/trace_clock
	# Not what is read, nor what is but a flush.
	trace_begin kprobes/requests "dev == $dev && op & 1"
}

# recorded CSV: what they were
recorded() {
	trace_end kprobes/requests
	tests/bench/requests.py <$trace/trace >"$1"
}
