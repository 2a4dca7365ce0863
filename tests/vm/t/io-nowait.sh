#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: requests with RWF_NOWAIT are turned away where they would wait for the map, and nowhere else
# vm: VM_ZNS=size=2G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

must lz_format --quiet "$DEV"
# Two blocks of each leaf; 1 MiB holds a third of the leaves.
nowait 252 0 map_cache_mb 0
equal "$reads_again" 0 "reads turned away with the whole map in RAM"
equal "$writes_again" 0 "writes turned away with space left"
nowait 252 0 map_cache_mb 1
[ "$reads_again" -gt 100 ] || fail "$reads_again reads needed the map: nothing is shown"
