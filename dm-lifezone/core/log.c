// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata blocks: sealing and validating, the one place that knows what a
 * block must look like to be believed.
 *
 * A block is first asked who it is: the header names the device, the kind, the
 * place and the time of the block, so that a stale, misplaced or foreign block
 * is told from a damaged one. Then its checksum is verified, and only then is
 * anything of its body looked at: counts, types, lengths and addresses within
 * the limits that hold for any device. Limits of one device (its number of
 * zones, its capacity) are for those who know them.
 */
#include "log.h"
#include "plant.h"
#include "policy.h"

static const char *const lz_type_names[] = {
	[0]		= "block",
	[LZ_BT_SUPER]	= "superblock",
	[LZ_BT_ROOT]	= "root",
	[LZ_BT_JOURNAL]	= "journal",
	[LZ_BT_NODE]	= "map node",
	[LZ_BT_ZNODE]	= "zone table node",
	[LZ_BT_SUMMARY]	= "summary",
};

/**
 * struct lz_judge - where findings go
 * @w: what was wanted
 * @why: one line, or NULL
 * @n: its size (bytes)
 * @entry: entry of the body being looked at, or -1
 */
struct lz_judge {
	const struct lz_want *w;
	char *why;
	size_t n;
	int entry;
};

/* Begins the line: what, where, and in which entry. */
static size_t lz_where(const struct lz_judge *j)
{
	const struct lz_want *w = j->w;
	const char *name = lz_type_names[w->type < ARRAY_SIZE(lz_type_names) ? w->type : 0];
	size_t used;

	if (w->addr != LZ_NO_ADDR)
		used = scnprintf(j->why, j->n, "%s at block %llu: ", name,
				 (unsigned long long)w->addr);
	else if (w->index != ~0ull)
		used = scnprintf(j->why, j->n, "%s of zone %llu: ", name,
				 (unsigned long long)w->index);
	else
		used = scnprintf(j->why, j->n, "%s: ", name);
	if (j->entry >= 0)
		used += scnprintf(j->why + used, j->n - used, "entry %d: ", j->entry);
	return used;
}

/* Damage: @field is @got, but should be what @rel and @want say. */
static bool lz_bad(const struct lz_judge *j, const char *field, u64 got,
		   const char *rel, u64 want)
{
	size_t used;

	if (j->why && j->n) {
		used = lz_where(j);
		scnprintf(j->why + used, j->n - used, "%s: got %llu, wanted %s%llu", field,
			  (unsigned long long)got, rel, (unsigned long long)want);
	}
	return false;
}

static bool lz_bad_hex(const struct lz_judge *j, const char *field, u64 got, u64 want)
{
	size_t used;

	if (j->why && j->n) {
		used = lz_where(j);
		scnprintf(j->why + used, j->n - used, "%s: got 0x%llx, wanted 0x%llx", field,
			  (unsigned long long)got, (unsigned long long)want);
	}
	return false;
}

static size_t lz_put_hex(char *p, size_t n, const u8 *v, size_t len)
{
	size_t i, used = 0;

	for (i = 0; i < len; i++)
		used += scnprintf(p + used, n - used, "%02x", v[i]);
	return used;
}

static bool lz_bad_bytes(const struct lz_judge *j, const char *field, const u8 *got,
			 const u8 *want, size_t len)
{
	size_t used;

	if (j->why && j->n) {
		used = lz_where(j);
		used += scnprintf(j->why + used, j->n - used, "%s: got ", field);
		used += lz_put_hex(j->why + used, j->n - used, got, len);
		used += scnprintf(j->why + used, j->n - used, ", wanted ");
		lz_put_hex(j->why + used, j->n - used, want, len);
	}
	return false;
}

/* "The value is within the limit, or else": used as a chain of conditions. */
static bool lz_most(const struct lz_judge *j, const char *field, u64 got, u64 most)
{
	if (got > most)
		lz_bad(j, field, got, "at most ", most);
	return got <= most;
}

static bool lz_least(const struct lz_judge *j, const char *field, u64 got, u64 least)
{
	if (got < least)
		lz_bad(j, field, got, "at least ", least);
	return got >= least;
}

