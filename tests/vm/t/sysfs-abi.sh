#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: Documentation/ABI and sysfs name the same files, which show exactly what was done
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

# abi.py NAME all|moved [FILE=N|~FILE...]: with "all" the folder is as the ABI
# text says.  "moved": since the last call counters went up as given, those with
# a ~ perhaps, no other.
cat >"$W/abi.py" <<'PY'
import json, os, re, subprocess, sys
name, what, *moves = sys.argv[1:]
text = open("Documentation/ABI/testing/sysfs-block-dm-lifezone").read()
dm = os.path.basename(os.path.realpath("/dev/mapper/" + name))
top = "/sys/block/%s/lifezone" % dm
entries, classes = {}, []
for part in text.split("\n\n"):
    paths = re.findall(r"^What:\t\t/sys/block/dm-<N>/lifezone/?(\S*)$", part, re.M)
    about = re.sub(r"\s+", " ", part.split("Description:", 1)[1]).strip()
    assert paths, part
    if len(paths) > 1:
        classes += paths
    for p in paths:
        assert p not in entries, p + " twice"
        entries[p] = about
for p in [p for p in entries if p.startswith("<class>/")]:
    about = entries.pop(p)
    entries.update((p.replace("<class>", c), about) for c in classes)

def read(p):
    v = open(os.path.join(top, p)).read()
    assert v.endswith("\n") and v.count("\n") == 1, (p, v)
    return v[:-1]
files = {p: read(p) for p, about in entries.items() if re.match(r"\(R[OW]\)", about)}
num = lambda p: int(files[p])

if what == "all":
    there = {""}
    for d, dirs, names in os.walk(top):
        there |= {os.path.relpath(os.path.join(d, n), top) for n in dirs + names}
    assert there == set(entries), "only in one: %s" % sorted(there ^ set(entries))
    for p, about in entries.items():
        mode = "%o" % os.lstat(os.path.join(top, p)).st_mode
        want = {"(RO)": "100444", "(RW)": "100644"}.get(about[:4], "40755")
        assert mode == want, "%s: mode %s, want %s" % (p, mode, want)
    # A number, or a word of its description, or of a form of its own.
    forms = {"uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "label": r".*",
             "write_amplification": r"\d+\.\d{3}"}
    for p, v in files.items():
        ok = re.fullmatch(forms[p], v) if p in forms else \
            re.fullmatch(r"0|[1-9]\d*", v) or re.search(r"\b%s\b" % re.escape(v), entries[p])
        assert ok, "%s: '%s'" % (p, v)

# What files have to do with each other.
extra = num("gc_copied_blocks") + num("meta_written_blocks")
of = lambda leaf: sum(num(c + "/" + leaf) for c in classes)
meta = [p for p in files if re.fullmatch(r"(summary|journal|node|root)_written_blocks", p)]
user = num("user_written_blocks")
permille = (user + extra) * 1000 // user if user else 1000
assert num("meta_written_blocks") == sum(map(num, meta)) and len(meta) == 4
assert files["write_amplification"] == "%d.%03d" % divmod(permille, 1000)
# What users write is counted by class and again by group.
hints = [c for c in classes if not c.startswith("group")]
assert len(hints) == 7, hints
assert sum(num(c + "/writes") for c in hints) == user
assert of("writes") - user <= user and of("copies") == num("gc_copied_blocks")
assert of("resets") == num("resets_user") + num("resets_gc")
assert of("zones") == num("zones_open") + num("zones_full")
assert num("gc_lost_blocks") <= num("gc_copied_blocks")
assert num("zone_budget_used") <= num("zone_budget") and num("zones_open") <= num("zone_budget")
assert num("leaves_cached") <= num("leaves_max") and num("delta_used") <= num("delta_max")
assert num("mapped_blocks") <= num("logical_blocks")
size = int(open("/sys/block/%s/size" % dm).read())
assert num("logical_blocks") * 8 == size

