# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by the guest tests (tests/vm/t/*.sh); t/TEMPLATE shows one.
#
# A test is run by bash as root in the guest, the checkout as its current
# directory.  Status 0: passed; skip and fail end it.  It cleans up nothing:
# what lies on top of null_blk and lifezone devices is removed when it ends.

set -u
set -o pipefail

# shellcheck disable=SC2034	# for the tests
DEV=/dev/nvme0n1		# the emulated drive, its zones empty
W=/tmp/lz			# for the test's own files (RAM)
MNT=/tmp/lz/mnt
trace=/sys/kernel/tracing	# mounted as the guest boots
mkdir -p "$W" "$MNT"

fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "skip: $*"; exit 77; }
note() { local up; read -r up _ </proc/uptime; echo "[$up] $*"; }

# must CMD...: fail unless it succeeds.  mustnt: unless it refuses, which a command that is not there,
# hangs (timeout) or crashes does not.
must() { "$@" || fail "status $?: $*"; }
mustnt() {
	local status=0
	"$@" || status=$?
	[ $status != 0 ] || fail "succeeded but must not: $*"
	[ $status -lt 124 ] || fail "status $status, not refused: $*"
}
# equal GOT WANTED WHAT
equal() { [ "$1" = "$2" ] || fail "${3:-value}: got '$1', want '$2'"; }
# debug_kernel: the one with fault injection
debug_kernel() { case $(uname -r) in *-debug) ;; *) return 1 ;; esac; }
# slow_kernel: one of "make debug", where everything takes several times as long
slow_kernel() { case $(uname -r) in *-kcsan) ;; *) debug_kernel ;; esac; }

# --- allocations that fail, on the debug kernel ---------------------------------
alloc_budget=1000000000
# alloc_faults_begin: only what our code asks for, itself or through what it calls
alloc_faults_begin() {
	local first last f d
	read -r first last <<<"$(awk '/\[dm_lifezone\]$/ && $2 ~ /^[tT]$/ { print $1 }' /proc/kallsyms |
		sort | sed -n '1p;$p' | paste -s -d' ')"
	for f in failslab fail_page_alloc; do
		d=/sys/kernel/debug/$f
		echo "0x$first" >$d/require-start || fail "no $f"
		printf '0x%x' $((0x$last + 4096)) >$d/require-end
		echo 32 >$d/stacktrace-depth
		echo N >$d/ignore-gfp-wait
		echo $alloc_budget >$d/times
		echo 0 >$d/verbose
	done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}
# alloc_faults PERCENT
alloc_faults() {
	local f
	for f in failslab fail_page_alloc; do echo "$1" >/sys/kernel/debug/$f/probability; done
}
# alloc_faults_end: none fails any more; some have
alloc_faults_end() {
	local f n
	alloc_faults 0
	for f in failslab fail_page_alloc; do
		n=$((alloc_budget - $(cat /sys/kernel/debug/$f/times)))
		note "$f: $n failed"
		[ $n -gt 0 ] || fail "$f: nothing failed"
	done
}

# Bounds are for the stock kernel; others are slower (run).
timeout() {
	case $1 in
	[0-9]*) command timeout $(($1 * ${LZ_TEST_SCALE:-1})) "${@:2}" ;;
	*)	command timeout "$@" ;;
	esac
}
# wait_for SECONDS CMD...: until CMD succeeds
wait_for() {
	local n=$(($1 * 10 * ${LZ_TEST_SCALE:-1}))
	shift
	while ! "$@"; do
		[ $n -gt 0 ] || return 1
		n=$((n - 1))
		sleep 0.1
	done
}
# stop_udev: and it is gone
stop_udev() {
	local its='systemd-udevd|\(udev-worker\)'

	udevadm control --exit
	# Late, it would take away nodes that are there again; once it had not gone in minutes.
	wait_for 10 eval "! pgrep -x '$its' >/dev/null" || pkill -KILL -x "$its"
	wait_for 60 eval "! pgrep -x '$its' >/dev/null" || fail "udevd goes on: $(pgrep -a udev)"
}
# without_udev CMD...: while it runs; where devices come and go all the time udev takes longest
without_udev() {
	local status
	stop_udev
	trap start_udev EXIT
	DM_DISABLE_UDEV=1 "$@"
	status=$?
	trap - EXIT
	start_udev
	return $status
}
start_udev() { pgrep -x systemd-udevd >/dev/null || /lib/systemd/systemd-udevd --daemon 2>/dev/null; }
# no_udev: in this test nobody else looks at devices that come and go, and dmsetup makes the nodes
no_udev() {
	stop_udev
	# It leaves what tells others that it is there.
	rm -f /run/udev/control
	export DM_DISABLE_UDEV=1
}

