// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a metadata block says, field by field, believed or not: a dump is wanted
 * most when something is wrong. Counts are cut to what a block can hold, and
 * text is only ever taken for text with its length; nothing else of the
 * contents is relied on.
 */
#include <stdarg.h>
#include "cmd.h"

static const char *const type_names[] = {
	[LZ_BT_SUPER]	= "superblock",
	[LZ_BT_ROOT]	= "root",
	[LZ_BT_JOURNAL]	= "journal",
	[LZ_BT_NODE]	= "map_node",
	[LZ_BT_ZNODE]	= "zone_table_node",
	[LZ_BT_SUMMARY]	= "summary",
};

static const char *const state_names[LZ_NR_ZONE_STATES] = {
	[LZ_ZS_FREE]	= "free",
	[LZ_ZS_OPEN]	= "open",
	[LZ_ZS_FULL]	= "full",
	[LZ_ZS_META]	= "meta",
	[LZ_ZS_ROOT]	= "root",
	[LZ_ZS_BAD]	= "bad",
};

const char *zone_state_name(u8 state)
{
	return state < LZ_NR_ZONE_STATES ? state_names[state] : "?";
}

const char *class_name(u8 class)
{
	return class < LZ_NR_ZONE_CLASSES ? lz_class_names[class] : "?";
}

const char *zone_flag_names(u32 flags, char *buf, size_t n)
{
	snprintf(buf, n, "%s%s%s%s%s%s", flags ? "" : "-", flags & LZ_ZF_SCAN ? "s" : "",
		 flags & LZ_ZF_GC ? "g" : "", flags & LZ_ZF_BAD ? "b" : "",
		 flags & LZ_ZF_WORN ? "w" : "", flags & LZ_ZF_LOST ? "l" : "");
	return buf;
}

