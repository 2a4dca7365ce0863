/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A waiter that only notes that it was called, and with what.
 */
#ifndef LZ_TESTS_WAITING_H
#define LZ_TESTS_WAITING_H

#include "../core/core.h"

struct waiting {
	struct lz_waiter w;
	bool called;
	int err;
};

static inline void waiting_end(struct lz_waiter *w, int err)
{
	struct waiting *x = container_of(w, struct waiting, w);

	x->called = true;
	x->err = err;
}

#endif
