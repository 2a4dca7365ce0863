#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: F2FS, ext4 and XFS are made, used, unmounted, checked clean, and whole after a reload
# vm: VM_ZNS=size=2G,zone=16M,cap=12M,open=14,active=14
# timeout: 420
. tests/vm/lib.sh

must lz_format --quiet "$DEV"
must lz_create fs "$DEV"
top=/dev/mapper/fs

# use FS: a tree of files with their sums, verified I/O, a database
use() {
	must mount -t "$1" $top "$MNT"
	must cp -a /usr/lib/python3/. /etc "$MNT"
	must dd if=/dev/urandom of="$MNT/random" bs=1M count=24 conv=fsync status=none
	must timeout 300 fio --name=v --directory="$MNT" --size=24M --rw=randwrite --bs=4k-64k \
		--ioengine=libaio --iodepth=8 --direct=1 --serialize_overlap=1 --fsync=64 \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 \
		--minimal >"$W/fio" 2>&1 ||
		fail "$1: fio: $(cat "$W/fio")"
	must timeout 300 db_bench --benchmarks=fillrandom,verifychecksum --num=20000 --value_size=400 \
		--db="$MNT/db" --compression_type=none >"$W/db" 2>&1 || fail "$1: $(cat "$W/db")"
	(cd "$MNT" && find . -type f ! -path './v.*' -exec md5sum {} + | sort -k2) >"$W/sums.$1"
	[ "$(wc -l <"$W/sums.$1")" -gt 5 ] || fail "$1: no files"
	must umount "$MNT"
}

# whole FS FSCK...: clean, and every file as it was
whole() {
	local fs=$1
	shift
	"$@" $top >"$W/fsck" 2>&1 || fail "$fs: $*: $(tail -20 "$W/fsck")"
	must mount -t "$fs" $top "$MNT"
	(cd "$MNT" && md5sum --quiet -c "$W/sums.$fs") || fail "$fs: files differ"
	must umount "$MNT"
}

for fs in f2fs ext4 xfs; do
	note "$fs"
	case $fs in
	f2fs)	must mkfs.f2fs -q -f $top; fsck=(fsck.f2fs) ;;
	ext4)	must mkfs.ext4 -q -F $top; fsck=(e2fsck -f -n) ;;
	xfs)	must mkfs.xfs -q -f $top; fsck=(xfs_repair -n) ;;
	esac
	use $fs
	whole $fs "${fsck[@]}"
	must lz_remove fs
	lz_check "$DEV"
	must lz_create fs "$DEV"
	whole $fs "${fsck[@]}"
done
must lz_remove fs
