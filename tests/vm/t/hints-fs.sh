#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: through F2FS each file's hint arrives as the class of its temperature, and every block of a file system is counted in the class its request says
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 240
. tests/vm/lib.sh

classes=(not_set none short medium long extreme meta)
top=/dev/mapper/h

counts() { lz_sysfs h "${classes[@]/%//writes}"; }
# grown: by how much, class by class, since the last call of "counts >$W/was"
grown() { paste -d' ' "$W/was" <(counts) | awk '{ printf "%s%d", s, $2 - $1; s = " " }'; }

# record on|off: writes that reach the target, by the block layer's account
record() {
	if [ "$1" = on ]; then
		trace_begin block/block_bio_queue "dev == $(((maj << 20) | min))"
	else
		trace_end block/block_bio_queue
		# "MAJ,MIN RWBS SECTOR + SECTORS [COMM]"; flushes have no sectors
		awk '/block_bio_queue:/ {
			sub(/.*block_bio_queue: /, "")
			if ($2 !~ /W/ || $2 ~ /Z/) next	# nor zeroes
			n[$2 ~ /M/ ? 1 : 0] += $5 / 8
		} END { print n[0] + 0, n[1] + 0 }' $trace/trace >"$W/traced"
	fi
}

must lz_format --quiet "$DEV"
must lz_create h "$DEV" >/dev/null
maj=$((16#$(stat -Lc %t $top))) min=$((16#$(stat -Lc %T $top)))

# file NAME HINT MIB: written past the page cache
file() {
	python3 - "$MNT/$1" "$2" "$3" <<'PY' || fail "file $1"
import fcntl, mmap, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT)
if int(sys.argv[2]):
    fcntl.fcntl(fd, 1036, struct.pack("Q", int(sys.argv[2])))  # F_SET_RW_HINT
m = mmap.mmap(-1, 1 << 20)
for i in range(int(sys.argv[3])):
    assert os.pwrite(fd, m, i << 20) == 1 << 20
PY
}

note "F2FS"
must mkfs.f2fs -q -f $top
# What F2FS's own GC moves is cold: on a slow kernel it begins meanwhile.
must mount -t f2fs -o background_gc=off $top "$MNT"
# Their directory is hot, too, and written back when its time has come.
must touch "$MNT"/f{0..5}
must sync
# What F2FS knows: SHORT is hot, EXTREME is cold, everything else is warm.
for hint in 0 1 2 3 4 5; do
	case $hint in 2) class=2 ;; 5) class=5 ;; *) class=0 ;; esac
	counts >"$W/was"
	file "f$hint" $hint 3
	read -ra got <<<"$(grown)"
	for c in 0 2 5; do
		equal "${got[c]}" $((c == class ? 768 : 0)) "F2FS, hint $hint: blocks of class ${classes[c]}"
	done
done
must umount "$MNT"

# sums FS: a load; each block that went down as metadata is in class "meta", no other
sums() {
	local got data meta
	counts >"$W/was"
	record on
	must mount -t "$1" $top "$MNT"
	must cp -a /usr/lib/python3/. "$MNT"
	(cd "$MNT" && for i in $(seq 200); do mkdir "d$i" && echo "$i" >"d$i/f" && ln "d$i/f" "l$i"; done) || fail "$1: files"
	file direct 0 4
	sync
	must rm -r "$MNT"/d1*
	must umount "$MNT"
	record off
	read -r data meta <"$W/traced"
	read -ra got <<<"$(grown)"
	note "$1: $data blocks of data, $meta of metadata; classes ${got[*]}"
	[ "$meta" -gt 20 ] || fail "$1: $meta blocks of metadata"
	[ "$data" -gt 1024 ] || fail "$1: $data blocks of data"
	equal "${got[6]}" "$meta" "$1: blocks of class meta"
	equal $((got[0] + got[1] + got[2] + got[3] + got[4] + got[5])) "$data" "$1: blocks of the other classes"
}
for fs in f2fs ext4 xfs; do
	note $fs
	case $fs in
	f2fs)	must mkfs.f2fs -q -f $top ;;
	ext4)	must mkfs.ext4 -q -F $top ;;
	xfs)	must mkfs.xfs -q -f $top ;;
	esac
	sums $fs
done
must lz_remove h
lz_check "$DEV"
