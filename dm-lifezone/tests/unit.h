/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unit tests are KUnit tests; in user space a small stand-in for KUnit runs
 * the same files.
 */
#ifndef LIFEZONE_UNIT_H
#define LIFEZONE_UNIT_H

#ifdef __KERNEL__
#include <kunit/test.h>
#else
#include "../../tests/unit/kunit_shim.h"
#endif

#endif /* LIFEZONE_UNIT_H */