# The status line, by its description.
status = subprocess.check_output(["dmsetup", "status", name], text=True).split()[3:]
status = dict(zip(status[::2], status[1::2], strict=True))
guide = open("Documentation/admin-guide/device-mapper/dm-lifezone.rst").read()
keys = re.findall(r"^(\w+)  ", re.search(r"^mode  .*?^===", guide, re.M | re.S)[0], re.M)
assert list(status)[:len(keys)] == keys, "%s in the guide, %s in the status" % (keys, list(status))
other = {"low_water": "zones_low_water", "mapped_blocks": "mapped_blocks/logical_blocks",
         "budget": "zone_budget_used/zone_budget", "user_writes": "user_written_blocks",
         "gc_copies": "gc_copied_blocks", "meta_writes": "meta_written_blocks",
         "discards": "discarded_blocks", "checkpoint": "last_checkpoint", "commit": "last_commit",
         "delta": "delta_used/delta_max", "leaves": "leaves_cached/leaves_max"}
for k, v in status.items():
    want = "/".join(files[f] for f in other.get(k, k).split("/"))
    assert v == want, "%s: status %s, sysfs %s" % (k, v, want)
options = list(status)[len(keys):]
assert {p for p, a in entries.items() if a.startswith("(RW)")} <= set(options)

# Counters since the last call; one is a sum.
now = {p: num(p) for p in files if "Cumulative" in entries[p] and p != "meta_written_blocks"}
saved = os.path.join(os.path.dirname(sys.argv[0]), "seen." + name)
if what == "moved":
    before = json.load(open(saved))
    diff = {p: v - before[p] for p, v in now.items() if v != before[p]}
    want = {m.split("=")[0]: int(m.split("=")[1]) for m in moves if m[0] != "~"}
    got = {p: n for p, n in diff.items() if "~" + p not in moves}
    assert got == want, "moved %s, want %s" % (got, want)
    assert all(n > 0 for n in diff.values()), diff
json.dump(now, open(saved, "w"))
PY
all() { must python3 "$W/abi.py" "$1" all; }
moved() { must python3 "$W/abi.py" "$1" moved "${@:2}"; }
# write NODE BLOCK BLOCKS: in one request
write() {
	must dd if=/dev/zero of="$1" bs=$(($3 * 4096)) count=1 oflag=direct,seek_bytes \
		seek=$(($2 * 4096)) status=none
}

null=$(make_nullb size=160 zone_capacity=3) || fail "no null_blk"
must lz_format --quiet "$DEV" --label "one, of two"
must lz_format --quiet "$null"
must lz_create a "$DEV" policy wla commit_ms 600000
must lz_create b "$null" policy wla commit_ms 600000
all a
all b
equal "$(lz_sysfs a label)" "one, of two" "label"
equal "$(lz_sysfs b label)" "" "no label"
equal "$(lz_sysfs a uuid)" "$(lifezone probe "$DEV" --export | sed -n 's/^ID_FS_UUID=//p')" uuid
[ "$(lz_sysfs a uuid)" != "$(lz_sysfs b uuid)" ] || fail "one UUID"
equal "$(lz_sysfs a max_open)" 0 max_open
equal "$(lz_sysfs a zone_budget)" 14 "zone budget"
equal "$(lz_sysfs a mode)" rw mode

note "a write of each class"
i=0
for class in not_set none short medium long extreme; do
	equal "$(lz_sysfs a $class/open_zone)" none "open zone of $class before its first write"
	node=$(node_with_hint /dev/mapper/a $i) || fail "no node for hint $i"
	moved a
	write "$node" $((i * 100)) $((i + 2))
	moved a user_written_blocks=$((i + 2)) $class/writes=$((i + 2)) $class/opens=1
	equal "$(lz_sysfs a $class/zones)" 1 "zones of $class"
	zone=$(lz_sysfs a $class/open_zone)
	[ "$zone" -lt 64 ] || fail "open zone of $class: $zone"
	i=$((i + 1))
done
equal "$(lz_sysfs a zones_open)" 6 "open zones"
equal "$(lz_sysfs a uncommitted)" 27 "uncommitted"

# Another node than the one udev watches: it reads what was written to.
node=$(node_with_hint /dev/mapper/a 0) || fail "no node"

note "commit, checkpoint, flush, FUA, read, discard"
commit=$(lz_sysfs a last_commit)
must dmsetup message a 0 commit
moved a commits=1 journal_written_blocks=1 flushes=1 ~summary_written_blocks
equal $(($(lz_sysfs a last_commit) - commit)) 1 "last commit"
equal "$(lz_sysfs a uncommitted)" 0 "uncommitted after a commit"
number=$(lz_sysfs a last_checkpoint)
must dmsetup message a 0 checkpoint
moved a checkpoints=1 root_written_blocks=2 ~node_written_blocks ~summary_written_blocks \
	~commits ~journal_written_blocks
