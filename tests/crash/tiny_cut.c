// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every cut there can be. Of the writes with a flush before them that are in flight,
 * any number have taken effect, in whole or in part; then each zone keeps any length
 * between what is durable and what is written, and a reset or finish of it in flight
 * is done or not. Layers on top of it, each to be asked for:
 *
 * --holes	blocks that were not durable are rubbish, any of them
 * --tears	of the last block of one zone the first 0 to 7 sectors are there, with the
 *		write pointer within or behind it
 * --bad	one zone, each in turn, comes back read-only or offline
 * --nested	recovery is cut in the same way, wherever it waits
 *
 * What is left of a drive is the product of what is left of its zones, so it is told
 * from others by the sum of their hashes before it is made: most have been seen.
 */
#include <stdlib.h>
#include "tiny.h"

#define MAX_ZONES	64u
#define MAX_LEFT	1024u
#define MAX_LEVELS	2u		/* cuts, and cuts of their recoveries */

struct tiny_cuts tiny_cuts;

/* What may be left of a zone. */
struct menu {
	u32 n;
	struct drive_left left[MAX_LEFT];
	u64 hash[MAX_LEFT];
};

static struct menu menus[MAX_LEVELS][MAX_ZONES];
static const struct drive_left *trying[MAX_LEVELS];
static struct set seen_drives, seen_images;
static u32 level;
/* The zone that came back bad, and how. */
static u32 bad_zone;
static u8 bad_cond;

void tiny_print_cut(void)
{
	const struct drive_left *l;
	u32 i, j;

	for (i = 0; i < MAX_LEVELS && trying[i]; i++) {
		printf(" cut%s:", i ? " of the recovery" : "");
		for (j = 0; j < tiny_geo.nr_zones; j++) {
			l = &trying[i][j];
			printf(" %u", l->keep);
			if (l->rubbish)
				printf("/%#x", l->rubbish);
			if (l->sound)
				printf("+%u%s", l->sound, l->torn ? "t" : "");
			printf("%s%s%s", l->reset ? "r" : "", l->finish ? "f" : "",
			       l->cond == LZ_COND_READONLY ? "!" : l->cond ? "!!" : "");
		}
		putchar(';');
	}
}

static bool leaf_lost;

static void leaf_came(struct lz_waiter *w, int err)
{
	leaf_lost = err;
}

/* Of a zone that is offline all may be lost, but it must say so. */
static void verify_block(u32 lba)
{
	bool may_fail = bad_cond == LZ_COND_OFFLINE;
	struct lz_waiter w = { .fn = leaf_came };
	struct lz_read r;
	u64 tag;
	int err;

	leaf_lost = false;
	err = lz_read_begin(tiny.lz, lba, 1, &r);
	if (err == -EAGAIN) {
		lz_leaf_wait(tiny.lz, r.leaf, &w);
		tiny_settle();
		if (leaf_lost && may_fail)
			return;
		if (leaf_lost)
			tiny_fail("a leaf cannot be read");
		err = lz_read_begin(tiny.lz, lba, 1, &r);
	}
	if (err)
		tiny_fail("lz_read_begin of block %u: %d", lba, err);
	tag = r.addr == LZ_NOWHERE ? 0 : drive_peek(tiny_drive, r.addr);
	if (r.addr != LZ_NOWHERE)
		lz_read_end(tiny.lz, &r);
	if (may_fail && r.addr != LZ_NOWHERE && r.addr / tiny_geo.zone_blocks == bad_zone)
		return;
	if (!tiny_may_hold(lba, tag))
		tiny_fail("block %u reads %llx (address %lld), may hold %llx and %u more", lba,
			  (unsigned long long)tag,
			  r.addr == LZ_NOWHERE ? -1ll : (long long)r.addr,
			  (unsigned long long)tiny.held[lba].tag[0], tiny.held[lba].n - 1);
}

static void verify(void)
{
	u32 lba;

	for (lba = 0; lba < tiny_blocks; lba++)
		verify_block(lba);
}

static void check_line(void *ctx, const char *line)
{
	snprintf(tiny_said, sizeof(tiny_said), "%s", line);
}

static void check(void)
{
	struct lz_check_report r = { .say = check_line };
	int err;

	tiny_drive->reads_anywhere = true;
	err = lz_check(tiny.lz, &r);
	tiny_drive->reads_anywhere = false;
	if (err || r.errors)
		tiny_fail("lz_check: %d, %llu errors: %s", err, (unsigned long long)r.errors,
			  tiny_said);
}

/*
 * May be refused only for a reason: what cannot be read is needed, or there is no
 * second root zone to write to.
 */
