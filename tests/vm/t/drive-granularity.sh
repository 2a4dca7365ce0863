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
drive_refused "$DEV" 'zones are written by 8192 bytes at least' 'written by 8192 bytes'
