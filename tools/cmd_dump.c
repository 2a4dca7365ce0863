// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone dump: metadata as it lies on the drive.
 *
 * But for "state" this is a reader of its own, not core's recovery: it follows the pointers of
 * the format from superblock to root to trees and journal, prints what it finds,
 * and where a block is not what it should be prints what lz_valid() says of it
 * and goes on with the next. It opens the drive read-only and not exclusively:
 * while the device is in use what it prints may be out of date by the time it
 * is read, and is still no harm.
 */
#include <stdlib.h>
#include "cmd.h"

#define MAX_LEVELS	8
#define CHUNK		256u	/* blocks read at once where a zone is searched */

struct dump {
	struct drive *d;
	struct out out;
	u8 uuid[LZ_UUID_SIZE];	/* of the device; by_uuid: it is known */
	bool by_uuid;
	struct lz_super super;
	struct lz_root root;
	bool have_super;
	bool super_in[2];	/* root zones that have a valid one of this device */
	bool have_root;
	u64 root_addr;
	bool journal_told;	/* that it is damaged */
	u64 damaged;
};

struct dump_args {
	const char *path;
	const char *what;
	const char **arg;
	u32 nr;
	bool json;
	bool sectors;
	struct drive_image img;
};

/* --- finding ------------------------------------------------------------------------ */

/* Of superblocks and roots, which have no index, @index does not matter. */
static bool valid_at(struct dump *p, const void *block, u16 type, u16 level, u64 addr, u64 index,
		     u64 seq, char *why, size_t n)
{
	bool single = type == LZ_BT_SUPER || type == LZ_BT_ROOT;
	struct lz_want w = {
		.uuid = p->by_uuid ? p->uuid : NULL,
		.type = type,
		.level = level,
		.addr = addr,
		.index = single ? 0 : index,
		.seq = seq,
	};

	*why = 0;
	return lz_valid(block, &w, why, n);
}

static void damage(struct dump *p, const char *why)
{
	p->damaged++;
	complain(p->d->path, "%s", why);
}

/* One node at @addr; false: it is damaged, and that has been printed. */
static bool read_node(struct dump *p, u16 type, u16 level, u64 addr, u64 index, void *block)
{
	char why[256];

	if (!drive_read(p->d, addr, 1, block)) {
		snprintf(why, sizeof(why), "block %llu: cannot be read", (unsigned long long)addr);
		damage(p, why);
		return false;
	}
	if (!valid_at(p, block, type, level, addr, index, 0, why, sizeof(why))) {
		damage(p, why);
		return false;
	}
	return true;
}

static u32 written(const struct dump *p, u32 zone)
{
	return lz_report_written(&p->d->z[zone], p->d->g.zone_cap);
}

/* The first valid copy in @zone, 0 or 1; false: none. */
static bool super_of(struct dump *p, u32 zone, struct lz_super *s)
{
	char why[256];
	u32 i;

	for (i = 0; i < LZ_SUPER_COPIES; i++) {
		u64 addr = (u64)zone * p->d->g.zone_blocks + i;

		if (drive_read(p->d, addr, 1, s) &&
		    valid_at(p, s, LZ_BT_SUPER, 0, addr, ~0ull, 0, why, sizeof(why)))
			return true;
	}
	return false;
}

/* The superblock: of the two root zones the one that was written later. */
static void find_super(struct dump *p)
{
	struct lz_super *s = lz_alloc_blocks(1);
	u32 i;

	for (i = 0; s && i < 2 && i < p->d->g.nr_zones; i++) {
		p->super_in[i] = super_of(p, i, s);
		if (p->super_in[i] &&
		    (!p->have_super || lz_hdr_later(&s->h, le64_to_cpu(p->super.h.epoch),
						    le64_to_cpu(p->super.h.seq)))) {
			memcpy(&p->super, s, sizeof(p->super));
			p->have_super = true;
		}
	}
	memcpy(p->uuid, p->super.h.uuid, LZ_UUID_SIZE);
	p->by_uuid = p->have_super;
	/* One of another device does not count. */
	for (i = 0; s && i < 2 && i < p->d->g.nr_zones; i++)
		p->super_in[i] = super_of(p, i, s);
	lz_free_blocks(s);
}

static bool newer_root(const struct dump *p, const struct lz_root *r)
{
	return !p->have_root || le64_to_cpu(r->h.seq) > le64_to_cpu(p->root.h.seq);
}

