#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: table line, limits, messages, sysfs; only one may have the drive live; a read-only table writes nothing
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

# refused PATTERN COMMAND...: it fails, and the kernel log says why
refused() {
	local pat=$1
	shift
	dmesg -C
	mustnt "$@" 2>/dev/null
	dmesg | grep -q -E -- "lifezone: .*$pat" || fail "$*: want '$pat', got: $(dmesg)"
}

# queue ATTRIBUTE WANTED
queue() { equal "$(cat "/sys/block/$(basename "$(readlink -f /dev/mapper/t0)")/queue/$1")" "$2" "$1"; }

table() { dmsetup table t0 | cut -d' ' -f5-; }

note "what .ctr refuses"
refused 'No lifezone format' dmsetup create t0 --table "0 8 lifezone $DEV"
must lz_format --quiet "$DEV" --label table
n=$(lz_sectors "$DEV")
refused "the device has $n from 0" dmsetup create t0 --table "0 8 lifezone $DEV"
refused 'Device missing' dmsetup create t0 --table "0 $n lifezone"
refused 'Options come in pairs' dmsetup create t0 --table "0 $n lifezone $DEV 1 policy"
refused 'Options come in pairs' dmsetup create t0 --table "0 $n lifezone $DEV 2 policy sla more"
refused 'policy=best: unknown, allowed: zenfs' dmsetup create t0 --table "0 $n lifezone $DEV 2 policy best"
refused 'max_open 15; the drive allows at most 14' dmsetup create t0 --table "0 $n lifezone $DEV 2 max_open 15"
plain=$(make_nullb zoned=0) || fail "no null_blk"
refused 'not a zoned device' dmsetup create t0 --table "0 $n lifezone $plain"
few=$(make_nullb zone_max_open=3 zone_max_active=3) || fail "no null_blk"
refused 'drive allows 3 open zones; at least 4' dmsetup create t0 --table "0 $n lifezone $few"
equal "$(dmsetup ls)" "No devices found" "devices left behind"

note "table line and limits"
must dmsetup create t0 --table "0 $n lifezone $DEV 4 policy sla commit_ms 1000"
dev=$(lsblk -dno MAJ:MIN "$DEV" | tr -d ' ')
equal "$(table)" "4 policy sla commit_ms 1000" "options as given"
equal "$(dmsetup table t0)" "0 $n lifezone $dev 4 policy sla commit_ms 1000" "table"
queue zoned none
queue chunk_sectors 0
queue logical_block_size 4096
queue physical_block_size 4096
queue discard_granularity 4096
queue write_cache "write back"
queue fua 1
mustnt blkzone report /dev/mapper/t0 2>/dev/null
mustnt dd if=/dev/zero of=/dev/mapper/t0 bs=512 count=1 oflag=direct status=none 2>/dev/null
must dd if=/dev/zero of=/dev/mapper/t0 bs=4k count=1 oflag=direct status=none

