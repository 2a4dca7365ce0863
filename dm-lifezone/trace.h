/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: every state change of a zone and every decision of the machine,
 * with what it was decided from.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lifezone

#if !defined(LIFEZONE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIFEZONE_TRACE_H

#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

#include "core/core.h"

/* User space reads the formats and knows no enums: their values go there. */
TRACE_DEFINE_ENUM(LZ_ZS_FREE);
TRACE_DEFINE_ENUM(LZ_ZS_OPEN);
TRACE_DEFINE_ENUM(LZ_ZS_FULL);
TRACE_DEFINE_ENUM(LZ_ZS_META);
TRACE_DEFINE_ENUM(LZ_ZS_ROOT);
TRACE_DEFINE_ENUM(LZ_ZS_BAD);
TRACE_DEFINE_ENUM(LZ_CLASS_NOT_SET);
TRACE_DEFINE_ENUM(LZ_CLASS_NONE);
TRACE_DEFINE_ENUM(LZ_CLASS_SHORT);
TRACE_DEFINE_ENUM(LZ_CLASS_MEDIUM);
TRACE_DEFINE_ENUM(LZ_CLASS_LONG);
TRACE_DEFINE_ENUM(LZ_CLASS_EXTREME);
TRACE_DEFINE_ENUM(LZ_CLASS_META);
TRACE_DEFINE_ENUM(LZ_CLASS_GROUP);
TRACE_DEFINE_ENUM(LZ_PLACE_USE);
TRACE_DEFINE_ENUM(LZ_PLACE_NEW);
TRACE_DEFINE_ENUM(LZ_PLACE_FINISH);
TRACE_DEFINE_ENUM(LZ_PLACE_WAIT);

#define lz_show_zone_state(s)						\
	__print_symbolic(s,						\
		{ LZ_ZS_FREE, "free" }, { LZ_ZS_OPEN, "open" },		\
		{ LZ_ZS_FULL, "full" }, { LZ_ZS_META, "meta" },		\
		{ LZ_ZS_ROOT, "root" }, { LZ_ZS_BAD, "bad" })

#define lz_show_class(c)						\
	__print_symbolic(c,						\
		{ LZ_CLASS_NOT_SET, "not_set" }, { LZ_CLASS_NONE, "none" }, \
		{ LZ_CLASS_SHORT, "short" }, { LZ_CLASS_MEDIUM, "medium" }, \
		{ LZ_CLASS_LONG, "long" }, { LZ_CLASS_EXTREME, "extreme" }, \
		{ LZ_CLASS_META, "meta" },				\
		{ LZ_CLASS_GROUP + 0, "group0" }, { LZ_CLASS_GROUP + 1, "group1" }, \
		{ LZ_CLASS_GROUP + 2, "group2" }, { LZ_CLASS_GROUP + 3, "group3" }, \
		{ LZ_CLASS_GROUP + 4, "group4" }, { LZ_CLASS_GROUP + 5, "group5" }, \
		{ LZ_CLASS_GROUP + 6, "group6" }, { LZ_CLASS_GROUP + 7, "group7" }, \
		{ LZ_CLASS_GROUP + 8, "group8" }, { LZ_CLASS_GROUP + 9, "group9" }, \
		{ LZ_CLASS_GROUP + 10, "group10" })

#define lz_show_verdict(v)						\
	__print_symbolic(v,						\
		{ LZ_PLACE_USE, "use" }, { LZ_PLACE_NEW, "new" },	\
		{ LZ_PLACE_FINISH, "finish" }, { LZ_PLACE_WAIT, "wait" })

/* A zone went from one state to another. */
TRACE_EVENT(lifezone_zone_state, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u32, zone)
			     __field(u8, class)
			     __field(u8, old)
			     __field(u8, new)
			     __field(u64, valid)
			     __field(u64, gen)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->zone = t->zone;
			   __entry->class = t->class;
			   __entry->old = t->old;
			   __entry->new = t->new;
			   __entry->valid = t->a;
			   __entry->gen = t->b;),
	    TP_printk("%d,%d zone %u class %s %s -> %s valid %llu gen %llu",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->zone,
		      lz_show_class(__entry->class), lz_show_zone_state(__entry->old),
		      lz_show_zone_state(__entry->new), __entry->valid, __entry->gen)
);

/* An open zone as placement sees it. */
TRACE_EVENT(lifezone_place_zone, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u32, zone)
			     __field(u8, class)
			     __field(u8, gc)
			     __field(u64, room)
			     __field(u64, valid)
			     __field(u64, age)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->zone = t->zone;
			   __entry->class = t->class;
			   __entry->gc = t->old;
			   __entry->room = t->a;
			   __entry->valid = t->b;
			   __entry->age = t->c;),
	    TP_printk("%d,%d zone %u %s class %s room %llu valid %llu age %llu",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->zone,
		      __entry->gc ? "gc" : "user", lz_show_class(__entry->class),
		      __entry->room, __entry->valid, __entry->age)
);

