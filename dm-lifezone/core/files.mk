# SPDX-License-Identifier: GPL-2.0-only
#
# The files of core, for Kbuild and for the makefiles of the tools and tests.

# Pure decisions and encoding: need nothing else.
LZ_CORE_PURE := place victim pace trim reclaim life order options log
# The device.
LZ_CORE_DEVICE := core layout super setup recover replay adopt map leaf tree zone reset stream \
	commit node checkpoint infer relocate check
LZ_CORE := $(LZ_CORE_PURE) $(LZ_CORE_DEVICE)

# Unit tests, in ../tests.
LZ_UNIT := place_kunit victim_kunit pace_kunit trim_kunit reclaim_kunit life_kunit order_kunit \
	options_kunit log_kunit ram tree_kunit layout_kunit device_kunit map_kunit zone_kunit stream_kunit \
	room_kunit super_kunit recover_kunit summary_kunit journal_kunit relocate_kunit infer_kunit \
	check_kunit large_kunit