equal $(($(lz_sysfs a last_checkpoint) - number)) 1 "last checkpoint"
equal "$(lz_sysfs a delta_used)" 0 "changes since a checkpoint"
equal "$(lz_sysfs a mapped_blocks)" 27 "mapped blocks"
must dd if=/dev/mapper/a of=/dev/null bs=28k count=1 iflag=direct,skip_bytes \
	skip=$((500 * 4096)) status=none
moved a user_read_blocks=7
must python3 -c 'import os, sys; os.fsync(os.open(sys.argv[1], os.O_RDWR))' "$node"
moved a flushes=1 ~commits ~journal_written_blocks ~summary_written_blocks
must dd if=/dev/zero of="$node" bs=4k count=1 oflag=direct,dsync status=none
# FUA, and the block layer flushes after it
moved a user_written_blocks=1 not_set/writes=1 flushes=2 commits=1 journal_written_blocks=1 \
	~summary_written_blocks
must blkdiscard -f -o 0 -l $((2 * 4096)) "$node"
moved a discarded_blocks=2
must blkdiscard -f -z -o $((100 * 4096)) -l $((3 * 4096)) "$node"
moved a discarded_blocks=3
must dmsetup message a 0 checkpoint
equal "$(lz_sysfs a mapped_blocks)" 22 "mapped blocks after a discard"
all a
moved b

note "GC by message"
# Half of some zones is overwritten.
must python3 - /dev/mapper/b <<'PY'
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
m = mmap.mmap(-1, 1 << 18)
for step in 1, 2:
    for i in range(0, 200, step):
        assert os.pwrite(fd, m, i << 18) == 1 << 18
PY
udevadm settle		# it reads what was written to
must dmsetup message b 0 checkpoint
all b
must dmsetup message b 0 gc 2
cleaned() { [ "$(lz_sysfs b resets_gc)" = 2 ]; }
wait_for 20 cleaned || fail "$(lz_sysfs b resets_gc) zones cleaned"
must dmsetup message b 0 commit
copies=$(lz_sysfs b gc_copied_blocks)
[[ $copies -gt 384 && $copies -lt 1152 ]] || fail "$copies blocks of two zones copied"
moved b gc_victims=2 resets_gc=2 not_set/resets=2 gc_copied_blocks="$copies" \
	not_set/copies="$copies" not_set/opens=1 flushes=1 ~commits ~journal_written_blocks \
	~summary_written_blocks ~checkpoints ~node_written_blocks ~root_written_blocks
must dmsetup suspend b
must dmsetup resume b
all b
moved a ~checkpoints ~node_written_blocks ~root_written_blocks ~commits \
	~journal_written_blocks ~summary_written_blocks

note "groups"
must lifezone set b policy adaptive
must python3 - /dev/mapper/b <<'PY'
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
m = mmap.mmap(-1, 1 << 18)
for i in range(2000):
    assert os.pwrite(fd, m, (i % 20) << 18) == 1 << 18
PY
udevadm settle
must dmsetup message b 0 checkpoint
grouped=0
for i in {0..10}; do grouped=$((grouped + $(lz_sysfs b "group$i/writes"))); done
[ $grouped -gt 0 ] || fail "2000 writes to 20 places, and none to a group"
all b
moved a ~checkpoints ~node_written_blocks ~root_written_blocks ~commits \
	~journal_written_blocks ~summary_written_blocks

note "writable files, of one device only"
cat >"$W/store.py" <<'PY'
import errno, os, re, sys
d, other = sys.argv[1:]
read = lambda d, f: open(d + "/" + f).read().strip()
def store(f, v):
    fd = os.open(d + "/" + f, os.O_WRONLY)
    try:
        return os.write(fd, v) == len(v)
    except OSError as e:
        assert e.errno == errno.EINVAL, (f, v, e)
        return False
    finally:
        os.close(fd)