/*
 * The newest valid root: the last one of each root zone, and the newer of these. The first of a
 * zone count only with its superblock, if there is any; as recovery has it (core/super.c).
 */
static void find_root(struct dump *p)
{
	void *b = lz_alloc_blocks(1);
	char why[256];
	u32 i, off;

	for (i = 0; b && i < 2 && i < p->d->g.nr_zones; i++) {
		for (off = written(p, i); off-- > 1;) {
			u64 addr = (u64)i * p->d->g.zone_blocks + off;

			if (!drive_read(p->d, addr, 1, b) ||
			    !valid_at(p, b, LZ_BT_ROOT, 0, addr, ~0ull, 0, why, sizeof(why)))
				continue;
			if (off < LZ_SUPER_COPIES + LZ_ROOT_COPIES && p->have_super &&
			    !p->super_in[i])
				break;
			if (newer_root(p, b)) {
				memcpy(&p->root, b, sizeof(p->root));
				p->root_addr = addr;
				if (!p->by_uuid)
					memcpy(p->uuid, p->root.h.uuid, LZ_UUID_SIZE);
				p->by_uuid = true;
				p->have_root = true;
			}
			break;
		}
	}
	lz_free_blocks(b);
}

/* Numbers of another version may mean other things, and have not been checked. */
static bool super_known(const struct dump *p)
{
	return p->have_super && le32_to_cpu(p->super.version) == LZ_FORMAT_VERSION &&
		!p->super.incompat;
}

static bool need_super(struct dump *p)
{
	if (!p->have_super)
		complain(p->d->path, "no valid superblock in zones 0 and 1");
	else if (!super_known(p))
		complain(p->d->path,
			 "format version %u with features %#x: this tool knows version %u without",
			 le32_to_cpu(p->super.version), le32_to_cpu(p->super.incompat),
			 LZ_FORMAT_VERSION);
	return super_known(p);
}

/* With zones of another size blocks would be looked for where they are not. */
static bool need_zones(struct dump *p)
{
	const struct lz_super_info si = {
		.nr_zones = le32_to_cpu(p->super.nr_zones),
		.zone_blocks = le32_to_cpu(p->super.zone_blocks),
		.zone_cap = le32_to_cpu(p->super.zone_cap),
	};

	return !super_known(p) || geometry_fits(p->d, &si, false);
}

static bool need_root(struct dump *p)
{
	if (!p->have_root)
		complain(p->d->path, "no valid checkpoint root in zones 0 and 1");
	return p->have_root;
}

/* --- walking a tree ------------------------------------------------------------------ */

struct walk {
	struct dump *p;
	u16 type;
	u32 levels;		/* levels of nodes below the root */
	u64 n[MAX_LEVELS];	/* nodes of each level */
	const __le64 *top;
	/* A leaf, or NULL where there is none or it is damaged (@addr tells). */
	bool (*leaf)(struct walk *w, u64 index, u64 addr, const void *block);
	void *arg;
};

static void walk_shape(struct walk *w, u64 leaves, u32 top)
{
	w->n[0] = leaves;
	w->levels = 1;
	while (w->n[w->levels - 1] > top && w->levels < MAX_LEVELS) {
		w->n[w->levels] = DIV_ROUND_UP(w->n[w->levels - 1], LZ_NODE_ENTRIES);
		w->levels++;
	}
}

static bool walk_node(struct walk *w, u32 level, u64 index, u64 addr)
{
	struct lz_node *b = NULL;
	bool ok = true, there;
	u32 i;

	there = addr != LZ_NOWHERE;
	if (there) {
		b = lz_alloc_blocks(1);
		there = b && read_node(w->p, w->type, level, addr, index, b);
	}
	if (!level)
		ok = w->leaf(w, index, addr, there ? b : NULL);
	for (i = 0; level && there && ok && i < LZ_NODE_ENTRIES; i++) {
		u64 child = index * LZ_NODE_ENTRIES + i;

		if (child < w->n[level - 1])
			ok = walk_node(w, level - 1, child, le64_to_cpu(b->e[i]));
	}
	lz_free_blocks(b);
	return ok;
}

static void walk_all(struct walk *w)
{
	u64 i;

	for (i = 0; i < w->n[w->levels - 1]; i++)
		if (!walk_node(w, w->levels - 1, i, le64_to_cpu(w->top[i])))
			return;
}

