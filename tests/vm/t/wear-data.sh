#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: what is written below for what is written above stays within its bounds
# vm: VM_ZNS=none
# timeout: 600
# The bounds are those of tests/bench, at a smaller size.
BENCH_WA_MB=1024 BENCH_SEQ_META_MB=512
. tests/bench/counters.sh

for f in wear_zipf wear_seq; do
	"$f" | tee -a "$W/rows" || fail "$f"
done
if grep '^#fig .*|short$' "$W/rows"; then fail "a bound is not met"; fi
equal "$(grep -c '^#fig .*|pass$' "$W/rows")" 2 "bounds met"
