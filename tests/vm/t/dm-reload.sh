#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: data and counters survive suspend, reload and removal under load, with little memory for the map; sysfs answers all the while
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 300
. tests/vm/lib.sh

# io JOB-OPTION...: must end well
io() {
	timeout 200 fio --name=io --filename=/dev/mapper/r0 --direct=1 --iodepth=16 \
		--serialize_overlap=1 --verify=crc32c --verify_fatal=1 --minimal "$@" >"$W/fio" 2>&1 ||
		fail "fio $*: status $?: $(cat "$W/fio")"
}

must lz_format --quiet "$DEV"
must lz_create r0 "$DEV" map_cache_mb 1
line=$(dmsetup table r0)
cd "$W" || fail "no $W"

# sysfs.py FOLDER STOP: until STOP is there, all files answer, opened now or then; stores may be refused
cat >"$W/sysfs.py" <<'PY'
import errno, os, sys
top, stop = sys.argv[1:]
files = {f: open(f, "rb", 0) for d, _, names in os.walk(top) for f in [d + "/" + n for n in names]}
rounds = stored = refused = 0
while not os.path.exists(stop):
    for name, f in files.items():
        assert os.pread(f.fileno(), 4096, 0) and open(name).read(), name
        try:
            with open(top + "/commit_ms", "w") as f:
                f.write("500")
            stored += 1
        except OSError as e:
            assert e.errno == errno.EBUSY, e
            refused += 1
    rounds += 1
print("sysfs:", rounds, "rounds,", stored, "stores,", refused, "refused")
assert rounds and stored
PY

note "reload under load"
io --ioengine=libaio --rw=randrw --bs=16k --size=200M --time_based --runtime=10 \
	--verify_backlog=64 --fsync=40 &
io=$!
python3 "$W/sysfs.py" "$(lz_dir r0)" "$W/stop" &
for _ in 1 2 3; do
	sleep 0.5
	must timeout 60 dmsetup suspend r0
	must timeout 60 dmsetup resume r0
	must timeout 60 dmsetup suspend --noflush r0
	must timeout 60 dmsetup resume r0
	must timeout 60 dmsetup load r0 --table "$line"
	must timeout 60 dmsetup resume r0
done
touch "$W/stop"
wait $! || fail "sysfs during reload"
wait $io || fail "I/O during reload"

note "reads and writes in pieces, submitted without waiting"
io --ioengine=io_uring --rw=randwrite --bs=4k --size=48M --do_verify=1
io --ioengine=io_uring --rw=randwrite --bs=4k-512k --bsrange=4k-1m --offset=64M --size=96M --do_verify=1

note "counters go on"
must dmsetup message r0 0 checkpoint
writes=$(lz_status r0 user_writes)
mapped=$(lz_status r0 mapped_blocks)
[ "$writes" -gt 0 ] || fail "nothing counted"
must dmsetup load r0 --table "$line"
must dmsetup resume r0
equal "$(lz_status r0 user_writes)" "$writes" "user_writes after reload"
must lz_remove r0
lz_check "$DEV"
must lz_create r0 "$DEV" map_cache_mb 1
equal "$(lz_status r0 user_writes)" "$writes" "user_writes after a restart"
equal "$(lz_status r0 mapped_blocks)" "$mapped" "mapped_blocks after a restart"

note "discard and write-zeroes read as zeros"
must blkdiscard -o 1M -l 20M /dev/mapper/r0
must blkdiscard -z -o 30M -l 1M /dev/mapper/r0
must cmp -n 20M -i 1M:0 /dev/mapper/r0 /dev/zero
must cmp -n 1M -i 30M:0 /dev/mapper/r0 /dev/zero
must dmsetup message r0 0 commit
must lz_remove r0
lz_check "$DEV"
must lz_create r0 "$DEV" map_cache_mb 1
must cmp -n 20M -i 1M:0 /dev/mapper/r0 /dev/zero
must lz_remove r0