static bool load(bool ro)
{
	int err;

	memset(tiny.io, 0, sizeof(tiny.io));
	err = tiny_load(ro);
	if (err && (!bad_cond || !tiny_said[0] ||
		    (bad_cond == LZ_COND_READONLY && (ro || bad_zone > 1))))
		tiny_fail("lz_load: %d, %s", err, tiny_said);
	return !err;
}

static void cut_recovery(void);

/* What the drive is left with: does it load, hold what it must, and check? */
static void recover(void)
{
	bool ok;

	ok = load(true);
	if (ok)
		verify();
	if (ok && !bad_cond)
		check();
	arena_reset();
	tiny.kicked = false;
	tiny_drive->read_only = false;
	if (tiny_cuts.nested && level == 1)
		tiny_on_wait = cut_recovery;
	ok = load(false);
	tiny_on_wait = NULL;
	if (ok)
		verify();
	else
		tiny_cuts.refused++;
	arena_reset();
}

static void *save_drive(void)
{
	void *state = malloc(drive_state_size(tiny_drive));

	if (!state)
		abort();
	drive_save(tiny_drive, state);
	return state;
}

static void one_cut(const struct drive_left *left, u64 hash, const void *state)
{
	u8 harness[sizeof(tiny)];

	tiny_cuts.cuts++;
	if (!set_add(&seen_images, hash))
		return;
	tiny_cuts.images++;
	tiny_cuts.in_recovery += level - 1;
	memcpy(harness, &tiny, sizeof(tiny));
	trying[level - 1] = left;
	drive_cut_exact(tiny_drive, left);
	recover();
	trying[level - 1] = NULL;
	memcpy(&tiny, harness, sizeof(tiny));
	drive_restore(tiny_drive, state);
}

/* On top of what is left, one zone in turn is left otherwise: @other. */
static void one_zone(struct drive_left *left, u64 hash, u32 zone, struct drive_left other,
		     const void *state)
{
	struct drive_left was = left[zone];

	hash -= drive_left_hash(tiny_drive, zone, &was);
	left[zone] = other;
	one_cut(left, hash + drive_left_hash(tiny_drive, zone, &other), state);
	left[zone] = was;
}

static void bad_cuts(struct drive_left *left, u64 hash, const void *state)
{
	static const u8 cond[] = { LZ_COND_READONLY, LZ_COND_OFFLINE };
	struct drive_left l;
	u32 k;

	for (bad_zone = 0; bad_zone < tiny_geo.nr_zones; bad_zone++) {
		for (k = 0; k < ARRAY_SIZE(cond); k++) {
			l = left[bad_zone];
			bad_cond = cond[k];
			l.cond = bad_cond;
			one_zone(left, hash, bad_zone, l, state);
		}
	}
	bad_cond = 0;
}

/* User data has no sectors: all tears of it are the same. */
static void tear_cuts(struct drive_left *left, u64 hash, const void *state)
{
	struct drive_left l;
	u32 i, sectors;

	for (i = 0; i < tiny_geo.nr_zones; i++) {
		l = left[i];
		if (l.keep <= tiny_drive->z[i].durable || l.reset || l.finish)
			continue;
		sectors = tiny_drive->z[i].b[l.keep - 1].data ? 8 : 2;
		l.rubbish |= 1u << (l.keep - 1);
		one_zone(left, hash, i, l, state);
		l.rubbish &= ~(1u << (l.keep - 1));
		for (l.sound = 1; l.sound < sectors; l.sound++) {
			l.torn = false;
			one_zone(left, hash, i, l, state);
			l.torn = true;
			one_zone(left, hash, i, l, state);
		}
	}
}

static void offer(struct menu *m, u32 zone, const struct drive_left *left)
{
	u64 h = drive_left_hash(tiny_drive, zone, left);

	if (m->n == MAX_LEFT)
		tiny_fail("more than %u things left of zone %u", MAX_LEFT, zone);
	m->left[m->n] = *left;
	m->hash[m->n++] = h;
}

static void make_menu(struct menu *m, u32 zone)
{
	const struct drive_zone *z = &tiny_drive->z[zone];
	struct drive_left left = { .keep = z->data };
	u32 holes;

	m->n = 0;
	if (z->cond == LZ_COND_READONLY || z->cond == LZ_COND_OFFLINE) {
		offer(m, zone, &left);
		return;
	}
	if (z->resets) {
		left.reset = true;
		offer(m, zone, &left);
		left.reset = false;
	}
	for (left.keep = z->durable; left.keep <= z->data; left.keep++) {
		if (z->finishes) {
			left.finish = true;
			offer(m, zone, &left);
			left.finish = false;
		}
		holes = tiny_cuts.holes ? 1u << (left.keep - z->durable) : 1;
		while (holes--) {
			left.rubbish = holes << z->durable;
			offer(m, zone, &left);
		}
	}
}

