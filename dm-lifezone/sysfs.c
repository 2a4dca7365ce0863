// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/block/dm-N/lifezone: one value a file, a folder a lifetime class.
 * Documentation/ABI/testing/sysfs-block-dm-lifezone describes each.
 *
 * The folder is the disk's and stays for as long as any of its tables is ours, suspended or not:
 * who looks something up in sysfs, or opens a file there, may wait for memory, and memory for
 * what is to be written to a device that is suspended. So a suspend and a resume must not wait
 * for them, as adding and removing a folder does. It is added by the first .ctr, or, as dm adds the
 * disk itself only after that, as the first resume begins: dm has just given the disk its size, and
 * hardly anybody can have written to it. It is removed by the last .dtr.
 *
 * It shows the instance that was last resumed. Handlers look at that under SRCU, for which .dtr
 * alone waits.
 */
#include <linux/srcu.h>
#include <linux/sysfs.h>

#include "shell.h"

/**
 * struct lz_sysfs - the folder of a disk
 * @kobj: below @disk
 * @disk: dm's
 * @list: on lz_folders
 * @refs: instances in tables of the disk
 * @tried: it has been added, or cannot be
 * @lt: the instance last resumed, or NULL
 * @srcu: who looks at @lt
 * @released: nobody has @kobj any more
 */
struct lz_sysfs {
	struct kobject kobj;
	struct device *disk;
	struct list_head list;
	refcount_t refs;
	bool tried;
	struct lz_target __rcu *lt;
	struct srcu_struct srcu;
	struct completion released;
};

/**
 * struct lz_attr - a file
 * @attr: name and mode
 * @show: read
 * @store: written, or NULL
 * @arg: enum lz_stat, or what @show takes it for
 */
struct lz_attr {
	struct attribute attr;
	ssize_t (*show)(struct lz_target *lt, const struct lz_attr *a, char *buf);
	ssize_t (*store)(struct lz_target *lt, const struct lz_attr *a, const char *buf,
			 size_t count);
	unsigned int arg;
};

#define LZ_ATTR(_var, _name, _mode, _show, _store, _arg)		\
static const struct lz_attr _var = {					\
	.attr = { .name = _name, .mode = _mode },			\
	.show = _show, .store = _store, .arg = _arg,			\
}

/* --- counters ------------------------------------------------------------------- */

static ssize_t lz_show_stat(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	return sysfs_emit(buf, "%llu\n", lz_stat(lt->lz, a->arg));
}

