#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a drive with metadata that appends cannot bring along is refused by tool and module, in a line, and not written to
# vm: VM_ZNS=size=64M,zone=2M,open=14,active=14,ms=8
# timeout: 60
. tests/vm/lib.sh

lifezone format "$DEV" 2>"$W/err" && fail "formatted"
equal "$(wc -l <"$W/err")" 1 "lines of the tool"
grep -q '8 bytes of metadata beside each block' "$W/err" || fail "the tool says: $(cat "$W/err")"
mustnt dmsetup create t0 --table "0 8 lifezone $DEV" 2>/dev/null
dmesg | grep -q 'lifezone: .* has metadata beside each block' || fail "the module says: $(dmesg | tail -5)"
equal "$(blkzone report "$DEV" | grep -c -v 'em)')" 0 "zones that are not empty"