/* All that may be left of the zones. */
static void cut_zones(void)
{
	struct menu *menu = menus[level - 1];
	u64 held = tiny_held_hash(), hash = 0;
	struct drive_left left[MAX_ZONES];
	u32 at[MAX_ZONES] = {}, i;
	void *state = save_drive();

	for (i = 0; i < tiny_geo.nr_zones; i++) {
		make_menu(&menu[i], i);
		left[i] = menu[i].left[0];
		hash += menu[i].hash[0];
	}
	do {
		one_cut(left, hash + held, state);
		if (tiny_cuts.tears)
			tear_cuts(left, hash + held, state);
		if (tiny_cuts.bad)
			bad_cuts(left, hash + held, state);
		for (i = 0; i < tiny_geo.nr_zones; i++) {
			hash -= menu[i].hash[at[i]];
			at[i] = at[i] + 1 < menu[i].n ? at[i] + 1 : 0;
			hash += menu[i].hash[at[i]];
			left[i] = menu[i].left[at[i]];
			if (at[i])
				break;
		}
	} while (i < tiny_geo.nr_zones);
	free(state);
}

static bool may_write(const struct drive_cmd *c)
{
	const struct drive_zone *z = &tiny_drive->z[c->zone];

	if (c->executed || (c->op != LZ_OP_WRITE && c->op != LZ_OP_APPEND) || z->fault ||
	    z->cond > LZ_COND_FULL || z->wp + c->n > tiny_geo.zone_cap)
		return false;
	return c->op == LZ_OP_APPEND || c->off == z->wp;
}

static void cut_writes(u32 from);

static void write_part(struct drive_cmd *c, u32 n, u32 next)
{
	void *state = save_drive();

	c->executed = true;
	drive_execute_part(tiny_drive, c, n);
	cut_writes(next);
	c->executed = false;
	drive_restore(tiny_drive, state);
	free(state);
}

/* Writes in flight from number @from on have taken effect, or have not. */
static void cut_writes(u32 from)
{
	struct drive_cmd *c;
	u32 i, n;

	cut_zones();
	for (i = from; i < tiny_drive->nr_cmds; i++) {
		c = tiny_drive->cmds[i];
		if (!may_write(c))
			continue;
		/* A part of one that is not for good is a cut of the whole. */
		n = c->flags & LZ_CMD_FUA ? 1 : c->n;
		for (; n <= c->n; n++)
			write_part(c, n, c->op == LZ_OP_WRITE && n == c->n ? 0 : i + 1);
	}
}

/* All that makes a difference to a cut now. */
static u64 drive_and_held(void)
{
	u64 h = drive_hash(tiny_drive) ^ tiny_held_hash();
	u32 i, j;

	for (i = 0; i < tiny_drive->nr_cmds; i++) {
		const struct drive_cmd *c = tiny_drive->cmds[i];
		u64 x = c->op << 8 | c->flags;

		if (c->executed || c->op == LZ_OP_READ || c->op == LZ_OP_FLUSH)
			continue;
		if (c->buf)
			x = tiny_hash(x, c->buf, c->n * LZ_BLOCK_SIZE);
		if (c->tags)
			x = tiny_hash(x, c->tags, c->n * sizeof(*c->tags));
		for (j = 0; c->snap && j < tiny_geo.nr_zones; j++)
			if (tiny_drive->z[j].gen == c->snap[j] >> 32)
				x = rnd_mix(x + j) + (u32)c->snap[j];
		h += rnd_mix(x + ((u64)c->zone << 32 | c->off));
	}
	return h;
}

static void cut_everywhere(void)
{
	if (!set_add(&seen_drives, drive_and_held()))
		return;
	tiny_cuts.states++;
	arena_select(++level);
	cut_writes(0);
	arena_select(--level);
}

/* A recovery waits: that is where a cut may find the drive otherwise than before. */
static void cut_recovery(void)
{
	u8 harness[sizeof(tiny)];

	memcpy(harness, &tiny, sizeof(tiny));
	tiny_on_wait = NULL;
	cut_everywhere();
	memcpy(&tiny, harness, sizeof(tiny));
	tiny_drive->reads_anywhere = true;
	tiny_drive->read_only = false;
	tiny_on_wait = cut_recovery;
}

void tiny_cut_everywhere(void)
{
	cut_everywhere();
}
