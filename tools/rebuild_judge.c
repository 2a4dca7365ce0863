// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the drive bear it out? An entry must stand the test of the zone it points into;
 * what does not is lost, and named.
 */
#include <stdlib.h>
#include "rebuild.h"

/* --- what is reported ------------------------------------------------------------- */

static int tell(struct rebuild_run **list, u32 *nr, u32 *max, u64 lba, u64 n, const char *why)
{
	struct rebuild_run *last = *nr ? &(*list)[*nr - 1] : NULL;

	if (last && last->lba + last->len == lba && last->why == why) {
		last->len += n;
		return 0;
	}
	*list = lz_grow(*list, max, *nr + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	(*list)[(*nr)++] = (struct rebuild_run){ lba, n, why };
	return 0;
}

static int lose(struct rebuild *b, u64 lba, const char *why)
{
	b->r->lost_blocks++;
	return tell(&b->r->lost, &b->r->nr_lost, &b->r->max_lost, lba, 1, why);
}

static int age(struct rebuild *b, u64 lba)
{
	b->r->aged_blocks++;
	return tell(&b->r->aged, &b->r->nr_aged, &b->r->max_aged, lba, 1,
		    "may be older than what was last written");
}

void rebuild_report_free(struct rebuild_report *r)
{
	lz_free(r->lost);
	lz_free(r->aged);
}

/* --- judgement -------------------------------------------------------------------- */

static int hear(struct rebuild *b, u32 zone, u32 off, u64 lba)
{
	u64 addr = lz_zone_addr(b->lz, zone, off);

	bit_set(b->spoken, addr);
	if (rebuild_get(b, lba) != addr)
		return 0;
	bit_set(b->named, addr);
	if (!bit_is(b->twice, addr))
		return 0;
	b->own = lz_grow(b->own, &b->max_own, b->nr_own + 1, sizeof(*b->own));
	if (!b->own)
		return -ENOMEM;
	b->own[b->nr_own++] = (struct owner){ addr, lba };
	return 0;
}

static int cmp_owner(const void *x, const void *y)
{
	const struct owner *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->lba < b->lba ? -1 : a->lba > b->lba;
}

/* The first owner of @addr or of what lies behind it. */
static u32 first_owner(const struct rebuild *b, u64 addr)
{
	u32 lo = 0, hi = b->nr_own;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (b->own[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Do summaries say so, and of no other block? */
static bool owns(const struct rebuild *b, u64 addr, u64 lba)
{
	u32 from = first_owner(b, addr), to = first_owner(b, addr + 1);

	return from < to && b->own[from].lba == lba && b->own[to - 1].lba == lba;
}

/* Why a block cannot lie where the map says; NULL: it may. */
static const char *refuted(const struct rebuild *b, u64 lba, u64 addr)
{
	u32 zone = lz_addr_zone(b->lz, addr), off = lz_addr_off(b->lz, addr);
	const struct lz_zone_report *rep = &b->s.rep[zone];
	bool aged = b->broken && !bit_is(b->certain, lba);

	if (b->s.log[zone])
		return "its place is in the metadata log";
	if (bit_is(b->twice, addr) && !owns(b, addr, lba))
		return "its place is another block's";
	/* What an offline zone held cannot be read, and stays an error. */
	if (rep->cond == LZ_COND_OFFLINE)
		return NULL;
	if (rep->cond == LZ_COND_EMPTY || b->lz->zone[zone].flags & LZ_ZF_LOST)
		return "its zone was reset by someone else";
	if (off >= scan_have(&b->s, zone))
		return "its place is past the zone's write pointer";
	if (bit_is(b->spoken, addr) && !bit_is(b->named, addr))
		return "its place is another block's";
	if (rep->cond == LZ_COND_OPEN && b->lz->zone[zone].need > rep->wp &&
	    !bit_is(b->named, addr))
		return "its zone was reset by someone else";
	if (aged && !bit_is(b->named, addr))
		return "the journal is damaged, and no summary says where it is";
	return NULL;
}

/* Marks what is in use, and what summaries say of it. */
int rebuild_hear(struct rebuild *b)
{
	u64 lba, addr;
	u32 zone;
	int ok;

	for (lba = 0; lba < b->lz->si.logical_blocks; lba++) {
		addr = rebuild_get(b, lba);
		if (addr == LZ_NOWHERE)
			continue;
		if (bit_is(b->used, addr))
			bit_set(b->twice, addr);
		bit_set(b->used, addr);
		b->lz->zone[lz_addr_zone(b->lz, addr)].tree_valid++;
	}
	for (zone = 2; zone < b->lz->si.nr_zones; zone++) {
		struct lz_zone *z = &b->lz->zone[zone];

		if (!z->tree_valid)
			continue;
		z->tree_valid = 0;
		if (b->s.log[zone])
			continue;
		/* First all of it must be whole. */
		ok = rebuild_each_claim(b, zone, z->head, z->sum_seq, z->gen, NULL);
		if (ok > 0)
			ok = rebuild_each_claim(b, zone, z->head, z->sum_seq, z->gen, hear);
		if (ok < 0)
			return ok;
		if (!ok)
			z->head = LZ_NO_OFFSET;
		if (!ok || z->head == LZ_NO_OFFSET) {
			z->flags |= LZ_ZF_SCAN;
			z->sum_seq = 0;
		}
	}
	if (b->nr_own)
		sort(b->own, b->nr_own, sizeof(*b->own), cmp_owner, NULL);
	return 0;
}

/*
 * Zones that were reset though the map leads to them: by someone else; or by ourselves,
 * if there was a later root, and a damaged block stands where one could be.
 */
int rebuild_doubt_root(struct rebuild *b)
{
	u64 lba, addr;

	if (b->broken || !scan_root_lost(&b->s))
		return 0;
	for (lba = 0; lba < b->lz->si.logical_blocks && !b->broken; lba++) {
		addr = rebuild_get(b, lba);
		if (addr == LZ_NOWHERE)
			continue;
		b->broken = b->s.rep[lz_addr_zone(b->lz, addr)].cond != LZ_COND_OFFLINE &&
			(!scan_holds(&b->s, addr) || b->s.log[lz_addr_zone(b->lz, addr)]);
	}
	if (b->broken)
		b->certain = lz_zalloc_array(b->lz->si.logical_blocks / 8 + 1, 1);
	return b->broken && !b->certain ? -ENOMEM : 0;
}

int rebuild_judge(struct rebuild *b)
{
	struct lz *lz = b->lz;
	u64 lba, addr;
	int err = 0;

	for (lba = 0; lba < lz->si.logical_blocks && !err; lba++) {
		struct lz_zone *z;
		const char *why;

		addr = rebuild_get(b, lba);
		if (bit_is(b->unknown, lba)) {
			err = lose(b, lba,
				   "its map leaf is damaged, and nothing proves where it is");
			continue;
		}
		if (addr == LZ_NOWHERE) {
			/* It may have been mapped by what is lost. */
			if (b->broken && !bit_is(b->certain, lba))
				err = age(b, lba);
			continue;
		}
		why = refuted(b, lba, addr);
		if (why) {
			err = lose(b, lba, why);
			if (!err)
				err = rebuild_set(b, lba, LZ_NOWHERE);
			lz->zone[lz_addr_zone(lz, addr)].suspect = true;
			continue;
		}
		if (b->broken && !bit_is(b->certain, lba))
			err = age(b, lba);
		z = &lz->zone[lz_addr_zone(lz, addr)];
		z->tree_valid++;
		b->r->mapped++;
		if (!bit_is(b->named, addr))
			z->flags |= LZ_ZF_SCAN;
	}
	return err;
}

void rebuild_finish_zones(struct rebuild *b)
{
	struct lz *lz = b->lz;
	u32 zone, i;

	for (zone = 2; zone < lz->si.nr_zones; zone++) {
		struct lz_zone *z = &lz->zone[zone];

		/* To be found as it is now if this has to be done again. */
		z->suspect |= !z->tree_valid && b->ent[zone].valid &&
			b->s.rep[zone].cond != LZ_COND_EMPTY;
		z->suspect |= b->s.rep[zone].cond == LZ_COND_OPEN && z->need > b->s.rep[zone].wp;
		z->need = 0;
		z->life = 0;
		atomic_set(&z->valid, z->tree_valid);
		z->state = !z->tree_valid ? LZ_ZS_FREE :
			b->s.rep[zone].cond == LZ_COND_OPEN ? LZ_ZS_OPEN : LZ_ZS_FULL;
		b->r->scanned += z->tree_valid && (z->flags & LZ_ZF_SCAN);
	}
	/* Not to be reset while they may be needed again. */
	for (i = 0; i < b->s.nr; i++)
		lz->zone[lz_addr_zone(lz, b->s.b[i].addr)].live++;
}
