#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: only root reads the data and changes anything, others are refused in one line; nobody is told a kernel address
# vm: VM_ZNS=none
# timeout: 120
. tests/vm/lib.sh

nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"; }

dev=$(make_nullb size=128 zone_capacity=3) || fail "no null_blk"
must lz_format --quiet "$dev"
table=$(lifezone table "$dev")
must lz_create l "$dev"
must dd if=/dev/urandom of=/dev/mapper/l bs=1M count=8 oflag=direct conv=fsync status=none
dm=/dev/$(basename "$(readlink -f /dev/mapper/l)")
d=/sys/block/${dm##*/}/lifezone

note "nodes and files"
equal "$(stat -c '%U %a' /dev/mapper/control)" "root 600" "dm's control node"
equal "$(stat -c '%U' "$dm")" root "owner of the device"
[ $((0$(stat -c %a "$dm") & 7)) = 0 ] || fail "$dm is open to all: $(stat -c %a "$dm")"
[ ! -e /sys/module/dm_lifezone/parameters ] || fail "parameters: $(ls /sys/module/dm_lifezone/parameters)"
[ "$(find "$d" -type f | wc -l)" -gt 50 ] || fail "$(find "$d" -type f | wc -l) files in sysfs"
equal "$(nobody find "$d" -type f ! -readable)" "" "files not all can read"
equal "$(nobody find "$d" -writable)" "" "files all can write"
[ -n "$(find "$d" -type f -writable)" ] || fail "none can be written by root"

note "everything that opens a drive or dm"
# refused COMMAND...: as nobody, in one line
refused() {
	nobody "$@" >"$W/out" 2>"$W/err" && fail "$* as nobody: $(cat "$W/out")"
	equal "$(wc -l <"$W/err")" 1 "$*: lines: $(cat "$W/err"), lines"
	grep -q -i -E 'permission|root' "$W/err" || fail "$*: '$(cat "$W/err")'"
	[ ! -s "$W/out" ] || fail "$* says: $(cat "$W/out")"
}
for c in "start $dev" "stop l" "status" "status --json" "status l" "list" "list --json" "set l commit_ms 50" "check $dev" \
	"dump $dev super" "table $dev" "format --force $dev" "probe $dev"; do
	# shellcheck disable=SC2086	# words are wanted
	refused lifezone $c
done
for c in "table l" "status l" "message l 0 checkpoint" "suspend l" "remove l"; do
	# shellcheck disable=SC2086	# words are wanted
	mustnt nobody dmsetup $c >/dev/null 2>&1
done
mustnt nobody dmsetup create m --table "$table" >/dev/null 2>&1
mustnt nobody dd if=/dev/mapper/l of=/dev/null count=1 status=none 2>/dev/null
mustnt nobody dd if="$dev" of=/dev/null count=1 status=none 2>/dev/null
equal "$(lz_status l mode)" rw mode
equal "$(lz_status l commit_ms)" 1000 commit_ms

note "kernel addresses"
echo 1 >$trace/events/lifezone/enable || fail "no tracepoints"
must dd if=/dev/urandom of=/dev/mapper/l bs=1M count=40 oflag=direct conv=fsync status=none
must dmsetup message l 0 gc 2
must dmsetup message l 0 checkpoint
dmsetup message l 0 tidy 2>/dev/null
echo 0 >$trace/events/lifezone/enable
{
	cat $trace/trace
	dmsetup table l
	dmsetup status l
	grep -r . "$d"
	lifezone status l
	lifezone list
	must lz_remove l
	lifezone check "$dev"
	for what in super root roots zones journal map; do lifezone dump "$dev" $what; done
	dmesg | grep lifezone
} >"$W/said"
[ "$(wc -l <"$W/said")" -gt 300 ] || fail "only $(wc -l <"$W/said") lines said"
if grep -n -i -E '\b(0x)?ffff[0-9a-f]{12}\b|\(____ptrval____\)|0x0{8}[0-9a-f]{8}' "$W/said"; then fail "a kernel address"; fi