# --- null_blk --------------------------------------------------------------
# dev=$(make_nullb [name=N] [KEY=VALUE...]): a null_blk; keys are its configfs
# attributes (size and zone sizes in MiB).  Default: zoned, RAM-backed, 4 KiB
# blocks, 512 MiB of 4 MiB zones, 14 open and active, native append.
make_nullb() {
	local name='' d a k
	local -A v=([size]=512 [blocksize]=4096 [memory_backed]=1 [zoned]=1
		[zone_size]=4 [zone_max_open]=14 [zone_max_active]=14
		[submit_queues]=2 [completion_nsec]=0)
	for a in "$@"; do
		case $a in
		name=*)	name=${a#*=} ;;
		*=*)	v[${a%%=*}]=${a#*=} ;;
		*)	echo "make_nullb: '$a'" >&2; return 1 ;;
		esac
	done
	[ -d /sys/kernel/config/nullb ] || modprobe null_blk nr_devices=0 || return 1
	if [ -z "$name" ]; then
		name=nb0
		while [ -e /sys/kernel/config/nullb/$name ]; do name=nb$((${name#nb} + 1)); done
	fi
	d=/sys/kernel/config/nullb/$name
	mkdir "$d" || return 1
	[ "${v[zoned]}" = 1 ] || unset 'v[zone_size]' 'v[zone_max_open]' 'v[zone_max_active]'
	for k in "${!v[@]}"; do
		case $k in badblocks | zone_readonly | zone_offline) continue ;; esac
		echo "${v[$k]}" >"$d/$k" || { echo "make_nullb: $k=${v[$k]} refused" >&2; return 1; }
	done
	echo 1 >"$d/power" || return 1
	for k in badblocks zone_readonly zone_offline; do
		[ -z "${v[$k]:-}" ] || echo "${v[$k]}" >"$d/$k" || return 1
	done
	wait_for 10 test -b "/dev/$name" || return 1
	udevadm settle 2>/dev/null
	echo "/dev/$name"
}
# nullb_set DEV KEY VALUE, while it runs: badblocks '+0-7' (sectors),
# zone_readonly and zone_offline (a sector of the zone)
nullb_set() { echo "$3" >"/sys/kernel/config/nullb/${1##*/}/$2"; }
# The contents stay with the device: power off and on makes an empty one.
nullb_remove() {
	echo 0 >"/sys/kernel/config/nullb/${1##*/}/power"
	rmdir "/sys/kernel/config/nullb/${1##*/}"
}

# nullb_off_on DEV NAME: power goes, and with it what was not flushed and the
# lifezone NAME there; DEV returns with all zones full.
nullb_off() {
	[ -e "/sys/kernel/config/nullb/${1##*/}/zone_full" ] ||
		fail "this null_blk cannot come back with its zones full"
	nullb_set "$1" power 0
}
nullb_on() {
	must dmsetup remove --force --retry "$2"
	nullb_set "$1" zone_full 1
	nullb_set "$1" power 1
	wait_for 10 test -b "$1" || fail "no $1"
}
nullb_off_on() {
	nullb_off "$1"
	nullb_on "$1" "$2"
}

# acknowledged [BEFORE]: a hundred fsyncs are, beside BEFORE bytes of what tests/vm/acked.py noted
acknowledged() { [ $(($(stat -c %s "$W/acked" 2>/dev/null || echo 0) - ${1:-0})) -gt 1600 ]; }
# nullb_cut DEV NAME [SEED]: the same, under an fsync load on NAME
nullb_cut() {
	local scale=${LZ_TEST_SCALE:-1} before
	before=$(stat -c %s "$W/acked" 2>/dev/null || echo 0)
	tests/vm/acked.py write "/dev/mapper/$2" "$W/acked" $((100 * scale)) -w 4 -b 4096 \
		-s "${3:-1}" >"$W/out" 2>&1 &
	sleep $((6 * scale))
	wait_for 60 acknowledged "$before" || fail "less than 100 acknowledgements before this cut"
	# What is on top learns it by errors.
	nullb_off "$1"
	wait $!
	nullb_on "$1" "$2"
}
# nullb_cut_check NAME: nothing acknowledged before the cuts is lost
nullb_cut_check() {
	must tests/vm/acked.py check "/dev/mapper/$1" "$W/acked" -w 4 -b 4096
}

# nullb_tear DEV PATTERN [MOST]: of sectors of 512 bytes one more in every open zone whose
# number from 1 on matches, or in the last MOST of them; says how many
nullb_tear() {
	local zone n=0 start wp cond
	while read -r zone start wp cond; do
		[[ $zone =~ $2 && $cond =~ oi|oe|cl ]] || continue
		[ $n != "${3:-all}" ] || break
		dd if=/dev/urandom of="$1" bs=512 count=1 seek=$((start + wp)) oflag=direct \
			conv=notrunc status=none || fail "sector $start + $wp"
		n=$((n + 1))
	done < <(blkzone report "$1" |
		sed -E 's/.*start: (\w+),.*wptr (\w+) .*zcond: *\w+\((\w+)\).*/\1 \2 \3/' | cat -n | tac)
	echo $n
}

# drive_sum DEV: of its zones and all that is in them
drive_sum() { blkzone report "$1" | md5sum; data_sum "$1"; }
# data_sum DEV: of that alone.  By way of a file: a pipe takes an emulated guest thrice as long
data_sum() {
	dd if="$1" of="$W/sum" bs=1M iflag=direct status=none
	md5sum <"$W/sum"
	rm "$W/sum"
}

# --- lifezone --------------------------------------------------------------
lz_format() { lifezone format "$@"; }
# drive_refused DEV TOOL MODULE: an empty drive that neither takes, both in a line like that
drive_refused() {
	lifezone format "$1" 2>"$W/err" && fail "formatted"
	equal "$(wc -l <"$W/err")" 1 "lines of the tool"
	grep -q "$2" "$W/err" || fail "the tool says: $(cat "$W/err")"
	mustnt dmsetup create t0 --table "0 8 lifezone $1" 2>/dev/null
	dmesg | grep -q "lifezone: .* $3" || fail "the module says: $(dmesg | tail -5)"
	equal "$(blkzone report "$1" | grep -c -v 'em)')" 0 "zones that are not empty"
}
# lz_sectors DEV: the size of the formatted device
lz_sectors() {
	lifezone dump --sectors "$1" 2>/dev/null || lifezone table "$1" | awk '{ print $2 }'
}
# lz_create NAME DEV [KEY VALUE...]: by "lifezone start" without options,
# by dmsetup with them
lz_create() {
	local name=$1 dev=$2 n
	shift 2
	if [ $# = 0 ]; then
		lifezone start "$dev" "$name" || return 1
	else
		n=$(lz_sectors "$dev") && [ -n "$n" ] || return 1
		dmsetup create "$name" --table "0 $n lifezone $dev $# $*" || return 1
	fi
	wait_for 10 test -b "/dev/mapper/$name"
}
lz_remove() { dmsetup remove --retry "$1"; }
# lz_status NAME [KEY]: the status line after the target's name, or KEY's value
lz_status() {
	if [ $# = 1 ]; then
		dmsetup status "$1" | cut -d' ' -f4-
	else
		dmsetup status "$1" | tr ' ' '\n' | grep -x -A1 -- "$2" | tail -1
	fi
}
# lz_dir NAME: its folder in sysfs, whether udev made the node or dmsetup
lz_dir() { stat -Lc '/sys/dev/block/%Hr:%Lr/lifezone' "/dev/mapper/$1"; }
# lz_sysfs NAME FILE...: values from there
lz_sysfs() {
	local dir
	dir=$(lz_dir "$1")/
	shift
	cat "${@/#/$dir}"
}
# lz_gone NAME: its drive is: it answers with errors, says so once, and can be removed
lz_gone() {
	timeout 20 dd if=/dev/zero of="/dev/mapper/$1" bs=4k count=1 oflag=direct conv=fsync \
		status=none 2>/dev/null
	equal $? 1 "status of a later write"
	equal "$(lz_status "$1")" Fail status
	equal "$(dmesg | grep -c 'lifezone: .*device is now failed')" 1 "lines that say so"
	timeout 30 dmsetup remove --retry "$1" || fail "cannot be removed: status $?"
}
# lz_check DEV: the formatted device, not in use, is consistent
lz_check() { lifezone check "$1" || fail "lifezone check $1: status $?"; }
# sim_geometry DEV BUDGET: the formatted device, of which so many zones may be open, in words for
# "lifezone sim": one line with all zones, and one with those that data may have
sim_geometry() {
	lifezone dump --json "$1" super >"$W/super" || return 1
	python3 - "$W/super" "$2" <<'PY'
import json, sys
s, budget = json.load(open(sys.argv[1])), int(sys.argv[2])
cap, zones, root, gc = s["zone_cap"], s["nr_zones"], 2, s["gc_zones"]
# A block of 502 is a summary; open are one root zone, and one or two of the log (core/setup.c);
# GC begins with three zones more than are its own (core/relocate.c).
common = "--zone-cap %d --blocks %d --max-open %d --gc-start %d --reserve %d" % (
    cap - -(-cap // 502), s["logical_blocks"], budget - 1 - (2 if budget >= 6 else 1), gc + 3, gc)
print("--zones", zones, common)
print("--zones", zones - root - s["meta_zones"], common)
PY
}

# trace_begin EVENT FILTER: from now on EVENT ("block/block_bio_queue") is recorded where FILTER holds
trace_begin() {
	echo 16384 >$trace/buffer_size_kb
	echo >$trace/trace
	echo "$2" >"$trace/events/$1/filter" || fail "$1: no filter '$2'"
	echo 1 >"$trace/events/$1/enable" || fail "no event $1"
}
# trace_end EVENT: and no longer; $trace/trace has all of them
trace_end() {
	echo 0 >"$trace/events/$1/enable"
	trace_whole
}
# trace_whole: nothing that was to be recorded is lost
trace_whole() {
	mustnt grep -E '^(overrun|dropped events|commit overrun): [1-9]' $trace/per_cpu/cpu*/stats
}

# f2fs_set FS TOP: on TOP, if FS is f2fs, $f2fs_settings, "NAME=VALUE" of F2FS's in sysfs
f2fs_set() {
	local s
	[ "$1" = f2fs ] || return 0
	for s in ${f2fs_settings:-}; do
		echo "${s#*=}" >"/sys/fs/f2fs/$(basename "$(readlink -f "$2")")/${s%=*}" || fail "$s"
	done
}

# watch WORD...: "lifezone trim --watch" from now on, until unwatch; it prints to $W/watch.
# watching: it has found what to watch, and waits.  watch_ends: it ends by itself, and well.
watch() {
	lifezone trim --watch "$@" >"$W/watch" 2>&1 &
	watcher=$!
}
watching() {
	wait_for 20 grep -q do_select "/proc/$watcher/stack" || fail "no wait: $(cat "$W/watch")"
}
unwatch() {
	kill "$watcher" || fail "the watch is gone: $(cat "$W/watch")"
	wait "$watcher" || fail "status $? of the watch: $(cat "$W/watch")"
}
watch_ends() {
	must timeout 30 tail --pid="$watcher" -f /dev/null
	wait "$watcher" || fail "status $? of the watch: $(cat "$W/watch")"
}

# store DEV FS OPTIONS PERCENT MIB WATCH [LOAD REST]: files.py, or $store_load, on a new file
# system on DEV with $f2fs_settings, PERCENT of which are files, and then MIB are written; if WATCH
# is so, watched.  $store_begins TOP is called before anything is written to the device,
# $store_ends when all is.  Leaves $user and $copies, blocks of the second half, and $asked, events
# in all.
# shellcheck disable=SC2034	# for the tests
store() {
	local dev=$1 fs=$2 options=$3 percent=$4 mib=$5 watch=$6 top=/dev/mapper/store force=-f disk live
	shift 6
	[ "$fs" != ext4 ] || force=-F
	must lz_format "$dev" --force --quiet
	must lz_create store "$dev" >/dev/null
	disk=$(basename "$(readlink -f $top)")
	${store_begins:-:} $top
	must "mkfs.$fs" -q $force $top
	must mount -t "$fs" -o "$options" $top "$MNT"
	f2fs_set "$fs" $top
	live=$(($(df -m --output=avail "$MNT" | tail -1) * percent / 100))
	[ "$watch" != watch ] || watch store
	"tests/vm/${store_load:-files.py}" "$MNT" $live "$mib" "/sys/block/$disk/lifezone" "$@" \
		>"$W/store" || fail "${store_load:-files.py}: $?"
	read -r user copies <"$W/store"
	asked=$(lz_sysfs store trims_wanted)
	[ "$watch" != watch ] || unwatch
	must umount "$MNT"
	${store_ends:-:}
	must lz_remove store
}

# cut_rounds LOAD FS DRIVE: cut.py
cut_rounds() {
	local hung=60
	[ -d /sys/module/lz_cut ] || must insmod "$LZ_TEST_KO/lz-cut.ko"
	# What nobody syncs is to be on its way, too.
	echo 20 | tee /proc/sys/vm/dirty_{writeback,expire}_centisecs >/dev/null
	! slow_kernel || { hung=180; export LZ_TEST_CUTS=${LZ_TEST_CUTS:-20}; }
	LZ_TEST_HUNG=$hung without_udev python3 -B tests/vm/cut.py "$@" "$MNT"
}

# Direct I/O with a write lifetime on a block device takes the hint of the
# device node's inode: node_with_hint DEV 0..5 makes a node of its own.
node_with_hint() {
	local n=$W/node.$2.${1##*/} maj min
	maj=$((16#$(stat -Lc %t "$1"))) min=$((16#$(stat -Lc %T "$1")))
	[ -b "$n" ] || mknod "$n" b $maj $min || return 1
	python3 - "$n" "$2" <<'PY' || return 1
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, 1036, struct.pack("Q", int(sys.argv[2])))  # F_SET_RW_HINT
PY
	echo "$n"
}

# nowait STEP AGAIN [KEY VALUE...]: nowait.py on the formatted DEV with these options;
# its counts in $reads, $reads_again, $writes, $writes_again
# shellcheck disable=SC2034	# for the tests
nowait() {
	local step=$1 again=$2
	shift 2
	must lz_create n "$DEV" "$@"
	must blkdiscard /dev/mapper/n
	# What is in the delta needs no leaf.
	touch "$W/going"
	: >"$W/saved"
	while [ -e "$W/going" ]; do
		dmsetup message n 0 checkpoint && echo >>"$W/saved"
		sleep 0.3
	done &
	local saver=$!
	must tests/vm/nowait.py /dev/mapper/n "$step" 3000 "$W/saved" "$again" >"$W/counts"
	rm "$W/going"
	wait $saver
	read -r reads reads_again writes writes_again <"$W/counts"
	note "$*: $reads read, $reads_again again, $writes written, $writes_again again"
	[ "$reads" -gt 100 ] || fail "$reads reads"
	[ "$writes" -gt 100 ] || fail "$writes writes"
	must lz_remove n
	lz_check "$DEV"
}

# kmemleak_scan FILE: memory that is lost, an object each paragraph.  It counts as lost only when some
# seconds old.
kmemleak_scan() {
	local leaks=/sys/kernel/debug/kmemleak

	sleep 6
	for _ in 1 2; do
		# Refused once kmemleak has turned itself off.
		echo scan >$leaks || fail "kmemleak does not scan"
		sleep 1
	done
	awk '/^unreferenced/ { print "" } { print }' $leaks >"$1" || fail "no $leaks"
}
# Code of a module that is no more there has no name.  Modules begin where 512 MiB or 1 GiB kept for
# the kernel end.
# shellcheck disable=SC2034	# for the tests
nameless='(\] |[- ])0xffffffff[a-f][0-9a-f]+'

# --- afterwards ------------------------------------------------------------
# Everything off again; false if something does not go away.
lz_cleanup() {
	local m n d ok=0
	cd /
	while read -r m; do
		umount "$m" 2>/dev/null || { sleep 0.5; umount -l "$m"; } || ok=1
	done < <(awk '$2 ~ "^/tmp/lz" { print $2 }' /proc/mounts | sort -r)
	# Devices may be stacked: as often as there are any.
	for _ in 1 2 3 4; do
		for n in $(dmsetup ls 2>/dev/null | awk '!/^No devices/ { print $1 }'); do
			dmsetup resume "$n" 2>/dev/null
			# It reads what was written to, for longer than dmsetup tries again.
			udevadm settle 2>/dev/null
			dmsetup remove --retry "$n" 2>/dev/null
		done
	done
	dmsetup ls 2>/dev/null | grep -q '^No devices' || ok=1
	# What some tests set, as the kernel had it.
	[ ! -e /proc/sys/kernel/hung_task_timeout_secs ] || echo 120 >/proc/sys/kernel/hung_task_timeout_secs
	if [ -e $trace/events/enable ]; then
		echo 0 >$trace/events/enable
		echo local >$trace/trace_clock
		echo >$trace/trace
		echo 1 >$trace/tracing_on
	fi
	for d in /sys/kernel/config/nullb/*/; do
		[ -d "$d" ] || continue
		echo 0 >"$d/power" 2>/dev/null
		rmdir "$d" || ok=1
	done
	rm -rf /tmp/lz
	return $ok
}