/* The leaf with @index alone. */
static void walk_one(struct walk *w, u64 index)
{
	struct lz_node *b = lz_alloc_blocks(1);
	u64 addr, div = 1;
	u32 level;

	for (level = 1; level < w->levels; level++)
		div *= LZ_NODE_ENTRIES;
	addr = le64_to_cpu(w->top[index / div]);
	for (level = w->levels - 1; b && level && addr != LZ_NOWHERE; level--) {
		if (!read_node(w->p, w->type, level, addr, index / div, b)) {
			w->leaf(w, index, addr, NULL);
			lz_free_blocks(b);
			return;
		}
		div /= LZ_NODE_ENTRIES;
		addr = le64_to_cpu(b->e[index / div % LZ_NODE_ENTRIES]);
	}
	lz_free_blocks(b);
	walk_node(w, 0, index, addr);
}

/* --- zones ------------------------------------------------------------------------------ */

static const char *const cond_names[] = {
	[LZ_COND_EMPTY]		= "empty",
	[LZ_COND_OPEN]		= "open",
	[LZ_COND_FULL]		= "full",
	[LZ_COND_READONLY]	= "read-only",
	[LZ_COND_OFFLINE]	= "offline",
};

static bool zone_leaf(struct walk *w, u64 index, u64 addr, const void *block)
{
	const struct lz_znode *b = block;
	struct dump *p = w->p;
	char flags[8];
	u32 i;

	(void)addr;
	for (i = 0; b && i < le32_to_cpu(b->h.count); i++) {
		const struct lz_zent *z = &b->e[i];
		struct json_object *o;
		u64 zone = index * LZ_ZNODE_ENTRIES + i;

		if (zone >= le32_to_cpu(p->super.nr_zones))
			break;
		o = json_object_new_object();
		put_u64(o, "zone", zone);
		put_str(o, "state", zone_state_name(z->state));
		put_str(o, "class", class_name(z->class));
		put_str(o, "flags", zone_flag_names(le16_to_cpu(z->flags), flags, sizeof(flags)));
		put_u64(o, "gen", le32_to_cpu(z->gen));
		put_u64(o, "valid", le32_to_cpu(z->valid));
		put_u64(o, "wp", le32_to_cpu(z->wp));
		put_addr(o, "head", le32_to_cpu(z->head) == LZ_NO_OFFSET ? LZ_NOWHERE :
			 le32_to_cpu(z->head));
		put_u64(o, "sum_seq", le32_to_cpu(z->sum_seq));
		put_u64(o, "seq", le64_to_cpu(z->seq));
		if (zone < p->d->g.nr_zones) {
			put_u64(o, "drive_wp", p->d->z[zone].wp);
			put_str(o, "drive_cond", cond_names[p->d->z[zone].cond]);
		}
		out_row(&p->out, o);
	}
	return true;
}

static void dump_zones(struct dump *p)
{
	struct walk w = { .p = p, .type = LZ_BT_ZNODE, .top = p->root.ztab_top, .leaf = zone_leaf };

	walk_shape(&w, DIV_ROUND_UP((u64)le32_to_cpu(p->super.nr_zones), LZ_ZNODE_ENTRIES),
		   LZ_ROOT_ZTAB_TOP);
	out_rows_begin(&p->out, "zones");
	walk_all(&w);
	out_rows_end(&p->out);
}

/* --- journal ------------------------------------------------------------------------- */

/* Nodes share the journal's zone where the zone budget is small: to be stepped over. */
static bool is_node(struct dump *p, const void *block, u64 addr)
{
	const struct lz_hdr *h = block;
	u16 type = le16_to_cpu(h->type);
	char why[256];

	return (type == LZ_BT_NODE || type == LZ_BT_ZNODE) &&
	       valid_at(p, block, type, le16_to_cpu(h->level), addr, ~0ull, 0, why, sizeof(why));
}

/*
 * What stands at @addr is not journal block @seq. Does a commit that begins later end behind it,
 * in its zone or one that links lead to? Then it is damaged (core/replay.c), and @why says so.
 */
