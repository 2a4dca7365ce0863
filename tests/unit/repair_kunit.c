// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repair against recovery, in random worlds. In user space only, with the parts of the tool that
 * rebuild a device.
 *
 * A seed gives a drive in RAM and what happens on it: writes, discards, flushes, checkpoints,
 * writes of the log that fail, or that land though the drive says they failed, and roots that the
 * drive takes its time for. Then power is cut, and a read-only load tells what each block holds:
 * the reference. One to three blocks of metadata are damaged: nodes of the map and of the zone
 * table, a block of a root zone, and blocks of the journal that are not of its last commit, nor
 * links; damage to these is not told from a power cut. Repair follows, in most worlds cut short at
 * a random command and done again. Then the device must load, and check find no errors; what reads
 * otherwise than in the reference must have been named as lost or of uncertain age, and what is
 * lost read as zeros. All the time the drive counts its open zones.
 *
 * Nor may repair give up more than it has to:
 *
 *  - Where the journal is whole from the newest root on, each entry of the map is proven by the
 *    leaf that root leads to and the journal on top of it. Nothing is of uncertain age then, and
 *    only blocks of a leaf that is damaged may be lost.
 *  - Where it is damaged commits are missing, and with them what they said of zones. What a commit
 *    behind all damage says is later than all of these, and proof of its own; unless it speaks of
 *    a zone that was reset since the root, which those that are missing may have said, so that
 *    others seem to lie there still, or more to have been written than there is; or unless older
 *    leaves stand in for damaged ones, which may say the same.
 *  - All else may be of uncertain age, but is not lost if it is where the newest root has it, in a
 *    zone of which the zone table that root leads to, whole and the newest there is, still has the
 *    newest summary, and that names it.
 *
 *	LZ_WORLD=N unit repair_random			that world alone
 *	LZ_WORLD=N LZ_WORLDS=N unit repair_random	so many from there on
 */
#include <stdlib.h>
#include "../../dm-lifezone/tests/ram.h"
#include "../../tools/scan.h"

/*
 * Of these 1221, 1341, 1359, 1389, 1405 and 1448 fail if the journal's numbers have no gap where it
 * begins anew (LZ_JOURNAL_GAP), 1297 and 1301 if a repair that is done again does not finish the
 * zone the root was set aside in (rebuild_write()).
 */
#define FIRST_SEED	1201u
#define WORLDS		250u

#define ZONES		90u
#define ZONE_BLOCKS	32u
#define MOST_HURT	3u
#define NEVER		0u	/* of a countdown */

static u32 seed;

/* What the drive does, beside what it is told. */
static struct {
	u32 land;	/* that write of the log lands, and fails; a countdown */
	u32 cut;	/* power is cut at that command, other than a read; likewise */
	bool off;	/* and gone */
	bool hold;	/* it takes its time for roots */
} drive;

/* How many worlds, and blocks that had to be kept, there were of each kind. */
static struct {
	u32 cut;	/* repairs cut short */
	u32 exact;	/* nothing may be lost */
	u32 leaf;	/* only what a damaged leaf had */
	u32 broken;	/* the journal is damaged */
	u64 certain;	/* blocks that a commit behind it names */
	u64 named;	/* blocks that a summary names, but no such commit */
} seen;

/* A block as recovery of the undamaged drive has it. */
struct block {
	u32 reads;	/* version */
	u64 at;
	u64 root_at;	/* as the newest root has it */
	u64 said;	/* first journal block of the commit that put it there, or 0 */
	bool named;	/* by the summaries of its zone */
	bool lost, aged;	/* as repair said */
};

struct world {
	struct kunit *test;
	struct ram *r;
	u32 state;
	u32 fails;		/* faults drawn */
	u64 nr;
	struct block *b;
	struct lz_root root;	/* the newest */
	u64 *leaf, nr_leaves;	/* where its leaves are */
	u64 ztab;		/* likewise, of the zone table */
	bool later_table;	/* one that no root leads to was written, too */
	bool still[ZONES];	/* the zone is in the life the root knows, */
	bool summed[ZONES];	/* and so is its newest summary */
	u64 *path;		/* its journal */
	u32 nr_path;
	u64 last;		/* first journal block of its last commit */
	u64 hurt[MOST_HURT];
	u32 nr_hurt;
	u64 broken;		/* the last journal block of it that is damaged, or 0 */
	bool *leaf_hurt, any_leaf_hurt, ztab_hurt;
};

