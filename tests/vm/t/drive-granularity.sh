#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a drive whose zones are written by more than a block is refused by tool and module, in a line, and not written to
# vm: VM_ZNS=none
# timeout: 60
# kernel: stock
. tests/vm/lib.sh

must modprobe scsi_debug zbc=managed dev_size_mb=128 zone_size_mb=4 zone_nr_conv=0 zone_max_open=0 \
	sector_size=512 physblk_exp=4
trap 'rmmod scsi_debug' EXIT
found() { DEV=$(grep -l scsi_debug /sys/block/sd*/device/model) && DEV=/dev/$(basename "${DEV%/device/model}"); }
wait_for 20 found || fail "no drive"
equal "$(cat "/sys/block/${DEV#/dev/}/queue/zone_write_granularity")" 8192 "granularity"
lifezone format "$DEV" 2>"$W/err" && fail "formatted"
equal "$(wc -l <"$W/err")" 1 "lines of the tool"
grep -q 'zones are written by 8192 bytes at least' "$W/err" || fail "the tool says: $(cat "$W/err")"
mustnt dmsetup create t0 --table "0 8 lifezone $DEV" 2>/dev/null
dmesg | grep -q 'lifezone: .* written by 8192 bytes' || fail "the module says: $(dmesg | tail -5)"
equal "$(blkzone report "$DEV" | grep -c -v 'em)')" 0 "zones that are not empty"
