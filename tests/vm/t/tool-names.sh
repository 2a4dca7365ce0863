#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a label that /dev/mapper cannot have as it is: start prints what is there, and either spelling means the device
# vm: VM_ZNS=size=1G,zone=16M,cap=12M,open=14,active=14
# timeout: 120
. tests/vm/lib.sh

uuid=6c697a6f-6e65-4000-8000-0123456789ab
name='lz-a\x20b\x20\xc3\xa9'
must lifezone format "$DEV" --label 'a b é' --uuid $uuid --quiet
for word in "$name" 'lz-a b é' "/dev/mapper/$name" '/dev/mapper/lz-a b é' "$DEV"; do
	note "$word"
	equal "$(lifezone start "$DEV")" "/dev/mapper/$name" "start says"
	must test -b "/dev/mapper/$name"
	equal "$(lifezone list --json | jq -r '.[0].name')" "$name" list
	equal "$(lifezone status "$word" --json | jq -r '.[0].node')" "/dev/mapper/$name" status
	must lifezone set "$word" commit_ms 123
	equal "$(lifezone status "$word" --json | jq -r '.[0].status.commit_ms')" 123 commit_ms
	must lifezone stop "$word"
	[ ! -e "/dev/mapper/$name" ] || fail "still there"
done
must lifezone start "$DEV" >/dev/null
. tools/completion/lifezone
for word in lz 'lz-a\\x2'; do
	COMP_WORDS=(lifezone stop "$word") COMP_CWORD=2 COMPREPLY=()
	_lifezone
	equal "${#COMPREPLY[@]}" 1 "ways to complete $word"
	equal "$(eval "printf %s ${COMPREPLY[0]}")" "$name" "what becomes of $word"
done
must lifezone stop "$DEV"
for word in 'my name' 'my\x20name'; do
	equal "$(lifezone start "$DEV" "$word")" '/dev/mapper/my\x20name' "start $word"
	must lifezone stop 'my name'
done
mustnt lifezone start "$DEV" 'my other\x20name' 2>/dev/null

note "two names that read the same"
null=$(make_nullb size=160) || fail "no null_blk"
must lifezone format "$null" --quiet
must dmsetup create --manglename none 'a b' --table "$(lifezone table "$DEV")" --uuid LIFEZONE-$uuid
other=$(lifezone dump "$null" super --json | jq -r '.[0].uuid')
must dmsetup create --manglename none 'a\x20b' --table "$(lifezone table "$null")" --uuid "LIFEZONE-$other"
must lifezone stop 'a b'
must dmsetup info --manglename none 'a\x20b'
must lifezone stop 'a b'
equal "$(lifezone list)" "no started devices" list

note "a directory is not meant where a device has the name"
must lifezone start "$DEV" fast >/dev/null
mkdir "$W/fast"
said() { (cd "$W" && mustnt lifezone trim "$1" 2>&1); }
equal "$(said fast)" "lifezone: fast: no file system on it is mounted that knows what is free" "trim fast"
for word in ./fast fast/ "$W/fast"; do
	said "$word" | grep -q "not of a file system on a started lifezone device" ||
		fail "trim $word: $(said "$word")"
done

note "a watch is over when another device has its number"
watch fast
watching
must kill -STOP "$watcher"
number=$(dmsetup info -c --noheadings -o minor fast)
must lifezone stop fast
must lifezone start "$null" other >/dev/null
equal "$(dmsetup info -c --noheadings -o minor other)" "$number" "number of the other"
must kill -CONT "$watcher"
watch_ends
equal "$(cat "$W/watch")" "" "what it says"
must lifezone stop other

# 64 bytes of label become 256.
must lifezone format "$DEV" --force --quiet --label "$(printf 'é%.0s' {1..32})" --uuid $uuid
equal "$(lifezone start "$DEV")" "/dev/mapper/lz-${uuid%%-*}" "long label"
must lifezone stop "$DEV"
