# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# stores.sh stores_files|stores_pages...: what file systems make of a load without hints, placed by
# nine policies. A store of files (tests/vm/files.py), or a database that overwrites in place
# (tests/vm/pages.py), runs on each file system; what the device was sent is recorded, and
# "lifezone sim" places it. Which files share a zone is chance, so that it does so in zones of seven
# capacities, a block apart, and the mean counts.

. tests/bench/lib.sh

# Per cent of the file system that is filled: btrfs keeps more room for itself.
STORES=("ext4 80" "xfs 80" "f2fs 80" "btrfs 60")
REFERENCES="one split dac sepbit midas wla sla"

# placed POLICY [WORD...]: sets $copied
placed() {
	local geometry cap more sum=0 policy=$1
	shift

	geometry=$(tail -1 "$W/geometry")
	cap=${geometry#*--zone-cap }
	cap=${cap%% *}
	for more in -3 -2 -1 0 1 2 3; do
		# shellcheck disable=SC2086	# words are wanted
		must lifezone sim --json --skip 0 --fills 1000 --load "trace:$W/requests" --policy "$policy" \
			"$@" $geometry --zone-cap $((cap + more)) >"$W/placed"
		sum=$((sum + $(jq '.[0].copied_blocks' "$W/placed")))
	done
	copied=$((sum / 7))
}

begins() {
	must sim_geometry "$dev" "$(lz_sysfs store zone_budget)" >"$W/geometry"
	record "$1"
}
ends() { recorded "$W/requests"; }

# stores LOAD FS PERCENT
stores() {
	local load=$1 fs=$2 percent=$3 policy copied best='' of='' all=''

	store_load=$load.py store_begins=begins store_ends=ends \
		store "$dev" "$fs" discard "$percent" "${BENCH_STORES_MB:-1500}" no
	note "$load on $fs: of the second half $copies copied of $user by the module"
	for policy in $REFERENCES; do
		placed "$policy" --opt reset=lazy --opt finish=never
		all+=" $policy $copied"
		if [ -z "$best" ] || [ "$copied" -lt "$best" ]; then
			best=$copied of=$policy
		fi
	done
	placed perfect
	all+=" perfect $copied"
	placed adaptive
	note "$load on $fs:$all adaptive $copied"
	figure "$load on $fs: blocks copied, to those of $of" "$copied" "$best" \
		"$(calc "$copied / ($best ? $best : 1)")"
}

dev=$(make_nullb size=512 zone_size=2) || fail "no drive"
for f in "$@"; do
	for s in "${STORES[@]}"; do
		# shellcheck disable=SC2086	# words are wanted
		stores "${f#*_}" $s
	done
done
nullb_remove "$dev"