static u32 draw(struct world *w, u32 n)
{
	return ram_random(&w->state, n);
}

/* --- the drive ------------------------------------------------------------------- */

static bool counts_down(u32 *n)
{
	return *n != NEVER && !--*n;
}

static bool is_root(const struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_WRITE && c->addr < 2 * r->g.zone_blocks;
}

static bool root_held(struct ram *r, const struct lz_cmd *c)
{
	return drive.hold && is_root(r, c);
}

static void submit(void *ctx, struct lz_cmd *c)
{
	struct ram *r = ctx;
	bool lands = c->op == LZ_OP_WRITE && !is_root(r, c) && counts_down(&drive.land);

	if (c->op != LZ_OP_READ && counts_down(&drive.cut))
		drive.off = true;
	if (drive.off) {
		c->error = -EIO;
		lz_cmd_done(r->lz, c);
		return;
	}
	ram_ops.submit(ctx, c);
	if (lands)
		c->error = -EIO;
}

static struct lz_ops world_ops;

/* --- what happens ---------------------------------------------------------------- */

static void release_roots(struct world *w)
{
	drive.hold = false;
	while (w->r->nr_held) {
		ram_release(w->r, 0);
		ram_pump(w->r);
	}
}

static void want_checkpoint(struct world *w)
{
	lz_ckpt_want(w->r->lz);
	ram_pump(w->r);
}

/* Leaves begin with what is written most. */
static u64 draw_lba(struct world *w)
{
	u64 lba = draw(w, 60) + LZ_NODE_ENTRIES * draw(w, w->nr_leaves);

	return draw(w, 4) && lba < w->nr ? lba : draw(w, w->nr);
}

/* Nobody waits for room that only a root would make. */
static void write_some(struct world *w)
{
	u64 lba = draw_lba(w);
	u32 n = 1 + draw(w, draw(w, 3) ? 3 : 40);

	if (!drive.hold || n < 8)
		ram_write(w->r, 1 + draw(w, 4), lba, min_t(u64, n, w->nr - lba));
}

static void discard_some(struct world *w)
{
	u64 lba = draw(w, w->nr), n = 1 + draw(w, 100);

	if (!drive.hold)
		ram_discard(w->r, lba, min_t(u64, n, w->nr - lba));
}

static void fail_some(struct world *w)
{
	struct lz_stream *s = draw(w, 2) ? w->r->lz->js : w->r->lz->ns;

	if (w->fails++ >= 3)
		return;
	if (draw(w, 2)) {
		drive.land = 1 + draw(w, 4);
	} else if (s->zone != LZ_NONE) {
		w->r->zone[s->zone].fail = 1 << LZ_OP_WRITE;
		w->r->zone[s->zone].fail_after = draw(w, 4);
	}
}

static void step(struct world *w)
{
	u32 what = draw(w, 12);

	if (what < 5)
		write_some(w);
	else if (what < 6)
		discard_some(w);
	else if (what < 8 && !drive.hold)
		ram_flush(w->r);
	else if (what == 8 && !drive.hold)
		ram_checkpoint(w->r);
	else if (what == 9)
		drive.hold = true;
	else if (what == 10)
		release_roots(w);
	else if (what == 11)
		fail_some(w);
	if (what == 8 || what == 9)
		want_checkpoint(w);
}

/* Until power is cut. False: the device had ended before. */
static bool live(struct world *w)
{
	struct ram *r = w->r;
	u32 n = 20 + draw(w, 150), i;

	for (i = 0; i < n && r->lz->mode == LZ_MODE_RW; i++)
		step(w);
	drive.land = NEVER;
	if (draw(w, 2))
		release_roots(w);
	/* Without these the journal is seldom long. */
	for (i = drive.hold || draw(w, 2) ? 0 : draw(w, 8); i; i--) {
		write_some(w);
		ram_flush(r);
	}
	if (r->lz->mode != LZ_MODE_RW)
		return false;
	ram_cut(r);
	drive.hold = false;
	for (i = 0; i < r->g.nr_zones; i++)
		r->zone[i].fail = 0;
	return true;
}

/* --- what is on the drive -------------------------------------------------------- */

static bool written(const struct world *w, u64 addr)
{
	u32 zone = div_u64(addr, ZONE_BLOCKS);

	return addr < (u64)ZONES * ZONE_BLOCKS && addr % ZONE_BLOCKS < w->r->zone[zone].wp;
}

