#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a request with RWF_NOWAIT never keeps its submitter: it is done right, or EAGAIN at once and nothing done
# vm: VM_ZNS=none
# timeout: 180
. tests/vm/lib.sh

# nowait.py DEV STEP SECONDS: reads and writes of each STEPth block and up to
# three after it.  Prints what became of those with RWF_NOWAIT:
# read, read EAGAIN, written, write EAGAIN.
cat >"$W/nowait.py" <<'PY'
import ctypes, errno, mmap, os, random, resource, struct, sys, time
P, DEPTH, NOWAIT = 4096, 40, 8
dev, step, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
fd = os.open(dev, os.O_RDWR | os.O_DIRECT)
size = os.lseek(fd, 0, os.SEEK_END) // P
keys = range(0, size - 3, step)
area = mmap.mmap(-1, DEPTH * 4 * P)
base = ctypes.addressof(ctypes.c_char.from_buffer(area))
libc = ctypes.CDLL(None, use_errno=True)
call = libc.syscall
ctx = ctypes.c_ulong()
assert call(206, DEPTH, ctypes.byref(ctx)) == 0		# io_setup
events = ctypes.create_string_buffer(32 * DEPTH)
rnd = random.Random(2)
model, gen, busy, free = {}, 0, {}, list(range(DEPTH))
late = set()	# slots whose submitter went on: EAGAIN is no answer any more
counts = {(w, ok): 0 for w in (0, 1) for ok in (0, 1)}

def tag(b, g):
    return struct.pack("<QQ", b, g) * (P // 16) if g else bytes(P)

def submit(key, n, write, flags):
    global gen
    slot = free.pop()
    at = slot * 4 * P
    gens = {}
    for i in range(n):
        if write:
            gen += 1
            gens[key + i] = gen
            area[at + i * P:at + (i + 1) * P] = tag(key + i, gen)
        else:
            area[at + i * P:at + (i + 1) * P] = b"\xee" * P
    iocb = ctypes.create_string_buffer(struct.pack("<QIiHhIQQqQII", slot, 0, flags, write, 0, fd,
                                                   base + at, n * P, key * P, 0, 0, 0))
    busy[slot] = (key, n, write, flags, gens, iocb)
    one = ctypes.pointer(ctypes.cast(iocb, ctypes.c_void_p))
    slept = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    r = call(209, ctx, 1, one)		# io_submit
    slept = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - slept
    assert r == 1, ctypes.get_errno()
    assert not flags or not slept, "submitter slept: %s of %d blocks" % (("read", "write")[write], n)
    if flags:
        reap(0)
        if slot in busy:
            late.add(slot)

def reap(least):
    n = call(208, ctx, least, DEPTH, events, None)	# io_getevents
    assert n >= 0
    for i in range(n):
        slot, _, res, _ = struct.unpack_from("<QQqq", events, i * 32)
        key, n, write, flags, gens, _ = busy.pop(slot)
        free.append(slot)
        assert res == n * P or flags and res == -errno.EAGAIN and slot not in late, (key, n, write, flags, res)
        late.discard(slot)
        if flags:
            counts[write, res > 0] += 1
        if res > 0 and write:
            model.update(gens)
        for i in range(n if res > 0 and not write else 0):
            at = slot * 4 * P + i * P
            assert area[at:at + P] == tag(key + i, model.get(key + i, 0)), "block %d" % (key + i)

def run(key, n, write, flags):
    while not free or any(k < key + n and key < k + m for k, m, *_ in busy.values()):
        reap(1)
    submit(key, n, write, flags)

# Page faults would count as sleep: all in RAM, and khugepaged (PR_SET_THP_DISABLE) off.
assert libc.mlockall(3) == 0 and libc.prctl(41, 1, 0, 0, 0) == 0
for k in keys:		# so that there is something, and all leaves have been used
    run(k, 1, 1, 0)
for k in keys:
    run(k, 1, 0, 0)
end = time.monotonic() + seconds
while time.monotonic() < end:
    run(rnd.choice(keys), rnd.choice((1, 1, 1, 4)), rnd.randrange(2), rnd.choice((0, NOWAIT, NOWAIT, NOWAIT)))
while busy:
    reap(1)
for k in keys:
    run(k, 4 if step >= 4 else 1, 0, 0)
while busy:
    reap(1)
print(counts[0, 1], counts[0, 0], counts[1, 1], counts[1, 0])
PY

# nowait STEP [KEY VALUE...]: results in the variables
nowait() {
	local step=$1
	shift
	must lz_create n "$dev" "$@"
	must blkdiscard /dev/mapper/n
	# What is in the delta needs no leaf.
	touch "$W/going"
	while [ -e "$W/going" ]; do dmsetup message n 0 checkpoint; sleep 0.3; done &
	must python3 "$W/nowait.py" /dev/mapper/n "$step" 6 >"$W/counts"
	rm "$W/going"
	wait
	read -r reads reads_again writes writes_again <"$W/counts"
	note "$*: $reads read, $reads_again again, $writes written, $writes_again again"
	[ "$reads" -gt 100 ] || fail "$reads reads"
	[ "$writes" -gt 100 ] || fail "$writes writes"
	must lz_remove n
	lz_check "$dev"
}

slow="irqmode=2 completion_nsec=5000000"
# Two blocks of each leaf; 1 MiB holds a third of the leaves.  The drive takes
# all that is sent at a time.
# shellcheck disable=SC2086	# words are wanted
dev=$(make_nullb size=2048 zone_size=16 zone_capacity=12 hw_queue_depth=512 $slow) || fail "no null_blk"
must lz_format --quiet "$dev"
nowait 252 map_cache_mb 0
equal "$reads_again" 0 "reads turned away with the whole map in RAM"
equal "$writes_again" 0 "writes turned away with space left"
nowait 252 map_cache_mb 1
[ "$reads_again" -gt 100 ] || fail "$reads_again reads needed the map: nothing is shown"
nullb_remove "$dev"

# A drive that is busy, and so full that writes wait for GC.
# shellcheck disable=SC2086	# words are wanted
dev=$(make_nullb size=64 zone_size=2 zone_capacity=1 hw_queue_depth=8 $slow) || fail "no null_blk"
must lz_format --quiet "$dev"
nowait 1 map_cache_mb 0
[ "$reads_again" -gt 10 ] || fail "$reads_again reads found the drive busy: nothing is shown"
[ "$writes_again" -gt 10 ] || fail "$writes_again writes found no space: nothing is shown"
