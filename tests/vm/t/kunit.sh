#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: the unit tests of core pass in a kernel with KASAN, lockdep and UBSAN
# vm: VM_ZNS=none
# timeout: 300
# kernel: debug
. tests/vm/lib.sh

# insmod waits for each test in a way that looks as if it hung. KUnit has a limit of its own.
echo 301 >/proc/sys/kernel/hung_task_timeout_secs
dmesg -C
must insmod "$LZ_BUILD/module-$(uname -r)-kunit/dm-lifezone/lifezone-kunit.ko"
dmesg >"$W/log"
# Results are KTAP: a line for each test, one further in for each of its suite.
tests=$(grep -c -E '\]  +ok ' "$W/log")
note "$(grep -c -E '\] (not )?ok [0-9]+ lifezone' "$W/log") suites, $tests tests"
[ "$tests" -gt 0 ] || fail "no test"
! grep -E '\] +not ok |# .*: (EXPECTATION|ASSERTION) FAILED' "$W/log" || fail "$(grep -E 'not ok ' "$W/log" | head -1)"
for f in dm-lifezone/tests/*_kunit.c; do
	suite=$(sed -n 's/.*\.name = "\(.*\)",/\1/p' "$f")
	grep -q -E "\] ok [0-9]+ $suite$" "$W/log" || fail "suite $suite did not pass"
done
must rmmod lifezone_kunit