/* The metadata of @type at @addr, or NULL. */
static void *meta_at(const struct world *w, u64 addr, u16 type)
{
	struct lz_hdr *h = written(w, addr) ? ram_block(w->r, addr) : NULL;

	return h && le32_to_cpu(h->magic) == LZ_MAGIC && le16_to_cpu(h->type) == type ? h : NULL;
}

static void find_root(struct world *w)
{
	const struct lz_root *root;
	u64 addr;

	for (addr = 0; addr < 2 * ZONE_BLOCKS; addr++) {
		root = meta_at(w, addr, LZ_BT_ROOT);
		if (root && le64_to_cpu(root->h.seq) > le64_to_cpu(w->root.h.seq))
			w->root = *root;
	}
	KUNIT_ASSERT_TRUE(w->test, w->root.h.seq);
}

static void note_said(struct world *w, const struct lz_journal *j)
{
	u64 n, i, lba, to;
	u32 k;

	for (k = 0; k < le32_to_cpu(j->h.count); k++) {
		const struct lz_jrec *rec = &j->r[k];
		bool maps = lz_jrec_type(rec) == LZ_JR_MAP;

		if (!maps && lz_jrec_type(rec) != LZ_JR_DISCARD)
			continue;
		n = maps ? lz_jrec_len(rec) : lz_jrec_b(rec);
		for (i = 0; i < n && lz_jrec_lba(rec) + i < w->nr; i++) {
			lba = lz_jrec_lba(rec) + i;
			to = maps ? lz_jrec_b(rec) + i : LZ_NOWHERE;
			if (w->b[lba].at == to)
				w->b[lba].said = le64_to_cpu(j->first);
		}
	}
}

/* The journal from the newest root on, up to block @end. */
static void walk_journal(struct world *w, u64 end)
{
	u64 at = le64_to_cpu(w->root.journal_addr), seq = le64_to_cpu(w->root.journal_seq);
	struct lz_journal *j;

	w->last = seq;
	while (seq < end) {
		KUNIT_ASSERT_TRUE(w->test, written(w, at));
		j = meta_at(w, at, LZ_BT_JOURNAL);
		if (!j || j->h.epoch != w->root.h.epoch || le64_to_cpu(j->h.seq) != seq) {
			at++;
			continue;
		}
		w->path[w->nr_path++] = at;
		seq++;
		if (le32_to_cpu(j->next_zone) != LZ_NONE) {
			at = (u64)le32_to_cpu(j->next_zone) * ZONE_BLOCKS;
			continue;
		}
		at++;
		note_said(w, j);
		if (!j->more)
			w->last = le64_to_cpu(j->first);
	}
}

static struct lz_summary *summary_at(const struct world *w, u32 zone, u32 off)
{
	return meta_at(w, (u64)zone * ZONE_BLOCKS + off, LZ_BT_SUMMARY);
}

/* Do the summaries of @zone lead back to its first? Of these drives each has one block. */
static bool all_summed(const struct world *w, u32 zone)
{
	const struct lz_zone *z = &w->r->lz->zone[zone];
	u32 head = z->head, nth = z->sum_seq;
	const struct lz_summary *s;

	for (; head != LZ_NO_OFFSET; head = le32_to_cpu(s->prev)) {
		s = summary_at(w, zone, head);
		if (!s || le32_to_cpu(s->gen) != z->gen || le64_to_cpu(s->h.seq) != nth--)
			return false;
	}
	return !nth;
}

static void hear_zone(struct world *w, u32 zone)
{
	u32 head = w->r->lz->zone[zone].head, i;
	const struct lz_summary *s;
	u64 addr, lba;

	if (!all_summed(w, zone))
		return;
	for (; head != LZ_NO_OFFSET; head = le32_to_cpu(s->prev)) {
		s = summary_at(w, zone, head);
		for (i = 0; i < le32_to_cpu(s->h.count); i++) {
			lba = lz_sum_lba(le64_to_cpu(s->e[i]));
			addr = (u64)zone * ZONE_BLOCKS + lz_sum_offset(le64_to_cpu(s->e[i]));
			if (lba < w->nr && w->b[lba].at == addr)
				w->b[lba].named = true;
		}
	}
}

