# SPDX-License-Identifier: GPL-2.0-only
"""RocksDB by its C interface: puts with a synced WAL, and whether all are there."""
import ctypes
import os
import struct
import threading
import time
import zlib

VALUE = struct.Struct("<QQI")  # key, version, crc of the rest
RECORD = struct.Struct("<QQ")  # key, version
FILL = os.urandom(1 << 16)

lib = ctypes.CDLL("librocksdb.so.9.10")
for f in "open options_create writeoptions_create readoptions_create create_iterator".split():
    getattr(lib, "rocksdb_" + f).restype = ctypes.c_void_p
for f in "iter_key iter_value".split():
    getattr(lib, "rocksdb_" + f).restype = ctypes.POINTER(ctypes.c_char)
lib.rocksdb_iter_valid.restype = ctypes.c_ubyte


class Database:
    def __init__(self, path):
        o = ctypes.c_void_p(lib.rocksdb_options_create())
        lib.rocksdb_options_set_create_if_missing(o, 1)
        lib.rocksdb_options_set_paranoid_checks(o, 1)
        lib.rocksdb_options_set_compression(o, 0)
        # Small, so that files are written, compacted and deleted all the time.
        lib.rocksdb_options_set_write_buffer_size(o, ctypes.c_size_t(256 << 10))
        lib.rocksdb_options_set_target_file_size_base(o, ctypes.c_uint64(512 << 10))
        lib.rocksdb_options_set_max_background_jobs(o, 2)
        self.synced = ctypes.c_void_p(lib.rocksdb_writeoptions_create())
        lib.rocksdb_writeoptions_set_sync(self.synced, 1)
        self.db = ctypes.c_void_p(self.call(lib.rocksdb_open, o, path.encode()))

    @staticmethod
    def call(f, *args):
        err = ctypes.c_char_p()
        r = f(*args, ctypes.byref(err))
        if err.value:
            raise OSError(err.value.decode(errors="replace"))
        return r

    def put(self, key, value):
        self.call(lib.rocksdb_put, self.db, self.synced, key, ctypes.c_size_t(len(key)),
                  value, ctypes.c_size_t(len(value)))

    def items(self):
        it = ctypes.c_void_p(lib.rocksdb_create_iterator(
            self.db, ctypes.c_void_p(lib.rocksdb_readoptions_create())))
        n = ctypes.c_size_t()
        lib.rocksdb_iter_seek_to_first(it)
        while lib.rocksdb_iter_valid(it):
            key = lib.rocksdb_iter_key(it, ctypes.byref(n))[: n.value]
            value = lib.rocksdb_iter_value(it, ctypes.byref(n))[: n.value]
            yield key, value
            lib.rocksdb_iter_next(it)
        err = ctypes.c_char_p()
        lib.rocksdb_iter_get_error(it, ctypes.byref(err))
        if err.value:
            raise OSError(err.value.decode(errors="replace"))
        lib.rocksdb_iter_destroy(it)

    def close(self):
        lib.rocksdb_close(self.db)


def write(path, log, keys, workers, rnd, pause):
    """Until it fails; a record for each put that was acknowledged, and a pause."""
    db = Database(path)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    base = time.time_ns()
    failed = []

    def work(w, rnd):
        n = 0
        try:
            while not failed:
                n += 1
                key = rnd.randrange(keys // workers) * workers + w
                at = rnd.randrange(1 << 15)
                body = FILL[at : at + rnd.randrange(2000)]
                db.put(struct.pack(">Q", key),
                       VALUE.pack(key, base + n, zlib.crc32(body)) + body)
                os.write(fd, RECORD.pack(key, base + n))
                time.sleep(rnd.random() * pause)
        except OSError as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(w, type(rnd)(rnd.random())))
               for w in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("ended by: %s" % failed[0], flush=True)


def check(path, acked):
    """Every key has the version last acknowledged or a later one: what is not so."""
    db = Database(path)
    wrong = []
    found = {}
    for key, value in db.items():
        k, version, crc = VALUE.unpack_from(value)
        if struct.pack(">Q", k) != key or zlib.crc32(value[VALUE.size :]) != crc:
            wrong.append("key %s: not its value" % key.hex())
        found[k] = version
    for k, version in acked.items():
        if found.get(k, 0) < version:
            wrong.append("key %d: version %s, acknowledged %d" % (k, found.get(k), version))
    db.close()
    return wrong
