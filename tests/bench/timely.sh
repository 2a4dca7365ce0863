# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# timely.sh timely_PERCENT|inplace_PERCENT...: what discards that come late cost, and what it
# takes that they come in time: write amplification of the drive, below a store of files that is
# under constant load (tests/vm/files.py), or a database that overwrites in place
# (tests/vm/pages.py), and fills PERCENT of its file system.
#
# A minute of rest after each ten is scaled to the device: 2 seconds after each ten, of which
# F2FS takes one to call itself idle (discard_idle_interval) instead of five of the minute.
# Its thread, when it has found nothing, sleeps for a second instead of a minute.

. tests/bench/lib.sh

# case_of NAME FS OPTIONS PERCENT WATCH [LOAD REST]: sets $wa
case_of() {
	local name=$1 fs=$2 options=$3 percent=$4 watch=$5
	shift 5
	store "$dev" "$fs" "$options" "$percent" "${BENCH_TIMELY_MB:-900}" "$watch" "$@"
	wa=$(amplified)
	note "$name: $user written, $copies copied, asked $asked times"
}

timely() {
	local percent=$1 store_load=$2 what=$3 dev wa late idle timely soon f2fs_settings

	dev=$(make_nullb size="${BENCH_TIMELY_DEV_MB:-512}" zone_size=2) || fail "no drive"
	f2fs_settings="max_discard_issue_time=1000 $F2FS_WAKE"
	case_of "F2FS" f2fs discard "$percent" no
	late=$wa
	f2fs_settings="discard_idle_interval=1 max_discard_issue_time=1000 $F2FS_WAKE"
	case_of "F2FS with idle time" f2fs discard "$percent" no 10 2
	idle=$wa
	f2fs_settings=''
	case_of "F2FS, timely" f2fs discard "$percent" watch
	timely=$wa
	f2fs_settings=$F2FS_AT_DELETION
	case_of "F2FS, at deletion" f2fs discard "$percent" no
	soon=$wa
	case_of "ext4, at deletion" ext4 discard "$percent" no
	figure "F2FS $percent % full, $what: write amplification, to discards at deletion" "$late" \
		"$soon" "$(calc "$late / $soon")"
	figure "... with idle time" "$idle" "$soon" "$(calc "$idle / $soon")"
	figure "... timely discards" "$timely" "$soon" "$(calc "$timely / $soon")" "<=" 1.05
	figure "... timely discards, to idle time" "$timely" "$idle" \
		"$(calc "$timely / $idle")" "<=" 1
	figure "... timely discards, to ext4 mounted with discard" "$timely" "$wa" \
		"$(calc "$timely / $wa")" "<=" 1.05
	nullb_remove "$dev"
}

for f in "$@"; do
	case $f in
	timely_*)	timely "${f#*_}" files.py files ;;
	inplace_*)	timely "${f#*_}" pages.py "in place" ;;
	esac
done
