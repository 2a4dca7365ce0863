#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: the simulator decides as the module does, and the two count alike
# vm: VM_ZNS=none
# timeout: 900
#
# One load goes to the module and to "lifezone sim". Each decision that the module's tracepoints
# tell is taken once more by the simulator (--follow); and what the two have counted over the
# whole load is compared. Documentation/placement.rst has the figures.
. tests/vm/lib.sh

[ -d $trace/events/lifezone ] || fail "no tracepoints"
# On which processor something was traced must not matter, nor may two events have one time.
echo counter >$trace/trace_clock
echo 65536 >$trace/buffer_size_kb
echo 0 >$trace/tracing_on
for e in zone_state place_zone place victim_zone victim reset; do
	echo 1 >$trace/events/lifezone/lifezone_$e/enable
done

load=make fills=5
least='500 200 200'	# decisions, and one more: placements, victims, resets

# played NR POLICY [KEY VALUE...]: on a drive of its own; what is counted in module.NR
played() {
	local nr=$1 policy=$2 dev start f o=()
	shift
	dev=$(make_nullb size=160 zone_size=1 zone_max_open=24 zone_max_active=24) || fail "no drive"
	must lz_format --quiet "$dev"
	# Nor does GC get ahead then: that is as the player finds time.
	must lz_create f "$dev" policy "$@" gc_ahead 0
	sim_geometry "$dev" "$(lz_sysfs f zone_budget)" >"$W/geometry" || fail "no geometry"
	{ read -r -a all; read -r -a data; } <"$W/geometry"
	start=$(($(lz_sysfs f zones_low_water) + 2))
	[ -s "$W/csv" ] ||
		must tests/vm/fidelity.py "$load" "$(lz_sysfs f logical_blocks)" 1 "$fills" >"$W/csv"
	echo >$trace/trace
	echo 1 >$trace/tracing_on
	must tests/vm/fidelity.py play "$W/csv" /dev/mapper/f $start
	must dmsetup message f 0 commit
	echo 0 >$trace/tracing_on
	trace_whole
	cat $trace/trace >"$W/trace"
	for f in gc_copied_blocks resets_user resets_gc finishes_mismatch user_written_blocks; do
		echo "$f $(lz_sysfs f $f)"
	done >"$W/module.$nr"
	must lz_remove f
	lz_check "$dev" >/dev/null
	nullb_remove "$dev"

	shift
	while [ $# -gt 0 ]; do
		[ "$1" = max_open ] || o+=(--opt "$1=$2")
		shift 2
	done
	follow=(lifezone sim --policy "$policy" "${o[@]}" "${all[@]}" --json --follow)
	"${follow[@]}" "$W/trace" >"$W/followed" 2>"$W/differ" ||
		fail "$(wc -l <"$W/differ") decisions differ: $(head -3 "$W/differ")"
	tr -d '\n' <"$W/followed"; echo
	python3 - "$W/followed" "$least" <<'PY' || fail "too few decisions"
import json, sys
f = json.load(open(sys.argv[1]))
sys.exit(any(f[k] <= int(n) for k, n in zip(("placements", "victims", "resets"), sys.argv[2].split())))
PY
	like=("$W/csv" --policy "$policy" "${o[@]}" "${data[@]}")
}

# same BOUND POLICY [KEY VALUE...]: with these. When GC gets to what differs from run to run, and
# copies by 1 % (standard deviation): if one is off by more than the bound the mean of three counts.
same() {
	local bound=$1
	shift
	note "$*"
	played 1 "$@"
	tests/vm/fidelity.py compare "$W/module.1" "$bound" "${like[@]}" && return
	note "twice more"
	played 2 "$@"
	played 3 "$@"
	must tests/vm/fidelity.py compare "$W/module.1,$W/module.2,$W/module.3" "$bound" "${like[@]}"
}

# differs PATTERN SED WORD...: the trace, changed so, or followed so, is found out
differs() {
	local pattern=$1
	sed "$2" "$W/trace" >"$W/changed"
	shift 2
	mustnt "${follow[@]}" "$W/changed" "$@" >/dev/null 2>"$W/differ"
	grep -q "$pattern" "$W/differ" || fail "not found out: $pattern"
}

# No other would show a slow kernel anything new.
slow_kernel && { same 0.02 adaptive reset adaptive; exit; }
same 0.02 zenfs reset eager
note "and it is found out if they do not"
differs 'place: ' '' --opt gc_isolation=initial
differs 'victim: ' '' --opt victim=greedy
differs 'line .*reset: ' 's/\(lifezone_reset: .* full -> \)due/\1left/'
differs 'line .*place: ' '0,/lifezone_place: .* -> new/s/ -> new/ -> use/'
differs 'line .*victim: ' 's/\(lifezone_victim: [0-9,]* zone \)\([0-9]*\)/\11\2/'
differs 'which nobody decided' '/lifezone_reset: .*due/d'
mustnt tests/vm/fidelity.py compare "$W/module.1" 0.02 "$W/csv" --policy one "${data[@]}"
same 0.02 adaptive reset adaptive
# And one of two, drawn unless said.
case ${LZ_TEST_LOAD:-$((RANDOM % 2))} in
0) same 0.02 sla reset adaptive gc_isolation initial ;;
*) same 0.05 wla finish mismatch max_open 6 ;;
esac

# more LOAD LEAST N PATTERN POLICY: two fills of another load, with more than N events like that
more() {
	local n=$3 pattern=$4
	rm "$W/csv"
	load=$1 fills=2 least=$2
	played 1 "$5" reset adaptive
	[ "$(grep -c "$pattern" "$W/trace")" -gt "$n" ] || fail "hardly anything like $pattern"
}

note "empty zones in place of victims"
more idle '100 100 100' 5 'lifezone_reset: .* chosen' sla
differs 'reset: .*was chosen' '/lifezone_victim: .* valid 0 /d'
note "zones that are left alone"
more merges '100 0 100' 50 'lifezone_place: .* ended [0-9]' adaptive
differs 'line .*place: ' 's/\(lifezone_place: .* ended \)[0-9]*/\1-1/'