/* What the newest root leads to. */
static void read_trees(struct world *w)
{
	struct lz *lz = w->r->lz;
	const struct lz_znode *table;
	const struct lz_node *n;
	u32 zone;
	u64 i;

	for (i = 0; i < w->nr_leaves; i++)
		w->leaf[i] = le64_to_cpu(w->root.map_top[i]);
	w->ztab = le64_to_cpu(w->root.ztab_top[0]);
	for (i = 0; i < w->nr; i++) {
		n = meta_at(w, w->leaf[i / LZ_NODE_ENTRIES], LZ_BT_NODE);
		w->b[i].root_at = n ? le64_to_cpu(n->e[i % LZ_NODE_ENTRIES]) : LZ_NOWHERE;
	}
	for (i = 2 * ZONE_BLOCKS; i < (u64)ZONES * ZONE_BLOCKS; i++) {
		table = meta_at(w, i, LZ_BT_ZNODE);
		w->later_table |= table &&
			le64_to_cpu(table->h.seq) > le64_to_cpu(w->root.h.seq);
	}
	table = meta_at(w, w->ztab, LZ_BT_ZNODE);
	KUNIT_ASSERT_NOT_NULL(w->test, table);
	for (zone = 2; zone < ZONES; zone++) {
		const struct lz_zent *e = &table->e[zone];
		const struct lz_zone *z = &lz->zone[zone];

		w->still[zone] = le32_to_cpu(e->gen) == z->gen;
		w->summed[zone] = w->still[zone] && le32_to_cpu(e->head) == z->head &&
			le32_to_cpu(e->sum_seq) == z->sum_seq;
	}
}

/* What recovery makes of it, and by what. */
static void take_reference(struct world *w)
{
	struct ram *r = w->r;
	struct lz_read rd;
	u32 zone;
	u64 lba;

	KUNIT_ASSERT_EQ_MSG(w->test, ram_load(r, LZ_LOAD_RO), 0, "(%s)", r->said);
	for (lba = 0; lba < w->nr; lba++) {
		w->b[lba].reads = ram_read(r, lba);
		/* The leaf is in memory now. */
		KUNIT_ASSERT_EQ(w->test, lz_read_begin(r->lz, lba, 1, &rd), 0);
		w->b[lba].at = rd.addr;
		if (rd.addr != LZ_NOWHERE)
			lz_read_end(r->lz, &rd);
	}
	find_root(w);
	read_trees(w);
	walk_journal(w, r->lz->jseq);
	for (zone = 2; zone < ZONES; zone++)
		hear_zone(w, zone);
	ram_cut(r);
}

/* --- damage ---------------------------------------------------------------------- */

static bool is_among(const u64 *a, u64 n, u64 addr)
{
	u64 i;

	for (i = 0; i < n; i++)
		if (a[i] == addr)
			return true;
	return false;
}

static bool is_node(const struct world *w, u64 addr)
{
	return meta_at(w, addr, LZ_BT_NODE) || meta_at(w, addr, LZ_BT_ZNODE);
}

/* Of the last commit, and of what could be a later one, nothing is to be damaged. */
static bool is_old_journal(const struct world *w, u64 addr)
{
	const struct lz_journal *j = meta_at(w, addr, LZ_BT_JOURNAL);

	return j && le32_to_cpu(j->next_zone) == LZ_NONE &&
		(le64_to_cpu(j->h.epoch) < le64_to_cpu(w->root.h.epoch) ||
		 le64_to_cpu(j->h.seq) < w->last);
}

/* One of the blocks of the pool that @fits, or LZ_NOWHERE: there is none. */
static u64 draw_block(struct world *w, bool (*fits)(const struct world *w, u64 addr))
{
	u64 addr, found = LZ_NOWHERE;
	u32 n = 0;

	for (addr = 2 * ZONE_BLOCKS; addr < (u64)ZONES * ZONE_BLOCKS; addr++)
		if (fits(w, addr) && !draw(w, ++n))
			found = addr;
	return found;
}

/* The same, of the newest root's journal. */
static bool is_on_path(const struct world *w, u64 addr)
{
	return is_among(w->path, w->nr_path, addr) && is_old_journal(w, addr);
}

static bool is_leaf_in_use(const struct world *w, u64 addr)
{
	return is_among(w->leaf, w->nr_leaves, addr);
}

/* A superblock, or a root of the last two: of each there is another copy. */
static u64 draw_root_block(struct world *w)
{
	u32 zone = draw(w, 2), wp = w->r->zone[zone].wp, i = draw(w, 2);

	if (wp < LZ_SUPER_COPIES + LZ_ROOT_COPIES)
		return LZ_NOWHERE;
	return (u64)zone * ZONE_BLOCKS + (draw(w, 2) ? i : wp - 1 - i);
}

