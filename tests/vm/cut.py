#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Power cuts under a file system, again and again, and nothing acknowledged is lost.

cut.py LOAD FS DRIVE MOUNTPOINT
	LOAD: files (acked.py) or rocksdb; FS: ext4, xfs, f2fs, btrfs

Stack: drive, lz-cut (tests/kernel/cut.c), lifezone, file system.  A round: the load
runs, in some with suspends and table reloads; at some moment the power goes, and with
it what the drive had not been asked to keep; everything is taken down; the drive is back.
Then "lifezone check" is clean, the file system mounts and its own fsck is content, and
all that was acknowledged is there.

LZ_TEST_CUTS: rounds.  LZ_TEST_FRESH: after so many of them all is made anew, from format
on.  LZ_TEST_SEED: what is drawn, the cuts included, is drawn again.
"""
import ctypes
import math
import mmap
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from types import SimpleNamespace

import acked
import bios
import dm

CUTS = int(os.environ.get("LZ_TEST_CUTS") or 40)
FRESH = int(os.environ.get("LZ_TEST_FRESH") or 20)
SEED = int(os.environ.get("LZ_TEST_SEED") or random.SystemRandom().randrange(10**9))
TOP = "/dev/mapper/l"
W = "/tmp/lz"
COLD = 0.75  # of what is free at first; GC has to move it about
COLD_CHUNK = random.Random(SEED).randbytes((1 << 20) - 8)
WORKERS = 6  # of files
NOISE = 256 << 10  # bytes, longest write
CALM = 0.5  # seconds at most between syncs
HUNG = int(os.environ.get("LZ_TEST_HUNG") or 60)  # seconds

MKFS = {
    "ext4": "mkfs.ext4 -q -F",
    "xfs": "mkfs.xfs -q -f --unsupported -l size=16m",
    "f2fs": "mkfs.f2fs -q -f",
    "btrfs": "mkfs.btrfs -q -f",
}
FSCK = {
    "ext4": "e2fsck -f -n",
    "xfs": "xfs_repair -n",
    "f2fs": "fsck.f2fs",
    "btrfs": "btrfs check --readonly",
}

libc = ctypes.CDLL(None, use_errno=True)
t0 = time.monotonic()


def say(text):
    print("[%.2f] %s" % (time.monotonic() - t0, text), flush=True)


def fail(text):
    print("FAIL: " + text, flush=True)
    os._exit(1)


def hangs(what):
    """Who waits for what goes to the kernel log, and from there to where it is read."""
    with open("/proc/sysrq-trigger", "w") as f:
        f.write("w")
    time.sleep(1)
    subprocess.run(["dmesg"], check=False)
    fail(what + " hangs")


def run(command):
    r = subprocess.run(command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=False)
    if r.returncode:
        fail("status %d: %s: %s" % (r.returncode, command,
                                    r.stdout.decode(errors="replace")[-1500:]))
    return r.stdout.decode()


def mount(fs, where):
    if libc.mount(TOP.encode(), where.encode(), fs.encode(), 0, None):
        fail("mount: %s" % os.strerror(ctypes.get_errno()))
    if fs == "xfs":
        # By itself it tries for ever, and whoever suspends the device waits for that.
        with open("/sys/fs/xfs/dm-%d/error/metadata/EIO/max_retries"
                  % os.minor(os.stat(TOP).st_rdev), "w") as f:
            f.write("0")


def umount(where):
    for _ in range(50):
        if not libc.umount2(where.encode(), 0):
            return
        time.sleep(0.1)
    fail("umount: %s" % os.strerror(ctypes.get_errno()))


def child(function, *args):
    """Forks one that runs it; what it prints goes to W/load, its result is its status."""
    pid = os.fork()
    if pid:
        return pid
    status = 2
    try:
        fd = os.open(W + "/load", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        status = function(*args) or 0
    except Exception as e:  # pylint: disable=broad-except
        print("%s: %s" % (type(e).__name__, e))
    finally:
        sys.stdout.flush()
        os._exit(status)


def printed():
    with open(W + "/load") as f:
        return f.read()[-20000:]


def status_of(pid, what):
    end = time.monotonic() + HUNG
    while time.monotonic() < end:
        got, status = os.waitpid(pid, os.WNOHANG)
        if got:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return hangs(what)


class Log:
    """What was acknowledged, of all rounds."""

    def __init__(self, path):
        self.path = path
        self.all = {}
        self.late = []
        self.count = 0

    def size(self):
        return os.stat(self.path).st_size

    def wait(self, size):
        """Until it is longer than that."""
        end = time.monotonic() + HUNG
        while not os.path.exists(self.path) or self.size() <= size:
            if time.monotonic() > end:
                hangs("the first sync" if not size else "the next sync")
            time.sleep(0.001)

    def gather(self, cut, end, workers, last):
        """Reads what a load of so many workers left up to @end, with or without the last sync of
        each; what is after @cut was late. The file begins anew, with what is known."""
        with open(self.path, "rb") as f:
            data = f.read(end // acked.RECORD.size * acked.RECORD.size)
        new = list(acked.RECORD.iter_unpack(data))
        self.late = [block for block, _ in new[cut // acked.RECORD.size:]]
        new = new[len(self.all):]
        latest = {block % workers: version for block, version in new}
        new = [r for r in new if last or r[1] != latest[r[0] % workers]]
        self.count += len(new)
        self.all.update(new)
        with open(self.path, "wb") as f:
            f.write(b"".join(acked.RECORD.pack(*r) for r in self.all.items()))


class Files:
    """Buffered writes in files, each followed by an fsync; one worker never syncs."""

    def __init__(self, where, log):
        self.a = SimpleNamespace(target=where, log=log.path, seconds=600, workers=WORKERS,
                                 blocks=1536, seed=0, pause=0, rounds=math.inf,
                                 mark=bios.mark)

    def write(self, rnd, calm):
        self.a.seed = rnd.randrange(1 << 30)
        self.a.pause = CALM if calm else rnd.choice((0, 0.05))
        self.a.only = rnd.randrange(1, self.a.workers) if calm else None
        acked.write(self.a)

    def check(self):
        return acked.check(self.a)

    @staticmethod
    def workers(_):
        return WORKERS


class Rocksdb:
    def __init__(self, where, log):
        self.path = where + "/db"
        self.log = log

    def write(self, rnd, calm):
        import rocks

        rocks.write(self.path, self.log.path, 4000, self.workers(calm), rnd, CALM if calm else 0)

    def check(self):
        import rocks

        wrong = rocks.check(self.path, self.log.all)
        print("\n".join(wrong[:5]))
        print("%d keys acknowledged, %d lost" % (len(self.log.all), len(wrong)))
        return 1 if wrong else 0

    @staticmethod
    def workers(calm):
        return 1 if calm else 4


class Stack:
    def __init__(self, drive):
        with open("/sys/block/%s/size" % os.path.basename(drive)) as f:
            self.sectors = int(f.read())
        self.drive = drive
        self.power(random.Random(SEED))
        run("lifezone format --quiet --force /dev/mapper/cut")
        self.table = run("lifezone table /dev/mapper/cut").strip()
        dm.create("l", self.table)

    def power(self, rnd):
        """The drive: with so much memory, passing down a piece so often, and so slow."""
        dm.create("cut", "0 %d lz-cut %s %d %d %d %d" % (
            self.sectors, self.drive, rnd.randrange(1 << 32), 64 << rnd.randrange(6),
            1 << rnd.randrange(10), rnd.choice((0, 100, 1000))))

    def up(self, rnd):
        self.power(rnd)
        run("lifezone check /dev/mapper/cut")
        dm.create("l", self.table)

    def down(self):
        dm.remove("l")
        dm.remove("cut")

    def disturb(self, rnd, over, reloads):
        """Suspends and reloads, until the power is gone; from then on they may fail."""
        while not over.is_set():
            try:
                how = rnd.randrange(4)
                if how < 2:
                    dm.suspend("l", flush=how == 0)
                else:
                    words = rnd.choice(("", " 2 policy sla", " 2 map_cache_mb 1",
                                        " 4 victim greedy reset eager"))
                    dm.load("l", self.table + words)
                time.sleep(rnd.random() * 0.05)
                dm.resume("l")
                reloads.value += 1
                time.sleep(rnd.random() * 0.1)
            except OSError as e:
                over.wait(5)
                if not over.is_set():
                    fail("suspend or reload, with power on: %s" % e)

    def cut(self, rnd, log, calm, pid):
        """At some moment under load @pid: what the drive lost, and how many commands took
        effect in part; and the size of the log just before, and, or None, as the device
        ceased to be a lifezone. When all is calm: soon after a sync."""
        gone = None
        over = multiprocessing.Event()
        reloads = multiprocessing.Value("i", 0)
        # A process, not a thread: libdevmapper has lists that all its users share.
        other = multiprocessing.Process(target=self.disturb,
                                        args=(random.Random(rnd.random()), over, reloads))
        if rnd.randrange(4) == 0:
            other.start()
        elif rnd.randrange(2):
            dm.message("l", "gc %d" % rnd.randrange(1, 9))
        time.sleep(0.1 + rnd.random() * rnd.random() * 1.5)
        if calm:
            log.wait(log.size())
        before = log.size()
        if os.waitpid(pid, os.WNOHANG)[0]:
            fail("the load ended with power on: " + printed())
        bios.mark("cut: now")
        said = dm.message("cut", "cut %d" % rnd.randrange(1 << 32))
        bios.mark("cut: over")
        over.set()
        if other.pid:
            other.join(HUNG)
            if other.is_alive():
                hangs("suspend or reload")
            if other.exitcode:
                fail("suspend or reload: status %d" % other.exitcode)
            said += "; %d suspends and reloads" % reloads.value
            # Where one failed everybody waits. What is no more has nothing to say.
            gone = log.size()
            dm.load("l", "0 %s error " % self.table.split()[1])
            dm.resume("l", flush=False)
        if not dm.status("cut").startswith("cut held 0 refused 0"):
            fail("the drive: " + dm.status("cut"))
        return said, before, gone


def noise(where, rnd):
    """Writes that nobody asks to be kept: what they hold is lost, and never missed."""
    fd = os.open(where + "/noise", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    buf = mmap.mmap(-1, NOISE)
    try:
        while True:
            n = rnd.randrange(1, NOISE // 4096 + 1) * 4096
            os.pwritev(fd, [memoryview(buf)[:n]], rnd.randrange(16) * NOISE)
            time.sleep(rnd.random() * 0.01)
    except OSError:
        pass


def work(load, where, rnd, calm):
    if not calm:
        threading.Thread(target=noise, args=(where, random.Random(rnd.random())),
                         daemon=True).start()
    return load.write(rnd, calm)


def cold(n):
    return n.to_bytes(8, "little") + COLD_CHUNK


def fill(where):
    v = os.statvfs(where)
    with open(where + "/cold", "wb") as f:
        for n in range(int(v.f_bavail * v.f_frsize * COLD) >> 20):
            f.write(cold(n))
        os.fsync(f.fileno())


def check_filled(where):
    n = 0
    with open(where + "/cold", "rb") as f:
        while True:
            chunk = f.read(1 << 20)
            if not chunk:
                break
            if chunk != cold(n):
                fail("cold data, MiB %d, is not what was written" % n)
            n += 1
    return n


def use(load_name, fs, drive, where, cuts):
    """A device and a file system from their making, through these cuts, to an orderly end;
    how much was acknowledged, and how much the drive lost."""
    stack = Stack(drive)
    run(MKFS[fs] + " " + TOP)
    mount(fs, where)
    fill(where)
    filled = check_filled(where)
    log = Log(W + "/acked")
    load = {"files": Files, "rocksdb": Rocksdb}[load_name](where, log)
    lost = 0
    for i in cuts:
        rnd = random.Random(SEED * 1000 + i)
        # The last sync is over, nothing else is written, and no later one makes up for it.
        calm = rnd.randrange(3) == 0 or "LZ_TEST_CALM" in os.environ
        bios.start()
        pid = child(work, load, where, rnd, calm)
        log.wait(len(log.all) * acked.RECORD.size)
        said, end, gone = stack.cut(rnd, log, calm, pid)
        status_of(pid, "the load")
        bios.stop()
        # dm's "error" target has no flushes: they succeed, and with them an fsync whose data
        # lifezone had taken.
        whole = log.size() if gone is None else gone
        if whole < log.size():
            said += "; some acknowledged by the table of errors"
        umount(where)
        stack.down()
        before = log.count
        # Once F2FS has met an error, an fsync that needs a checkpoint is a success without
        # one (f2fs_sync_fs()). And after each checkpoint the first fsync that needs none
        # sends its flush before its node is written (f2fs_wait_on_node_pages_writeback()
        # does not wait for number 0); the next one makes up for it. And btrfs, once it has
        # met an error, takes a transaction for committed that was aborted while an fsync
        # waited for it: start_transaction() answers -ENOENT, and cleanup_transaction() has
        # taken it off the list before btrfs_wait_for_commit() looks. What the others
        # acknowledge must be true always.
        log.gather(end, end if fs in ("f2fs", "btrfs") else whole, load.workers(calm),
                   last=fs != "f2fs")
        say("cut %d: %s; %d acknowledged" % (i, said, log.count - before))
        lost += int(said.split(", lost ")[1].split()[0]) if ", lost " in said else 0
        stack.up(rnd)
        mount(fs, where)
        if log.all and status_of(child(load.check), "the check"):
            bios.show("cut: now")
            fail("lost: %sacknowledged once power was off: %s" % (printed(), log.late))
        if "several versions" in printed():
            say(printed().splitlines()[0])
        umount(where)
        run(FSCK[fs] + " " + TOP)
        mount(fs, where)
    if check_filled(where) != filled:
        fail("the file of cold data is shorter")
    umount(where)
    say(dm.status("l"))
    stack.down()
    os.unlink(log.path)
    return log.count, lost


def main():
    say("CUTS=%d LZ_TEST_FRESH=%d LZ_TEST_SEED=%d" % (CUTS, FRESH, SEED))
    acknowledged = lost = 0
    for first in range(1, CUTS + 1, FRESH):
        a, b = use(*sys.argv[1:], range(first, min(first + FRESH, CUTS + 1)))
        acknowledged += a
        lost += b
    if not acknowledged:
        fail("nothing was acknowledged")
    say("%d cuts, %d acknowledged, %d blocks lost on the way" % (CUTS, acknowledged, lost))


try:
    main()
except OSError as e:
    traceback.print_exc()
    fail(str(e))