static bool lz_same(const struct lz_judge *j, const char *field, u64 got, u64 want)
{
	if (got != want)
		lz_bad(j, field, got, "", want);
	return got == want;
}

/* No bits but those known. */
static bool lz_bits(const struct lz_judge *j, const char *field, u64 got, u64 known)
{
	if (got & ~known)
		lz_bad_hex(j, field, got, got & known);
	return !(got & ~known);
}

static u32 lz_block_crc(const void *block)
{
	const size_t at = offsetof(struct lz_hdr, crc);
	const __le32 zero = 0;
	size_t n = lz_planted(LZ_PLANT_SHORT_CRC) ? LZ_BLOCK_SIZE / 2 : LZ_BLOCK_SIZE;
	u32 crc;

	crc = lz_crc32c(~0u, block, at);
	crc = lz_crc32c(crc, &zero, sizeof(zero));
	return lz_crc32c(crc, (const u8 *)block + at + sizeof(zero), n - at - sizeof(zero));
}

/* --- bodies, one function a type: limits that hold for any device ------------- */

static bool lz_super_ok(const struct lz_judge *j, const struct lz_super *s)
{
	u64 zones = le32_to_cpu(s->nr_zones);
	u64 blocks = le32_to_cpu(s->zone_blocks);
	u64 cap = le32_to_cpu(s->zone_cap);
	u64 apart = 2ull + le32_to_cpu(s->meta_zones) + le32_to_cpu(s->gc_zones);
	u64 data;

	if (memcmp(s->text, LZ_SUPER_TEXT, sizeof(s->text)))
		return lz_bad_bytes(j, "text", s->text, (const u8 *)LZ_SUPER_TEXT,
				    sizeof(s->text));
	if (!lz_least(j, "version", le32_to_cpu(s->version), 1))
		return false;
	/* Whether it can be used is for the caller to say; it may mean other things. */
	if (le32_to_cpu(s->version) != LZ_FORMAT_VERSION)
		return true;

	if (!is_power_of_2(blocks))
		return lz_bad(j, "zone_blocks", blocks, "a power of two up to ",
			      LZ_ZONE_BLOCKS_MAX);
	if (!lz_most(j, "zone_blocks", blocks, LZ_ZONE_BLOCKS_MAX) ||
	    !lz_least(j, "zone_cap", cap, 1) ||
	    !lz_most(j, "zone_cap", cap, blocks) ||
	    !lz_least(j, "nr_zones", zones, 3) ||
	    !lz_most(j, "nr_zones", zones, div64_u64(LZ_ADDR_MASK, blocks)) ||
	    !lz_most(j, "meta_zones", le32_to_cpu(s->meta_zones), zones - 3) ||
	    !lz_most(j, "gc_zones", le32_to_cpu(s->gc_zones), zones - 3) ||
	    !lz_most(j, "zones apart", apart, zones - 1) ||
	    !lz_most(j, "spare_permille", le32_to_cpu(s->spare_permille), 1000))
		return false;

	data = (zones - apart) * cap;
	return lz_least(j, "logical_blocks", le64_to_cpu(s->logical_blocks), 1) &&
	       lz_most(j, "logical_blocks", le64_to_cpu(s->logical_blocks), data);
}

static bool lz_addrs_ok(struct lz_judge *j, const char *field, const __le64 *e, u32 n)
{
	u64 all = 0;
	u32 i;

	/* A leaf that is read has 504 of them, and all are well. */
	for (i = 0; i < n; i++)
		all |= le64_to_cpu(e[i]);
	if (all <= LZ_ADDR_MASK)
		return true;
	for (i = 0; i < n; i++) {
		j->entry = i;
		if (!lz_most(j, field, le64_to_cpu(e[i]), LZ_ADDR_MASK))
			return false;
	}
	return true;
}

