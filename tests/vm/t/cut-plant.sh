#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: with flushes or FUA lost between file system, core and drive, the power cuts of cut-ext4 lose data or spoil the drive
# vm: VM_ZNS=none VM_PLANTS=1
# timeout: 900
. tests/vm/lib.sh

plant=/sys/module/dm_lifezone/parameters/plant
[ -e $plant ] || fail "the module has no planted bugs"
# try NAME CUTS: rounds on a module that has this bug
try() {
	local n
	n=$(grep -o '^LZ_PLANT([A-Z_]*' dm-lifezone/core/plants.h | grep -n -x "LZ_PLANT($1" | cut -d: -f1)
	[ -n "$n" ] || [ "$1" = NONE ] || fail "no LZ_PLANT($1)"
	note "$1"
	echo "${n:-0}" >$plant
	drive=$(make_nullb size=256 zone_capacity=3 blocksize=512) || fail "no null_blk"
	LZ_TEST_CUTS=$2 cut_rounds files ext4 "$drive" >/run/out 2>&1
	status=$?
	cat /run/out
	echo 0 >$plant
	(lz_cleanup) || fail "not removable after $1"
	mkdir -p "$MNT"
}

# What the next flush makes good shows only where none comes.
export LZ_TEST_CALM=1
try NONE 3
equal $status 0 "cuts without a bug: status"
# One of them, and seldom the same as the last time: "plants" has all that are in the shell.
bugs=(SHELL_NO_PREFLUSH SHELL_NO_FUA SHELL_FLUSH_AT_ONCE SHELL_FUA_IGNORED)
for bug in ${LZ_TEST_BUGS:-${bugs[RANDOM % 4]}}; do
	try "$bug" 40
	equal $status 1 "cuts with $bug: status"
	# By what a lost write does, and not by a test that does not work.
	grep -q -E '^FAIL: (lost: |status [0-9]+: (e2fsck|lifezone check) |mount: |cold data)' /run/out ||
		fail "$bug: not found by what it does: $(grep '^FAIL' /run/out)"
	note "$bug: $(grep '^FAIL' /run/out)"
done