static void note_hurt(struct world *w, u64 addr)
{
	u64 i;

	for (i = 0; i < w->nr_leaves; i++) {
		w->leaf_hurt[i] |= w->leaf[i] == addr;
		w->any_leaf_hurt |= w->leaf[i] == addr;
	}
	w->ztab_hurt |= w->ztab == addr;
	for (i = 0; i < w->nr_path; i++)
		if (w->path[i] == addr)
			w->broken = max(w->broken, le64_to_cpu(w->root.journal_seq) + i);
}

static void hurt(struct world *w, u64 addr)
{
	u8 *b;

	if (!written(w, addr) || is_among(w->hurt, w->nr_hurt, addr))
		return;
	b = ram_block(w->r, addr);
	b[draw(w, LZ_BLOCK_SIZE)] ^= 1 + draw(w, 255);
	w->hurt[w->nr_hurt++] = addr;
	note_hurt(w, addr);
}

/* In every other world no leaf of the map. */
static void hurt_some(struct world *w)
{
	u32 n = 1 + draw(w, MOST_HURT), least = draw(w, 2) ? 4 : 0, what, i;
	bool root = false;

	for (i = 0; i < n; i++) {
		what = least + draw(w, 8 - least);
		if (what < 3) {
			hurt(w, draw_block(w, is_leaf_in_use));
		} else if (what < 4) {
			hurt(w, draw_block(w, is_node));
		} else if (what < 5) {
			hurt(w, w->ztab);
		} else if (what < 7) {
			hurt(w, draw_block(w, draw(w, 2) ? is_old_journal : is_on_path));
		} else if (!root) {
			hurt(w, draw_root_block(w));
			root = true;
		}
	}
}

/* --- repair ---------------------------------------------------------------------- */

static void note_named(struct world *w, const struct rebuild_report *rep)
{
	u64 lba;
	u32 i;

	for (i = 0; i < rep->nr_lost; i++)
		for (lba = rep->lost[i].lba; lba < rep->lost[i].lba + rep->lost[i].len; lba++)
			w->b[lba].lost = true;
	for (i = 0; i < rep->nr_aged; i++)
		for (lba = rep->aged[i].lba; lba < rep->aged[i].lba + rep->aged[i].len; lba++)
			w->b[lba].aged = true;
}

static void repair(struct world *w)
{
	struct lz_zone_report rep[ZONES] = {};
	struct rebuild_report report;
	struct ram *r = w->r;
	int err;

	ram_report(r, rep);
	r->lz = lz_new(&r->g, &r->o, r->ops, r);
	KUNIT_ASSERT_NOT_NULL(w->test, r->lz);
	r->lz->si = r->si;
	err = rebuild(r->lz, rep, &report);
	note_named(w, &report);
	if (!err)
		err = rebuild_write(r->lz, rep, &report);
	rebuild_report_free(&report);
	KUNIT_EXPECT_TRUE_MSG(w->test, !err || drive.off, "(%d: %s)", err, r->said);
	ram_cut(r);
}

static void repair_and_cut(struct world *w)
{
	drive.cut = draw(w, 10) ? 1 + draw(w, draw(w, 2) ? 4 : 12) : NEVER;
	repair(w);
	drive.cut = NEVER;
	if (!drive.off)
		return;
	drive.off = false;
	seen.cut++;
	repair(w);
}

/* --- what has to be so ----------------------------------------------------------- */

static void reads_as_it_may(struct world *w, u64 lba)
{
	const struct block *b = &w->b[lba];
	u32 v = ram_read(w->r, lba);

	KUNIT_EXPECT_TRUE_MSG(w->test, v == b->reads || b->lost || b->aged,
			      "(block %llu reads as version %u, not %u, and was not named)",
			      (unsigned long long)lba, v, b->reads);
	KUNIT_EXPECT_TRUE_MSG(w->test, !v || !b->lost, "(block %llu is lost, and reads as %u)",
			      (unsigned long long)lba, v);
}

/* Said behind all damage, of a zone about which nothing else can have been said. */
static bool is_certain(const struct world *w, const struct block *b)
{
	return b->said > w->broken && !w->any_leaf_hurt &&
		(b->at == LZ_NOWHERE || w->still[div_u64(b->at, ZONE_BLOCKS)]);
}

/*
 * Repair takes the newest zone table it finds; one that no root leads to may speak of summaries
 * that the cut took.
 */
static bool is_borne_out(const struct world *w, u64 lba)
{
	const struct block *b = &w->b[lba];

	return b->named && b->at == b->root_at && !w->leaf_hurt[lba / LZ_NODE_ENTRIES] &&
		!w->ztab_hurt && !w->later_table && w->summed[div_u64(b->at, ZONE_BLOCKS)];
}

