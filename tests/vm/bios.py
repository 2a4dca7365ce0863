# SPDX-License-Identifier: GPL-2.0-only
"""The bios of all dm devices, as the kernel traces them, and what is said in between."""

ROOT = "/sys/kernel/tracing/"
LINES = 1500  # before and after a mark that are shown


def _put(name, value):
    with open(ROOT + name, "w") as f:
        f.write(str(value))


def _record(on):
    for event in ("queue", "complete"):
        _put("events/block/block_bio_%s/enable" % event, on)


def start():
    """Anew."""
    with open("/proc/devices") as f:
        major = next(int(line.split()[0]) for line in f if "device-mapper" in line)
    for event in ("queue", "complete"):
        _put("events/block/block_bio_%s/filter" % event, "dev >= %d" % (major << 20))
    _put("buffer_size_kb", 4096)
    _put("trace", "")
    _record(1)


def stop():
    _record(0)


def mark(text):
    _put("trace_marker", text)


def show(text):
    """What is around the first mark that says so."""
    with open(ROOT + "trace") as f:
        lines = f.readlines()
    at = next((i for i, line in enumerate(lines) if text in line), len(lines))
    print("".join(lines[max(0, at - LINES):at + LINES]), flush=True)