static bool ends_later(struct dump *p, u64 addr, u64 seq, struct lz_journal *b, char *why,
		       size_t n)
{
	u32 zone = addr / p->d->g.zone_blocks, off = addr % p->d->g.zone_blocks + 1, next, i;
	struct lz_want w = {
		.uuid = p->uuid,
		.type = LZ_BT_JOURNAL,
		.index = ~0ull,
		.epoch = le64_to_cpu(p->root.h.epoch),
	};

	/* Whoever made the links may have made a circle. */
	for (i = 0; i < p->d->g.nr_zones && zone >= 2 && zone < p->d->g.nr_zones; i++) {
		next = ~0u;
		for (; off < written(p, zone); off++) {
			w.addr = (u64)zone * p->d->g.zone_blocks + off;
			if (!drive_read(p->d, w.addr, 1, b) || !lz_valid(b, &w, NULL, 0) ||
			    le64_to_cpu(b->first) <= seq)
				continue;
			if (le32_to_cpu(b->next_zone) != ~0u) {
				next = le32_to_cpu(b->next_zone);
			} else if (!le32_to_cpu(b->more)) {
				snprintf(why, n,
					 "block %llu is damaged: commit %llu ends after it, at block %llu",
					 (unsigned long long)addr,
					 (unsigned long long)le64_to_cpu(b->h.index),
					 (unsigned long long)w.addr);
				return true;
			}
		}
		zone = next;
		off = 0;
	}
	return false;
}

/*
 * Calls @fn for each block of the journal after the newest root, in order. It ends at the first
 * block that is neither the next one nor a node. @why tells why; where recovery would refuse to
 * go on it is damage.
 */
static void walk_journal(struct dump *p, void (*fn)(struct dump *p, u64 addr,
						    const struct lz_journal *b, void *arg),
			 void *arg, char *why, size_t n)
{
	u64 addr = le64_to_cpu(p->root.journal_addr), seq = le64_to_cpu(p->root.journal_seq);
	struct lz_journal *b = lz_alloc_blocks(1);
	bool linked = false, bad = false;
	struct lz_want w = {
		.uuid = p->uuid,
		.type = LZ_BT_JOURNAL,
		.index = ~0ull,
		.epoch = le64_to_cpu(p->root.h.epoch),
	};

	*why = 0;
	while (b) {
		u64 zone = addr / p->d->g.zone_blocks, off = addr % p->d->g.zone_blocks;

		if (addr == LZ_NOWHERE) {
			snprintf(why, n, "the checkpoint names no journal");
			bad = true;
			break;
		}
		if (zone < 2 || zone >= p->d->g.nr_zones) {
			snprintf(why, n, "it cannot be at block %llu", (unsigned long long)addr);
			bad = true;
			break;
		}
		/* Nobody knows how much was written to a zone that is offline. */
		bad = p->d->z[zone].cond == LZ_COND_OFFLINE;
		if (!bad && off >= written(p, zone)) {
			snprintf(why, n, "nothing written at block %llu", (unsigned long long)addr);
			bad = !linked && off > written(p, zone);
			break;
		}
		bad = bad || !drive_read(p->d, addr, 1, b);
		if (bad) {
			snprintf(why, n, "block %llu cannot be read", (unsigned long long)addr);
			break;
		}
		w.addr = addr;
		w.seq = seq;
		if (!lz_valid(b, &w, why, n)) {
			if (!is_node(p, b, addr)) {
				bad = ends_later(p, addr, seq, b, why, n);
				break;
			}
			addr++;
			continue;
		}
		fn(p, addr, b, arg);
		seq++;
		addr++;
		if (le32_to_cpu(b->next_zone) != ~0u) {
			addr = (u64)le32_to_cpu(b->next_zone) * p->d->g.zone_blocks;
			linked = true;
		}
	}
	lz_free_blocks(b);
	if (bad && !p->journal_told) {
		p->journal_told = true;
		p->damaged++;
		complain(p->d->path, "journal: %s", why);
	}
}

static struct json_object *journal_row(u64 addr, const struct lz_journal *b, const char *what)
{
	struct json_object *o = json_object_new_object();

	put_u64(o, "addr", addr);
	put_u64(o, "seq", le64_to_cpu(b->h.seq));
	put_u64(o, "commit", le64_to_cpu(b->h.index));
	put_bool(o, "more", le32_to_cpu(b->more));
	put_str(o, "record", what);
	return o;
}

static void journal_block(struct dump *p, u64 addr, const struct lz_journal *b, void *arg)
{
	u32 i, n = le32_to_cpu(b->h.count);
	char text[160];

	(void)arg;
	if (le32_to_cpu(b->next_zone) != ~0u) {
		snprintf(text, sizeof(text), "link to zone %u", le32_to_cpu(b->next_zone));
		out_row(&p->out, journal_row(addr, b, text));
	} else if (!n) {
		out_row(&p->out, journal_row(addr, b, "no records"));
	}
	for (i = 0; i < n; i++)
		out_row(&p->out, journal_row(addr, b, record_text(&b->r[i], text, sizeof(text))));
}