static void is_kept(struct world *w, u64 lba)
{
	const struct block *b = &w->b[lba];
	bool whole = !w->broken, certain = w->broken && is_certain(w, b);
	bool named = w->broken && !certain && is_borne_out(w, lba);
	bool proven = whole && !w->leaf_hurt[lba / LZ_NODE_ENTRIES];

	seen.certain += certain;
	seen.named += named;
	KUNIT_EXPECT_TRUE_MSG(w->test, !b->aged || !(whole || certain),
			      "(block %llu is called old)", (unsigned long long)lba);
	KUNIT_EXPECT_TRUE_MSG(w->test, !b->lost || !(proven || certain || named),
			      "(block %llu is given up)", (unsigned long long)lba);
}

static void judge(struct world *w)
{
	u64 lba;

	seen.broken += !!w->broken;
	seen.leaf += !w->broken && w->any_leaf_hurt;
	seen.exact += !w->broken && !w->any_leaf_hurt;
	ram_again(w->r);
	for (lba = 0; lba < w->nr && !w->test->failed; lba++) {
		reads_as_it_may(w, lba);
		is_kept(w, lba);
	}
	ram_check(w->r);
}

/* --- worlds ---------------------------------------------------------------------- */

static void make(struct world *w)
{
	struct kunit *test = w->test;
	struct ram *r;

	memset(&drive, 0, sizeof(drive));
	w->state = seed * 2654435761u + 1;
	r = ram_sized(test, ZONES, draw(w, 2) ? 4 : 8, ZONE_BLOCKS, ZONE_BLOCKS);
	w->r = r;
	world_ops = ram_ops;
	world_ops.submit = submit;
	r->ops = &world_ops;
	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	r->slow = root_held;
	w->nr = r->si.logical_blocks;
	w->nr_leaves = r->lz->map.n[0];
	KUNIT_ASSERT_EQ(test, r->lz->map.levels, 1u);
	KUNIT_ASSERT_EQ(test, r->lz->ztab.levels, 1u);
	w->b = kunit_kcalloc(test, w->nr, sizeof(*w->b), GFP_KERNEL);
	w->leaf = kunit_kcalloc(test, w->nr_leaves, sizeof(*w->leaf), GFP_KERNEL);
	w->leaf_hurt = kunit_kcalloc(test, w->nr_leaves, sizeof(*w->leaf_hurt), GFP_KERNEL);
	w->path = kunit_kcalloc(test, ZONES * ZONE_BLOCKS, sizeof(*w->path), GFP_KERNEL);
}

static void one_world(struct kunit *test)
{
	struct world w = { .test = test };

	make(&w);
	if (live(&w)) {
		take_reference(&w);
		hurt_some(&w);
		repair_and_cut(&w);
		judge(&w);
	}
	ram_free(w.r);
	test->priv = NULL;
}

static u32 asked(const char *name, u32 otherwise)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 10) : otherwise;
}

static void repair_random(struct kunit *test)
{
	bool chosen = getenv("LZ_WORLD");
	u32 first = asked("LZ_WORLD", FIRST_SEED);
	u32 n = chosen ? asked("LZ_WORLDS", 1) : WORLDS;

	memset(&seen, 0, sizeof(seen));
	for (seed = first; seed < first + n; seed++) {
		one_world(test);
		if (test->failed)
			return;
	}
	if (chosen)
		return;
	KUNIT_EXPECT_GT(test, seen.cut, WORLDS / 2);
	KUNIT_EXPECT_GT(test, seen.exact, WORLDS / 4);
	KUNIT_EXPECT_GT(test, seen.leaf, WORLDS / 10);
	KUNIT_EXPECT_GT(test, seen.broken, WORLDS / 10);
	KUNIT_EXPECT_GT(test, seen.certain, WORLDS);
	KUNIT_EXPECT_GT(test, seen.named, WORLDS);
}

static void repair_exit(struct kunit *test)
{
	if (test->failed)
		kunit_info(test, "replay: LZ_WORLD=%u unit repair_random\n", seed);
	ram_free(test->priv);
}

static struct kunit_case repair_cases[] = {
	KUNIT_CASE(repair_random),
	{}
};

static struct kunit_suite repair_suite = {
	.name = "lifezone-repair",
	.exit = repair_exit,
	.test_cases = repair_cases,
};

kunit_test_suite(repair_suite);
