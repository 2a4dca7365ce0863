# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the scripts beside it: where things are.

LZ_VM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LZ_TOP=$(cd "$LZ_VM/../.." && pwd)
LZ_BUILD=${LZ_BUILD:-$LZ_TOP/build}
LZ_CACHE=${LIFEZONE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/lifezone}
LZ_SUITE=trixie			# the guest's Debian: the first with kernel 6.12
LZ_SERIES=6.12			# the kernel the guest and the debug build use
export LZ_TOP LZ_BUILD LZ_CACHE LZ_SUITE LZ_SERIES
mkdir -p "$LZ_CACHE" "$LZ_BUILD/logs"

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# Run the rest of the command line once at a time for this NAME, whoever asks.
# Lock files live beside what they guard.
with_lock() {
	local file=$1
	shift
	(
		flock 9 || exit 1
		"$@" 9>&-
	) 9>"$file"
}

# now: seconds since the machine was started, whoever sets its clock
now() { local up; read -r up _ </proc/uptime; echo "${up%.*}"; }

# runs_programs FOLDER: not one mounted noexec, from which nothing is preloaded either
runs_programs() {
	local p ok=0
	p=$(mktemp "$1/lz-runs.XXXXXX") || return 1
	echo '#!/bin/sh' >"$p"
	chmod +x "$p"
	"$p" 2>/dev/null || ok=1
	rm "$p"
	return $ok
}

# scratch BYTES NAME: prints a new folder for so much, in memory if there is 8 GiB more and it runs
# programs: a host's disk may stand still for so long that a guest takes its drive for broken.
scratch() {
	local need=$(($1 + (8 << 30))) in=${TMPDIR:-/var/tmp}
	[ ! -w /dev/shm ] || ! runs_programs /dev/shm ||
		[ "$(df -B1 --output=avail /dev/shm | tail -1)" -le $need ] ||
		! awk -v need=$need '/^MemAvailable/ { exit $2 * 1024 < need }' /proc/meminfo ||
		in=/dev/shm
	mktemp -d "$in/$2.XXXXXX"
}

# Short hash of the given files' contents, for cache keys; comments do not count
# (but kconfig's "# CONFIG_" lines do).
key_of() { sed '/^[ \t]*# [^C]/d; s/[ \t]*# [^C].*//' "$@" | sha256sum | cut -c1-12; }