static bool lz_root_ok(struct lz_judge *j, const struct lz_root *r)
{
	/* As a bound for what a root leads to, an epoch of 0 would be none. */
	return lz_least(j, "epoch", le64_to_cpu(r->h.epoch), 1) &&
	       lz_most(j, "epoch", le64_to_cpu(r->h.epoch), LZ_NUMBER_MAX) &&
	       lz_least(j, "seq", le64_to_cpu(r->h.seq), 1) &&
	       lz_most(j, "seq", le64_to_cpu(r->h.seq), LZ_NUMBER_MAX) &&
	       lz_most(j, "journal_addr", le64_to_cpu(r->journal_addr), LZ_ADDR_MASK) &&
	       lz_least(j, "journal_seq", le64_to_cpu(r->journal_seq), 1) &&
	       lz_most(j, "journal_seq", le64_to_cpu(r->journal_seq), LZ_NUMBER_MAX) &&
	       lz_most(j, "commit", le64_to_cpu(r->commit), LZ_NUMBER_MAX) &&
	       lz_most(j, "write_seq", le64_to_cpu(r->write_seq), LZ_NUMBER_MAX) &&
	       lz_bits(j, "flags", le32_to_cpu(r->flags), LZ_ROOT_CLEAN) &&
	       lz_most(j, "mapped", le64_to_cpu(r->mapped), LZ_ADDR_MASK) &&
	       lz_addrs_ok(j, "map_top", r->map_top, LZ_ROOT_MAP_TOP) &&
	       lz_addrs_ok(j, "ztab_top", r->ztab_top, LZ_ROOT_ZTAB_TOP);
}

#define LZ_ZF_KNOWN	(LZ_ZF_SCAN | LZ_ZF_GC | LZ_ZF_BAD | LZ_ZF_WORN | LZ_ZF_LOST)

static bool lz_jrec_ok(const struct lz_judge *j, const struct lz_jrec *r)
{
	u64 lba = lz_jrec_lba(r), b = lz_jrec_b(r);
	u32 len = lz_jrec_len(r);

	/* The last block of the address space is LZ_NOWHERE: no run reaches it. */
	switch (lz_jrec_type(r)) {
	case LZ_JR_MAP:
		return lz_least(j, "len", len, 1) &&
		       lz_most(j, "lba + len", lba + len, LZ_NOWHERE) &&
		       lz_most(j, "addr", b, LZ_ADDR_MASK) &&
		       lz_most(j, "addr + len", b + len, LZ_NOWHERE);
	case LZ_JR_DISCARD:
		return lz_least(j, "blocks", b, 1) &&
		       lz_most(j, "blocks", b, LZ_NOWHERE) &&
		       lz_most(j, "lba + blocks", lba + b, LZ_NOWHERE);
	case LZ_JR_ZOPEN:
		return lz_most(j, "zone", lba, 0xfffffffe) &&
		       lz_most(j, "class", len, LZ_NR_ZONE_CLASSES - 1) &&
		       lz_bits(j, "flags", b >> 32, LZ_ZF_KNOWN);
	case LZ_JR_ZSUM:
		return lz_most(j, "zone", lba, 0xfffffffe) &&
		       lz_least(j, "len", len, 1) &&
		       lz_most(j, "offset + len", (b & 0xffffffff) + len, LZ_ZONE_BLOCKS_MAX);
	case LZ_JR_ZBAD:
		return lz_most(j, "zone", lba, 0xfffffffe);
	default:
		return lz_bad(j, "type", lz_jrec_type(r), "1 to ", LZ_JR_ZBAD);
	}
}

static bool lz_journal_ok(struct lz_judge *j, const struct lz_journal *b)
{
	u64 seq = le64_to_cpu(b->h.seq), first = le64_to_cpu(b->first);
	u32 i, count = le32_to_cpu(b->h.count);

	if (!lz_least(j, "first", first, 1) ||
	    !lz_most(j, "first", first, seq) ||
	    !lz_most(j, "commit", le64_to_cpu(b->h.index), LZ_NUMBER_MAX) ||
	    !lz_most(j, "more", le32_to_cpu(b->more), 1))
		return false;
	/* A link ends a zone: it has no records, and is a commit of its own. */
	if (le32_to_cpu(b->next_zone) != 0xffffffff &&
	    (!lz_same(j, "count of a link", count, 0) ||
	     !lz_same(j, "first of a link", first, seq)))
		return false;
	for (i = 0; i < count; i++) {
		j->entry = i;
		if (!lz_jrec_ok(j, &b->r[i]))
			return false;
	}
	return true;
}

