#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: on a device stacked on the drive, which sends a write's flush before the write, no write of ours overtakes another
# vm: VM_ZNS=none
# timeout: 120
. tests/vm/lib.sh

# A load that its target fails is not one that went well.
must dmsetup create failing --table "0 32768 error"
tests/vm/acked.py write /dev/mapper/failing "$W/acked" 1 -w 4 -b 4096 >"$W/out" 2>&1
equal $? 1 "status of a load on what fails"
grep -q '^ended by: ' "$W/out" || fail "$(cat "$W/out")"
must dmsetup remove --retry failing

# Journal and nodes share a zone when few may be open.
dev=$(make_nullb size=64 zone_size=1 cache_size=16 zone_max_open=4 zone_max_active=4) ||
	fail "no null_blk"
must dmsetup create below --table "0 $(blockdev --getsz "$dev") linear $dev 0"
must lz_format --quiet /dev/mapper/below
must lz_create p /dev/mapper/below
while dmsetup message p 0 checkpoint; do sleep 0.05; done 2>/dev/null &
must tests/vm/acked.py write /dev/mapper/p "$W/acked" 6 -w 4 -b 4096 >"$W/out"
must tests/vm/acked.py check /dev/mapper/p "$W/acked" -w 4 -b 4096
note "$(cat "$W/out") fsyncs, $(lz_status p checkpoint) checkpoints"
[ "$(lz_status p checkpoint)" -gt 10 ] || fail "$(lz_status p checkpoint) checkpoints"
equal "$(lz_sysfs p zones_set_aside)" 0 "zones set aside"
must lz_remove p
wait
lz_check /dev/mapper/below
