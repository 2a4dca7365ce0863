#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: each of the six write hints is a class of its own, on the raw target and through XFS
# vm: VM_ZNS=size=2G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

classes=(not_set none short medium long extreme)
# count CLASS: blocks written with it so far
count() { lz_sysfs h "$1/writes"; }

must lz_format --quiet "$DEV"
must lz_create h "$DEV"
note "raw target"
for i in 0 1 2 3 4 5; do
	node=$(node_with_hint /dev/mapper/h $i) || fail "no node for hint $i"
	before=$(for c in "${classes[@]}"; do count "$c"; done)
	must dd if=/dev/zero of="$node" bs=128k count=$((i + 2)) seek=$((i * 16)) oflag=direct status=none
	n=0
	for was in $before; do
		equal $(($(count "${classes[n]}") - was)) $((n == i ? (i + 2) * 32 : 0)) \
			"hint $i: blocks of class ${classes[n]}"
		n=$((n + 1))
	done
done

note "XFS"
must mkfs.xfs -q -f /dev/mapper/h
must mount /dev/mapper/h "$MNT"
for i in 2 3 4 5; do
	was=$(count "${classes[i]}")
	must python3 - "$MNT/f$i" $i <<'PY'
import fcntl, mmap, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT)
fcntl.fcntl(fd, 1036, struct.pack("Q", int(sys.argv[2])))  # F_SET_RW_HINT
m = mmap.mmap(-1, 1 << 20)
for i in range(4):
    assert os.pwrite(fd, m, i << 20) == 1 << 20
os.fsync(fd)
PY
	equal $(($(count "${classes[i]}") - was)) 1024 "XFS, hint $i: blocks of class ${classes[i]}"
done
must umount "$MNT"
must lz_remove h
lz_check "$DEV"