static bool lz_zent_ok(const struct lz_judge *j, const struct lz_zent *z)
{
	u32 head = le32_to_cpu(z->head);

	return lz_most(j, "state", z->state, LZ_NR_ZONE_STATES - 1) &&
	       lz_most(j, "class", z->class, LZ_NR_ZONE_CLASSES - 1) &&
	       lz_bits(j, "flags", le16_to_cpu(z->flags), LZ_ZF_KNOWN) &&
	       lz_most(j, "valid", le32_to_cpu(z->valid), LZ_ZONE_BLOCKS_MAX) &&
	       lz_most(j, "wp", le32_to_cpu(z->wp), LZ_ZONE_BLOCKS_MAX) &&
	       lz_most(j, "seq", le64_to_cpu(z->seq), LZ_NUMBER_MAX) &&
	       (head == LZ_NO_OFFSET ||
		lz_most(j, "head", head, LZ_ZONE_BLOCKS_MAX - 1));
}

static bool lz_znode_ok(struct lz_judge *j, const struct lz_znode *b)
{
	u32 i, count = le32_to_cpu(b->h.count);

	for (i = 0; i < count; i++) {
		j->entry = i;
		if (!lz_zent_ok(j, &b->e[i]))
			return false;
	}
	return true;
}

static bool lz_summary_ok(struct lz_judge *j, const struct lz_summary *s)
{
	u32 i, count = le32_to_cpu(s->h.count);
	u32 group = le32_to_cpu(s->group), prev = le32_to_cpu(s->prev);

	if (!lz_least(j, "group", group, 1) ||
	    !lz_most(j, "group", group, LZ_ZONE_BLOCKS_MAX) ||
	    !lz_most(j, "nth", le32_to_cpu(s->nth), group - 1))
		return false;
	if (prev != LZ_NO_OFFSET && !lz_most(j, "prev", prev, LZ_ZONE_BLOCKS_MAX - 1))
		return false;
	/* Any 24 bits are an offset; of the 40 bits of an lba one value is none. */
	for (i = 0; i < count; i++) {
		j->entry = i;
		if (!lz_most(j, "lba", lz_sum_lba(le64_to_cpu(s->e[i])), LZ_NOWHERE - 1))
			return false;
	}
	return true;
}

/* Entries that fit in a block of a type. */
static u32 lz_capacity(u16 type, u16 level)
{
	switch (type) {
	case LZ_BT_JOURNAL:
		return LZ_JOURNAL_RECORDS;
	case LZ_BT_NODE:
		return LZ_NODE_ENTRIES;
	case LZ_BT_ZNODE:
		return level ? LZ_NODE_ENTRIES : LZ_ZNODE_ENTRIES;
	case LZ_BT_SUMMARY:
		return LZ_SUMMARY_ENTRIES;
	default:
		return 0;
	}
}

static bool lz_body_ok(struct lz_judge *j, const void *block)
{
	const struct lz_hdr *h = block;
	u16 type = le16_to_cpu(h->type), level = le16_to_cpu(h->level);

	if (!lz_most(j, "count", le32_to_cpu(h->count), lz_capacity(type, level)))
		return false;
	switch (type) {
	case LZ_BT_SUPER:
		return lz_super_ok(j, block);
	case LZ_BT_ROOT:
		return lz_root_ok(j, block);
	case LZ_BT_JOURNAL:
		return lz_journal_ok(j, block);
	case LZ_BT_ZNODE:
		if (!level)
			return lz_znode_ok(j, block);
		fallthrough;
	case LZ_BT_NODE:
		return lz_addrs_ok(j, "addr", ((const struct lz_node *)block)->e,
				   LZ_NODE_ENTRIES);
	case LZ_BT_SUMMARY:
		return lz_summary_ok(j, block);
	default:
		return lz_bad(j, "type", type, "1 to ", LZ_BT_SUMMARY);
	}
}

