#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: after each of many power cuts F2FS is sound and holds what was synced, also when suspended or reloaded meanwhile
# vm: VM_ZNS=size=256M,zone=4M,cap=3M,open=14,active=14
# timeout: 600
. tests/vm/lib.sh

# Blocks smaller than ours: a cut may tear one.
drive=$(make_nullb size=256 zone_capacity=3 blocksize=512) || fail "no null_blk"
cut_rounds files f2fs "$drive"
