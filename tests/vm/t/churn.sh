#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: 200 times created, used, reloaded and removed, a device leaves nothing in memory, and the module goes
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 400
. tests/vm/lib.sh

# The emulated drive: what null_blk holds would look like a leak.
must lz_format --quiet "$DEV"
table="0 $(lz_sectors "$DEV") lifezone $DEV"

# cycle I: one of several ways through a device's life
cycle() {
	local top=/dev/mapper/c
	case $(($1 % 5)) in
	0)	# never made live
		must dmsetup create c --notable
		must dmsetup load c --table "$table 2 policy sla"
		must dmsetup remove --retry c
		return ;;
	1)	mustnt dmsetup create c --table "$table 2 policy none" 2>/dev/null
		mustnt dmsetup create c --table "0 8 lifezone $DEV" 2>/dev/null
		must dmsetup create c --readonly --table "$table" ;;
	*)	must dmsetup create c --table "$table 2 map_cache_mb $(($1 % 2))" ;;
	esac
	must test -b $top
	case $(($1 % 5)) in
	2)	must dd if=/dev/zero of=$top bs=64k count=32 seek=$(($1 * 7)) oflag=direct conv=fsync status=none
		must dd if=$top of=/dev/null bs=64k count=64 iflag=direct status=none ;;
	3)	must dmsetup load c --table "$table"
		must dmsetup resume c
		must dd if=/dev/zero of=$top bs=4k count=8 seek=$(($1 * 3)) oflag=direct status=none
		must dmsetup load c --table "$table 2 policy zenfs"
		must dmsetup resume c ;;
	4)	must blkdiscard -o 1M -l 8M $top
		must dmsetup suspend c
		must dmsetup resume c ;;
	esac
	must lz_remove c
}
cycles() { for i in $(seq "$1" "$2"); do cycle "$i"; done; }

# What a device has that can be told exactly: "arrays threads references nodes"
ours() {
	local a t n
	a=$(grep -c '\[dm_lifezone\]' /proc/vmallocinfo)
	t=$(pgrep -c '^kworker/R-life')
	n=$(find /sys/block /sys/devices/virtual/bdi -maxdepth 1 | wc -l)
	echo "$a $t $(cat /sys/module/dm_lifezone/refcnt) $n"
}
# The rest, "NAME VALUE" a line: objects in use, and all memory in KiB.
cat >"$W/measure.py" <<'PY'
import glob, re, time
# Each such write takes an object of kmalloc-8 for its text, and a processor a slab for that: last.
shrink = [open(f, "w") for f in sorted(glob.glob("/sys/kernel/slab/*/shrink"),
                                       key=lambda f: "/kmalloc-8/" in f)]
read = lambda f: open("/proc/" + f).read()
least = {}
# A slab that a processor has taken for itself counts as in use whole: 512 objects of kmalloc-8.
# What is lost is there each time.
for _ in range(20):
    for f in shrink:
        f.write("1")
        f.flush()
    now = {n: int(v) for n, v in re.findall(r"^(kmalloc-\d+\w?|bio-\S+|biovec-\S+|dm_\S+) +(\d+)",
                                            read("slabinfo"), re.M)}
    # Free, or kept free by a processor for itself.
    kept = map(int, re.findall(r"^ +count: +(\d+)", read("zoneinfo"), re.M))
    now["memory"] = -int(re.search(r"MemFree: +(\d+)", read("meminfo"))[1]) - 4 * sum(kept)
    for n, v in now.items():
        least[n] = min(v, least.get(n, v))
    time.sleep(0.05)
assert len(least) > 10, least
for n, v in least.items():
    print(n, v)
PY
measure() {
	local i
	udevadm settle
	for i in 1 2; do
		sync
		echo 3 >/proc/sys/vm/drop_caches
		sleep 1.5
	done
	must python3 "$W/measure.py"
}

# The first ones fill caches.
without_udev cycles 1 20
measure >"$W/before"
before=$(ours)
note "$before"
must dmsetup create c --table "$table"
wait_for 10 test -b /dev/mapper/c || fail "no device"
read -r a t r n <<<"$(ours)"
[[ $a -gt 3 && $t = 3 && $r = 1 && $n -gt ${before##* } ]] ||
	fail "a live device is not seen: $a arrays, $t threads, $r references, $n nodes"
must lz_remove c
without_udev cycles 21 200
measure >"$W/after"
equal "$(ours)" "$before" "arrays, threads, references, nodes"
equal "${before% *}" "0 0 0" "arrays, threads, references"
# One object lost in one of the five ways would be 36, 16 KiB in each 2880.
join <(sort "$W/before") <(sort "$W/after") | awk '{ print $1, $3 - $2 }' >"$W/grown"
note "$(sort -k2 -n -r "$W/grown" | head -4 | paste -s -d' ')"
lost=$(awk '$2 > ($1 == "memory" ? 2880 : 30)' "$W/grown" | paste -s -d' ')
[ -z "$lost" ] || fail "grown by: $lost"
lz_check "$DEV"

must rmmod dm_lifezone
must insmod "$LZ_BUILD/module-$(uname -r)/dm-lifezone/dm-lifezone.ko"
must dmsetup create c --table "$table"
must lz_remove c
