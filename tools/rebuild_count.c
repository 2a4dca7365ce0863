// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks of lost leaves, found by counting: what the zone table says is in use of a zone
 * and nothing accounts for, against what its summaries name.
 */
#include <stdlib.h>
#include "rebuild.h"

int rebuild_each_claim(struct rebuild *b, u32 zone, u32 head, u32 seq, u32 gen, claim_fn fn)
{
	const struct lz_summary *s = (void *)b->buf;
	u32 group = 0, prev, i, j;
	int err;

	while (head != LZ_NO_OFFSET) {
		prev = LZ_NO_OFFSET;
		for (i = 0; i < (i ? group : 1); i++) {
			struct lz_want w = {
				.uuid = b->lz->si.uuid, .type = LZ_BT_SUMMARY, .addr = LZ_NO_ADDR,
				.index = zone, .epoch_max = b->s.epoch,
			};

			if ((u64)head + i >= scan_have(&b->s, zone) ||
			    lz_read_sync(b->lz, lz_zone_addr(b->lz, zone, head + i), 1, b->buf) ||
			    !lz_valid(s, &w, NULL, 0))
				return 0;
			group = i ? group : le32_to_cpu(s->group);
			prev = i ? prev : le32_to_cpu(s->prev);
			if (le32_to_cpu(s->gen) != gen || le32_to_cpu(s->nth) != i ||
			    le32_to_cpu(s->group) != group || le32_to_cpu(s->prev) != prev ||
			    group > seq || le64_to_cpu(s->h.seq) != seq - group + 1 + i)
				return 0;
			for (j = 0; fn && j < le32_to_cpu(s->h.count); j++) {
				u64 e = le64_to_cpu(s->e[j]);

				if (lz_sum_offset(e) >= head + group ||
				    lz_sum_lba(e) >= b->lz->si.logical_blocks)
					return 0;
				err = fn(b, zone, lz_sum_offset(e), lz_sum_lba(e));
				if (err)
					return err;
			}
		}
		seq -= group;
		if (prev != LZ_NO_OFFSET && prev >= head)
			return 0;
		head = prev;
	}
	return !seq;
}

static int collect(struct rebuild *b, u32 zone, u32 off, u64 lba)
{
	if (!bit_is(b->unknown, lba))
		return 0;
	b->claim = lz_grow(b->claim, &b->max_claim, b->nr_claim + 1, sizeof(*b->claim));
	if (!b->claim)
		return -ENOMEM;
	b->claim[b->nr_claim++] = (struct claim){ .lba = lba, .zone = zone, .off = off };
	return 0;
}

static int cmp_claim(const void *x, const void *y)
{
	const struct claim *a = x, *b = y;

	if (a->lba != b->lba)
		return a->lba < b->lba ? -1 : 1;
	return a->zone < b->zone ? -1 : a->zone > b->zone;
}

/* Of several places in one zone for one block: is this the first? */
static bool is_first(const struct rebuild *b, u32 i)
{
	const struct claim *c = &b->claim[i];

	return !i || c[-1].lba != c->lba || c[-1].zone != c->zone;
}

/* Blocks that each zone could hold, each counted once. */
static void count_claims(struct rebuild *b)
{
	u32 i;

	for (i = 0; i < b->lz->si.nr_zones; i++)
		b->tally[i].first = LZ_NONE;
	for (i = b->nr_claim; i--; ) {
		struct claim *c = &b->claim[i];

		c->next = b->tally[c->zone].first;
		b->tally[c->zone].first = i;
		b->tally[c->zone].lbas += is_first(b, i);
	}
}

/*
 * A zone that has nothing unaccounted for holds none of the unknown blocks; one that has
 * as many as it can hold holds all of them.
 */
static bool is_due(const struct tally *t)
{
	return t->known && !t->done && (!t->want || t->want == t->lbas);
}

/*
 * Block @i and all others of the same lba: it lies in @zone, or not there. Zones that are
 * due by that are added to the @n in @todo. Returns how many these are then.
 */
static u32 place(struct rebuild *b, u32 i, u32 zone, bool there, u32 *todo, u32 n)
{
	u64 lba = b->claim[i].lba;

	while (i && b->claim[i - 1].lba == lba)
		i--;
	for (; i < b->nr_claim && b->claim[i].lba == lba; i++) {
		struct claim *c = &b->claim[i];
		struct tally *t = &b->tally[c->zone];
		bool here = c->zone == zone;

		if (c->out || here == there)
			continue;
		c->out = true;
		if (!is_first(b, i))
			continue;
		t->lbas--;
		/* One that has nothing has been due from the beginning. */
		if (t->want && is_due(t))
			todo[n++] = c->zone;
	}
	return n;
}