/* A zone was chosen for data of a class. */
TRACE_EVENT(lifezone_place, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u32, zone)
			     __field(u8, class)
			     __field(u8, gc)
			     __field(u8, verdict)
			     __field(u64, open)
			     __field(u64, free)
			     __field(u64, usable)
			     __field(u8, reserve)
			     __field(u8, held)
			     __field(u8, closing)
			     __field(u8, slow)
			     __field(u64, ended)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->zone = t->zone;
			   __entry->class = t->class;
			   __entry->gc = t->old;
			   __entry->verdict = t->new;
			   __entry->open = t->a;
			   __entry->free = t->b;
			   __entry->usable = t->c;
			   __entry->reserve = !!(t->d & LZ_PLACE_IS_RESERVE);
			   __entry->held = !!(t->d & LZ_PLACE_IS_HELD);
			   __entry->closing = !!(t->d & LZ_PLACE_IS_CLOSING);
			   __entry->slow = !!(t->d & LZ_PLACE_IS_SLOW);
			   __entry->ended = t->e;),
	    TP_printk("%d,%d %s class %s -> %s zone %d (open %llu free %llu usable %llu ended %lld%s%s%s%s)",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->gc ? "gc" : "user",
		      lz_show_class(__entry->class), lz_show_verdict(__entry->verdict),
		      (int)__entry->zone, __entry->open, __entry->free, __entry->usable,
		      (long long)__entry->ended, __entry->reserve ? " reserve" : "",
		      __entry->held ? " held" : "", __entry->closing ? " closing" : "",
		      __entry->slow ? " slow" : "")
);

/* A zone that GC could clean. */
TRACE_EVENT(lifezone_victim_zone, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u32, zone)
			     __field(u8, class)
			     __field(u64, valid)
			     __field(u64, written)
			     __field(u64, age)
			     __field(s32, rate)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->zone = t->zone;
			   __entry->class = t->class;
			   __entry->valid = t->a;
			   __entry->written = t->d;
			   __entry->age = t->b;
			   __entry->rate = t->c;),
	    TP_printk("%d,%d zone %u class %s valid %llu of %llu age %llu rate %d",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->zone,
		      lz_show_class(__entry->class), __entry->valid, __entry->written,
		      __entry->age, __entry->rate)
);

/* GC chose a zone to clean, or an empty one to be reset. */
TRACE_EVENT(lifezone_victim, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u32, zone)
			     __field(u8, class)
			     __field(u64, valid)
			     __field(u64, age)
			     __field(u64, of)
			     __field(u64, free)
			     __field(u64, spare)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->zone = t->zone;
			   __entry->class = t->class;
			   __entry->valid = t->a;
			   __entry->age = t->b;
			   __entry->of = t->c;
			   __entry->free = t->d;
			   __entry->spare = t->e;),
	    TP_printk("%d,%d zone %u class %s valid %llu age %llu (of %llu free %llu spare %llu)",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->zone,
		      lz_show_class(__entry->class), __entry->valid, __entry->age,
		      __entry->of, __entry->free, __entry->spare)
);

/* A zone that holds nothing valid was looked at. */
TRACE_EVENT(lifezone_reset, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u32, zone)
			     __field(u8, class)
			     __field(u8, state)
			     __field(u8, due)
			     __field(u8, alone)
			     __field(u8, chosen)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->zone = t->zone;
			   __entry->class = t->class;
			   __entry->state = t->old;
			   __entry->due = t->new;
			   __entry->alone = t->a;
			   __entry->chosen = t->b;),
	    TP_printk("%d,%d zone %u class %s %s -> %s%s%s",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->zone,
		      lz_show_class(__entry->class), lz_show_zone_state(__entry->state),
		      __entry->due ? "due" : "left", __entry->alone ? " alone" : "",
		      __entry->chosen ? " chosen" : "")
);

/* A commit became durable. */
TRACE_EVENT(lifezone_commit, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u64, number)
			     __field(u64, blocks)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->number = t->a;
			   __entry->blocks = t->b;),
	    TP_printk("%d,%d commit %llu journal blocks %llu",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->number, __entry->blocks)
);

/* A checkpoint begins or ends. */
TRACE_EVENT(lifezone_checkpoint, TP_PROTO(dev_t dev, const struct lz_trace *t),
	    TP_ARGS(dev, t),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(u8, end)
			     __field(u64, number)
			     __field(u64, nodes)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->end = t->old;
			   __entry->number = t->a;
			   __entry->nodes = t->b;),
	    TP_printk("%d,%d checkpoint %llu %s nodes %llu",
		      MAJOR(__entry->dev), MINOR(__entry->dev), __entry->number,
		      __entry->end ? "ends" : "begins", __entry->nodes)
);

#endif /* LIFEZONE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
