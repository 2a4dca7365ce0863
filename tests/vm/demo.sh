#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# demo: the main job, in the guest (make demo): a ZNS drive becomes an ordinary
# block device, carries F2FS, files of four lifetimes and a RocksDB database,
# and shows what went where.

set -eu
set -o pipefail
DEV=${1:-/dev/nvme0n1}
NAME=demo
MNT=/tmp/demo
mkdir -p $MNT

step() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }
quiet() {
	printf '$ %s\n' "$*"
	"$@" >/tmp/demo.out 2>&1 || { cat /tmp/demo.out; exit 1; }
}
sys() { cat "$SYS/$1"; }
mib() { echo $(($1 / 256)); }

step "The drive: $(cat "/sys/block/${DEV##*/}/queue/nr_zones") zones, $(cat "/sys/block/${DEV##*/}/queue/max_open_zones") of them open at a time"
blkzone report -c 2 "$DEV"

step "An ordinary block device of it"
run lifezone format --force "$DEV"
run lifezone start "$DEV" $NAME
SYS=/sys/block/$(basename "$(readlink -f /dev/mapper/$NAME)")/lifezone

step "F2FS on it, which knows nothing of zones here"
quiet mkfs.f2fs -q /dev/mapper/$NAME
run mount -t f2fs /dev/mapper/$NAME $MNT

step "fio: files of four lifetimes, written twice"
for hint in short medium long extreme; do
	quiet fio --name=$hint --directory=$MNT --write_hint=$hint --rw=write --bs=128k \
		--size="${DEMO_FIO_MB:-96}m" --loops=2 --ioengine=psync --direct=1 --end_fsync=1
done
cat <<-'NOTE'

	F2FS passes on a temperature, not the hint of each file: short becomes hot
	(SHORT below) and extreme becomes cold (EXTREME); medium and long both
	become warm (not_set).  Its own nodes come as none, medium and long.
NOTE

step "RocksDB: fill, then overwrite"
db=(db_bench "--db=$MNT/db" "--wal_dir=$MNT/db" "--num=${DEMO_KEYS:-100000}" --value_size=800
	--key_size=16 --compression_type=none --use_direct_io_for_flush_and_compaction=true
	--use_direct_reads=true --write_buffer_size=8388608 --target_file_size_base=8388608
	--max_bytes_for_level_base=16777216 --max_background_jobs=2 --seed=1)
quiet "${db[@]}" --benchmarks=fillrandom,overwrite,waitforcompaction
grep -E '^(fillrandom|overwrite)' /tmp/demo.out
run sync

step "What went where"
printf '%-9s %12s %12s %7s %7s %7s\n' lifetime 'written MiB' 'copied MiB' zones opened reset
for c in not_set none short medium long extreme meta; do
	printf '%-9s %12d %12d %7d %7d %7d\n' $c "$(mib "$(sys $c/writes)")" \
		"$(mib "$(sys $c/copies)")" "$(sys $c/zones)" "$(sys $c/opens)" "$(sys $c/resets)"
done
cat <<-SUM

	written by users     $(mib "$(sys user_written_blocks)") MiB
	copied by GC         $(mib "$(sys gc_copied_blocks)") MiB
	metadata             $(mib "$(sys meta_written_blocks)") MiB
	write amplification  $(sys write_amplification)
	zones reset          $(sys resets_user) emptied by overwrite or discard, $(sys resets_gc) by GC, $(sys resets_meta) of metadata
	commits, checkpoints $(sys commits), $(sys checkpoints)
SUM

step "Away again, and checked"
run umount $MNT
quiet fsck.f2fs /dev/mapper/$NAME
run lifezone stop $NAME
run lifezone check "$DEV"
printf '\ndemo: all well\n'
