// SPDX-License-Identifier: GPL-2.0-only
/* The drive as an image. */
#include <stdio.h>
#include <unistd.h>
#include "drive_in.h"

static bool export_zone(const struct drive *d, u32 zone, FILE *f)
{
	u8 buf[LZ_BLOCK_SIZE];
	u32 off;

	if (fseek(f, (long)zone * d->g.zone_blocks * LZ_BLOCK_SIZE, SEEK_SET))
		return false;
	for (off = 0; off < d->z[zone].wp; off++) {
		memset(buf, 0, sizeof(buf));
		drive_get_block(d, zone, off, buf);
		if (!fwrite(buf, sizeof(buf), 1, f))
			return false;
	}
	return true;
}

bool drive_export(const struct drive *d, const char *path)
{
	char sidecar[4096];
	FILE *f, *g;
	bool ok;
	u32 i;

	snprintf(sidecar, sizeof(sidecar), "%s.zones", path);
	f = fopen(path, "w");
	g = fopen(sidecar, "w");
	ok = f && g && !ftruncate(fileno(f), (off_t)d->g.nr_zones * d->g.zone_blocks *
				  LZ_BLOCK_SIZE);
	for (i = 0; ok && i < d->g.nr_zones; i++)
		ok = export_zone(d, i, f);
	if (ok)
		fprintf(g, "lifezone-image zone_blocks %u zone_cap %u max_open %u\n",
			d->g.zone_blocks, d->g.zone_cap, d->g.max_open);
	for (i = 0; ok && i < d->g.nr_zones; i++)
		if (d->z[i].cond != LZ_COND_EMPTY)
			fprintf(g, "%u %u %u%s\n", i, d->z[i].wp, d->z[i].cond,
				d->z[i].torn ? " 1" : "");
	ok = ok && !ferror(g);
	if (f && fclose(f))
		ok = false;
	if (g && fclose(g))
		ok = false;
	return ok;
}
