# SPDX-License-Identifier: GPL-2.0-only
"""What has been written so far, in blocks of 4 KiB."""
import os


def counters(path, written):
    """PATH is the folder in sysfs of a lifezone device: blocks that users wrote, and that GC copied.
    Or the "stat" of another drive: blocks of a load that wrote so many bytes, and those the drive
    was given for them."""
    if os.path.isdir(path):
        names = "user_written_blocks", "gc_copied_blocks"
        return [int(open("%s/%s" % (path, n)).read()) for n in names]
    return written // 4096, int(open(path).read().split()[6]) // 8