/*
 * What a write that was cut short leaves out of a block reads as zeros or ones, and
 * as something else once its zone has been finished. Where the end of the block has
 * nothing to say it would be whole then, all of a sudden: so something stands there.
 */
static void lz_end(void *block)
{
	const struct lz_hdr *h = block;
	u16 type = le16_to_cpu(h->type);
	__le64 end = cpu_to_le64(~le64_to_cpu(h->seq));

	/* A node counts only once a root leads to it, which is written when it is durable. */
	if (type == LZ_BT_NODE || type == LZ_BT_ZNODE || lz_planted(LZ_PLANT_NO_END))
		return;
	if (type == LZ_BT_SUPER || type == LZ_BT_ROOT ||
	    le32_to_cpu(h->count) < lz_capacity(type, 0))
		memcpy(block + LZ_END_OFFSET, &end, sizeof(end));
}

/**
 * lz_seal - make a block believable: fill in its header and checksum
 * @block: block of LZ_BLOCK_SIZE bytes whose body is complete
 * @w: uuid, type, level, addr, index, epoch and seq are taken from it
 * @count: valid entries
 */
void lz_seal(void *block, const struct lz_want *w, u32 count)
{
	struct lz_hdr *h = block;

	h->magic = cpu_to_le32(LZ_MAGIC);
	memcpy(h->uuid, w->uuid, LZ_UUID_SIZE);
	h->type = cpu_to_le16(w->type);
	h->level = cpu_to_le16(w->level);
	h->count = cpu_to_le32(count);
	h->epoch = cpu_to_le64(w->epoch);
	h->seq = cpu_to_le64(w->seq);
	h->addr = cpu_to_le64(w->addr);
	h->index = cpu_to_le64(w->index);
	lz_end(block);
	h->crc = cpu_to_le32(lz_block_crc(block));
}

/**
 * lz_valid - is a block the one wanted?
 * @block: block of LZ_BLOCK_SIZE bytes, as read
 * @w: what it must be
 * @why: if not, one line that says where, which field, got and wanted; or NULL
 * @n: size of @why (bytes)
 *
 * Return: true if it may be believed.
 */
bool lz_valid(const void *block, const struct lz_want *w, char *why, size_t n)
{
	struct lz_judge judge = { .w = w, .why = why, .n = n, .entry = -1 }, *j = &judge;
	const struct lz_hdr *h = block;
	u32 crc;

	if (le32_to_cpu(h->magic) != LZ_MAGIC)
		return lz_bad_hex(j, "magic", le32_to_cpu(h->magic), LZ_MAGIC);
	if (w->uuid && memcmp(h->uuid, w->uuid, LZ_UUID_SIZE))
		return lz_bad_bytes(j, "uuid", h->uuid, w->uuid, LZ_UUID_SIZE);
	if (!lz_same(j, "type", le16_to_cpu(h->type), w->type) ||
	    !lz_same(j, "level", le16_to_cpu(h->level), w->level))
		return false;
	if (!lz_planted(LZ_PLANT_ADDRESS_IGNORED) &&
	    !lz_same(j, "addr", le64_to_cpu(h->addr), w->addr))
		return false;
	if (w->epoch && !lz_same(j, "epoch", le64_to_cpu(h->epoch), w->epoch))
		return false;
	if (w->epoch_max && !lz_most(j, "epoch", le64_to_cpu(h->epoch), w->epoch_max))
		return false;
	if (w->seq && !lz_same(j, "seq", le64_to_cpu(h->seq), w->seq))
		return false;
	if (w->index != ~0ull && !lz_same(j, "index", le64_to_cpu(h->index), w->index))
		return false;

	crc = lz_block_crc(block);
	if (le32_to_cpu(h->crc) != crc)
		return lz_bad_hex(j, "crc", le32_to_cpu(h->crc), crc);

	return lz_body_ok(j, block);
}
