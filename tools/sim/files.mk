# SPDX-License-Identifier: GPL-2.0-only
#
# The files of the simulator, for the makefiles of the tool and of the tests.

LZ_SIM := engine time queue load lsm trace tenants policies ref dac sepbit midas uid xfs perfect caza \
	life module follow
