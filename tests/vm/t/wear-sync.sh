#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a write and its fsync cost two blocks and one flush; threads share commits
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 300
# The bounds are those of tests/bench, at a smaller size.
BENCH_SYNC_IOS=2000
. tests/bench/counters.sh

for f in sync_write sync_threads; do
	"$f" | tee -a "$W/rows" || fail "$f"
done
if grep '^#fig .*|short$' "$W/rows"; then fail "a bound is not met"; fi
equal "$(grep -c '^#fig .*|pass$' "$W/rows")" 3 "bounds met"
