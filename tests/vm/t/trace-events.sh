#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: every tracepoint is documented with its fields, fires, and agrees with the counters
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 180
. tests/vm/lib.sh

[ -d $trace/events/lifezone ] || fail "no tracepoints"

cat >"$W/formats.py" <<'PY'
import glob, os, re
text = open("Documentation/admin-guide/device-mapper/dm-lifezone.rst").read()
text = re.search(r"\nTracepoints\n=+\n(.*?)\n\w+\n===", text, re.S)[1]
field = re.compile(r"^ *:(\w+):", re.M)
common, *parts = re.split(r"^(lifezone_\w+)\n", text, flags=re.M)
common = field.findall(common)
said = {e: common + field.findall(t) for e, t in zip(parts[::2], parts[1::2])}
there = {}
for f in glob.glob("/sys/kernel/tracing/events/lifezone/*/format"):
    fmt = open(f).read()
    event = f.split("/")[-2]
    there[event] = [n for n in re.findall(r"field:.*?(\w+);", fmt) if not n.startswith("common_")]
    # What trace-cmd and perf have to read: values, not names of enums.
    assert not re.search(r"\bLZ_", fmt), event + ": names of C in the format"
    names = [(str(int(v) + int(n or 0)), name) for v, n, name in
             re.findall(r'\{ *(\d+)(?: \+ (\d+))?, "(\w+)" *\}', fmt)]
    assert len(names) == fmt.count("{"), (event, fmt)
    for v, name in names:
        assert re.search(r"\b%s\s+%s\b" % (v, name), text), (event, v, name, "not documented")
assert said == there, "documented: %s\nthere: %s" % (said, there)
print(len(there), "tracepoints")
PY
must python3 "$W/formats.py"

must lz_format --quiet "$DEV"
must lz_create t "$DEV" commit_ms 600000 max_open 7
dm=$(basename "$(readlink -f /dev/mapper/t)")
# counters: all there are, as "name value"
counters() { (cd "/sys/block/$dm/lifezone" && grep -r . . | sed 's|^\./||; s|:| |'); }
idle() {
	local now was=''
	for _ in $(seq 100); do
		now=$(counters)
		[ "$now" != "$was" ] || return 0
		was=$now
		sleep 0.3
	done
	return 1
}
write() { must dd if=/dev/zero of="$1" bs=256k oflag=direct status=none seek="$2" count="$3"; }

must dmsetup message t 0 checkpoint
must idle
counters >"$W/before"
echo 0 >$trace/tracing_on
echo >$trace/trace
echo 8192 >$trace/buffer_size_kb
echo 1 >$trace/events/lifezone/enable
echo 1 >$trace/tracing_on

size=$(($(blockdev --getsize64 /dev/mapper/t) >> 18))
note "more classes than may be open"
for option in "policy sla" "policy adaptive" "finish mismatch" "finish cost" "policy wla"; do
	# shellcheck disable=SC2086	# words are wanted
	must dmsetup message t 0 set $option
	for hint in 0 1 2 3 4 5; do
		node=$(node_with_hint /dev/mapper/t $hint) || fail "no node for hint $hint"
		write "$node" $((hint * 100)) 30
	done
	must dmsetup message t 0 commit
done
note "full, overwritten, cleaned"
write /dev/mapper/t 0 "$size"
(cd "$W" && fio --name=t --filename=/dev/mapper/t --direct=1 --ioengine=libaio --iodepth=16 \
	--rw=randwrite --bs=64k --io_size=400M --minimal) >"$W/fio" 2>&1 ||
	fail "fio: $(cat "$W/fio")"
must dmsetup message t 0 gc 3
must blkdiscard -o 0 -l 100M /dev/mapper/t
must dmsetup message t 0 checkpoint
must dmsetup message t 0 checkpoint
must idle
# A commit with nothing to write has a number, but no event: the last one has something.
write /dev/mapper/t 0 1
must dmsetup message t 0 commit
must idle
echo 0 >$trace/tracing_on
counters >"$W/after"
trace_whole
cat $trace/trace >"$W/text"
echo 1 >$trace/options/fields
cat $trace/trace >"$W/fields"
echo 0 >$trace/options/fields
echo 0 >$trace/events/lifezone/enable
echo 1 >$trace/tracing_on

