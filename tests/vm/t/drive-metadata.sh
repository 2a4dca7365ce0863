#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# proves: a drive with metadata that appends cannot bring along is refused by tool and module, in a line, and not written to
# vm: VM_ZNS=size=64M,zone=2M,open=14,active=14,ms=8
# timeout: 60
. tests/vm/lib.sh

drive_refused "$DEV" '8 bytes of metadata beside each block' 'has metadata beside each block'