note "messages and sysfs"
must dmsetup message t0 0 set reset eager
must dmsetup message t0 0 commit
must dmsetup message t0 0 checkpoint
must dmsetup message t0 0 gc 1
refused 'allowed: set KEY VALUE' dmsetup message t0 0 tidy
refused 'allowed: set KEY VALUE' dmsetup message t0 0 set reset
refused 'reset=never: unknown' dmsetup message t0 0 set reset never
refused 'max_open=8: fixed' dmsetup message t0 0 set max_open 8
refused 'gc takes a number' dmsetup message t0 0 gc none
equal "$(table)" "6 policy sla reset eager commit_ms 1000" "after a message"
d=$(lz_dir t0)
equal "$(cat "$d/reset")" eager "sysfs reset"
echo wla >"$d/policy" || fail "policy is not writable"
equal "$(cat "$d/policy")" wla "sysfs policy"
(echo best >"$d/policy") 2>/dev/null && fail "policy takes anything"
(echo 7 >"$d/max_open") 2>/dev/null && fail "max_open can be written"
equal "$(lz_status t0 policy)" wla "status policy"
equal "$(cat "$d/label")" table label
equal "$(cat "$d/mode")" rw mode
for f in "$d"/*; do
	[ -d "$f" ] || must cat "$f" >/dev/null
	grep -q "What:.*/lifezone/${f##*/}\$" Documentation/ABI/testing/sysfs-block-dm-lifezone ||
		fail "${f##*/} is not in Documentation/ABI"
done
equal "$(cd "$d" && echo */)" "$(printf '%s/\n' extreme group{0..10} long medium meta none not_set short | sort | paste -s -d ' ')" classes
# What is loaded again is what was there.
line=$(dmsetup table t0)
must dmsetup load t0 --table "$line"
must dmsetup resume t0
equal "$(dmsetup table t0)" "$line" "table after loading it again"

note "every option at a value that is not its default"
# Options and their values by the guide's table, defaults by the status.
must dmsetup load t0 --table "0 $n lifezone $DEV"
must dmsetup resume t0
equal "$(table)" "" "table without options"
options=$(lz_status t0 | grep -o 'policy .*')
cat >"$W/options.py" <<'PY'
import re, sys
now = sys.argv[1].split()
text = open("Documentation/admin-guide/device-mapper/dm-lifezone.rst").read()
text = re.search(r"\nOptions\n===+\n(.*?)\n\n[^\n]+\n===", text, re.S)[1]
rows = re.findall(r"^(\w+) +(.*?)  +(\w+)  ", text, re.M)[1:]
rows = {k: (v, default) for k, v, default in rows}
assert {k: d for k, (_, d) in rows.items()} == dict(zip(now[::2], now[1::2])), (rows, now)
for i in 0, 1:
    words = []
    for k, (v, default) in rows.items():
        v = re.findall(r"\w+", v.replace(" to ", " "))
        v = [w for w in v if w != default]
        words += [k, v[i % len(v)] if default != "0" else str(int(v[0]) + 1 + i)]
    print(len(words), *words)
PY
python3 "$W/options.py" "$options" >"$W/lines" || fail "options as documented"
while read -r words; do
	must dmsetup load t0 --table "0 $n lifezone $DEV $words"
	must dmsetup resume t0
	equal "$(table)" "$words" "all options"
	equal "$(lz_status t0 | grep -o 'policy .*')" "${words#* }" "all options in the status"
	again=$(dmsetup table t0)
	must dmsetup load t0 --table "$again"
	must dmsetup resume t0
	equal "$(dmsetup table t0)" "$again" "all options, loaded again"
done <"$W/lines"
# Set by message while none was given; set back they are not in the line.
must dmsetup load t0 --table "0 $n lifezone $DEV"
must dmsetup resume t0
read -r _ words <"$W/lines"
want=''
while read -r key value; do
	[ "$(stat -c %a "$d/$key")" = 644 ] || continue
	must dmsetup message t0 0 set "$key" "$value"
	want+=" $key $value"
	equal "$(table)" "$(wc -w <<<"$want")$want" "table after set $key"
done < <(xargs -n2 <<<"$words")
equal "$(wc -w <<<"$want")" 14 "words of live options"
again=$(dmsetup table t0)
must dmsetup load t0 --table "$again"
must dmsetup resume t0
equal "$(dmsetup table t0)" "$again" "options set by message, loaded again"
must dmsetup load t0 --table "0 $n lifezone $DEV"
must dmsetup resume t0
equal "$(lz_status t0 | grep -o 'policy .*')" "$options" "defaults again"
while read -r key value; do
	[ "$(stat -c %a "$d/$key")" = 644 ] || continue
	was=$(lz_status t0 "$key")
	must dmsetup message t0 0 set "$key" "$value"
	must dmsetup message t0 0 set "$key" "$was"
	equal "$(table)" "" "table after $key was set back"
done < <(xargs -n2 <<<"$words")

note "one at a time"
refused 'in use by another mapped device' dmsetup create t1 --table "0 $n lifezone $DEV"
must dmsetup suspend t0
refused 'device is suspended' dmsetup message t0 0 commit
equal "$(cat "$d/policy")" "$(lz_status t0 policy)" "sysfs policy while suspended"
refused 'device is suspended' tee "$d/policy" <<<zenfs
must dmsetup create t1 --table "0 $n lifezone $DEV"
must lz_remove t1
refused 'another mapped device has used' dmsetup resume t0
must dmsetup load t0 --table "$line"
must dmsetup resume t0
must lz_remove t0

note "read-only"
before=$(blkzone report "$DEV" | md5sum)
must dmsetup create t0 --readonly --table "0 $n lifezone $DEV"
must dd if=/dev/mapper/t0 of=/dev/null bs=4k count=100 iflag=direct status=none
mustnt dd if=/dev/zero of=/dev/mapper/t0 bs=4k count=1 oflag=direct status=none 2>/dev/null
must dmsetup suspend t0
must dmsetup resume t0
must lz_remove t0
equal "$(blkzone report "$DEV" | md5sum)" "$before" "zones after a read-only table"
# Nor does one that is not of a drive that is.
must blockdev --setro "$DEV"
refused 'Drive is set read-only' dmsetup create t0 --table "0 $n lifezone $DEV"
must dmsetup create t0 --readonly --table "0 $n lifezone $DEV"
must lz_remove t0
must blockdev --setrw "$DEV"
equal "$(blkzone report "$DEV" | md5sum)" "$before" "zones of a drive set read-only"
lz_check "$DEV"