/* What one zone holds may settle what others do. */
static int settle(struct rebuild *b)
{
	u32 nr = b->lz->si.nr_zones, n = 0, zone, i;
	u32 *todo = lz_zalloc_array(nr, sizeof(*todo));

	if (!todo)
		return -ENOMEM;
	count_claims(b);
	for (zone = 2; zone < nr; zone++)
		if (is_due(&b->tally[zone]))
			todo[n++] = zone;
	while (n) {
		struct tally *t = &b->tally[zone = todo[--n]];

		if (!is_due(t))
			continue;
		t->done = true;
		for (i = t->first; i != LZ_NONE; i = b->claim[i].next)
			if (!b->claim[i].out)
				n = place(b, i, zone, t->want, todo, n);
	}
	lz_free(todo);
	return 0;
}

/* What is settled goes to the map. Two places of a zone for one block settle nothing. */
static int take_settled(struct rebuild *b, bool complete)
{
	u32 i, k, left;
	int err = 0;
	u64 lba;

	for (i = 0; i < b->nr_claim && !err; i = k) {
		const struct claim *one = NULL;

		left = 0;
		for (k = i; k < b->nr_claim && b->claim[k].lba == b->claim[i].lba; k++) {
			if (b->claim[k].out)
				continue;
			one = &b->claim[k];
			left++;
		}
		if (left != 1 || !b->tally[one->zone].done)
			continue;
		bit_clear(b->unknown, one->lba);
		b->nr_unknown--;
		b->r->counted++;
		err = rebuild_set(b, one->lba, lz_zone_addr(b->lz, one->zone, one->off));
	}
	if (!complete)
		return err;
	/* Nothing is hidden anywhere, so what nobody claims is nowhere. */
	for (i = 0, lba = 0; lba < b->lz->si.logical_blocks; lba++) {
		bool claimed = false;

		for (; i < b->nr_claim && b->claim[i].lba <= lba; i++)
			claimed |= b->claim[i].lba == lba && !b->claim[i].out;
		if (bit_is(b->unknown, lba) && !claimed) {
			bit_clear(b->unknown, lba);
			b->nr_unknown--;
		}
	}
	return err;
}

static int mark_reborn(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg)
{
	(void)certain;
	(void)arg;
	if (lz_jrec_type(r) == LZ_JR_ZOPEN && lz_jrec_lba(r) < b->lz->si.nr_zones)
		b->reborn[lz_jrec_lba(r)] = 1;
	return 0;
}

/*
 * Collects what a zone's summaries say. The table is written later than the map it goes
 * with, and may speak of a later life: not if the zone was not written to meanwhile.
 * What lay in a zone that has been opened since is mapped elsewhere by the journal.
 */
static int count_zone(struct rebuild *b, u32 zone, bool *complete)
{
	const struct lz_zent *e = &b->ent[zone];
	struct tally *t = &b->tally[zone];
	int ok = 0;

	t->known = !t->want;
	if (b->reborn[zone])
		return 0;
	if (!(le16_to_cpu(e->flags) & LZ_ZF_SCAN) &&
	    le64_to_cpu(e->seq) <= le64_to_cpu(b->base->write_seq))
		ok = rebuild_each_claim(b, zone, le32_to_cpu(e->head), le32_to_cpu(e->sum_seq),
					le32_to_cpu(e->gen), collect);
	t->known |= ok > 0;
	*complete &= t->known;
	return min(ok, 0);
}

int rebuild_count(struct rebuild *b)
{
	u32 nr = b->lz->si.nr_zones, zone;
	bool complete = true;
	u64 lba, addr;
	int err;

	b->tally = lz_zalloc_array(nr, sizeof(*b->tally));
	b->reborn = lz_zalloc_array(nr, 1);
	if (!b->tally || !b->reborn)
		return -ENOMEM;
	for (zone = 0; zone < nr; zone++) {
		b->tally[zone].want = le32_to_cpu(b->ent[zone].valid);
		if (!b->ent_ok[zone / LZ_ZNODE_ENTRIES])
			return 0;
	}
	for (lba = 0; lba < b->lz->si.logical_blocks; lba++) {
		addr = rebuild_get(b, lba);
		if (addr == LZ_NOWHERE)
			continue;
		/* Then one of the two is not what it seems, and neither is proof. */
		if (!b->tally[lz_addr_zone(b->lz, addr)].want--)
			return 0;
	}
	err = rebuild_each_commit(b, &b->path, 0, mark_reborn, NULL);
	for (zone = 2; zone < nr && !err; zone++)
		err = count_zone(b, zone, &complete);
	if (err)
		return err;
	if (b->nr_claim)
		sort(b->claim, b->nr_claim, sizeof(*b->claim), cmp_claim, NULL);
	err = settle(b);
	return err ? err : take_settled(b, complete);
}
