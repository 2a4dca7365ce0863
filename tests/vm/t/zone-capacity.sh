#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a drive that limits open zones, whose zones we could not fill to their end, is refused
# vm: VM_ZNS=size=512M,zone=16M,cap=12582400,lba=512,open=14,active=14
# timeout: 60
. tests/vm/lib.sh

dmesg -C
mustnt dmsetup create c0 --table "0 80000 lifezone $DEV" 2>/dev/null
dmesg | grep -q "lifezone: .*zone capacities of 24575 to 24575 sectors" || fail "got: $(dmesg)"
mustnt lifezone format "$DEV" 2>"$W/said"
grep -q "zone capacities of 24575 to 24575 sectors" "$W/said" || fail "said: $(cat "$W/said")"
