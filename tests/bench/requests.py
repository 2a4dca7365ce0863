#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# requests.py <TRACE >CSV: what the event "requests" (lib.sh) recorded of the bios that a device
# was sent, for "lifezone sim --load trace:CSV": writes with their hints, and discards.
import re, sys

OPS = {1: "write", 3: "discard", 9: "discard", 13: "write"}	# enum req_op
LINE = re.compile(r" ([0-9.]+): requests: .* op=0x(\w+) at=(\d+) n=(\d+) hint=(\d+)")

print("time,op,offset,length,hint")
for line in sys.stdin:
    m = LINE.search(line)
    op = m and OPS.get(int(m[2], 16) & 0xff)
    if op and int(m[4]):
        print(m[1], op, int(m[3]) * 512, m[4], m[5], sep=",")
