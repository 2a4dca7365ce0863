// SPDX-License-Identifier: GPL-2.0-only
/* The unit tests as a module of their own, where the target is not built. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of lifezone's core");
MODULE_LICENSE("GPL");
