#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# nowait.py DEV STEP REQUESTS SAVED AGAIN: reads and writes of each STEPth block and up to
# three after it, most with RWF_NOWAIT, which must not keep their submitter and
# must be done right, or answered with EAGAIN at once and nothing done.  Prints
# what became of those: read, read EAGAIN, written, write EAGAIN.  The file SAVED
# grows with each checkpoint; now and then one is waited for, however slow the machine.
# As long as there were fewer than AGAIN such answers to reads, or to writes, there are
# more requests, ten times as many at most.
#
# DEV must not lie on a driver that sleeps itself when it is given a request, as
# null_blk does with its contents in RAM.
import ctypes, errno, mmap, os, random, resource, struct, sys, time
P, DEPTH, NOWAIT = 4096, 40, 8
dev, step, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
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

def saved():
    # The second one from now on began later than now.
    goal = os.stat(sys.argv[4]).st_size + 2
    while os.stat(sys.argv[4]).st_size < goal:
        time.sleep(0.05)

# Page faults would count as sleep: all in RAM, and khugepaged (PR_SET_THP_DISABLE) off.
assert libc.mlockall(3) == 0 and libc.prctl(41, 1, 0, 0, 0) == 0
for k in keys:		# so that there is something, and all leaves have been used
    run(k, 1, 1, 0)
saved()
for k in keys:
    run(k, 1, 0, 0)
for i in range(10 * requests):
    if i >= requests and min(counts[0, 0], counts[1, 0]) >= int(sys.argv[5]):
        break
    if not i % 500:
        saved()
    run(rnd.choice(keys), rnd.choice((1, 1, 1, 4)), rnd.randrange(2), rnd.choice((0, NOWAIT, NOWAIT, NOWAIT)))
while busy:
    reap(1)
for k in keys:
    run(k, 4 if step >= 4 else 1, 0, 0)
while busy:
    reap(1)
print(counts[0, 1], counts[0, 0], counts[1, 1], counts[1, 0])