static __printf(2, 3) void add_line(struct json_object *list, const char *fmt, ...)
{
	char line[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	json_object_array_add(list, json_object_new_string(line));
}

static struct json_object *header_json(const struct lz_hdr *h)
{
	struct json_object *o = json_object_new_object();
	char text[40];

	snprintf(text, sizeof(text), "0x%08x%s", le32_to_cpu(h->magic),
		 le32_to_cpu(h->magic) == LZ_MAGIC ? "" : " (not ours)");
	put_str(o, "magic", text);
	snprintf(text, sizeof(text), "0x%08x", le32_to_cpu(h->crc));
	put_str(o, "crc", text);
	uuid_text(h->uuid, text);
	put_str(o, "uuid", text);
	put_u64(o, "type", le16_to_cpu(h->type));
	put_u64(o, "level", le16_to_cpu(h->level));
	put_u64(o, "count", le32_to_cpu(h->count));
	put_u64(o, "epoch", le64_to_cpu(h->epoch));
	put_u64(o, "seq", le64_to_cpu(h->seq));
	put_addr(o, "addr", le64_to_cpu(h->addr));
	put_u64(o, "index", le64_to_cpu(h->index));
	return o;
}

static void super_fields(struct json_object *o, const struct lz_super *s)
{
	char label[LZ_LABEL_SIZE + 1] = "", text[9] = "";

	memcpy(label, s->label, LZ_LABEL_SIZE);
	memcpy(text, s->text, 8);
	put_str(o, "text", text);
	put_u64(o, "version", le32_to_cpu(s->version));
	put_u64(o, "compat", le32_to_cpu(s->compat));
	put_u64(o, "compat_ro", le32_to_cpu(s->compat_ro));
	put_u64(o, "incompat", le32_to_cpu(s->incompat));
	put_str(o, "label", label);
	put_u64(o, "nr_zones", le32_to_cpu(s->nr_zones));
	put_u64(o, "zone_blocks", le32_to_cpu(s->zone_blocks));
	put_u64(o, "zone_cap", le32_to_cpu(s->zone_cap));
	put_u64(o, "meta_zones", le32_to_cpu(s->meta_zones));
	put_u64(o, "gc_zones", le32_to_cpu(s->gc_zones));
	put_u64(o, "spare_permille", le32_to_cpu(s->spare_permille));
	put_u64(o, "logical_blocks", le64_to_cpu(s->logical_blocks));
	put_u64(o, "created", le64_to_cpu(s->created));
}

/* Addresses other than LZ_NOWHERE, with their place. */
static struct json_object *addrs_json(const __le64 *e, u32 n)
{
	struct json_object *list = json_object_new_array();
	u32 i;

	for (i = 0; i < n; i++)
		if (le64_to_cpu(e[i]) != LZ_NOWHERE)
			add_line(list, "%u: %llu", i, (unsigned long long)le64_to_cpu(e[i]));
	return list;
}

static void node_fields(struct json_object *o, const struct lz_node *b)
{
	json_object_object_add(o, "entries", addrs_json(b->e, LZ_NODE_ENTRIES));
}

static void root_fields(struct json_object *o, const struct lz_root *r)
{
	static const struct {
		enum lz_stat of;
		const char *name;
	} per_class[] = {
		{ LZ_ST_CLASS_WRITES, "writes" }, { LZ_ST_CLASS_COPIES, "copies" },
		{ LZ_ST_CLASS_RESETS, "resets" }, { LZ_ST_CLASS_OPENS, "opens" },
	};
	struct json_object *stats = json_object_new_object();
	char name[48];
	u32 i, c;

	put_u64(o, "journal_addr", le64_to_cpu(r->journal_addr));
	put_u64(o, "journal_seq", le64_to_cpu(r->journal_seq));
	put_u64(o, "commit", le64_to_cpu(r->commit));
	put_u64(o, "write_seq", le64_to_cpu(r->write_seq));
	if (le32_to_cpu(r->node_zone) == ~0u)
		json_object_object_add(o, "node_zone", NULL);
	else
		put_u64(o, "node_zone", le32_to_cpu(r->node_zone));
	put_bool(o, "clean", le32_to_cpu(r->flags) & LZ_ROOT_CLEAN);
	put_u64(o, "mapped", le64_to_cpu(r->mapped));
	json_object_object_add(o, "map_top", addrs_json(r->map_top, LZ_ROOT_MAP_TOP));
	json_object_object_add(o, "ztab_top", addrs_json(r->ztab_top, LZ_ROOT_ZTAB_TOP));
	for (i = 0; i < LZ_ST_CLASS_WRITES; i++)
		put_u64(stats, lz_stat_names[i], le64_to_cpu(r->stats[i]));
	for (i = 0; i < ARRAY_SIZE(per_class); i++) {
		for (c = 0; c < LZ_NR_ZONE_CLASSES; c++) {
			snprintf(name, sizeof(name), "%s_%s", class_name(c), per_class[i].name);
			put_u64(stats, name,
				le64_to_cpu(r->stats[lz_class_stat(per_class[i].of, c)]));
		}
	}
	put_u64(stats, "trims_wanted", le64_to_cpu(r->stats[LZ_ST_TRIMS_WANTED]));
	json_object_object_add(o, "stats", stats);
}

const char *record_text(const struct lz_jrec *r, char *buf, size_t n)
{
	unsigned long long lba = lz_jrec_lba(r), b = lz_jrec_b(r);
	u32 len = lz_jrec_len(r);

	switch (lz_jrec_type(r)) {
	case LZ_JR_MAP:
		snprintf(buf, n, "map lba %llu len %u addr %llu", lba, len, b);
		break;
	case LZ_JR_DISCARD:
		snprintf(buf, n, "discard lba %llu len %llu", lba, b);
		break;
	case LZ_JR_ZOPEN:
		snprintf(buf, n, "open zone %llu class %s gen %llu flags 0x%llx", lba,
			 class_name(min(len, 255u)), b & 0xffffffff, b >> 32);
		break;
	case LZ_JR_ZSUM:
		snprintf(buf, n, "summary zone %llu offset %llu len %u number %llu", lba,
			 b & 0xffffffff, len, b >> 32);
		break;
	case LZ_JR_ZBAD:
		snprintf(buf, n, b ? "aside zone %llu gen %llu" : "aside zone %llu", lba,
			 b & 0xffffffff);
		break;
	default:
		snprintf(buf, n, "unknown type %u a 0x%llx b 0x%llx", lz_jrec_type(r),
			 (unsigned long long)le64_to_cpu(r->a), b);
	}
	return buf;
}

static void journal_fields(struct json_object *o, const struct lz_journal *b)
{
	struct json_object *list = json_object_new_array();
	u32 i, n = min(le32_to_cpu(b->h.count), LZ_JOURNAL_RECORDS);
	char text[160];

	if (le32_to_cpu(b->next_zone) == ~0u)
		json_object_object_add(o, "next_zone", NULL);
	else
		put_u64(o, "next_zone", le32_to_cpu(b->next_zone));
	put_u64(o, "more", le32_to_cpu(b->more));
	put_u64(o, "first", le64_to_cpu(b->first));
	for (i = 0; i < n; i++)
		add_line(list, "%u: %s", i, record_text(&b->r[i], text, sizeof(text)));
	json_object_object_add(o, "records", list);
}

static void znode_fields(struct json_object *o, const struct lz_znode *b)
{
	struct json_object *list = json_object_new_array();
	u32 i, n = min(le32_to_cpu(b->h.count), LZ_ZNODE_ENTRIES);
	char flags[8], times[80];

	for (i = 0; i < n; i++) {
		const struct lz_zent *z = &b->e[i];

		snprintf(times, sizeof(times), "head %d sum_seq %u seq %llu",
			 (int)le32_to_cpu(z->head), le32_to_cpu(z->sum_seq),
			 (unsigned long long)le64_to_cpu(z->seq));
		add_line(list, "%u: %s class %s gen %u valid %u wp %u %s flags %s", i,
			 zone_state_name(z->state), class_name(z->class), le32_to_cpu(z->gen),
			 le32_to_cpu(z->valid), le32_to_cpu(z->wp), times,
			 zone_flag_names(le16_to_cpu(z->flags), flags, sizeof(flags)));
	}
	json_object_object_add(o, "zones", list);
}

static void summary_fields(struct json_object *o, const struct lz_summary *s)
{
	struct json_object *list = json_object_new_array();
	u32 i, n = min(le32_to_cpu(s->h.count), LZ_SUMMARY_ENTRIES);

	put_u64(o, "gen", le32_to_cpu(s->gen));
	if (le32_to_cpu(s->prev) == LZ_NO_OFFSET)
		json_object_object_add(o, "prev", NULL);
	else
		put_u64(o, "prev", le32_to_cpu(s->prev));
	put_u64(o, "group", le32_to_cpu(s->group));
	put_u64(o, "nth", le32_to_cpu(s->nth));
	for (i = 0; i < n; i++)
		add_line(list, "offset %u: lba %llu", lz_sum_offset(le64_to_cpu(s->e[i])),
			 (unsigned long long)lz_sum_lba(le64_to_cpu(s->e[i])));
	json_object_object_add(o, "entries", list);
}

struct json_object *block_json(const void *block, const char *why)
{
	struct json_object *o = json_object_new_object();
	const struct lz_hdr *h = block;
	u16 type = le16_to_cpu(h->type);

	put_str(o, "what", type < ARRAY_SIZE(type_names) && type_names[type] ?
		type_names[type] : "unknown");
	put_bool(o, "valid", !*why);
	if (*why)
		put_str(o, "damage", why);
	json_object_object_add(o, "header", header_json(h));
	if (le32_to_cpu(h->magic) != LZ_MAGIC)
		return o;
	switch (type) {
	case LZ_BT_SUPER:
		super_fields(o, block);
		break;
	case LZ_BT_ROOT:
		root_fields(o, block);
		break;
	case LZ_BT_JOURNAL:
		journal_fields(o, block);
		break;
	case LZ_BT_ZNODE:
		if (le16_to_cpu(h->level))
			node_fields(o, block);
		else
			znode_fields(o, block);
		break;
	case LZ_BT_NODE:
		node_fields(o, block);
		break;
	case LZ_BT_SUMMARY:
		summary_fields(o, block);
		break;
	}
	return o;
}
