#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: after each of many power cuts ext4 is sound and holds what was synced, also when suspended or reloaded meanwhile
# vm: VM_ZNS=size=256M,zone=4M,cap=3M,open=14,active=14
# timeout: 600
. tests/vm/lib.sh

cut_rounds files ext4 "$DEV"