#define LZ_STAT(_name, _stat) \
	LZ_ATTR(lz_attr_##_name, #_name, 0444, lz_show_stat, NULL, _stat)

LZ_STAT(user_written_blocks, LZ_ST_USER_WRITES);
LZ_STAT(user_read_blocks, LZ_ST_USER_READS);
LZ_STAT(discarded_blocks, LZ_ST_DISCARDS);
LZ_STAT(flushes, LZ_ST_FLUSHES);
LZ_STAT(gc_copied_blocks, LZ_ST_GC_COPIES);
LZ_STAT(gc_lost_blocks, LZ_ST_GC_LOST);
LZ_STAT(gc_victims, LZ_ST_GC_VICTIMS);
LZ_STAT(summary_written_blocks, LZ_ST_SUMMARY_BLOCKS);
LZ_STAT(journal_written_blocks, LZ_ST_JOURNAL_BLOCKS);
LZ_STAT(node_written_blocks, LZ_ST_NODE_BLOCKS);
LZ_STAT(root_written_blocks, LZ_ST_ROOT_BLOCKS);
LZ_STAT(commits, LZ_ST_COMMITS);
LZ_STAT(checkpoints, LZ_ST_CHECKPOINTS);
LZ_STAT(root_rolls, LZ_ST_ROOT_ROLLS);
LZ_STAT(journal_rolls, LZ_ST_JOURNAL_ROLLS);
LZ_STAT(meta_cleans, LZ_ST_META_CLEANS);
LZ_STAT(leaf_reads, LZ_ST_LEAF_READS);
LZ_STAT(resets_user, LZ_ST_RESETS_USER);
LZ_STAT(resets_gc, LZ_ST_RESETS_GC);
LZ_STAT(resets_meta, LZ_ST_RESETS_META);
LZ_STAT(resets_stale, LZ_ST_RESETS_STALE);
LZ_STAT(finishes_mismatch, LZ_ST_FINISHES_MISMATCH);
LZ_STAT(finishes_load, LZ_ST_FINISHES_LOAD);
LZ_STAT(fallbacks, LZ_ST_FALLBACKS);
LZ_STAT(stalls, LZ_ST_STALLS);
LZ_STAT(stall_ns, LZ_ST_STALL_NS);
LZ_STAT(zones_set_aside, LZ_ST_ZONES_ASIDE);
LZ_STAT(trims_wanted, LZ_ST_TRIMS_WANTED);

static ssize_t lz_show_meta_written(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	return sysfs_emit(buf, "%llu\n", lz_stat(lt->lz, LZ_ST_SUMMARY_BLOCKS) +
			  lz_stat(lt->lz, LZ_ST_JOURNAL_BLOCKS) +
			  lz_stat(lt->lz, LZ_ST_NODE_BLOCKS) +
			  lz_stat(lt->lz, LZ_ST_ROOT_BLOCKS));
}

LZ_ATTR(lz_attr_meta_written_blocks, "meta_written_blocks", 0444, lz_show_meta_written, NULL, 0);

static ssize_t lz_show_amplification(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	char value[32];

	lz_format_amplification(lt->lz, value, sizeof(value));
	return sysfs_emit(buf, "%s\n", value);
}

LZ_ATTR(lz_attr_write_amplification, "write_amplification", 0444, lz_show_amplification, NULL,
	0);

/* --- state ------------------------------------------------------------------------ */

enum lz_show {
	LZ_SHOW_MAPPED,
	LZ_SHOW_LOGICAL,
	LZ_SHOW_FREE,
	LZ_SHOW_LOW_WATER,
	LZ_SHOW_OPEN,
	LZ_SHOW_FULL,
	LZ_SHOW_META,
	LZ_SHOW_BAD,
	LZ_SHOW_BUDGET,
	LZ_SHOW_BUDGET_USED,
	LZ_SHOW_CHECKPOINT,
	LZ_SHOW_COMMIT,
	LZ_SHOW_UNCOMMITTED,
	LZ_SHOW_DELTA_USED,
	LZ_SHOW_DELTA_CAP,
	LZ_SHOW_LEAVES,
	LZ_SHOW_LEAVES_CACHED,
	LZ_SHOW_LEAVES_MAX,
	LZ_SHOW_TRIM_GAIN,
	LZ_SHOW_TRIM_COPIED,
};

static u64 lz_info_value(const struct lz_info *i, enum lz_show what)
{
	switch (what) {
	case LZ_SHOW_MAPPED:
		return i->mapped;
	case LZ_SHOW_LOGICAL:
		return i->logical_blocks;
	case LZ_SHOW_FREE:
		return i->free_zones;
	case LZ_SHOW_LOW_WATER:
		return i->low_water;
	case LZ_SHOW_OPEN:
		return i->zones[LZ_ZS_OPEN];
	case LZ_SHOW_FULL:
		return i->zones[LZ_ZS_FULL];
	case LZ_SHOW_META:
		return i->zones[LZ_ZS_META] + i->zones[LZ_ZS_ROOT];
	case LZ_SHOW_BAD:
		return i->zones[LZ_ZS_BAD];
	case LZ_SHOW_BUDGET:
		return i->budget;
	case LZ_SHOW_BUDGET_USED:
		return i->open;
	case LZ_SHOW_CHECKPOINT:
		return i->checkpoint;
	case LZ_SHOW_COMMIT:
		return i->commit;
	case LZ_SHOW_UNCOMMITTED:
		return i->uncommitted;
	case LZ_SHOW_DELTA_USED:
		return i->delta_used;
	case LZ_SHOW_DELTA_CAP:
		return i->delta_cap;
	case LZ_SHOW_LEAVES:
		return i->leaves;
	case LZ_SHOW_LEAVES_CACHED:
		return i->leaves_cached;
	case LZ_SHOW_LEAVES_MAX:
		return i->leaves_max;
	case LZ_SHOW_TRIM_GAIN:
		return i->trim_gain;
	case LZ_SHOW_TRIM_COPIED:
		return i->trim_copied;
	}
	return 0;
}

static ssize_t lz_show_info(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	struct lz_info info;

	lz_get_info(lt->lz, &info);
	return sysfs_emit(buf, "%llu\n", lz_info_value(&info, a->arg));
}

#define LZ_INFO(_name, _what) \
	LZ_ATTR(lz_attr_##_name, #_name, 0444, lz_show_info, NULL, _what)

LZ_INFO(mapped_blocks, LZ_SHOW_MAPPED);
LZ_INFO(logical_blocks, LZ_SHOW_LOGICAL);
LZ_INFO(zones_free, LZ_SHOW_FREE);
LZ_INFO(zones_low_water, LZ_SHOW_LOW_WATER);
LZ_INFO(zones_open, LZ_SHOW_OPEN);
LZ_INFO(zones_full, LZ_SHOW_FULL);
LZ_INFO(zones_meta, LZ_SHOW_META);
LZ_INFO(zones_bad, LZ_SHOW_BAD);
LZ_INFO(zone_budget, LZ_SHOW_BUDGET);
LZ_INFO(zone_budget_used, LZ_SHOW_BUDGET_USED);
LZ_INFO(last_checkpoint, LZ_SHOW_CHECKPOINT);
LZ_INFO(last_commit, LZ_SHOW_COMMIT);
LZ_INFO(uncommitted, LZ_SHOW_UNCOMMITTED);
LZ_INFO(delta_used, LZ_SHOW_DELTA_USED);
LZ_INFO(delta_max, LZ_SHOW_DELTA_CAP);
LZ_INFO(leaves, LZ_SHOW_LEAVES);
LZ_INFO(leaves_cached, LZ_SHOW_LEAVES_CACHED);
LZ_INFO(leaves_max, LZ_SHOW_LEAVES_MAX);
LZ_INFO(trim_gain_blocks, LZ_SHOW_TRIM_GAIN);
LZ_INFO(trim_copied_blocks, LZ_SHOW_TRIM_COPIED);

static ssize_t lz_show_mode(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	struct lz_info info;

	lz_get_info(lt->lz, &info);
	return sysfs_emit(buf, "%s\n", lz_mode_names[info.mode]);
}

LZ_ATTR(lz_attr_mode, "mode", 0444, lz_show_mode, NULL, 0);

static ssize_t lz_show_uuid(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	return sysfs_emit(buf, "%pUb\n", lt->super.uuid);
}

LZ_ATTR(lz_attr_uuid, "uuid", 0444, lz_show_uuid, NULL, 0);

static ssize_t lz_show_label(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	return sysfs_emit(buf, "%s\n", lt->super.label);
}

LZ_ATTR(lz_attr_label, "label", 0444, lz_show_label, NULL, 0);

static ssize_t lz_show_version(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	return sysfs_emit(buf, "%u\n", lt->super.version);
}

LZ_ATTR(lz_attr_format_version, "format_version", 0444, lz_show_version, NULL, 0);

/* --- options ------------------------------------------------------------------------ */

static ssize_t lz_show_option(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	char value[32];

	if (!lz_target_get_option(lt, a->attr.name, value, sizeof(value)))
		return -ENOENT;
	return sysfs_emit(buf, "%s\n", value);
}

static ssize_t lz_store_option(struct lz_target *lt, const struct lz_attr *a, const char *buf,
			       size_t count)
{
	char value[32], why[160];
	int r;

	if (strscpy(value, buf, sizeof(value)) < 0)
		return -EINVAL;
	r = lz_target_set_option(lt, a->attr.name, strim(value), why, sizeof(why));
	if (r) {
		DMWARN_LIMIT("%s: %s", lz_target_name(lt), why);
		return r;
	}
	return count;
}

#define LZ_OPTION(_name) \
	LZ_ATTR(lz_attr_##_name, #_name, 0644, lz_show_option, lz_store_option, 0)

LZ_OPTION(policy);
LZ_OPTION(reset);
LZ_OPTION(finish);
LZ_OPTION(gc_isolation);
LZ_OPTION(victim);
LZ_OPTION(commit_ms);
LZ_OPTION(gc_ahead);
/* Fixed or sized when the table is loaded. */
LZ_ATTR(lz_attr_max_open, "max_open", 0444, lz_show_option, NULL, 0);
LZ_ATTR(lz_attr_map_cache_mb, "map_cache_mb", 0444, lz_show_option, NULL, 0);

static const struct attribute *const lz_attrs[] = {
	&lz_attr_user_written_blocks.attr,
	&lz_attr_user_read_blocks.attr,
	&lz_attr_discarded_blocks.attr,
	&lz_attr_flushes.attr,
	&lz_attr_gc_copied_blocks.attr,
	&lz_attr_gc_lost_blocks.attr,
	&lz_attr_gc_victims.attr,
	&lz_attr_meta_written_blocks.attr,
	&lz_attr_summary_written_blocks.attr,
	&lz_attr_journal_written_blocks.attr,
	&lz_attr_node_written_blocks.attr,
	&lz_attr_root_written_blocks.attr,
	&lz_attr_write_amplification.attr,
	&lz_attr_commits.attr,
	&lz_attr_checkpoints.attr,
	&lz_attr_root_rolls.attr,
	&lz_attr_journal_rolls.attr,
	&lz_attr_meta_cleans.attr,
	&lz_attr_leaf_reads.attr,
	&lz_attr_resets_user.attr,
	&lz_attr_resets_gc.attr,
	&lz_attr_resets_meta.attr,
	&lz_attr_resets_stale.attr,
	&lz_attr_finishes_mismatch.attr,
	&lz_attr_finishes_load.attr,
	&lz_attr_fallbacks.attr,
	&lz_attr_stalls.attr,
	&lz_attr_stall_ns.attr,
	&lz_attr_zones_set_aside.attr,
	&lz_attr_trims_wanted.attr,
	&lz_attr_mapped_blocks.attr,
	&lz_attr_logical_blocks.attr,
	&lz_attr_zones_free.attr,
	&lz_attr_zones_low_water.attr,
	&lz_attr_zones_open.attr,
	&lz_attr_zones_full.attr,
	&lz_attr_zones_meta.attr,
	&lz_attr_zones_bad.attr,
	&lz_attr_zone_budget.attr,
	&lz_attr_zone_budget_used.attr,
	&lz_attr_last_checkpoint.attr,
	&lz_attr_last_commit.attr,
	&lz_attr_uncommitted.attr,
	&lz_attr_delta_used.attr,
	&lz_attr_delta_max.attr,
	&lz_attr_leaves.attr,
	&lz_attr_leaves_cached.attr,
	&lz_attr_leaves_max.attr,
	&lz_attr_trim_gain_blocks.attr,
	&lz_attr_trim_copied_blocks.attr,
	&lz_attr_mode.attr,
	&lz_attr_uuid.attr,
	&lz_attr_label.attr,
	&lz_attr_format_version.attr,
	&lz_attr_policy.attr,
	&lz_attr_reset.attr,
	&lz_attr_finish.attr,
	&lz_attr_gc_isolation.attr,
	&lz_attr_victim.attr,
	&lz_attr_commit_ms.attr,
	&lz_attr_gc_ahead.attr,
	&lz_attr_max_open.attr,
	&lz_attr_map_cache_mb.attr,
	NULL
};

/* --- lifetime classes ------------------------------------------------------------------ */

static ssize_t lz_show_class_zones(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	struct lz_info info;

	lz_get_info(lt->lz, &info);
	return sysfs_emit(buf, "%u\n", info.class_zones[a->arg]);
}

static ssize_t lz_show_class_open(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	struct lz_info info;

	lz_get_info(lt->lz, &info);
	if (info.class_open[a->arg] == U32_MAX)
		return sysfs_emit(buf, "none\n");
	return sysfs_emit(buf, "%u\n", info.class_open[a->arg]);
}

/* Which counter, and of which class. */
#define LZ_CLASS_ARG(_of, _class)	((_class) << 16 | LZ_ST_CLASS_##_of)

static ssize_t lz_show_class_stat(struct lz_target *lt, const struct lz_attr *a, char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  lz_stat(lt->lz, lz_class_stat(a->arg & 0xffff, a->arg >> 16)));
}

#define LZ_CLASS(_name, _class)								\
enum { lz_class_##_name = _class };							\
LZ_ATTR(lz_attr_##_name##_writes, "writes", 0444, lz_show_class_stat, NULL,		\
	LZ_CLASS_ARG(WRITES, lz_class_##_name));					\
LZ_ATTR(lz_attr_##_name##_copies, "copies", 0444, lz_show_class_stat, NULL,		\
	LZ_CLASS_ARG(COPIES, lz_class_##_name));					\
LZ_ATTR(lz_attr_##_name##_resets, "resets", 0444, lz_show_class_stat, NULL,		\
	LZ_CLASS_ARG(RESETS, lz_class_##_name));					\
LZ_ATTR(lz_attr_##_name##_opens, "opens", 0444, lz_show_class_stat, NULL,		\
	LZ_CLASS_ARG(OPENS, lz_class_##_name));						\
LZ_ATTR(lz_attr_##_name##_zones, "zones", 0444, lz_show_class_zones, NULL, lz_class_##_name);\
LZ_ATTR(lz_attr_##_name##_open_zone, "open_zone", 0444, lz_show_class_open, NULL,	\
	lz_class_##_name);								\
static const struct attribute *const lz_attrs_##_name[] = {				\
	&lz_attr_##_name##_writes.attr, &lz_attr_##_name##_copies.attr,			\
	&lz_attr_##_name##_resets.attr, &lz_attr_##_name##_opens.attr,			\
	&lz_attr_##_name##_zones.attr, &lz_attr_##_name##_open_zone.attr, NULL		\
};											\
static const struct attribute_group lz_group_##_name = {				\
	.name = #_name, .attrs = (struct attribute **)lz_attrs_##_name,			\
}

LZ_CLASS(not_set, LZ_CLASS_NOT_SET);
LZ_CLASS(none, LZ_CLASS_NONE);
LZ_CLASS(short, LZ_CLASS_SHORT);
LZ_CLASS(medium, LZ_CLASS_MEDIUM);
LZ_CLASS(long, LZ_CLASS_LONG);
LZ_CLASS(extreme, LZ_CLASS_EXTREME);
LZ_CLASS(meta, LZ_CLASS_META);
LZ_CLASS(group0, LZ_CLASS_GROUP);
LZ_CLASS(group1, LZ_CLASS_GROUP + 1);
LZ_CLASS(group2, LZ_CLASS_GROUP + 2);
LZ_CLASS(group3, LZ_CLASS_GROUP + 3);
LZ_CLASS(group4, LZ_CLASS_GROUP + 4);
LZ_CLASS(group5, LZ_CLASS_GROUP + 5);
LZ_CLASS(group6, LZ_CLASS_GROUP + 6);
LZ_CLASS(group7, LZ_CLASS_GROUP + 7);
LZ_CLASS(group8, LZ_CLASS_GROUP + 8);
LZ_CLASS(group9, LZ_CLASS_GROUP + 9);
LZ_CLASS(group10, LZ_CLASS_GROUP + 10);
static_assert(LZ_NR_GROUPS == 11, "a folder for each group");

static const struct attribute_group lz_group = {
	.attrs = (struct attribute **)lz_attrs,
};

static const struct attribute_group *lz_groups[] = {
	&lz_group,
	&lz_group_not_set,
	&lz_group_none,
	&lz_group_short,
	&lz_group_medium,
	&lz_group_long,
	&lz_group_extreme,
	&lz_group_meta,
	&lz_group_group0,
	&lz_group_group1,
	&lz_group_group2,
	&lz_group_group3,
	&lz_group_group4,
	&lz_group_group5,
	&lz_group_group6,
	&lz_group_group7,
	&lz_group_group8,
	&lz_group_group9,
	&lz_group_group10,
	NULL
};

/* --- the folder -------------------------------------------------------------------------- */

/* Held while a folder is added or removed, which waits for lookups in sysfs. */
static DEFINE_MUTEX(lz_folders_lock);
static LIST_HEAD(lz_folders);

static ssize_t lz_sysfs_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	const struct lz_attr *a = container_of_const(attr, struct lz_attr, attr);
	struct lz_sysfs *s = container_of(kobj, struct lz_sysfs, kobj);
	int idx = srcu_read_lock(&s->srcu);
	struct lz_target *lt = srcu_dereference(s->lt, &s->srcu);
	ssize_t r = lt ? a->show(lt, a, buf) : -ENODEV;

	srcu_read_unlock(&s->srcu, idx);
	return r;
}

static ssize_t lz_sysfs_store(struct kobject *kobj, struct attribute *attr, const char *buf,
			      size_t count)
{
	const struct lz_attr *a = container_of_const(attr, struct lz_attr, attr);
	struct lz_sysfs *s = container_of(kobj, struct lz_sysfs, kobj);
	struct lz_target *lt;
	ssize_t r;
	int idx;

	if (!a->store)
		return -EACCES;
	idx = srcu_read_lock(&s->srcu);
	lt = srcu_dereference(s->lt, &s->srcu);
	r = lt ? a->store(lt, a, buf, count) : -ENODEV;
	srcu_read_unlock(&s->srcu, idx);
	return r;
}

static void lz_sysfs_release(struct kobject *kobj)
{
	complete(&container_of(kobj, struct lz_sysfs, kobj)->released);
}

static const struct sysfs_ops lz_sysfs_ops = {
	.show	= lz_sysfs_show,
	.store	= lz_sysfs_store,
};

static const struct kobj_type lz_sysfs_type = {
	.sysfs_ops	= &lz_sysfs_ops,
	.default_groups	= lz_groups,
	.release	= lz_sysfs_release,
};

static struct lz_sysfs *lz_sysfs_new(struct device *disk)
{
	struct lz_sysfs *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	if (init_srcu_struct(&s->srcu)) {
		kfree(s);
		return NULL;
	}
	s->disk = disk;
	refcount_set(&s->refs, 1);
	init_completion(&s->released);
	kobject_init(&s->kobj, &lz_sysfs_type);
	list_add(&s->list, &lz_folders);
	return s;
}

/* Once, as later the disk may be suspended. Without a folder the device does as well. */
static void lz_sysfs_add(struct lz_sysfs *s)
{
	int r;

	if (s->tried)
		return;
	r = kobject_add(&s->kobj, &s->disk->kobj, "lifezone");
	if (r)
		DMWARN("%s: cannot add the sysfs folder: %pe", dev_name(s->disk), ERR_PTR(r));
	WRITE_ONCE(s->tried, true);
}

/**
 * lz_sysfs_get - the folder of a target's disk
 * @lt: target that is being constructed
 *
 * Return: the folder, or NULL: no memory.
 */
struct lz_sysfs *lz_sysfs_get(struct lz_target *lt)
{
	struct device *disk = disk_to_dev(dm_disk(dm_table_get_md(lt->ti->table)));
	struct lz_sysfs *s;

	mutex_lock(&lz_folders_lock);
	list_for_each_entry(s, &lz_folders, list)
		if (s->disk == disk) {
			refcount_inc(&s->refs);
			goto found;
		}
	s = lz_sysfs_new(disk);
found:
	if (s && device_is_registered(disk))
		lz_sysfs_add(s);
	mutex_unlock(&lz_folders_lock);
	return s;
}

/**
 * lz_sysfs_appear - add the folder, at the begin of a disk's first resume
 * @lt: target that is being resumed
 *
 * Not at its end, nor after one that failed: by then much may have been written, and wait.
 */
void lz_sysfs_appear(struct lz_target *lt)
{
	struct lz_sysfs *s = lt->sysfs;

	if (READ_ONCE(s->tried))
		return;
	mutex_lock(&lz_folders_lock);
	lz_sysfs_add(s);
	mutex_unlock(&lz_folders_lock);
}

/**
 * lz_sysfs_switch - have the folder show a target
 * @lt: target that has been resumed
 */
void lz_sysfs_switch(struct lz_target *lt)
{
	rcu_assign_pointer(lt->sysfs->lt, lt);
}

/**
 * lz_sysfs_put - undo lz_sysfs_get()
 * @lt: target that is being destroyed
 *
 * Waits for handlers that look at it, and, if it is the last, for whoever still has the folder:
 * nothing is left behind for a module unload to trip over.
 */
void lz_sysfs_put(struct lz_target *lt)
{
	struct lz_sysfs *s = lt->sysfs;

	/* Another one may be resumed this moment. */
	cmpxchg(&s->lt, RCU_INITIALIZER(lt), NULL);
	synchronize_srcu(&s->srcu);
	if (!refcount_dec_and_mutex_lock(&s->refs, &lz_folders_lock))
		return;
	list_del(&s->list);
	/* Before the next one is added. */
	kobject_put(&s->kobj);
	wait_for_completion(&s->released);
	mutex_unlock(&lz_folders_lock);
	cleanup_srcu_struct(&s->srcu);
	kfree(s);
}
