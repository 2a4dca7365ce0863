/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LZCRASH_SHRINK_H
#define LZCRASH_SHRINK_H

#include "workers.h"

/**
 * shrink - looks for a shorter way to a failure
 * @fail: how @current failed; what was found instead
 *
 * Worlds of the same seed are run with less and less of what they are drawn from, as long
 * as one of them still fails in the same way. @current is left as the last of them.
 *
 * Return: requests served until it failed.
 */
u64 shrink(struct failure *fail);

#endif /* LZCRASH_SHRINK_H */
