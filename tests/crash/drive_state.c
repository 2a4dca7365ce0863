// SPDX-License-Identifier: GPL-2.0-only
/* The drive as it was before: saved and restored. */
#include "drive_in.h"

struct saved {
	u32 active;
	u32 nr_cmds;
	u64 seq;
	void *own;
	struct rnd rnd;
	struct drive_cmd *cmds[64];
};

size_t drive_state_size(const struct drive *d)
{
	return sizeof(struct saved) + d->g.nr_zones *
		(sizeof(struct drive_zone) + d->g.zone_cap * sizeof(struct drive_block));
}

void drive_save(const struct drive *d, void *buf)
{
	struct drive_zone *z = (void *)((struct saved *)buf + 1);
	struct drive_block *b = (void *)(z + d->g.nr_zones);
	struct saved *s = buf;
	u32 i;

	if (!d->copy || d->nr_cmds > ARRAY_SIZE(s->cmds))
		abort();
	memset(s, 0, sizeof(*s));
	s->active = d->active;
	s->nr_cmds = d->nr_cmds;
	s->seq = d->seq;
	s->own = d->own;
	s->rnd = d->rnd;
	memcpy(s->cmds, d->cmds, d->nr_cmds * sizeof(*d->cmds));
	memcpy(z, d->z, d->g.nr_zones * sizeof(*z));
	for (i = 0; i < d->g.nr_zones; i++, b += d->g.zone_cap)
		memcpy(b, d->z[i].b, d->g.zone_cap * sizeof(*b));
}

void drive_restore(struct drive *d, const void *buf)
{
	const struct drive_zone *z = (void *)((const struct saved *)buf + 1);
	const struct drive_block *b = (void *)(z + d->g.nr_zones);
	const struct saved *s = buf;
	u32 i;

	drive_take_back(d, s->own);
	d->active = s->active;
	d->nr_cmds = s->nr_cmds;
	d->seq = s->seq;
	d->rnd = s->rnd;
	memcpy(d->cmds, s->cmds, s->nr_cmds * sizeof(*d->cmds));
	memcpy(d->z, z, d->g.nr_zones * sizeof(*z));
	for (i = 0; i < d->g.nr_zones; i++, b += d->g.zone_cap)
		memcpy(d->z[i].b, b, d->g.zone_cap * sizeof(*b));
}