words = 0
for f in sorted(os.listdir(d)):
    if os.path.isdir(d + "/" + f):
        continue
    if not os.stat(d + "/" + f).st_mode & 0o200:
        try:
            os.open(d + "/" + f, os.O_WRONLY)
            assert False, f + " can be opened for writing"
        except PermissionError:
            continue
    was, aside = read(d, f), read(other, f)
    text = open("Documentation/admin-guide/device-mapper/dm-lifezone.rst").read()
    row = re.search(r"^%s +((?:\w+, )*\w+(?: to \w+)?)  " % f, text, re.M)[1]
    good = re.findall(r"\w+", row.replace(" to ", ", "))
    bad = [b"", b"\n", b" ", b"best", b"x" * 31, b"x" * 32, b"x" * 5000, b"-1", b"1.5",
           b"0x20", b"9" * 25]
    bad += [v.encode() for v in (" ".join(good), good[0] + "x", good[0].upper() + "\n\n1")]
    if good[0].isdigit():
        bad += [b"%d" % (int(good[0]) - 1), b"%d" % (int(good[1]) + 1)]
    for v in bad:
        assert not (v and store(f, v)), "%s takes %s" % (f, v)
        assert read(d, f) == was, "%s after %s: %s" % (f, v, read(d, f))
    for v in good:
        for end in b"", b"\n":
            assert store(f, v.encode() + end), "%s refuses %s" % (f, v)
            assert read(d, f) == v, f
            words += 1
    assert read(other, f) == aside, f + " of the other device"
    assert store(f, was.encode())
print(words, "values taken")
PY
must python3 "$W/store.py" "$(lz_dir a)" "$(lz_dir b)"
all a
all b

note "one folder, as long as a table is lifezone's"
d=$(lz_dir a)
table=$(dmsetup table a)
# there WHEN: the folder, of which a file was opened at "begun"
begun() { exec 8<"$d/commit_ms"; node=$(stat -c %i "$d"); }
there() {
	equal "$(stat -c %i "$d")" "$node" "the folder $1"
	equal "$(cat /dev/fd/8)" "$(lz_status a commit_ms)" "an open file $1"
	all a
}
# gone WHEN: no folder, and what was open answers with an error
gone() {
	[ ! -e "$d" ] || fail "there $1"
	cat <&8 2>/dev/null && fail "read $1"
	exec 8<&-
}
# nothing WHEN: the folder, and no instance that it could show
nothing() {
	cat "$d/commits" 2>"$W/err" && fail "read $1"
	grep -q 'No such device' "$W/err" || fail "$1: $(cat "$W/err")"
}
begun
must dmsetup suspend a
there "while suspended"
(echo 77 >"$d/commit_ms") 2>"$W/err" && fail "stored while suspended"
grep -q 'busy' "$W/err" || fail "$(cat "$W/err")"
there "after a store while suspended"
must dmsetup resume a
there "after a resume"
must dmsetup load a --table "${table% *} 88"
must dmsetup clear a
there "after a table was cleared"
must dmsetup load a --table "${table% *} 99"
there "with a table loaded"
must dmsetup resume a
equal "$(lz_sysfs a commit_ms)" 99 "commit_ms after a reload"
there "after a reload"
echo 66 >"$d/commit_ms" || fail "no store after a reload"
equal "$(lz_status a commit_ms)" 66 "commit_ms after a store"
must dmsetup suspend a
must dmsetup load a --table "$table"
must dmsetup resume a
there "after a reload while suspended"
must dmsetup load a --table "0 $(blockdev --getsz /dev/mapper/a) zero"
there "with another target's table loaded"
must dmsetup resume a
gone "after another target took over"
must dmsetup load a --table "$table"
nothing "before the first resume"
must dmsetup resume a
begun
there "after another target gave way"
# One that may not be resumed has nothing to show.
must dmsetup create c --notable
must dmsetup load c --table "$table"
d=/sys/dev/block/$(dmsetup info -c --noheadings --separator : -o major,minor c)/lifezone
[ ! -e "$d" ] || fail "there before its disk has a size"
mustnt dmsetup resume c 2>/dev/null
nothing "after a resume that failed"
must dmsetup load c --table "$table"
nothing "with another table loaded"
must lz_remove c
[ ! -e "$d" ] || fail "there after another removal"
d=$(lz_dir a)
must lz_remove a
gone "after removal"
all b
must lz_remove b
lz_check "$DEV"
lz_check "$null"
must lz_create a "$DEV"
equal "$(lz_sysfs a extreme/writes)" 7 "kept over a restart"
must lz_remove a