static void dump_journal(struct dump *p)
{
	char why[256];

	out_rows_begin(&p->out, "journal blocks after the newest checkpoint");
	walk_journal(p, journal_block, NULL, why, sizeof(why));
	if (p->out.json) {
		struct json_object *o = json_object_new_object();

		put_str(o, "ends", why);
		out_row(&p->out, o);
	}
	out_rows_end(&p->out);
	if (!p->out.json)
		printf("ends: %s\n", why);
}

/* --- map ----------------------------------------------------------------------------- */

struct extent {
	u64 lba, addr, len;
};

static void put_extent(struct dump *p, const struct extent *e, const char *from)
{
	struct json_object *o;

	if (!e->len)
		return;
	o = json_object_new_object();
	put_u64(o, "lba", e->lba);
	put_u64(o, "len", e->len);
	put_addr(o, "addr", e->addr);
	if (e->addr == LZ_NOWHERE) {
		json_object_object_add(o, "zone", NULL);
		json_object_object_add(o, "offset", NULL);
	} else {
		put_u64(o, "zone", e->addr / p->d->g.zone_blocks);
		put_u64(o, "offset", e->addr % p->d->g.zone_blocks);
	}
	if (from)
		put_str(o, "from", from);
	out_row(&p->out, o);
}

static bool map_leaf(struct walk *w, u64 index, u64 addr, const void *block)
{
	const struct lz_node *b = block;
	struct extent *e = w->arg;
	u32 i;

	(void)addr;
	for (i = 0; b && i < LZ_NODE_ENTRIES; i++) {
		u64 lba = index * LZ_NODE_ENTRIES + i, to = le64_to_cpu(b->e[i]);

		if (e->len && to == e->addr + e->len && lba == e->lba + e->len) {
			e->len++;
			continue;
		}
		put_extent(w->p, e, NULL);
		*e = (struct extent) { lba, to, to != LZ_NOWHERE };
	}
	return true;
}

struct lookup {
	u64 lba, addr;
	bool damaged, journalled;
	/*
	 * Of the commit being read: counts only once its last block is there. A
	 * mapping beats a discard of the same commit, whichever comes first.
	 */
	u64 pending_addr;
	bool pending, mapped;
};

static bool lookup_leaf(struct walk *w, u64 index, u64 addr, const void *block)
{
	const struct lz_node *b = block;
	struct lookup *l = w->arg;

	(void)index;
	l->addr = b ? le64_to_cpu(b->e[l->lba % LZ_NODE_ENTRIES]) : LZ_NOWHERE;
	l->damaged = !b && addr != LZ_NOWHERE;
	return true;
}

static void lookup_journal(struct dump *p, u64 addr, const struct lz_journal *b, void *arg)
{
	u32 i, n = le32_to_cpu(b->h.count);
	struct lookup *l = arg;

	(void)p;
	(void)addr;
	if (le32_to_cpu(b->next_zone) != ~0u)
		return;		/* belongs to no commit */
	if (le64_to_cpu(b->first) == le64_to_cpu(b->h.seq)) {
		l->pending = false;
		l->mapped = false;
	}
	for (i = 0; i < n; i++) {
		u64 from = lz_jrec_lba(&b->r[i]), len = lz_jrec_len(&b->r[i]);
		u64 to = lz_jrec_b(&b->r[i]);
		u8 type = lz_jrec_type(&b->r[i]);

		if (type == LZ_JR_DISCARD)
			len = to;
		else if (type != LZ_JR_MAP)
			continue;
		if (l->lba < from || l->lba - from >= len)
			continue;
		l->pending = true;
		if (type == LZ_JR_MAP) {
			l->pending_addr = to + (l->lba - from);
			l->mapped = true;
		} else if (!l->mapped) {
			l->pending_addr = LZ_NOWHERE;
		}
	}
	if (!le32_to_cpu(b->more) && l->pending) {
		l->addr = l->pending_addr;
		l->journalled = true;
		l->damaged = false;
	}
	if (!le32_to_cpu(b->more)) {
		l->pending = false;
		l->mapped = false;
	}
}

