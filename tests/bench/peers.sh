# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# peers.sh peers_files|peers_pages|peers_zoned...: what a drive is given for what is written, with
# lifezone and with what else there is for zoned drives: F2FS, which writes to zones itself, and
# dm-zoned. On drives alike, with as much in use: 1 GiB in 256 zones, of which 16 are conventional
# for the others, who need some. The drive counts.

. tests/bench/lib.sh

DRIVE=(size="${BENCH_PEERS_DEV_MB:-1024}" zone_size=4)
CONVENTIONAL=zone_nr_conv=16

# begin_UNDER: makes the drive $dev, and $top of it, which is to be used
begin_lifezone() {
	dev=$(make_nullb "${DRIVE[@]}") || fail "no drive"
	must lz_format "$dev" --quiet
	must lz_create store "$dev" >/dev/null
	top=/dev/mapper/store
}
end_lifezone() { must lz_remove store; }

begin_zoned() {
	dev=$(make_nullb "${DRIVE[@]}" $CONVENTIONAL) || fail "no drive"
	must dmzadm --format "$dev" >"$W/dmzadm"
	must dmzadm --start "$dev" >"$W/dmzadm"
	top=/dev/mapper/dmz-${dev##*/}
	wait_for 10 test -b "$top" || fail "no $top"
}
end_zoned() { must dmzadm --stop "$dev" >"$W/dmzadm"; }

begin_alone() {
	dev=$(make_nullb "${DRIVE[@]}" $CONVENTIONAL) || fail "no drive"
	top=$dev
}
end_alone() { :; }

# used LOAD LIVE UNDER FS: LIVE MiB of it are in use; sets $wrote, blocks that the drive was given
# for each of the load's in its second half
used() {
	local load=$1 live=$2 under=$3 fs=$4 discard=discard options='' dev top data drive

	"begin_$under"
	case $under-$fs in
	*-ext4)		options=-F ;;
	alone-f2fs)	options='-f -m' ;;
	*)		options=-f ;;
	esac
	# shellcheck disable=SC2086	# words are wanted
	must "mkfs.$fs" -q $options "$top"
	# With discards on dm-zoned three loads of five never came to an end.
	[ "$under" != zoned ] || discard=nodiscard
	must mount -t "$fs" -o $discard "$top" "$MNT"
	note "$fs, $under: $(df -m --output=avail "$MNT" | tail -1) MiB"
	[ "$under-$fs" != lifezone-f2fs ] || watch store
	"tests/vm/$load.py" "$MNT" "$live" "${BENCH_PEERS_MB:-1500}" "/sys/block/${dev##*/}/stat" \
		>"$W/store" || fail "$load.py: $?"
	[ "$under-$fs" != lifezone-f2fs ] || unwatch
	read -r data drive <"$W/store"
	note "$load, $live MiB, $fs, $under: $drive blocks for $data"
	wrote=$(calc "$drive / $data")
	must umount "$MNT"
	"end_$under"
	nullb_remove "$dev"
}

# beside LOAD LIVE UNDER FS BOUND
beside() {
	local wrote was

	used "$1" "$2" lifezone "$4"
	was=$wrote
	used "$1" "$2" "$3" "$4"
	figure "$1, $2 MiB: $4 on lifezone, to $4 ${3/zoned/on dm-zoned}" "$was" "$wrote" \
		"$(calc "$was / $wrote")" "<=" "$5"
}

# natively LOAD LIVE: F2FS, and XFS, which does not know zones
natively() {
	local wrote

	beside "$@" alone f2fs 1.02
	used "$@" lifezone xfs
	figure "$1, $2 MiB: xfs on lifezone" "$wrote" '' ''
}

# overwritten UNDER WRITES: 600 MiB are in use, and 4 KiB in them overwritten at random so often;
# sets $wrote
overwritten() {
	local under=$1 n=$2 dev top was

	"begin_$under"
	fio_json "$top" fill --rw=write --bs=128k --size=600M || fail "fio"
	was=$(written "$dev")
	fio_json "$top" zipf --rw=randwrite --bs=4k --size=600M --io_size=$((n * 4))k --norandommap \
		--random_distribution=zipf:0.99 || fail "fio"
	was=$((($(written "$dev") - was) / 8))
	note "$n random writes on $under: $was blocks"
	wrote=$(calc "$was / $n")
	"end_$under"
	nullb_remove "$dev"
}

overwrites() {
	local wrote few many

	overwritten lifezone 400000
	many=$wrote
	overwritten lifezone 2000
	few=$wrote
	overwritten zoned 2000
	figure "2,000 random writes: on lifezone, to dm-zoned" "$few" "$wrote" \
		"$(calc "$few / $wrote")" "<=" 0.01
	figure "400,000 random writes: on lifezone, to 2,000 on dm-zoned" "$many" "$wrote" \
		"$(calc "$many / $wrote")" "<=" 0.01
}
peers_files() {
	natively files 450
	natively files 600
	natively files 720
}
peers_pages() { natively pages 600; }
peers_zoned() {
	overwrites
	beside files 600 zoned ext4 0.5
}

for f in "$@"; do
	"$f"
done
