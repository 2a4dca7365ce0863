// SPDX-License-Identifier: GPL-2.0-only
/*
 * The metadata that lies on a drive, found by looking and not by following.
 *
 * Both root zones are read whole, and every zone of the log. A zone is taken for
 * one of the log if one of its first blocks is a whole block of it, or a root points
 * into it. Users' data could hold anything: who knows the device's uuid can make a zone of
 * data look like one of the log, but not a root point to it. Nor is a root in it believed:
 * one that a repair has set aside has its superblock before it and nothing behind it, where a
 * zone of data has summaries.
 *
 * Recovery believes what it is led to, and where nothing leads on, there it ends.
 * Seen from here an end can be a loss: if something lies on the drive that was
 * only ever written after what would have led to it.
 */
#include "scan.h"

#define PIECE	64u		/* blocks read at a time */
#define FRONT	4u		/* blocks by which a zone of the log is known */

u32 scan_have(const struct scan *s, u32 zone)
{
	const struct lz_zone_report *rep = &s->rep[zone];

	if (rep->cond == LZ_COND_EMPTY || rep->cond == LZ_COND_OFFLINE)
		return 0;
	return lz_zone_written(s->lz, rep);
}

bool scan_holds(const struct scan *s, u64 addr)
{
	u32 zone = lz_addr_zone(s->lz, addr);

	return addr < LZ_NOWHERE && zone >= 2 && zone < s->lz->si.nr_zones &&
		lz_addr_off(s->lz, addr) < scan_have(s, zone);
}

/* A block of the log that is whole, as what its own header says. */
static bool whole(const struct scan *s, const void *block, u64 addr)
{
	const struct lz_hdr *h = block;
	struct lz_want w = {
		.uuid = s->lz->si.uuid, .type = le16_to_cpu(h->type),
		.level = le16_to_cpu(h->level), .addr = addr, .index = ~0ull,
	};

	if (w.type != LZ_BT_JOURNAL && w.type != LZ_BT_NODE && w.type != LZ_BT_ZNODE)
		return false;
	return w.level < LZ_MAX_LEVELS && lz_valid(block, &w, NULL, 0);
}

/* No device gets to such numbers: it is whole, but belongs nowhere. */
static bool is_late(const struct scan_block *b)
{
	return max(b->epoch, b->seq) > LZ_NUMBER_LATE;
}