cat >"$W/events.py" <<'PY'
import re, sys
w, dev, zones, cap = sys.argv[1], *map(int, sys.argv[2:])
table = lambda f: dict(l.split(maxsplit=1) for l in open(w + f).read().split("\n") if " " in l)
before, after = table("/before"), table("/after")
delta = lambda *k: sum(int(after[i]) - int(before[i]) for i in k)
classes = ["not_set", "none", "short", "medium", "long", "extreme", "meta",
           *(f"group{i}" for i in range(11))]
states = ["free", "open", "full", "meta", "root", "bad"]
verdicts = ["use", "new", "finish", "wait"]
FREE, OPEN, FULL, META = range(4)
NONE = (1 << 32) - 1

lines = lambda f: [l.split(": ", 2)[1:] for l in open(w + f).read().split("\n")
                   if ": lifezone_" in l]
events = []
for (event, text), (same, raw) in zip(lines("/text"), lines("/fields"), strict=True):
    f = {k: int(v) for k, v in re.findall(r"(\w+)=[^(]*\((-?\d+)\)", raw)}
    assert event == same and f.pop("dev") == dev, (event, text, raw)
    # The words say the same as the numbers.
    want = "%d,%d " % (dev >> 20, dev & 0xfffff) + {
        "lifezone_zone_state": lambda zone, old, new, valid, gen, **a:
            f"zone {zone} class {classes[a['class']]} {states[old]} -> {states[new]} "
            f"valid {valid} gen {gen}",
        "lifezone_place_zone": lambda zone, gc, room, valid, age, **a:
            f"zone {zone} {('user', 'gc')[gc]} class {classes[a['class']]} room {room} "
            f"valid {valid} age {age}",
        "lifezone_place": lambda zone, gc, verdict, open, free, usable, reserve, held,
                                 closing, slow, ended, **a:
            f"{('user', 'gc')[gc]} class {classes[a['class']]} -> {verdicts[verdict]} "
            f"zone {-1 if zone == NONE else zone} (open {open} free {free} usable {usable} "
            f"ended {ended}"
            f"{' reserve' * reserve}{' held' * held}{' closing' * closing}{' slow' * slow})",
        "lifezone_victim_zone": lambda zone, valid, written, age, rate, **a:
            f"zone {zone} class {classes[a['class']]} valid {valid} of {written} age {age} rate {rate}",
        "lifezone_victim": lambda zone, valid, age, of, free, spare, **a:
            f"zone {zone} class {classes[a['class']]} valid {valid} age {age} "
            f"(of {of} free {free} spare {spare})",
        "lifezone_reset": lambda zone, state, due, alone, chosen, **a:
            f"zone {zone} class {classes[a['class']]} {states[state]} -> {('left', 'due')[due]}"
            f"{' alone' * alone}{' chosen' * chosen}",
        "lifezone_commit": lambda number, blocks: f"commit {number} journal blocks {blocks}",
        "lifezone_checkpoint": lambda end, number, nodes:
            f"checkpoint {number} {('begins', 'ends')[end]} nodes {nodes}",
    }[event](**f)
    assert text.strip() == want, (text, want)
    events.append((event, f))
of = lambda e: [f for n, f in events if n == "lifezone_" + e]
def same(what, got, want):
    print(what, got)
    assert got == want, "%s: %d in the trace, %d counted" % (what, got, want)

zs, now, gen, seen = of("zone_state"), {}, {}, []
# What a decision was taken from stands before it, the zones of each kind of decision apart.
def shown(event, n):
    last = [f for e, f in seen if e == event][-n:] if n else []
    zones_ = [f["zone"] for f in last]
    assert len(set(zones_)) == n and all(f["valid"] <= cap for f in last), (event, n, last)
    return zones_
