# SPDX-License-Identifier: GPL-2.0-only
"""Device-mapper for tests that cannot wait for a dmsetup each time: by libdevmapper.

Device nodes are its own work, udev is left out of it.  What fails raises OSError.
"""
import ctypes
import os

CREATE, RELOAD, REMOVE, _, SUSPEND, RESUME = range(6)
STATUS, TABLE, MESSAGE = 10, 11, 17

os.environ["DM_DISABLE_UDEV"] = "1"
lib = ctypes.CDLL("libdevmapper.so.1.02.1")
lib.dm_task_create.restype = ctypes.c_void_p
lib.dm_get_next_target.restype = ctypes.c_void_p
lib.dm_task_get_message_response.restype = ctypes.c_char_p
# A function that says nothing: what fails is for the caller to report.
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int,
                       ctypes.c_char_p)
quiet = LOG(lambda *_: None)
lib.dm_log_with_errno_init(quiet)


def _do(kind, name, table=None, message=None, options=()):
    """What the task answers: the response to a message, or its target's parameters."""
    task = ctypes.c_void_p(lib.dm_task_create(kind))
    try:
        ok = lib.dm_task_set_name(task, name.encode())
        if table:
            start, size, target, params = table.split(" ", 3)
            ok &= lib.dm_task_add_target(task, ctypes.c_uint64(int(start)),
                                         ctypes.c_uint64(int(size)), target.encode(),
                                         params.encode())
        if message:
            ok &= lib.dm_task_set_sector(task, ctypes.c_uint64(0))
            ok &= lib.dm_task_set_message(task, message.encode())
        for o in options:
            ok &= getattr(lib, "dm_task_" + o)(task)
        if not ok or not lib.dm_task_run(task):
            err = lib.dm_task_get_errno(task)
            raise OSError(err, "%s (device-mapper task %d on %s)" % (os.strerror(err), kind, name))
        if message:
            return (lib.dm_task_get_message_response(task) or b"").decode()
        if kind in (STATUS, TABLE):
            start, size = ctypes.c_uint64(), ctypes.c_uint64()
            target, params = ctypes.c_char_p(), ctypes.c_char_p()
            lib.dm_get_next_target(task, None, ctypes.byref(start), ctypes.byref(size),
                                   ctypes.byref(target), ctypes.byref(params))
            return (params.value or b"").decode()
    finally:
        lib.dm_task_destroy(task)
        lib.dm_task_update_nodes()
    return None


def create(name, table):
    """With its table, and resumed."""
    _do(CREATE, name, table)


def load(name, table):
    _do(RELOAD, name, table)


AS_IT_IS = ("no_flush", "skip_lockfs")  # what is above is not asked to come to rest


def suspend(name, flush=True):
    _do(SUSPEND, name, options=() if flush else AS_IT_IS)


def resume(name, flush=True):
    """Resuming with a new table suspends first."""
    _do(RESUME, name, options=() if flush else AS_IT_IS)


def remove(name):
    _do(REMOVE, name, options=("retry_remove",))


def message(name, text):
    return _do(MESSAGE, name, message=text)


def status(name):
    return _do(STATUS, name)


def table(name):
    return _do(TABLE, name)