static int dump_map(struct dump *p, const struct dump_args *a)
{
	struct walk w = { .p = p, .type = LZ_BT_NODE, .top = p->root.map_top };
	u64 blocks = le64_to_cpu(p->super.logical_blocks);
	struct extent e = { 0 };
	char why[256];
	u32 i;

	walk_shape(&w, DIV_ROUND_UP(blocks, LZ_NODE_ENTRIES), LZ_ROOT_MAP_TOP);
	out_rows_begin(&p->out, "blocks mapped at the newest checkpoint");
	if (!a->nr) {
		w.leaf = map_leaf;
		w.arg = &e;
		walk_all(&w);
		put_extent(p, &e, NULL);
	}
	for (i = 0; i < a->nr; i++) {
		struct lookup l = { 0 };
		bool number = parse_number(a->arg[i], &l.lba);

		if (!number || l.lba >= blocks) {
			complain(a->path, "lba %s: not a block of the device (0 to %llu)",
				 a->arg[i], (unsigned long long)blocks - 1);
			return number ? EXIT_FAIL : EXIT_USAGE_;
		}
		w.leaf = lookup_leaf;
		w.arg = &l;
		walk_one(&w, l.lba / LZ_NODE_ENTRIES);
		walk_journal(p, lookup_journal, &l, why, sizeof(why));
		e = (struct extent) { l.lba, l.addr, 1 };
		put_extent(p, &e, l.damaged ? "damage" : l.journalled ? "journal" : "tree");
	}
	out_rows_end(&p->out);
	return EXIT_OK;
}

/* --- summaries, roots, single blocks ------------------------------------------------- */

/* The @n blocks before @end. */
static void tell_unread(struct dump *p, u64 end, u32 n)
{
	char why[80];

	if (!n)
		return;
	if (n == 1)
		snprintf(why, sizeof(why), "block %llu: cannot be read",
			 (unsigned long long)end - 1);
	else
		snprintf(why, sizeof(why), "blocks %llu to %llu: cannot be read",
			 (unsigned long long)end - n, (unsigned long long)end - 1);
	damage(p, why);
}

/*
 * Every block of @zone whose header says @type, whatever else is wrong with it. Users may have
 * written what looks like a summary of another device.
 */
static void search_zone(struct dump *p, u32 zone, u16 type,
			void (*fn)(struct dump *p, u64 addr, const void *block, const char *why))
{
	char *buf = lz_alloc_blocks(CHUNK), why[256];
	u64 first = (u64)zone * p->d->g.zone_blocks;
	u32 off, unread = 0, wp = written(p, zone);
	bool together = false, sum = type == LZ_BT_SUMMARY;

	for (off = 0; buf && off < wp; off++) {
		struct lz_hdr *h = (void *)(buf + (size_t)(off % CHUNK) * LZ_BLOCK_SIZE);
		u64 addr = first + off;

		if (off % CHUNK == 0)
			together = drive_read(p->d, addr, min(wp - off, CHUNK), h);
		/* One that cannot be read is not to hide the others. */
		if (!together && !drive_read(p->d, addr, 1, h)) {
			unread++;
			continue;
		}
		tell_unread(p, addr, unread);
		unread = 0;
		if (le32_to_cpu(h->magic) != LZ_MAGIC || le16_to_cpu(h->type) != type)
			continue;
		if (!valid_at(p, h, type, 0, sum ? LZ_NO_ADDR : addr, sum ? zone : ~0ull, 0, why,
			      sizeof(why)) &&
		    (!sum || !memcmp(h->uuid, p->uuid, LZ_UUID_SIZE)))
			p->damaged++;
		fn(p, addr, h, why);
	}
	tell_unread(p, first + off, unread);
	lz_free_blocks(buf);
}

static void summary_row(struct dump *p, u64 addr, const void *block, const char *why)
{
	const struct lz_summary *s = block;
	struct json_object *o = json_object_new_object();

	put_u64(o, "offset", addr % p->d->g.zone_blocks);
	put_u64(o, "addr", addr);
	put_u64(o, "number", le64_to_cpu(s->h.seq));
	put_u64(o, "gen", le32_to_cpu(s->gen));
	put_u64(o, "epoch", le64_to_cpu(s->h.epoch));
	put_u64(o, "entries", le32_to_cpu(s->h.count));
	put_u64(o, "group", le32_to_cpu(s->group));
	put_u64(o, "nth", le32_to_cpu(s->nth));
	put_addr(o, "prev", le32_to_cpu(s->prev) == LZ_NO_OFFSET ? LZ_NOWHERE :
		 le32_to_cpu(s->prev));
	put_str(o, "finding", *why ? why : "valid");
	out_row(&p->out, o);
}

