#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: what IMA measures of a table has our target with the drive, the UUID and every option
# vm: VM_ZNS=none
# timeout: 120
. tests/vm/lib.sh

ima=/sys/kernel/security/ima
[ ! -d /sys/kernel/security ] || [ -d $ima ] || mount -t securityfs securityfs /sys/kernel/security
[ -d $ima ] || skip "this kernel has no IMA"
# It takes one once a boot.
echo 'measure func=CRITICAL_DATA label=device-mapper' >$ima/policy || fail "IMA takes no policy"

# measured EVENT: what the last of these was about
measured() {
	awk -v e="$1" '$5 == e { d = $6 } END { print d }' $ima/ascii_runtime_measurements |
		xxd -r -p
}

dev=$(make_nullb size=512) || fail "no null_blk"
must lz_format --quiet "$dev" --uuid 6c697a6f-6e65-4000-8000-0123456789ab
must lz_create i "$dev" policy sla commit_ms 77
# The options are all those of the status, from policy on.
options=$(lz_status i | grep -o 'policy .*' | xargs -n2 | tr ' ' = | paste -sd,)
version=$(dmsetup targets | awk '$1 == "lifezone" { sub("v", "", $2); print $2 }')
want="target_index=0,target_begin=0,target_len=$(lz_sectors "$dev"),target_name=lifezone"
want+=",target_version=$version,device_name=$(lsblk -dno MAJ:MIN "$dev" | tr -d ' ')"
want+=",uuid=6c697a6f-6e65-4000-8000-0123456789ab,$options;"
got=$(measured dm_table_load)
note "$got"
equal "${got#*;*;}" "$want" "measured"
case $got in *name=i,*) ;; *) fail "of another device: $got" ;; esac
case $(measured dm_device_resume) in *name=i,*) ;; *) fail "resume is not measured" ;; esac

note "another table is another measurement"
must dmsetup load i --table "0 $(lz_sectors "$dev") lifezone $dev 2 policy zenfs"
case $(measured dm_table_load) in
*,policy=zenfs,*) ;;
*) fail "not as loaded: $(measured dm_table_load)" ;;
esac
must dmsetup resume i
must lz_remove i
case $(measured dm_device_remove) in *name=i,*) ;; *) fail "removal is not measured" ;; esac
