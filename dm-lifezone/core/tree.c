// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shape of the two radix trees, the map's and the zone table's.
 *
 * The addresses of all nodes are kept in arrays, a level each: 8 bytes for 504
 * logical blocks. An inner node on the drive is a stretch of the array of the
 * level below, so it needs no copy in RAM; the root holds the top level.
 */
#include "lz.h"

/* lz_tree_nodes - nodes a tree of @leaves needs when its root holds @top addresses. */
u64 lz_tree_nodes(u64 leaves, u32 top, u32 *levels, u64 *n)
{
	u64 sum = leaves;

	*levels = 1;
	n[0] = leaves;
	while (n[*levels - 1] > top && *levels < LZ_MAX_LEVELS) {
		n[*levels] = DIV_ROUND_UP_ULL(n[*levels - 1], LZ_NODE_ENTRIES);
		sum += n[*levels];
		(*levels)++;
	}
	return sum;
}

int lz_tree_init(struct lz_tree *t, u16 type, u64 leaves, u32 top)
{
	u32 l;
	u64 i;

	t->type = type;
	lz_tree_nodes(leaves, top, &t->levels, t->n);
	if (t->n[t->levels - 1] > top)
		return -EINVAL;
	for (l = 0; l < t->levels; l++) {
		t->addr[l] = lz_zalloc_array(t->n[l], sizeof(u64));
		if (!t->addr[l])
			return -ENOMEM;
		for (i = 0; i < t->n[l]; i++)
			t->addr[l][i] = LZ_NOWHERE;
		t->dirty[l] = lz_zalloc_array(t->n[l], 1);
		if (!t->dirty[l])
			return -ENOMEM;
	}
	return 0;
}

void lz_tree_exit(struct lz_tree *t)
{
	u32 l;

	for (l = 0; l < LZ_MAX_LEVELS; l++) {
		lz_free(t->addr[l]);
		lz_free(t->dirty[l]);
	}
}

/* lz_tree_above - how many nodes there may be from level @from on. */
u64 lz_tree_above(const struct lz_tree *t, u32 from)
{
	u64 n = 0;

	for (; from < t->levels; from++)
		n += t->n[from];
	return n;
}

/* lz_tree_set - a node has moved to @addr; its parent must be written again. */
void lz_tree_set(struct lz_tree *t, u32 level, u64 idx, u64 addr)
{
	WRITE_ONCE(t->addr[level][idx], addr);
	if (level + 1 < t->levels)
		t->dirty[level + 1][div_u64(idx, LZ_NODE_ENTRIES)] = 1;
}
