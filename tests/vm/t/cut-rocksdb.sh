#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: after each of many power cuts RocksDB has every key it acknowledged (on XFS, or LZ_TEST_FS)
# vm: VM_ZNS=size=256M,zone=4M,cap=3M,open=14,active=14
# timeout: 600
. tests/vm/lib.sh

# Half as many as below the file systems. Blocks smaller than ours: a cut may tear one.
drive=$(make_nullb size=256 zone_capacity=3 blocksize=512) || fail "no null_blk"
LZ_TEST_CUTS=$(((${LZ_TEST_CUTS:-40} + 1) / 2)) cut_rounds rocksdb "${LZ_TEST_FS:-xfs}" "$drive"