static int cmp_addr(const void *a, const void *b)
{
	const struct scan_block *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

const struct scan_block *scan_at(const struct scan *s, u64 addr)
{
	struct scan_block key = { .addr = addr };

	return s->nr ? bsearch(&key, s->b, s->nr, sizeof(key), cmp_addr) : NULL;
}

static int add_block(struct scan *s, const void *block, u64 addr)
{
	const struct lz_journal *j = block;
	struct scan_block *b;

	s->b = lz_grow(s->b, &s->max, s->nr + 1, sizeof(*s->b));
	if (!s->b)
		return -ENOMEM;
	b = &s->b[s->nr++];
	*b = (struct scan_block){
		.addr = addr, .epoch = le64_to_cpu(j->h.epoch), .seq = le64_to_cpu(j->h.seq),
		.index = le64_to_cpu(j->h.index), .type = le16_to_cpu(j->h.type),
		.level = le16_to_cpu(j->h.level), .next = LZ_NONE,
	};
	if (is_late(b))
		return 0;
	s->epoch = max(s->epoch, b->epoch);
	if (b->type != LZ_BT_JOURNAL) {
		s->ckpt = max(s->ckpt, b->seq);
		return 0;
	}
	b->first = le64_to_cpu(j->first);
	b->next = le32_to_cpu(j->next_zone);
	b->more = le32_to_cpu(j->more);
	s->commit = max(s->commit, b->index);
	s->jseq = max(s->jseq, b->seq);
	return 0;
}

static int add_bad(struct scan *s, u64 addr)
{
	s->bad = lz_grow(s->bad, &s->max_bad, s->nr_bad + 1, sizeof(*s->bad));
	if (!s->bad)
		return -ENOMEM;
	s->bad[s->nr_bad++] = addr;
	return 0;
}

/* Of one block of a zone; @block is NULL if it cannot be read. */
typedef int (*block_fn)(struct scan *s, u32 zone, u32 off, const void *block, void *arg);

/* Calls @fn for what is written of @zone from @off on, until it fails. Reads many at once. */
static int each_block(struct scan *s, u32 zone, u32 off, block_fn fn, void *arg)
{
	u32 have = scan_have(s, zone), n, i;
	bool together;
	int err = 0;

	for (; off < have && !err; off += n) {
		n = min3_u32(have - off, PIECE, s->lz->append_max);
		together = !lz_read_sync(s->lz, lz_zone_addr(s->lz, zone, off), n, s->buf);
		for (i = 0; i < n && !err; i++) {
			u8 *block = s->buf + (size_t)i * LZ_BLOCK_SIZE;
			bool ok = together || !lz_read_sync(s->lz,
							    lz_zone_addr(s->lz, zone, off + i), 1,
							    block);

			err = fn(s, zone, off + i, ok ? block : NULL, arg);
		}
	}
	return err;
}

static int unread_block(struct scan *s, u32 zone, u32 off, const void *block, void *arg)
{
	const u8 *known = arg;

	(void)s;
	(void)zone;
	return !block && !bit_is(known, off);
}

bool scan_unread(struct scan *s, u32 zone, u32 off, u8 *known)
{
	return each_block(s, zone, off, unread_block, known);
}

static bool comes_before(const struct scan_block *a, const struct scan_block *b)
{
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch;
	return a->type == LZ_BT_JOURNAL ? a->seq < b->seq : a->seq <= b->seq;
}

/*
 * Of blocks @first and on, all of one zone, those of the journal or the nodes: @keep is
 * set for the longest series of them whose numbers rise. (Patience sorting.)
 */
static int keep_rising(const struct scan *s, u32 first, bool journal, u8 *keep)
{
	u32 n = s->nr - first, *pile = lz_zalloc_array(n + 1, sizeof(*pile)), piles = 0, i;
	u32 *prev = lz_zalloc_array(n + 1, sizeof(*prev));

	for (i = 0; pile && prev && i < n; i++) {
		const struct scan_block *b = &s->b[first + i];
		u32 lo = 0, hi = piles;

		if (is_late(b) || (b->type == LZ_BT_JOURNAL ? !journal : journal))
			continue;
		while (lo < hi) {
			u32 mid = (lo + hi) / 2;

			if (comes_before(&s->b[first + pile[mid]], b))
				lo = mid + 1;
			else
				hi = mid;
		}
		prev[i] = lo ? pile[lo - 1] : LZ_NONE;
		pile[lo] = i;
		piles = max(piles, lo + 1);
	}
	for (i = pile && prev && piles ? pile[piles - 1] : LZ_NONE; i != LZ_NONE; i = prev[i])
		keep[i] = 1;
	n = pile && prev ? 0 : 1;
	lz_free(pile);
	lz_free(prev);
	return n ? -ENOMEM : 0;
}

/* Blocks that are whole but cannot stand where they do are as good as damaged. */
static int drop_odd(struct scan *s, u32 first)
{
	u8 *keep = lz_zalloc_array(s->nr - first + 1, 1);
	int err = keep ? keep_rising(s, first, true, keep) : -ENOMEM;
	u32 i, n = first;

	if (!err)
		err = keep_rising(s, first, false, keep);
	for (i = first; i < s->nr && !err; i++) {
		if (keep[i - first]) {
			s->b[n++] = s->b[i];
			continue;
		}
		err = add_bad(s, s->b[i].addr);
		s->odd = lz_grow(s->odd, &s->max_odd, s->nr_odd + 1, sizeof(*s->odd));
		if (!s->odd)
			err = -ENOMEM;
		else
			s->odd[s->nr_odd++] = s->b[i];
	}
	s->nr = err ? s->nr : n;
	lz_free(keep);
	return err;
}

static int log_block(struct scan *s, u32 zone, u32 off, const void *block, void *arg)
{
	u64 addr = lz_zone_addr(s->lz, zone, off);

	(void)arg;
	return block && whole(s, block, addr) ? add_block(s, block, addr) : add_bad(s, addr);
}

static int scan_zone(struct scan *s, u32 zone)
{
	u32 first = s->nr;
	int err = each_block(s, zone, 0, log_block, NULL);

	return err ? err : drop_odd(s, first);
}

/* A zone is one of the log if something of it still stands at @addr. */
static void mark(struct scan *s, u64 addr)
{
	u32 zone = lz_addr_zone(s->lz, addr);

	if (!scan_holds(s, addr) || s->log[zone])
		return;
	s->log[zone] = !lz_read_sync(s->lz, addr, 1, s->buf) && whole(s, s->buf, addr);
}

/* Where it may begin within, behind what is damaged: something from @off of @zone on. */
static void mark_from(struct scan *s, u32 zone, u32 off)
{
	u32 have = zone < s->lz->si.nr_zones ? scan_have(s, zone) : 0;

	for (; off < have && !s->log[zone]; off++)
		mark(s, lz_zone_addr(s->lz, zone, off));
}

static void find_log(struct scan *s)
{
	u32 zone, i, k;

	for (zone = 2; zone < s->lz->si.nr_zones; zone++)
		for (i = 0; i < FRONT; i++)
			mark(s, lz_zone_addr(s->lz, zone, i));
	for (k = 0; k < s->nr_root; k++) {
		for (i = 0; i < LZ_ROOT_MAP_TOP; i++)
			mark(s, le64_to_cpu(s->root[k].r->map_top[i]));
		for (i = 0; i < LZ_ROOT_ZTAB_TOP; i++)
			mark(s, le64_to_cpu(s->root[k].r->ztab_top[i]));
	}
	/* Zones of older journals may be others' by now, and are as large. */
	for (k = 0; k < min(s->nr_root, 2u); k++) {
		u64 addr = le64_to_cpu(s->root[k].r->journal_addr);

		mark_from(s, lz_addr_zone(s->lz, addr), lz_addr_off(s->lz, addr));
	}
}

/* Does a link of the newest root's journal lead to a zone of the log that was not known? */
static bool find_linked(struct scan *s)
{
	const struct lz_root *root = s->nr_root ? s->root[0].r : NULL;
	bool more = false;
	u32 i;

	for (i = 0; i < s->nr && root; i++) {
		const struct scan_block *b = &s->b[i];

		if (b->next < 2 || b->next >= s->lz->si.nr_zones ||
		    s->log[b->next] || b->epoch != le64_to_cpu(root->h.epoch) ||
		    b->seq < le64_to_cpu(root->journal_seq))
			continue;
		mark_from(s, b->next, 0);
		more |= s->log[b->next];
	}
	return more;
}

static int add_root(struct scan *s, u64 addr, const struct lz_root *r)
{
	u64 seq = le64_to_cpu(r->h.seq);
	struct lz_root *copy;
	u32 i;

	if (max(le64_to_cpu(r->h.epoch), seq) > LZ_NUMBER_LATE ||
	    max(le64_to_cpu(r->commit), le64_to_cpu(r->journal_seq)) > LZ_NUMBER_LATE) {
		s->beyond = true;
		return 0;
	}
	s->epoch = max(s->epoch, le64_to_cpu(r->h.epoch));
	s->ckpt = max(s->ckpt, seq);
	s->commit = max(s->commit, le64_to_cpu(r->commit));
	s->jseq = max(s->jseq, le64_to_cpu(r->journal_seq));
	for (i = 0; i < s->nr_root && le64_to_cpu(s->root[i].r->h.seq) > seq; i++)
		;
	if (i == SCAN_ROOTS || (i < s->nr_root && le64_to_cpu(s->root[i].r->h.seq) == seq &&
				s->root[i].r->h.epoch == r->h.epoch))
		return 0;
	copy = lz_alloc_blocks(1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, r, sizeof(*copy));
	memmove(&s->root[i + 1], &s->root[i], (s->nr_root - i) * sizeof(s->root[0]));
	s->root[i] = (struct scan_root){ addr, copy };
	if (++s->nr_root > SCAN_ROOTS)
		lz_free_blocks(s->root[--s->nr_root].r);
	return 0;
}

static int root_block(struct scan *s, u32 zone, u32 off, const void *block, void *arg)
{
	struct lz_want w = {
		.uuid = s->lz->si.uuid, .type = LZ_BT_ROOT,
		.addr = lz_zone_addr(s->lz, zone, off),
	};
	u64 *last = arg;

	if (!block)
		return 0;
	if (lz_valid(block, &w, NULL, 0)) {
		const struct lz_root *r = block;

		/* The first of a zone counts only with its superblock. */
		if (off < LZ_SUPER_COPIES + LZ_ROOT_COPIES && !s->super[zone])
			return 0;
		if (le64_to_cpu(r->h.seq) < *last)
			s->shuffled = w.addr;
		*last = le64_to_cpu(r->h.seq);
		s->copy = lz_grow(s->copy, &s->max_copy, s->nr_copy + 1, sizeof(*s->copy));
		if (!s->copy)
			return -ENOMEM;
		s->copy[s->nr_copy++] = (struct scan_copy){ w.addr, *last };
		return add_root(s, w.addr, r);
	}
	w.type = LZ_BT_SUPER;
	if (off < LZ_SUPER_COPIES && lz_valid(block, &w, NULL, 0)) {
		s->super[zone] |= 1 << off;
		s->super_epoch[zone][off] = le64_to_cpu(((const struct lz_hdr *)block)->epoch);
		s->super_seq[zone][off] = le64_to_cpu(((const struct lz_hdr *)block)->seq);
	}
	return 0;
}

static int scan_roots(struct scan *s, u32 zone)
{
	u32 have = scan_have(s, zone), copies = s->nr_copy;
	u64 last = 0;
	int err = each_block(s, zone, 0, root_block, &last);

	if (!err && have && (s->nr_copy == copies ||
			     lz_addr_off(s->lz, s->copy[s->nr_copy - 1].addr) + 1 < have))
		s->tail[zone] = true;
	return err;
}

static bool has_root(const struct scan *s, u32 zone)
{
	u32 i;

	for (i = 0; i < s->nr_copy; i++)
		if (lz_addr_zone(s->lz, s->copy[i].addr) == zone)
			return true;
	return false;
}

/* Where a root zone has no root and the other is full it may be about to be begun. */
static u32 without_root(const struct scan *s)
{
	u32 zone;

	for (zone = 0; zone < 2; zone++)
		if (!has_root(s, zone) && s->super[zone ^ 1] &&
		    scan_have(s, zone ^ 1) == s->lz->g.zone_cap)
			return zone;
	return LZ_NONE;
}

/* Is there something behind the front of a zone? */
static int goes_on(struct scan *s, u32 zone, u32 off, const void *block, void *arg)
{
	(void)s;
	(void)zone;
	(void)arg;
	return off >= FRONT && block && !is_blank(block);
}

/*
 * Address of the root at the front of @zone, copied to @r, if that is all there is but for its
 * superblock; or 0.
 */
static u64 root_aside(struct scan *s, u32 zone, struct lz_root *r)
{
	struct lz_want w = { .uuid = s->lz->si.uuid };
	const struct lz_hdr *h = (void *)s->buf;
	u64 addr = 0, epoch = 0, seq = 0;
	bool super = false;
	u32 off;

	for (off = 0; off < min(scan_have(s, zone), FRONT); off++) {
		w.addr = lz_zone_addr(s->lz, zone, off);
		if (lz_read_sync(s->lz, w.addr, 1, s->buf))
			continue;
		w.type = LZ_BT_SUPER;
		if (off < LZ_SUPER_COPIES && lz_valid(s->buf, &w, NULL, 0)) {
			super = true;
			epoch = le64_to_cpu(h->epoch);
			seq = le64_to_cpu(h->seq);
		}
		w.type = LZ_BT_ROOT;
		if (super && le64_to_cpu(h->epoch) == epoch && le64_to_cpu(h->seq) == seq &&
		    lz_valid(s->buf, &w, NULL, 0)) {
			addr = w.addr;
			memcpy(r, s->buf, sizeof(*r));
		}
	}
	return addr && !each_block(s, zone, 0, goes_on, NULL) ? addr : 0;
}

/* If by a repair, the newest root is at the front of some other zone: see rewrite.c. */
static int find_aside(struct scan *s)
{
	struct lz_root *r;
	int err = 0;
	u64 addr;
	u32 i;

	if (without_root(s) == LZ_NONE)
		return 0;
	r = lz_alloc_blocks(1);
	if (!r)
		return -ENOMEM;
	for (i = 2; i < s->lz->si.nr_zones && !err; i++) {
		const struct lz_zone *z = &s->lz->zone[i];

		/* Users' data, if the device is loaded. */
		if (z->state == LZ_ZS_OPEN || atomic_read(&z->valid) > 0)
			continue;
		addr = root_aside(s, i, r);
		if (addr)
			err = add_root(s, addr, r);
	}
	lz_free_blocks(r);
	return err;
}

u32 scan_begun(const struct scan *s)
{
	return s->nr_root && lz_addr_zone(s->lz, s->root[0].addr) >= 2 ? without_root(s) : LZ_NONE;
}

/* A zone is reset before it is begun again: what comes after older roots is older. */
bool scan_root_lost(const struct scan *s)
{
	u32 zone = lz_addr_zone(s->lz, s->root[0].addr), i;
	u64 last = 0;

	/* Where the newest was is gone. */
	if (zone >= 2)
		return true;
	for (i = 0; i < s->nr_copy; i++)
		if (lz_addr_zone(s->lz, s->copy[i].addr) != zone)
			last = s->copy[i].seq;
	return s->tail[zone] ||
		(s->tail[zone ^ 1] && (!last || last >= le64_to_cpu(s->root[0].r->h.seq)));
}

static bool ends_commit(const struct scan_block *b)
{
	return b->type == LZ_BT_JOURNAL && !b->more && b->next == LZ_NONE;
}

/* Highest epoch below @limit of anything, and whether a root or the end of a commit has it. */
static u64 top_epoch(const struct scan *s, u64 limit, bool *rooted, u32 *ckpts)
{
	u64 top = 0, seq = 0;
	u32 i;

	for (i = 0; i < s->nr; i++)
		if (s->b[i].epoch < limit)
			top = max(top, s->b[i].epoch);
	for (i = 0; i < s->nr_root; i++)
		if (le64_to_cpu(s->root[i].r->h.epoch) < limit)
			top = max_t(u64, top, le64_to_cpu(s->root[i].r->h.epoch));
	*rooted = false;
	*ckpts = 0;
	for (i = 0; i < s->nr_root; i++)
		*rooted |= le64_to_cpu(s->root[i].r->h.epoch) == top;
	for (i = 0; i < s->nr; i++) {
		const struct scan_block *b = &s->b[i];

		if (b->epoch != top)
			continue;
		*rooted |= ends_commit(b);
		*ckpts += b->type != LZ_BT_JOURNAL && b->seq != seq;
		seq = b->type != LZ_BT_JOURNAL ? b->seq : seq;
	}
	return top;
}

/*
 * A repair raises the epoch by two, writes one checkpoint and no commit. What it did not bring
 * to an end, by a root, has never counted; it may lack what was lost to it.
 */
static void drop_aborted(struct scan *s)
{
	u64 top, below, limit = ~0ull;
	bool rooted, any;
	u32 ckpts, more, i, n;

	for (;;) {
		top = top_epoch(s, limit, &rooted, &ckpts);
		below = top_epoch(s, top, &any, &more);
		if (rooted || ckpts > 1 || !below || top < below + LZ_REPAIR_EPOCHS)
			return;
		for (i = 0, n = 0; i < s->nr; i++)
			if (s->b[i].epoch != top)
				s->b[n++] = s->b[i];
		s->nr = n;
		limit = top;
	}
}

/*
 * An epoch's first checkpoint writes all of the zone table, so it is always of the root's
 * epoch. A root of which that is not so is none.
 */
static void drop_forged(struct scan *s)
{
	const struct scan_block *b;
	u32 i, n = 0;

	for (i = 0; i < s->nr_root; i++) {
		b = scan_at(s, le64_to_cpu(s->root[i].r->ztab_top[0]));
		if (!b || b->type != LZ_BT_ZNODE ||
		    b->epoch >= le64_to_cpu(s->root[i].r->h.epoch)) {
			s->root[n++] = s->root[i];
			continue;
		}
		s->forged = s->root[i].addr;
		lz_free_blocks(s->root[i].r);
	}
	s->nr_root = n;
}

static int cmp_seq(const void *x, const void *y)
{
	const struct scan_block *a = *(const struct scan_block **)x;
	const struct scan_block *b = *(const struct scan_block **)y;

	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int index_journal(struct scan *s)
{
	u32 i;

	s->journal = lz_zalloc_array(s->nr + 1, sizeof(*s->journal));
	if (!s->journal)
		return -ENOMEM;
	for (i = s->nr; i-- > 1; )
		s->b[i - 1].passed = lz_addr_zone(s->lz, s->b[i - 1].addr) ==
			lz_addr_zone(s->lz, s->b[i].addr) &&
			(s->b[i].passed || ends_commit(&s->b[i]));
	for (i = 0; i < s->nr; i++) {
		if (s->b[i].type == LZ_BT_JOURNAL)
			s->journal[s->nr_journal++] = &s->b[i];
		else
			s->node = max(s->node, s->b[i].seq);
	}
	sort(s->journal, s->nr_journal, sizeof(*s->journal), cmp_seq, NULL);
	return 0;
}

int scan_drive(struct scan *s, struct lz *lz, const struct lz_zone_report *rep)
{
	int err;
	u32 i;

	memset(s, 0, sizeof(*s));
	s->lz = lz;
	s->rep = rep;
	s->log = lz_zalloc_array(lz->si.nr_zones, 1);
	s->buf = lz_alloc_blocks(PIECE);
	if (!s->log || !s->buf)
		return -ENOMEM;
	err = scan_roots(s, 0);
	if (!err)
		err = scan_roots(s, 1);
	if (!err)
		err = find_aside(s);
	if (!err)
		find_log(s);
	do {
		s->nr = 0;
		s->nr_bad = 0;
		s->nr_odd = 0;
		for (i = 2; i < lz->si.nr_zones && !err; i++)
			if (s->log[i])
				err = scan_zone(s, i);
	} while (!err && find_linked(s));
	if (err)
		return err;
	drop_forged(s);
	drop_aborted(s);
	return index_journal(s);
}

void scan_free(struct scan *s)
{
	while (s->nr_root)
		lz_free_blocks(s->root[--s->nr_root].r);
	lz_free(s->odd);
	lz_free(s->copy);
	lz_free(s->journal);
	lz_free(s->b);
	lz_free(s->bad);
	lz_free(s->log);
	lz_free_blocks(s->buf);
}

/* --- the journal ------------------------------------------------------------------ */

u32 scan_next_zone(const struct scan *s, const struct scan_block *b)
{
	return b->next == LZ_NONE ? lz_addr_zone(s->lz, b->addr) : b->next;
}

bool scan_follows(const struct scan *s, const struct scan_block *a, const struct scan_block *b)
{
	return b->epoch == a->epoch && b->seq == a->seq + 1 &&
		lz_addr_zone(s->lz, b->addr) == scan_next_zone(s, a) &&
		(a->next != LZ_NONE || b->addr > a->addr);
}

/* Journal block @seq of @epoch, in @zone from @off on, or anywhere. */
static const struct scan_block *find_seq(const struct scan *s, u32 zone, u32 off, u64 seq,
					 u64 epoch)
{
	u32 lo = 0, hi = s->nr_journal;

	while (lo < hi) {
		const struct scan_block *b = s->journal[(lo + hi) / 2];

		if (b->epoch < epoch || (b->epoch == epoch && b->seq < seq))
			lo = (lo + hi) / 2 + 1;
		else
			hi = (lo + hi) / 2;
	}
	for (; lo < s->nr_journal; lo++) {
		const struct scan_block *b = s->journal[lo];

		if (b->epoch != epoch || b->seq != seq)
			return NULL;
		if (zone == LZ_NONE || (lz_addr_zone(s->lz, b->addr) == zone &&
					lz_addr_off(s->lz, b->addr) >= off))
			return b;
	}
	return NULL;
}

/* Is of a whole zone just the last block damaged, which can only have been a link? */
static bool link_lost(const struct scan *s, u32 zone)
{
	u32 last = s->lz->g.zone_cap - 1;

	return zone < s->lz->si.nr_zones && scan_have(s, zone) > last &&
		!scan_at(s, lz_zone_addr(s->lz, zone, last)) &&
		scan_at(s, lz_zone_addr(s->lz, zone, last - 1));
}

/*
 * As recovery walks it, but for this: all blocks are numbered, so where the next number
 * is found further on in a zone, what stands before it was no journal. And where only
 * the number of a link is missing, the journal goes on where the next is; unless there
 * may have been a later checkpoint, which can begin it anew without a link.
 */
int scan_walk(const struct scan *s, const struct lz_root *from, struct scan_path *p)
{
	u64 addr = le64_to_cpu(from->journal_addr), epoch = le64_to_cpu(from->h.epoch);
	const struct scan_block *b;

	p->zone = lz_addr_zone(s->lz, addr);
	p->off = lz_addr_off(s->lz, addr);
	p->seq = le64_to_cpu(from->journal_seq);
	for (;;) {
		b = find_seq(s, p->zone, p->off, p->seq, epoch);
		if (!b && s->node <= le64_to_cpu(from->h.seq) && link_lost(s, p->zone)) {
			b = find_seq(s, LZ_NONE, 0, p->seq + 1, epoch);
			if (b && lz_addr_zone(s->lz, b->addr) == p->zone)
				b = NULL;
			p->seq += b ? 1 : 0;
		}
		if (!b)
			return 0;
		p->b = lz_grow(p->b, &p->max, p->nr + 1, sizeof(*p->b));
		if (!p->b)
			return -ENOMEM;
		p->b[p->nr++] = b;
		p->seq++;
		p->zone = scan_next_zone(s, b);
		p->off = b->next != LZ_NONE ? 0 : lz_addr_off(s->lz, b->addr) + 1;
	}
}

const struct scan_block *scan_later(const struct scan *s, u64 epoch, u64 ckpt, u64 seq)
{
	u32 i;

	for (i = 0; i < s->nr; i++) {
		const struct scan_block *b = &s->b[i];

		/* A commit is ended, and a checkpoint begun, only after all before them. */
		if (ends_commit(b) && (b->epoch > epoch || (b->epoch == epoch && b->first > seq)))
			return b;
		if (b->type != LZ_BT_JOURNAL && b->seq > ckpt + 1)
			return b;
	}
	return NULL;
}

static __printf(2, 3) void found(struct lz_check_report *r, const char *fmt, ...)
{
	char line[256];
	va_list args;

	r->errors++;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (r->say)
		r->say(r->ctx, line);
}

/* By itself that is no damage, and all can be read. */
static void judge_numbers(const struct scan *s, struct lz_check_report *r)
{
	const struct lz *lz = s->lz;
	u64 most = max(max(lz->epoch, lz->ckpt.number), max(lz->commit.number, lz->jseq));

	most = max_t(u64, most, atomic64_read(&lz->write_seq));
	if (most < LZ_NUMBER_LATE)
		return;
	found(r, "metadata counts to %llu, which no device gets to: it can only be read",
	      (unsigned long long)most);
	r->unreadable++;
}

static void judge_order(const struct scan *s, struct lz_check_report *r)
{
	u32 i;

	for (i = 0; i < s->nr_odd; i++) {
		const struct scan_block *b = &s->odd[i];
		u32 zone = lz_addr_zone(s->lz, b->addr);

		if (s->lz->zone[zone].state == LZ_ZS_META)
			found(r,
			      "zone %u, offset %u: a %s of epoch %llu, number %llu, does not belong between its neighbours",
			      zone, lz_addr_off(s->lz, b->addr),
			      b->type == LZ_BT_JOURNAL ? "journal block" : "node",
			      (unsigned long long)b->epoch, (unsigned long long)b->seq);
	}
}

u8 scan_supers(const struct lz *lz)
{
	return (1 << lz_super_copies(lz)) - 1;
}

/* What a power cut may have left as well. */
static void judge_roots(const struct scan *s, void (*note)(void *ctx, const char *line), void *ctx)
{
	u32 zone = s->lz->root_zone, last = 0, copies = 0, others = 0, i;
	u64 seq = s->lz->ckpt.number;
	char line[160];

	for (i = 0; i < s->nr_copy; i++) {
		others += lz_addr_zone(s->lz, s->copy[i].addr) != zone;
		if (s->copy[i].seq == seq && lz_addr_zone(s->lz, s->copy[i].addr) == zone) {
			copies++;
			last = lz_addr_off(s->lz, s->copy[i].addr);
		}
	}
	if (copies < LZ_ROOT_COPIES && last + 1 < s->lz->g.zone_cap && s->lz->append_max > 1) {
		snprintf(line, sizeof(line),
			 "root zone %u: of the roots of checkpoint %llu only that at offset %u is whole: damaged, or cut short",
			 zone, (unsigned long long)seq, last);
		note(ctx, line);
	} else if (s->rep[zone].cond != LZ_COND_READONLY && last + 1 < scan_have(s, zone)) {
		snprintf(line, sizeof(line),
			 "root zone %u: after checkpoint %llu, at offset %u, come blocks that are no roots: damaged, or cut short",
			 zone, (unsigned long long)seq, last);
		note(ctx, line);
	}
	if (scan_have(s, zone ^ 1) &&
	    (s->super[zone ^ 1] & scan_supers(s->lz)) != scan_supers(s->lz)) {
		snprintf(line, sizeof(line),
			 "root zone %u, not in use: a superblock is damaged, or cut short",
			 zone ^ 1);
		note(ctx, line);
	} else if (scan_have(s, zone ^ 1) && !others) {
		snprintf(line, sizeof(line),
			 "root zone %u, not in use: no root is whole: damaged, or cut short",
			 zone ^ 1);
		note(ctx, line);
	}
}

/* Recovery does without a summary, but then GC has to search the map. */
static void judge_summary(const struct scan *s, u32 zone,
			  void (*note)(void *ctx, const char *line), void *ctx)
{
	const struct lz_zone *z = &s->lz->zone[zone];
	struct lz_want w = {
		.uuid = s->lz->si.uuid, .type = LZ_BT_SUMMARY, .addr = LZ_NO_ADDR,
		.index = zone, .epoch_max = s->lz->epoch,
	};
	char why[160] = "cannot be read", line[256];

	if (!(z->flags & LZ_ZF_SCAN) || z->head >= scan_have(s, zone) ||
	    atomic_read(&z->valid) <= 0 ||
	    (!lz_read_sync(s->lz, lz_zone_addr(s->lz, zone, z->head), 1, s->buf) &&
	     lz_valid(s->buf, &w, why, sizeof(why))))
		return;
	snprintf(line, sizeof(line), "zone %u, summary at offset %u: %s", zone, z->head, why);
	note(ctx, line);
}

void scan_judge(const struct scan *s, struct lz_check_report *r,
		void (*note)(void *ctx, const char *line))
{
	const struct scan_block *b;
	struct lz *lz = s->lz;
	char line[100];
	u32 i;

	if (s->forged && lz_addr_zone(lz, s->forged) == lz->root_zone)
		found(r,
		      "root zone %u, offset %u: a root that is not of the epoch of its zone table",
		      lz_addr_zone(lz, s->forged), lz_addr_off(lz, s->forged));
	for (i = 0; i < LZ_SUPER_COPIES; i++)
		if (s->super_epoch[lz->root_zone][i] > lz->epoch ||
		    s->super_seq[lz->root_zone][i] > lz->ckpt.number)
			found(r,
			      "superblock at block %llu: of epoch %llu and checkpoint %llu, later than the newest root",
			      (unsigned long long)lz_zone_addr(lz, lz->root_zone, i),
			      (unsigned long long)s->super_epoch[lz->root_zone][i],
			      (unsigned long long)s->super_seq[lz->root_zone][i]);
	if (scan_begun(s) != LZ_NONE)
		found(r,
		      "zone %u, offset %u: the root of checkpoint %llu, set aside by a repair that was cut short",
		      lz_addr_zone(lz, s->root[0].addr), lz_addr_off(lz, s->root[0].addr),
		      (unsigned long long)le64_to_cpu(s->root[0].r->h.seq));
	if (s->shuffled && lz_addr_zone(lz, s->shuffled) == lz->root_zone)
		found(r, "root zone %u, offset %u: a root older than one before it",
		      lz_addr_zone(lz, s->shuffled), lz_addr_off(lz, s->shuffled));
	b = scan_later(s, lz->epoch, lz->ckpt.number, lz->jseq);
	if (b && b->type == LZ_BT_JOURNAL)
		found(r,
		      "zone %u, offset %u: commit %llu of epoch %llu is whole, but neither checkpoint %llu nor its journal leads to it: a root or a link is damaged",
		      lz_addr_zone(lz, b->addr), lz_addr_off(lz, b->addr),
		      (unsigned long long)b->index, (unsigned long long)b->epoch,
		      (unsigned long long)lz->ckpt.number);
	else if (b)
		found(r,
		      "zone %u, offset %u: a node of checkpoint %llu, but the newest root is that of %llu: a later one is damaged",
		      lz_addr_zone(lz, b->addr), lz_addr_off(lz, b->addr),
		      (unsigned long long)b->seq, (unsigned long long)lz->ckpt.number);
	judge_order(s, r);
	judge_numbers(s, r);
	for (i = 2; i < lz->g.nr_zones; i++) {
		judge_summary(s, i, note, r->ctx);
		if (s->rep[i].cond == LZ_COND_OFFLINE && atomic_read(&lz->zone[i].valid) > 0) {
			found(r, "zone %u is offline: %d blocks in use cannot be read", i,
			      atomic_read(&lz->zone[i].valid));
			r->unreadable++;
		} else if (s->rep[i].cond == LZ_COND_READONLY &&
			   atomic_read(&lz->zone[i].valid) > 0) {
			snprintf(line, sizeof(line),
				 "zone %u is read-only: %d blocks in use will be moved",
				 i, atomic_read(&lz->zone[i].valid));
			note(r->ctx, line);
		}
	}
	judge_roots(s, note, r->ctx);
}