static void root_row(struct dump *p, u64 addr, const void *block, const char *why)
{
	const struct lz_root *r = block;
	struct json_object *o = json_object_new_object();

	put_u64(o, "addr", addr);
	put_u64(o, "checkpoint", le64_to_cpu(r->h.seq));
	put_u64(o, "epoch", le64_to_cpu(r->h.epoch));
	put_u64(o, "commit", le64_to_cpu(r->commit));
	put_addr(o, "journal_addr", le64_to_cpu(r->journal_addr));
	put_u64(o, "journal_seq", le64_to_cpu(r->journal_seq));
	put_u64(o, "mapped", le64_to_cpu(r->mapped));
	put_bool(o, "clean", le32_to_cpu(r->flags) & LZ_ROOT_CLEAN);
	put_bool(o, "newest", p->have_root && addr == p->root_addr);
	put_str(o, "finding", *why ? why : "valid");
	out_row(&p->out, o);
}

static int dump_summary(struct dump *p, const struct dump_args *a)
{
	u64 zone = 0;
	bool one = a->nr == 1 && parse_number(a->arg[0], &zone);

	if (!one || zone >= p->d->g.nr_zones) {
		complain(a->path, "summary wants one zone, from 0 to %u", p->d->g.nr_zones - 1);
		return one ? EXIT_FAIL : EXIT_USAGE_;
	}
	out_rows_begin(&p->out, "summaries");
	search_zone(p, zone, LZ_BT_SUMMARY, summary_row);
	out_rows_end(&p->out);
	return EXIT_OK;
}

static void dump_roots(struct dump *p)
{
	u32 i;

	out_rows_begin(&p->out, "roots");
	for (i = 0; i < 2 && i < p->d->g.nr_zones; i++)
		search_zone(p, i, LZ_BT_ROOT, root_row);
	out_rows_end(&p->out);
}

/* Any block, by what its own header says it is. @row: one of several, for programs a list. */
static int dump_block(struct dump *p, const char *word, bool row)
{
	struct lz_hdr *h = lz_alloc_blocks(1);
	char why[256];
	u64 addr;
	bool number = parse_number(word, &addr);
	u16 type;

	if (!number || addr >= drive_blocks(p->d)) {
		complain(p->d->path, "block %s: not on the drive (0 to %llu)", word,
			 (unsigned long long)drive_blocks(p->d) - 1);
		lz_free_blocks(h);
		return number ? EXIT_FAIL : EXIT_USAGE_;
	}
	if (!h || !drive_read(p->d, addr, 1, h)) {
		complain(p->d->path, "block %s: cannot be read", word);
		lz_free_blocks(h);
		return EXIT_FAIL;
	}
	type = le16_to_cpu(h->type);
	if (!valid_at(p, h, type, le16_to_cpu(h->level),
		      type == LZ_BT_SUMMARY ? LZ_NO_ADDR : addr, ~0ull, 0, why, sizeof(why)))
		p->damaged++;
	if (row && p->out.json)
		out_row(&p->out, block_json(h, why));
	else
		out_object(&p->out, block_json(h, why));
	lz_free_blocks(h);
	return EXIT_OK;
}

static int dump_blocks(struct dump *p, const struct dump_args *a)
{
	int ret = EXIT_OK;
	u32 i;

	out_rows_begin(&p->out, "blocks");
	for (i = 0; i < a->nr && ret == EXIT_OK; i++)
		ret = dump_block(p, a->arg[i], a->nr > 1);
	if (a->nr > 1 && p->out.rows)
		out_rows_end(&p->out);
	return ret;
}

/* Without a valid one, block 0. */
static int dump_super(struct dump *p)
{
	char word[24];

	snprintf(word, sizeof(word), "%llu",
		 (unsigned long long)(p->have_super ? le64_to_cpu(p->super.h.addr) : 0));
	return dump_block(p, word, false);
}

static int dump_root(struct dump *p)
{
	char word[24];

	snprintf(word, sizeof(word), "%llu", (unsigned long long)p->root_addr);
	return dump_block(p, word, false);
}

/* --- the command --------------------------------------------------------------------- */

