#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: start, stop, status, list and set do what they say, and refuse in one line
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

uuid=6c697a6f-6e65-4000-8000-0123456789ab
must lifezone format "$DEV" --label fast --uuid $uuid --quiet

note "udev knows the drive by what is on it"
mkdir -p /run/udev/rules.d
sed "s|@SBINDIR@|$(dirname "$(command -v lifezone)")|" tools/udev/61-lifezone.rules.in \
	>/run/udev/rules.d/61-lifezone.rules
udevadm control --reload
udevadm trigger --settle "$DEV"
property() { udevadm info -q property --property="$1" --value "$DEV"; }
is_lifezone() { [ "$(property ID_FS_TYPE)" = lifezone ]; }
wait_for 10 is_lifezone || fail "udev says of $DEV: $(udevadm info -q property "$DEV")"
equal "$(readlink -f /dev/disk/by-lifezone-uuid/$uuid)" "$DEV" "link by UUID"
equal "$(readlink -f /dev/disk/by-lifezone-label/fast)" "$DEV" "link by label"
rm /run/udev/rules.d/61-lifezone.rules
udevadm control --reload

refused() {
	local pat=$1
	shift
	lifezone "$@" >"$W/out" 2>"$W/err" && fail "lifezone $* succeeded"
	[ "$(wc -l <"$W/err")" = 1 ] || fail "lifezone $*: not one line: $(cat "$W/err")"
	grep -q -E -- "$pat" "$W/err" || fail "lifezone $*: '$(cat "$W/err")', want '$pat'"
}

note "nothing started"
equal "$(lifezone list)" "no started devices" list
equal "$(lifezone list --json)" "[]" "list --json"
equal "$(lifezone status)" "no started devices" status
equal "$(lifezone status --json)" "[]" "status --json"
refused 'no started lifezone device' stop lz-fast
refused 'no started lifezone device' status lz-fast
refused 'no started lifezone device' set lz-fast commit_ms 50

note "what cannot be printed is not left started"
lifezone start "$DEV" >/dev/full 2>"$W/err"
equal $? 1 "status"
equal "$(cat "$W/err")" "lifezone: standard output: cannot be written" "complaint"
equal "$(lifezone list)" "no started devices" list

note "started"
equal "$(lifezone start "$DEV" --opt commit_ms=77)" /dev/mapper/lz-fast "start says"
must test -b /dev/mapper/lz-fast
equal "$(dmsetup info -c --noheadings -o uuid lz-fast)" "LIFEZONE-$uuid" "dm uuid"
equal "$(blockdev --getsz /dev/mapper/lz-fast)" "$(lz_sectors "$DEV")" sectors
refused 'already started as lz-fast' start "$DEV" other
refused 'in use by lz-fast' format --force "$DEV"
refused 'in use by lz-fast' check "$DEV"
equal "$(lifezone list --json | jq -r '.[0].drive')" "$DEV" "drive"
equal "$(lifezone status lz-fast --json | jq -r '.[0].status.commit_ms')" 77 "commit_ms"
equal "$(lifezone status "$DEV" --json | jq -r '.[0].status.mode')" rw "mode, by drive"
equal "$(lifezone status --json | jq -r '.[0].uuid')" $uuid "uuid"
# Every value as in the status line: numbers as numbers, used/total as an object.
lz_status lz-fast | xargs -n2 >"$W/line"
lifezone status --json | jq -r '.[0].status | to_entries[] | .key + " " + (.value |
	if type == "object" then "\(.used + 0)/\(.total + 0)" else tostring end)' >"$W/json"
must cmp "$W/line" "$W/json"
lifezone status lz-fast | sed -n 's/^  //p' | xargs -n2 >"$W/text"
must cmp "$W/line" "$W/text"
grep -q -E ' [0-9]+/[0-9]+$' "$W/line" || fail "no used/total"
equal "$(lifezone status --json | jq -r '.[0].status[] | strings | select(test("^[0-9]"))')" "" \
	"numbers as strings"
must lifezone status
must lifezone list

note "set"
must lifezone set lz-fast policy sla
must lifezone set "$DEV" commit_ms 123
equal "$(lz_status lz-fast policy)" sla policy
equal "$(lz_status lz-fast commit_ms)" 123 commit_ms
refused 'max_open' set lz-fast max_open 5
refused 'policy' set lz-fast policy none
refused 'colour' set lz-fast colour red

note "stop"
exec 9</dev/mapper/lz-fast
refused 'in use' stop lz-fast
exec 9<&-
must dd if=/dev/urandom of="$W/data" bs=1M count=8 status=none
must dd if="$W/data" of=/dev/mapper/lz-fast bs=1M oflag=direct status=none
must lifezone stop /dev/mapper/lz-fast
mustnt test -e /dev/mapper/lz-fast
must lz_check "$DEV"

note "in use by another node of its drive"
dev=$(make_nullb size=128) || fail "no null_blk"
for n in z1 z2; do
	must dmsetup create $n --table "0 $(blockdev --getsz "$dev") linear $dev 0"
	wait_for 10 test -b /dev/mapper/$n || fail "no $n"
done
must lz_format --quiet /dev/mapper/z1
must lz_create lz0 /dev/mapper/z1
must dd if="$W/data" of=/dev/mapper/lz0 bs=1M oflag=direct conv=fsync status=none
before=$(drive_sum "$dev")
for words in 'format --force' format 'repair --yes' 'repair --dry-run' check; do
	# shellcheck disable=SC2086	# words are wanted
	refused 'in use as lz0, by another node' $words /dev/mapper/z2
done
refused 'already started as lz0' start /dev/mapper/z2
equal "$(drive_sum "$dev")" "$before" "the drive"
must lifezone stop lz0
lz_check /dev/mapper/z2
must lifezone repair --yes /dev/mapper/z2
must lifezone format --force --quiet /dev/mapper/z2
must dmsetup remove --retry z1
must dmsetup remove --retry z2
nullb_remove "$dev"

note "what is on the drive, by dump"
extent=$(lifezone dump "$DEV" map --json | jq -c 'map(.len) | add')
equal "$extent" 2048 "blocks in the map"
must lifezone dump "$DEV" map 0 1 2047
zone=$(lifezone dump "$DEV" map 0 --json | jq '.[0].zone')
must lifezone dump "$DEV" summary "$zone"
for what in super root roots zones journal; do
	must lifezone dump "$DEV" $what >"$W/out"
	lifezone dump "$DEV" $what --json | jq . >/dev/null || fail "dump $what --json"
done

note "read-only"
must lifezone start --readonly "$DEV" ro
mustnt dd if="$W/data" of=/dev/mapper/ro bs=4k count=1 oflag=direct status=none
cmp -n 8388608 "$W/data" /dev/mapper/ro || fail "what was written is not read"
before=$(lifezone dump "$DEV" root)
must lifezone stop "$DEV"
equal "$(lifezone dump "$DEV" root)" "$before" "root after a read-only start"
must lz_check "$DEV"
