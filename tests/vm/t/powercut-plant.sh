#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: without the preflush, in core or below, or with flushes that do not commit or do not reach core, the powercut test fails: by lost blocks
# vm: VM_ZNS=none VM_PLANTS=1
# timeout: 600
. tests/vm/lib.sh

plant=/sys/module/dm_lifezone/parameters/plant
[ -e $plant ] || fail "the module has no planted bugs"
# try NAME: the powercut test on a module that has this bug
try() {
	local n
	n=$(grep -o '^LZ_PLANT([A-Z_]*' dm-lifezone/core/plants.h | grep -n -x "LZ_PLANT($1" | cut -d: -f1)
	[ -n "$n" ] || [ "$1" = NONE ] || fail "no LZ_PLANT($1)"
	note "$1"
	echo "${n:-0}" >$plant
	bash tests/vm/t/powercut.sh >/run/out 2>&1
	status=$?
	cat /run/out
	(lz_cleanup) || fail "not removable after $1"
}

try NONE
equal $status 0 "powercut without a bug: status"
for bug in NO_PREFLUSH FLUSH_WITHOUT_COMMIT SHELL_NO_PREFLUSH SHELL_FLUSH_AT_ONCE; do
	try $bug
	equal $status 1 "powercut with $bug: status"
	grep -q -x '[0-9]* blocks acknowledged, [0-9]* with data, [1-9][0-9]* lost' /run/out ||
		fail "$bug: not a block lost"
done
