#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: repair on a drive: zones of data and of the log that somebody reset are found, told and rebuilt, and all else reads as before
# vm: VM_ZNS=size=256M,zone=4M,cap=3M,open=14,active=14
# timeout: 240
. tests/vm/lib.sh

sectors=8192
top=/dev/mapper/r0
# zones STATE: their numbers
zones() { lifezone dump "$DEV" zones --json | jq -r ".[] | select(.state == \"$1\") | .zone"; }
reset_zone() { must blkzone reset -o $(($1 * sectors)) -c 1 "$DEV"; }
# status WANT ARGUMENT...: of the tool, its words in $W/out
status() {
	local want=$1 st
	shift
	lifezone "$@" "$DEV" >"$W/out" 2>"$W/err"
	st=$?
	[ $st = "$want" ] || fail "lifezone $*: status $st, want $want: $(cat "$W/out" "$W/err")"
}
contents() { dd if=$top of="$1" bs=1M iflag=direct status=none; }

# Files above, and a copy of all that is below them.
must lz_format --quiet --force "$DEV"
must lz_create r0 "$DEV"
must mkfs.ext4 -q -F -E nodiscard $top 32M
must mount $top "$MNT"
for i in 1 2 3 4 5 6; do must dd if=/dev/urandom of="$MNT/f$i" bs=1M count=2 status=none; done
sums=$(cd "$MNT" && md5sum f*)
must umount "$MNT"
# Data that is in zones of its own, and of which some will be gone.
must dd if=/dev/urandom of=$top bs=1M seek=40 count=12 oflag=direct conv=fsync status=none
must dmsetup message r0 0 checkpoint
# Again, so that older metadata is left.
must dd if=/dev/urandom of=$top bs=1M seek=60 count=2 oflag=direct conv=fsync status=none
blocks=$(($(blockdev --getsize64 $top) / 4096))
must lz_remove r0
lz_check "$DEV"

# asked: on a terminal it asks, and no is no
asked() {
	timeout 60 python3 - lifezone repair "$DEV" <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
try:
    while more := os.read(fd, 4096):
        said += more
        if said.endswith(b"[y/N] "):
            os.write(fd, b"n\n")
except OSError:
    pass
assert b"Write this to" in said, said
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 4, said
PY
}

# repaired WHAT: found by check, nothing written before it is asked for, then rebuilt; what is
# lost is zeros, and all other blocks are what they were
repaired() {
	local before st
	lz_create r0 "$DEV" >/dev/null 2>&1 && fail "$1: the device is not refused"
	lifezone check "$DEV" >"$W/out" 2>&1
	st=$?
	[[ $st = 4 || $st = 8 ]] || fail "$1: check ended with $st: $(cat "$W/out")"
	note "$1: $(grep -v '^$' "$W/out" | head -1)"
	before=$(drive_sum "$DEV")
	status 4 repair --dry-run --json
	cp "$W/out" "$W/plan"
	status 4 repair </dev/null
	grep -q "not a terminal to ask on" "$W/err" || fail "$1: asked? $(cat "$W/err")"
	must asked
	equal "$(drive_sum "$DEV")" "$before" "$1: the drive before it was to be written"
	status 1 repair --yes --json
	equal "$(jq -S 'del(.repaired)' "$W/out")" "$(jq -S 'del(.repaired)' "$W/plan")" "$1: done, and said before"
	equal "$(jq .repaired "$W/out")" true "$1: repaired"
	lz_check "$DEV"
	must lz_create r0 "$DEV"
	contents "$W/new"
	must lz_remove r0
	python3 - "$W/old" "$W/new" "$W/plan" "$blocks" <<'PY' || fail "$1: the contents"
import json, sys
old, new = (open(name, "rb") for name in sys.argv[1:3])
plan = json.load(open(sys.argv[3]))
def lbas(key):
    return {i for run in plan[key] for i in range(run["lba"], run["lba"] + run["len"])}
lost, aged, same = lbas("lost"), lbas("aged"), 0
assert len(lost) == plan["lost_blocks"]
for lba in range(int(sys.argv[4])):
    a, b = old.read(4096), new.read(4096)
    if lba in lost:
        assert b == bytes(4096), f"block {lba} is lost and not zeros"
    elif lba in aged:
        assert b == a or b == bytes(4096), f"block {lba} is another"
    else:
        assert a == b, f"block {lba} has changed"
        same += a != bytes(4096)
print(f"{same} blocks as before, {len(lost)} lost, {len(aged)} of uncertain age")
PY
}
# sound: start, to be damaged next
sound() {
	must lz_create r0 "$DEV"
	contents "$W/old"
	must lz_remove r0
	lz_check "$DEV"
}

note "a data zone"
sound
# Not one with files: what lies beyond the file system was written last.
zone=$(zones full | tail -1)
lifezone dump "$DEV" zones >"$W/zones"
reset_zone "$zone"
repaired "data zone $zone"
jq -e '.lost_blocks > 0 and ([.lost[].lba] | min) >= 10240' "$W/plan" >/dev/null ||
	fail "what is lost: $(cat "$W/plan" "$W/zones")"

note "the files"
must lz_create r0 "$DEV"
must mount $top "$MNT"
equal "$(cd "$MNT" && md5sum f*)" "$sums" "the files"
must umount "$MNT"
must e2fsck -f -n $top >"$W/out" 2>&1
must lz_remove r0

note "zones of the log"
# That of the journal first: without that of the nodes all is lost, as there is but one.
nodes=$(lifezone dump "$DEV" root --json | jq -r .node_zone)
for zone in $(zones meta | grep -v -x "$nodes") $nodes; do
	sound
	[[ " $(zones meta | tr '\n' ' ') " = *" $zone "* ]] || continue
	reset_zone "$zone"
	# It may have held nothing that is needed any more.
	if lifezone check "$DEV" >/dev/null 2>&1; then continue; fi
	repaired "zone $zone of the log"
	log=$((${log:-0} + 1))
done
[ "${log:-0}" -gt 0 ] || fail "no zone of the log was missed"
