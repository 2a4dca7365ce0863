/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What core is built with in front of it: every lock taken is a step, so that a
 * loop without end is told from a long one.
 */
#ifndef LIFEZONE_FUZZ_HOOK_H
#define LIFEZONE_FUZZ_HOOK_H

void fuzz_step(void);

#define lz_locking()	fuzz_step()
#define lz_unlocked()	do { } while (0)

#endif /* LIFEZONE_FUZZ_HOOK_H */