enum { OPT_JSON = 0x100, OPT_SECTORS };

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ "sectors", OPT_SECTORS, NULL, 0, "only the capacity, in sectors of 512 bytes", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct dump_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->img;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_SECTORS:
		a->sectors = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->path)
			a->path = arg;
		else if (!a->what)
			a->what = arg;
		else
			a->arg[a->nr++] = arg;
		return 0;
	}
	if (key == ARGP_KEY_END && a->sectors && a->json)
		usage_error(state, "--sectors, or --json: not both");
	return parse_device(key, arg, state, &a->path);
}

static const struct argp_child children[] = { IMAGE_CHILD, { 0 } };
static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DEV [WHAT [ARGUMENT...]]",
	.doc = "Print metadata of DEV as it lies on the drive, damaged or not. WHAT is one of\n"
	       "  super           the superblock (default)\n"
	       "  root            the newest checkpoint root\n"
	       "  roots           all checkpoint roots\n"
	       "  zones           the zone table, beside what the drive reports\n"
	       "  journal         records since the newest checkpoint\n"
	       "  map [LBA...]    extents of the map, or where blocks lie now\n"
	       "  state           zones and map as recovery would leave them\n"
	       "  summary ZONE    summaries in a data zone\n"
	       "  block ADDR...   any blocks, by what they say they are\v\n"
	       "Exit status: 0; 1 not there or unreadable; 4 something was damaged; 16 usage.",
	.children = children,
};

static const struct {
	const char *name;
	bool args;	/* takes arguments */
	bool root;	/* needs superblock and root */
	bool zones;	/* where it looks depends on the zones */
} whats[] = {
	{ "super", false, false, false }, { "root", false, true, true },
	{ "roots", false, false, true }, { "zones", false, true, true },
	{ "journal", false, true, true }, { "map", true, true, true },
	{ "state", false, false, false }, { "summary", true, false, true },
	{ "block", true, false, false },
};

static int dump(struct dump *p, const struct dump_args *a)
{
	int ret = EXIT_OK;

	if (!strcmp(a->what, "super"))
		return dump_super(p);
	if (!strcmp(a->what, "root"))
		return dump_root(p);
	if (!strcmp(a->what, "map"))
		return dump_map(p, a);
	if (!strcmp(a->what, "state"))
		return dump_state(p->d, &p->out);
	if (!strcmp(a->what, "summary"))
		return dump_summary(p, a);
	if (!strcmp(a->what, "zones"))
		dump_zones(p);
	else if (!strcmp(a->what, "journal"))
		dump_journal(p);
	else if (!strcmp(a->what, "roots"))
		dump_roots(p);
	else
		ret = dump_blocks(p, a);
	return ret;
}

int cmd_dump(int argc, char **argv)
{
	struct dump_args a = { 0 };
	struct dump *p = calloc(1, sizeof(*p));
	int ret = EXIT_FAIL;
	size_t i;

	a.arg = calloc(argc, sizeof(*a.arg));
	if (!p || !a.arg) {
		complain("dump", "out of memory");
		goto out;
	}
	parse_args(&argp, "dump", argc, argv, &a);
	if (!a.what)
		a.what = "super";
	for (i = 0; i < ARRAY_SIZE(whats) && strcmp(a.what, whats[i].name); i++)
		;
	if (i == ARRAY_SIZE(whats) || (a.nr && !whats[i].args) ||
	    (!strcmp(a.what, "block") && !a.nr)) {
		complain("dump", "%s: %s (\"lifezone dump --help\" tells more)", a.what,
			 i == ARRAY_SIZE(whats) ? "no such part of the metadata" :
			 a.nr ? "takes no arguments" : "of which addresses?");
		ret = EXIT_USAGE_;
		goto out;
	}
	p->out.json = a.json;
	p->d = drive_open(a.path, DRIVE_QUIET, &a.img);
	if (!p->d)
		goto out;
	find_super(p);
	if ((a.sectors || whats[i].root) && !need_super(p))
		goto out;
	if (a.sectors) {
		printf("%llu\n", (unsigned long long)LZ_BLOCK_SECTORS *
		       le64_to_cpu(p->super.logical_blocks));
		ret = EXIT_OK;
		goto out;
	}
	if (whats[i].zones && !need_zones(p))
		goto out;
	find_root(p);
	if (whats[i].root && !need_root(p))
		goto out;
	ret = dump(p, &a);
	if (ret == EXIT_OK && p->damaged)
		ret = EXIT_ERRORS;
out:
	if (p)
		drive_close(p->d);
	free(p);
	free(a.arg);
	return ret;
}