for event, f in events:
    z = f.get("zone")
    if event == "lifezone_zone_state":
        assert z < zones and f["valid"] <= cap and f["old"] == now.get(z, f["old"]) != f["new"], f
        assert z not in gen or f["gen"] == gen[z] + (f["new"] == FREE), f
        now[z], gen[z] = f["new"], f["gen"]
    elif event == "lifezone_place":
        assert z < zones and now.get(z, OPEN) == OPEN or z == NONE and f["verdict"] > 1, f
        assert f["open"] <= int(after["zone_budget"]) and f["free"] <= zones, f
        among = shown("lifezone_place_zone", f["open"])
        assert f["verdict"] != 0 or z in among, (f, among)
        assert f["usable"] <= f["free"] and max(f[k] for k in ("reserve", "held", "closing", "slow")) < 2, f
        seen = [s for s in seen if s[0] != "lifezone_place_zone"]
        # A new zone was opened just before.
        assert f["verdict"] != 1 or zs and now[z] == OPEN, f
    elif event == "lifezone_victim":
        # One that is empty is to be reset, and open until it is.
        state = FULL if f["valid"] else OPEN
        assert z < zones and now.get(z, state) == state and f["valid"] <= cap and f["age"] > 0, f
        assert z in shown("lifezone_victim_zone", f["of"]) and f["free"] <= zones, f
        assert 0 < f["spare"] < zones, f
        seen = [s for s in seen if s[0] != "lifezone_victim_zone"]
    elif event == "lifezone_reset":
        assert now.get(z, f["state"]) == f["state"] in (OPEN, FULL) and f["due"] < 2, f
    elif "zone" in f:
        assert z < zones, f
        seen.append((event, f))
for n, c in enumerate(classes):
    same(c + " opens", sum(f["new"] == OPEN and f["class"] == n for f in zs), delta(c + "/opens"))
    same(c + " placed new", sum(f["verdict"] == 1 and f["class"] == n for f in of("place")),
         delta(c + "/opens"))
    same(c + " resets", sum(f["new"] == FREE and f["old"] in (OPEN, FULL) and f["class"] == n
                            for f in zs), delta(c + "/resets"))
same("resets", sum(f["new"] == FREE for f in zs), delta("resets_user", "resets_gc", "resets_meta"))
same("due to be reset", sum(f["due"] for f in of("reset")), delta("resets_user", "resets_gc"))
for e in "place_zone", "victim_zone", "reset":
    print(len(of(e)), e)
    assert of(e), "no lifezone_" + e
for s in "open", "full", "meta", "bad":
    n = states.index(s)
    same("more " + s, sum((f["new"] == n) - (f["old"] == n) for f in zs), delta("zones_" + s))
for v in range(4):
    assert any(f["verdict"] == v for f in of("place")), "never placed by " + verdicts[v]
assert {f["gc"] for f in of("place")} == {0, 1}
same("finishes", sum(f["verdict"] == 2 for f in of("place")), delta("finishes_mismatch"))
same("victims", sum(f["valid"] > 0 for f in of("victim")), delta("gc_victims"))

commits = of("commit")
same("commits", len(commits), delta("commits"))
same("journal blocks", sum(f["blocks"] for f in commits), delta("journal_written_blocks"))
same("last commit", commits[-1]["number"], int(after["last_commit"]))
numbers = [f["number"] for f in commits]
assert numbers == sorted(set(numbers)) and min(f["blocks"] for f in commits) > 0
ckpts, n = of("checkpoint"), int(before["last_checkpoint"])
for i, f in enumerate(ckpts):
    assert f["end"] == i % 2 and f["number"] == n + 1 + i // 2 and (f["end"] or not f["nodes"]), f
same("checkpoints", len(ckpts) // 2, delta("checkpoints"))
same("last checkpoint", ckpts[-1]["number"], int(after["last_checkpoint"]))
nodes = sum(f["nodes"] for f in ckpts)
print("nodes", nodes, "of", delta("node_written_blocks"))
assert 0 < nodes <= delta("node_written_blocks")
PY
IFS=: read -r major minor <"/sys/block/$dm/dev"
zones=$(cat "/sys/block/${DEV##*/}/queue/nr_zones")
must python3 "$W/events.py" "$W" $((major << 20 | minor)) "$zones" 3072
must lz_remove t
lz_check "$DEV"
